"""Each job alone on the machine, as long as it takes to judge it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from odonata.impact.kept import Kept
from odonata.scenario.warnings import messages_per_interval
from odonata.store.programs import of_job
from odonata.store.tables import NOT_DELIVERED

if TYPE_CHECKING:
    from collections.abc import Mapping

    from odonata.runner import Progress
    from odonata.scenario import Resolved

MESSAGES = 50
"""Fewest messages by which a job with a pattern is judged (assumed)."""
SENDING_PS = 100_000_000
"""Least time for which such a job sends what it is judged by (assumed: some round trips)."""
ITERATIONS = 2
"""Iterations by which a job with a program is judged; one of them is enough (assumed)."""
MORE = 1
"""So many iterations more are simulated, and half as many intervals more: what is judged must not end on an idle
network, because beside the others the job goes on."""
LONGEST_PS = 20_000_000_000
"""Longest run of a job alone (assumed)."""
SLACK = 1.5
"""The window is so much longer than a job needs alone. A job that takes longer is known to be slowed down by more."""


@dataclass(frozen=True)
class Alone:
    """A job alone: what it is compared with beside the others."""

    end_ps: int
    """When the run ended."""
    packet_hops: int
    last_ps: int
    """When the last of what counts ended."""
    intervals: int | None
    """Of a pattern: intervals whose messages count."""
    messages: int
    """Of a pattern: these messages."""
    latency_ps: float | None
    """Of a pattern: their mean latency; None if not all arrived."""
    ends_ps: tuple[int, ...]
    """Of a program: when iterations ended, from its start."""

    @property
    def needed_ps(self) -> float | None:
        """How long the machine must be simulated to judge the job; None if it cannot be judged."""
        if self.intervals is not None:
            return None if self.latency_ps is None else SLACK * self.last_ps
        return SLACK * self.ends_ps[0] if self.ends_ps else None


def alone_of(resolved: Resolved, job: int, kept: Kept, progress: Progress | None) -> Alone:
    """The job alone on the whole machine, with the same nodes and seed; simulated if it is not kept."""
    spec, counted = _spec(resolved, job)
    key = Kept.key("alone", spec, counted)
    entry = kept.get(key)
    if entry is None:
        from odonata.runner import simulate

        result = simulate(spec, progress, stage=f"{spec['jobs'][0]['name']} alone")
        entry = asdict(_measured(spec, result, counted))
        kept.add(key, entry)
    return Alone(**{**entry, "ends_ps": tuple(entry["ends_ps"])})


def _spec(resolved: Resolved, job: int) -> tuple[dict[str, Any], int | None]:
    """The specification of the job alone, and how many intervals of its pattern count."""
    only = resolved.spec["jobs"][job]
    if "program" in only:
        only = {**only, "program": {**only["program"], "iterations": ITERATIONS + MORE}}
    else:
        traffic = only["traffic"]
        many = max(1, messages_per_interval(resolved, only))
        senders = 1 if traffic["pattern"]["name"] == "broadcast" else len(only["nodes"])
        least = max(-(-MESSAGES // (many * senders)), -(-SENDING_PS // max(1, traffic["interval_ps"])), 1)
        only = {**only, "traffic": {**traffic, "intervals": least + -(-least // 2)}}
        return _alone(resolved, only), least
    return _alone(resolved, only), None


def _alone(resolved: Resolved, only: Mapping[str, Any]) -> dict[str, Any]:
    measure = {**resolved.spec["measure"], "blame": False}
    return {**resolved.spec, "jobs": [only], "measure": measure, "stop": {"jobs": [0], "at_ps": LONGEST_PS}}


def _measured(spec: Mapping[str, Any], result: Mapping[str, Any], counted: int | None) -> Alone:
    only, end, hops = spec["jobs"][0], int(result["end_ps"]), int(result["packet_hops"])
    if counted is None:
        rows = of_job(result["iterations"], 0)
        whole = rows["ranks"] == len(only["nodes"])
        ends = ends_of(rows["last_end_ps"][whole], only)[:ITERATIONS]
        return Alone(end, hops, ends[-1] if ends else end, None, 0, None, ends)
    rows = of_job(result["messages"], 0)
    counts = rows["interval"] < counted
    issue, latency = rows["issue_ps"][counts], rows["latency_ps"][counts]
    if not len(latency) or (latency == NOT_DELIVERED).any():
        return Alone(end, hops, end, counted, len(latency), None, ())
    last = int((issue + latency).max())
    return Alone(end, hops, last, counted, len(latency), float(latency.mean(dtype=np.float64)), ())


def ends_of(last_end_ps: Any, job: Mapping[str, Any]) -> tuple[int, ...]:
    """When the iterations of a program have ended, from its start, in their order."""
    ends = np.maximum.accumulate(np.asarray(last_end_ps, dtype=np.int64)) - int(job["program"]["start_ps"])
    return tuple(int(end) for end in ends)
