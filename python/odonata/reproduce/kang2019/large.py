"""`kang2019-512kb-4mb`: published results for messages of 512 KB and 4 MB, as published and correct."""

from __future__ import annotations

from importlib.resources import files
from string import Template
from typing import TYPE_CHECKING

from odonata.reproduce.kang2019.figure_large import draw
from odonata.reproduce.kang2019.published import compare, expected
from odonata.reproduce.kang2019.runs import AS_PUBLISHED, CORRECT, by_case, make, product
from odonata.reproduce.markdown import counts, latencies, number, reasons, side_by_side, table
from odonata.reproduce.reproduction import Reproduction

if TYPE_CHECKING:
    from collections.abc import Sequence

    from odonata.reproduce.reproduction import Points, Runs
    from odonata.reproduce.rows import Row

PLACES = ["contiguous", "random"]
SMALLER = ["512KB@450us", "512KB@150us", "512KB@100us"]
LARGER = ["4MB@4ms", "4MB@1ms"]


def points(reduced: bool) -> Points:
    """Experiments with messages of 512 KB and 4 MB (figures 5 to 8; catalogue K33 to K44).

    One message of 4 MB per process takes 20 million packet-hops, of a stencil six times as many. So there are one or
    two messages per process, and few of the published cases.
    """
    uniform, correct, published, heavy = ["uniform-random"], [CORRECT], [AS_PUBLISHED], ["130%@100us"]
    if reduced:
        return product(uniform, PLACES[1:], SMALLER[1:2], [1], models=correct)
    lighter = ["50%@100us", "90%@100us"]
    return [
        *product(uniform, PLACES, SMALLER, [1, 2], models=correct),
        *product(uniform, PLACES, SMALLER, [2], models=correct, backgrounds=heavy),
        *product(uniform, PLACES[:1], SMALLER, [2], models=correct, backgrounds=lighter),
        *product(uniform, PLACES[1:], SMALLER[1:2], [1], models=published, backgrounds=["", *heavy]),
        *product(uniform, PLACES, LARGER[:1], [1], models=correct),
        *product(uniform, PLACES[1:], LARGER[:1], [1], models=correct, backgrounds=heavy),
        *product(["tornado"], PLACES, SMALLER, [2], models=correct),
        *product(["tornado"], PLACES, SMALLER, [2], models=correct, backgrounds=heavy),
        *product(["stencil"], PLACES, SMALLER[:1], [1], models=correct, backgrounds=["", *heavy]),
        *product(uniform, PLACES, LARGER[1:2], [2], models=correct),
        *product(uniform, PLACES[:1], LARGER[1:2], [2], models=correct, backgrounds=heavy),
    ]


def _rows(runs: Runs) -> list[Row]:
    return compare(expected("expected_large.csv"), runs)


def _page(rows: Sequence[Row], runs: Runs) -> str:
    return Template((files("odonata.reproduce.kang2019") / "large.md").read_text(encoding="utf-8")).substitute(
        counts_published=counts(rows, AS_PUBLISHED),
        counts_correct=counts(rows, CORRECT),
        table=side_by_side(rows, (AS_PUBLISHED, CORRECT)),
        latencies=latencies(rows, CORRECT),
        all=_all(runs),
        reasons_published=reasons(row for row in rows if row.model == AS_PUBLISHED),
        reasons_correct=reasons(row for row in rows if row.model == CORRECT),
    )


def _all(runs: Runs) -> str:
    """Every mean latency that was simulated, by number of messages per process."""
    names = list(dict.fromkeys(run["case"] for run in runs))
    found = by_case(runs)
    columns = sorted({(model, n) for (model, _), outcomes in found.items() for n in outcomes})
    lines = []
    for name in names:
        pattern, place, every, *background = name.split("/")
        size, _, interval = every.partition("@")
        values = [found.get((model, name), {}).get(n) for model, n in columns]
        cells = ["" if run is None else number(run["latency_mean_ps"] / 1e9, "ms") for run in values]
        lines.append([pattern, place, size, interval, " ".join(background).partition("@")[0], *cells])
    head = ["pattern", "placement", "message", "interval", "background", *(f"{model}, N = {n}" for model, n in columns)]
    return table(head, lines, "lllll" + "r" * len(columns))


REPRODUCTION = Reproduction(
    name="kang2019-512kb-4mb",
    title="Kang 2019, figures 5 to 8, messages of 512 KB and 4 MB: as published and correct (K33 to K44)",
    points=points,
    make=make,
    rows=_rows,
    page=_page,
    picture=draw,
)
