"""Tests whether a job that sends at intervals is saturated: the network cannot carry its offered load.

A message is *under way* from its issue to its delivery. If the network carries the offered load, the number of messages
under way (the backlog, at the sources and in the network) becomes stationary; if not, it grows as long as the job
sends, and the latency of a message depends on when it was issued. In a queue whose offered load is r times its
capacity, the backlog grows by 1 - 1/r of what is issued.

The test. The core counts messages by slice of time (docs/model.md, section 9), which gives the exact mean backlog of
each slice. The second half of the time in which all ranks send is cut into batches. The *growth* g is the difference of
the backlogs of the last and the first batch, over the messages issued meanwhile. Its error comes from the differences
between batches (as in the method of batch means; Law, "Simulation Modeling and Analysis", section 9.5), widened for the
correlation of neighbouring differences of a random walk, with Student's t, one-sided, 95 %. A queue that starts empty
also grows before it is stationary, at most (at load 1) by about 0.5 / sqrt(n) after n intervals. So g is compared with
a limit of 0.02 + 0.35 / sqrt(n): saturated if g minus its error is above the limit, not saturated if g is above neither
the limit nor 0.08, and unknown in between. docs/results.md states how often the test is wrong.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

FEWEST_INTERVALS = 12
"""Fewest intervals of a rank for an answer (assumed; with fewer, the limit is above 0.12)."""
LEAST_GROWTH = 0.02
"""Growth that does not count as saturation in a run of any length: an excess of 2 % of the load (assumed)."""
TRANSIENT = 0.35
"""Growth of a queue at load 0.95 that starts empty, times the square root of the number of intervals; from
simulations."""
BATCHES = 8
"""Most batches; each is at least two intervals long, so that messages issued together do not look like growth."""
FEWEST_SLICES = 4
"""Slices of sending from which batches can be made. There are fewer if delivery took 30 times as long as sending."""
MOST_GROWTH = 0.08
"""Growth above which the answer is never "not saturated", in a run of any length: an excess of 10 % gives 0.09."""
FILLED = 4
"""The time of sending must be at least this multiple of the time until one interval's messages are delivered (assumed).

Until then the backlog grows because messages take time to arrive, at any load.
"""
DRAINED = 20
"""Least latencies from the end of sending to the last delivery, from which there is a queue to be tested after all:
messages of an idle network differ by less (assumed). Sending must have lasted for two of them."""

_STUDENT = {4: 2.132, 5: 2.015, 6: 1.943, 7: 1.895}
"""95 % quantiles of Student's t by degrees of freedom."""
_NORMAL = 1.645
"""95 % quantile of the normal distribution."""
_WALK = 1.2
"""Error of the mean difference of batch means of a random walk, over that of independent differences: sqrt(10 / 7)."""
_POISSON = 1.55
"""Error of the growth over the second half of n intervals, times sqrt(n), if each interval adds variance 1."""


@dataclass(frozen=True, slots=True)
class Saturation:
    """The result of the test for a job."""

    saturated: bool | None
    """`None`: unknown from this run."""
    growth: float
    """Messages by which the backlog grew in the second half of sending, for each message issued."""


def saturation(totals: Mapping[str, Any], job: Mapping[str, Any], end_ps: int) -> Saturation | None:
    """Tests a job, given its totals and its specification.

    `None` if the question does not apply: for programs and broadcasts, which wait for their messages; with fewer than
    12 intervals per rank; if sending ended before the first messages arrived and made room for others; and if bursts
    pause for all of the second half of sending.
    """
    traffic = job.get("traffic")
    if traffic is None or traffic["pattern"]["name"] == "broadcast" or totals["first_issue_ps"] is None:
        return None
    first, senders = totals["first_issue_ps"], len(job["nodes"])
    gap, spread = _gap(traffic)
    end = end_ps
    if traffic["intervals"] is not None:
        # A time at which few ranks have ended. Ranks end at different times if their intervals vary.
        count = traffic["intervals"]
        end = min(end_ps, first + int((count - 1) * gap - 2 * math.sqrt(count) * spread))
    intervals = (end - first) / gap
    if intervals < FEWEST_INTERVALS or totals["first_delivery_ps"] is None:
        return None
    least = totals["first_delivery_ps"] - first
    drained = end - first >= 2 * least and totals["last_delivery_ps"] - end >= DRAINED * least
    if not drained and (_filled(totals, senders) - first) * FILLED > end - first:
        return None
    limit = LEAST_GROWTH + TRANSIENT / math.sqrt(intervals)
    grown = _growth(totals["backlog"], first, end, intervals, senders)
    if grown is None:
        return None
    growth, error = grown
    if growth - error > limit:
        return Saturation(True, growth)
    return Saturation(False if growth <= min(limit, MOST_GROWTH) else None, growth)


def _filled(totals: Mapping[str, Any], senders: int) -> float:
    """When as many messages had been delivered as are issued in one interval of all ranks; to a slice, rounded up."""
    backlog = totals["backlog"]
    of_an_interval = backlog["issued"].sum() / totals["intervals"] * senders
    reached = np.cumsum(backlog["delivered"]) >= of_an_interval
    return float(np.argmax(reached) + 1) * backlog["width_ps"] if reached.any() else math.inf


def _gap(traffic: Mapping[str, Any]) -> tuple[float, float]:
    """Mean and standard deviation of the time between two intervals of a rank."""
    arrival = traffic["arrival"]
    if arrival["name"] == "poisson":
        return traffic["interval_ps"], traffic["interval_ps"]
    return traffic["interval_ps"] + arrival["jitter_ps"], arrival["jitter_ps"]


def _growth(
    backlog: Mapping[str, Any], first: int, end: int, intervals: float, senders: int
) -> tuple[float, float] | None:
    """The growth and its error; None if nothing was issued in the time that counts."""
    width = backlog["width_ps"]
    error = _NORMAL * _POISSON / math.sqrt(senders * intervals)
    begin, stop = first // width + 1, min(end // width, len(backlog["issued"]))
    if stop - begin < FEWEST_SLICES:
        # Sending was short compared with delivery: the backlog at the end of the slice in which sending ended.
        issued = backlog["issued"][: stop + 1].sum()
        if not issued:
            return None
        return float((issued - backlog["delivered"][: stop + 1].sum()) / issued), error
    middle = begin + (stop - begin) // 2
    parts = np.array_split(np.arange(middle, stop), min(BATCHES, stop - middle, max(2, int(intervals / 4))))
    means = mean_backlog(backlog)
    batches, times = (np.array([values[part].mean() for part in parts]) for values in (means, np.arange(len(means))))
    per_slice = backlog["issued"][middle:stop].mean()
    if not per_slice:
        return None
    growth = (batches[-1] - batches[0]) / (times[-1] - times[0]) / per_slice
    steps = np.diff(batches) / np.diff(times) / per_slice
    if len(steps) in _STUDENT:
        error = _STUDENT[len(steps)] * _WALK * float(steps.std(ddof=1)) / math.sqrt(len(steps))
    return float(growth), error


def mean_backlog(backlog: Mapping[str, Any]) -> NDArray[np.float64]:
    """Messages under way, as the mean over the time of each slice; exact."""
    more = backlog["issued"].astype(np.float64) - backlog["delivered"]
    before = np.cumsum(more) - more
    late = (backlog["issue_offset_ps"] - backlog["delivery_offset_ps"]) / backlog["width_ps"]
    return np.asarray(before + more - late)
