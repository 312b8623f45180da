"""`kang2019-matrix` and `kang2019-matrix-512kb`: every experiment with three patterns (K22), with the shipped model."""

from __future__ import annotations

import itertools
from dataclasses import replace
from functools import partial
from importlib.resources import files
from statistics import mean
from typing import TYPE_CHECKING

from odonata.reproduce.kang2019.figure_matrix import draw
from odonata.reproduce.kang2019.published import Expected, compare
from odonata.reproduce.kang2019.runs import BOTH, CORRECT, INTERVALS, label, make, product
from odonata.reproduce.markdown import held, number, reasons, relations, table
from odonata.reproduce.page import Page
from odonata.reproduce.reproduction import Reproduction

if TYPE_CHECKING:
    from collections.abc import Sequence

    from odonata.reproduce.page import Texts
    from odonata.reproduce.reproduction import Points, Runs
    from odonata.reproduce.rows import Row

PATTERNS = ("uniform-random", "stencil", "tornado")
LOADED = tuple(f"{percent}%@1us" for percent in (50, 90, 130))
"""The backgrounds; every 1 us, so that they are under way before the shortest job has sent half of its messages."""
SEEDS = range(1, 6)
MINIMAL = {"job.background.routing": "minimal"}
MESSAGES = {
    "4 KB": {"uniform-random": 100, "stencil": 20, "tornado": 100},
    "512 KB": {"uniform-random": 4, "stencil": 2, "tornado": 4},
}
"""Size -> pattern -> messages per process. A stencil sends six at each interval (K15)."""
LARGEST = {"uniform-random": ("K36", 1.07), "stencil": ("K38", 1.01), "tornado": ("K44", 1.52)}
"""Pattern -> the row of the catalogue and the largest slowdown of contiguous jobs that the paper states for both
sizes."""
ON_MINIMAL_PATHS = "slowdown by 130 % on minimal paths only"
_EXPERIMENT = "an experiment: the background of the paper is routed by FPAR"
_WHERE = {"uniform-random": "section 4.1", "stencil": "section 4.2", "tornado": "section 4.3"}


def _points(sizes: Sequence[str], reduced: bool) -> Points:
    """Every pattern, placement, interval and load."""
    first = PATTERNS[0]
    if reduced:
        # The shortest messages of the page: one of 512 KB takes as long as a hundred of 4 KB.
        return product(PATTERNS[:1], BOTH[:1], INTERVALS[sizes[0]], [10 if sizes[0] == "4 KB" else 1], models=[CORRECT])
    made: Points = []
    for size in sizes:
        every, messages = INTERVALS[size], MESSAGES[size]
        for pattern in PATTERNS:
            made += product(
                [pattern], BOTH, every, [messages[pattern]], models=[CORRECT], backgrounds=["", *LOADED],
                repetitions=SEEDS,
            )  # fmt: skip
        # What a background does to the most loaded job that takes minimal paths only (K36).
        made += product(
            [first], BOTH[:1], every[-1:], [messages[first]], models=[CORRECT], backgrounds=LOADED[-1:],
            changes=[MINIMAL], repetitions=SEEDS,
        )  # fmt: skip
    return made


