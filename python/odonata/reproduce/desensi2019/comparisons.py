"""`desensi2019-fig8`, `-fig9` and `-fig10`: benchmarks under three policies (De Sensi 2019, section 5; D24 to D28)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.patches import Patch

from odonata import units
from odonata.analysis.dispersion import notch, qcd
from odonata.plot.style import SERIES, figure, settings
from odonata.reproduce.desensi2019.benchmarks import (
    APP_AWARE,
    DEFAULT,
    HIGH_BIAS,
    MILC_COMPUTING,
    OURS,
    POLICIES,
    VALUES,
    WITH_COMPUTING,
    WITHOUT_COMPUTING,
    edge,
    keep,
    make,
)
from odonata.reproduce.desensi2019.page import MODEL, judged, page_of
from odonata.reproduce.desensi2019.relations import Median, median_of
from odonata.reproduce.desensi2019.setting import MACHINES, UNIFORM
from odonata.reproduce.desensi2019.sizes import READ, points8, points9, points10
from odonata.reproduce.desensi2019.surroundings import WHOLE
from odonata.reproduce.markdown import comparable, number, reasons, table
from odonata.reproduce.reproduction import Reproduction
from odonata.reproduce.rows import explained_by_model, statement, without_cause
from odonata.scenario.apps.halos import DOUBLE
from odonata.text.numbers import fixed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from odonata.reproduce.page import Page
    from odonata.reproduce.reproduction import Runs
    from odonata.reproduce.rows import Row

LARGE_SIZES = {"alltoall": "32 KiB", "broadcast": "1 MiB", "halo3d": "96", "sweep3d": "1024"}
"""Benchmark -> its size that counts as large: the largest here. The paper's cannot be read from its text."""
LARGE = {"alltoall", "broadcast", "halo3d"}
"""Benchmarks whose large sizes are faster with the default (D26)."""
CLOSE = 1.05
"""What counts as the best of the two static policies: at most this much slower. Assumed."""
FEWEST = 9
"""Iterations with fewer than these have no dispersion to compare."""
RESAMPLES = 1000
"""Of the iterations, for the intervals of shares of the benchmarks."""


@dataclass(frozen=True)
class Cell:
    """A benchmark of one size on one allocation beside one background."""

    benchmark: str
    size: str
    nodes: int
    background: str
    runs: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    """Policy -> its run."""
    reading: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    """Time to read counters -> the run of the published algorithm."""

    @property
    def name(self) -> str:
        """The cell in words, without its background."""
        return ", ".join(filter(None, (self.benchmark, self.size, f"{self.nodes:,} nodes")))

    def times(self, policy: str) -> Any:
        """The times of its iterations, in picoseconds."""
        return np.array(self.runs[policy]["times_ps"])

    def ratio(self, policy: str) -> float:
        """Its median time over that of the default."""
        return float(np.median(self.times(policy)) / np.median(self.times(DEFAULT)))

    def over(self, policy: str, other: str = DEFAULT) -> Median:
        """The median of its times over those of the other in the same iterations, with its interval."""
        return median_of((self.times(policy) / self.times(other)).tolist())

    @property
    def dispersed(self) -> bool:
        """Whether it has enough iterations for a dispersion."""
        return len(self.runs[DEFAULT]["times_ps"]) >= FEWEST

    @property
    def best(self) -> str:
        """The better of the two static policies."""
        return min((DEFAULT, HIGH_BIAS), key=self.ratio)

    def qcd(self, policy: str) -> float:
        """The dispersion of its times."""
        return qcd(self.times(policy)) or 0.0

    @property
    def default_share(self) -> float:
        """Percentage of the bytes that the published algorithm sends with the default (D24)."""
        return float(100 * self.runs[APP_AWARE]["default_share"])

    def resampled(self, rng: np.random.Generator) -> Cell:
        """The same iterations of every policy, drawn with replacement."""
        count = min(len(run["times_ps"]) for run in self.runs.values())
        drawn = rng.integers(count, size=count)
        made = replace(self, runs={})
        for policy, run in self.runs.items():
            made.runs[policy] = {**run, "times_ps": self.times(policy)[drawn]}
        return made


