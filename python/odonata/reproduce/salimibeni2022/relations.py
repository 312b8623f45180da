"""What Salimi Beni 2022 says of b, locality, routing and applications, as relations between simulated times."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from odonata import machine
from odonata.analysis.correlation import Correlation, correlate
from odonata.analysis.dispersion import Dispersion, describe
from odonata.analysis.peaks import Peaks, count_peaks
from odonata.placement import Placer
from odonata.reproduce.rows import Row, statement
from odonata.reproduce.salimibeni2022.queue import LOCALITIES, NODES, RULE, SYSTEM, allocations, others
from odonata.reproduce.salimibeni2022.runs import (
    APP_QUEUES,
    APPLICATIONS,
    COLLECTIVES,
    DRAWN,
    DRAWS,
    FAR,
    LONG,
    MINIMAL,
    QUEUES,
    ROUTING,
    SIZES,
    utilisation,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from numpy.typing import NDArray

    from odonata.reproduce.reproduction import Runs

MODEL = "simulated"
_SOURCE = "Salimi Beni 2022"
FACTOR = "25 %"
"""Tolerance of a factor that the paper states: as for those of De Sensi 2019 (D19, D25). Assumed."""
_SET = "chosen for the simulation, not measured"
_FEW = "too few different values for the test of peaks"
_NONE = "adaptive routing has one peak too, so there is none that minimal routing could remove"


@dataclass(frozen=True)
class Measured:
    """The iterations of one run."""

    b: float
    """By equation 2."""
    times_ps: NDArray[np.float64]
    """Of the slowest rank (shape `(n,)`)."""
    run: Mapping[str, Any]

    @property
    def dispersion(self) -> Dispersion:
        """Quartiles and tail."""
        return describe(self.times_ps)

    @property
    def peaks(self) -> Peaks | None:
        """Silverman's test."""
        return count_peaks(self.times_ps)

    @property
    def narrowest_half(self) -> float:
        """Length of the shortest interval with half of the times, in picoseconds: the higher the peak, the shorter."""
        ascending = np.sort(self.times_ps)
        half = (len(ascending) + 1) // 2
        return float((ascending[half:] - ascending[:-half]).min())

    @property
    def tail_ps(self) -> float:
        """From the median to the 99 % quantile."""
        return self.dispersion.p99 - self.dispersion.median


@dataclass(frozen=True)
class Plot:
    """A panel of figure 4."""

    app: str
    size: str
    b: NDArray[np.float64]
    means_ps: NDArray[np.float64]
    correlation: Correlation


def find(runs: Runs, **wanted: Any) -> Measured | None:
    """The first run with these values."""
    for run in runs:
        if all(run[key] == value for key, value in wanted.items()):
            return Measured(utilisation(run["draw"], run["load"]), np.asarray(run["times_ps"], np.float64), run)
    return None


def at(runs: Runs, app: str, queue: str, locality: str = FAR, routing: str = ROUTING) -> Measured | None:
    """The distribution of a collective (of the size `DRAWN`), or of an application, beside a queue."""
    draw, load = QUEUES[queue]
    size = DRAWN if app in COLLECTIVES else ""
    return find(runs, app=app, size=size, locality=locality, routing=routing, draw=draw, load=load)


def plots(runs: Runs, apps: Iterable[str] = COLLECTIVES, sizes: Iterable[str] = SIZES) -> list[Plot]:
    """The panels of figure 4 that were simulated, of these collectives and sizes."""
    queues = set(DRAWS)
    made = []
    for app in apps:
        for size in sizes:
            mine = [
                run
                for run in runs
                if (run["app"], run["size"], run["locality"], run["routing"]) == (app, size, FAR, ROUTING)
                and (run["draw"], run["load"]) in queues
            ]
            if len(mine) >= 4:
                b = np.array([utilisation(run["draw"], run["load"]) for run in mine])
                means = np.array([np.mean(run["times_ps"]) for run in mine])
                made.append(Plot(app, size, b, means, correlate(b, means, names=("b", "the mean time"))))
    return made


