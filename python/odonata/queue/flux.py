"""Files of Flux: `flux jobs -A --json`, and the resources of an instance (`flux resource R`).

Sources: flux-jobs(1); RFC 20, "Resource Set Specification", and RFC 21, "Job States and Events", of Flux.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

from odonata import reading
from odonata.errors import InputError, shortened
from odonata.queue.formats import Format, jobs_once, objects, state_of, texts
from odonata.queue.hosts import expand_field
from odonata.queue.records import Job, Node

if TYPE_CHECKING:
    from collections.abc import Mapping

#: State of a job -> the state. Source: RFC 21.
_STATES = {
    "NEW": frozenset({"PENDING"}),
    "DEPEND": frozenset({"PENDING"}),
    "PRIORITY": frozenset({"PENDING"}),
    "SCHED": frozenset({"PENDING"}),
    "RUN": frozenset({"RUNNING"}),
    "CLEANUP": frozenset({"COMPLETING"}),
    "INACTIVE": frozenset({"COMPLETED"}),
}
_RESOURCES = re.compile(r"\s*\{.{0,200}\"R_lite\"\s*:", re.DOTALL)


def _is_jobs(text: str) -> bool:
    """Whether a text lists jobs: no other manager has the key `t_submit`. (In a text of JSON, quotes are escaped.)"""
    return text.lstrip().startswith("{") and '"t_submit"' in text and '"job_id"' not in text


def _number(record: Mapping[str, Any], key: str, job: str) -> float | None:
    value = record.get(key)
    if value in (None, ""):
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or value < 0:
        raise InputError(f"job {job}: expected `{key}` in seconds, found `{shortened(repr(value), 40)}`")
    return float(value)


def _job(record: Mapping[str, Any]) -> Job:
    name = str(record.get("id", ""))
    states = state_of(record.get("state"), _STATES, name)
    nodes = tuple(dict.fromkeys(expand_field(str(record.get("nodelist") or ""))))
    # A job without a limit has the duration 0.
    limit = _number(record, "duration", name) or None
    count = record.get("nnodes")
    return Job(
        name,
        states,
        nodes if "RUNNING" in states or "COMPLETING" in states else (),
        **texts(record, {"user": "username", "name": "name", "partition": "queue", "account": "bank"}),
        wants=len(nodes) or (count if type(count) is int and count > 0 else 0),
        left_s=_number(record, "t_remaining", name),
        limit_s=limit,
    )


def _jobs(text: str) -> list[Job]:
    data = reading.parse_json(text)
    # For one job that is named, the command prints its object alone.
    listed = data["jobs"] if isinstance(data, dict) and "jobs" in data else [data]
    return jobs_once([_job(record) for record in objects(listed, "jobs")])


def _nodes(text: str) -> list[Node]:
    data = reading.parse_json(text)
    execution = data.get("execution") if isinstance(data, dict) else None
    listed = execution.get("nodelist") if isinstance(execution, dict) else None
    if not isinstance(listed, list) or not all(isinstance(hosts, str) for hosts in listed):
        raise InputError(f"expected texts under `execution.nodelist`, found `{shortened(repr(listed), 60)}`")
    names = dict.fromkeys(name for hosts in listed for name in expand_field(hosts))
    return [Node(name, frozenset({"IDLE"})) for name in names]


FORMATS = (
    Format("the output of `flux jobs --json`", "queue", _is_jobs, _jobs),
    Format("the resources of Flux (R)", "nodes", lambda text: bool(_RESOURCES.match(text)), _nodes),
)
