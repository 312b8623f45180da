"""`desensi2019-fig8`, `-fig9` and `-fig10`: benchmarks under three policies (De Sensi 2019, section 5; D24 to D28)."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.patches import Patch

from odonata.analysis.dispersion import notch, qcd
from odonata.plot.style import SERIES, figure, settings
from odonata.reproduce.desensi2019.benchmarks import (
    APP_AWARE,
    DEFAULT,
    HIGH_BIAS,
    OURS,
    POLICIES,
    VALUES,
    keep,
    make,
    point,
)
from odonata.reproduce.desensi2019.page import MODEL, page_of
from odonata.reproduce.desensi2019.setting import MACHINES
from odonata.reproduce.markdown import table
from odonata.reproduce.reproduction import Reproduction
from odonata.reproduce.rows import statement
from odonata.scenario.apps.motifs import DOUBLE
from odonata.text.numbers import fixed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from odonata.reproduce.page import Page
    from odonata.reproduce.reproduction import Points, Runs
    from odonata.reproduce.rows import Row

    Cells = dict[tuple[str, str, int], "Cell"]

FIG8: dict[str, dict[str, tuple[int, int]]] = {
    "ping-pong": {"128 B": (12, 31), "1 MiB": (330, 31)},
    "allreduce": {"64 B": (30, 31), "256 KiB": (270, 31)},
    "alltoall": {"1 KiB": (260, 31), "32 KiB": (1150, 7)},
    "barrier": {"": (30, 31)},
    "broadcast": {"128 B": (20, 31), "1 MiB": (850, 31)},
    "halo3d": {"16": (55, 31), "96": (860, 31)},
    "sweep3d": {"128": (120, 31), "1024": (1800, 6)},
}
FIG9: dict[str, dict[str, tuple[int, int]]] = {
    "ping-pong": {"128 B": (14, 16), "16 KiB": (40, 16), "1 MiB": (480, 6)},
    "allreduce": {"64 B": (34, 16), "16 KiB": (80, 12), "256 KiB": (290, 7)},
    "alltoall": {"128 B": (45, 16), "1 KiB": (260, 8), "32 KiB": (1150, 5)},
    "barrier": {"": (30, 21)},
    "broadcast": {"128 B": (20, 21), "16 KiB": (200, 11), "1 MiB": (880, 5)},
    "halo3d": {"16": (70, 16), "48": (420, 7), "96": (880, 5)},
    "sweep3d": {"128": (120, 10), "1024": (1300, 5)},
}
"""Benchmark and size -> microseconds from the begin of an iteration to that of the next, and iterations, of which the
first is not measured. An iteration takes about three quarters of that time on the idle machine."""
FIG10: dict[str, dict[int, tuple[int, int]]] = {
    "MILC": {256: (320, 16)},
    "HPCG": {256: (270, 16)},
    "FFT": {256: (450, 16), 64: (640, 16)},
}
"""Application and nodes -> the same."""
SPREAD8, SPREAD9 = (64, 17), (64, 33)
"""Nodes and their routers: four nodes of each in figure 8 (in the paper 1,024 nodes of 257), two in figure 9."""
SPREAD10 = {256: 65, 64: 33, 32: 17}
"""Nodes of figure 10 -> their routers. The paper does not state them: as many as in figure 8, and for the small
allocation as many as in figure 9."""
OSCILLATING = (("broadcast", "1 MiB"), ("sweep3d", "1024"))
"""Where the published algorithm oscillates (D27): these are also simulated with our variants."""
LARGE = {"alltoall", "broadcast", "halo3d"}
"""Benchmarks whose large sizes are faster with the default (D26)."""
CLOSE = 1.05
"""What counts as the best of the two static policies: at most this much slower. Assumed."""


def _points(
    name: str, machine: str, nodes: tuple[int, int], sizes: Mapping[str, Mapping[str, tuple[int, int]]]
) -> Points:
    return [
        point(name, machine, nodes, benchmark, size, policy, every=f"{every} us", iterations=count)
        for benchmark, of in sizes.items()
        for size, (every, count) in of.items()
        for policy in (*POLICIES, *(OURS if (benchmark, size) in OSCILLATING else ()))
    ]


def points8(reduced: bool) -> Points:
    """Seven benchmarks on 64 nodes of Piz Daint."""
    few = {"ping-pong": {"16 KiB": (45, 4)}, "alltoall": {"1 KiB": (130, 3)}}
    if reduced:
        return _points("fig8", "small", (32, 17), few)
    return _points("fig8", "piz-daint", SPREAD8, FIG8)


def points9(reduced: bool) -> Points:
    """Seven benchmarks on 64 nodes of Cori."""
    few = {"barrier": {"": (30, 6)}, "halo3d": {"8": (40, 4), "16": (60, 4)}}
    return _points("fig9", "small", (32, 17), few) if reduced else _points("fig9", "cori", SPREAD9, FIG9)


def points10(reduced: bool) -> Points:
    """Proxies of applications on 256 nodes of Piz Daint; FFT also on 64."""
    apps: dict[str, dict[int, tuple[int, int]]] = {"MILC": {32: (300, 3)}} if reduced else FIG10
    machine = "small" if reduced else "piz-daint"
    return [
        point("fig10", machine, (nodes, SPREAD10[nodes]), app, "", policy, every=f"{every} us", iterations=count)
        for app, of in apps.items()
        for nodes, (every, count) in of.items()
        for policy in POLICIES
    ]


@dataclass(frozen=True)
class Cell:
    """A benchmark of one size on one allocation."""

    name: str
    runs: dict[str, Mapping[str, Any]]
    """Policy -> its run."""

    def times(self, policy: str) -> Any:
        """The times of its iterations, in picoseconds."""
        return np.array(self.runs[policy]["times_ps"])

    def ratio(self, policy: str) -> float:
        """Its median time over that of the default."""
        return float(np.median(self.times(policy)) / np.median(self.times(DEFAULT)))

    def qcd(self, policy: str) -> float:
        """The dispersion of its times."""
        return qcd(self.times(policy)) or 0.0

    @property
    def over_best(self) -> float:
        """The median with the published algorithm over that of the better of the two static policies."""
        return self.ratio(APP_AWARE) / min(1.0, self.ratio(HIGH_BIAS))

    @property
    def default_share(self) -> float:
        """Percentage of the bytes that the published algorithm sends with the default (D24)."""
        return float(100 * self.runs[APP_AWARE]["default_share"])


def cells(runs: Runs) -> Cells:
    """The runs by benchmark, size and nodes."""
    made: dict[tuple[str, str, int], dict[str, Mapping[str, Any]]] = {}
    for run in runs:
        made.setdefault((run["benchmark"], run["size"], run["nodes"]), {})[run["policy"]] = run
    several = {name for name, _, nodes in made if len({n for b, _, n in made if b == name}) > 1}
    return {
        key: Cell(f"{key[0]}, {key[2]} nodes" if key[0] in several else ", ".join(filter(None, key[:2])), by_policy)
        for key, by_policy in made.items()
    }


_WHERE = "De Sensi 2019, section 5.1, figures 8 and 9"


def compare(runs: Runs) -> list[Row]:
    """D24 to D27 for microbenchmarks."""
    known = cells(runs)
    sizes: dict[str, list[Cell]] = {}
    for (benchmark, _, _), cell in known.items():
        sizes.setdefault(benchmark, []).append(cell)
    rows = []
    for benchmark, of_benchmark in sizes.items():
        if benchmark in ("ping-pong", "barrier"):
            rows += [
                _row("D26", cell, f"{cell.name}: high bias over Default", cell.ratio(HIGH_BIAS), 1, "< 1")
                for cell in of_benchmark
            ]
        if benchmark in LARGE:
            largest, what = of_benchmark[-1], f"{of_benchmark[-1].name} (largest): high bias over Default"
            rows.append(_row("D26", largest, what, largest.ratio(HIGH_BIAS), 1, "> 1"))
    every = list(known.values())
    calmer = 100 * float(np.mean([cell.qcd(HIGH_BIAS) < cell.qcd(DEFAULT) for cell in every]))
    rows.append(_share("D26", every, "QCD is lower with high bias than with Default (`almost all`)", calmer, ">= 80"))
    grown = [of_benchmark for of_benchmark in sizes.values() if len(of_benchmark) > 1]
    if grown:
        falls = 100 * float(
            np.mean([of_benchmark[-1].qcd(DEFAULT) < of_benchmark[0].qcd(DEFAULT) for of_benchmark in grown])
        )
        what = "of the benchmarks: QCD of Default is lower at the largest size than at the smallest"
        rows.append(_share("D26", grown[0], what, falls, ">= 100"))
    rows += _summary(every, "D25")
    rows += _failures(sizes)
    return rows


def _summary(every: Sequence[Cell], id_: str) -> list[Row]:
    best = 100 * float(np.mean([cell.over_best <= CLOSE for cell in every]))
    gain = max(1 / cell.ratio(APP_AWARE) for cell in every)
    what = f"app-aware is at most {CLOSE - 1:.0%} slower than the better of the two (`most of the times`)"
    return [
        _share("D24", every, what, best, "> 50"),
        _row(id_, every[0], "largest speed-up of app-aware over Default", gain, 2, "25 %"),
    ]


def _failures(sizes: Mapping[str, Sequence[Cell]]) -> list[Row]:
    rows = []
    for benchmark in ("broadcast", "sweep3d"):
        if benchmark in sizes:
            largest = sizes[benchmark][-1]
            what = f"{largest.name} (largest): app-aware over the better of the two (`fails`)"
            rows.append(_row("D27", largest, what, largest.over_best, 1, "> 1"))
            if OURS[0] in largest.runs:
                over = largest.ratio(OURS[0]) / largest.ratio(APP_AWARE)
                what = f"{largest.name}: app-aware-h over app-aware (our aim)"
                rows.append(_row("D27", largest, what, over, 1, "< 1"))
    if "alltoall" in sizes:
        largest = sizes["alltoall"][-1]
        as_good, share = largest.ratio(APP_AWARE), largest.default_share
        what = f"{largest.name} (largest): app-aware over Default (`as good`)"
        rows.append(_row("D27", largest, what, as_good, 1, f"<= {CLOSE:g}"))
        rows.append(
            _share(
                "D27", [largest], f"{largest.name} (largest): bytes that app-aware sends with Default", share, "< 100"
            )
        )
        middle = next((cell for cell in sizes["alltoall"] if cell.name.endswith("1 KiB")), None)
        if middle:
            what = f"{middle.name}: app-aware over the better of the two (`slower`)"
            free = "reading counters takes no time here"
            rows.append(_row("D27", middle, what, middle.over_best, 1, "> 1", free, comparable=False))
    return rows


def compare_applications(runs: Runs) -> list[Row]:
    """D25 and D28 for applications."""
    known = cells(runs)
    said = {("FFT", 256): "< 1", ("FFT", 64): "> 1", ("MILC", 256): "< 1"}
    rows = [
        _row("D28", cell, f"{cell.name}: high bias over Default", cell.ratio(HIGH_BIAS), 1, said[name, nodes])
        for (name, _, nodes), cell in known.items()
        if (name, nodes) in said
    ]
    return [*rows, *_summary(list(known.values()), "D25")]


def _row(
    id_: str,
    cell: Cell,
    what: str,
    ours: float,
    theirs: float,
    tolerance: str,
    why: str = "",
    *,
    comparable: bool = True,
) -> Row:
    count = len(cell.runs[DEFAULT]["times_ps"])
    where = _WHERE if id_ != "D28" else "De Sensi 2019, section 5.2, figure 10"
    return statement(
        id_, what, ours, theirs, "x", tolerance, where, model=MODEL, messages=count, comparable=comparable, why=why
    )


def _share(id_: str, of: Sequence[Cell], what: str, ours: float, tolerance: str) -> Row:
    count = min(len(cell.runs[DEFAULT]["times_ps"]) for cell in of)
    return statement(id_, what, ours, 100, "%", tolerance, _WHERE, model=MODEL, messages=count)


def _table(known: Cells) -> str:
    lines = []
    for cell in known.values():
        base = float(np.median(cell.times(DEFAULT)))
        for policy, run in cell.runs.items():
            times = cell.times(policy)
            low, high = (end / base for end in notch(times))
            lines.append(
                [
                    cell.name if policy == DEFAULT else "",
                    f"`{policy}`",
                    str(len(times)),
                    f"{np.median(times) / 1e6:,.2f}",
                    "" if policy == DEFAULT else f"{cell.ratio(policy):.3f}",
                    f"{low:.3f} to {high:.3f}",
                    fixed(cell.qcd(policy), ".2%"),
                    fixed(run["default_share"], ".0%"),
                    f"{run['latency_ps'] / 1e6:.2f}",
                    f"{run['stalls']:.3f}",
                    fixed(run["minimal"], ".0%"),
                    fixed(run["optical"], ".0%"),
                ]
            )
    head = ["benchmark", "policy", "n", "median, µs", "over Default", "notch", "QCD", "sent with Default"]
    return table([*head, "L, µs", "s", "minimal", "cables"], lines, "ll" + "r" * 10)


_SAID = {
    "fig8": {
        "system": "Piz Daint",
        "number": "8",
        "paper": "It used 1,024 nodes on 257 routers in six groups of Piz Daint.",
    },
    "fig9": {
        "system": "Cori",
        "number": "9",
        "paper": "It used 64 nodes on 33 routers in five groups of Cori.",
    },
}


def _halo(known: Cells) -> str:
    """What size means for halo3d, and what its largest send is."""
    edges = [int(size) for name, size, _ in known if name == "halo3d"]
    if not edges:
        return ""
    sent = max(edges) ** 2 * VALUES * DOUBLE // 1024
    return (
        f"The size of halo3d is the cells along an edge of what a rank holds, with {VALUES} values of {DOUBLE} B for "
        "each cell, so a send of 1024^3 is 64 MiB, as the paper states in section 6; the largest send here is "
        f"{sent:,} KiB."
    )


def _of_runs(runs: Runs) -> dict[str, str]:
    """Values of the page."""
    first = runs[0]
    known = cells(runs)
    best = {key: min(cell.runs, key=cell.ratio) for key, cell in known.items()}
    simulated = [policy for policy in (*POLICIES, *OURS) if any(policy in cell.runs for cell in known.values())]
    wins = {policy: sum(best_policy == policy for best_policy in best.values()) for policy in simulated}
    return {
        "cells": _table(known),
        "nodes": str(first["nodes"]),
        "routers": str(first["routers"]),
        "groups": str(MACHINES[first["machine"]]["groups"]),
        "halo": _halo(known),
        "count": str(len(known)),
        "wins": ", ".join(f"`{policy}` in {number}" for policy, number in wins.items()),
        "high": str(sum(cell.ratio(HIGH_BIAS) < 1 for cell in known.values())),
        "mid": fixed(median(cell.ratio(HIGH_BIAS) for cell in known.values()) - 1, "+.1%"),
        "aware": fixed(median(cell.ratio(APP_AWARE) for cell in known.values()) - 1, "+.1%"),
    }


def _page(name: str) -> Page:
    if name not in _SAID:
        return page_of(name, _of_runs)
    return page_of("benchmarks", _of_runs, {"name": f"desensi2019-{name}", "figure": name, **_SAID[name]})


def draw(_: Sequence[Row], runs: Runs) -> Figure:
    """Boxes for each policy, normalised to the median of the default; as in the paper, without outliers."""
    known = cells(runs)
    names = list(dict.fromkeys(key[0] for key in known))
    by_name = [[cell for key, cell in known.items() if key[0] == name] for name in names]
    rows = 2 if len(known) > 8 else 1
    half = -(-len(names) // rows)
    with settings():
        made = figure(13, 3.6 * rows)
        for row, part in enumerate(made.subfigures(rows, 1, squeeze=False)[:, 0]):
            mine = slice(row * half, (row + 1) * half)
            widths = [len(of_benchmark) for of_benchmark in by_name[mine]]
            grid = part.subplots(1, len(widths), squeeze=False, width_ratios=widths, sharey=True)[0]
            for axes, name, of_benchmark in zip(grid, names[mine], by_name[mine], strict=True):
                _boxes(axes, of_benchmark)
                axes.set_title(name)
            grid[0].set_ylabel("time over the median of Default")
            if not row:
                colours = zip((*POLICIES, *OURS), SERIES, strict=False)
                patches = [Patch(facecolor=colour, edgecolor="0.3", label=policy) for policy, colour in colours]
                shown = patches if any(OURS[0] in cell.runs for cell in known.values()) else patches[: len(POLICIES)]
                grid[0].legend(handles=shown, fontsize=7)
    return made


def _boxes(axes: Axes, of_benchmark: Sequence[Cell]) -> None:
    labels = []
    for at, cell in enumerate(of_benchmark):
        base = float(np.median(cell.times(DEFAULT)))
        for number, policy in enumerate(cell.runs):
            axes.boxplot(
                cell.times(policy) / base,
                positions=[at + (number - (len(cell.runs) - 1) / 2) * 0.84 / len(cell.runs)],
                widths=0.7 / len(cell.runs),
                showfliers=False,
                manage_ticks=False,
                patch_artist=True,
                medianprops={"color": "black"},
                boxprops={"facecolor": SERIES[number], "edgecolor": "0.3"},
            )
        label = cell.name.partition(", ")[2]
        labels.append("\n".join(filter(None, (label, f"{base / 1e6:,.1f} µs", f"{cell.default_share:.0f} %"))))
    axes.axhline(1, color="0.5", lw=0.8)
    axes.set_xticks(range(len(of_benchmark)), labels, fontsize=7.5)
    axes.set_xlim(-0.5, len(of_benchmark) - 0.5)
    axes.grid(axis="y", color="0.9")


ALL = {
    f"desensi2019-{name}": Reproduction(
        name=f"desensi2019-{name}",
        title=title,
        points=points,
        make=make,
        rows=rows,
        text=_page(name),
        picture=draw,
        keep=keep,
    )
    for name, title, points, rows in (
        ("fig8", "Seven microbenchmarks under three routing policies on Piz Daint (De Sensi 2019)", points8, compare),
        ("fig9", "Seven microbenchmarks under three routing policies on Cori (De Sensi 2019)", points9, compare),
        (
            "fig10",
            "Proxies of applications under three routing policies (De Sensi 2019)",
            points10,
            compare_applications,
        ),
    )
}
