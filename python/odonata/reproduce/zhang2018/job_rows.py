"""Rows of figures 2 and 4 (jobs of one size) and of 7 and 8 (as many jobs of 16 nodes as of 64)."""

from __future__ import annotations

from statistics import mean
from typing import TYPE_CHECKING

from odonata.reproduce.zhang2018.gathered import (
    COMPACT,
    SPREAD,
    counts,
    difference,
    gather,
    in_all,
    is_main,
    motif,
    reductions,
    relation,
    statement,
    unevenness,
    unstated,
    where,
)
from odonata.reproduce.zhang2018.runs import BASELINES, GROUPING, LEVEL_SPREAD, SPREADING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from odonata.reproduce.reproduction import Runs as Table
    from odonata.reproduce.rows import Row
    from odonata.reproduce.zhang2018.gathered import Runs

RDG, RDN = "random-groups", "random-nodes"
CLASS = {"16": "small", "64": "large"}
AT_90 = {"16": "15x16", "64": "3x64"}
AT_70 = {"16": "11x16", "64": "2x64"}


def fig2(table: Table) -> list[Row]:
    """L30: small jobs want to be together, large ones apart."""
    runs, at = gather(table), "section III-A, figure 2"
    small = [of_setup.over(RDN, "small", RDG) for of_setup in runs if of_setup.setup.classes[0].name == "small"]
    large = [of_setup.over(RDN, "large", RDG) for of_setup in runs if of_setup.setup.classes[0].name == "large"]
    rows = [
        relation("L30", "17 jobs of 16 nodes: time with RDN over RDG, mean over patterns", mean(small), "> 1", at),
        in_all("L30", "17 jobs of 16 nodes: patterns with which RDG is better", [ratio > 1 for ratio in small], at),
        in_all("L30", "4 jobs of 68 nodes: patterns with which RDN is better", [ratio < 1 for ratio in large], at),
    ]
    what = "4 jobs of 68 nodes: reduction by RDN over RDG, mean over patterns"
    return [*rows, statement("L30", what, 100 * (1 - mean(large)), 30, "%", "± 10", at, kind="R")]


def _with(variant: str) -> str:
    return f" ({variant})" if variant else ""


def fig4(table: Table) -> list[Row]:
    """L31 to L34."""
    runs = gather(table)
    usual = where(runs, is_main)
    main = {size: [of_setup for of_setup in usual if counts(of_setup.setup) == jobs] for size, jobs in AT_90.items()}
    rows = [*_sixteen(main["16"]), *_sixty_four(main["64"])]
    for variant in dict.fromkeys(of_setup.setup.variant for of_setup in runs if of_setup.setup.variant):
        rows += _over_simple([of_setup for of_setup in runs if of_setup.setup.variant == variant])
    rows += _bandwidth(main)
    for check in (_utilisation, _quarter, _longer):
        rows += check(runs, main)
    return rows


def _sixteen(runs: list[Runs]) -> Iterator[Row]:
    at = "section VI-A, figure 4(a)"
    pairs = [reductions(of_setup, "small", COMPACT, SPREADING) for of_setup in runs]
    least, largest = min(map(min, pairs)), max(map(max, pairs))
    what = "jobs of 16: least reduction of a compact policy over a spreading one"
    yield statement("L31", what, least, 15, "%", "± 10", at)
    yield statement("L31", "jobs of 16: largest such reduction", largest, 89, "%", "± 10", at)
    what = "jobs of 16: panels with every compact policy below every spreading one"
    yield in_all("L33", what, [min(some) > 0 for some in pairs], at)


def _sixty_four(runs: list[Runs]) -> Iterator[Row]:
    yield from _over_simple(runs)
    good = [min(reductions(of_setup, "large", SPREAD, GROUPING)) > 0 for of_setup in runs]
    what = "jobs of 64: panels with every spreading policy below every grouping one"
    yield in_all("L33", what, good, "section VI-A, figure 4(b)")


def _over_simple(runs: list[Runs]) -> Iterator[Row]:
    """L32, of the main runs or of a variant."""
    chosen = [
        of_setup for of_setup in runs if of_setup.setup.ratio == "1" and of_setup.setup.classes[0].name == "large"
    ]
    cuts = [100 * (1 - of_setup.over(LEVEL_SPREAD, "large")) for of_setup in chosen]
    for words, ours, theirs in (("least", min(cuts), 22), ("largest", max(cuts), 54)):
        what = f"jobs of 64, ratio 1{_with(chosen[0].setup.variant)}: {words} reduction over Simple"
        yield statement("L32", what, ours, theirs, "%", "± 10", "section VI-A, figure 4(b)")


