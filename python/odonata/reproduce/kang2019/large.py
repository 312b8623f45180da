"""`kang2019-512kb-4mb`: published results for messages of 512 KB and 4 MB, as published and correct."""

from __future__ import annotations

from importlib.resources import files
from statistics import mean
from typing import TYPE_CHECKING

from odonata.reproduce.kang2019.figure_large import draw
from odonata.reproduce.kang2019.published import SCALE, compare, expected, explain
from odonata.reproduce.kang2019.runs import (
    AS_PUBLISHED,
    BACKGROUNDS,
    BOTH,
    CORRECT,
    INTERVALS,
    by_case,
    label,
    largest_slowdown,
    make,
    product,
    varied,
)
from odonata.reproduce.markdown import comparable, latencies, number, reasons, side_by_side, table
from odonata.reproduce.page import Page
from odonata.reproduce.reproduction import Reproduction
from odonata.reproduce.rows import statement

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from odonata.reproduce.kang2019.runs import ByCase
    from odonata.reproduce.page import Texts
    from odonata.reproduce.reproduction import Points, Runs
    from odonata.reproduce.rows import Row

SMALLEST, SMALLER, LARGER = INTERVALS.values()
"""Intervals of messages of 4 KB (which complete the figures), 512 KB and 4 MB."""
MINIMAL = varied(job__background__routing=["minimal"])
AVERAGES = {"contiguous": 1.2, "random": 2.4}
"""Placement -> the published mean of the nine largest slowdowns of figure 8 (K44)."""


def points(reduced: bool) -> Points:
    """Experiments with messages of 512 KB and 4 MB (figures 5 to 8; catalogue K33 to K44).

    A message of 4 MB per process takes 20 million packet-hops, of a stencil six times as many, and the model as
    published takes about ten times the correct one's time for a hop. So there are few messages per process. One
    message per process is simulated for the longest interval only (see `_first_messages`).
    """
    uniform, stencil, tornado = ["uniform-random"], ["stencil"], ["tornado"]
    correct, published = [CORRECT], [AS_PUBLISHED]
    if reduced:
        return product(uniform, BOTH[1:], SMALLER[1:2], [1], models=correct)
    independent, heavy, loads = uniform + tornado, BACKGROUNDS[-1:], ["", *BACKGROUNDS]
    return [
        # 512 KB.
        *product([*independent, *stencil], BOTH, SMALLER[:1], [1]),
        *product(independent, BOTH, SMALLER, [2, 4, 8]),
        *product(independent, BOTH, SMALLER, [4], models=correct, backgrounds=BACKGROUNDS[:-1]),
        *product(independent, BOTH, SMALLER, [4, 8], backgrounds=heavy),
        *product(stencil, BOTH, SMALLER, [2], models=correct, backgrounds=loads),
        *product(stencil, BOTH, SMALLER, [4], models=correct, backgrounds=["", *heavy]),
        *product(stencil, BOTH, SMALLER, [2], models=published, backgrounds=["", *heavy]),
        # What a background does that takes minimal paths only (K36).
        *product(uniform, BOTH[:1], SMALLER[1:2], [4], models=correct, backgrounds=heavy, changes=MINIMAL),
        # 4 MB.
        *product([*independent, *stencil], BOTH, LARGER[:1], [1]),
        *product(independent, BOTH, LARGER, [2]),
        *product(uniform, BOTH[:1], LARGER[1:2], [2], models=correct, backgrounds=BACKGROUNDS[:-1]),
        *product(independent, BOTH, LARGER, [2], models=correct, backgrounds=heavy),
        *product(independent, BOTH, LARGER, [1], models=published, backgrounds=heavy),
        *product(stencil, BOTH, LARGER, [1], models=correct, backgrounds=heavy),
        *product(stencil, BOTH[:1], LARGER[1:2], [1], models=published, backgrounds=heavy),
        *product(stencil, BOTH[1:], LARGER[:1], [1], models=published, backgrounds=heavy),
        # 4 KB, for figures 7 and 8.
        *product(tornado, BOTH, SMALLEST, [300], models=correct, backgrounds=["", *heavy]),
    ]


