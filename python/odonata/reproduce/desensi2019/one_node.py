"""`desensi2019-fig4`: an all-to-all of eight processes on one node (De Sensi 2019, section 3.3; D21)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from matplotlib.patches import Patch

from odonata.analysis.dispersion import qcd
from odonata.plot.style import SERIES, figure, settings
from odonata.reproduce.desensi2019.page import MODEL, page_of
from odonata.reproduce.markdown import table
from odonata.reproduce.reproduction import Reproduction
from odonata.reproduce.rows import Row, statement
from odonata.scenario import Scenario
from odonata.text.numbers import fixed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.figure import Figure

    from odonata.reproduce.reproduction import Points, Runs
    from odonata.store import Run

RANKS = 8
NOISES = ("0 us", "1 us", "4 us")
"""Means of the exponential time that each rank computes before an iteration: the noise of its host. Assumed."""
SILENT, NOISY = NOISES[:2]
SIZES = {"128 B": "100 us", "1 KiB": "100 us", "8 KiB": "150 us", "64 KiB": "400 us"}
"""Size -> time from the begin of an iteration to that of the next. The sizes of the paper are not in its text."""
ITERATIONS = 201
"""The first is not measured."""


def points(reduced: bool) -> Points:
    """All sizes with all noises."""
    iterations = 21 if reduced else ITERATIONS
    return [
        {"message": size, "noise": noise, "every": every, "iterations": iterations, "seed": 1}
        for size, every in SIZES.items()
        for noise in NOISES
    ]


def make(point: Mapping[str, Any]) -> Scenario:
    """One job on one node of an idle machine."""
    phases: list[dict[str, Any]] = [{"collective": "alltoall", "message": point["message"]}]
    if point["noise"] != SILENT:
        phases.insert(0, {"compute": "0 us", "jitter": point["noise"]})
    job = {
        "name": "measured",
        "place": {"policy": "explicit", "nodes": [0]},
        "ranks_per_node": RANKS,
        "app": {"motif": "phases", "phases": phases},
        "iterations": point["iterations"],
        "every": point["every"],
    }
    system = {"preset": "piz-daint", "groups": 2, "fabric": {"nic": "aries"}}
    made = {"system": system, "job": [job], "run": {"seed": point["seed"]}}
    return Scenario.of(made)


def keep(run: Run) -> dict[str, Any]:
    """`times_ps`: each iteration but the first, from its first begin to last end. `requests`: packets of all NICs."""
    iterations = run.iterations.filter(pl.col("iteration") > 0).sort("iteration")
    return {
        "times_ps": [float(time) for time in iterations["time_ps"]],
        "requests": int(run.jobs["request_packets"].fill_null(0).sum()),
    }


def dispersion(run: Mapping[str, Any]) -> float:
    """QCD of the times of a run, in percent."""
    return 100 * (qcd(np.array(run["times_ps"])) or 0.0)


def compare(runs: Runs) -> list[Row]:
    """D21, figure 4."""

    def row(
        what: str, ours: float, unit: str, tolerance: str, why: str = "", *, tested: str = "", comparable: bool = True
    ) -> Row:
        where, count = "De Sensi 2019, section 3.3, figure 4", min(len(run["times_ps"]) for run in runs)
        return statement(
            "D21",
            what,
            ours,
            0,
            unit,
            tolerance,
            where,
            model=MODEL,
            why=why,
            experiment=tested,
            messages=count,
            comparable=comparable,
        )

    constant = "hosts of the simulator have constant costs, so without noise that a scenario asks for nothing varies"
    assumed = "mean and distribution of the noise are assumed"
    silent = max(dispersion(run) for run in runs if run["noise"] == SILENT)
    return [
        row("packets in the network, all runs", sum(run["requests"] for run in runs), "packets", "<= 0"),
        row(
            "hosts without noise: largest QCD of time",
            silent,
            "%",
            "> 0",
            constant,
            tested="hosts with noise on this page",
        ),
        *(
            row(
                f"{run['message']}, hosts with noise: QCD of time",
                dispersion(run),
                "%",
                "> 0",
                assumed,
                comparable=False,
            )
            for run in runs
            if run["noise"] == NOISY
        ),
    ]


def _of_runs(runs: Runs) -> dict[str, str]:
    """Values of the page."""
    lines = []
    for size in SIZES:
        of = {run["noise"]: run for run in runs if run["message"] == size}
        cells = [size, str(len(of[SILENT]["times_ps"]))]
        for noise in NOISES:
            cells += [f"{np.median(of[noise]['times_ps']) / 1e6:.2f}", fixed(dispersion(of[noise]) / 100, ".2%")]
        lines.append(cells)
    head = [f"{noise}: {what}" for noise in NOISES for what in ("median, µs", "QCD")]
    return {
        "ranks": str(RANKS),
        "noises": " or ".join(NOISES[1:]),
        "first": NOISY,
        "sizes": table(["size", "n", *head], lines, "l" + "r" * (1 + len(head))),
    }


def draw(_: Sequence[Row], runs: Runs) -> Figure:
    """Boxes of the times for each noise."""
    with settings():
        made = figure(11, 3.6)
        for axes, size in zip(made.subplots(1, len(SIZES)), SIZES, strict=True):
            mine = [run for run in runs if run["message"] == size]
            boxes = axes.boxplot(
                [np.array(run["times_ps"]) / 1e6 for run in mine],
                widths=0.6,
                patch_artist=True,
                flierprops={"markersize": 2},
                medianprops={"color": "black"},
            )
            for box, colour in zip(boxes["boxes"], SERIES, strict=False):
                box.set(facecolor=colour, edgecolor="0.3")
            axes.set_xticks([])
            axes.set_title(size)
            axes.set_ylim(bottom=0)
            axes.grid(axis="y", color="0.9")
            if size == next(iter(SIZES)):
                axes.set_ylabel("time of an all-to-all, µs")
                patches = [
                    Patch(facecolor=colour, edgecolor="0.3", label=f"noise of {noise}")
                    for noise, colour in zip(NOISES, SERIES, strict=False)
                ]
                axes.legend(handles=patches, fontsize=7)
    return made


REPRODUCTION = Reproduction(
    name="desensi2019-fig4",
    title="All-to-all on one node: times that vary without a network (De Sensi 2019)",
    points=points,
    make=make,
    rows=compare,
    text=page_of("fig4", _of_runs, with_setting=False),
    picture=draw,
    keep=keep,
)
