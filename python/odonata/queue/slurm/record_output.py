"""What `scontrol show job` and `scontrol show node` print: `Key=value` over several lines or on one."""

import re
from collections.abc import Iterator

from odonata import reading
from odonata.errors import InputError
from odonata.queue.durations import duration_s, moment
from odonata.queue.hosts import expand, expand_field
from odonata.queue.records import Job, Node, job_states, node_states

#: The name of a job may contain anything but a line end, even text that looks like a key. It ends with its line. If the
#: record is on one line, it ends before the owner. Source: scontrol(1); slurm_sprint_job_info of Slurm.
_NAME = re.compile(r"(?:^|(?<=\s))JobName=")
_OWNER = re.compile(r" (?=UserId=\S*\(\d+\))")
#: Keys whose value is the rest of the line if they begin the line.
_REST = re.compile(r"\s+(Comment|AdminComment|SystemComment|Command|WorkDir|StdErr|StdIn|StdOut|Reason)=(.*)")
PAIR = re.compile(r"(?:^|(?<=\s))([A-Za-z][A-Za-z0-9_:/]*)=(\S*)")
_TOLD = {"partition": "Partition", "account": "Account", "user": "UserId", "name": "JobName", "comment": "Comment"}
_LATE = {"JobId": "WorkDir", "NodeName": "CfgTRES"}
"""First key of a record -> a key that every release prints for every job or node, after all keys that are read here."""


def is_records(text: str, key: str) -> bool:
    """Whether a text is a list of records that begin with a key."""
    return re.search(rf"^{key}=", text, re.MULTILINE) is not None


def records(text: str, first: str) -> Iterator[tuple[int, dict[str, str]]]:
    """The records of a text, each with its line; a record begins with the key `first`.

    Raises InputError if the last one ends early, judged by those before it.
    """
    line, pairs, whole = 0, dict[str, str](), False
    for number, row in enumerate(reading.lines(text), 1):
        if row.startswith(f"{first}="):
            if pairs:
                whole |= _LATE[first] in pairs
                yield line, pairs
            line, pairs = number, {}
        if line:
            for key, value in _pairs(row, line):
                pairs.setdefault(key, value)
    if pairs:
        if whole and _LATE[first] not in pairs:
            raise InputError(f"the last record has no `{_LATE[first]}`: the file may be cut", line=line)
        yield line, pairs


def _pairs(row: str, line: int) -> list[tuple[str, str]]:
    """The keys of a line with their values. Raises InputError if the end of the name of a job is ambiguous."""
    if rest := _REST.fullmatch(row):
        return [(rest[1], rest[2])]
    name = _NAME.search(row) if row.startswith("JobId=") else None
    if name is None:
        return PAIR.findall(row)
    owners = [owner.start() for owner in _OWNER.finditer(row, name.end())]
    if len(owners) > 1:
        raise InputError(
            "a name or a comment holds `UserId=`, so that it cannot be told from the record",
            line=line,
            hint="print the records without --oneliner, or give `squeue --json`",
        )
    end = owners[0] if owners else len(row)
    return [*PAIR.findall(row[: name.start()]), ("JobName", row[name.end() : end]), *PAIR.findall(row[end:])]


def queue(text: str) -> list[Job]:
    """The jobs of `scontrol show job`. Raises InputError with the line of the job."""
    jobs = []
    seen: dict[str, int] = {}
    for line, record in records(text, "JobId"):
        try:
            names = expand_field(record.get("NodeList", ""))
            told = {key: record.get(of, "").removeprefix("(null)") for key, of in _TOLD.items()}
            told["user"] = told["user"].partition("(")[0]  # root(0)
            limit, ran = duration_s(record.get("TimeLimit", "")), duration_s(record.get("RunTime", ""))
            job = Job(
                record["JobId"],
                job_states(_need(record, "JobState")),
                names,
                **told,
                wants=len(names) or reading.whole(record.get("NumNodes", "").partition("-")[0]) or 0,
                left_s=None if limit is None or ran is None else max(0.0, limit - ran),
                limit_s=limit,
                listed=moment(record.get("StartTime", ""), record.get("RunTime", "")) if names else "",
            )
            if job.running and not names:
                raise InputError("it runs, but has no `NodeList`")
            if job.running and seen.setdefault(job.id, line) != line:
                raise InputError(f"it runs, and is listed twice, first in line {seen[job.id]}")
        except InputError as e:
            raise InputError(f"job {record['JobId']}: {e.message}", line=line) from None
        jobs.append(job)
    return jobs


def nodes(text: str) -> list[Node]:
    """The nodes of `scontrol show node`. Raises InputError with the line of the node."""
    listed = []
    for line, record in records(text, "NodeName"):
        try:
            states = node_states(_need(record, "State"))
        except InputError as e:
            raise InputError(f"node {record['NodeName']}: {e.message}", line=line) from None
        partitions = frozenset(name for name in record.get("Partitions", "").split(",") if name)
        listed += [Node(name, states, partitions) for name in expand(record["NodeName"])]
    return listed


def _need(record: dict[str, str], key: str) -> str:
    if key not in record:
        raise InputError(f"it has no `{key}`: the file may be cut")
    return record[key]