def _first_messages(runs: Runs) -> Runs:
    """The runs, and those of one message per process alone for the other intervals that were simulated with more
    messages or beside a background.

    All processes send their first message at the same time, so the interval makes no difference.
    """
    known = {(run["model"], run["case"], run["messages"]) for run in runs}
    simulated = {(model, "/".join(case.split("/")[:3])) for model, case, _ in known}
    extended = list(runs)
    for run in runs:
        pattern, place, every, *background = run["case"].split("/")
        if run["messages"] == 1 and not background:
            cases = [f"{pattern}/{place}/{other}" for block in (SMALLER, LARGER) if every in block for other in block]
            extended += [
                {**run, "case": case}
                for case in cases
                if (run["model"], case) in simulated and (run["model"], case, 1) not in known
            ]
    return extended


def _rows(runs: Runs) -> list[Row]:
    extended = _first_messages(runs)
    return compare(expected("expected_large.csv"), extended) + _averages(extended)


def _averages(runs: Runs) -> list[Row]:
    """The mean of the largest slowdowns of tornado traffic, each at its largest number of messages (K44, figure 8)."""
    cases = by_case(runs)
    rows = []
    for place, theirs in AVERAGES.items():
        jobs = [f"tornado/{place}/{every}" for every in [*SMALLEST, *SMALLER, *LARGER]]
        largest = [slowdown for job in jobs if (slowdown := largest_slowdown(cases, CORRECT, job)) is not None]
        if largest:
            what = f"mean of the largest slowdowns at {len(largest)} of nine sizes and intervals, each at its largest N"
            where = "section 4.3, figure 8"
            rows.append(
                statement(
                    "K44",
                    f"tornado, {place}: {what}",
                    mean(largest),
                    theirs,
                    "x",
                    "20 %",
                    where,
                    model=CORRECT,
                )
            )
    return rows


def _of_rows(rows: Sequence[Row], _: Texts) -> Texts:
    return {
        "table": side_by_side(comparable(rows), (AS_PUBLISHED, CORRECT)),
        "missing": _missing(rows),
        "reasons_published": reasons(row for row in rows if row.model == AS_PUBLISHED),
        "reasons_correct": reasons(row for row in rows if row.model == CORRECT),
    }


def _of_runs(rows: Sequence[Row], runs: Runs) -> Texts:
    return {
        "latencies_published": latencies(rows, AS_PUBLISHED),
        "latencies_correct": latencies(rows, CORRECT),
        "all": _all(runs),
        **_said(by_case(_first_messages(runs))),
    }