def _bandwidth(main: dict[str, list[Runs]]) -> Iterator[Row]:
    """More global bandwidth, less difference."""
    for size, runs in main.items():
        by_motif: dict[str, dict[str, float]] = {}
        for of_setup in runs:
            by_motif.setdefault(motif(of_setup.setup), {})[of_setup.setup.ratio] = unevenness(of_setup, CLASS[size])
        falls = [values["0.25"] > values["1"] > values["4"] for values in by_motif.values() if len(values) == 3]
        if falls:
            what = f"jobs of {size}: patterns whose largest difference falls with the ratio"
            yield in_all("L33", what, falls, "section VI-A, figure 4")


def _matched(
    runs: list[Runs], main: dict[str, list[Runs]], wanted: dict[str, str], message: str
) -> list[tuple[Runs, Runs, str]]:
    """Variations of the main runs with ratio 1, with the main run of the same pattern, and their class."""
    matched = []
    for size, jobs in wanted.items():
        usual = {motif(of_setup.setup): of_setup for of_setup in main[size] if of_setup.setup.ratio == "1"}
        varied = [
            of_setup for of_setup in runs if counts(of_setup.setup) == jobs and is_main(of_setup.setup, (message,))
        ]
        matched += [(of_setup, usual[motif(of_setup.setup)], CLASS[size]) for of_setup in varied]
    return matched


def _utilisation(runs: list[Runs], main: dict[str, list[Runs]]) -> Iterator[Row]:
    differences = [difference(*pair) for pair in _matched(runs, main, AT_70, "1 KB")]
    if differences:
        what = "times relative to Simple at 70 % and 90 % utilisation: mean of the largest differences"
        yield unstated("L33", what, mean(differences), NEGLIGIBLE, "section VI-A")


def _quarter(runs: list[Runs], _: dict[str, list[Runs]]) -> Iterator[Row]:
    four = [
        of_setup for of_setup in runs if of_setup.setup.classes[0].count == 4 and of_setup.setup.classes[0].nodes > 64
    ]
    if four:
        good = [min(reductions(of_setup, "large", SPREAD, GROUPING)) > 0 for of_setup in four]
        what = "four jobs of a quarter of the machine: panels with every spreading policy below every grouping one"
        yield in_all("L33", what, good, "section VI-A", comparable=False, why=VERY_CLOSE)


def _longer(runs: list[Runs], main: dict[str, list[Runs]]) -> Iterator[Row]:
    matched = _matched(runs, main, AT_90, "100 KB")
    if not matched:
        return
    at = "section VI-C"
    factors = [
        of_setup.time(name, jobs) / usual.time(name, jobs)
        for of_setup, usual, jobs in matched
        for name in of_setup.by_policy
    ]
    for words, value in (("mean", mean(factors)), ("least", min(factors)), ("largest", max(factors))):
        yield statement("L34", f"time with 100 KB over 1 KB: {words}", value, 100, "x", "10 %", at)
    differences = [difference(*three) for three in matched]
    what = "times relative to Simple with 100 KB and 1 KB: mean of the largest differences of each pattern and size"
    yield unstated("L33", what, mean(differences), NEGLIGIBLE, at)


NEGLIGIBLE = "the paper says `negligible`, without a number"
VERY_CLOSE = "the paper says `very close to Fig. 4(b)`, without a number"
NEAR = 1.1
"""Up to so much above the best policy is still "in the bottom-left part"."""
CLASSES = ("small", "large")
BOTH_AT_70 = "2x16 + 2x64"
RRR = "round-robin-routers"
LIGHT, HEAVY = "1 KB", "100 KB"


def fig7(table: Table) -> list[Row]:
    """L36."""
    runs = gather(table)
    main = where(runs, lambda setup: counts(setup) != BOTH_AT_70)
    at = "section VI-B, figure 7"
    what = "panels with Level-Spread within 10 % of the best policy for small and for large jobs"
    rows = [
        in_all("L36", what, [_bottom_left(of_setup) for of_setup in main], at),
        in_all(
            "L36", "panels without a policy that is strictly better", [not _beaten(of_setup) for of_setup in main], at
        ),
    ]
    far = [of_setup.over(RRR, "small") for of_setup in main if of_setup.setup.ratio == "0.25"]
    if far:
        what = "ratio 0.25: small jobs under RRR over Simple, largest of the patterns"
        rows.append(statement("L36", what, max(far), 5, "x", "> 5", "figure 7(a), caption", kind="R"))
    usual = {
        motif(of_setup.setup): of_setup
        for of_setup in main
        if of_setup.setup.nodes == 272 and of_setup.setup.ratio == "1"
    }
    largest = {motif(of_setup.setup): of_setup for of_setup in main if of_setup.setup.nodes == 1056}
    for pattern, theirs in (("broadcast", 32), ("alltoall", 64)):
        if pattern in largest:
            rows += _on_1056(largest[pattern], pattern, theirs)
    grows = [
        unevenness(of_setup, "small") > unevenness(usual[pattern], "small") for pattern, of_setup in largest.items()
    ]
    if grows:
        what = "patterns with more difference (small jobs) on 1,056 nodes than on 272"
        rows.append(in_all("L36", what, grows, at))
    rows += _ratios(main)
    fewer = where(runs, lambda setup: counts(setup) == BOTH_AT_70)
    if fewer:
        differences = [
            difference(of_setup, usual[motif(of_setup.setup)], name) for of_setup in fewer for name in CLASSES
        ]
        what = "relative to Simple, 70 % and 90 % utilisation: mean of the largest differences by pattern and class"
        rows.append(unstated("L33", what, mean(differences), NEGLIGIBLE, "section VI-B"))
    return rows


