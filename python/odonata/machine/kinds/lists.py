"""Lists of links between groups, as a table of a machine gives them."""

from typing import Annotated, Any

from pydantic import BeforeValidator

from odonata.document import input_error_as_problem
from odonata.errors import InputError


def _rows(value: Any, columns: tuple[str, ...]) -> tuple[tuple[int, ...], ...]:
    form = f"[{', '.join(columns)}]"
    if not isinstance(value, list | tuple):
        raise InputError(f"expected a list of {form}, found `{value!r}`")
    rows = []
    for number, row in enumerate(value, start=1):
        whole = isinstance(row, list | tuple) and all(isinstance(n, int) and not isinstance(n, bool) for n in row)
        if not whole or len(row) != len(columns) or min(row) < 0:
            raise InputError(f"entry {number}: expected {form} in whole numbers from 0 on, found `{row!r}`")
        if row[0] == row[1]:
            raise InputError(f"entry {number}: {columns[0]} {row[0]} cannot be linked to itself")
        rows.append(tuple(row))
    return tuple(rows)


def _pair_links(value: Any) -> tuple[tuple[int, ...], ...]:
    rows = _rows(value, ("group", "group", "links"))
    seen: set[tuple[int, ...]] = set()
    for number, (a, b, _) in enumerate(rows, start=1):
        pair = (min(a, b), max(a, b))
        if pair in seen:
            raise InputError(f"entry {number}: the groups {a} and {b} are listed twice")
        seen.add(pair)
    return rows


def _global_links(value: Any) -> tuple[tuple[int, ...], ...]:
    return _rows(value, ("router", "router"))


#: Pairs of groups that have another number of links than the rest: `[group, group, links]`.
PairLinks = Annotated[tuple[tuple[int, int, int], ...], BeforeValidator(input_error_as_problem(_pair_links))]
#: Every cable between groups, as a pair of routers.
GlobalLinks = Annotated[tuple[tuple[int, int], ...], BeforeValidator(input_error_as_problem(_global_links))]
