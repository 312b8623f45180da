"""What is kept of a case's run: a few numbers, small enough to keep them all."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from odonata.store.latency import Latency

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from odonata.machine import System
    from odonata.scenario import Resolved

FORMAT = 2
"""Version of what is kept; another one is simulated anew."""


@dataclass(frozen=True)
class Outcome:
    """Measurements of the target job, the first of the scenario. Times in picoseconds, rates in bytes per second."""

    mean_ps: float
    """Mean latency of its messages (K20)."""
    quantiles_ps: dict[str, int]
    """min, p25, p50, p75, ... max."""
    delivered: int
    """Messages delivered."""
    minimal: float
    """Fraction of its packets that were never diverted."""
    end_ps: int
    up_ports: list[float]
    """Busy fraction of the links from a leaf to its spines, by number of the port, mean over the target's groups."""
    global_ports: list[float]
    """The same of the global links of a spine."""
    root_rate: float | None
    """Bytes per second of the target that leave the group of rank 0, over the windows in which any do (K52); None if
    no windows were asked for."""
    background_in: float | None
    """Background that enters that group, bytes per second over the whole run (K53)."""
    background_out: float | None
    """Background that leaves it."""

    def as_json(self) -> dict[str, Any]:
        """As kept on disk."""
        return asdict(self)


def outcome(result: Mapping[str, Any], resolved: Resolved) -> Outcome:
    """The numbers of a run. Raises ValueError if the target delivered nothing."""
    job, spec = result["jobs"][0], resolved.spec
    histogram = job["latency"]
    latency = Latency.from_histogram(
        histogram["lower"],
        histogram["upper"],
        histogram["bin_count"],
        total=histogram["sum"],
        least=histogram["min"] or 0,
        greatest=histogram["max"] or 0,
    )
    if latency is None:
        raise ValueError("the target delivered no message")
    groups = sorted({resolved.system.shape.group_of(node) for node in spec["jobs"][0]["nodes"]})
    busy = _busy(result, spec, resolved.system)
    counted = spec["measure"]["arrivals_every_ps"] is not None
    root = resolved.system.shape.group_of(spec["jobs"][0]["nodes"][0])
    background = counted and len(spec["jobs"]) > 1
    return Outcome(
        mean_ps=latency.mean,
        quantiles_ps=dict(latency.quantiles),
        delivered=job["delivered"],
        minimal=job["minimal"] / job["packets"],
        end_ps=result["end_ps"],
        up_ports=_by_port(busy, resolved.system, groups, leaf=True),
        global_ports=_by_port(busy, resolved.system, groups, leaf=False),
        root_rate=_root_rate(result, root) if counted else None,
        background_in=_rate(result, "bytes_in", root) if background else None,
        background_out=_rate(result, "bytes_out", root) if background else None,
    )


def _busy(result: Mapping[str, Any], spec: Mapping[str, Any], system: System) -> NDArray[np.float64]:
    """Busy fraction of each router port's link, in slot order."""
    machine = system.describe()
    slots, channels = len(machine["slot_class"]), spec["fabric"]["channels"]
    sent = np.asarray(result["links"]["bytes"][: slots * channels]).reshape(slots, channels).sum(axis=1)
    links = spec["fabric"]["links"]
    bandwidth = np.array([links[name]["bandwidth"] / 1e6 for name in machine["classes"]])
    busy: NDArray[np.float64] = sent / (bandwidth[machine["slot_class"]] * result["end_ps"] * 1e-12)
    return busy


def _by_port(busy: NDArray[np.float64], system: System, groups: list[int], *, leaf: bool) -> list[float]:
    """Mean over the leaves (or spines) of these groups of their ports to other routers, up (or global), ascending."""
    machine = system.describe()
    router, kind = machine["slot_router"], "local" if leaf else "global"
    chosen = (
        (machine["router_is_leaf"][router] == leaf)
        & (machine["slot_class"] == machine["classes"].index(kind))
        & np.isin(machine["router_group"][router], groups)
    )
    ports = machine["slot_port"][chosen]
    return [float(busy[chosen][ports == port].mean()) for port in np.unique(ports)]


def _root_rate(result: Mapping[str, Any], group: int) -> float:
    """Mean over the windows in which anything left the group: a last straggler does not count for the whole wait."""
    sent = result["arrivals"]["bytes_out"][:, 0, group]
    busy_ps = int(np.count_nonzero(sent)) * result["arrivals"]["every_ps"]
    return float(sent.sum() / (busy_ps * 1e-12))


def _rate(result: Mapping[str, Any], what: str, group: int) -> float:
    return float(result["arrivals"][what][:, 1, group].sum() / (result["end_ps"] * 1e-12))
