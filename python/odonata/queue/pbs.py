"""Files of PBS (OpenPBS, PBS Professional, Torque).

Read are `qstat -f -F json` and `qstat -f`, `pbsnodes -a -F json` and `pbsnodes -a`, and accounting logs. Sources:
qstat(1B), pbsnodes(8B), and pbs_job_attributes(7B) of OpenPBS; PBS Professional Administrator's Guide, "Accounting".
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from odonata import reading
from odonata.errors import InputError, shortened
from odonata.queue.durations import duration_s
from odonata.queue.formats import Format, jobs_once, nodes_once, state_of, texts
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
_LOG = re.compile(r"\d\d/\d\d/\d{4} \d\d:\d\d:\d\d;([A-Z]);([^;]*);(.*)")
_PAIR = re.compile(r"([A-Za-z_][\w.-]*)=(\"(?:[^\"\\]|\\.)*\"|\S*)")
#: Most seconds of a moment: the year 10000.
_LAST_S = 253_402_300_800


def _is_json(key: str) -> Any:
    beginning = re.compile(r"\s*\{.{0,2000}?\"(pbs_version|pbs_server)\"\s*:", re.DOTALL)
    listed = re.compile(rf"\"{key}\"\s*:\s*\{{")
    return lambda text: bool(beginning.match(text)) and bool(listed.search(text))


def _is_jobs(text: str) -> bool:
    return bool(re.match(r"\s*Job Id: \S+\s*\n\s+\w", text))


def _is_nodes(text: str) -> bool:
    return bool(re.match(r"\s*[A-Za-z0-9]\S*\s*\n(\s+\S.*\n)*?\s+(Mom|ntype|state) = ", text))


def _is_log(text: str) -> bool:
    first = next((line for line in reading.lines(text) if line.strip()), "")
    return _LOG.fullmatch(first.rstrip()) is not None


def _of_json(text: str, key: str) -> dict[str, Any]:
    data = reading.parse_json(text)
    records = data.get(key) if isinstance(data, dict) else None
    if not isinstance(records, dict):
        raise InputError(f"expected an object under `{key}`, found `{shortened(repr(records), 60)}`")
    for name, record in records.items():
        if not isinstance(record, dict):
            raise InputError(f"{key}.{shortened(name, 40)}: expected an object, found `{shortened(repr(record), 60)}`")
    return records


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
    if isinstance(value, int | float) or (isinstance(value, str) and value.strip().isdigit()):
        return float(value)
    return duration_s(str(value), what)


def _job(name: str, record: Mapping[str, Any]) -> Job:
    wanted, used = _table(record, "Resource_List"), _table(record, "resources_used")
    names = {"partition": "queue", "name": "Job_Name", "account": "Account_Name", "comment": "comment"}
    states = state_of(record.get("job_state"), _STATES, name)
    limit = _seconds(wanted.get("walltime"), "a time limit")
    gone = _seconds(used.get("walltime"), "a time")
    nodes = _nodes_of(record, name)
    count = wanted.get("nodect")
    return Job(
        name,
        states,
        nodes,
        user=str(record.get("Job_Owner", "")).partition("@")[0],
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
        queue = record.get("queue")
        nodes[host] = Node(host, frozenset(states), frozenset({str(queue)} if queue else ()))
    return nodes_once(nodes)


def _moment(text: str | None, what: str, number: int) -> float | None:
    if text is None:
        return None
    seconds = reading.whole(text)
    if seconds is None or not 0 < seconds < _LAST_S:
        raise InputError(f"expected `{what}` in seconds since 1970, found `{shortened(text, 40)}`", line=number)
    return float(seconds)


def _history(text: str) -> list[Run]:
    """The jobs of an accounting log: `E` is an end, and `S` a start without one if the job still runs."""
    from odonata.queue.accounting import Run

    runs: dict[tuple[str, float], Run] = {}
    for number, line in enumerate(reading.lines(text), 1):
        if not line.strip():
            continue
        entry = _LOG.fullmatch(line.rstrip())
        if entry is None:
            expected = "expected a record such as `11/28/2026 09:00:00;E;1.server;user=a ...`"
            raise InputError(f"{expected}, found `{shortened(line.strip(), 60)}`", line=number)
        if entry[1] not in "ES":
            continue
        told = {key: value.strip('"') for key, value in _PAIR.findall(entry[3])}
        start, end = (_moment(told.get(key), key, number) for key in ("start", "end"))
        try:
            nodes = _nodes_of(told, entry[2])
            limit = _seconds(told.get("Resource_List.walltime"), "a time limit")
        except InputError as e:
            raise e.but(line=number) from None
        if start is None or not nodes or (entry[1] == "E" and end is None):
            continue  # it never ran
        names = {"name": "jobname", "user": "user", "account": "account", "partition": "queue"}
        named: dict[str, Any] = {**texts(told, names)}
        submit = _moment(told.get("ctime"), "ctime", number)
        runs[entry[2], start] = Run(start, end, nodes, len(nodes), entry[2], submit, limit, **named)
    return list(runs.values())


FORMATS = (
    Format(
        "the output of `qstat -f -F json` of PBS",
        "queue",
        _is_json("Jobs"),
        lambda text: _jobs(_of_json(text, "Jobs")),
    ),
    Format(
        "the output of `qstat -f` of PBS",
        "queue",
        _is_jobs,
        lambda text: _jobs(_of_text(text, _JOB, "`Job Id: NAME`")),
    ),
    Format(
        "the output of `pbsnodes -a -F json` of PBS",
        "nodes",
        _is_json("nodes"),
        lambda text: _nodes(_of_json(text, "nodes")),
    ),
    Format(
        "the output of `pbsnodes -a` of PBS",
        "nodes",
        _is_nodes,
        lambda text: _nodes(_of_text(text, re.compile(r"(\S+)"), "the name of a node")),
    ),
    Format("an accounting log of PBS", "history", _is_log, _history),
)