def _bottom_left(runs: Runs) -> bool:
    best = {name: min(runs.time(policy, name) for policy in BASELINES) for name in CLASSES}
    return all(runs.time(LEVEL_SPREAD, name) <= NEAR * best[name] for name in CLASSES)


def _beaten(runs: Runs) -> bool:
    return any(all(runs.over(policy, name, LEVEL_SPREAD) < 1 for name in CLASSES) for policy in BASELINES)


def _on_1056(runs: Runs, pattern: str, theirs: float) -> Iterator[Row]:
    """One reading of "reduces the communication time of the 16-node jobs": over spreading policies, since the same
    section says that grouping policies leave the time of these jobs as Level-Spread does."""
    ours = 1 - runs.time(LEVEL_SPREAD, "small") / mean(runs.time(policy, "small") for policy in SPREADING)
    what = f"1,056 nodes, {pattern}: reduction of jobs of 16 over the mean of spreading policies"
    yield statement("L36", what, 100 * ours, theirs, "%", "± 10", "section VI-B", kind="R")


def _ratios(main: list[Runs]) -> Iterator[Row]:
    by_motif: dict[str, dict[str, Runs]] = {}
    for of_setup in main:
        if of_setup.setup.nodes == 272:
            by_motif.setdefault(motif(of_setup.setup), {})[of_setup.setup.ratio] = of_setup
    full = [by for by in by_motif.values() if len(by) == 3]
    for name in CLASSES if full else ():
        values = [[unevenness(by[ratio], name) for ratio in ("0.25", "1", "4")] for by in full]
        what = f"{name} jobs: patterns whose largest difference falls with the ratio"
        falls = [three == sorted(three, reverse=True) for three in values]
        yield in_all("L33", what, falls, "section VI-B, figure 7(a)")


def fig8(table: Table) -> list[Row]:
    """L37: heavier jobs of one class hurt the other class where both are spread."""
    by_motif: dict[str, dict[tuple[str, ...], Runs]] = {}
    for of_setup in gather(table):
        by_motif.setdefault(motif(of_setup.setup), {})[tuple(each.message for each in of_setup.setup.classes)] = (
            of_setup
        )
    rows: list[Row] = []
    for suffers, hurts, heavy in (("small", "large", (LIGHT, HEAVY)), ("large", "small", (HEAVY, LIGHT))):
        pairs = [(by[heavy], by[LIGHT, LIGHT]) for by in by_motif.values() if heavy in by]
        if pairs:
            rows += _heavier(suffers, hurts, pairs)
    return rows


def _heavier(suffers: str, hurts: str, pairs: list[tuple[Runs, Runs]]) -> Iterator[Row]:
    at = "section VI-C, figure 8"
    words = f"{HEAVY} of {hurts} jobs:"
    away = [_to_simple(of_setup, suffers) > _to_simple(usual, suffers) for of_setup, usual in pairs]
    what = f"{words} patterns that move spreading policies away from Simple ({suffers} jobs)"
    yield in_all("L37", what, away, at)
    slower = [_slower(of_setup, usual, SPREADING, suffers) for of_setup, usual in pairs]
    what = f"{words} time of {suffers} jobs of spreading policies over that beside {LIGHT}"
    yield relation("L37", what, mean(slower), "> 1", at)
    if suffers == "small":
        calm = [_slower(of_setup, usual, COMPACT, suffers) for of_setup, usual in pairs]
        what = f"{words} time of small jobs of compact policies over that beside {LIGHT}"
        yield relation("L37", what, mean(calm), "± 0.1", at)
        less = [ours < theirs for ours, theirs in zip(calm, slower, strict=True)]
        what = f"{words} patterns with which small jobs of compact policies suffer less than of spreading ones"
        yield in_all("L37", what, less, at)


def _to_simple(runs: Runs, job_class: str) -> float:
    return mean(runs.over(policy, job_class) for policy in SPREADING)


def _slower(of_setup: Runs, usual: Runs, policies: tuple[str, ...], job_class: str) -> float:
    return mean(of_setup.time(policy, job_class) / usual.time(policy, job_class) for policy in policies)
