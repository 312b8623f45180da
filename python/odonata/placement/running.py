"""The known traffic of the running jobs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from odonata.errors import InputError, unknown
from odonata.placement.ids import parse_ids
from odonata.placement.policy import Request


@dataclass(frozen=True)
class Running:
    """A running job: each of its nodes sends `intensity` evenly to the others, and the `flows` in addition.

    Amounts are relative: 1 is the traffic of a node of the new job, unless it has another intensity.
    """

    nodes: Sequence[int] = ()
    intensity: float = 1.0
    flows: Sequence[tuple[int, int, float]] = ()


def read_running(value: Any) -> list[Running]:
    """Running jobs as an option gives them: a list of node lists, or of tables `nodes`, `intensity`, `flows`.

    Raises InputError for anything else.
    """
    if not isinstance(value, Sequence) or isinstance(value, str):
        raise InputError(
            f"expected a list of jobs, found `{value!r}`", hint='such as ["0-15", { nodes = "16-31", intensity = 2 }]'
        )
    return [_job(job) for job in value]


def running(request: Request) -> list[Running]:
    """The running jobs: those of the option `running`, or else those of the request.

    There, jobs are known by the owners of busy nodes; if no owner is known, all busy nodes count as one job.
    Raises InputError if a node does not exist.
    """
    given: list[Running] | None = request.options.get("running")
    if given is None:
        jobs: dict[str, list[int]] = {}
        for node, owner in request.owners.items():
            jobs.setdefault(owner, []).append(node)
        return [Running(nodes) for nodes in jobs.values() or [sorted(request.busy)] if nodes]
    for job in given:
        for node in [*job.nodes, *(end for flow in job.flows for end in flow[:2])]:
            request.shape.check_node(node)
    return given


def read_intensity(value: Any) -> float:
    """A relative amount. Raises InputError unless it is a number from 0 on."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < float("inf"):
        raise InputError(f"expected a relative amount of traffic, found `{value!r}`")
    return float(value)


def _job(value: Any) -> Running:
    if not isinstance(value, Mapping):
        return Running(_nodes(value))
    known = ("nodes", "intensity", "flows")
    for key in value:
        if key not in known:
            raise unknown("key of a running job", str(key), known)
    flows = value.get("flows", [])
    if not isinstance(flows, Sequence) or isinstance(flows, str):
        raise InputError(f"expected a list of flows, found `{flows!r}`", hint="such as [[0, 17, 1.5]]")
    return Running(
        _nodes(value.get("nodes", [])), read_intensity(value.get("intensity", 1)), [_flow(flow) for flow in flows]
    )


def _nodes(value: Any) -> list[int]:
    return sorted(set(parse_ids(value, "nodes")))


def _flow(value: Any) -> tuple[int, int, float]:
    if not isinstance(value, Sequence) or isinstance(value, str) or len(value) != 3:
        raise InputError(f"expected a flow as [from node, to node, amount], found `{value!r}`")
    ends = parse_ids(list(value[:2]), "two nodes")
    if len(ends) != 2:
        raise InputError(f"expected a flow as [from node, to node, amount], found `{value!r}`")
    return ends[0], ends[1], read_intensity(value[2])
