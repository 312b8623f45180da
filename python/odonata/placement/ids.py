"""Lists of ids in the form `0-15,40`."""

import re
from collections.abc import Iterable, Sequence
from typing import Any

from odonata.errors import InputError, shortened

_PART = re.compile(r"([0-9]{1,20})(?:\s*-\s*([0-9]{1,20}))?")
#: Longest list that a range may denote: larger than any machine.
_MOST = 2**24


def parse_ids(value: Any, what: str = "ids") -> list[int]:
    """Ids in the order given: from `"0-15,40"`, a list of numbers and ranges, or one number.

    Raises InputError for anything else; whether the ids exist is for the caller to check.
    """
    if isinstance(value, bool):
        raise InputError(f'expected {what} such as "0-15,40", found `{value}`')
    if isinstance(value, int):
        return [_natural(value, what)]
    if isinstance(value, str):
        parts = [part.strip() for part in value.split(",")]
        if value.strip() and not parts[-1]:
            parts.pop()  # a trailing comma is allowed
        return [n for part in parts for n in _part(part, value, what)] if value.strip() else []
    if isinstance(value, Sequence):
        if all(type(part) is int and part >= 0 for part in value):
            return [*value]
        return [n for part in value for n in parse_ids(part, what)]
    raise InputError(f'expected {what} such as "0-15,40", found `{value!r}`')


def format_ids(ids: Iterable[int]) -> str:
    """Ids as ranges, in their order: `format_ids([0, 1, 2, 7])` is `"0-2,7"`."""
    return ",".join(f"{a}" if a == b else f"{a}-{b}" for a, b in runs(ids))


def runs(ids: Iterable[int]) -> list[tuple[int, int]]:
    """Runs of consecutive ids as (first, last), in the order of the ids."""
    found: list[tuple[int, int]] = []
    for n in ids:
        if found and found[-1][1] + 1 == n:
            found[-1] = (found[-1][0], n)
        else:
            found.append((n, n))
    return found


def _part(part: str, whole: str, what: str) -> range:
    match = _PART.fullmatch(part)
    if match is None:
        raise InputError(f'expected {what} such as "0-15,40", found `{shortened(whole)}`')
    first, last = int(match[1]), int(match[2] or match[1])
    if last < first:
        raise InputError(f"the range `{part}` ends before it begins")
    if last - first >= _MOST:
        raise InputError(f"the range `{part}` is longer than any machine")
    return range(first, last + 1)


def _natural(value: int, what: str) -> int:
    if value < 0:
        raise InputError(f"expected {what} from 0 on, found {value}")
    return value
