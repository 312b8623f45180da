"""Successive halving over seeds: many remedies with one run each, the better ones with more.

After Jamieson and Talwalkar, "Non-stochastic best arm identification and hyperparameter optimization" (AISTATS 2016);
the factor is that of Hyperband (Li et al., JMLR 18, 2018). Every round adds a seed, and pairs the runs of a remedy with
those of the scenario as it is. The survivors are compared again with seeds that the search has not seen: the best of
many was partly lucky with the seeds that chose it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import polars as pl

from odonata.advice.effects import MATTERS, REMEDY, Cost, cost, quantity_of, values
from odonata.advice.kinds import KINDS
from odonata.advice.remedy import PRESENT, Remedy
from odonata.advice.space import COMBINED
from odonata.errors import InputError
from odonata.study.plan import SEED

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from odonata.advice.space import Space
    from odonata.scenario import Scenario
    from odonata.study.study import Study

    Sweep = Callable[["Remedied", Sequence[Mapping[str, Any]]], Study]
    """From a function that makes scenarios, and points, to a study."""

FEW = 8
"""Remedies after which there is a first answer (assumed: few enough to be soon, and enough to differ)."""
KEPT = 3
"""One remedy of so many survives a round (Li et al. 2018 recommend 3 or 4)."""
FINAL = 1000
"""Seeds of the final comparison begin so many after those of the search."""


def score(victim: float, others: float) -> float:
    """How good a remedy is, by the victim's ratio and the largest one of any other job; 1 is as it is, less is better.

    What another job loses counts as much as what the victim gains (assumed).
    """
    return victim * max(1.0, others)


@dataclass(frozen=True, slots=True)
class Standing:
    """How a remedy does in a search that is not at its end."""

    remedy: str
    """Its name."""
    victim: float
    """The median ratio of the victim: with the remedy divided by as it is."""
    others: float
    """The largest such ratio of any other job; 0 if there is none."""
    seeds: int
    """Pairs of runs behind them."""


@dataclass(frozen=True)
class Remedied:
    """The scenario of a point: with its remedy and its seed. Workers get it as it is."""

    scenario: Scenario
    remedies: Mapping[str, Remedy]

    def __call__(self, point: Mapping[str, Any]) -> Scenario:
        """The scenario of a point."""
        return self.remedies[point[REMEDY]].applied(self.scenario).set(SEED, point[SEED])


@dataclass
class Search:
    """The remedies of a space, and what is known of them."""

    space: Space
    sweep: Sweep
    remedies: dict[str, Remedy] = field(default_factory=lambda: {PRESENT: Remedy((), ())})
    """By name; the scenario as it is is one of them."""
    costs: dict[str, Cost] = field(default_factory=dict)
    impossible: dict[str, str] = field(default_factory=dict)
    """Remedies that cannot be simulated, with the reason."""
    runs: int = 0
    """Points that were simulated or found among the results."""
    tell: Callable[[Search], object] = lambda _: None
    """Called after the first few remedies, and after each round."""
    left: list[str] = field(default_factory=list)
    """Remedies that are still in the race."""
    jobs: pl.DataFrame = field(default_factory=pl.DataFrame)
    """The rows of `jobs` of all runs up to now."""
    _points: list[dict[str, Any]] = field(default_factory=list)
    _ids: set[str] = field(default_factory=set)

    def collect(self) -> list[str]:
        """The names of all remedies that the space allows; none is there twice, and none is the present state."""
        self._ids = {self.space.resolved.id}
        results = []
        for kind in dict.fromkeys(self.space.rules.allow):
            for changes in KINDS[kind](self.space):
                name = self.add(Remedy((kind,), changes))
                if name is not None:
                    results.append(name)
        return results

    def add(self, remedy: Remedy) -> str | None:
        """Takes a remedy; returns its name, or None if it is no other scenario or cannot be simulated."""
        before = self.space.resolved
        try:
            after = remedy.applied(self.space.scenario).resolve()
        except InputError as problem:
            self.impossible[remedy.name] = problem.message
            return None
        if after.id in self._ids:
            return None
        self._ids.add(after.id)
        for old, new in zip(before.spec["jobs"], after.spec["jobs"], strict=True):
            if old.get("traffic") != new.get("traffic"):
                self.impossible[remedy.name] = f"job `{old['name']}` would send other messages there"
                return None
        self.remedies[remedy.name] = remedy
        self.costs[remedy.name] = cost(before, after)
        return remedy.name

    def halve(self, names: Sequence[str]) -> tuple[list[str], pl.DataFrame]:
        """The finalists of these remedies, best first, and the rows of all runs of the search."""
        first = self.space.resolved.spec["seed"]
        self.left, jobs = list(names), pl.DataFrame()
        if len(names) > FEW:
            self.simulate([PRESENT, *names[:FEW]], [first])
            self.tell(self)
        for number in range(len(names)):
            jobs = self.simulate([PRESENT, *self.left], [first + number])
            self.tell(self)
            ranked = self._scores(jobs, self.left)
            keep = max(self.space.rules.finalists, -(-len(self.left) // KEPT))
            if keep >= len(ranked) or len(ranked) <= self.space.rules.finalists:
                return self._chosen(ranked, self.space.rules.finalists), jobs
            self.left = self._chosen(ranked, keep)
        return self.left, jobs

    def standings(self) -> list[Standing]:
        """The remedies that are still in the race and of which a run is known, best first."""
        if self.jobs.is_empty():
            return []
        seeds = dict(self.jobs.group_by(REMEDY).agg(pl.col(SEED).n_unique()).iter_rows())
        return [Standing(name, *scores, seeds[name]) for name, scores in self._scores(self.jobs, self.left).items()]

    @property
    def tried(self) -> int:
        """How many remedies have a run."""
        return 0 if self.jobs.is_empty() else self.jobs.filter(pl.col(REMEDY) != PRESENT)[REMEDY].n_unique()

    def untried(self, names: Sequence[str]) -> int:
        """How many of these remedies have no run."""
        tried = {*self.impossible, *(() if self.jobs.is_empty() else self.jobs[REMEDY].to_list())}
        return sum(name not in tried for name in names)

    def combined(self, jobs: pl.DataFrame, names: Sequence[str]) -> list[str]:
        """Combinations of the best remedies of each kind, if each of them is better than the present state."""
        best: dict[tuple[str, ...], str] = {}
        for name, scores in self._scores(jobs, names).items():
            if score(*scores) <= 1 - MATTERS:
                best.setdefault(self.remedies[name].kinds, name)
        ones = [self.remedies[name] for name in best.values()]
        pairs = [first.joined(other) for at, first in enumerate(ones) for other in ones[at + 1 :]]
        studies = [self.add(pair) for pair in pairs[:COMBINED] if pair is not None]
        return [name for name in studies if name is not None]

    def final(self, names: Sequence[str]) -> pl.DataFrame:
        """The rows of the jobs of these remedies and of the present state, with seeds of their own."""
        self.left = list(names)
        first = self.space.resolved.spec["seed"] + FINAL
        seeds = range(first, first + self.space.rules.seeds)
        return self.simulate([PRESENT, *names], seeds).filter(pl.col(SEED).is_in(list(seeds)))

    def simulate(self, names: Sequence[str], seeds: Sequence[int]) -> pl.DataFrame:
        """The rows of `jobs` of all runs up to now, these among them."""
        known = {(point[REMEDY], point[SEED]) for point in self._points}
        new = [{REMEDY: name, SEED: seed} for name in names for seed in seeds if (name, seed) not in known]
        self._points += new
        study = self.sweep(Remedied(self.space.scenario, self.remedies), self._points)
        self.take(study)
        return study.jobs

    def take(self, study: Study) -> None:
        """The runs of a study are known, also if it was not finished."""
        self.runs, self.jobs = study.runs.height, study.jobs
        for name, error in study.failed.select(REMEDY, "error").iter_rows():
            if name == PRESENT:
                raise InputError(f"the scenario as it is cannot be simulated: {error}")
            self.impossible.setdefault(name, error)

    def _chosen(self, ranked: Mapping[str, tuple[float, float]], count: int) -> list[str]:
        """The best, among them one that helps and slows down no other job if there is one."""
        chosen = list(ranked)[:count]
        harmless = [name for name, (mine, others) in ranked.items() if mine < 1 and others < 1 + MATTERS]
        if harmless and harmless[0] not in chosen:
            chosen[-1] = harmless[0]
        return chosen

    def _scores(self, jobs: pl.DataFrame, names: Sequence[str]) -> dict[str, tuple[float, float]]:
        """Remedy that ran -> the median ratio of the victim, and the largest one of any other job; best first."""
        ratios = {job: self._ratios(jobs, job, spec) for job, spec in self.space.spec.items()}
        mine = ratios.pop(self.space.victim)
        order = {name: number for number, name in enumerate(names)}
        scores = {
            name: (mine[name], max((of.get(name, 0.0) for of in ratios.values()), default=0.0))
            for name in names
            if name in mine
        }
        return dict(sorted(scores.items(), key=lambda entry: (score(*entry[1]), order[entry[0]])))

    def _ratios(self, jobs: pl.DataFrame, job: str, spec: Mapping[str, Any]) -> dict[str, float]:
        rows = values(jobs, job, self.column(job, spec), self.costs)
        present = rows.filter((pl.col(REMEDY) == PRESENT) & (pl.col("value") > 0))
        pairs = rows.join(present, on=SEED, how="inner")
        medians = pairs.group_by(REMEDY).agg((pl.col("value") / pl.col("value_right")).median().alias("ratio"))
        return dict(medians.iter_rows())

    def column(self, job: str, spec: Mapping[str, Any]) -> str:
        """The column by which a job is judged."""
        chosen = self.space.rules.value
        if chosen is not None and job == self.space.victim:
            return chosen
        return quantity_of(spec, background=job in self.space.background)