def busiest_over_calmest(runs: Runs, app: str) -> float:
    """Mean of the times of the longest size beside the three queues of highest b, over that beside the three lowest."""
    (times,) = plots(runs, [app], [LONG])
    ascending = times.means_ps[np.argsort(times.b)]
    return float(ascending[-3:].mean() / ascending[:3].mean())


def compare(runs: Runs) -> list[Row]:
    """A row for each statement that the runs can answer."""
    return [*_correlations(runs), *_localities(runs), *_backgrounds(runs), *_applications(runs), *_queues(runs)]


ELSEWHERE = (("V13", ""), ("V11", "ρ of b with the mean, broadcast, 4 B"))
"""Rows, and beginnings of their statements, that another page judges on more: V13 on nine pairs of queues
(`salimi-beni2022-tapering`), V11 of the shortest broadcast with five mixes of other jobs (`salimi-beni2022-mix`)."""


def judged_here(rows: Sequence[Row]) -> list[Row]:
    """The rows without those that another page judges: one statement has one verdict."""
    return [row for row in rows if not any(row.id == id_ and row.what.startswith(what) for id_, what in ELSEWHERE)]


def _row(
    id_: str,
    what: str,
    ours: float,
    theirs: float,
    unit: str,
    tolerance: str,
    where: str,
    *,
    n: int = 1,
    why: str = "",
    comparable: bool = True,
    interval: tuple[float, float] | None = None,
) -> Row:
    where = f"{_SOURCE}, {where}"
    return statement(
        id_,
        what,
        ours,
        theirs,
        unit,
        tolerance,
        where,
        model=MODEL,
        messages=n,
        why=why,
        comparable=comparable,
        interval=interval,
    )


def _correlations(runs: Runs) -> list[Row]:
    """Figure 4."""
    where = "section 5.2, figure 4"
    drawn = plots(runs)
    of = {(measured.app, measured.size): measured.correlation for measured in drawn}
    rows = [
        _row(
            "V11",
            f"ρ of b with the mean, {app}, {size}",
            correlation.spearman.value,
            0,
            "rho",
            "> 0",
            where,
            n=correlation.n,
            interval=correlation.spearman.interval,
        )
        for (app, size), correlation in of.items()
    ]
    first, last = next(iter(SIZES)), LONG
    for app in COLLECTIVES:
        if (app, first) in of and (app, last) in of:
            rise = of[app, last].spearman.value - of[app, first].spearman.value
            what = f"ρ with {last} minus ρ with {first}, {app}"
            rows.append(_row("V12", what, rise, 0, "rho", "> 0", where))
    for size in ("32 KiB", LONG):
        values = {app: of[app, size].spearman.value for app in COLLECTIVES if (app, size) in of}
        if len(values) == len(COLLECTIVES):
            more = values.pop("reduce") - max(values.values())
            rows.append(_row("V12", f"ρ of reduce minus the largest other, {size}", more, 0, "rho", ">= 0", where))
    if drawn:
        strong = sum(abs(correlation.spearman.value) >= abs(correlation.pearson.value) for correlation in of.values())
        share = 100 * strong / len(of)
        rows.append(_row("V12", "plots in which ρ is at least as strong as r", share, 50, "%", "> 50", where))
    return rows


