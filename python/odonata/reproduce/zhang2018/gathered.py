"""Outcomes of a figure by setup and policy, and what is computed of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from statistics import mean, pstdev
from typing import TYPE_CHECKING

from odonata.reproduce.zhang2018.prepare import CODED
from odonata.reproduce.zhang2018.study_grid import read_figure

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from odonata.reproduce.zhang2018.comm_case import CommCase
    from odonata.reproduce.zhang2018.comm_outcome import CommOutcome
    from odonata.reproduce.zhang2018.setup import Setup

    CommResults = Mapping[tuple[str, str], Mapping[int, CommOutcome]]
    """(policy, name of the case) -> iterations -> outcome."""

PACKAGE = "odonata.reproduce.zhang2018"
FILE = "study.toml"

LEVEL_SPREAD, SIMPLE, JOKANOVIC = "level-spread", "simple", "jokanovic"
GROUPING = (SIMPLE, "slurm-zhang-sst", "random-groups")
SPREADING = ("random-routers", "round-robin-routers", "random-nodes", "round-robin-nodes")
BASELINES = (*GROUPING, *SPREADING)
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


@dataclass(frozen=True)
class Runs:
    """The repetitions of a setup by policy, in the order of their seeds."""

    setup: Setup
    by_policy: Mapping[str, list[CommOutcome]]

    def time(self, policy: str, job_class: str) -> float:
        """Mean communication time over the repetitions, picoseconds."""
        return mean(one.times[job_class] for one in self.by_policy[policy])

    def spread(self, policy: str, job_class: str) -> float:
        """Its standard deviation."""
        return pstdev(one.times[job_class] for one in self.by_policy[policy])

    def over(self, policy: str, job_class: str, other: str = SIMPLE) -> float:
        """Time over that of another policy."""
        return self.time(policy, job_class) / self.time(other, job_class)

    def mean_of(self, policy: str, value: Callable[[CommOutcome], float]) -> float:
        """Mean of something else over the repetitions."""
        return mean(map(value, self.by_policy[policy]))


@lru_cache(maxsize=32)
def cases(figure: str) -> tuple[CommCase, ...]:
    """All cases of a figure; those of its reduced form are among them."""
    text = (files(PACKAGE) / FILE).read_text(encoding="utf-8")
    reduced = read_figure(figure, text, FILE, True)
    return tuple(dict.fromkeys((*read_figure(figure, text, FILE, False), *reduced)))


def gather(figure: str, results: CommResults) -> list[Runs]:
    """What was simulated of a figure, in the order of its cases."""
    found: dict[Setup, dict[str, list[CommOutcome]]] = {}
    for case in cases(figure):
        outcomes = results.get((case.model, case.name))
        if outcomes:
            found.setdefault(case.setup, {}).setdefault(case.model, []).append(outcomes[case.messages])
    return [Runs(setup, by_policy) for setup, by_policy in found.items()]
