"""A job over many drawn queues: which policy gives it the best nodes, in expectation and how surely.

A user has one queue now, and another one at the next submission. Each *draw* is a queue of the same applications: jobs
are drawn with replacement from the other jobs of the scenario until their nodes are as many as there, and each gets its
nodes by a policy drawn from `NEIGHBOURS` (assumed: what a machine looks like after days of use). Under every policy the
job meets the same draws with the same seeds, so draws are pairs. The null model gives it nodes at random.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from odonata.analysis.bootstrap import mean_interval
from odonata.analysis.derived import VARIATION, extrapolated, with_derived
from odonata.errors import InputError, unknown
from odonata.placement import place
from odonata.placement.splitmix import SplitMix64, stream_seed
from odonata.scenario import Scenario, load
from odonata.study.python import plan_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from odonata.machine.shape import Shape
    from odonata.study.plan import Plan
    from odonata.study.study import Study

NEIGHBOURS = ("contiguous", "random-routers", "random-nodes")
"""Policies of which each neighbour of a draw gets one."""
NULL = "random-nodes"
"""The null model."""
USUAL = (NULL, "contiguous", "level-spread", "contention-aware", "random-groups", "round-robin-routers")
"""Policies that are compared by default."""
FEWEST = 8
"""Draws from which on a difference can be told from chance (Wilcoxon's test at 1 %)."""
MOST_JOBS = 1_000


@dataclass(frozen=True)
class Drawn:
    """Makes the scenario of a policy and a draw."""

    data: dict[str, Any]
    folder: Path
    victim: int
    sizes: tuple[int, ...]
    """Nodes of each job of the scenario."""
    machine: Shape
    seed: int

    def __call__(self, point: dict[str, Any]) -> Scenario:
        """The scenario of a point, with the keys `policy` and `draw`."""
        draw = int(point["draw"])
        data = copy.deepcopy(self.data)
        victim = data["job"][self.victim]
        jobs = [self._job(name, at, nodes) for name, at, nodes in self.neighbours(draw)]
        for key in ("nodes", "place"):
            victim.pop(key, None)
        policy: dict[str, Any] = {"policy": point["policy"]}
        if point["policy"].startswith("random"):
            policy["seed"] = stream_seed(self.seed, "victim", draw) % 2**31
        victim.update(nodes=self.sizes[self.victim], place=policy)
        data["job"] = [victim, *jobs]
        data["run"] = {**data.get("run", {}), "until": victim["name"], "seed": self.seed + draw}
        return load(data, folder=self.folder)

    def neighbours(self, draw: int) -> list[tuple[str, int, list[int]]]:
        """Names of the neighbours, the jobs of the scenario that they are like, and their nodes."""
        stream = SplitMix64(stream_seed(self.seed, "queue", draw))
        others = [at for at in range(len(self.sizes)) if at != self.victim]
        room = min(sum(self.sizes[at] for at in others), self.machine.nodes - self.sizes[self.victim])
        busy: set[int] = set()
        gathered: list[tuple[str, int, list[int]]] = []
        while len(gathered) < MOST_JOBS:
            fits = [at for at in others if self.sizes[at] <= room - len(busy)]
            if not fits:
                break
            at = fits[stream.word() % len(fits)]
            policy = NEIGHBOURS[stream.word() % len(NEIGHBOURS)]
            options: dict[str, Any] = {} if policy == "contiguous" else {"seed": stream.word() % 2**31}
            nodes = place(policy, self.machine, self.sizes[at], busy=sorted(busy), **options).nodes
            busy |= set(nodes)
            gathered.append((f"n{len(gathered) + 1}-{self.data['job'][at]['name']}"[:64], at, list(nodes)))
        return gathered

    def _job(self, name: str, at: int, nodes: list[int]) -> dict[str, Any]:
        job = {key: value for key, value in copy.deepcopy(self.data["job"][at]).items() if key not in _ENDS}
        job["app"].pop("messages", None)
        return {**job, "name": name, "place": {"nodes": ",".join(map(str, nodes))}, "background": True}


_ENDS = ("nodes", "place", "iterations", "background", "name")
"""Keys of a job that a neighbour does not take over: it runs until the job ends."""


def plan(scenario: Scenario, victim: str | None, policies: Sequence[str], draws: int) -> tuple[Plan, str]:
    """The study of all policies and draws, each also alone, and the job. Raises InputError for an unknown job, without
    other jobs, and for a policy that needs more than a number of nodes."""
    resolved = scenario.resolve(check=False)
    jobs = resolved.spec["jobs"]
    names = [job["name"] for job in jobs]
    if victim is None:
        front = [job.name for job in scenario.table.job if not job.background]
        victim = front[0] if front else names[0]
    if victim not in names:
        raise unknown("job", victim, names)
    if len(names) < 2:
        raise InputError("the scenario has no other job, so there are no neighbours to draw")
    if "import" in scenario.data:
        raise InputError("jobs of `import` cannot be drawn again", hint="write them as [[job]]")
    make = Drawn(
        scenario.data, scenario.path.parent, names.index(victim), tuple(len(set(job["nodes"])) for job in jobs),
        resolved.system.shape, resolved.spec["seed"],
    )  # fmt: skip
    wanted = list(dict.fromkeys([NULL, *policies]))
    for policy in wanted:
        make({"policy": policy, "draw": 0}).resolve(check=False)
    made = plan_of(make, {"policy": wanted, "draw": list(range(draws))}, name=f"{scenario.path.stem}-drawn")
    return made.with_alone(), victim


@dataclass(frozen=True)
class Policy:
    """What a policy gives over all draws."""

    name: str
    draws: int
    slowdown: float | None
    """Mean slowdown against the job alone on the same nodes."""
    slowdown_interval: tuple[float, float] | None
    ratio: float | None
    """Geometric mean of the job's time over that under the null model in the same draw."""
    ratio_interval: tuple[float, float] | None
    beats: dict[str, float]
    """Share of the draws in which the job is faster than under another policy; half of those with equal times count."""
    best: float
    """Share of the draws in which no other policy is faster."""
    variation: float | None = None
    """Of a program: mean over the draws of its step-time variation (`analysis.derived`)."""
    variation_interval: tuple[float, float] | None = None
    extrapolated: int = 0
    """Runs of which iterations were skipped (`run.steady`)."""


def summarise(study: Study, victim: str, value: str | None) -> tuple[str, list[Policy]]:
    """The column by which policies are compared, and the policies, that with the least expected time first."""
    rows = with_derived(study.jobs.filter(pl.col("name") == victim))
    programs = rows["iterations"].null_count() < rows.height if "iterations" in rows.columns else False
    column = value or ("time_ps" if programs else "latency_mean_ps")
    if column not in rows.columns or not rows[column].dtype.is_numeric():
        raise unknown("column", column, [name for name in rows.columns if rows[name].dtype.is_numeric()])
    times = rows.select("policy", "draw", column).pivot(on="policy", index="draw", values=column).sort("draw")
    names = [name for name in times.columns if name != "draw"]
    whole = times.drop_nulls()
    if whole.is_empty():
        raise InputError(f"no draw has a number in `{column}` under every policy", hint="see the errors of the study")
    gathered = []
    logs = {name: np.log(whole[name].cast(pl.Float64).to_numpy()) for name in names}
    least = np.min(np.array(list(logs.values())), axis=0)
    for name in names:
        of_policy = rows.filter(pl.col("policy") == name, pl.col("draw").is_in(whole["draw"].to_list()))
        slowdowns, variations = (
            of_policy[key].drop_nulls().to_numpy() if key in rows.columns else np.zeros(0)
            for key in ("slowdown", VARIATION)
        )
        against = logs[name] - logs[NULL]
        spread = mean_interval(against, seed=1)
        gathered.append(
            Policy(
                name,
                whole.height,
                float(slowdowns.mean()) if slowdowns.size else None,
                mean_interval(slowdowns, seed=1) if slowdowns.size else None,
                float(np.exp(against.mean())),
                None if spread is None else (float(np.exp(spread[0])), float(np.exp(spread[1]))),
                {other: _chance(logs[name], logs[other]) for other in names if other != name},
                float(np.mean(logs[name] <= least)),
                float(variations.mean()) if variations.size else None,
                mean_interval(variations, seed=1) if variations.size else None,
                extrapolated(of_policy),
            )
        )
    return column, sorted(gathered, key=lambda policy: (policy.ratio or 0.0, policy.name))


def _chance(mine: Any, theirs: Any) -> float:
    return float(np.mean(mine < theirs) + 0.5 * np.mean(mine == theirs))


def wilson(share: float, draws: int) -> tuple[float, float]:
    """The 95 % interval of a share (Wilson 1927). SciPy's takes whole numbers; here equal times count half."""
    z = 1.96
    middle = (share + z * z / (2 * draws)) / (1 + z * z / draws)
    half = z / (1 + z * z / draws) * float(np.sqrt(share * (1 - share) / draws + z * z / (4 * draws * draws)))
    return max(0.0, middle - half), min(1.0, middle + half)
