"""Rows of figures 2 and 4: jobs of one size."""

from __future__ import annotations

from statistics import mean
from typing import TYPE_CHECKING

from odonata.reproduce.zhang2018.gathered import GROUPING, LEVEL_SPREAD, SPREADING, gather
from odonata.reproduce.zhang2018.panels import (
    COMPACT,
    SPREAD,
    counts,
    difference,
    is_main,
    motif,
    reductions,
    unevenness,
    where,
)
from odonata.reproduce.zhang2018.statement import in_all, relation, statement

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from odonata.reproduce.rows import Row
    from odonata.reproduce.zhang2018.gathered import CommResults, Runs

RDG, RDN = "random-groups", "random-nodes"
CLASS = {"16": "small", "64": "large"}
AT_90 = {"16": "15x16", "64": "3x64"}
AT_70 = {"16": "11x16", "64": "2x64"}


def fig2(results: CommResults, _: Sequence[str]) -> list[Row]:
    """L30: small jobs want to be together, large ones apart."""
    runs, at = gather("fig2", results), "section III-A, figure 2"
    small = [one.over(RDN, "small", RDG) for one in where(runs, lambda setup: setup.classes[0].name == "small")]
    large = [one.over(RDN, "large", RDG) for one in where(runs, lambda setup: setup.classes[0].name == "large")]
    cut = 100 * (1 - mean(large))
    what = "4 jobs of 68 nodes: reduction by RDN over RDG, mean over patterns"
    return [
        relation("L30", "17 jobs of 16 nodes: time with RDN over RDG, mean over patterns", mean(small), "> 1", at),
        in_all("L30", "17 jobs of 16 nodes: patterns with which RDG is better", [ratio > 1 for ratio in small], at),
        in_all("L30", "4 jobs of 68 nodes: patterns with which RDN is better", [ratio < 1 for ratio in large], at),
        statement("L30", what, cut, 30, "%", "± 10", at, kind="R", model=RDN),
    ]


def fig4(results: CommResults, _: Sequence[str]) -> list[Row]:
    """L31 to L34."""
    runs = gather("fig4", results)
    usual = where(runs, is_main)
    main = {size: [one for one in usual if counts(one.setup) == jobs] for size, jobs in AT_90.items()}
    rows = [*_sixteen(main["16"]), *_sixty_four(main["64"]), *_bandwidth(main)]
    for check in (_utilisation, _quarter, _longer):
        rows += check(runs, main)
    return rows


def _sixteen(runs: list[Runs]) -> Iterator[Row]:
    at = "section VI-A, figure 4(a)"
    pairs = [reductions(one, "small", COMPACT, SPREADING) for one in runs]
    least, largest = min(map(min, pairs)), max(map(max, pairs))
    what = "jobs of 16: least reduction of a compact policy over a spreading one"
    yield statement("L31", what, least, 15, "%", "± 10", at)
    yield statement("L31", "jobs of 16: largest such reduction", largest, 89, "%", "± 10", at)
    what = "jobs of 16: panels with every compact policy below every spreading one"
    yield in_all("L33", what, [min(some) > 0 for some in pairs], at)


def _sixty_four(runs: list[Runs]) -> Iterator[Row]:
    at = "section VI-A, figure 4(b)"
    cuts = [100 * (1 - one.over(LEVEL_SPREAD, "large")) for one in runs if one.setup.ratio == "1"]
    yield statement("L32", "jobs of 64, ratio 1: least reduction over Simple", min(cuts), 22, "%", "± 10", at)
    yield statement("L32", "jobs of 64, ratio 1: largest reduction over Simple", max(cuts), 54, "%", "± 10", at)
    good = [min(reductions(one, "large", SPREAD, GROUPING)) > 0 for one in runs]
    yield in_all("L33", "jobs of 64: panels with every spreading policy below every grouping one", good, at)


def _bandwidth(main: dict[str, list[Runs]]) -> Iterator[Row]:
    """More global bandwidth, less difference."""
    for size, runs in main.items():
        by_motif: dict[str, dict[str, float]] = {}
        for one in runs:
            by_motif.setdefault(motif(one.setup), {})[one.setup.ratio] = unevenness(one, CLASS[size])
        falls = [values["0.25"] > values["1"] > values["4"] for values in by_motif.values() if len(values) == 3]
        if falls:
            what = f"jobs of {size}: patterns whose largest difference falls with the ratio"
            yield in_all("L33", what, falls, "section VI-A, figure 4")


def _matched(
    runs: list[Runs], main: dict[str, list[Runs]], wanted: dict[str, str], message: str
) -> list[tuple[Runs, Runs, str]]:
    """Variations of the main runs with ratio 1, with the main run of the same pattern, and their class."""
    found = []
    for size, jobs in wanted.items():
        usual = {motif(one.setup): one for one in main[size] if one.setup.ratio == "1"}
        varied = [one for one in runs if counts(one.setup) == jobs and is_main(one.setup, (message,))]
        found += [(one, usual[motif(one.setup)], CLASS[size]) for one in varied]
    return found


def _utilisation(runs: list[Runs], main: dict[str, list[Runs]]) -> Iterator[Row]:
    differences = [difference(*pair) for pair in _matched(runs, main, AT_70, "1 KB")]
    if differences:
        what = "times relative to Simple at 70 % and 90 % utilisation: largest difference"
        yield relation("L33", what, max(differences), "<= 0.1", "section VI-A")
        what = "the same: mean of the largest differences of each pattern and size"
        yield relation("L33", what, mean(differences), "<= 0.1", "section VI-A")


def _quarter(runs: list[Runs], _: dict[str, list[Runs]]) -> Iterator[Row]:
    four = [one for one in runs if one.setup.classes[0].count == 4 and one.setup.classes[0].nodes > 64]
    if four:
        good = [min(reductions(one, "large", SPREAD, GROUPING)) > 0 for one in four]
        yield in_all("L33", "four jobs of a quarter of the machine: panels as for jobs of 64", good, "section VI-A")


def _longer(runs: list[Runs], main: dict[str, list[Runs]]) -> Iterator[Row]:
    found = _matched(runs, main, AT_90, "100 KB")
    if not found:
        return
    at = "section VI-C"
    factors = [one.time(name, jobs) / usual.time(name, jobs) for one, usual, jobs in found for name in one.by_policy]
    for words, value in (("mean", mean(factors)), ("least", min(factors)), ("largest", max(factors))):
        yield statement("L34", f"time with 100 KB over 1 KB: {words}", value, 100, "x", "10 %", at)
    differences = [difference(*three) for three in found]
    what = "times relative to Simple with 100 KB and 1 KB: mean of the largest differences of each pattern and size"
    yield relation("L33", what, mean(differences), "<= 0.1", at)