def cells(runs: Runs) -> list[Cell]:
    """The runs by benchmark, size, nodes and background."""
    made: dict[tuple[Any, ...], Cell] = {}
    for run in runs:
        key = tuple(run[name] for name in ("benchmark", "size", "nodes", "background"))
        cell = made.setdefault(key, Cell(*key))
        if units.time_ps(run["read"]):
            cell.reading[run["read"]] = run
        else:
            cell.runs[run["policy"]] = run
    return list(made.values())


_WHERE = "De Sensi 2019, section 5.1, figures 8 and 9"


def compare(runs: Runs) -> list[Row]:
    """D24 to D27 for microbenchmarks, beside each background; with other metrics D26 alone."""
    of_models: dict[str, list[Mapping[str, Any]]] = {}
    for run in runs:
        of_models.setdefault(run.get("sensing", MODEL), []).append(run)
    rows = [
        replace(row, model=model)
        for model, some in of_models.items()
        for row in (_compare(some) if model in (MODEL, WHOLE) else _sensed(cells(some)))
    ]
    others = {row.what for row in rows if row.model not in (MODEL, WHOLE)}
    beside = _spread(cells(of_models.get(MODEL, []))) if others else []
    return [*rows, *(row for row in beside if row.what in others)]


CALMER = "QCD is lower with high bias than with Default (`almost all`)"


def _sensed(known: list[Cell]) -> list[Row]:
    """D26 with another metric: of the benchmarks that have it, and of each its dispersion."""
    rows = [
        _ratio("D26", cell, "high bias over Default", cell.over(HIGH_BIAS), "< 1")
        for cell in known
        if cell.benchmark in ("ping-pong", "barrier")
    ]
    return [*rows, _share("D26", known, f"of {len(known)} benchmarks: {CALMER}", _calmer, ">= 80"), *_spread(known)]


def explained(rows: Sequence[Row]) -> list[Row]:
    """What another metric misses and that of the machine gives has the metric as its cause."""
    others = {row.model for row in rows} - {MODEL}
    why = "another congestion metric than that of the machine"
    return explained_by_model(without_cause(rows, why), MODEL, others, why, f"the same row of the model *{MODEL}*")


EACH = "the paper's statement is on all benchmarks together"


def _spread(known: list[Cell]) -> list[Row]:
    """The dispersion of each benchmark that was simulated with several metrics, without a verdict."""
    made = []
    for cell in known:
        if cell.qcd(DEFAULT) > 0:
            ours = cell.qcd(HIGH_BIAS) / cell.qcd(DEFAULT)
            what = _said(cell, f"{cell.name}: QCD with high bias over that with Default")
            count = len(cell.times(DEFAULT))
            made.append(
                statement("D26", what, ours, 1, "x", "< 1", _WHERE, model=MODEL, comparable=False, why=EACH,
                          messages=count)
            )  # fmt: skip
    return made


def _compare(runs: Runs) -> list[Row]:
    known = cells(runs)
    return [
        row
        for background in dict.fromkeys(cell.background for cell in known)
        for row in _beside([cell for cell in known if cell.background == background])
    ]


def _beside(known: list[Cell]) -> list[Row]:
    rows = [
        _ratio("D26", cell, "high bias over Default", cell.over(HIGH_BIAS), "< 1")
        for cell in known
        if cell.benchmark in ("ping-pong", "barrier")
    ]
    # Of the same size on several numbers of nodes, the paper's counts.
    by_nodes = sorted(known, key=lambda cell: cell.nodes)
    largest = {cell.benchmark: cell for cell in by_nodes if LARGE_SIZES.get(cell.benchmark) == cell.size}
    rows += [
        _ratio("D26", cell, "high bias over Default", cell.over(HIGH_BIAS), "> 1", "largest")
        for name, cell in largest.items()
        if name in LARGE
    ]
    if any(cell.dispersed for cell in known):
        rows.append(_share("D26", known, CALMER, _calmer, ">= 80"))
    if _grown(known):
        what = "of the benchmarks: QCD of Default is lower at the largest size than at the smallest"
        rows.append(_share("D26", known, what, _falling, ">= 100"))
    rows += _summary(known)
    rows += _failures(largest)
    rows += _reading(known)
    return rows


