"""`kang2019-broadcast`: broadcasts beside every background, and the rates at the root's group (figures 9 and 10)."""

from __future__ import annotations

from importlib.resources import files
from statistics import mean
from typing import TYPE_CHECKING, Any

import polars as pl

from odonata.reproduce.kang2019 import runs as kang
from odonata.reproduce.kang2019.figure_broadcast import draw
from odonata.reproduce.kang2019.published import Expected, compare, expected, explain
from odonata.reproduce.kang2019.runs import AS_PUBLISHED, CORRECT, by_case, make, product
from odonata.reproduce.markdown import comparable, number, reasons, side_by_side, table
from odonata.reproduce.page import Page
from odonata.reproduce.reproduction import Reproduction

if TYPE_CHECKING:
    from collections.abc import Sequence

    from odonata.reproduce.page import Texts
    from odonata.reproduce.reproduction import Points, Runs
    from odonata.reproduce.rows import Row
    from odonata.store import Run

THREE = ("contiguous", "random-out", "random-in")
"""The placements of figure 9."""
SIZES = {"4 KB": "100us", "512 KB": "512KB@100us", "4 MB": "4MB@100us"}
"""Size -> the interval as cases say it; a single broadcast is simulated, so the interval is only its start."""
PERCENT = (50, 90, 130, 260, 390, 520)
"""The loads of the backgrounds, percent."""
FIVE = 325
"""The load of five background nodes per leaf: two, and the "additional 3" of section 3.4.1."""
EVERY = "1us"
"""Interval of the background, which the paper does not state."""
DIRECT = 48 * 4.37 * 2**30
"""What the links between two groups carry in one direction (section 2.1), bytes per second."""
LIGHTEST = "50%@100us"
"""The background beside a broadcast of 512 KB: the lightest load, in the messages that take the fewest packets."""
SEEDS = (1, 2, 3)
SERIES = 128
"""Most values of a rate over time."""


def at(percent: int, every: str = EVERY) -> str:
    """A background as cases say it."""
    return f"{percent}%@{every}"


def points(reduced: bool) -> Points:
    """One broadcast of 4 KB beside each background, larger ones as far as a run takes about a minute."""
    small, five, correct = [SIZES["4 KB"]], at(FIVE), [CORRECT]
    if reduced:
        return product(["broadcast"], THREE[:1], small, [1], models=correct, backgrounds=["", five])
    every = ["", *(at(load) for load in PERCENT), five]
    return [
        *product(["broadcast"], THREE, small, [1], models=correct, backgrounds=every, repetitions=SEEDS),
        *product(
            ["broadcast"], THREE[::2], small, [1], models=correct, backgrounds=[at(FIVE, "10us"), at(FIVE, "100us")]
        ),
        # The model as published takes many minutes with the root in the background's groups.
        *product(["broadcast"], THREE, small, [1], models=[AS_PUBLISHED]),
        *product(["broadcast"], THREE[:2], small, [1], models=[AS_PUBLISHED], backgrounds=[five]),
        *product(["broadcast"], THREE[:1], small, [1], models=[AS_PUBLISHED], backgrounds=[at(PERCENT[-1])]),
        *product(["broadcast"], THREE, [SIZES["512 KB"], SIZES["4 MB"]], [1], models=correct),
        *product(["broadcast"], THREE[:1], [SIZES["512 KB"]], [1], models=correct, backgrounds=[LIGHTEST]),
    ]


