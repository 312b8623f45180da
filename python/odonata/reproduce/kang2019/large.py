"""`kang2019-512kb-4mb`: published results for messages of 512 KB and 4 MB, as published and correct."""

from __future__ import annotations

from importlib.resources import files
from statistics import mean
from string import Template
from typing import TYPE_CHECKING

from odonata.reproduce.kang2019.figure_large import draw
from odonata.reproduce.kang2019.published import compare, expected
from odonata.reproduce.kang2019.runs import AS_PUBLISHED, CORRECT, by_case, largest_slowdown, make, product
from odonata.reproduce.markdown import counts, latencies, number, reasons, side_by_side, table, wrapped
from odonata.reproduce.reproduction import Reproduction
from odonata.reproduce.rows import statement

if TYPE_CHECKING:
    from collections.abc import Sequence

    from odonata.reproduce.reproduction import Points, Runs
    from odonata.reproduce.rows import Row

PLACES = ["contiguous", "random"]
SMALLEST = ["3us", "1us", "0.5us"]
"""Intervals of messages of 4 KB, which complete the figures."""
SMALLER = ["512KB@450us", "512KB@150us", "512KB@100us"]
LARGER = ["4MB@4ms", "4MB@1ms", "4MB@0.7ms"]
BACKGROUNDS = ["50%@100us", "90%@100us", "130%@100us"]
AVERAGES = {"contiguous": 1.2, "random": 2.4}
"""Placement -> the published mean of the nine largest slowdowns of figure 8 (K44)."""


def points(reduced: bool) -> Points:
    """Experiments with messages of 512 KB and 4 MB (figures 5 to 8; catalogue K33 to K44).

    A message of 4 MB per process takes 20 million packet-hops, of a stencil six times as many, and the model as
    published takes about three times the correct one's time for a hop. So there are one to four messages per process.
    One message per process is simulated for the longest interval only (see `_first_messages`).
    """
    uniform, stencil, tornado = ["uniform-random"], ["stencil"], ["tornado"]
    correct, published = [CORRECT], [AS_PUBLISHED]
    if reduced:
        return product(uniform, PLACES[1:], SMALLER[1:2], [1], models=correct)
    independent, heavy, loads = uniform + tornado, BACKGROUNDS[-1:], ["", *BACKGROUNDS]
    return [
        # 512 KB.
        *product(independent, PLACES, SMALLER[:1], [1]),
        *product(independent, PLACES, SMALLER, [2]),
        *product(independent, PLACES, SMALLER, [4], models=correct),
        *product(independent, PLACES, SMALLER, [2], models=correct, backgrounds=BACKGROUNDS),
        *product(independent, PLACES[1:], SMALLER[1:2], [2], models=published, backgrounds=heavy),
        *product(uniform, PLACES[1:], SMALLER[1:2], [4], models=published, backgrounds=["", *heavy]),
        *product(stencil, PLACES, SMALLER[:1], [1], models=correct),
        *product(stencil, PLACES[:1], SMALLER, [2], models=correct, backgrounds=loads),
        *product(stencil, PLACES[1:], SMALLER[:1], [2], models=correct, backgrounds=loads),
        *product(stencil, PLACES[1:], SMALLER[1:2], [2], models=correct, backgrounds=loads),
        *product(stencil, PLACES[1:], SMALLER[2:], [2], models=correct, backgrounds=["", *heavy]),
        # 4 MB.
        *product(independent, PLACES, LARGER[:1], [1], models=correct),
        *product(uniform, PLACES, LARGER, [2], models=correct),
        *product(uniform, PLACES[:1], LARGER[1:2], [1], models=correct, backgrounds=BACKGROUNDS),
        *product(uniform, PLACES, [LARGER[0], LARGER[2]], [1], models=correct, backgrounds=heavy),
        *product(uniform, PLACES, LARGER[:1], [1], models=published),
        *product(tornado, PLACES, LARGER[:1], [1], models=correct, backgrounds=heavy),
        *product(stencil, PLACES, LARGER[:1], [1], models=correct),
        # 4 KB, for figures 7 and 8.
        *product(tornado, PLACES, SMALLEST, [300], models=correct, backgrounds=["", *heavy]),
    ]


