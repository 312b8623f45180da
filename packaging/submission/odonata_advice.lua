-- Reads the advice file of `odonata cluster watch --advice FILE`, for job_submit.lua and cli_filter.lua.
--
-- It starts no process and asks nobody. A file that is missing, old, too long or malformed gives no advice, never an
-- error. Put the file on a local disk: Lua cannot stop waiting for a file server. For Lua 5.1 to 5.4.

local advice = {
  most_bytes = 16384, -- as `MOST_BYTES` in python/odonata/monitor/advising.py
  most_sizes = 16,
  most_node_list = 512,
  most_wait = 31622400, -- seconds (366 days), as `MOST_WAIT_S` there
  most_valid = 157680000, -- seconds: five samples, of which two are a year apart at most
  most_ahead = 60, -- seconds that the clock of the writer may be ahead (assumed)
}

-- A number from 0 on, in plain digits; nil for anything else.
local function number(text)
  if #text > 20 or not string.find(text, "^%d+%.?%d*$") then return nil end
  return tonumber(text)
end

local function count(text)
  if #text > 9 or not string.find(text, "^%d+$") then return nil end
  return tonumber(text)
end

local function from_one(text)
  local found = count(text)
  return found and found >= 1 and found or nil
end

local function at_most(most)
  return function(text)
    local found = number(text)
    return found and found <= most and found or nil
  end
end

local function partition(text)
  return #text <= 100 and string.match(text, "^[%w_.+-]+$") or nil
end

local wait = at_most(advice.most_wait)
local SIZE_KEYS = { leaves = from_one, groups = from_one, wait = wait, risk = at_most(1), quiet = wait }
local KEYS = {
  time = number, valid = at_most(advice.most_valid), background = at_most(1), idle = count, flag = at_most(1),
  partition = partition,
}

