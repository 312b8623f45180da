"""The runs of a figure by setup and policy, what is computed of them, and statements about it."""

from __future__ import annotations

import re
import tomllib
from collections import defaultdict
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib.resources import files
from math import exp, isfinite, log
from statistics import mean, median, pstdev
from typing import TYPE_CHECKING, Any

from odonata.reproduce import rows
from odonata.reproduce.zhang2018.runs import (
    ALONE,
    AS_PUBLISHED,
    AS_RUN,
    CODED,
    GROUPING,
    JOKANOVIC,
    LEVEL_SPREAD,
    SEED_STEP,
    SIMPLE,
    SPREADING,
    TODAY,
    UGAL,
    WORKLOADS,
    patterns,
    setup_of,
    setup_of_workload,
    workloads_of,
)
from odonata.reproduce.zhang2018.workloads import MOTIFS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from odonata.reproduce.reproduction import Runs as Table
    from odonata.reproduce.rows import Row
    from odonata.reproduce.zhang2018.runs import Setup
    from odonata.reproduce.zhang2018.workloads import Workload

    Run = Mapping[str, Any]

ACRONYMS = {
    LEVEL_SPREAD: "LS",
    SIMPLE: "Simple",
    "slurm-zhang-sst": "Slurm",
    "random-groups": "RDG",
    "random-routers": "RDR",
    "round-robin-routers": "RRR",
    "random-nodes": "RDN",
    "round-robin-nodes": "RRN",
    JOKANOVIC: "Jokanovic",
    CODED: "Jokanovic as coded",
}


COMPACT = (LEVEL_SPREAD, *GROUPING)
"""Policies that put a job which fits into one group there."""
SPREAD = (LEVEL_SPREAD, *SPREADING)
"""Policies that spread a job which fits into no group."""


@dataclass(frozen=True)
class Runs:
    """The repetitions of a setup by policy, in the order of their seeds."""

    setup: Setup
    by_policy: Mapping[str, list[Run]]

    @property
    def clock(self) -> str:
        """Which time counts: of the last rank, or as run of the rank that the authors' code asks."""
        return "coded" if self.setup.routers == AS_RUN else "time"

    def time(self, policy: str, job_class: str) -> float:
        """Mean communication time over the repetitions, picoseconds."""
        return float(mean(run[f"{self.clock}_{job_class}"] for run in self.by_policy[policy]))

    def spread(self, policy: str, job_class: str) -> float:
        """Its standard deviation."""
        return float(pstdev(run[f"{self.clock}_{job_class}"] for run in self.by_policy[policy]))

    def over(self, policy: str, job_class: str, other: str = SIMPLE) -> float:
        """Time over that of another policy."""
        return self.time(policy, job_class) / self.time(other, job_class)

    def mean_of(self, policy: str, value: Callable[[Run], float]) -> float:
        """Mean of something else over the repetitions."""
        return mean(map(value, self.by_policy[policy]))


def gather(table: Iterable[Run]) -> list[Runs]:
    """What was simulated, in the order of the points."""
    by_setup: dict[Setup, dict[str, list[Run]]] = {}
    for run in table:
        by_setup.setdefault(setup_of(run), {}).setdefault(run["policy"], []).append(run)
    return [Runs(setup, by_policy) for setup, by_policy in by_setup.items()]


def by_routers(table: Table) -> dict[str, Table]:
    """Kind of routers -> its runs."""
    by_kind: dict[str, list[Run]] = {}
    for run in table:
        by_kind.setdefault(run["routers"], []).append(run)
    return dict(by_kind)


def mixed(table: Table, order: str) -> list[Runs]:
    """The random workloads as they were drawn, of one kind of routers."""
    return _of_workloads(table, workloads_of(table[0]["routers"])[:WORKLOADS], order)


def alone(table: Table) -> dict[str, list[Runs]]:
    """Pattern -> the workloads with that pattern alone, of one kind of routers; some were drawn so, and are among the
    mixed ones too."""
    by_pattern: dict[str, list[Runs]] = {}
    kind = table[0]["routers"]
    for number, pattern in enumerate(MOTIFS):
        if pattern not in patterns(kind) or kind == UGAL:
            continue
        workloads = workloads_of(kind)[100 * number : 100 * number + ALONE]
        by_pattern[pattern] = _of_workloads(table, workloads, "small-first", motif=pattern)
    return by_pattern


