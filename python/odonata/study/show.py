"""`[show]`: the default contents of summaries, comparisons and pictures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from odonata.errors import InputError, unknown
from odonata.store.columns import columns_of
from odonata.study.plan import Show

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

KEYS = ("columns", "by", "job")


def read_show(given: Mapping[str, Any], axes: Sequence[str]) -> Show:
    """Reads the table. Raises InputError, its path beginning with `show`."""
    for key in given:
        if key not in KEYS:
            raise unknown("key", key, KEYS).under("show", key)
    columns = _texts(given, "columns")
    for index, name in enumerate(columns or ()):
        if name not in numeric_columns():
            raise unknown("column", name, numeric_columns()).under("show", "columns", index)
    by = _texts(given, "by")
    for index, key in enumerate(by or ()):
        if key not in axes:
            raise unknown("axis", key, axes).under("show", "by", index)
    job = given.get("job")
    if job is not None and not isinstance(job, str):
        raise InputError(f"`job`: expected the name of a job, found `{job!r}`", path=("show", "job"))
    return Show(columns, by, job)


def numeric_columns() -> list[str]:
    """Columns of `jobs` that can be compared: all numbers except ids."""
    return [
        column.name
        for column in columns_of("jobs")
        if column.dtype.startswith(("UInt", "Int", "Float")) and column.name != "job"
    ]


def _texts(given: Mapping[str, Any], key: str) -> tuple[str, ...] | None:
    found = given.get(key)
    if found is None:
        return None
    if isinstance(found, str):
        return (found,)
    if not isinstance(found, list) or not found or not all(isinstance(text, str) for text in found):
        raise InputError(f"`{key}`: expected a list of texts, found `{found!r}`", path=("show", key))
    return tuple(found)
