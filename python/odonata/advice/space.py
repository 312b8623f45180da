"""The scenario as it is, and what of it may be changed."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from odonata import placement
from odonata.advice.effects import ALPHA
from odonata.errors import InputError, unknown
from odonata.placement import Freedom

if TYPE_CHECKING:
    from collections.abc import Mapping

    from odonata.scenario import Resolved, Scenario
    from odonata.scenario.tables import AdviseTable, JobTable

MOST_OTHERS = 4
"""Jobs beside the victim that are changed one by one, those with the most nodes (assumed: more take long)."""


@dataclass(frozen=True)
class Space:
    """A scenario, its victim, and the jobs that may be changed."""

    scenario: Scenario
    resolved: Resolved
    victim: str
    rules: AdviseTable
    times: Mapping[str, int] = field(default_factory=dict)
    """How long each program runs in the scenario as it is, in picoseconds; without those that do not end."""

    @cached_property
    def tables(self) -> dict[str, JobTable]:
        """The jobs of the file by name; imported jobs are not among them, because nothing of them can be set."""
        return {job.name: job for job in self.scenario.table.job}

    @cached_property
    def jobs(self) -> list[str]:
        """Jobs that may be changed: the victim first, then the others by their number of nodes."""
        allowed = set(self.tables if self.rules.jobs is None else self.rules.jobs)
        by_size = sorted(self.spec, key=lambda name: -len(set(self.spec[name]["nodes"])))
        others = [name for name in by_size if name in allowed and name in self.tables and name != self.victim]
        return [name for name in (self.victim,) if name in allowed and name in self.tables] + others[:MOST_OTHERS]

    @cached_property
    def spec(self) -> dict[str, dict[str, Any]]:
        """The jobs of the specification by name."""
        return {job["name"]: job for job in self.resolved.spec["jobs"]}

    @cached_property
    def background(self) -> set[str]:
        """Jobs for which the run does not wait."""
        names = [job["name"] for job in self.resolved.spec["jobs"]]
        return {name for name, background in zip(names, self.resolved.background, strict=True) if background}

    @cached_property
    def movable(self) -> list[str]:
        """Jobs that may get other nodes.

        A list of nodes stays, unless `move` names its job (`divisible` for what two such jobs may do). So do the
        processes of a pattern whose messages depend on the groups that it is in: elsewhere it would be another job.
        """
        return [name for name in self.jobs if not self._stays(name)]

    @cached_property
    def divisible(self) -> list[str]:
        """Jobs that may change nodes with each other, so that together they keep the nodes that they have: also those
        whose nodes are a list, as two jobs of one allocation."""
        return [name for name in self.jobs if not self._depends_on_groups(name)]

    def _depends_on_groups(self, name: str) -> bool:
        traffic = self.spec[name].get("traffic")
        return traffic is not None and traffic["pattern"]["name"] == "group-peers"

    def _stays(self, name: str) -> bool:
        if self._depends_on_groups(name):
            return True
        return self.freedom(name) is Freedom.NONE and name not in self.rules.move and not self._is_layout(name)

    def freedom(self, name: str) -> Freedom:
        """How free the placement of a job is."""
        policy, options = self._policy(name)
        return policy.freedom(options)

    def _is_layout(self, name: str) -> bool:
        return self._policy(name)[0].name in placement.LAYOUTS

    def _policy(self, name: str) -> tuple[placement.Policy, dict[str, Any]]:
        place = self.tables[name].place
        return placement.get(place["policy"]), {key: value for key, value in place.items() if key != "policy"}

    def programs(self) -> list[str]:
        """Jobs with a program that may be changed."""
        return [name for name in self.jobs if "program" in self.spec[name]]

    def groups_of(self, name: str) -> set[int]:
        """Groups in which a job has nodes."""
        shape = self.resolved.system.shape
        return {shape.group_of(node) for node in self.spec[name]["nodes"]}


COMBINED = 3
"""Combinations of remedies of different kinds that join the final comparison at most (assumed)."""


def fewest_seeds(finalists: int) -> int:
    """The pairs of runs from which the signed-rank test can be passed among so many remedies: 2 / 2^n < level."""
    return next(n for n in range(1, 1000) if 2 / 2**n < ALPHA / (finalists + COMBINED))


def check_rules(scenario: Scenario, rules: AdviseTable) -> None:
    """Raises InputError, with its place in the file, for rules by which no remedy could be found.

    These are names that no job has, and too few seeds: among many remedies, few pairs of runs prove nothing.
    """
    needed = fewest_seeds(rules.finalists)
    if rules.seeds < needed:
        message = f"`seeds`: among {rules.finalists} finalists, {rules.seeds} pairs of runs cannot show that one helps"
        key = "seeds" if "seeds" in scenario.data.get("advise", {}) else "finalists"
        error = InputError(message, hint=f"use at least {needed} seeds", path=("advise", key))
        raise scenario.located(error)
    names = [job["name"] for job in scenario.resolve().spec["jobs"]]
    given = [(rules.victim, "victim"), *((name, "jobs") for name in rules.jobs or ())]
    given += [(name, "move") for name in rules.move]
    for name, key in given:
        if name is not None and name not in names:
            error = unknown("job", name, names)
            raise scenario.located(InputError(f"`{key}`: {error.message}", hint=error.hint, path=("advise", key)))
