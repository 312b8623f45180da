"""What jobs sent and received: counters of the nodes of a job while it ran."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from odonata.errors import InputError
from odonata.steady.mean import FEWEST, half_width

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from odonata.counters.series import Counters, Nic
    from odonata.queue.accounting import Run

    Numbers = NDArray[np.float64]

LEAST_NODES = 2
"""Fewest nodes of a job that communicates (Salimi Beni 2022, section 5.1)."""
LEAST_STEPS = FEWEST
"""Fewest times between samples in which a job must run: as many as an interval of its mean needs."""
LEAST_COVER = 0.5
"""Least share of nodes and times whose counters must be known (assumed)."""
PEAK = 0.95
"""Quantile over time that is called the peak (assumed: a single sample may be an outlier)."""
ACTIVE = 0.1
"""A job is active while it sends more than this share of its peak (assumed)."""
MOST = 0.5
"""A node that sends or receives more than this share of all makes a job one-sided (assumed)."""
_MOST_STEPS = 20_000


@dataclass(frozen=True)
class JobTraffic:
    """What a job sent and received. Rates are bytes per second and node, over all its NICs."""

    run: Run
    seconds: float
    """Time that is measured."""
    covered: float
    """Share of nodes and times whose counters are known."""
    sent: float
    """Mean rate."""
    received: float
    low: float
    """The 95 % interval of the mean rate sent: batch means, wider if batches follow each other (`steady/mean.py`)."""
    high: float
    peak: float
    """95 % quantile over time of the rate sent."""
    active: float
    """Share of the time in which it sends more than a tenth of its peak."""
    packet: float | None
    """Mean bytes of a packet; None if packets are not counted."""
    top_sender: float
    """Share of the node that sends most."""
    top_receiver: float

    @property
    def shape(self) -> str:
        """What the sums of its nodes say: `even`, `incast` (one node receives most), or `one sender`."""
        if len(self.run.nodes or ()) > 2:
            if self.top_receiver >= MOST > self.top_sender:
                return "incast"
            if self.top_sender >= MOST > self.top_receiver:
                return "one sender"
        return "even"


@dataclass(frozen=True)
class Unmeasured:
    """A job without a measurement."""

    run: Run
    why: str


def measured(counters: Counters, runs: Iterable[Run]) -> tuple[list[JobTraffic], list[Unmeasured]]:
    """What each job of two nodes or more sent and received.

    Parameters
    ----------
    counters
        Counters of all nodes.
    runs
        Past jobs with their nodes; a job that still runs ends with the counters.

    Returns
    -------
    tuple
        The measured jobs, and the others with the reason.

    Raises
    ------
    InputError
        If the jobs have no names of nodes, or none ran while the counters were read.
    """
    first, last = counters.span
    every = [run for run in runs if run.start < last and (run.end is None or run.end > first)]
    if every and all(run.nodes is None for run in every):
        raise InputError("the file of jobs does not name their nodes", hint="sacct with NodeList")
    shared = _shared(every)
    there = [(at, run) for at, run in enumerate(every) if run.count >= LEAST_NODES]
    if not there:
        message = "no job of two nodes or more ran while the counters were read"
        raise InputError(message, hint="the times of both files need the same zone: `sacct --json` has one, see --zone")
    done: list[JobTraffic] = []
    others: list[Unmeasured] = []
    for at, run in there:
        result = "its nodes are shared with other jobs" if at in shared else _of_job(counters, run, first, last)
        if isinstance(result, str):
            others.append(Unmeasured(run, result))
        else:
            done.append(result)
    return done, others


def _shared(runs: Sequence[Run]) -> set[int]:
    """The positions of jobs that share a node with another one at the same time: counters cannot tell them apart."""
    by_node: dict[str, list[tuple[float, float, int]]] = {}
    for at, run in enumerate(runs):
        for begin, end in run.spans:
            for node in run.nodes or ():
                by_node.setdefault(node, []).append((begin, math.inf if end is None else end, at))
    result: set[int] = set()
    for on_node in by_node.values():
        until, holder = -math.inf, -1
        for begin, end, at in sorted(on_node):
            if begin < until and at != holder:
                result |= {at, holder}
            if end > until:
                until, holder = end, at
    return result


def _of_job(counters: Counters, run: Run, first: float, last: float) -> JobTraffic | str:
    """The traffic of a job, or why there is none."""
    nodes = run.nodes or ()
    known = [counters.nics[node] for node in nodes if node in counters.nics]
    if not known:
        return "there are no counters of its nodes"
    begin, end = max(run.start, first), min(math.inf if run.end is None else run.end, last)
    step = float(np.median([np.median(np.diff(nic.times)) for nics in known for nic in nics]))
    count = min(int((end - begin) / step), _MOST_STEPS)
    if count < LEAST_STEPS:
        return f"it ran for less than {LEAST_STEPS} samples while the counters were read"
    grid = np.linspace(begin, end, count + 1)
    sent, received = (np.array([_node(nics, grid, kind) for nics in known]) for kind in ("sent", "received"))
    covered = float(np.isfinite(sent).mean()) * len(known) / len(nodes)
    both = min(covered, float(np.isfinite(received).mean()) * len(known) / len(nodes))
    if both < LEAST_COVER:
        return f"counters are known for {both:.0%} of its nodes and time"
    with np.errstate(invalid="ignore"):
        by_time = _mean(sent, 0)
        by_time = by_time[np.isfinite(by_time)]
        senders, receivers = _mean(sent, 1), _mean(received, 1)
    peak = float(np.quantile(by_time, PEAK))
    mean = float(by_time.mean())
    half = half_width(by_time)
    return JobTraffic(
        run=run,
        seconds=float(end - begin),
        covered=covered,
        sent=mean,
        received=float(np.nanmean(receivers)),
        low=max(0.0, mean - half),
        high=mean + half,
        peak=peak,
        active=float((by_time > ACTIVE * peak).mean()) if peak > 0 else 0.0,
        packet=_packet(known, begin, end),
        top_sender=_top(senders),
        top_receiver=_top(receivers),
    )


def _node(nics: Sequence[Nic], grid: Numbers, kind: str) -> Numbers:
    """The rate of a node in each step of the grid, over its NICs; not a number where one is not known."""
    total: Numbers = np.sum([_rates(nic, grid, kind) for nic in nics], axis=0)
    return total


def _rates(nic: Nic, grid: Numbers, kind: str) -> Numbers:
    grown = nic.grown(kind)
    unknown = ~np.isfinite(grown)
    total = np.concatenate([[0.0], np.cumsum(np.where(unknown, 0.0, grown))])
    rates: Numbers = np.diff(np.interp(grid, nic.times, total)) / np.diff(grid)
    rates[(grid[:-1] < nic.times[0]) | (grid[1:] > nic.times[-1])] = np.nan
    for at in np.flatnonzero(unknown):
        rates[(grid[1:] > nic.times[at]) & (grid[:-1] < nic.times[at + 1])] = np.nan
    return rates


def _mean(values: Numbers, axis: int) -> Numbers:
    """The mean along an axis without what is not known."""
    there = np.isfinite(values)
    sums: Numbers = np.where(there, values, 0.0).sum(axis)
    result: Numbers = sums / there.sum(axis)
    return result


def _packet(known: Sequence[Sequence[Nic]], begin: float, end: float) -> float | None:
    data = packets = 0.0
    for nic in (nic for nics in known for nic in nics):
        if nic.sent_packets is None:
            return None
        inside = (nic.times[:-1] >= begin) & (nic.times[1:] <= end)
        steps, counted = nic.grown("sent")[inside], nic.grown("sent_packets")[inside]
        both = np.isfinite(steps) & np.isfinite(counted)
        data, packets = data + float(steps[both].sum()), packets + float(counted[both].sum())
    return data / packets if packets else None


def _top(means: Numbers) -> float:
    total = float(np.nansum(means))
    return float(np.nanmax(means)) / total if total > 0 else 0.0
