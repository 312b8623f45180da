"""The search for the shortest run from which the whole one is known within the bound."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from odonata.steady import extrapolate
from odonata.steady.epochs import epochs_of
from odonata.steady.refusals import refusal
from odonata.steady.shorten import FEWEST_STEPS, MOST_SHARE, Known, first, shortened
from odonata.steady.skipped import Steady
from odonata.steady.steps import counted_in_steps, played, unrolled

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from odonata.steady.epochs import Epoch
    from odonata.steady.extrapolate import Part
    from odonata.steady.shorten import Shortened

    Simulate = Callable[[Mapping[str, Any], int], dict[str, Any]]
    """From a specification and the number of the trial, from 1, to the result of the core."""

TRIALS = 8
"""Most shortened runs (assumed): each is at least twice as long as the one before it, or has other epochs."""
MOST_WORK = 1.25
"""Trials together cost at most this share of the whole run, so with the whole run at most 2.25 of it."""
STEP = (2.0, 8.0)
"""The next trial has at least and at most that many times the iterations (assumed); the least of the steps of a ring,
for what is not known of them often falls faster than it is foreseen."""
HOPELESS = 2.0
"""If a mean needs that many times the iterations of its epoch, the epoch is simulated in full without another trial
(assumed: what an interval from a few iterations says is uncertain by about this factor)."""


def search(spec: Mapping[str, Any], error: float, simulate: Simulate) -> tuple[dict[str, Any], dict[str, Any], Steady]:
    """The result, the specification that was simulated, and what was skipped.

    Every trial is an ordinary run of a shortened specification. The shortest of them from which the mean iteration of
    every program in every epoch is known within `error` is kept. If there is none that would save work, the
    specification itself is simulated. Of a job with one long collective around rings, steps are skipped in place of
    iterations.
    """
    given, steps = spec, counted_in_steps(spec, FEWEST_STEPS)
    spec = unrolled(given, steps)
    reason = refusal(spec)
    hops: list[int] = []
    known = Known(steps)
    trial = first(spec, known)
    while reason is None:
        result = simulate(played(trial, steps), len(hops) + 1)
        hops.append(int(result["packet_hops"]))
        epochs = epochs_of(trial, result, steps)
        parts = extrapolate.extrapolated(spec, trial, epochs)
        if parts is not None and extrapolate.consistent(parts, error):
            if not extrapolate.unknown(parts, error) and _ends_in_time(spec, parts):
                steady = Steady(error, tuple(hops), tuple(parts), left=_left_out(spec, trial), steps=steps)
                return *_as_measured(result, played(trial, steps), given), steady
            _need_more(known, parts, error)
        _learn(known, epochs)
        plan = shortened(spec, known)
        if plan is None or not epochs:
            reason = "no job that it waits for ended in a short run"
        elif len(hops) == TRIALS or not _pays(plan, trial, hops, epochs):
            reason = _unsteady(spec, parts, error, plan, steps)
        else:
            trial = plan.spec
    result = simulate(given, len(hops) + 1)
    return result, dict(given), Steady(error, (*hops, int(result["packet_hops"])), in_full=reason)


def _as_measured(
    result: Mapping[str, Any], trial: Mapping[str, Any], given: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The result and the simulated specification, with what the given one measures: not with what counts steps."""
    kept = dict(result)
    if not given["measure"].get("operations"):
        kept.pop("operations", None)
    return kept, {**trial, "measure": given["measure"]}


def _ends_in_time(spec: Mapping[str, Any], parts: Sequence[Part]) -> bool:
    """Whether no horizon ends the whole run before its jobs do."""
    at_ps = spec["stop"]["at_ps"]
    return at_ps is None or extrapolate.whole_ps(parts) <= at_ps


def _learn(known: Known, epochs: Sequence[Epoch]) -> None:
    for epoch in epochs:
        for job, seen in epoch.seen.items():
            if seen.pace is not None:
                known.add(job, epoch.jobs, seen.pace.value)


def _need_more(known: Known, parts: Sequence[Part], error: float) -> None:
    """Asks for as many iterations as the interval of each unknown mean suggests.

    The interval of a mean over k of n iterations narrows as sqrt((1 - k / n) / k). What is not known of the pace of k
    steps is mostly how far they are from the one pace that all ranks have in the end, and falls as 1 / k.
    """
    for number, job in extrapolate.unknown(parts, error):
        part = parts[number]
        pace = part.epoch.seen[job].pace
        have = known.fewest(job) if pace is None else pace.warm_up + pace.count
        needed = STEP[0] * have
        if part.epoch.seen[job].apart > error and known.moved_apart(job, part.epoch.jobs):
            needed = max(needed, part.length_ps / part.paces[job])
        if pace is not None and error < pace.error < math.inf:
            whole, alike = part.length_ps / pace.value, have * (pace.error / error) ** (1 if job in known.steps else 2)
            if alike > HOPELESS * whole:
                needed = whole
            else:
                most = STEP[0] if job in known.steps else STEP[1]
                needed = max(needed, min(alike / (1 + alike / whole), most * have))
        known.need(job, part.epoch.jobs, math.ceil(needed))


def _pays(plan: Shortened, trial: Mapping[str, Any], hops: Sequence[int], epochs: Sequence[Epoch]) -> bool:
    """Whether the next trial is another one, much shorter than the whole run, and within the bound on the work."""
    if plan.share > MOST_SHARE or plan.spec == trial:
        return False
    done = epochs[-1].end.at_ps / plan.whole_ps
    return sum(hops) * done + hops[-1] * plan.share <= MOST_WORK * hops[-1]


def _left_out(spec: Mapping[str, Any], trial: Mapping[str, Any]) -> dict[int, int]:
    counts = ([job.get("program", {}).get("iterations") for job in of["jobs"]] for of in (spec, trial))
    return {number: whole - short for number, (whole, short) in enumerate(zip(*counts, strict=True)) if whole}


def _unsteady(
    spec: Mapping[str, Any], parts: Sequence[Part] | None, error: float, plan: Shortened, steps: Mapping[int, int]
) -> str:
    """Why no further trial is made."""
    names = [job["name"] for job in spec["jobs"]]
    if parts is None or not extrapolate.consistent(parts, error):
        if plan.share > MOST_SHARE:
            share = f"{plan.share:.0%}".replace("%", " %")
            return f"enough iterations of every job between each start or end of a job are {share} of the run"
        if parts is None:
            return "the jobs start or end in another order in a shortened run"
        jobs = sorted(min(parts, key=lambda part: part.skipped_ps).epoch.jobs)
        running = " and ".join(f"`{names[job]}`" for job in jobs) + (" runs" if len(jobs) == 1 else " run")
        return f"the time in which {running} would be longer in a shortened run"
    for number, job in extrapolate.unknown(parts, error):
        error_found = parts[number].errors[job]
        if parts[number].epoch.seen[job].apart > error:
            return f"the ranks of `{names[job]}` move apart, some of them ahead of others"
        within = f"± {error_found:.2%}".replace("%", " %") if math.isfinite(error_found) else "too few of them"
        what = "step" if job in steps else "iteration"
        return f"the mean {what} of `{names[job]}` is not known within the bound ({within}) before half of the run"
    return "`run.until` ends the whole run before its jobs end"