def _said(cases: ByCase) -> dict[str, str]:
    """The numbers in the text of the page."""

    def mean_of(case: str, model: str = CORRECT, messages: int = 4) -> float:
        value: float = cases[model, case][messages]["latency_mean_ps"]
        return value

    def slowdowns(
        jobs: Iterable[str], load: str = BACKGROUNDS[-1], model: str = CORRECT, messages: int = 4
    ) -> list[float]:
        return [mean_of(f"{job}/{load}", model, messages) / mean_of(job, model, messages) for job in jobs]

    def longer(place: str) -> str:
        runs = (cases[CORRECT, f"uniform-random/{place}/{every}"][2] for every in LARGER)
        return _range([100 * (1 - run["minimal_fraction"]) for run in runs], ".0f")

    # Messages of a process do not overlap: a number of messages that both models have.
    apart = {f"uniform-random/{place}/{LARGER[0]}": 2 for place in BOTH} | {f"uniform-random/random/{SMALLER[1]}": 4}
    wanted = (row for row in expected("expected_large.csv") if row.measure == "mean")
    means = {row.cases[0]: row.theirs * SCALE[row.unit] for row in wanted}
    published = [(mean_of(case, AS_PUBLISHED, most), means[case]) for case, most in apart.items()]
    correct = [(mean_of(case, CORRECT, most), mean_of(case, AS_PUBLISHED, most)) for case, most in apart.items()]
    job = f"uniform-random/contiguous/{SMALLER[1]}"
    (beside_minimal,) = slowdowns([job], f"{BACKGROUNDS[-1]}/{label(MINIMAL[0])}")
    (beside_usual,) = slowdowns([job])
    contiguous, random = (
        slowdowns((f"uniform-random/{place}/{every}" for every in SMALLER), messages=8) for place in BOTH
    )
    large = [f"uniform-random/{place}/{every}" for place in BOTH for every in LARGER]
    return {
        "published_below": _range([100 * (1 - ours / theirs) for ours, theirs in published], ".0f"),
        "correct_below": _range([100 * (1 - ours / theirs) for ours, theirs in correct], ".0f"),
        "beside_contiguous": _range(contiguous, ".2f"),
        "beside_contiguous_most": f"{max(contiguous):.2f}",
        "beside_random": _range(random, ".2f"),
        "beside_large": _range(slowdowns(large, model=AS_PUBLISHED, messages=1), ".1f"),
        "beside_stencil": f"{max(slowdowns(f'stencil/contiguous/{every}' for every in SMALLER)):.2f}",
        "beside_minimal": f"{beside_minimal:.2f}",
        "beside_usual": f"{beside_usual:.2f}",
        "random_slower": _range(
            [
                100 * (mean_of(place[1], AS_PUBLISHED, 2) / mean_of(place[0], AS_PUBLISHED, 2) - 1)
                for place in zip(large[:3], large[3:], strict=True)
            ],
            ".0f",
        ),
        "longer_contiguous": longer("contiguous"),
        "longer_random": longer("random"),
    }


def _range(values: Sequence[float], digits: str) -> str:
    low, high = format(min(values), digits), format(max(values), digits)
    return low if low == high else f"{low} to {high}"


def _missing(rows: Sequence[Row]) -> str:
    """Which published values no run is about."""
    there = {(row.id, row.what) for row in rows}
    absent = [f"- {row.id} {row.what}" for row in expected("expected_large.csv") if (row.id, row.what) not in there]
    if not absent:
        return "Every published value was simulated with at least one of the two models."
    return "\n".join(["These published values were simulated with neither, for lack of processor time:", "", *absent])


def _all(runs: Runs) -> str:
    """Every mean latency that was simulated, by number of messages per process: a line for each job, background and
    model."""
    by_name = by_case(runs)
    cases = [(case, model) for model, case in by_name if "B@" in case]
    numbers = sorted({n for case, model in cases for n in by_name[model, case]})
    lines = []
    for case, model in sorted(cases, key=_order):
        pattern, place, every, *rest = case.split("/")
        size, _, interval = every.partition("@")
        background = ", ".join(part.partition("@")[0] for part in rest)
        values = [by_name[model, case].get(n) for n in numbers]
        cells = ["" if run is None else number(run["latency_mean_ps"] / 1e9, "ms") for run in values]
        lines.append([pattern, place, size, interval, background, model, *cells])
    head = ["pattern", "placement", "message", "interval", "background", "model", *(f"N = {n}" for n in numbers)]
    return table(head, lines, "llllll" + "r" * len(numbers))


def _order(case: tuple[str, str]) -> tuple[int, ...]:
    """As the figures show them."""
    pattern, place, every, *rest = case[0].split("/")
    load = rest[0] if rest else ""
    return (
        ["uniform-random", "stencil", "tornado"].index(pattern),
        BOTH.index(place),
        [*SMALLER, *LARGER].index(every),
        ["", *BACKGROUNDS].index(load),
        len(rest),
        [AS_PUBLISHED, CORRECT].index(case[1]),
    )


REPRODUCTION = Reproduction(
    name="kang2019-512kb-4mb",
    title="Kang 2019, figures 5 to 8, messages of 512 KB and 4 MB: as published and correct",
    points=points,
    make=make,
    rows=_rows,
    explain=explain,
    text=Page(lambda: (files("odonata.reproduce.kang2019") / "large.md").read_text("utf-8"), _of_rows, _of_runs),
    picture=lambda rows, runs: draw(rows, _first_messages(runs)),
)
