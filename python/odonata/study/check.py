"""Finds invalid values of axes before anything is simulated."""

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
"""Up to this number, all rows of an axis are checked. Of a longer axis, the first rows and the last are checked."""


MACHINE = ("system", "fabric", "compat")
"""Tables and keys of a scenario that decide its machine."""


def check_values(plan: Plan, document: Document | None) -> None:
    """Sets every value of every axis once, with the other axes at their first value.

    This finds unknown keys, misspelt names, wrong units, and machines, placement policies, files and jobs that do not
    exist. A value takes about a millisecond. Errors that depend on the machine (too few free nodes) are found by the
    runs, and only the affected run fails. Raises InputError at the line of the value.
    """
    of_machine = [index for index, axis in enumerate(plan.axes) if any(map(_is_of_machine, axis.keys))]
    for index, axis in enumerate(plan.axes):
        rows = range(len(axis)) if len(axis) <= MOST else [*range(MOST), len(axis) - 1]
        for row in rows:
            scenario = _check(plan, index, row, document)
            # Values of two axes may describe a machine only together, so one of them alone is not checked.
            if of_machine == [index]:
                _check_machine(scenario, axis, row, document)


def check_packets(scenario: Scenario) -> None:
    """Raises InputError for `run.packets`, at its line: each run of a study would refuse it."""
    if scenario.table.run.packets is not None:
        from odonata.packets import of_study

        raise scenario.located(of_study())


def _check(plan: Plan, index: int, row: int, document: Document | None) -> Scenario:
    scenario = plan.base
    assert isinstance(scenario, Scenario), "a scenario that a function makes takes no overrides"
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
        if any(_has_text(value) for value in plan.axes[index].rows[row]):
            scenario.check_names()
        else:
            _ = scenario.table
        check_packets(scenario)
    except InputError as e:
        for axis, step, key, value in changes:
            if scenario.document.blames(e, key):
                raise _at(InputError(e.message, hint=e.hint), axis, step, key, value, document) from None
        raise
    return scenario


def _check_machine(scenario: Scenario, axis: Axis, row: int, document: Document | None) -> None:
    column = next(column for column, key in enumerate(axis.keys) if _is_of_machine(key))
    try:
        _ = scenario.system
    except InputError as e:
        key = axis.keys[column]
        # The position of an error in a machine file is in that file. The line of the study shows the value.
        line = "" if e.line is None else f":{e.line}"
        where = "" if e.file is None or scenario.document.blames(e, key) else f"{e.file}{line}: "
        problem = InputError(where + e.message, hint=e.hint)
        raise _at(problem, axis, row, key, axis.rows[row][column], document) from None


def _is_of_machine(key: str) -> bool:
    return key.split(".")[0] in MACHINE


def _has_text(value: object) -> bool:
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ()
    return isinstance(value, str) or any(map(_has_text, inside))


def _at(error: InputError, axis: Axis, row: int, key: str, value: object, document: Document | None) -> InputError:
    where = axis.where.get(key)
    if document is None or where is None:
        return error.at(f"sweep of {key}, value {text(value)}")
    # The values of a range or a distribution have no lines of their own, so its line is given.
    placed = InputError(error.message, hint=error.hint, path=(*where, row))
    return document.locate(placed)
