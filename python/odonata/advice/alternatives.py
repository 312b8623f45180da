"""Other assumptions under which remedies are judged: the points of a study of the same scenario."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from odonata.errors import InputError
from odonata.study import read
from odonata.study.axis import text
from odonata.study.plan import SEED

if TYPE_CHECKING:
    from odonata.scenario import Scenario


@dataclass(frozen=True)
class Alternative:
    """Another assumption: keys of the scenario and their values."""

    name: str
    """What it is called: the value of its first key."""
    changes: tuple[tuple[str, Any], ...]
    """The keys and their values."""

    def applied(self, scenario: Scenario) -> Scenario:
        """The scenario under this assumption."""
        for key, value in self.changes:
            scenario = scenario.set(key, value)
        return scenario


def read_alternatives(study: str | Path, scenario: Scenario) -> tuple[Alternative, ...]:
    """The points of a study without their seeds, as `odonata cluster snapshot --vary traffic` writes it.

    Parameters
    ----------
    study
        The file of the study.
    scenario
        The scenario that the study must be of.

    Returns
    -------
    tuple of Alternative
        Each once; without the one that is the scenario as it is.

    Raises
    ------
    InputError
        If the study cannot be read, is of another scenario, or has no other point.
    """
    plan = read.load(study)
    base = plan.base.path if not callable(plan.base) else ""
    if Path(base).resolve() != Path(scenario.path).resolve():
        hint = f"its `base` is `{base}`, and the scenario is `{scenario.path}`"
        raise InputError("the study is of another scenario", file=str(study), hint=hint)
    points = dict.fromkeys(
        tuple((key, value) for key, value in point if key != SEED) for point in map(_hashable, plan.points())
    )
    alternatives, present = list[Alternative](), scenario.resolve().spec
    for point in points:
        changes = tuple((key, value.value) for key, value in point)
        if not changes:
            continue
        alternative = Alternative(text(changes[0][1]).strip('"'), changes)
        if alternative.applied(scenario).resolve().spec != present:
            alternatives.append(alternative)
    if not alternatives:
        raise InputError("the study has no other assumption than the scenario", file=str(study))
    return tuple(alternatives)


@dataclass(frozen=True)
class _Value:
    """A value that may be a table, with its text as its identity."""

    shown: str
    value: Any

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Value) and self.shown == other.shown

    def __hash__(self) -> int:
        return hash(self.shown)


def _hashable(point: tuple[tuple[str, Any], ...]) -> tuple[tuple[str, _Value], ...]:
    return tuple((key, _Value(text(value), value)) for key, value in point)