-- The line of a size: `size 16 wait 0 leaves 4 groups 1 risk 0.12 nodes n[0-15]`.
local function parse_size(line)
  local words = {}
  for word in string.gmatch(line, "%S+") do
    words[#words + 1] = word
    if #words > 16 then return nil end
  end
  local nodes = count(words[2] or "")
  if #words % 2 ~= 0 or not nodes or nodes < 1 then return nil end
  local size = { size = nodes }
  for at = 3, #words, 2 do
    local key, value = words[at], words[at + 1]
    if size[key] ~= nil then return nil end
    if key == "nodes" then
      if #value > advice.most_node_list or string.find(value, "[^%w_.,%[%]-]") then return nil end
      size.nodes = value
    elseif SIZE_KEYS[key] then
      size[key] = SIZE_KEYS[key](value)
      if size[key] == nil then return nil end
    else
      return nil
    end
  end
  -- No more switches than nodes, and no more groups than switches.
  if (size.leaves or 1) > nodes or (size.groups or 1) > (size.leaves or nodes) then return nil end
  return size
end

-- What a text says at a time (seconds since 1970); nil if it is not wholly right, or too old.
function advice.parse(text, now)
  if type(text) ~= "string" or #text > advice.most_bytes then return nil end
  local first, rest = string.match(text, "^([^\n]*)\n(.*)$")
  if first ~= "odonata-advice 1" then return nil end
  local of, ended = { sizes = {} }, false
  for line in string.gmatch(rest, "([^\n]*)\n") do
    if ended then return nil end
    if line == "end" then
      ended = true
    elseif string.sub(line, 1, 5) == "size " then
      local size = parse_size(line)
      local before = of.sizes[#of.sizes]
      if not size or #of.sizes >= advice.most_sizes or (before and before.size >= size.size) then return nil end
      of.sizes[#of.sizes + 1] = size
    else
      local key, value = string.match(line, "^(%l+) (%S+)$")
      if not key or not KEYS[key] or of[key] ~= nil then return nil end
      of[key] = KEYS[key](value)
      if of[key] == nil then return nil end
    end
  end
  if not ended or string.sub(text, -4) ~= "end\n" then return nil end
  if not (of.time and of.valid and of.background and of.idle) then return nil end
  if now - of.time > of.valid or of.time - now > advice.most_ahead then return nil end
  return of
end

-- What the file says now; nil without a file that is right.
function advice.read(path, now)
  local fine, of = pcall(function()
    local file = io.open(path, "rb")
    if not file then return nil end
    local text = file:read(advice.most_bytes + 1)
    file:close()
    return advice.parse(text, now or os.time())
  end)
  if fine then return of end
  return nil
end

-- The least number of nodes of `--nodes`: `4`, `4-8`, `2,4,8-16:4`, and `4k` (4096) or `1m`; nil for anything else.
function advice.nodes(text)
  local least
  for part in string.gmatch(tostring(text or "") .. ",", "([^,]*),") do
    local digits, times, rest = string.match(part, "^(%d+)([kKmM]?)(.*)$")
    if not digits or #digits > 9 then return nil end
    if rest ~= "" and not string.find(rest, "^%-%d+[kKmM]?$") and not string.find(rest, "^%-%d+:%d+$") then
      return nil
    end
    local factor = ({ [""] = 1, k = 1024, m = 1048576 })[string.lower(times)]
    local nodes = tonumber(digits) * factor
    if not least or nodes < least then least = nodes end
  end
  return least
end

-- Whether the file speaks of the partition of a job: any job if it names none. A job of several partitions, or of one
-- that is not known, gets no advice of one partition.
function advice.holds_for(of, partition_of_job)
  return of.partition == nil or of.partition == partition_of_job
end

-- The line of the smallest size that holds a job; nil for a job of one node, and for one that is too large.
function advice.of_size(of, nodes)
  if type(nodes) ~= "number" or nodes < 2 then return nil end
  for _, size in ipairs(of.sizes) do
    if size.size >= nodes then return size end
  end
  return nil
end

local function percent(share) return string.format("%.0f %%", 100 * share) end

local function time(seconds)
  if seconds < 5400 then return string.format("%.0f min", math.ceil(seconds / 60)) end
  return string.format("%.1f h", seconds / 3600)
end

local function several(number_of, one, many) return string.format("%d %s", number_of, number_of == 1 and one or many) end

-- Sentences for the user of a job of so many nodes; nil if there is nothing to say.
function advice.message(of, nodes)
  local size = advice.of_size(of, nodes)
  if not size then return nil end
  local said = {
    string.format("background utilisation %s, %.0f nodes%s idle.", percent(of.background), of.idle,
      of.partition and " of the partition " .. of.partition or ""),
  }
  if size.leaves then
    local where = several(size.leaves, "leaf switch", "leaf switches")
    if size.groups then where = where .. " of " .. several(size.groups, "group", "groups") end
    -- Nodes of a larger size: fewer of them may be on fewer switches.
    if size.size > nodes and size.leaves > 1 then where = "at most " .. where end
    local ask = string.format("--switches=%d", size.leaves)
    if size.nodes and size.size == nodes then ask = ask .. " or --nodelist=" .. size.nodes end
    said[#said + 1] = string.format("%d nodes fit now on %s: %s.", nodes, where, ask)
  elseif size.wait and size.wait > 0 then
    said[#said + 1] = string.format("%d nodes do not fit now, but in %s at the latest if no other job starts.",
      nodes, time(size.wait))
  else
    said[#said + 1] = string.format("%d nodes do not fit now.", nodes)
  end
  if size.risk then
    local risk = "There the risk of the long tail is " .. percent(size.risk)
    if of.flag and size.risk >= of.flag then
      if size.quiet and size.quiet > 0 then
        risk = risk .. string.format("; if it starts in %s, below %s", time(size.quiet), percent(of.flag))
      else
        risk = risk .. "; no later start with a low risk is known"
      end
    end
    said[#said + 1] = risk .. "."
  end
  return "odonata: " .. table.concat(said, " ")
end

return advice