def _wanted(size: str, pattern: str) -> list[Expected]:
    """What the paper says of a pattern with messages of a size, at all intervals."""
    id_, limit = LARGEST[pattern]
    every = INTERVALS[size]
    jobs = {place: [f"{pattern}/{place}/{each}" for each in every] for place in BOTH}
    beside = {place: [f"{job}/{LOADED[-1]}" for job in of] for place, of in jobs.items()}
    contiguous, random = (jobs[place] for place in BOTH)
    statements = [
        (id_, "contiguous: largest slowdown by the three backgrounds", f"<= {limit}", "largest-ratio",
            [f"{job}/{load}" for job in contiguous for load in LOADED],
            [job for job in contiguous for _ in LOADED]),
        (id_, "130 % slows random more than contiguous, largest slowdowns", "> 1", "ratio-of-largest",
            beside["random"] + beside["contiguous"], random + contiguous),
        *((id_, f"{place}: slower at shorter intervals, least ratio of two neighbours", "> 1", "least-ratio",
            of[1:], of[:-1]) for place, of in jobs.items()),
    ]  # fmt: skip
    if pattern == PATTERNS[0]:
        shortest = every[-1].rpartition("@")[2]
        statements.append((id_, f"contiguous, every {shortest}: {ON_MINIMAL_PATHS}", f"<= {limit}", "ratio",
                           [f"{beside['contiguous'][-1]}/{label(MINIMAL)}"], contiguous[-1:]))  # fmt: skip
    if pattern == "stencil":
        statements.append(("K54", "random over contiguous, least of the intervals", "> 1", "least-ratio", random,
                           contiguous))  # fmt: skip
    if pattern == "tornado":
        statements.append(("K54", "contiguous over random, least of the intervals", "> 1", "least-ratio", contiguous,
                           random))  # fmt: skip
    named = f"{pattern}, " if size == "4 KB" else f"{pattern}, {size}, "
    rows = []
    for row, what, tolerance, measure, cases, reference in statements:
        diverted = size == "4 KB" and pattern == PATTERNS[0] and measure == "largest-ratio"
        rows.append(
            Expected(
                row,
                named + what,
                "R",
                float(tolerance.split()[1]),
                "x",
                tolerance,
                measure,
                tuple(cases),
                tuple(reference),
                "section 5" if row == "K54" else _WHERE[pattern],
                why={CORRECT: "diverted packets of the background cross the target's groups"} if diverted else {},
                tested={CORRECT: "the background on minimal paths only, on this page"} if diverted else {},
            )
        )
    return rows


def _rows(sizes: Sequence[str], runs: Runs) -> list[Row]:
    return [
        replace(row, verdict="not comparable", why=_EXPERIMENT) if _only_an_experiment(row) else row
        for size in sizes
        for pattern in PATTERNS
        for row in compare(_wanted(size, pattern), runs)
    ]


def _only_an_experiment(row: Row) -> bool:
    return row.what.endswith(ON_MINIMAL_PATHS)


def _of_rows(rows: Sequence[Row], _: Texts) -> Texts:
    return {
        "table": relations(rows),
        "held": held(row for row in rows if not _only_an_experiment(row)),
        "reasons": reasons(rows),
    }


def _of_runs(sizes: Sequence[str], runs: Runs) -> Texts:
    """The number of runs and of cases, and the mean over the seeds of every mean latency."""
    values: dict[str, list[float]] = {}
    for run in runs:
        values.setdefault(run["case"], []).append(run["latency_mean_ps"])
    lines = []
    for size, pattern, place in itertools.product(sizes, PATTERNS, BOTH):
        for every in INTERVALS[size]:
            job = f"{pattern}/{place}/{every}"
            cells = [number(mean(values[case]) / 1e6, "us") for case in (job, *(f"{job}/{load}" for load in LOADED))]
            interval = every.rpartition("@")[2].replace("us", " us").replace("ms", " ms")
            lines.append([size, pattern, place, interval, str(MESSAGES[size][pattern]), *cells])
    heads = ["alone", *(load.partition("@")[0].replace("%", " %") for load in LOADED)]
    return {
        "latencies": table(["size", "pattern", "placement", "every", "N", *heads], lines, "lllrr" + "r" * len(heads)),
        "cases": str(len(lines) * (1 + len(LOADED))),
        "runs": str(len(runs)),
    }


def _reproduction(name: str, page: str, *sizes: str) -> Reproduction:
    return Reproduction(
        name=name,
        title=f"Kang 2019, figures 5 to 7, messages of {' and '.join(sizes)}: every pattern, placement, interval, load",
        points=partial(_points, sizes),
        make=make,
        rows=partial(_rows, sizes),
        text=Page(
            lambda: (files("odonata.reproduce.kang2019") / page).read_text("utf-8"),
            _of_rows,
            lambda _, runs: _of_runs(sizes, runs),
        ),
        picture=lambda _, runs: draw(sizes, runs),
    )


ALL = {
    each.name: each
    for each in (
        _reproduction("kang2019-matrix", "matrix.md", "4 KB"),
        _reproduction("kang2019-matrix-512kb", "matrix_512kb.md", "512 KB"),
    )
}
