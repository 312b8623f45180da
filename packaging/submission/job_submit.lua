-- Example for `JobSubmitPlugins=lua` of Slurm: tells users at submission what `odonata cluster watch` knows.
--
-- Copy it and odonata_advice.lua beside slurm.conf, and set FILE. If anything goes wrong, the job is submitted as it is.

local FILE = "/var/lib/odonata/advice" -- of `odonata cluster watch --advice FILE`; on a local disk
-- What jobs get that do not say it themselves: "nothing", "switches" (`--switches`) or "comment" (`--comment`).
local SET = "nothing"
local WAIT_FOR_SWITCHES = 300 -- seconds that a job waits at most for its switches (assumed)

local folder = string.match(debug.getinfo(1, "S").source, "^@(.*/)") or "/etc/slurm/"
local loaded, advice = pcall(dofile, folder .. "odonata_advice.lua")

-- Whether a field of a job has no value: nil, or a number that Slurm writes for none (0xfffe, 0xfffffffe).
local function unset(value)
  return value == nil or value == 0 or value == "" or value == 65534 or value == 4294967294
end

-- The partition of a job that names none: the default one of the cluster; nil if it is not known.
local function default_of(part_list)
  for name, part in pairs(part_list or {}) do
    if part.flag_default == 1 or part.flag_default == true then return name end
  end
  return nil
end

local function advise(job, part_list)
  local nodes = job.min_nodes
  if unset(nodes) then return end
  local of = advice.read(FILE)
  if not of then return end
  if of.partition then
    local partition = job.partition
    if unset(partition) then partition = default_of(part_list) end
    if not advice.holds_for(of, partition) then return end
  end
  local message = advice.message(of, nodes)
  if not message then return end
  slurm.log_user("%s", message)
  local size = advice.of_size(of, nodes)
  if SET == "switches" and size.leaves and unset(job.req_switch) then
    job.req_switch = size.leaves
    job.wait4switch = WAIT_FOR_SWITCHES
  elseif SET == "comment" and unset(job.comment) then
    job.comment = message
  end
end

function slurm_job_submit(job_desc, part_list, submit_uid)
  if loaded then pcall(advise, job_desc, part_list) end
  return slurm.SUCCESS
end

function slurm_job_modify(job_desc, job_rec, part_list, modify_uid)
  return slurm.SUCCESS
end

return slurm.SUCCESS
