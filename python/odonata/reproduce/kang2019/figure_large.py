"""The picture of `kang2019-512kb-4mb`: figures 5 to 7 as mean latencies alone, and figure 8 as slowdowns.

The paper draws boxes of all latencies; few messages per process give no distribution, so only means are shown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from odonata.plot.style import LINES, figure, settings
from odonata.reproduce.kang2019.published import SCALE, expected
from odonata.reproduce.kang2019.runs import by_case

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from odonata.reproduce.reproduction import Runs
    from odonata.reproduce.rows import Row

_MODELS = (("as-published", LINES[1], "o", -0.12), ("correct", LINES[0], "s", 0.12))
_LOADS = (("50%", LINES[5]), ("90%", LINES[4]), ("130%", LINES[1]))


def draw(_: Sequence[Row], runs: Runs) -> Figure:
    """The picture of the runs of the full study."""
    found = by_case(runs)
    with settings():
        made = figure(11, 7.4)
        upper, lower = made.subplots(2, 1)
        _latencies(upper, found)
        _slowdowns(lower, found)
    return made


def _latencies(axes: Axes, found: dict[tuple[str, str], dict[int, Any]]) -> None:
    alone = list(dict.fromkeys(case for _, case in found if case.count("/") == 2))
    published = {row.cases[0]: row for row in expected("expected_large.csv") if row.measure == "mean"}
    label: str | None = "published"
    for at, case in enumerate(alone):
        if case in published:
            row = published[case]
            axes.plot([at - 0.35, at + 0.35], [row.theirs * SCALE[row.unit] / 1e9] * 2, color="black", label=label)
            label = None
    for model, colour, marker, shift in _MODELS:
        points = [(at, found[model, case]) for at, case in enumerate(alone) if (model, case) in found]
        across = [at + shift for at, outcomes in points for _ in outcomes]
        means = [run["latency_mean_ps"] / 1e9 for _, outcomes in points for run in outcomes.values()]
        axes.plot(across, means, marker, ls="none", ms=4, color=colour, label=model)
    axes.set_yscale("log")
    axes.set_ylabel("mean latency [ms]")
    axes.set_title("Figures 5 to 7: mean latency alone, one or two messages per process (more is higher)")
    _name(axes, alone)


def _slowdowns(axes: Axes, found: dict[tuple[str, str], dict[int, Any]]) -> None:
    beside = [(model, case) for model, case in found if case.count("/") == 3]
    names = list(dict.fromkeys(case.rpartition("/")[0] for _, case in beside))
    for model, _, marker, shift in _MODELS:
        for load, colour in _LOADS:
            points = []
            for at, name in enumerate(names):
                runs, alone = found.get((model, f"{name}/{load}@100us"), {}), found.get((model, name), {})
                points += [
                    (at + shift, runs[n]["latency_mean_ps"] / alone[n]["latency_mean_ps"]) for n in runs if n in alone
                ]
            if points:
                across, ratios = zip(*points, strict=True)
                label = f"{model}, {load.replace('%', ' %')}"
                axes.plot(across, ratios, marker, ls="none", ms=4, color=colour, label=label)
    axes.axhline(1, color="0.6", lw=0.8)
    axes.set_ylabel("mean latency over that alone")
    axes.set_title("Figure 8: slowdown beside a background every 100 µs")
    _name(axes, names)


def _name(axes: Axes, cases: Sequence[str]) -> None:
    def short(case: str) -> str:
        pattern, place, every = case.split("/")[:3]
        size, _, interval = every.partition("@")
        pattern = {"uniform-random": "unif. rand."}.get(pattern, pattern)
        return f"{pattern}\n{place}\n{size}\n{interval.replace('us', ' µs').replace('ms', ' ms')}"

    axes.set_xticks(range(len(cases)), [short(case) for case in cases], fontsize=7)
    axes.legend()
    axes.grid(axis="y", color="0.9")
