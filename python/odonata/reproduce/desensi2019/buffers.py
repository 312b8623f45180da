"""`desensi2019-buffers`: with which buffers and biases the statements of figure 7 hold (De Sensi 2019, D22).

Cray publishes neither the buffers of Aries nor the biases of its modes. Both are assumed in the preset, and figure 7
compares two modes that differ by a bias.
"""

from __future__ import annotations

import re
from copy import deepcopy
from dataclasses import replace
from importlib.resources import files
from statistics import median
from typing import TYPE_CHECKING, Any

from odonata.reproduce.desensi2019 import modes, pingpong
from odonata.reproduce.desensi2019.page import MODEL
from odonata.reproduce.desensi2019.pingpong import DEFAULT, HIGH_BIAS
from odonata.reproduce.desensi2019.relations import EQUAL, Relation, as_row, median_of
from odonata.reproduce.markdown import table
from odonata.reproduce.page import Page
from odonata.reproduce.reproduction import Reproduction
from odonata.reproduce.rows import holds
from odonata.scenario import Scenario

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from odonata.reproduce.page import Texts
    from odonata.reproduce.reproduction import Points, Runs
    from odonata.reproduce.rows import Row

SHIPPED = ("8 KiB", "8 KiB")
"""Buffer of the links inside a group, and bias of `adaptive-3`, of the preset."""
BUFFERS = ("1 KiB", "1536 B", "2 KiB", "4 KiB", "8 KiB", "16 KiB")
BIASES = ("4 KiB", "8 KiB", "16 KiB")
ELECTRICAL = ("node", "chassis", "group")
"""Classes of links whose buffer is scanned. The buffer of optical links stays."""
SEEDS = (1, 2, 3)
"""Each draws another pair of routers for each distance."""
_NO_CLAIM = "a candidate; the shipped setting is judged on the page of figure 7"


def points(reduced: bool) -> Points:
    """Every packet of 64 B, on the idle machine, for one pair of routers at each distance and seed."""
    if reduced:
        more = {"modes": modes.MODES, "iterations": 3, "slot": "120 us", "machine": "small", "load": 0.0}
        return [
            pingpong.point("buffers", "64 KiB", 1, modes.WHERE, 1, packet="64 B", buffer=buffer, bias="8 KiB", **more)
            for buffer in ("2 KiB", "8 KiB")
        ]
    more = {"modes": modes.MODES, "iterations": 2, "slot": modes.SLOT, "load": 0.0}
    return [
        pingpong.point("buffers", "4 MiB", seed, modes.WHERE, 1, packet="64 B", buffer=buffer, bias=bias, **more)
        for bias in BIASES
        for buffer in BUFFERS
        for seed in SEEDS
    ]


def make(point: Mapping[str, Any]) -> Scenario:
    """The scenario of figure 7 with this buffer and this bias."""
    made = deepcopy(pingpong.make(point).data)
    links = {name: {"buffer": point["buffer"]} for name in ELECTRICAL}
    made["system"]["fabric"] = {**made["system"]["fabric"], "links": links}
    for job in made["job"]:
        if job.get("routing") == HIGH_BIAS:
            job["routing"] = {"name": HIGH_BIAS, "bias_high": point["bias"]}
    return Scenario.of(made)


def settings_of(runs: Runs) -> list[tuple[str, str]]:
    """Each buffer and bias that was simulated."""
    return list(dict.fromkeys((run["buffer"], run["bias"]) for run in runs))


def ratios(runs: Runs, setting: tuple[str, str], name: str, where: str, plus: float) -> list[float]:
    """High bias over the default, a value for each seed."""
    made = []
    for run in runs:
        if (run["buffer"], run["bias"]) == setting:
            high, low = (modes.of(run, name, where, mode) for mode in (HIGH_BIAS, DEFAULT))
            made.append((median(high[0]) + plus) / (median(low[0]) + plus))
    return made


def compare(runs: Runs) -> list[Row]:
    """The statements of figure 7 on the idle machine, for each buffer and bias."""
    rows = []
    for setting in settings_of(runs):
        buffer, bias = setting
        for where, said in modes.SAID.items():
            for what, name, plus, tolerance, panel in said:
                ratio = median_of(ratios(runs, setting, name, where, plus))
                words = f"buffers of {buffer}, bias of {bias}: {where}, high bias over the default: {what}"
                source = f"De Sensi 2019, section 4.1, figure {panel}"
                row = as_row(Relation("D22", words, MODEL, tolerance, ratio, source), 1)
                rows.append(replace(row, verdict="not comparable", why=_NO_CLAIM, experiment="", note=""))
    return rows


def _of_setting(rows: Sequence[Row], setting: tuple[str, str]) -> list[Row]:
    """The rows of a setting, in the order of the statements."""
    buffer, bias = setting
    return [row for row in rows if row.what.startswith(f"buffers of {buffer}, bias of {bias}: ")]


def _of_rows(rows: Sequence[Row], _: Texts) -> Texts:
    heads = [
        f"{where}: {what}, wanted {'1 ± ' if tolerance == EQUAL else ''}{tolerance}"
        for where, said in modes.SAID.items()
        for what, _, _, tolerance, _ in said
    ]
    lines, all_hold, counts = [], [], {}
    for setting in _named(rows):
        mine = _of_setting(rows, setting)
        hold = [holds(row) for row in mine]
        counts[setting] = sum(hold)
        if all(hold):
            all_hold.append(f"{setting[0]} with a bias of {setting[1]}")
        cells = [f"**{row.ours:.3f}**" if right else f"{row.ours:.3f}" for row, right in zip(mine, hold, strict=True)]
        shipped = " (shipped)" if setting == SHIPPED else ""
        lines.append([setting[0] + shipped, setting[1], *cells, f"{sum(hold)} of {len(hold)}"])
    most = max(counts.values(), default=0)
    return {
        "table": table(["buffer", "bias", *heads, "hold"], lines, "rr" + "r" * (len(heads) + 1)),
        "window": "; ".join(all_hold) or "none",
        "most": ", ".join(f"{buffer} with {bias}" for (buffer, bias), count in counts.items() if count == most),
        "most_hold": str(most),
        "of": str(len(heads)),
        "shipped_hold": str(counts.get(SHIPPED, 0)),
    }


def _named(rows: Sequence[Row]) -> list[tuple[str, str]]:
    """Buffer and bias of each setting, from the words of its rows."""
    matches = (re.match(r"buffers of (.+?), bias of (.+?): ", row.what) for row in rows)
    return list(dict.fromkeys((match[1], match[2]) for match in matches if match))


def _of_runs(_: Sequence[Row], runs: Runs) -> dict[str, str]:
    return {"seeds": str(len({run["seed"] for run in runs}))}


REPRODUCTION = Reproduction(
    name="desensi2019-buffers",
    title="With which buffers and biases the statements of figure 7 hold (De Sensi 2019)",
    points=points,
    make=make,
    rows=compare,
    text=Page(lambda: (files("odonata.reproduce.desensi2019") / "buffers.md").read_text("utf-8"), _of_rows, _of_runs),
    keep=pingpong.keep,
)
