"""Odonata as the network of RAPS, the simulator of whole machines of ExaDigiT (docs/raps.md).

    engine.network_model = OdonataNetwork(
        "frontier", lambda: engine.running, lambda: engine.current_timestep, link=12.5e9
    )

RAPS then asks this model for each running job in each tick. It slows a job down by (tx + rx) / max_throughput if its
congestion is above 1, so both are made from the job's factor.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import odonata as od

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

STEP = 1.1
"""Rates are rounded down to powers of this, so that ticks with nearly the same traffic share a run."""


class OdonataNetwork:
    """Takes the place of `raps.network.NetworkModel`."""

    net_graph = None
    """So RAPS adds up no loads of links of its own."""

    def __init__(
        self,
        system: str,
        running: Callable[[], Iterable[Any]],
        now: Callable[[], int],
        *,
        link: float,
        utilization: Callable[[Any, Any], float] | None = None,
        routing: str | None = None,
    ) -> None:
        """`running` gives the running jobs and `now` the tick, `link` is NETWORK_MAX_BW in bytes a second, and
        `utilization` reads the present value of a trace (by default as RAPS does). RAPS's nodes must be numbered as
        those of `system`.
        """
        if utilization is None:
            from raps.utils import get_current_utilization as utilization  # type: ignore[import-not-found]
        self._system, self._running, self._now, self._link = system, running, now, link
        self._utilization, self._routing = utilization, routing
        self._known: dict[tuple[Any, ...], list[float]] = {}
        self._at: tuple[Any, ...] = ()
        self._factors: dict[str, float] = {}

    def simulate_network_utilization(self, *, job: Any, debug: bool = False) -> tuple[float, ...]:
        """Utilisation, congestion, bytes sent and received in a tick, and the bytes that a tick carries."""
        carried = self._link * job.trace_quanta
        if job.nodes_required <= 1:
            return 0.0, 0.0, 0.0, 0.0, carried
        sent, received = (self._utilization(trace, job) for trace in (job.ntx_trace, job.nrx_trace))
        used = (min(sent / carried, 1.0) + min(received / carried, 1.0)) / 2
        factor = self.factors()[str(job.id)]
        if debug:
            print(f"job {job.id}: slowed down {factor:.2f} times")
        return used, factor, sent, received, (sent + received) / factor if factor > 1 else carried

    def factors(self) -> Mapping[str, float]:
        """How many times as long the traffic of each running job takes in this tick."""
        running = [job for job in self._running() if job.nodes_required > 1]
        at = (self._now(), *(job.id for job in running))  # a job can also start within a tick
        if at != self._at:
            jobs = {str(job.id): self._sending(job) for job in running}
            key = tuple((tuple(job.nodes), job.rate, *job.app.values()) for job in jobs.values())
            if key not in self._known:
                self._known[key] = list(od.slowdowns(self._system, jobs, routing=self._routing).values())
            self._at, self._factors = at, dict(zip(jobs, self._known[key], strict=True))
        return self._factors

    def _sending(self, job: Any) -> od.Sending:
        rate = self._utilization(job.ntx_trace, job) / job.trace_quanta
        rounded = STEP ** math.floor(math.log(rate, STEP)) if rate >= 1 else 0.0
        stencil = "stencil" in str(getattr(job, "comm_pattern", "")).lower()
        return od.Sending(
            list(job.scheduled_nodes), rounded, {"pattern": "stencil-3d" if stencil else "uniform-random"}
        )