def _grown(known: Sequence[Cell]) -> list[list[Cell]]:
    """The sizes of each benchmark on the same nodes, if there are several."""
    by: dict[tuple[str, int], list[Cell]] = {}
    for cell in known:
        if cell.dispersed:
            by.setdefault((cell.benchmark, cell.nodes), []).append(cell)
    return [sorted(of, key=lambda cell: edge(cell.size)) for of in by.values() if len(of) > 1]


def _calmer(known: Sequence[Cell]) -> float:
    return 100 * float(np.mean([cell.qcd(HIGH_BIAS) < cell.qcd(DEFAULT) for cell in known if cell.dispersed]))


def _falling(known: Sequence[Cell]) -> float:
    return 100 * float(np.mean([of[-1].qcd(DEFAULT) < of[0].qcd(DEFAULT) for of in _grown(known)]))


def _close(known: Sequence[Cell]) -> float:
    return 100 * float(np.mean([cell.over(APP_AWARE, cell.best).value <= CLOSE for cell in known]))


def _summary(known: Sequence[Cell]) -> list[Row]:
    what = f"app-aware is at most {CLOSE - 1:.0%} slower than the better of the two (`most of the times`)"
    fastest = min(known, key=lambda cell: cell.ratio(APP_AWARE))
    gain = fastest.over(DEFAULT, APP_AWARE)
    return [
        _share("D24", known, what, _close, "> 50"),
        _judged("D25", fastest, "largest speed-up of app-aware over Default", gain, 2, "x", "25 %", _WHERE),
    ]


def _failures(largest: Mapping[str, Cell]) -> list[Row]:
    rows = []
    for benchmark in ("broadcast", "sweep3d"):
        if benchmark in largest:
            cell = largest[benchmark]
            what = "app-aware over the better of the two (`fails`)"
            rows.append(_ratio("D27", cell, what, cell.over(APP_AWARE, cell.best), "> 1", "largest"))
            rows += [
                _ratio("D27", cell, f"{ours} over app-aware (our aim)", cell.over(ours, APP_AWARE), "< 1")
                for ours in OURS
                if ours in cell.runs
            ]
    if "alltoall" in largest:
        cell = largest["alltoall"]
        what = "app-aware over Default (`as good`)"
        rows.append(_ratio("D27", cell, what, cell.over(APP_AWARE), f"<= {CLOSE:g}", "largest"))
        what = f"{cell.name} (largest): bytes that app-aware sends with Default"
        rows.append(
            statement("D27", _said(cell, what), cell.default_share, 100, "%", "< 100", _WHERE, model=MODEL,
                      messages=len(cell.times(APP_AWARE)))
        )  # fmt: skip
    return rows


def _reading(known: Sequence[Cell]) -> list[Row]:
    """What it costs to read counters: without that cost, and with assumed ones."""
    free = "the paper does not state what reading counters costs; here it takes no time"
    assumed = "the paper does not state what reading counters costs"
    rows = []
    for cell in known:
        if (cell.benchmark, cell.size) != READ[0]:
            continue
        what = "app-aware over the better of the two (`slower`)"
        rows.append(_ratio("D27", cell, what, cell.over(APP_AWARE, cell.best), "> 1", why=free))
        for read, run in cell.reading.items():
            slow = replace(cell, runs={**cell.runs, APP_AWARE: run})
            words = f"reading counters takes {read}: {what}"
            rows.append(_ratio("D27", slow, words, slow.over(APP_AWARE, cell.best), "> 1", why=assumed))
    return rows


def compare_applications(runs: Runs) -> list[Row]:
    """D24, D25 and D28 for applications, beside each background."""
    said = {
        ("FFT", 256): ("high bias over Default", "< 1"),
        ("FFT", 64): ("high bias over Default", "> 1"),
        (WITH_COMPUTING, 256): ("high bias over Default", "< 1"),
        (WITHOUT_COMPUTING, 256): ("high bias over Default (`halo3d does not perform any computation`)", "> 1"),
    }
    rows = []
    for background in dict.fromkeys(run["background"] for run in runs):
        known = [cell for cell in cells(runs) if cell.background == background]
        for cell in known:
            if (cell.benchmark, cell.nodes) in said:
                what, tolerance = said[cell.benchmark, cell.nodes]
                rows.append(_ratio("D28", cell, what, cell.over(HIGH_BIAS), tolerance))
        rows += _summary(known)
    return rows