def _localities(runs: Runs) -> list[Row]:
    """Figures 1 and 3: one middle b, three allocations."""
    where = "section 4.1, figure 3"
    rows = []
    drawn = {
        (app, locality): measured
        for app in COLLECTIVES
        for locality in LOCALITIES
        if (measured := at(runs, app, "middle", locality)) is not None
    }
    if len(drawn) < len(COLLECTIVES) * len(LOCALITIES):
        return []
    group, island, far = LOCALITIES
    reduce = drawn["reduce", far].dispersion
    ratio = reduce.mean / reduce.median
    rows.append(_row("V6", "reduce, different islands: mean over median", ratio, 1, "x", "> 1", "figure 1", n=reduce.n))
    for app in COLLECTIVES:
        for near, wide in pairwise(LOCALITIES):
            longer = (drawn[app, wide].tail_ps - drawn[app, near].tail_ps) / 1e6
            what = f"{app}: tail (p99 - median) of {wide} minus that of {near}"
            rows.append(_row("V7", what, longer, 0, "us", "> 0", where))
    means = {key: measured.dispersion.mean for key, measured in drawn.items()}
    same = means["reduce", island] / means["reduce", group]
    rows.append(_row("V7", "reduce: mean of same-island over same-group", same, 1.18 / 1.17, "x", "± 0.05", where))
    more = means["reduce", far] / means["reduce", group]
    rows.append(_row("V7", "reduce: mean of different-islands over same-group", more, 1.4 / 1.17, "x", FACTOR, where))
    for locality in LOCALITIES:
        rest = min(means[app, locality] for app in COLLECTIVES if app != "broadcast")
        what = f"{locality}: mean of broadcast over the fastest other"
        rows.append(_row("V7", what, means["broadcast", locality] / rest, 1, "x", "< 1", where))
    tail = drawn["alltoall", far].tail_ps / max(drawn[app, far].tail_ps for app in COLLECTIVES if app != "alltoall")
    rows.append(_row("V7", "different-islands: tail of alltoall over the longest other", tail, 1, "x", "> 1", where))
    return rows


def _backgrounds(runs: Runs) -> list[Row]:
    """Figure 5: a low and a high b, and the high one with minimal routing."""
    where = "section 5.3, figure 5"
    low = {app: measured for app in COLLECTIVES if (measured := at(runs, app, "low")) is not None}
    high = {app: measured for app in COLLECTIVES if (measured := at(runs, app, "high")) is not None}
    minimal = {app: measured for app in COLLECTIVES if (measured := at(runs, app, "high", routing=MINIMAL)) is not None}
    if not len(low) == len(high) == len(minimal) == len(COLLECTIVES):
        return []
    rows = []
    published = {"broadcast": 6.4, "alltoall": 1.6}
    for app in COLLECTIVES:
        mean = busiest_over_calmest(runs, app)
        what = f"{app}, {LONG}: mean beside the three highest b over the three lowest"
        tolerance = FACTOR if app in published else "> 1"
        rows.append(_row("V13", what, mean, published.get(app, 1), "x", tolerance, where))
        longer = (high[app].tail_ps - low[app].tail_ps) / 1e6
        rows.append(_row("V13", f"{app}: tail (p99 - median) at high b minus low b", longer, 0, "us", "> 0", where))
        peak = low[app].narrowest_half / high[app].narrowest_half
        rows.append(_row("V13", f"{app}: height of the peak at high b over low b", peak, 1, "x", "< 1", where))
    medians = {app: high[app].dispersion.median / low[app].dispersion.median for app in COLLECTIVES}
    most = medians.pop("alltoall") / max(medians.values())
    rows.append(_row("V13", "shift of the median of alltoall over the largest other", most, 1, "x", "> 1", where))
    for app in ("reduce", "alltoall"):
        for name, measured in ((ROUTING, high[app]), (MINIMAL, minimal[app])):
            several = name == ROUTING
            # Without a second peak under adaptive routing there is none that could vanish.
            answers = several or _count(high[app].peaks) > 1
            rows.append(
                _row(
                    "V13",
                    f"{app}: peaks at high b, {'adaptive' if several else 'minimal'} routing",
                    _count(measured.peaks),
                    2 if several else 1,
                    "peaks",
                    ">= 2" if several else "<= 1",
                    where,
                    n=len(measured.times_ps),
                    why=_FEW if measured.peaks is None else "" if answers else _NONE,
                    comparable=measured.peaks is not None and answers,
                )
            )
    for app in COLLECTIVES:
        more = 100 * (low[app].run["minimal"] - high[app].run["minimal"])
        what = f"{app}: share of non-minimal packets at high b minus low b"
        rows.append(_row("V13", what, more, 0, "%", "> 0", where))
    return rows


