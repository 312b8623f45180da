"""Values of axes that no scenario can have are found before anything is simulated."""

from __future__ import annotations

from typing import TYPE_CHECKING

from odonata.errors import InputError
from odonata.scenario import Scenario
from odonata.study.axis import text

if TYPE_CHECKING:
    from odonata.document import Document
    from odonata.study.axis import Axis
    from odonata.study.plan import Plan

MOST = 500
"""Rows of an axis that are checked one by one; of a longer one the first so many and the last."""


def check_values(plan: Plan, document: Document | None) -> None:
    """Sets every value of every axis once, the other axes at their first.

    That finds keys that lead nowhere, misspelt names and wrong units, at half a millisecond a value; what depends on
    the machine (too few free nodes) is left to the runs, where it fails one of them. Raises InputError at the line of
    the value.
    """
    for index, axis in enumerate(plan.axes):
        rows = range(len(axis)) if len(axis) <= MOST else [*range(MOST), len(axis) - 1]
        for row in rows:
            _check(plan, index, row, document)


def _check(plan: Plan, index: int, row: int, document: Document | None) -> None:
    scenario = plan.base
    assert isinstance(scenario, Scenario), "a scenario that a function makes is not set anything"
    changes = []
    for number, axis in enumerate(plan.axes):
        step = row if number == index else 0
        changes += [(axis, step, key, axis.rows[step][column]) for column, key in enumerate(axis.keys)]
    for axis, step, key, value in changes:
        try:
            scenario = scenario.set(key, value)
        except InputError as e:
            raise _at(e, axis, step, key, value, document) from None
    try:
        _ = scenario.table
    except InputError as e:
        for axis, step, key, value in changes:
            if e.file == _blamed(scenario, key):
                raise _at(InputError(e.message, hint=e.hint), axis, step, key, value, document) from None
        raise


def _blamed(scenario: Scenario, key: str) -> str:
    return scenario.document.changed_by(key)


def _at(error: InputError, axis: Axis, row: int, key: str, value: object, document: Document | None) -> InputError:
    where = axis.where.get(key)
    if document is None or where is None:
        return error.at(f"sweep of {key}, value {text(value)}")
    # A range or a distribution has no lines for its values; its own is the nearest.
    placed = InputError(error.message, hint=error.hint, path=(*where, row))
    return document.locate(placed)