def _said(cell: Cell, what: str) -> str:
    return f"`{cell.background}`: {what}"


def _ratio(id_: str, cell: Cell, what: str, ours: Median, tolerance: str, size: str = "", why: str = "") -> Row:
    """A statement on the ratio of two policies; `why` says why it cannot be compared."""
    name = f"{cell.name} ({size})" if size else cell.name
    where = _WHERE if id_ != "D28" else "De Sensi 2019, section 5.2, figure 10"
    return _judged(id_, cell, f"{name}: {what}", ours, 1, "x", tolerance, where, why)


def _judged(
    id_: str, cell: Cell, what: str, ours: Median, theirs: float, unit: str, tolerance: str, where: str, why: str = ""
) -> Row:
    why = why or ours.unsure
    row = statement(
        id_,
        _said(cell, what),
        ours.value,
        theirs,
        unit,
        tolerance,
        where,
        model=MODEL,
        why=why,
        messages=ours.count,
        comparable=not why,
        interval=(ours.low, ours.high),
    )
    return replace(row, repetitions=ours.count)


def _share(id_: str, known: Sequence[Cell], what: str, of: Callable[[Sequence[Cell]], float], tolerance: str) -> Row:
    """A share of the benchmarks, with its interval over resampled iterations (percentiles of a bootstrap)."""
    rng = np.random.default_rng(1)
    drawn = [of([cell.resampled(rng) for cell in known]) for _ in range(RESAMPLES)]
    low, high = (float(end) for end in np.percentile(drawn, (2.5, 97.5)))
    count = min(len(cell.times(DEFAULT)) for cell in known if of is _close or cell.dispersed)
    ours = Median(of(known), low, high, count)
    return _judged(id_, known[0], what, ours, 100, "%", tolerance, _WHERE)