def _applications(runs: Runs) -> list[Row]:
    """Figure 6."""
    where = "section 5.4, figure 6"
    rows = []
    published = {"hacc": 1.43 / 1.37, "miniamr": 7.86 / 7.71}
    for app, names in APP_QUEUES.items():
        low, high = (at(runs, app, name) for name in names)
        alone = find(runs, app=app, load=0.0)
        if low is None or high is None or alone is None:
            continue
        ratio = high.dispersion.mean / low.dispersion.mean
        rows.append(
            _row("V14", f"{app}: mean at the higher b over the lower", ratio, published[app], "x", FACTOR, where)
        )
        # Peaks that are not tested are those of times that hardly differ: one.
        for name, measured in (("lower", low), ("higher", high)):
            count, wanted = _count(measured.peaks), "<= 1" if app == "hacc" else ">= 2"
            what = f"{app}: peaks at the {name} b"
            n = len(measured.times_ps)
            rows.append(_row("V14", what, count, 1 if app == "hacc" else 2, "peaks", wanted, where, n=n))
        if app == "hacc":
            reach = high.dispersion.maximum / low.dispersion.maximum
            what = "hacc: greatest time at the higher b over the lower"
            rows.append(_row("V14", what, reach, 2.5 / 2.1, "x", FACTOR, where))
        share = 100 * (1 - _computing_ps(app) / alone.dispersion.median)
        theirs = {"hacc": 67, "miniamr": 27}[app]
        what = f"{app}: share of MPI on an idle machine"
        rows.append(_row("V15", what, share, theirs, "%", "± 2", "section 5.4", why=_SET, comparable=False))
    return rows


def _queues(runs: Runs) -> list[Row]:
    """The queues themselves, without a simulation of packets."""
    if len({(run["draw"], run["load"]) for run in runs} & set(DRAWS)) < len(DRAWS):
        return []
    b = np.array([utilisation(*queue) for queue in DRAWS])
    usual = 100 * float(((b >= 0.4) & (b <= 0.7)).mean())
    several, single = spread_by_slurm()
    where = "section 4.1"
    return [
        _row("V16", "queues with b from 0.40 to 0.70", usual, 50, "%", "> 50", "section 6", why=_SET, comparable=False),
        _row(
            "V18", "full machines on which Slurm's rule spreads 16 nodes over islands", several, 50, "%", "> 50", where
        ),
        _row("V18", "full machines on which it finds 16 nodes on one switch", single, 50, "%", "< 50", where),
    ]


@lru_cache
def spread_by_slurm(load: float = 1.0) -> tuple[float, float]:
    """Per cent of the queues of figure 4 in which the rule gives a job of 16 nodes several islands, and one switch.

    At a load of 1 the machine is full, and the job waits until the oldest jobs have left enough nodes. The nodes of the
    three measured allocations do not count.
    """
    system = machine.load(SYSTEM)
    reserved = [node for nodes in allocations().values() for node in nodes]
    islands, switches = [], []
    free = system.shape.nodes - len(reserved)
    for draw, _ in DRAWS:
        running = others(draw, load)
        while sum(len(job.nodes) for job in running) + NODES > free:
            running = running[1:]
        held = [node for job in running for node in job.nodes]
        nodes = Placer(system, [*reserved, *held]).place(RULE, NODES).nodes
        islands.append(len(set(map(system.shape.group_of, nodes))))
        switches.append(len(set(map(system.shape.router_of, nodes))))
    return 100 * float(np.mean(np.array(islands) > 1)), 100 * float(np.mean(np.array(switches) == 1))


def _computing_ps(app: str) -> float:
    """Time that a rank of an application computes in an iteration."""
    from odonata import units

    return float(sum(units.time_ps(phase["compute"]) for phase in APPLICATIONS[app] if "compute" in phase))


def _count(of: Peaks | None) -> int:
    return 1 if of is None else of.count
