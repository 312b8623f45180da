"""`kang2019-4kb`: all published results for messages of 4 KB, as published and correct."""

from __future__ import annotations

from importlib.resources import files
from string import Template
from typing import TYPE_CHECKING

from odonata.reproduce.kang2019.figure import draw
from odonata.reproduce.kang2019.published import expected
from odonata.reproduce.markdown import counts, latencies, number, published, reasons, side_by_side, table
from odonata.reproduce.rows import compare
from odonata.reproduce.study import Study

if TYPE_CHECKING:
    from collections.abc import Sequence

    from odonata.reproduce.rows import Results, Row

_HERE = "odonata.reproduce.kang2019"
AS_PUBLISHED, CORRECT = "as-published", "correct"

INFERRED = 300
"""Messages per process: where uniform random traffic, contiguous, every 0.5 us has its published mean latency (K30)."""


def _compare(results: Results, models: Sequence[str]) -> list[Row]:
    return compare(expected(), results, models, inferred=INFERRED)


def _page(rows: Sequence[Row], results: Results) -> str:
    both = (AS_PUBLISHED, CORRECT)
    return Template(_read("four_kb.md")).substitute(
        counts_published=counts(rows, AS_PUBLISHED),
        counts_correct=counts(rows, CORRECT),
        table=side_by_side(rows, both),
        latencies_published=latencies(rows, AS_PUBLISHED),
        latencies_correct=latencies(rows, CORRECT),
        reasons_published=reasons(row for row in rows if row.model == AS_PUBLISHED),
        reasons_correct=reasons(row for row in rows if row.model == CORRECT),
        thresholds=_indented(_thresholds(results)),
        thresholds_overloaded=_indented(_thresholds_overloaded(results)),
        buffers=_indented(_buffers(results)),
        ports=_indented(_ports(results)),
        inferred=INFERRED,
        at_inferred=_at_inferred(rows),
    )


def _at_inferred(rows: Sequence[Row]) -> str:
    """Every value as published that grows, at the inferred number of messages."""
    lines = []
    for row in rows:
        if row.model == AS_PUBLISHED and row.kind in "NF" and row.growth == "grows" and INFERRED in row.by_messages:
            ours = row.by_messages[INFERRED]
            off = f"{(ours / row.theirs - 1) * 100:+.1f} %"
            meets = "" if row.meets_at is None else f"{row.meets_at:.0f}"
            lines.append([row.id, row.what, published(row), number(ours, row.unit), off, meets])
    return table(["id", "what", "published", f"ours, N = {INFERRED}", "off by", "meets it at N"], lines, "llrrrr")


def _indented(text: str) -> str:
    """Inside an element of a list."""
    return "\n".join(f"   {line}" for line in text.splitlines())


def _thresholds(results: Results) -> str:
    """Latency of the correct model against FPAR's threshold and the number of messages."""
    prefix = "uniform-random/contiguous/1us/threshold="
    lines = []
    for (model, name), found in results.items():
        if model == CORRECT and name.startswith(prefix):
            minimal = found[max(found)].minimal
            values = [number(found[n].mean_ps / 1e6, "us") for n in sorted(found)]
            lines.append([name.removeprefix(prefix), *values, f"{minimal:.0%}".replace("%", " %")])
    counted = sorted(next(found for (_, name), found in results.items() if name.startswith(prefix)))
    head = ["threshold", *(f"N = {n}, us" for n in counted), "packets never diverted"]
    return table(head, lines, "l" + "r" * len(counted) + "r")


def _thresholds_overloaded(results: Results) -> str:
    """The same at an overload, for both placements."""
    found: dict[str, list[str]] = {}
    for place in ("contiguous", "random"):
        prefix = f"uniform-random/{place}/0.5us/threshold="
        for (_, name), outcomes in results.items():
            if name.startswith(prefix):
                (outcome,) = outcomes.values()
                found.setdefault(name.removeprefix(prefix), []).append(number(outcome.mean_ps / 1e6, "us"))
    return table(
        ["threshold", "contiguous, us", "random, us"], [[key, *values] for key, values in found.items()], "lrr"
    )


def _buffers(results: Results) -> str:
    """Broadcast by itself against the node's input buffer at its leaf."""
    prefix = "broadcast/contiguous/100us/buffer="
    lines = []
    for (_, name), found in results.items():
        if name.startswith(prefix):
            (outcome,) = found.values()
            rate = (outcome.root_rate or 0) / 2**30
            lines.append(
                [
                    name.removeprefix(prefix).replace("KiB", " KiB"),
                    number(outcome.mean_ps / 1e9, "ms"),
                    number(rate, "GiB/s"),
                ]
            )
    return table(["buffer per channel", "mean latency, ms", "out of the root's group, GiB/s"], lines, "lrr")


def _ports(results: Results) -> str:
    """Busy fraction of the first, the mean and the last port of a leaf to its spines."""
    lines = []
    for model in (AS_PUBLISHED, CORRECT):
        found = results[model, "uniform-random/contiguous/1us"]
        busy = found[max(found)].up_ports
        shares = (busy[0], sum(busy) / len(busy), busy[-1])
        lines.append([model, *(f"{share * 100:.0f} %" for share in shares), f"{busy[0] / busy[-1]:.2f}"])
    return table(["model", "first port", "mean", "last port", "first over last"], lines, "lrrrr")


def _read(file: str) -> str:
    return (files(_HERE) / file).read_text(encoding="utf-8")


STUDY = Study(
    name="kang2019-4kb",
    title="Kang 2019, figures 5 to 10, messages of 4 KB: as published and correct (K30 to K54)",
    package=_HERE,
    file="study.toml",
    compare=_compare,
    page=_page,
    picture=draw,
)