def _table(known: Sequence[Cell]) -> str:
    lines = []
    for cell in known:
        base = float(np.median(cell.times(DEFAULT)))
        for policy, run in cell.runs.items():
            times = cell.times(policy)
            low, high = (end / base for end in notch(times))
            lines.append(
                [
                    cell.name if policy == DEFAULT else "",
                    f"`{cell.background}`" if policy == DEFAULT else "",
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
    head = ["benchmark", "beside", "policy", "n", "median, µs", "over Default", "notch", "QCD", "sent with Default"]
    return table([*head, "L, µs", "s", "minimal", "cables"], lines, "lll" + "r" * 10)


_SAID = {
    "fig8": "The paper used 1,024 nodes on 257 routers in six groups of Piz Daint.",
    "fig9": "The paper used 64 nodes on 33 routers in five groups of Cori.",
}


def _halo(known: Sequence[Cell]) -> str:
    """What size means for halo3d, and what its largest send is."""
    edges = [int(cell.size) for cell in known if cell.benchmark == "halo3d"]
    if not edges:
        return ""
    sent = max(edges) ** 2 * VALUES * DOUBLE // 1024
    return (
        f"The size of halo3d is the cells along an edge of what a rank holds, with {VALUES} values of {DOUBLE} B for "
        "each cell, so a send of 1024^3 is 64 MiB, as the paper states in section 6; the largest send here is "
        f"{sent:,} KiB."
    )


def _smaller(runs: Runs) -> str:
    """What is smaller than in the paper, from the runs."""
    first = runs[0]
    at = sorted({run["nodes"] for run in runs if run["machine"] == first["machine"]})
    if len(at) == 1:
        return f"Here they are {at[0]:,} nodes on {first['routers']} routers as well."
    large = [cell for cell in cells(runs) if cell.nodes == at[-1] and cell.background == UNIFORM]
    sizes = "; ".join(filter(None, (cell.name.rpartition(", ")[0] for cell in large)))
    routers = next(run["routers"] for run in runs if run["nodes"] == at[-1])
    return (
        f"Here these benchmarks have as many nodes: {sizes} ({at[-1]:,} nodes on {routers} routers). All benchmarks "
        f"are also simulated on {at[0]:,} nodes on {first['routers']} routers, four of each as in the paper. A "
        "statement on a large size is about as many nodes as in the paper where that size has them."
    )


def _late(known: Sequence[Cell]) -> str:
    """Where iterations take longer than their interval, so that policies do not begin them at the same times."""
    late = [
        f"{cell.name} (`{cell.background}`)"
        for cell in known
        if any(np.median(run["times_ps"]) > units.time_ps(run["every"]) for run in cell.runs.values())
    ]
    return "none" if not late else "; ".join(late)


def _of_runs(runs: Runs) -> dict[str, str]:
    """Values of the page, of its main model."""
    runs = [run for run in runs if run.get("sensing", MODEL) == MODEL]
    if not runs:
        return {}
    first = runs[0]
    known = cells(runs)
    best = [min(cell.runs, key=cell.ratio) for cell in known]
    simulated = [policy for policy in (*POLICIES, *OURS) if any(policy in cell.runs for cell in known)]
    return {
        "cells": _table(known),
        "nodes": str(first["nodes"]),
        "routers": str(first["routers"]),
        "computing": MILC_COMPUTING.replace("us", "µs"),
        "groups": str(MACHINES[first["machine"]]["groups"]),
        "smaller": _smaller(runs),
        "halo": _halo(known),
        "fewest": str(FEWEST),
        "late": _late(known),
        "resamples": f"{RESAMPLES:,}",
        "count": str(len(known)),
        "wins": ", ".join(f"`{policy}` in {best.count(policy)}" for policy in simulated),
        "high": str(sum(cell.ratio(HIGH_BIAS) < 1 for cell in known)),
        "mid": fixed(median(cell.ratio(HIGH_BIAS) for cell in known) - 1, "+.1%"),
        "aware": fixed(median(cell.ratio(APP_AWARE) for cell in known) - 1, "+.1%"),
    }


def _of_rows(rows: Sequence[Row]) -> dict[str, str]:
    main = [row for row in rows if row.model == MODEL]
    return {
        "statements": judged(comparable(main)),
        "reasons": reasons(main) or "None.",
        **_metrics(rows),
    }


def _metrics(rows: Sequence[Row]) -> dict[str, str]:
    """The rows with other congestion metrics, a column for each."""
    others = [row for row in rows if row.model != MODEL]
    if not others:
        return {"metrics": ""}
    names = list(dict.fromkeys(row.model for row in others))
    shares = {row.model: row for row in rows if row.what.endswith(CALMER) and UNIFORM in row.what}
    by = {(row.what, row.model): row for row in rows}
    lines = []
    shown = [row.what for row in others if row.model != WHOLE or "1,024 nodes (largest)" in row.what]
    for what in dict.fromkeys(shown):
        cells_ = [_with_verdict(by.get((what, name))) for name in (*names, MODEL)]
        lines.append([what, *cells_])
    columns = table(["what", *names, MODEL], lines, "l" + "r" * (1 + len(names)))
    said = ", ".join(
        f"`{name}` {number(row.ours, '%')} % ({_interval(row)}{row.verdict})" for name, row in shares.items()
    )
    return {"metrics": _METRICS.format(share=said, table=columns)}


_METRICS = """\
### Which conclusion depends on the congestion metric

Aries estimates the congestion of a path by local queues and by the credits of the far end (De Sensi 2019, section 2.2).
`occupancy`, the default (`simulated`), counts a packet once, in its own router or behind the link, as this says;
`both-late` counts it twice from its commit until it has left, and `backlog` sees only the own router. How late routers
learn of credits is not published: `simulated` has the latency of the wire, `occupancy-late` and `both-late` have a
round trip more (assumed). The metric was not chosen by these results.

{table}

How far "high bias reduces variability in almost all cases" holds depends on it: the share of the benchmarks is
{share}. Of few benchmarks, intervals are wide and overlap. That high bias is faster for small messages does not depend
on the metric. The share of `simulated` is over more benchmarks and sizes than the others.
"""


def _interval(row: Row) -> str:
    low, high = row.interval or (row.ours, row.ours)
    return f"{number(low, '%')} to {number(high, '%')}, "


def _with_verdict(row: Row | None) -> str:
    if row is None:
        return ""
    return f"{number(row.ours, row.unit)} {row.unit}" + (f", {row.verdict}" if row.verdict != "not comparable" else "")


def _page(name: str) -> Page:
    if name not in _SAID:
        return page_of(name, _of_runs, of_rows=_of_rows)
    return page_of("benchmarks", _of_runs, {"figure": name, "paper": _SAID[name]}, of_rows=_of_rows)


def draw(_: Sequence[Row], runs: Runs) -> Figure | None:
    """Boxes for each policy, normalised to the median of the default; as in the paper, without outliers. None without
    runs of the main model.

    One or two rows for each background.
    """
    known = cells([run for run in runs if run.get("sensing", MODEL) == MODEL])
    if not known:
        return None
    names = list(dict.fromkeys(cell.benchmark for cell in known))
    backgrounds = list(dict.fromkeys(cell.background for cell in known))
    parts = 2 if len(names) > 4 else 1
    half = -(-len(names) // parts)
    rows = [(background, names[at * half : (at + 1) * half]) for background in backgrounds for at in range(parts)]
    with settings():
        made = figure(11, 3.6 * len(rows))
        for row, part in enumerate(made.subfigures(len(rows), 1, squeeze=False)[:, 0]):
            background, mine = rows[row]
            by_name = [[c for c in known if (c.benchmark, c.background) == (name, background)] for name in mine]
            mine = [name for name, of_benchmark in zip(mine, by_name, strict=True) if of_benchmark]
            by_name = list(filter(None, by_name))
            widths = [len(of_benchmark) for of_benchmark in by_name]
            grid = part.subplots(1, len(widths), squeeze=False, width_ratios=widths, sharey=True)[0]
            for axes, name, of_benchmark in zip(grid, mine, by_name, strict=True):
                _boxes(axes, of_benchmark)
                axes.set_title(name)
            grid[0].set_ylabel(f"beside {background}:\ntime over the median of Default")
            if not row:
                colours = zip((*POLICIES, *OURS), SERIES, strict=False)
                patches = [Patch(facecolor=colour, edgecolor="0.3", label=policy) for policy, colour in colours]
                shown = patches if any(OURS[0] in cell.runs for cell in known) else patches[: len(POLICIES)]
                grid[0].legend(handles=shown)
    return made


def _boxes(axes: Axes, of_benchmark: Sequence[Cell]) -> None:
    labels = []
    for at, cell in enumerate(of_benchmark):
        base = float(np.median(cell.times(DEFAULT)))
        for turn, policy in enumerate(cell.runs):
            axes.boxplot(
                cell.times(policy) / base,
                positions=[at + (turn - (len(cell.runs) - 1) / 2) * 0.84 / len(cell.runs)],
                widths=0.7 / len(cell.runs),
                showfliers=False,
                manage_ticks=False,
                patch_artist=True,
                medianprops={"color": "black"},
                boxprops={"facecolor": SERIES[turn], "edgecolor": "0.3"},
            )
        label = "\n".join(cell.name.split(", ")[1:])
        labels.append("\n".join(filter(None, (label, f"{base / 1e6:,.1f} µs", f"{cell.default_share:.0f} %"))))
    axes.axhline(1, color="0.5", lw=0.8)
    axes.set_xticks(range(len(of_benchmark)), labels, fontsize=8)
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
        model_key="sensing",
        explain=explained,
    )
    for name, title, points, rows in (
        ("fig8", "Seven microbenchmarks under three routing policies on Piz Daint (De Sensi 2019)", points8, compare),
        ("fig9", "Seven microbenchmarks under three routing policies on Cori (De Sensi 2019)", points9, compare),
        (
            "fig10",
            "Applications under three routing policies (De Sensi 2019)",
            points10,
            compare_applications,
        ),
    )
}
