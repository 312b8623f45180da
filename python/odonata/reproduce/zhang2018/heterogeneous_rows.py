"""Rows of figures 7 and 8: as many jobs of 16 nodes as of 64."""

from __future__ import annotations

from statistics import mean
from typing import TYPE_CHECKING

from odonata.reproduce.zhang2018.gathered import BASELINES, LEVEL_SPREAD, SPREADING, gather
from odonata.reproduce.zhang2018.homogeneous_rows import FEWER, LATENCY
from odonata.reproduce.zhang2018.panels import COMPACT, counts, difference, motif, unevenness, where
from odonata.reproduce.zhang2018.statement import in_all, relation, statement

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from odonata.reproduce.rows import Row
    from odonata.reproduce.zhang2018.gathered import CommResults, Runs

NEAR = 1.1
"""Up to so much above the best policy is still "in the bottom-left part"."""
CLASSES = ("small", "large")
AT_70 = "2x16 + 2x64"
RRR = "round-robin-routers"
_OVER_WHAT = (
    "the paper does not say over which policy; over Simple it cannot be, since in its figure small jobs are as fast "
    "there; over RRR, the slowest, both numbers come out"
)
_ROOM = (
    "at ratio 0.25 random and round-robin nodes are up to 15 % faster for large jobs, which Level-Spread keeps out of "
    "the groups that small jobs fill, and so off the global links of these"
)
_EVEN = "broadcasts, where Simple, Slurm or RDG are ahead by about 1 %: nothing is congested, and no policy matters"
_OVER_SOON = (
    "with one iteration a light broadcast or halo2d (20 to 50 us) is over before the heavy jobs, which first ask their "
    "receivers, have put much on the links; beside 10 KB halo2d suffers too. How often the authors repeat "
    "a pattern is not stated"
)
LIGHT, HEAVY = "1 KB", "100 KB"


def fig7(results: CommResults, _: Sequence[str]) -> list[Row]:
    """L36."""
    runs = gather("fig7", results)
    main = where(runs, lambda setup: counts(setup) != AT_70)
    at = "section VI-B, figure 7"
    what = "panels with Level-Spread within 10 % of the best policy for small and for large jobs"
    rows = [
        in_all("L36", what, [_bottom_left(one) for one in main], at, why=_ROOM),
        in_all(
            "L36", "panels without a policy that is strictly better", [not _beaten(one) for one in main], at, why=_EVEN
        ),
    ]
    far = [one.over(RRR, "small") for one in main if one.setup.ratio == "0.25"]
    if far:
        what = "ratio 0.25: small jobs under RRR over Simple, largest of the patterns"
        rows.append(statement("L36", what, max(far), 5, "x", "> 5", "figure 7(a), caption", kind="R", model=RRR))
    usual = {motif(one.setup): one for one in main if one.setup.nodes == 272 and one.setup.ratio == "1"}
    largest = {motif(one.setup): one for one in main if one.setup.nodes == 1056}
    for pattern, theirs in (("broadcast", 32), ("alltoall", 64)):
        if pattern in largest:
            rows += _on_1056(largest[pattern], pattern, theirs)
    grows = [unevenness(one, "small") > unevenness(usual[pattern], "small") for pattern, one in largest.items()]
    if grows:
        what = "patterns with more difference (small jobs) on 1,056 nodes than on 272"
        rows.append(in_all("L36", what, grows, at))
    rows += _ratios(main)
    fewer = where(runs, lambda setup: counts(setup) == AT_70)
    if fewer:
        differences = [difference(one, usual[motif(one.setup)], name) for one in fewer for name in CLASSES]
        what = "relative to Simple, 70 % and 90 % utilisation: mean of the largest differences by pattern and class"
        rows.append(relation("L33", what, mean(differences), "<= 0.1", "section VI-B", why=FEWER))
    return rows


def _bottom_left(runs: Runs) -> bool:
    best = {name: min(runs.time(policy, name) for policy in BASELINES) for name in CLASSES}
    return all(runs.time(LEVEL_SPREAD, name) <= NEAR * best[name] for name in CLASSES)


