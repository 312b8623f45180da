"""What `squeue --json`, `sinfo --json` and `sacct --json` print, in all releases since 21.08.

| | 21.08, 22.05 | 23.02 | 23.11 and later |
|---|---|---|---|
| state of a job | a text | a text | a list of texts: state and flags |
| numbers | a number or null | `{set, infinite, number}` | `{set, infinite, number}` |
| `sinfo` | `nodes`: an object for each node | `sinfo`: an object for each set of like nodes | the same |
| nodes of a job | `nodes`: a text | the same | the same; `job_resources.nodes` is an object from 24.05 on |
| state of a node | a text, `state_flags` beside it | a list | a list |

Keys that are not needed are ignored.
"""

import math
from typing import Any

from odonata import reading
from odonata.errors import InputError, shortened
from odonata.queue import clusters
from odonata.queue.durations import moment_of
from odonata.queue.hosts import expand_field
from odonata.queue.records import NO_STATE, Job, Listings, Node, job_states, node_states


def queue(text: str, cluster: str | None = None) -> list[Job]:
    """The jobs of one cluster in a JSON text. Raises InputError with the job and the key at fault."""
    data = _parse(text)
    records = _of_cluster(_records(data, ("jobs",), "squeue --json"), cluster, "jobs")
    now = number(data.get("last_update")) if isinstance(data, dict) else None  # written by releases since 23.02
    jobs = [(at, _job(record, f"jobs[{at}]", now)) for at, record in records]
    seen: dict[str, int] = {}
    for at, job in jobs:
        if job.running and seen.setdefault(job.id, at) != at:
            raise InputError(f"jobs[{at}]: the running job {job.id} is listed twice, first as jobs[{seen[job.id]}]")
    return [job for _, job in jobs]


def nodes(text: str, cluster: str | None = None) -> list[Node]:
    """The nodes in a JSON text, each once. Raises InputError with the record and the key at fault."""
    records = _records(_parse(text), ("nodes", "sinfo"), "sinfo --json")
    if not any(_cluster(record) for record in records):
        cluster = None  # one cluster, which need not be named
    return _nodes([record for _, record in _of_cluster(records, cluster, "nodes")])


def nodes_beside_jobs(text: str, cluster: str | None = None) -> list[Node] | None:
    """The nodes in a JSON text that also has jobs; None if it has no nodes."""
    data = _parse(text)
    if not isinstance(data, dict) or not any(isinstance(data.get(key), list) for key in ("nodes", "sinfo")):
        return None
    return nodes(text, cluster)


def number(value: Any) -> int | None:
    """A number as any release writes it: plain, or `{set, infinite, number}`; None if it is not set."""
    if isinstance(value, dict):
        value = value.get("number") if value.get("set") and not value.get("infinite") else None
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    return int(value) if is_number else None


def records_of_jobs(text: str, cluster: str | None = None) -> list[tuple[int, dict[str, Any]]]:
    """The objects under `jobs` of one cluster, each with its index. Raises InputError if there is no such list."""
    return _of_cluster(_records(_parse(text), ("jobs",), "sacct --json"), cluster, "jobs")


def names_clusters(text: str) -> bool:
    """Whether the records of a JSON text name their cluster. Raises InputError if there are no records."""
    return any(map(_cluster, _records(_parse(text), ("jobs", "nodes", "sinfo"), "squeue --json")))


def _cluster(record: dict[str, Any]) -> str:
    """The cluster that a record names; empty if it names none."""
    return next((name for key in ("cluster", "cluster_name") if isinstance(name := record.get(key), str) and name), "")


def _of_cluster(records: list[dict[str, Any]], cluster: str | None, what: str) -> list[tuple[int, dict[str, Any]]]:
    """The records of one cluster, each with its index. Raises InputError for several clusters if none is selected."""
    return clusters.of_one(list(enumerate(records)), lambda entry: _cluster(entry[1]), cluster, what)


def _records(data: Any, keys: tuple[str, ...], command: str) -> list[dict[str, Any]]:
    if isinstance(data, list):
        data = {keys[0]: data}
    if not isinstance(data, dict):
        raise InputError(f"expected what `{command}` prints: an object, found `{shortened(repr(data), 60)}`")
    key = next((key for key in keys if isinstance(data.get(key), list)), None)
    if (errors := _errors(data)) and not (key and data[key]):
        raise InputError(f"Slurm says in this file that it failed: {errors}")
    if key is None:
        listed = ", ".join(f"`{shortened(name, 30)}`" for name in list(data)[:8]) or "none"
        names = " or ".join(f"`{name}`" for name in keys)
        raise InputError(f"expected what `{command}` prints: a list under {names}; found the keys {listed}")
    for at, record in enumerate(data[key]):
        if not isinstance(record, dict):
            raise InputError(f"{key}[{at}]: expected an object, found `{shortened(repr(record), 60)}`")
    return list(data[key])


def _parse(text: str) -> Any:
    try:
        return reading.parse_json(text)
    except InputError as e:
        if "extra data" in e.message and (objects := _objects(text)) is not None:
            return objects
        last = text.rstrip().count("\n") + 1
        at_end = e.line is not None and e.line >= last
        raise InputError(e.message, line=e.line, hint="the file may be cut" if at_end else e.hint) from None


def _objects(text: str) -> list[Any] | None:
    """The objects of a text with one job or node per line, as from `jq -c '.jobs[]'`; None for any other text."""
    objects = []
    for number, line in enumerate(reading.lines(text), 1):
        if not line.strip():
            continue
        try:
            value = reading.parse_json(line)
        except InputError:
            return None
        if not isinstance(value, dict):
            return None
        if any(isinstance(value.get(key), list) for key in ("jobs", "sinfo")):
            message = "expected the output of one command, found several after each other"
            raise InputError(message, line=number, hint="give one of them")
        objects.append(value)
    return objects


