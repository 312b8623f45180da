"""Files of IBM Spectrum LSF: `bjobs -u all -json -o "..."` and `bhosts -json -o "..."`.

Sources: bjobs and bhosts of the LSF command reference, 10.1.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from odonata import reading
from odonata.errors import InputError, shortened
from odonata.queue.formats import Format, jobs_once, objects, state_of, texts
from odonata.queue.records import Job, Node

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

#: State of a job -> the state. Source: bjobs, "Job status values".
_STATES = {
    "PEND": frozenset({"PENDING"}),
    "PROV": frozenset({"CONFIGURING"}),
    "PSUSP": frozenset({"PENDING", "REQUEUE_HOLD"}),
    "RUN": frozenset({"RUNNING"}),
    "USUSP": frozenset({"SUSPENDED"}),
    "SSUSP": frozenset({"SUSPENDED"}),
    "DONE": frozenset({"COMPLETED"}),
    "EXIT": frozenset({"FAILED"}),
    "WAIT": frozenset({"PENDING"}),
    "ZOMBI": frozenset({"FAILED"}),
    "UNKWN": frozenset({"NODE_FAIL"}),
}
#: State of a host in small letters -> the state; `closed` for any other reason takes no jobs. Source: bhosts, "Host
#: status".
_HOST_STATES = {
    "ok": "IDLE",
    "closed_full": "ALLOCATED",
    "closed_excl": "ALLOCATED",
    "closed_cu_excl": "ALLOCATED",
    "closed_busy": "MIXED",
    "unavail": "DOWN",
    "unreach": "NOT_RESPONDING",
}
#: States of jobs that have ended: their nodes are free.
_ENDED = frozenset({"DONE", "EXIT", "ZOMBI"})
#: Keys of which one has the nodes of a job, in this order.
_HOSTS = ("EXEC_HOST", "ALLOC_HOST")
_COMMAND = 'bjobs -u all -json -o "jobid jobindex stat user queue job_name exec_host runtimelimit time_left"'
_NONE = frozenset({"", "-"})


def _is(command: str) -> Callable[[str], bool]:
    pattern = re.compile(rf"\s*\{{.{{0,200}}?\"COMMAND\"\s*:\s*\"{command}\"", re.DOTALL)
    return lambda text: bool(pattern.match(text))


def _records(text: str) -> list[Mapping[str, Any]]:
    data = reading.parse_json(text)
    records = list(objects(data.get("RECORDS"), "RECORDS"))
    for record in records:
        if record.keys() == {"ERROR"}:
            raise InputError(f"LSF says in this file that it failed: {shortened(str(record['ERROR']))}")
    return records


def _time(text: str, unit_s: float, job: str, what: str) -> float | None:
    """Seconds of `60.0 / host` or `60.0` (in a unit), and of `1:30 L` or `1:30:00` (hours, minutes, seconds)."""
    bare = text.split("/")[0].strip().removesuffix(" L").removesuffix(" X").removesuffix(" E").strip()
    if bare in _NONE:
        return None
    if re.fullmatch(r"\d{1,9}(\.\d+)?", bare):
        return float(bare) * unit_s
    parts = re.fullmatch(r"(\d{1,9}):(\d\d)(?::(\d\d))?", bare)
    if parts is None:
        raise InputError(f"job {job}: expected `{what}` such as 1:30, found `{shortened(text, 40)}`")
    return float(int(parts[1]) * 3600 + int(parts[2]) * 60 + int(parts[3] or 0))


def _hosts(record: Mapping[str, Any], job: str) -> tuple[str, ...]:
    """Nodes of `16*host1:16*host2`."""
    listed = next((record[key] for key in _HOSTS if record.get(key) not in (None, *_NONE)), "")
    if not isinstance(listed, str):
        raise InputError(f"job {job}: expected a list of hosts, found `{shortened(repr(listed), 60)}`")
    parts = [part.strip() for part in re.split(r"[:\s]+", listed) if part.strip() not in _NONE]
    names = [re.fullmatch(r"(?:\d+\*)?([A-Za-z0-9][\w.-]*)", part) for part in parts]
    if not all(names):
        raise InputError(f"job {job}: expected hosts such as `16*a:16*b`, found `{shortened(listed, 60)}`")
    return tuple(dict.fromkeys(name[1] for name in names if name))


def _job(record: Mapping[str, Any]) -> Job:
    name = str(record.get("JOBID", "") or "")
    if not name:
        raise InputError("a job has no `JOBID`", hint=_COMMAND)
    index = str(record.get("JOBINDEX", "") or "")
    name += f"[{index}]" if index not in ("", "0", "-") else ""
    states = state_of(record.get("STAT"), _STATES, name)
    nodes = () if record["STAT"] in _ENDED else _hosts(record, name)
    if "RUNNING" in states and not any(key in record for key in _HOSTS):
        raise InputError(f"job {name} runs, and the file has no `EXEC_HOST`", hint=_COMMAND)
    limit = str(record.get("RUNTIMELIMIT", record.get("RUN_LIMIT", "")) or "")
    names = {"user": "USER", "name": "JOB_NAME", "partition": "QUEUE", "account": "PROJ_NAME"}
    return Job(
        name,
        states,
        nodes,
        **texts(record, names),
        wants=len(nodes),
        left_s=_time(str(record.get("TIME_LEFT", "") or ""), 3600.0, name, "TIME_LEFT"),
        limit_s=_time(limit, 60.0, name, "RUNTIMELIMIT"),
    )


def _jobs(text: str) -> list[Job]:
    try:
        return jobs_once([_job(record) for record in _records(text)])
    except InputError as e:
        twice = "listed twice" in e.message and "JOBINDEX" not in text
        raise (e.but(hint=f"the elements of an array need `jobindex`: {_COMMAND}") if twice else e) from None


def _nodes(text: str) -> list[Node]:
    nodes: dict[str, Node] = {}
    for record in _records(text):
        name, status = record.get("HOST_NAME"), record.get("STATUS")
        if not isinstance(name, str) or not isinstance(status, str) or not name or not status:
            hint = 'bhosts -json -o "host_name status njobs"'
            raise InputError("expected `HOST_NAME` and `STATUS` of each host", hint=hint)
        busy = str(record.get("NJOBS", "0") or "0") not in ("0", "-")
        closed = "ALLOCATED" if busy and status.casefold() == "closed" else "DRAIN"
        state = _HOST_STATES.get(status.casefold(), closed if status.startswith("closed") else status.upper())
        if state == "IDLE" and busy:
            state = "MIXED"
        nodes[name] = Node(name, frozenset({state}))
    return list(nodes.values())


FORMATS = (
    Format("the output of `bjobs -json` of LSF", "queue", _is("bjobs"), _jobs),
    Format("the output of `bhosts -json` of LSF", "nodes", _is("bhosts"), _nodes),
)
