"""`latency-load`: latency and throughput of five routings against offered load."""

from __future__ import annotations

from importlib.resources import files
from string import Template
from typing import TYPE_CHECKING

from odonata.reproduce.latency_load.checks import compare
from odonata.reproduce.latency_load.curves import SATURATED, by_buffer, curves, stable
from odonata.reproduce.latency_load.load_figure import draw
from odonata.reproduce.latency_load.load_grid import machine_words, read_loads
from odonata.reproduce.markdown import number, reasons, table
from odonata.reproduce.study import Study

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from odonata.reproduce.latency_load.curves import Curves, LoadResults
    from odonata.reproduce.latency_load.load_outcome import LoadOutcome
    from odonata.reproduce.rows import Row

_HERE = "odonata.reproduce.latency_load"


def _page(rows: Sequence[Row], results: LoadResults) -> str:
    found = curves(results)
    one = next(iter(results.values()))
    groups = next(iter(one.values())).groups
    matching = sum(row.verdict == "match" for row in rows)
    return Template(_read("latency_load.md")).substitute(
        machine=machine_words(_read("study.toml")),
        counts=f"{matching} of {len(rows)} statements hold",
        saturated=f"{SATURATED * 100:.0f}",
        rows=_statements(rows),
        reasons=reasons(rows),
        valiant=number(50 * (groups - 2) / (groups - 1), "%"),
        throughput=_by_load(found, lambda outcome: number(outcome.accepted * 100, "%")),
        latency=_by_load(found, lambda outcome: _unless_saturated(outcome, outcome.mean_ps)),
        buffers=_buffers(results),
        tail=_by_load(found, lambda outcome: _unless_saturated(outcome, outcome.p99_ps)),
    )


def _statements(rows: Sequence[Row]) -> str:
    lines = []
    for row in rows:
        verdict = row.verdict if row.verdict == "match" else f"**{row.verdict}**"
        values = (f"{number(value, row.unit)} {row.unit}" for value in (row.ours, row.theirs))
        lines.append([row.id, row.what, f"`{row.model}`", *values, row.tolerance, verdict, row.where])
    return table(["id", "what", "routing", "ours", "wanted", "tolerance", "verdict", "source"], lines, "lllrrlll")


def _by_load(found: Curves, cell: Callable[[LoadOutcome], str]) -> str:
    """A table for each traffic: a line for each load, a column for each routing."""
    parts = []
    for traffic, lines in found.items():
        loads = sorted({load for curve in lines.values() for load in curve})
        head = [f"{traffic}: offered", *lines]
        body = [[f"{load:g} %", *(cell(curve[load]) for curve in lines.values())] for load in loads]
        parts.append(table(head, body, "r" * len(head)))
    return "\n\n".join(parts)


def _buffers(results: LoadResults) -> str:
    lines = [[buffer, number(outcome.accepted * 100, "%")] for buffer, outcome in by_buffer(results).items()]
    return table(["buffer per channel", "accepted, %"], lines, "rr")


def _unless_saturated(outcome: LoadOutcome, ps: float) -> str:
    return number(ps / 1e6, "us") if stable(outcome) else "–"


def _read(file: str) -> str:
    return (files(_HERE) / file).read_text(encoding="utf-8")


STUDY = Study(
    name="latency-load",
    title="Latency and throughput of five routings against load on a balanced dragonfly (Kim 2008, Jiang 2009)",
    package=_HERE,
    file="study.toml",
    compare=compare,
    page=_page,
    picture=draw,
    read=read_loads,
)
