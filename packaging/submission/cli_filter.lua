-- Example for `CliFilterPlugins=lua` of Slurm: the same as job_submit.lua, on the node where the user submits. The
-- controller does nothing for it, so FILE must be on the login nodes.
--
-- Copy it and odonata_advice.lua beside slurm.conf, and set FILE. If anything goes wrong, the job is submitted as it is.

local FILE = "/var/lib/odonata/advice" -- of `odonata cluster watch --advice FILE`; on a local disk
-- What jobs get that do not say it themselves: "nothing", "switches" (`--switches`) or "comment" (`--comment`).
local SET = "nothing"
local WAIT_FOR_SWITCHES = "00:05:00" -- how long a job waits at most for its switches (assumed)
-- The default partition of the cluster, for jobs that name none; only an advice file of one partition needs it.
local DEFAULT_PARTITION = ""

local folder = string.match(debug.getinfo(1, "S").source, "^@(.*/)") or "/etc/slurm/"
local loaded, advice = pcall(dofile, folder .. "odonata_advice.lua")

-- Options that were not given are nil, or a text of Slurm for none.
local function unset(value)
  return value == nil or value == "" or value == "unset" or value == "-1" or value == "(null)"
end

local function advise(options)
  local nodes = advice.nodes(options["nodes"])
  if not nodes then return end
  local of = advice.read(FILE)
  if not of then return end
  local partition = options["partition"]
  if unset(partition) then partition = DEFAULT_PARTITION end
  if not advice.holds_for(of, partition) then return end
  local message = advice.message(of, nodes)
  if not message then return end
  io.stderr:write(message, "\n")
  local size = advice.of_size(of, nodes)
  if SET == "switches" and size.leaves and unset(options["switches"]) then
    options["switches"] = size.leaves .. "@" .. WAIT_FOR_SWITCHES
  elseif SET == "comment" and unset(options["comment"]) then
    options["comment"] = message
  end
end

function slurm_cli_setup_defaults(options, early_pass)
  return slurm.SUCCESS
end

function slurm_cli_pre_submit(options, pack_offset)
  if loaded then pcall(advise, options) end
  return slurm.SUCCESS
end

function slurm_cli_post_submit(offset, job_id, step_id)
  return slurm.SUCCESS
end

return slurm.SUCCESS
