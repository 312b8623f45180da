"""`kang2019-calibration`: packet size and router delay against the six steady latencies of the paper."""

from __future__ import annotations

import math
from importlib.resources import files
from typing import TYPE_CHECKING

from odonata.reproduce.kang2019.published import means_alone, row_of
from odonata.reproduce.kang2019.runs import BACKLOGS, keep, make, product, varied
from odonata.reproduce.markdown import table
from odonata.reproduce.page import Page
from odonata.reproduce.reproduction import Reproduction

if TYPE_CHECKING:
    from collections.abc import Sequence

    from odonata.reproduce.page import Texts
    from odonata.reproduce.reproduction import Points, Runs
    from odonata.reproduce.rows import Row

DECIDED = ("2048B", "100ns")
"""Packet size and router delay of the preset `kang2019` (catalogue, decision 1)."""


_CANDIDATE = "another candidate than the chosen one"


def points(reduced: bool) -> Points:
    """Packet size and router delay against the six steady latencies (K30, K31, K42, K43; catalogue, decision 1)."""
    patterns, places = ["uniform-random", "tornado"], ["contiguous", "random"]
    if reduced:
        few = varied(fabric__packet=["1024 B", "2048 B"], fabric__router_delay=["100 ns"])
        return product(patterns, places[1:], ["3us"], [10], changes=few, always=BACKLOGS)
    many = varied(
        fabric__packet=["512 B", "1024 B", "2048 B", "4096 B"],
        fabric__router_delay=["50 ns", "75 ns", "100 ns", "125 ns", "150 ns"],
    )
    return [
        *product(patterns, places, ["3us"], [50], changes=many, always=BACKLOGS),
        *product(patterns, places[1:], ["1us"], [100], changes=many, always=BACKLOGS),
    ]


def _rows(runs: Runs) -> list[Row]:
    wanted, rows = means_alone(), []
    for run in runs:
        traffic, _, label = run["case"].rpartition("/")
        ours = {run["messages"]: run["latency_mean_ps"] / 1e6}
        chosen = label == ",".join(
            f"{name}={value}" for name, value in zip(("packet", "router_delay"), DECIDED, strict=True)
        )
        rows.append(row_of(wanted[traffic], run["model"], ours, label=label, no_claim="" if chosen else _CANDIDATE))
    return rows


def errors(rows: Sequence[Row], model: str) -> dict[tuple[str, str], list[float]]:
    """(Packet size, router delay) -> relative errors in the order of the targets."""
    error_of: dict[tuple[str, str], list[float]] = {}
    for row in rows:
        if row.model == model:
            packet, delay = (part.partition("=")[2] for part in row.what.partition(":")[0].split(","))
            error_of.setdefault((packet, delay), []).append(row.ours / row.theirs - 1)
    return error_of


def rms(values: Sequence[float]) -> float:
    """Root of the mean square."""
    return math.sqrt(sum(value * value for value in values) / len(values))


def _of_rows(rows: Sequence[Row], _: Texts) -> Texts:
    models = dict.fromkeys(row.model for row in rows)
    return {
        "messages": " and ".join(str(n) for n in sorted({row.messages for row in rows})),
        "squares": "\n\n".join(f"**{model}.** {_verdict(rows, model)}\n\n{_squares(rows, model)}" for model in models),
        **{f"errors {model}": _table(rows, model) for model in models},
    }


def _verdict(rows: Sequence[Row], model: str) -> str:
    error_of = {which: rms(values) for which, values in errors(rows, model).items()}
    best = min(error_of, key=lambda which: error_of[which])
    place = sorted(error_of.values()).index(error_of[DECIDED]) + 1
    return (
        f"Decided: {_spaced(DECIDED)}, root mean square of the errors {_percent(error_of[DECIDED])}, number {place} of "
        f"{len(error_of)}. Least: {_spaced(best)}, {_percent(error_of[best])}."
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


def _squares(rows: Sequence[Row], model: str) -> str:
    """Root mean square of the errors by packet and router delay."""
    of = {which: rms(values) for which, values in errors(rows, model).items()}
    delays = list(dict.fromkeys(delay for _, delay in of))
    lines = [
        [packet.replace("B", " B"), *(_percent(of[packet, delay]) for delay in delays)]
        for packet in dict.fromkeys(packet for packet, _ in of)
    ]
    return table(["packet", *(delay.replace("ns", " ns") for delay in delays)], lines, "r" * (1 + len(delays)))


def _percent(value: float, *, sign: bool = False) -> str:
    return f"{value * 100:{'+' if sign else ''}.1f} %"


def _spaced(which: tuple[str, str]) -> str:
    return f"packets of {which[0].replace('B', ' B')} and a router delay of {which[1].replace('ns', ' ns')}"


REPRODUCTION = Reproduction(
    name="kang2019-calibration",
    title="Kang 2019: packet size and router delay against its six steady latencies",
    points=points,
    make=make,
    rows=_rows,
    text=Page(
        lambda: (files("odonata.reproduce.kang2019") / "calibration.md").read_text("utf-8"), _of_rows, lambda *_: {}
    ),
    keep=keep,
    study="kang2019",
)