def _beaten(runs: Runs) -> bool:
    return any(all(runs.over(policy, name, LEVEL_SPREAD) < 1 for name in CLASSES) for policy in BASELINES)


def _on_1056(runs: Runs, pattern: str, theirs: float) -> Iterator[Row]:
    spreading = mean(runs.time(policy, "small") for policy in SPREADING)
    for words, ours, kind in (
        ("16 over Simple", 1 - runs.over(LEVEL_SPREAD, "small"), "S"),
        ("16 over the mean of spreading policies", 1 - runs.time(LEVEL_SPREAD, "small") / spreading, "R"),
        ("16 over the slowest policy, RRR", 1 - runs.over(LEVEL_SPREAD, "small", RRR), "R"),
        ("64 over Simple", 1 - runs.over(LEVEL_SPREAD, "large"), "R"),
    ):
        what = f"1,056 nodes, {pattern}: reduction of jobs of {words}"
        yield statement("L36", what, 100 * ours, theirs, "%", "± 10", "section VI-B", kind=kind, why=_OVER_WHAT)


def _ratios(main: list[Runs]) -> Iterator[Row]:
    found: dict[str, dict[str, Runs]] = {}
    for one in main:
        if one.setup.nodes == 272:
            found.setdefault(motif(one.setup), {})[one.setup.ratio] = one
    full = [by for by in found.values() if len(by) == 3]
    for name in CLASSES if full else ():
        values = [[unevenness(by[ratio], name) for ratio in ("0.25", "1", "4")] for by in full]
        what = f"{name} jobs: patterns whose largest difference falls with the ratio"
        falls = [three == sorted(three, reverse=True) for three in values]
        yield in_all("L33", what, falls, "section VI-B, figure 7(a)", why=LATENCY)


def fig8(results: CommResults, _: Sequence[str]) -> list[Row]:
    """L37: heavier jobs of one class hurt the other class where both are spread."""
    found: dict[str, dict[tuple[str, ...], Runs]] = {}
    for one in gather("fig8", results):
        found.setdefault(motif(one.setup), {})[tuple(each.message for each in one.setup.classes)] = one
    rows: list[Row] = []
    for suffers, hurts, heavy in (("small", "large", (LIGHT, HEAVY)), ("large", "small", (HEAVY, LIGHT))):
        pairs = [(by[heavy], by[LIGHT, LIGHT]) for by in found.values() if heavy in by]
        if pairs:
            rows += _heavier(suffers, hurts, pairs)
    return rows


def _heavier(suffers: str, hurts: str, pairs: list[tuple[Runs, Runs]]) -> Iterator[Row]:
    at = "section VI-C, figure 8"
    words = f"{HEAVY} of {hurts} jobs:"
    away = [_to_simple(one, suffers) > _to_simple(usual, suffers) for one, usual in pairs]
    what = f"{words} patterns that move spreading policies away from Simple ({suffers} jobs)"
    yield in_all("L37", what, away, at, model="spreading", why=_OVER_SOON)
    slower = [_slower(one, usual, SPREADING, suffers) for one, usual in pairs]
    what = f"{words} time of {suffers} jobs of spreading policies over that beside {LIGHT}"
    yield relation("L37", what, mean(slower), "> 1", at, model="spreading")
    if suffers == "small":
        calm = [_slower(one, usual, COMPACT, suffers) for one, usual in pairs]
        what = f"{words} time of small jobs of compact policies over that beside {LIGHT}"
        yield relation("L37", what, mean(calm), "± 0.1", at, model="compact")
        less = [ours < theirs for ours, theirs in zip(calm, slower, strict=True)]
        what = f"{words} patterns with which small jobs of compact policies suffer less than of spreading ones"
        yield in_all("L37", what, less, at, model="compact", why=_OVER_SOON)


def _to_simple(runs: Runs, job_class: str) -> float:
    return mean(runs.over(policy, job_class) for policy in SPREADING)


def _slower(one: Runs, usual: Runs, policies: tuple[str, ...], job_class: str) -> float:
    return mean(one.time(policy, job_class) / usual.time(policy, job_class) for policy in policies)