def keep(run: Run) -> dict[str, Any]:
    """What is kept of every page, and of the group of rank 0:

    - `background_in`, `background_out`: bytes per second of the background over the whole run;
    - `background_during`: in and out, over the windows in which the broadcast leaves the group;
    - `series`: bytes per second of the broadcast that leave the group, and `series_ps`, the time between its values.
    """
    spec = run.resolved["spec"]
    every_ps, first = spec["measure"]["arrivals_every_ps"], spec["jobs"][0]["nodes"][0]
    nodes = run.links.filter(pl.col("from_kind") == "node", pl.col("from_id") == first)
    at_root = run.counters.filter(pl.col("group") == nodes["from_group"][0])
    sent = at_root.filter(pl.col("job") == 0).sort("window")
    windows = -(-sent.height // SERIES)
    parts = sent.group_by(pl.col("window") // windows, maintain_order=True).agg(pl.col("bytes_out").mean())
    kept = {
        **kang.keep(run),
        "series": [value / (every_ps * 1e-12) for value in parts["bytes_out"]],
        "series_ps": windows * every_ps,
        "background_in": None,
        "background_out": None,
        "background_during": None,
    }
    other = at_root.filter(pl.col("job") == 1)
    if other.height:
        seconds = run.manifest["sim_time_ps"] * 1e-12
        busy = sent.filter(pl.col("bytes_out") > 0)["window"]
        during = other.filter(pl.col("window").is_in(busy.implode()))["bytes_both"].sum()
        kept["background_in"] = other["bytes_in"].sum() / seconds
        kept["background_out"] = other["bytes_out"].sum() / seconds
        kept["background_during"] = during / (busy.len() * every_ps * 1e-12)
    return kept


def _case(place: str, background: str = "", size: str = "4 KB") -> str:
    return "/".join(part for part in ("broadcast", place, SIZES[size], background) if part)


def _wanted() -> list[Expected]:
    """The published values at the largest load, with five nodes per leaf in its place; and the relations."""
    most, five = at(PERCENT[-1]), at(FIVE)
    read = [
        Expected(
            row.id,
            row.what.replace(f"{PERCENT[-1]} %", f"{FIVE} %"),
            "R",
            row.theirs,
            row.unit,
            row.tolerance,
            row.measure,
            tuple(case.replace(most, five) for case in row.cases),
            row.reference,
            row.where,
            why={},
        )
        for row in expected()
        if len(row.cases) == 1 and row.cases[0].endswith(most) and row.measure != "background-load"
    ]
    return [*_relations(), *read]


def _left() -> float:
    """What the two published rates of the background leave for its direct links, GiB/s (K53).

    Three groups send through six others: what passes through each of the six, in and out, leaves and enters each of the
    three twice. The rest of what leaves and enters the three goes between them directly, or through the third.
    """
    rates = {row.cases[0]: row.theirs for row in expected() if row.measure == "background"}
    return rates[_case("random-in", at(PERCENT[-1]))] - 2 * rates[_case("contiguous", at(PERCENT[-1]))]


def _relations() -> list[Expected]:
    """What sections 4.4 and 5 say of broadcasts of every size."""

    def row(
        id_: str, what: str, tolerance: str, measure: str, cases: Sequence[str], alone: Sequence[str] = ()
    ) -> Expected:
        unit = "x" if measure == "ratio" else "%"
        return Expected(
            id_, what, "R", 1.0, unit, tolerance, measure, tuple(cases), tuple(alone), "section 4.4, figure 9", why={}
        )

    beside = [_case("contiguous", at(load)) for load in PERCENT]
    return [
        *(
            row("K50", f"{size}: difference between the three placements alone", "< 1", "spread",
                [_case(place, size=size) for place in THREE])
            for size in SIZES
        ),
        row("K51", f"4 KB, contiguous: largest slowdown by the {len(PERCENT)} backgrounds", "< 1", "largest-slowdown",
            beside, [_case("contiguous")] * len(beside)),
        row("K51", "512 KB, contiguous: slowdown by a background of 50 %", "< 1", "slowdown",
            [_case("contiguous", LIGHTEST, "512 KB")], [_case("contiguous", size="512 KB")]),
        row("K51", f"4 KB beside {PERCENT[-1]} %: root in the background's groups over root outside", "> 1", "ratio",
            [_case("random-in", at(PERCENT[-1]))], [_case("random-out", at(PERCENT[-1]))]),
    ]  # fmt: skip


def _rows(runs: Runs) -> list[Row]:
    return compare(_wanted(), runs)


def _of_rows(rows: Sequence[Row], _: Texts) -> Texts:
    return {
        "table": side_by_side(comparable(rows), (AS_PUBLISHED, CORRECT)),
        "reasons_published": reasons(row for row in rows if row.model == AS_PUBLISHED),
        "reasons_correct": reasons(row for row in rows if row.model == CORRECT),
        "seeds": str(len(SEEDS)),
        "left": f"{_left():.2f}",
        "direct": f"{2 * 2 * DIRECT / 2**30:,.0f}",
        "loads": f"{', '.join(map(str, PERCENT[:-1]))} and {PERCENT[-1]} %",
        "most": f"{PERCENT[-1]} %",
        "five": f"{FIVE} %",
    }


def _of_runs(_: Sequence[Row], runs: Runs) -> Texts:
    return {
        "latencies": _latencies(runs),
        "rates": _rates(runs),
        "simulated": _simulated(runs),
        "during": _during(runs),
    }


def _latencies(runs: Runs) -> str:
    """Mean latencies of 4 KB in the correct model: the mean over the seeds, and their smallest and largest."""
    loads = ["", *(at(load) for load in sorted((*PERCENT, FIVE)))]
    lines = []
    for load in loads:
        cells = [_load(load)]
        for place in THREE:
            values = [
                run["latency_mean_ps"] / 1e9
                for run in runs
                if run["model"] == CORRECT and run["case"] == _case(place, load)
            ]
            cells.append(f"{mean(values):.3f} ({min(values):.3f} to {max(values):.3f})")
        lines.append(cells)
    return table(["background", *(f"{place}, ms" for place in THREE)], lines, "lrrr")


def _rates(runs: Runs) -> str:
    """The background at the root's group by load: contiguous, in its groups, and the first twice less the second."""
    cases = by_case(runs)
    lines = []
    for model in (AS_PUBLISHED, CORRECT):
        loads = [at(load, every) for every in ("1us", "10us", "100us") for load in sorted((*PERCENT, FIVE))]
        for load in loads:
            outside, inside = (
                cases.get((model, _case(place, load)), {}).get(1) for place in ("contiguous", "random-in")
            )
            if outside is None:
                continue
            sides_of = [outside] if inside is None else [outside, inside]
            rates = [run[f"background_{way}"] for run in sides_of for way in ("in", "out", "rate")]
            if inside is not None:
                rates.append(inside["background_rate"] - 2 * outside["background_rate"])
            percent, _, every = load.partition("@")
            words = [model, percent.replace("%", " %"), every.replace("us", " us")]
            cells = [f"{rate / 2**30:,.0f}" for rate in rates]
            lines.append([*words, *cells, *[""] * (7 - len(cells))])
    sides = [f"{place}: {way}" for place in ("contiguous", "in its groups") for way in ("in", "out", "in and out")]
    return table(["model", "load", "every", *sides, "left for direct links"], lines, "lrr" + "r" * 7)


def _during(runs: Runs) -> str:
    """By how many percent the rate during the broadcast differs most from that over the whole run, beside the loads
    whose packets pass through every group."""
    pairs = [
        (run["background_during"], run["background_rate"])
        for run in runs
        if (run["background_rate"] or 0.0) > DIRECT / 48 and SIZES["4 KB"] in run["case"].split("/")
    ]
    return f"{max(abs(during / rate - 1) for during, rate in pairs) * 100:.1f}"


def _load(background: str) -> str:
    return background.partition("@")[0].replace("%", " %") or "none"


def _simulated(runs: Runs) -> str:
    """Which of the cases of larger messages were simulated, with their mean latencies."""
    lines = []
    for (_, case), by_messages in by_case(runs).items():
        _, place, every, *rest = case.split("/")
        (run,) = by_messages.values()
        if every != SIZES["4 KB"]:
            size = next(name for name, interval in SIZES.items() if interval == every)
            latency = number(run["latency_mean_ps"] / 1e9, "ms")
            lines.append([size, place, _load(rest[0] if rest else ""), latency])
    return table(["message", "placement", "background", "mean latency, ms"], lines, "lllr")


REPRODUCTION = Reproduction(
    name="kang2019-broadcast",
    title="Kang 2019, figures 9 and 10: broadcasts beside every background, and the background at the root's group",
    points=points,
    make=make,
    rows=_rows,
    explain=explain,
    text=Page(lambda: (files("odonata.reproduce.kang2019") / "broadcast.md").read_text("utf-8"), _of_rows, _of_runs),
    picture=draw,
    keep=keep,
)
