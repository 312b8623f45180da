"""`kang2019-matrix`: every experiment with three patterns and messages of 4 KB (K22), with the shipped model."""

from __future__ import annotations

import itertools
from dataclasses import replace
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
SIZE = "4 KB"
"""What is simulated here: larger messages take longer, and are part of `kang2019-512kb-4mb`."""
EVERY = INTERVALS[SIZE]
LOADED = tuple(f"{percent}%@1us" for percent in (50, 90, 130))
"""The backgrounds; every 1 us, so that they are under way before the shortest job has sent half of its messages."""
MESSAGES = {"uniform-random": 100, "stencil": 20, "tornado": 100}
"""Messages per process. A stencil sends six at each interval (K15)."""
SEEDS = (1, 2, 3)
MINIMAL = {"job.background.routing": "minimal"}
LARGEST = {"uniform-random": ("K36", 1.07), "stencil": ("K38", 1.01), "tornado": ("K44", 1.52)}
"""Pattern -> the row of the catalogue and the largest slowdown of contiguous jobs that the paper states for 4 KB."""
_ON_MINIMAL_PATHS = f"uniform-random, contiguous, every {EVERY[-1]}: slowdown by 130 % on minimal paths only"
_EXPERIMENT = "an experiment: the background of the paper is routed by FPAR"
_WHERE = {"uniform-random": "section 4.1", "stencil": "section 4.2", "tornado": "section 4.3"}


def points(reduced: bool) -> Points:
    """Every pattern, placement, interval and load."""
    if reduced:
        return product(PATTERNS[:1], BOTH[:1], EVERY, [10], models=[CORRECT])
    made: Points = []
    for pattern in PATTERNS:
        made += product(
            [pattern], BOTH, EVERY, [MESSAGES[pattern]], models=[CORRECT], backgrounds=["", *LOADED], repetitions=SEEDS
        )
    # What a background does to the most loaded job that takes minimal paths only (K36).
    made += product(
        PATTERNS[:1], BOTH[:1], EVERY[-1:], [MESSAGES[PATTERNS[0]]], models=[CORRECT], backgrounds=LOADED[-1:],
        changes=[MINIMAL], repetitions=SEEDS,
    )  # fmt: skip
    return made


def _wanted() -> list[Expected]:
    """What the paper says of each pattern at all intervals."""
    rows = []
    for pattern, (id_, limit) in LARGEST.items():
        jobs = {place: [f"{pattern}/{place}/{every}" for every in EVERY] for place in BOTH}
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
            statements.append((id_, _ON_MINIMAL_PATHS.removeprefix(f"{pattern}, "), f"<= {limit}", "ratio",
                               [f"{beside['contiguous'][-1]}/{label(MINIMAL)}"], contiguous[-1:]))  # fmt: skip
        if pattern == "stencil":
            statements.append(("K54", "random over contiguous, least of the intervals", "> 1", "least-ratio", random,
                               contiguous))  # fmt: skip
        if pattern == "tornado":
            statements.append(("K54", "contiguous over random, least of the intervals", "> 1", "least-ratio",
                               contiguous, random))  # fmt: skip
        for row, what, tolerance, measure, cases, reference in statements:
            diverted = pattern == PATTERNS[0] and measure == "largest-ratio"
            rows.append(
                Expected(
                    row,
                    f"{pattern}, {what}",
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


def _rows(runs: Runs) -> list[Row]:
    return [
        replace(row, verdict="not comparable", why=_EXPERIMENT) if row.what == _ON_MINIMAL_PATHS else row
        for row in compare(_wanted(), runs)
    ]


def _of_rows(rows: Sequence[Row], _: Texts) -> Texts:
    return {
        "table": relations(rows),
        "held": held(row for row in rows if row.what != _ON_MINIMAL_PATHS),
        "reasons": reasons(rows),
        "seeds": str(len(SEEDS)),
    }


def _of_runs(_: Sequence[Row], runs: Runs) -> Texts:
    """The number of runs and of cases, and the mean over the seeds of every mean latency."""
    values: dict[str, list[float]] = {}
    for run in runs:
        values.setdefault(run["case"], []).append(run["latency_mean_ps"])
    lines = []
    for pattern, place, every in itertools.product(PATTERNS, BOTH, EVERY):
        job = f"{pattern}/{place}/{every}"
        cells = [number(mean(values[case]) / 1e6, "us") for case in (job, *(f"{job}/{load}" for load in LOADED))]
        lines.append([pattern, place, every.replace("us", " us"), str(MESSAGES[pattern]), *cells])
    heads = ["alone", *(load.partition("@")[0].replace("%", " %") for load in LOADED)]
    return {
        "latencies": table(["pattern", "placement", "every", "N", *heads], lines, "llrr" + "r" * len(heads)),
        "cases": str(len(lines) * (1 + len(LOADED))),
        "runs": str(len(runs)),
    }


REPRODUCTION = Reproduction(
    name="kang2019-matrix",
    title="Kang 2019, figures 5 to 7, messages of 4 KB: every pattern, placement, interval and load",
    points=points,
    make=make,
    rows=_rows,
    text=Page(lambda: (files("odonata.reproduce.kang2019") / "matrix.md").read_text("utf-8"), _of_rows, _of_runs),
    picture=draw,
)