def _first_messages(runs: Runs) -> Runs:
    """The runs, and those of one message per process alone for the other intervals that were simulated with more
    messages or beside a background.

    All processes send their first message at the same time, so the interval makes no difference.
    """
    known = {(run["model"], run["case"], run["messages"]) for run in runs}
    simulated = {(model, "/".join(case.split("/")[:3])) for model, case, _ in known}
    found = list(runs)
    for run in runs:
        pattern, place, every, *background = run["case"].split("/")
        if run["messages"] == 1 and not background:
            cases = [f"{pattern}/{place}/{other}" for block in (SMALLER, LARGER) if every in block for other in block]
            found += [
                {**run, "case": case}
                for case in cases
                if (run["model"], case) in simulated and (run["model"], case, 1) not in known
            ]
    return found


def _rows(runs: Runs) -> list[Row]:
    found = _first_messages(runs)
    return compare(expected("expected_large.csv"), found) + _averages(found)


def _averages(runs: Runs) -> list[Row]:
    """The mean of the largest slowdowns of tornado traffic, each at its largest number of messages (K44, figure 8)."""
    found = by_case(runs)
    rows = []
    for place, theirs in AVERAGES.items():
        jobs = [f"tornado/{place}/{every}" for every in [*SMALLEST, *SMALLER, *LARGER]]
        largest = [slowdown for job in jobs if (slowdown := largest_slowdown(found, CORRECT, job)) is not None]
        if largest:
            what = f"mean of the largest slowdowns at {len(largest)} of nine sizes and intervals, each at its largest N"
            where, why = "section 4.3, figure 8", "with few messages the target ends before a background slows it much"
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
                    why=why,
                )
            )
    return rows


def _page(rows: Sequence[Row], runs: Runs) -> str:
    template = Template((files("odonata.reproduce.kang2019") / "large.md").read_text(encoding="utf-8"))
    page = template.substitute(
        counts_published=counts(rows, AS_PUBLISHED),
        counts_correct=counts(rows, CORRECT),
        table=side_by_side(rows, (AS_PUBLISHED, CORRECT)),
        latencies_published=latencies(rows, AS_PUBLISHED),
        latencies_correct=latencies(rows, CORRECT),
        all=_all(runs),
        missing=_missing(rows),
        reasons_published=reasons(row for row in rows if row.model == AS_PUBLISHED),
        reasons_correct=reasons(row for row in rows if row.model == CORRECT),
    )
    return wrapped(page.strip())


def _missing(rows: Sequence[Row]) -> str:
    """The published values that no run is about."""
    there = {(row.id, row.what) for row in rows}
    absent = [f"- {row.id} {row.what}" for row in expected("expected_large.csv") if (row.id, row.what) not in there]
    return "\n".join(absent) or "- nothing"


def _all(runs: Runs) -> str:
    """Every mean latency that was simulated, by number of messages per process: a line for each job, background and
    model."""
    cases = list(dict.fromkeys((run["case"], run["model"]) for run in runs if "B@" in run["case"]))
    found = by_case(runs)
    numbers = sorted({n for case, model in cases for n in found[model, case]})
    lines = []
    for case, model in sorted(cases, key=_order):
        pattern, place, every, *background = case.split("/")
        size, _, interval = every.partition("@")
        values = [found[model, case].get(n) for n in numbers]
        cells = ["" if run is None else number(run["latency_mean_ps"] / 1e9, "ms") for run in values]
        lines.append([pattern, place, size, interval, " ".join(background).partition("@")[0], model, *cells])
    head = ["pattern", "placement", "message", "interval", "background", "model", *(f"N = {n}" for n in numbers)]
    return table(head, lines, "llllll" + "r" * len(numbers))


def _order(case: tuple[str, str]) -> tuple[int, ...]:
    """As the figures show them."""
    pattern, place, every, *background = case[0].split("/")
    load = background[0] if background else ""
    return (
        ["uniform-random", "stencil", "tornado"].index(pattern),
        PLACES.index(place),
        [*SMALLER, *LARGER].index(every),
        ["", *BACKGROUNDS].index(load),
        [AS_PUBLISHED, CORRECT].index(case[1]),
    )


REPRODUCTION = Reproduction(
    name="kang2019-512kb-4mb",
    title="Kang 2019, figures 5 to 8, messages of 512 KB and 4 MB: as published and correct (K33 to K44)",
    points=points,
    make=make,
    rows=_rows,
    page=_page,
    picture=lambda rows, runs: draw(rows, _first_messages(runs)),
)
