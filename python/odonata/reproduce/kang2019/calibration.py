"""`kang2019-calibration`: packet size and router delay against the six steady latencies of the paper."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from odonata.reproduce.kang2019.published import means_alone
from odonata.reproduce.markdown import table
from odonata.reproduce.rows import Row
from odonata.reproduce.study import Study
from odonata.reproduce.verdict import judge

if TYPE_CHECKING:
    from collections.abc import Sequence

    from odonata.reproduce.rows import Results

DECIDED = ("2048B", "100ns")
"""Packet size and router delay of the preset `kang2019` (catalogue, decision 1)."""


def _compare(results: Results, models: Sequence[str]) -> list[Row]:
    wanted, rows = means_alone(), []
    for (model, name), found in results.items():
        traffic, _, label = name.rpartition("/")
        if model not in models:
            continue
        row = wanted[traffic]
        ((messages, outcome),) = found.items()
        ours = outcome.mean_ps / 1e6
        rows.append(
            Row(
                id=row.id,
                what=f"{label}: {row.what}",
                model=model,
                kind=row.kind,
                unit=row.unit,
                ours=ours,
                theirs=row.theirs,
                tolerance=row.tolerance,
                verdict=judge(row.kind, ours, row.theirs, row.tolerance, None),
                why="",
                messages=messages,
                by_messages={messages: ours},
                growth=None,
                meets_at=None,
                where=row.where,
            )
        )
    return rows


def errors(rows: Sequence[Row], model: str) -> dict[tuple[str, str], list[float]]:
    """(Packet size, router delay) -> relative errors in the order of the targets."""
    found: dict[tuple[str, str], list[float]] = {}
    for row in rows:
        if row.model == model:
            packet, delay = (part.partition("=")[2] for part in row.what.partition(":")[0].split(","))
            found.setdefault((packet, delay), []).append(row.ours / row.theirs - 1)
    return found


def rms(values: Sequence[float]) -> float:
    """Root of the mean square."""
    return math.sqrt(sum(value * value for value in values) / len(values))


def _page(rows: Sequence[Row], _: Results) -> str:
    models = dict.fromkeys(row.model for row in rows)
    messages = " and ".join(str(n) for n in sorted({row.messages for row in rows}))
    tables = [f"## {model}\n\n{_verdict(rows, model)}\n\n{_table(rows, model)}\n" for model in models]
    return "\n".join([_HEAD.format(messages=messages), *tables])


def _verdict(rows: Sequence[Row], model: str) -> str:
    found = {which: rms(values) for which, values in errors(rows, model).items()}
    best = min(found, key=lambda which: found[which])
    place = sorted(found.values()).index(found[DECIDED]) + 1
    return (
        f"Decided: {_spaced(DECIDED)}, root mean square of the errors {_percent(found[DECIDED])}, number {place} of "
        f"{len(found)}. Least: {_spaced(best)}, {_percent(found[best])}."
    )


def _table(rows: Sequence[Row], model: str) -> str:
    names = (f"{row.id} {row.what.partition(': ')[2].removesuffix(': mean latency')}" for row in rows)
    targets = list(dict.fromkeys(names))
    lines = []
    for which, values in errors(rows, model).items():
        packet, delay = which
        mark = "**" if which == DECIDED else ""
        cells = [packet.replace("B", " B"), delay.replace("ns", " ns")]
        cells += [*(_percent(value, sign=True) for value in values), _percent(rms(values))]
        lines.append([f"{mark}{cell}{mark}" for cell in cells])
    return table(["packet", "router delay", *targets, "r.m.s."], lines, "rr" + "r" * len(targets) + "r")


def _percent(value: float, *, sign: bool = False) -> str:
    return f"{value * 100:{'+' if sign else ''}.1f} %"


def _spaced(which: tuple[str, str]) -> str:
    return f"packets of {which[0].replace('B', ' B')} and a router delay of {which[1].replace('ns', ' ns')}"


_HEAD = """\
# Kang 2019: packet size and router delay

Made by `odonata reproduce kang2019-calibration`; do not edit. The paper states neither. Six of its mean latencies for
4 KB messages do not depend on the length of the run; the tables show by how much ours ({messages} messages per process)
is above or below each of them. Buffers as in the preset `kang2019`. The published values come from the simulator that
"as-published" imitates, so its table decides; the correct model keeps the same packets and delay: it is the same
machine.
"""

STUDY = Study(
    name="kang2019-calibration",
    title="Kang 2019: packet size and router delay against its six steady latencies (K30, K31, K42, K43)",
    package="odonata.reproduce.kang2019",
    file="calibration.toml",
    compare=_compare,
    page=_page,
)
