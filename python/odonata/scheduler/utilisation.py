"""Whether a synthetic stream fills the machine as much as was asked for.

The load counts the time over which jobs arrive. After the last arrival the machine drains for about the time of the
longest job. A stream that arrives in less than that leaves the machine nearly empty for most of its makespan.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from odonata.scheduler.plan import Plan
    from odonata.scheduler.submission import Submission

FAR = 0.75
"""A utilisation below this part of what was asked for is far from it (assumed)."""
NEAR = 0.9
"""The part of it that the number of jobs in the message should reach (assumed)."""


def expected(plan: Plan) -> list[str]:
    """A sentence if not even a scheduler without waiting times could come near the load; before anything is simulated.

    No sentence for a trace, whose load nobody has chosen.
    """
    ends = [max(job.submit_ps + job.work_ps for job in stream.jobs) for stream in plan.streams]
    return _sentence(
        plan, [_utilisation(plan, stream.jobs, end) for stream, end in zip(plan.streams, ends, strict=True)]
    )


def reached(plan: Plan, utilisations: Sequence[float]) -> list[str]:
    """A sentence if the utilisation of all cases and streams is far from the load that was asked for."""
    return _sentence(plan, utilisations)


def _sentence(plan: Plan, utilisations: Sequence[float]) -> list[str]:
    model = plan.table.stream.synthetic
    if model is None:
        return []
    wanted = min(1.0, float(model.load))
    best = max(utilisations)
    if best >= FAR * wanted:
        return []
    text = f"the utilisation is {100 * best:.1f} % at most, far from the load of {100 * float(model.load):.0f} %"
    needed = max(_jobs_needed(plan, stream.jobs, wanted) for stream in plan.streams)
    if needed <= model.jobs:
        return [f"{text}: jobs wait although nodes are free, because those that wait need more nodes"]
    return [
        f"{text}: the machine stands nearly empty until the longest of the {model.jobs:,} jobs ends. "
        f"About {needed:,} jobs are needed for {100 * NEAR * wanted:.0f} %"
    ]


def _jobs_needed(plan: Plan, jobs: Sequence[Submission], wanted: float) -> int:
    """Jobs of which the arrivals last so long that the time of the longest job at the end counts little."""
    arrivals = _area(jobs) / (_nodes(plan) * wanted)
    longest = max(job.work_ps for job in jobs)
    many = len(jobs) * longest * NEAR / (1 - NEAR) / arrivals
    return math.ceil(float(f"{many:.2g}"))


def _utilisation(plan: Plan, jobs: Sequence[Submission], end_ps: int) -> float:
    return _area(jobs) / (_nodes(plan) * max(1, end_ps))


def _area(jobs: Sequence[Submission]) -> int:
    return sum(job.nodes * job.work_ps for job in jobs)


def _nodes(plan: Plan) -> int:
    return plan.system.shape.nodes - len(plan.system.unusable_nodes)
