"""`kang2019-metric`: which metric, threshold, buffers and packet of FPAR give K42 and K30 at 1 us together."""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING, Any

from odonata.reproduce.kang2019.published import means_alone, row_of
from odonata.reproduce.kang2019.runs import CORRECT, keep, label, make, product
from odonata.reproduce.markdown import number, table
from odonata.reproduce.page import Page
from odonata.reproduce.reproduction import Reproduction

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from odonata.reproduce.page import Texts
    from odonata.reproduce.reproduction import Points, Runs
    from odonata.reproduce.rows import Row

CASES = {"tornado/contiguous/3us": 50, "uniform-random/contiguous/1us": 100}
"""K42 and K30 at 1 us -> messages per process."""


def _settings(
    sensing: str = "occupancy", threshold: float = 0.5, scale: int = 1, packet: str = "2048 B"
) -> dict[str, Any]:
    return {
        "sensing": sensing,
        "routing.threshold": threshold,
        "fabric.links.local.buffer": f"{8 * scale} KiB",
        "fabric.links.global.buffer": f"{16 * scale} KiB",
        "fabric.packet": packet,
    }


DEFAULT = _settings()
"""The shipped default of FPAR on the preset `kang2019`."""

SETTINGS = [
    DEFAULT,
    *(_settings(threshold=threshold) for threshold in (0.25, 0.75, 0.9)),
    *(_settings(scale=scale) for scale in (2, 4)),
    *(_settings(packet=packet) for packet in ("1024 B", "4096 B")),
    _settings("backlog"),
    _settings("both"),
]
"""The default, and one value changed in each of the others."""

_CANDIDATE = "another setting than the shipped default"


def points(reduced: bool) -> Points:
    """Each setting on both cases, without a background."""
    settings = SETTINGS[:2] if reduced else SETTINGS
    return [
        point
        for case, messages in CASES.items()
        for pattern, place, interval in [case.split("/")]
        for point in product(
            [pattern], [place], [interval], [10 if reduced else messages], models=[CORRECT], changes=settings
        )
    ]


def _rows(runs: Runs) -> list[Row]:
    wanted, rows = means_alone(), []
    for run in runs:
        traffic, _, setting = run["case"].rpartition("/")
        ours = {run["messages"]: run["latency_mean_ps"] / 1e6}
        no_claim = "" if setting == label(DEFAULT) else _CANDIDATE
        rows.append(row_of(wanted[traffic], run["model"], ours, label=setting, no_claim=no_claim))
    return rows


def latencies(rows: Sequence[Row]) -> dict[str, list[Row]]:
    """Label of a setting -> its rows, in the order of the cases."""
    rows_of: dict[str, list[Row]] = {}
    for row in rows:
        rows_of.setdefault(row.what.partition(": ")[0], []).append(row)
    return rows_of


def both_within(rows_of: Mapping[str, Sequence[Row]], tolerances: Sequence[float]) -> list[str]:
    """Settings whose every latency is within the tolerance of its case."""
    return [
        setting
        for setting, rows in rows_of.items()
        if all(abs(row.ours / row.theirs - 1) <= most for row, most in zip(rows, tolerances, strict=True))
    ]


TOLERANCES = (0.06, 0.10)
"""Of K42, and of K30 at 1 us: those of the rows of `kang2019-4kb`."""


def _of_rows(rows: Sequence[Row], _: Texts) -> Texts:
    rows_of = latencies(rows)
    first = next(iter(rows_of.values()))
    head = ["metric", "threshold", "local buffer", "global buffer", "packet"]
    head += [f"{row.id} {row.what.partition(': ')[2].removesuffix(': mean latency')}" for row in first]
    lines = [["published", "", "", "", "", *(number(row.theirs, row.unit) for row in first)]]
    for setting, mine in rows_of.items():
        values = [pair.partition("=")[2] for pair in setting.split(",")]
        lines.append([*values, *(number(row.ours, row.unit) for row in mine)])
    good = both_within(rows_of, TOLERANCES)
    return {
        "messages": " and ".join(str(row.messages) for row in first),
        "tolerances": " and ".join(f"{most * 100:.0f} %" for most in TOLERANCES),
        "answer": f"{len(good)} of {len(rows_of)} settings do{': ' if good else ''}{'; '.join(good)}",
        "table": table(head, lines, "lrrrr" + "r" * len(first)),
    }


REPRODUCTION = Reproduction(
    name="kang2019-metric",
    title="Kang 2019: congestion metric, threshold, buffers and packet of FPAR against two latencies",
    points=points,
    make=make,
    rows=_rows,
    text=Page(lambda: (files("odonata.reproduce.kang2019") / "metric.md").read_text("utf-8"), _of_rows, lambda *_: {}),
    keep=keep,
    study="kang2019",
)
