"""Files of PBS (OpenPBS, PBS Professional, Torque).

Read are `qstat -f -F json` and `qstat -f`, `pbsnodes -a -F json` and `pbsnodes -a`, and accounting logs. Sources:
qstat(1B), pbsnodes(8B), and pbs_job_attributes(7B) of OpenPBS; PBS Professional Administrator's Guide, "Accounting".
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from odonata import reading
from odonata.errors import InputError, shortened
from odonata.queue.durations import duration_s
from odonata.queue.formats import Format, jobs_once, state_of, texts
from odonata.queue.records import Job, Node

if TYPE_CHECKING:
    from collections.abc import Mapping

    from odonata.queue.accounting import Run

#: Letter of a state -> the state. Source: qstat(1B). A job array that has begun (`B`) has no nodes of its own.
_STATES = {
    "B": frozenset({"PENDING"}),
    "C": frozenset({"COMPLETED"}),
    "E": frozenset({"COMPLETING"}),
    "F": frozenset({"COMPLETED"}),
    "H": frozenset({"PENDING", "REQUEUE_HOLD"}),
    "M": frozenset({"REVOKED"}),
    "Q": frozenset({"PENDING"}),
    "R": frozenset({"RUNNING"}),
    "S": frozenset({"SUSPENDED"}),
    "T": frozenset({"PENDING"}),
    "U": frozenset({"SUSPENDED"}),
    "W": frozenset({"PENDING"}),
    "X": frozenset({"COMPLETED"}),
}
#: States of jobs that have ended: their nodes are free.
_ENDED = frozenset("CFXM")
#: State of a node -> the state. Source: pbs_node_attributes(7B). Any other takes no jobs.
_NODE_STATES = {
    "free": "IDLE",
    "sleep": "POWERED_DOWN",
    "busy": "MIXED",
    "job-busy": "ALLOCATED",
    "job-exclusive": "ALLOCATED",
    "job-sharing": "MIXED",
    "resv-exclusive": "RESERVED",
    "offline": "DRAIN",
    "down": "DOWN",
    "maintenance": "MAINT",
}
_ATTRIBUTE = re.compile(r"\s+([A-Za-z_][\w.-]*) = (.*)")
_JOB = re.compile(r"Job Id: (\S+)\s*")
_NODE_NAME = re.compile(r"[A-Za-z0-9][\w.\[\]-]*")
_LOG = re.compile(r"\d\d/\d\d/\d{4} \d\d:\d\d:\d\d;([A-Za-z]);([^;]*);(.*)")
#: Characters and lines at the beginning of a text that show what it is.
_HEAD, _HEAD_LINES = 65_536, 60
#: An escape of JSON, or a backslash that begins none.
_BACKSLASH = re.compile(r"\\([\"\\/bfnrt]|u[0-9a-fA-F]{4})?")
_PAIR = re.compile(r"([A-Za-z_][\w.-]*)=(\"(?:[^\"\\]|\\.)*\"|\S*)")
#: Most seconds of a moment: the year 10000.
_LAST_S = 253_402_300_800


def _is_json(text: str) -> bool:
    return re.match(r"\s*\{.{0,2000}?\"(pbs_version|pbs_server)\"\s*:", text, re.DOTALL) is not None


def _is_json_of_nodes(text: str) -> bool:
    return _is_json(text) and re.search(r"\"nodes\"\s*:\s*\{", text) is not None and '"Jobs"' not in text


def _is_jobs(text: str) -> bool:
    return bool(re.match(r"\s*Job Id: \S+\s*\n\s+\w", text))


def _is_nodes(text: str) -> bool:
    rows = [line for line in reading.lines(text[:_HEAD]) if line.strip()][:_HEAD_LINES]
    named = bool(rows) and not rows[0][:1].isspace() and len(rows[0].split()) == 1
    return named and any(re.match(r"\s+(Mom|ntype|state) = ", row) for row in rows[1:])


def _is_log(text: str) -> bool:
    first = next((line for line in reading.lines(text) if line.strip()), "")
    return _LOG.fullmatch(first.rstrip()) is not None


def _of_json(text: str, key: str) -> dict[str, Any]:
    data = _parsed(text)
    # Without jobs there is no such key.
    records = data.get(key, {}) if isinstance(data, dict) else None
    if not isinstance(records, dict):
        raise InputError(f"expected an object under `{key}`, found `{shortened(repr(records), 60)}`")
    for name, record in records.items():
        if not isinstance(record, dict):
            raise InputError(f"{key}.{shortened(name, 40)}: expected an object, found `{shortened(repr(record), 60)}`")
    return records


def _parsed(text: str) -> Any:
    """A JSON text. PBS writes some values as no JSON: backslashes as they are, control characters, and numbers such as
    `005` (OpenPBS issue 1255). They are read as texts."""
    try:
        return reading.parse_json(text)
    except InputError as e:
        corrected = _BACKSLASH.sub(lambda escape: escape[0] if escape[1] else "\\\\", text)
        corrected = re.sub(r"(?m)^(\s*\"[^\"\\]*\"\s*:\s*)(0\d[\w.:+-]*)(\s*,?\s*)$", r'\1"\2"\3', corrected)
        corrected = re.sub(r"[\x00-\x08\x0b\x0c\x0e-\x1f]", "\ufffd", corrected)
        try:
            return reading.parse_json(corrected)
        except InputError:
            raise e.but(hint="PBS may write values that are no JSON: give the output of `qstat -f`") from None


def _of_text(text: str, header: re.Pattern[str], what: str) -> dict[str, dict[str, Any]]:
    """Records of attributes; a line that begins with a tab continues the one before it."""
    records: dict[str, dict[str, Any]] = {}
    now: dict[str, Any] | None = None
    last: tuple[dict[str, Any], str] | None = None
    for number, line in enumerate(reading.lines(text), 1):
        if not line.strip():
            continue
        if not line[:1].isspace():
            begins = header.fullmatch(line.rstrip())
            if begins is None and last is not None:
                last[0][last[1]] += line.strip()  # a value with several lines, such as a function in a variable
                continue
            if begins is None:
                raise InputError(f"expected {what}, found `{shortened(line.strip(), 60)}`", line=number)
            now, last = {}, None
            if records.setdefault(begins[1], now) is not now:
                raise InputError(f"`{begins[1]}` is listed twice", line=number)
        elif now is not None and (attribute := _ATTRIBUTE.fullmatch(line)) and not line.startswith("\t"):
            place, key = now, attribute[1]
            if "." in key:
                outer, key = key.split(".", 1)
                place = now.setdefault(outer, {})
            if not isinstance(place, dict):
                raise InputError(f"`{attribute[1]}`: its table is a text before", line=number)
            if key in place:
                raise InputError(f"`{attribute[1]}` is there twice", line=number)
            place[key] = attribute[2]
            last = (place, key)
        elif last is not None and line.startswith("\t"):
            last[0][last[1]] += line.strip()
        else:
            message = f"expected an attribute such as `state = free`, found `{shortened(line.strip(), 60)}`"
            raise InputError(message, line=number)
    return records


def hosts(text: Any, job: str) -> tuple[str, ...]:
    """The nodes of `exec_host` or `exec_vnode`: `a/0*64+b/1*64`, `a/0-3+b/0`, `(a:ncpus=4)+(b:ncpus=4+c:ncpus=4)`."""
    if not isinstance(text, str):
        raise InputError(f"job {job}: expected a list of nodes, found `{shortened(repr(text), 60)}`")
    names = []
    for part in text.replace("(", "").replace(")", "").split("+"):
        name = re.split(r"[/:]", part.strip(), maxsplit=1)[0]
        name = re.sub(r"\[\d+\]$", "", name)  # a virtual node is a part of its host
        if not _NODE_NAME.fullmatch(name):
            raise InputError(f"job {job}: expected nodes such as `a/0*64+b/0*64`, found `{shortened(text, 60)}`")
        names.append(name)
    return tuple(dict.fromkeys(names))


def _nodes_of(record: Mapping[str, Any], job: str) -> tuple[str, ...]:
    listed = next((record[key] for key in ("exec_host", "exec_vnode") if record.get(key)), None)
    return () if listed is None else hosts(listed, job)


def _table(record: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = record.get(key, {})
    return value if isinstance(value, dict) else {}


def _seconds(value: Any, what: str) -> float | None:
    """A duration: seconds, or `hours:minutes:seconds`."""
    if value is None:
        return None
    if isinstance(value, str) and not value.strip().isdecimal():
        return duration_s(value, what)
    seconds = float(value) if isinstance(value, str | int | float) and not isinstance(value, bool) else -1.0
    if not 0 <= seconds < _LAST_S:
        raise InputError(f"expected {what} such as 12:00:00, found `{shortened(repr(value), 40)}`")
    return seconds


def _job(name: str, record: Mapping[str, Any]) -> Job:
    wanted, used = _table(record, "Resource_List"), _table(record, "resources_used")
    names = {"partition": "queue", "name": "Job_Name", "account": "Account_Name", "comment": "comment"}
    states = state_of(record.get("job_state"), _STATES, name)
    limit = _seconds(wanted.get("walltime"), "a time limit")
    gone = _seconds(used.get("walltime"), "a time")
    nodes = () if record["job_state"] in _ENDED else _nodes_of(record, name)
    count = wanted.get("nodect")
    return Job(
        name,
        states,
        nodes,
        user=str(record.get("Job_Owner") or "").partition("@")[0],
        **texts(record, names),
        wants=len(nodes) or (reading.whole(str(count)) or 0),
        left_s=max(0.0, limit - (gone or 0.0)) if limit is not None and "RUNNING" in states else None,
        limit_s=limit,
    )


def _jobs(records: Mapping[str, Mapping[str, Any]]) -> list[Job]:
    return jobs_once([_job(name, record) for name, record in records.items()])


def _nodes(records: Mapping[str, Mapping[str, Any]]) -> list[Node]:
    """Nodes by host: several virtual nodes of PBS may be parts of one."""
    nodes: dict[str, Node] = {}
    for name, record in records.items():
        host = str(_table(record, "resources_available").get("host") or name)
        words = str(record.get("state", "")).replace(" ", "").split(",")
        if not all(words):
            raise InputError(f"node {name}: it has no `state`")
        states = {_NODE_STATES.get(word, word.upper().replace("-", "_")) for word in words}
        if "IDLE" in states and record.get("jobs"):
            states = states - {"IDLE"} | {"MIXED"}
        before = nodes.get(host)
        if before is not None and before.states | states != {"IDLE"}:
            states = {*before.states, *states} - {"IDLE"}
        queues = {str(record["queue"])} if record.get("queue") else set()
        nodes[host] = Node(host, frozenset(states), frozenset(queues | (before.partitions if before else set())))
    return list(nodes.values())


def _moment(text: str | None, what: str, number: int) -> float | None:
    if text is None:
        return None
    seconds = reading.whole(text)
    if seconds is None or not 0 < seconds < _LAST_S:
        raise InputError(f"expected `{what}` in seconds since 1970, found `{shortened(text, 40)}`", line=number)
    return float(seconds)


def _history(text: str) -> list[Run]:
    """The jobs of an accounting log: `E` is an end, `R` one of a job that is queued again, `S` a start."""
    from odonata.queue.accounting import Run

    runs: dict[tuple[str, float], Run] = {}
    for number, line in enumerate(reading.lines(text), 1):
        if not line.strip():
            continue
        entry = _LOG.fullmatch(line.rstrip())
        if entry is None:
            expected = "expected a record such as `11/28/2026 09:00:00;E;1.server;user=a ...`"
            raise InputError(f"{expected}, found `{shortened(line.strip(), 60)}`", line=number)
        if entry[1] not in "ERS":
            continue
        told = {key: value.strip('"') for key, value in _PAIR.findall(entry[3])}
        start, end = (_moment(told.get(key), key, number) for key in ("start", "end"))
        try:
            nodes = _nodes_of(told, entry[2])
            limit = _seconds(told.get("Resource_List.walltime"), "a time limit")
        except InputError as e:
            raise e.but(line=number) from None
        if entry[1] == "S":
            end = None
        if start is None or not nodes or (entry[1] != "S" and end is None):
            continue  # it never ran
        names = {"name": "jobname", "user": "user", "account": "account", "partition": "queue"}
        named: dict[str, Any] = {**texts(told, names)}
        submit = _moment(told.get("ctime"), "ctime", number)
        run = Run(start, end, nodes, len(nodes), entry[2], submit, limit, **named)
        before = runs.get((entry[2], start))
        if before is None or before.end is None:
            runs[entry[2], start] = run
    # A job runs once at a time: what has no end ended when it began again.
    begins: dict[str, float] = {}
    for name, start in sorted(runs, key=lambda key: key[1], reverse=True):
        if runs[name, start].end is None and name in begins:
            runs[name, start] = replace(runs[name, start], end=begins[name])
        begins[name] = start
    return list(runs.values())


FORMATS = (
    Format(
        "the output of `pbsnodes -a -F json` of PBS",
        "nodes",
        _is_json_of_nodes,
        lambda text: _nodes(_of_json(text, "nodes")),
    ),
    Format(
        "the output of `qstat -f -F json` of PBS",
        "queue",
        _is_json,
        lambda text: _jobs(_of_json(text, "Jobs")),
    ),
    Format(
        "the output of `qstat -f` of PBS",
        "queue",
        _is_jobs,
        lambda text: _jobs(_of_text(text, _JOB, "`Job Id: NAME`")),
    ),
    Format(
        "the output of `pbsnodes -a` of PBS",
        "nodes",
        _is_nodes,
        lambda text: _nodes(_of_text(text, re.compile(r"(\S+)"), "the name of a node")),
    ),
    Format("an accounting log of PBS", "history", _is_log, _history),
)