def _errors(data: dict[str, Any]) -> str:
    """The messages under `errors`, which may be texts or objects."""
    errors = data.get("errors")
    if not isinstance(errors, list):
        return ""
    texts = [e.get("description") or e.get("error") or "" if isinstance(e, dict) else e for e in errors]
    return shortened("; ".join(str(text) for text in texts if text))


def _job(record: dict[str, Any], where: str, now: int | None) -> Job:
    name = number(record.get("job_id"))
    where = where if name is None else f"{where} (job {name})"
    try:
        states = states_of(record)
        listed = tuple(dict.fromkeys(hosts(record)))
    except InputError as e:
        raise InputError(f"{where}: {e.message}") from None
    keys = {"user": "user_name"}
    told = {key: record.get(keys.get(key, key)) for key in ("partition", "account", "user", "name", "comment")}
    texts = {key: value for key, value in told.items() if isinstance(value, str)}
    minutes, end = number(record.get("time_limit")), number(record.get("end_time"))
    job = Job(
        str(name) if name is not None else where,
        states,
        listed,
        **texts,
        wants=len(listed) or number(record.get("node_count")) or 0,
        left_s=max(0.0, float(end - now)) if end and now and minutes else None,
        limit_s=60.0 * minutes if minutes else None,
        cluster=_cluster(record),
        listed=moment_of(now),
    )
    if job.running and not listed:
        raise InputError(f"{where}: it runs, but has no nodes; expected `nodes` or `job_resources.nodes`")
    return job


def states_of(record: dict[str, Any]) -> frozenset[str]:
    """The states of a job; `NO_STATE` for an empty list. Raises InputError if they are missing."""
    return frozenset[str]().union(*map(job_states, _texts_of_state(record))) or frozenset({NO_STATE})


def _texts_of_state(record: dict[str, Any]) -> list[str]:
    """The states of a job: `job_state` of `squeue`, `state.current` of `sacct`. Raises InputError if missing."""
    value = record.get("job_state", record.get("state"))
    if isinstance(value, dict):
        value = value.get("current")
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise InputError(
            f"expected `job_state` as a text or a list of texts, found `{shortened(repr(value), 60)}`"
            if value is not None
            else "it has no `job_state`"
        )
    return texts


def hosts(record: dict[str, Any]) -> list[str]:
    """The nodes of a job; empty if it has none."""
    resources = record.get("job_resources")
    places = [record.get("nodes"), resources.get("nodes") if isinstance(resources, dict) else None]
    if all(place is None for place in places) and "nodes" not in record:
        if isinstance(resources, dict) and "allocated_nodes" in resources:
            return _hosts(resources["allocated_nodes"])
        return []
    return next((listed for place in places if (listed := _hosts(place))), [])


def _hosts(value: Any) -> list[str]:
    """Hosts in a text, a list of texts or objects, or an object (`list`, `allocation`)."""
    if value is None:
        return []
    if isinstance(value, str):
        return [*expand_field(value)]
    if isinstance(value, list):
        return [host for item in value for host in _hosts(_named(item))]
    if isinstance(value, dict):
        return _hosts(next((value[key] for key in ("list", "allocation", "nodes") if value.get(key)), None))
    raise InputError(f"expected a list of nodes, found `{shortened(repr(value), 60)}`")


def _named(item: Any) -> Any:
    if isinstance(item, dict):
        return item.get("name") or item.get("nodename") or item
    return item


def _nodes(records: list[dict[str, Any]]) -> list[Node]:
    """Nodes by name; the entries of a node in several partitions are merged."""
    listings = Listings()
    for at, record in enumerate(records):
        try:
            names, states = _names(record), _states(record)
        except InputError as e:
            raise InputError(f"record {at}: {e.message}") from None
        listings.add(names, states, _partitions(record), up=_up(record))
    return listings.nodes()


def _names(record: dict[str, Any]) -> list[str]:
    if isinstance(record.get("name"), str):
        return [record["name"]]
    inner = record.get("nodes")
    if isinstance(inner, dict):
        for key in ("nodes", "hostnames"):
            if names := _hosts(inner.get(key)):
                return names
        if number(inner.get("total")) == 0:
            return []
    raise InputError("it has neither `name` nor `nodes.nodes`")


def _states(record: dict[str, Any]) -> frozenset[str]:
    node = record.get("node")
    value = record.get("state", node.get("state") if isinstance(node, dict) else None)
    states = [value] if isinstance(value, str) else value
    if not isinstance(states, list) or not states or not all(isinstance(text, str) for text in states):
        what = (
            "it has no `state`" if value is None else f"expected `state` as texts, found `{shortened(repr(value), 60)}`"
        )
        raise InputError(what)
    flags = record.get("state_flags")
    states = [*states, *(flag for flag in flags if isinstance(flag, str))] if isinstance(flags, list) else states
    return frozenset[str]().union(*map(node_states, states))


def _partitions(record: dict[str, Any]) -> list[str]:
    many, single = record.get("partitions"), record.get("partition")
    if isinstance(single, dict):
        single = single.get("name")
    names = many if isinstance(many, list) else str(many or single or "").split(",")
    return [name for name in names if isinstance(name, str) and name]


def _up(record: dict[str, Any]) -> bool:
    """Whether Slurm starts jobs in the partition of a record (`partition.partition.state`); true without a state."""
    for _ in range(2):
        inner = record.get("partition")
        if not isinstance(inner, dict):
            return True
        record = inner
    state = record.get("state")
    return "UP" in state if isinstance(state, list) else state in (None, "UP")
