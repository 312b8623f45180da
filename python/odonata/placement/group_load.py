"""The expected load of running jobs on links between groups, and the nodes per group that add least to it.

The load of a pair of groups is the traffic between their nodes in both directions: all links between two groups count
as equal, and traffic takes minimal paths. The total cost is the sum of the squares of these loads, so that loaded pairs
are avoided most. The unit of load is the traffic between two nodes of the new job.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from odonata.errors import InputError, unknown
from odonata.machine import Shape
from odonata.placement.free import sites
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
    """Reads running jobs from an option: a list of node lists, or of tables `nodes`, `intensity`, `flows`.

    Raises InputError for anything else.
    """
    if not isinstance(value, Sequence) or isinstance(value, str):
        raise InputError(
            f"expected a list of jobs, found `{value!r}`", hint='such as ["0-15", { nodes = "16-31", intensity = 2 }]'
        )
    return [_job(job) for job in value]


def running(request: Request) -> list[Running]:
    """The running jobs: those of the option `running`, or else those of the request.

    In the request, owners of busy nodes identify the jobs. Without owners, all busy nodes count as one job.
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


if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Loads = NDArray[np.float64]


def background(shape: Shape, jobs: Sequence[Running], pair: float) -> "Loads":
    """Load of every pair of groups by the running jobs (symmetric, with a zero diagonal), divided by `pair`."""
    import numpy as np

    starts = np.array([group.start for group in sites(shape).groups])
    loads = np.zeros((len(starts), len(starts)))
    for job in jobs:
        if len(job.nodes) > 1:
            groups = np.searchsorted(starts, np.array(job.nodes), side="right") - 1
            nodes = np.bincount(groups, minlength=len(starts)).astype(float)
            loads += np.outer(nodes, nodes) * (2 * job.intensity / (len(job.nodes) - 1) / pair)
        for source, destination, amount in job.flows:
            a, b = shape.group_of(source), shape.group_of(destination)
            loads[a, b] += amount / pair
            if a != b:
                loads[b, a] += amount / pair
    np.fill_diagonal(loads, 0)
    return loads


def cost(loads: "Loads", shares: Sequence[int]) -> float:
    """The sum of the squares of all loads with the new job."""
    import numpy as np

    x = np.array(shares, dtype=float)
    return float((np.triu(loads + np.outer(x, x), 1) ** 2).sum())


def lighter(loads: "Loads", room: Sequence[int], shares: Sequence[int]) -> list[int]:
    """Improves shares: nodes move from the group where they cost most to the group where they cost least, while this
    helps.

    At first many nodes move at a time, at the end one. Ties go to the first group. The time grows with the
    square of the number of groups, and with groups times moves.
    """
    import numpy as np

    x, most = np.array(shares, dtype=float), np.array(room, dtype=float)
    total = loads + np.outer(x, x)
    np.fill_diagonal(total, 0)
    step = max(1, int(x.sum()) // (2 * len(x)))
    while step:
        # Summed in sequence, so that the order of additions does not depend on the processor.
        slope = np.add.accumulate(total * x, axis=1)[:, -1]
        for _ in range(4 * len(x)):
            if not _move(x, most, total, slope, step):
                break
        step //= 2
    return [int(share) for share in x]


def _move(x: "Loads", most: "Loads", total: "Loads", slope: "Loads", step: int) -> bool:
    """Moves `step` nodes if this lowers the cost; `slope` is half the cost of one more node in a group."""
    import numpy as np

    a = int(np.argmax(np.where(x >= step, slope, -np.inf)))
    b = int(np.argmin(np.where(most - x >= step, slope, np.inf)))
    if a == b or x[a] < step or most[b] - x[b] < step:
        return False
    others = float(np.add.accumulate(x * x)[-1] - x[a] ** 2 - x[b] ** 2)
    between = step * (x[a] - x[b]) - step**2
    change = (
        2 * step * ((slope[b] - x[a] * total[a, b]) - (slope[a] - x[b] * total[a, b]))
        + 2 * step**2 * others
        + 2 * total[a, b] * between
        + between**2
    )
    if not change < -1e-9 * (abs(slope[a]) + abs(slope[b])) * step:
        return False
    slope -= x[a] * total[a] + x[b] * total[b]
    for group, more in ((a, -step), (b, step)):
        total[group] += more * x
        total[:, group] = total[group]
        total[group, group] = 0
        x[group] += more
    slope += x[a] * total[a] + x[b] * total[b]
    for group in (a, b):
        slope[group] = np.add.accumulate(total[group] * x)[-1]
    return True
