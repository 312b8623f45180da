"""When to submit a run: now, or when jobs of the queue have ended (Salimi Beni 2022, section 7).

A job ends at its time limit at the latest, so the queue says how the background utilisation b and the idle nodes can
change. What starts meanwhile is not known. Two cases limit it:

- *calm*: no job starts;
- *busy*: jobs that wait start in the order of the queue, as soon as their nodes are idle, and run until their limit.

Each possible start is predicted in both cases. What waiting costs is the wait itself: a run that starts later is worth
it if it ends earlier.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from odonata.background.utilisation import of_jobs
from odonata.errors import InputError
from odonata.text import Table, columns
from odonata.text.numbers import duration, fixed, time

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence, Set

    from odonata.prediction.predictor import Prediction, Predictor
    from odonata.queue.records import Job

WITHIN_S = 24 * 3600.0
"""How far ahead starts are looked for. Assumed: the usual longest time limit of a job."""
ROWS = 12
"""Starts that are compared. Assumed: as many as fit on a screen."""
_RUNNING = frozenset({"RUNNING"})
_WAITING = "PENDING"

Spread = dict[str, float]
"""What is known of the nodes that a run would get: `groups`, `leaves` and `neighbours`."""


@dataclass(frozen=True)
class Case:
    """A start in one of the two cases."""

    b: float
    """The background utilisation at the start (equation 2)."""
    idle: int
    """Idle nodes."""
    prediction: Prediction | None
    """None if the nodes of the run are not idle."""
    run_s: float | None
    """Expected length of the run, in seconds."""


@dataclass(frozen=True)
class Start:
    """A possible start."""

    wait_s: float
    """From now, in seconds."""
    ended: int
    """Jobs that have ended at their limits until then."""
    calm: Case
    busy: Case

    def ends_s(self, case: Case) -> float | None:
        """From now to the expected end of the run; None if it cannot start."""
        return None if case.run_s is None else self.wait_s + case.run_s


@dataclass(frozen=True)
class Advice:
    """When to submit."""

    starts: tuple[Start, ...]
    """The first is now."""
    best: Start | None
    """The start to choose; None if the run cannot start within the time."""
    risk: float | None
    """The probability of the tail that was asked for."""
    within_s: float
    without_size: int = 0
    """Waiting jobs that do not say how many nodes they want; they are left out."""

    def sentence(self) -> str:
        """Say when to submit, and why.

        Returns
        -------
        str
            One sentence.
        """
        now = self.starts[0]
        if self.best is None:
            if self.risk is not None and any(start.busy.prediction for start in self.starts):
                asked = fixed(self.risk, ".1%")
                return (
                    f"no start within {_duration(self.within_s)} has a probability of the tail of at most {asked} in "
                    f"both cases"
                )
            return f"the run does not fit within {_duration(self.within_s)} in both cases"
        ends = self.best.ends_s(self.best.busy)
        assert ends is not None  # the best start fits
        if self.best is now:
            later = [end for start in self.starts[1:] if (end := start.ends_s(start.busy)) is not None]
            if self.risk is not None:
                return f"run now: the probability of the tail is at most {fixed(self.risk, '.1%')}"
            if not later:
                return "run now: no later start is known"
            return f"run now: the best later start ends {_duration(min(later) - ends)} later"
        wait = f"wait {_duration(self.best.wait_s)}"
        if self.risk is not None:
            return f"{wait}: then the probability of the tail is at most {fixed(self.risk, '.1%')} in both cases"
        first = now.ends_s(now.busy)
        if first is None:
            return f"{wait}: the nodes of the run are not idle before"
        return f"{wait}: the run is expected to end {_duration(first - ends)} earlier than if it starts now"

    def text(self) -> str:
        """Return the starts as a table, and the advice.

        Returns
        -------
        str
            Lines of text.
        """
        head = columns(
            ["wait", "jobs ended", "idle nodes", "b", "in the tail", "run", "ends after"],
        )
        lines = [
            *Table(head, [_row(start) for start in self.starts]).lines(),
            "",
            "a to b: no job starts meanwhile, to waiting jobs start as soon as their nodes are idle",
            self.sentence(),
        ]
        warnings = {
            warning: None
            for start in self.starts
            for case in (start.calm, start.busy)
            if case.prediction is not None
            for warning in case.prediction.warnings
        }
        if self.without_size:
            warnings[f"left out: {self.without_size:,} waiting jobs that do not say how many nodes they want"] = None
        return "\n".join([*lines, *(f"warning: {warning}" for warning in warnings)])

    def as_dict(self) -> dict[str, Any]:
        """Return the advice as `--json` prints it.

        Returns
        -------
        dict
            Times in seconds from now.
        """
        return {
            "starts": [
                {"wait_s": start.wait_s, "ended": start.ended}
                | {name: _case_as_dict(start, case) for name, case in (("calm", start.calm), ("busy", start.busy))}
                for start in self.starts
            ],
            "best_wait_s": None if self.best is None else self.best.wait_s,
            "risk": self.risk,
            "within_s": self.within_s,
            "without_size": self.without_size,
            "advice": self.sentence(),
        }


def when(
    predictor: Predictor,
    known: Mapping[str, float | str],
    jobs: Sequence[Job],
    nodes_total: int,
    *,
    nodes: int,
    idle: Collection[str] | None = None,
    usable: Set[str] | None = None,
    spread: Callable[[frozenset[str], Sequence[Job]], Spread] | None = None,
    run_s: float | None = None,
    communicates: float = 1.0,
    risk: float | None = None,
    within_s: float = WITHIN_S,
) -> Advice:
    """Say when to submit a run, so that it ends early or stays out of the tail.

    Parameters
    ----------
    predictor
        What `odonata.cluster.train` returned.
    known
        What is known of the run, as for `Predictor.predict`, without `b`.
    jobs
        The queue, with the time that is left to running jobs (`odonata.cluster.read_queue`).
    nodes_total
        Nodes of the machine: Nt of b.
    nodes
        Nodes of the run.
    idle
        Names of the nodes that are idle now and that the run may get. Without it, all nodes that run no job are.
    usable
        Names of the nodes that the run may get once they are idle. Without it, all nodes.
    spread
        From the names of nodes that are free besides today's idle ones, and the jobs that run then, the groups, leaf
        switches and neighbours of the run. Without it they are those of `known`. Nodes that waiting jobs take are not
        known, so both cases have the same.
    run_s
        Length of the run where its times are those of the median of its history, in seconds; the default is that
        median.
    communicates
        Share of the run that varies as the predicted times do, from 0 to 1: 1 if the records are times of whole runs.
    risk
        Choose the first start whose probability of the tail is at most this in both cases, in place of the one that is
        expected to end first.
    within_s
        How far ahead starts are looked for, in seconds.

    Returns
    -------
    Advice

    Raises
    ------
    InputError
        If the queue does not say when its jobs end, and as `Predictor.predict`.

    Notes
    -----
    Source: Salimi Beni 2022, section 7, which proposes to submit at an appropriate time and gives no method. The
    expected length is the mean of the predicted quantiles.
    """
    for name, given, low, high in (("communicates", communicates, 0, 1), ("risk", risk, 0, 1)):
        if given is not None and not low <= given <= high:
            raise InputError(f"expected `{name}` from {low} to {high}, found {given:g}")
    if nodes < 1:
        raise InputError(f"expected a number of nodes from 1 on, found {nodes}")
    running = [job for job in jobs if job.running]
    if running and all(job.left_s is None for job in running):
        raise InputError(
            "the queue does not say when its jobs end",
            hint="print it with `squeue -o '%i|%T|%D|%L|%l|%N'`, or give `scontrol show job`, `squeue --json` of "
            "Slurm 23.02 or newer, or a queue of PBS, Flux or LSF",
        )
    waiting = [job for job in jobs if _WAITING in job.states and job.wants]
    without_size = sum(_WAITING in job.states and not job.wants for job in jobs)
    occupied = {name for job in running for name in job.nodes}
    idle_now = nodes_total - len(occupied) if idle is None else len(idle)
    frees = [
        (job.left_s, len(job.nodes) if usable is None else len(usable & set(job.nodes)))
        for job in running
        if job.left_s is not None
    ]

    def case(at: float, *, busy: bool) -> Case:
        still = [job for job in running if not at or job.left_s is None or job.left_s > at]
        gone = frozenset(occupied - {name for job in still for name in job.nodes})
        gone = gone if usable is None else gone & usable
        idle_then = idle_now + len(gone)
        others = list(still)
        if busy:
            started = _started(waiting, frees, idle_now, at)
            others += started
            idle_then -= sum(job.wants for job in started)
        b = of_jobs(others, nodes_total).b
        if idle_then < nodes:
            return Case(b, idle_then, None, None)
        facts = dict(known) | {"b": b} | (spread(gone, still) if spread else {})
        prediction = predictor.predict(facts)
        base = prediction.median_ps / 1e12 if run_s is None else run_s
        ratio = _mean(prediction) / prediction.median_ps
        return Case(b, idle_then, prediction, base * (1 - communicates + communicates * ratio))

    starts = []
    for at in _moments(running, within_s):
        ended = sum(job.left_s is not None and job.left_s <= at for job in running)
        starts.append(Start(at, ended if at else 0, case(at, busy=False), case(at, busy=True)))
    return Advice(tuple(starts), _best(starts, risk), risk, within_s, without_size)


def _moments(running: Sequence[Job], within_s: float) -> list[float]:
    """Now, and ends of jobs; of many so many that about as many nodes become idle between two of them."""
    ends: dict[float, int] = {}
    for job in running:
        if job.left_s is not None and 0 < job.left_s <= within_s:
            ends[job.left_s] = ends.get(job.left_s, 0) + len(job.nodes)
    moments, total, so_far = [0.0], sum(ends.values()), 0
    for at in sorted(ends):
        before = so_far * (ROWS - 1) // total
        so_far += ends[at]
        if len(ends) < ROWS or so_far * (ROWS - 1) // total > before:
            moments.append(at)
    return moments


def _started(waiting: Sequence[Job], frees: Sequence[tuple[float, int]], free: int, until: float) -> list[Job]:
    """Waiting jobs that run at a moment, if each starts in the order of the queue as soon as its nodes are idle.

    `frees` says when how many nodes become idle.
    """
    ends = list(frees)
    at = 0.0
    started: list[tuple[Job, float]] = []
    for number, job in enumerate(waiting):
        while free < job.wants:
            later = [end for end, _ in ends if end > at]
            if not later or min(later) > until:
                return [mine for mine, end in started if end > until]
            at = min(later)
            free += sum(count for end, count in ends if end == at)
        free -= job.wants
        end = at + job.limit_s if job.limit_s else float("inf")
        ends.append((end, job.wants))
        # Its nodes have no names yet; b only counts them.
        names = tuple(f" {number}.{k}" for k in range(job.wants))
        started.append((replace(job, states=_RUNNING, nodes=names), end))
    return [mine for mine, end in started if end > until]


def _mean(prediction: Prediction) -> float:
    """The mean of a time, in picoseconds: the predicted quantiles, joined by straight lines and flat at both ends."""
    quantiles = sorted(prediction.quantiles_ps.items())
    if not quantiles:
        return prediction.median_ps
    total = quantiles[0][0] * quantiles[0][1] + (1 - quantiles[-1][0]) * quantiles[-1][1]
    for (q, value), (after, more) in pairwise(quantiles):
        total += (after - q) * (value + more) / 2
    return total


def _best(starts: Sequence[Start], risk: float | None) -> Start | None:
    """Of the starts that fit in both cases the first that keeps the risk, or the one that ends first if busy."""
    fit = [
        (start, max(start.calm.prediction.probability, start.busy.prediction.probability))
        for start in starts
        if start.calm.prediction is not None and start.busy.prediction is not None
    ]
    if risk is not None:
        return next((start for start, probability in fit if probability <= risk), None)
    return min((start for start, _ in fit), key=lambda start: start.ends_s(start.busy) or 0.0, default=None)


def _row(start: Start) -> list[str]:
    both = (start.calm, start.busy)

    def range_of(texts: Sequence[str]) -> str:
        return texts[0] if len(set(texts)) == 1 else " to ".join(texts)

    return [
        _duration(start.wait_s) if start.wait_s else "now",
        f"{start.ended:,}",
        range_of([f"{case.idle:,}" for case in both]),
        range_of([f"{case.b:.2f}" for case in both]),
        range_of([fixed(case.prediction.probability, ".1%") if case.prediction else "does not fit" for case in both]),
        range_of([_duration(case.run_s) for case in both if case.run_s is not None] or [""]),
        range_of([_duration(end) for case in both if (end := start.ends_s(case)) is not None] or [""]),
    ]


def _case_as_dict(start: Start, case: Case) -> dict[str, Any]:
    return {
        "b": case.b,
        "idle": case.idle,
        "probability": None if case.prediction is None else case.prediction.probability,
        "run_s": case.run_s,
        "ends_s": start.ends_s(case),
    }


def _duration(seconds: float) -> str:
    """A length of time for people; runs of microseconds have their unit."""
    return time(1e12 * seconds) if seconds < 1 else duration(seconds)