def _of_workloads(table: Table, workloads: Sequence[Workload], order: str, motif: str = "") -> list[Runs]:
    """The workloads that are in a table, each by itself, also if two of them are the same."""
    kind = table[0]["routers"]
    by_seed: dict[int, list[Run]] = {}
    for run in table:
        by_seed.setdefault(run["seed"], []).append(run)
    runs = []
    for workload in workloads:
        setup = setup_of_workload(workload, order, kind, motif=motif)
        own = gather(run for run in by_seed.get(SEED_STEP * workload.number, ()) if setup_of(run) == setup)
        runs.extend(own)
    return runs


def where(runs: Iterable[Runs], holds: Callable[[Setup], bool]) -> list[Runs]:
    """Those whose setup is such."""
    return [of_setup for of_setup in runs if holds(of_setup.setup)]


def is_main(setup: Setup, messages: tuple[str, ...] = ("1 KB",)) -> bool:
    """Whether it is no variant, and all messages have these sizes (of small and large jobs, or of all)."""
    if setup.variant:
        return False
    sizes = [job_class.message for job_class in setup.classes]
    return sizes == list(messages) * (len(sizes) // len(messages))


def motif(setup: Setup) -> str:
    """The pattern that all its jobs have."""
    return setup.classes[0].motif


def counts(setup: Setup) -> str:
    """Its jobs without their pattern: `15x16`."""
    return " + ".join(f"{job_class.count}x{job_class.nodes}" for job_class in setup.classes)


def reductions(runs: Runs, job_class: str, fast: Iterable[str], slow: Iterable[str]) -> list[float]:
    """Percent by which the time of each fast policy is below that of each slow one."""
    slow = tuple(slow)
    return [
        100 * (1 - runs.over(of_setup, job_class, other)) for of_setup in fast for other in slow if of_setup != other
    ]


def unevenness(runs: Runs, job_class: str) -> float:
    """Largest time of a policy over the smallest."""
    times = [runs.time(policy, job_class) for policy in runs.by_policy]
    return max(times) / min(times)


def difference(of_setup: Runs, other: Runs, job_class: str) -> float:
    """Largest difference between a policy's times relative to Simple in two setups."""
    return max(abs(of_setup.over(policy, job_class) - other.over(policy, job_class)) for policy in of_setup.by_policy)


@dataclass(frozen=True)
class Point:
    """A workload under a baseline."""

    workload: str
    policy: str
    small: float
    """Time of the small jobs over that under Level-Spread."""
    large: float


def points(runs: Iterable[Runs], policies: Sequence[str], *, coded: bool = False) -> list[Point]:
    """The points in the order of workloads, then policies; `coded` takes the rank that the authors' code asks (L18)."""
    ratio_points = []
    for of_setup in runs:
        what = "coded" if coded else of_setup.clock
        (reference,) = of_setup.by_policy[LEVEL_SPREAD]
        for policy in policies:
            (other,) = of_setup.by_policy[policy]
            ratios = {name: other[f"{what}_{name}"] / reference[f"{what}_{name}"] for name in ("small", "large")}
            ratio_points.append(Point(of_setup.setup.name, policy, **ratios))
    return ratio_points


@dataclass(frozen=True)
class Headline:
    """What the paper says of its points, in percent."""

    better: float
    """Points with Level-Spread strictly better: for small and for large jobs."""
    worse: float
    """Points with the baseline strictly better."""
    equal: float
    """Points with a class whose time is the same: the same nodes, and no job in between."""
    best: float
    """Largest reduction of a time."""
    averages: dict[str, float]
    """Mean reductions, by how they are taken (AVERAGES)."""


def uncertainty(of: Sequence[Point], value: Callable[[Point], float]) -> float:
    """Half of the 95 % interval of the mean of a value over all points: 1.96 standard errors over workloads, whose
    points are not independent."""
    by_workload: dict[str, list[float]] = {}
    for point in of:
        by_workload.setdefault(point.workload, []).append(value(point))
    means = [mean(some) for some in by_workload.values()]
    return float(1.96 * pstdev(means) / len(means) ** 0.5)


AVERAGES = {
    "points": "mean over workloads, baselines and classes of 1 - LS / baseline",
    "workloads": "mean over workloads of 1 - LS / (mean over baselines of the time relative to LS), classes together",
    "overhead": "mean over workloads, baselines and classes of baseline / LS - 1",
    "small": "as the first, small jobs alone",
    "large": "as the first, large jobs alone",
    "median": "median of 1 - LS / baseline over all of them",
}
"""Ways to average "over both small and large jobs and over all 1000 workloads"."""


def headline(of: Sequence[Point]) -> Headline:
    """The numbers of some points."""
    ratios = [ratio for point in of for ratio in (point.small, point.large)]
    by_workload: dict[str, list[float]] = {}
    for point in of:
        by_workload.setdefault(point.workload, []).extend((point.small, point.large))
    averages = {
        "points": mean(1 - 1 / ratio for ratio in ratios),
        "workloads": mean(1 - 1 / mean(some) for some in by_workload.values()),
        "overhead": mean(ratios) - 1,
        "small": mean(1 - 1 / point.small for point in of),
        "large": mean(1 - 1 / point.large for point in of),
        "median": median(1 - 1 / ratio for ratio in ratios),
    }
    return Headline(
        better=share([point.small > 1 and point.large > 1 for point in of]),
        worse=share([point.small < 1 and point.large < 1 for point in of]),
        equal=share([1 in (point.small, point.large) for point in of]),
        best=100 * (1 - 1 / max(ratios)),
        averages={name: 100 * value for name, value in averages.items()},
    )


def statement(
    id_: str,
    what: str,
    ours: float,
    theirs: float,
    unit: str,
    tolerance: str,
    where: str,
    *,
    kind: str = "S",
    **more: Any,
) -> Row:
    """A row of one kind of routers, which `told` names; `why` is said where ours does not match, or is not
    comparable."""
    where = f"Zhang 2018, {where}"
    return rows.statement(id_, what, ours, theirs, unit, tolerance, where, kind=kind, model="", **more)


def twice(figure: str, rows_of: Callable[[Table], list[Row]], table: Table) -> list[Row]:
    """The rows of each kind of routers, with its name as the model, and the reasons of `reasons.toml`.

    A statement that holds with what the authors ran, and not with what their paper says, has this as its cause.
    """
    made = {routers: with_intervals(rows_of, runs) for routers, runs in by_routers(table).items()}
    return caused(figure, [replace(row, model=routers) for routers, some in made.items() for row in some])


def caused(figure: str, of: Sequence[Row]) -> list[Row]:
    """The rows with the causes of now, whatever causes they had. What only its interval makes fail has none."""
    hold = {(row.id, row.what) for row in of if row.model == AS_RUN and row.verdict in ("match", "direction")}
    ran = Reason((AS_PUBLISHED,), ("",), RAN_ANOTHER, "the column as run, on this page")
    made = []
    for row in of:
        if row.verdict == "no match":
            known = [*reasons()[figure], *([ran] if (row.id, row.what) in hold else [])]
            cause = next((reason for reason in known if reason.explains(row.model, row.what)), None)
            if cause is None or rows.unsure(row):
                row = replace(row, why="", experiment="")
            else:
                row = replace(row, why=cause.why, experiment=cause.experiment)
        made.append(row)
    return made


def explain(figure: str, of: Sequence[Row]) -> list[Row]:
    """Causes, also of what the routers of the authors' simulator give and today's do not."""
    known = rows.explained_by_model(
        caused(figure, of), AS_PUBLISHED, [TODAY], OTHER_ROUTERS, "the column as published, on this page"
    )
    return [replace(row, why="", experiment="") if rows.unsure(row) else row for row in known]


GROUPS = 10
"""Groups of repetitions, or of random workloads, that are left out one after another. Assumed."""
FEWEST = 3
"""Groups from which there is an interval. Assumed: with two, Student's quantile is 12.7, with three 4.3."""


def with_intervals(rows_of: Callable[[Table], list[Row]], table: Table) -> list[Row]:
    """The rows, each with the 95 % interval that follows from leaving out one group of repetitions after another (the
    delete-a-group jackknife; Kott, "The Delete-a-Group Jackknife", J. Official Statistics 17, 2001).

    The interval is `ours` ± t sqrt((g - 1) / g sum (x_i - mean)^2) for g groups, t the 97.5 % quantile of Student's
    distribution with g - 1 degrees of freedom; that of a ratio is of its logarithm. A row whose runs were not repeated
    has none, nor has one of fewer than `FEWEST` groups, nor an extreme.
    """
    by_group: dict[int, list[Run]] = {}
    for run in table:
        by_group.setdefault(run["seed"] // SEED_STEP % GROUPS, []).append(run)
    whole = rows_of(table)
    if len(by_group) < FEWEST:
        return whole
    without = [
        {
            (row.id, row.what): row.ours
            for row in rows_of([run for group, runs in by_group.items() if group != left_out for run in runs])
        }
        for left_out in by_group
    ]
    return [_with_interval(row, [values.get((row.id, row.what)) for values in without]) for row in whole]


def is_extreme(what: str) -> bool:
    """Whether a row is the least or the largest of several values, of which the jackknife knows nothing: most groups
    that are left out do not have it (Miller, "The Jackknife - a Review", Biometrika 61, 1974)."""
    return re.search(r"\b(least|largest)\b", what) is not None and "patterns whose" not in what


def _with_interval(row: Row, without: Sequence[float | None]) -> Row:
    from scipy.stats import t

    values = [value for value in without if value is not None]
    if is_extreme(row.what) or len(values) < len(without) or not all(map(isfinite, (row.ours, *values))):
        return row
    ratio = row.unit == "x" and min(row.ours, *values) > 0
    groups, spread = len(values), pstdev([log(value) for value in values] if ratio else values)
    half = float(t.ppf(0.975, groups - 1)) * spread * (groups - 1) ** 0.5
    half = min(half, 700.0) if ratio else half  # beyond that, the exponential overflows
    ends = (row.ours / exp(half), row.ours * exp(half)) if ratio else (row.ours - half, row.ours + half)
    return rows.judged_again(replace(row, interval=ends, repetitions=groups))


OTHER_ROUTERS = "It depends on the routers and NICs: those of the authors' simulator give it"
RAN_ANOTHER = "The authors' scripts made their simulator do something else than the paper describes, which gives it"
"""Why a statement of the paper does not hold with the routing, sizes and iterations of the paper."""


@dataclass(frozen=True)
class Reason:
    """The reason why some rows do not match."""

    routers: tuple[str, ...]
    rows: tuple[str, ...]
    """Beginnings of their `what`."""
    why: str
    experiment: str
    """The page or the table whose runs support it."""

    def explains(self, routers: str, what: str) -> bool:
        """Whether it is about this row."""
        return routers in self.routers and what.startswith(self.rows)


@lru_cache
def reasons() -> dict[str, list[Reason]]:
    """Figure -> the reasons of its rows, the first that fits counts."""
    text = (files("odonata.reproduce.zhang2018") / "reasons.toml").read_text(encoding="utf-8")
    by_figure: dict[str, list[Reason]] = {}
    for figure, listed in tomllib.loads(text).items():
        by_figure[figure] = [
            Reason(
                tuple(reason["routers"]), tuple(reason["rows"]), " ".join(reason["why"].split()), reason["experiment"]
            )
            for reason in listed
        ]
    return defaultdict(list, by_figure)


def share(holds: Sequence[bool]) -> float:
    """Percent of the statements that hold."""
    return 100 * sum(holds) / len(holds)


def relation(id_: str, what: str, ours: float, tolerance: str, where: str, **more: Any) -> Row:
    """A row that says of a ratio on which side of 1 it is, or how far from there (`± 0.1`) or from 0 (`<= 0.1`)."""
    theirs = 0 if tolerance.startswith("<=") else 1
    return statement(id_, what, ours, theirs, "x", tolerance, where, kind="R", **more)


def unstated(id_: str, what: str, ours: float, why: str, where: str) -> Row:
    """A difference of which the paper says in a word how large it is: no verdict. The tolerance only says whence."""
    return relation(id_, what, ours, "<= 0", where, comparable=False, why=why)


def in_all(id_: str, what: str, holds: Sequence[bool], where: str, **more: Any) -> Row:
    """A row that says of how many of some panels something holds; the paper says: of all."""
    return statement(id_, what, share(holds), 100, "%", ">= 100", where, kind="R", **more)
