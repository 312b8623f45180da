-- lua advice.lua ODONATA_ADVICE.LUA NOW NODES FILE...: for each file what it says for a job, or `nil`, and the time.
local advice = dofile(arg[1])
local now, nodes = tonumber(arg[2]), tonumber(arg[3])
for at = 4, #arg do
  local begin = os.clock()
  local of = advice.read(arg[at], now)
  local message = of and advice.message(of, nodes)
  print(string.format("%.6f %s", os.clock() - begin, tostring(message)))
end
