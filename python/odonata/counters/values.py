"""Times and counts in files of counters."""

from __future__ import annotations

import math
import re
from datetime import datetime

from odonata.errors import InputError, shortened

_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_NUMBER = re.compile(r"[0-9]{1,12}(\.[0-9]*)?")


def second(text: str) -> float:
    """Seconds since 1970 of `1795873000.5` or of an ISO time with its zone. Raises InputError for others."""
    if _NUMBER.fullmatch(text):
        return float(text)
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        message = f"expected seconds since 1970 or a time such as 2026-05-01T12:00:00Z, found `{shortened(text, 40)}`"
        raise InputError(message) from None
    if moment.tzinfo is None:
        full = text if "T" in text or " " in text else f"{text}T00:00:00"
        raise InputError(f"the time `{text}` has no zone", hint=f"`{full}Z` or `{full}+02:00`")
    return moment.timestamp()


def second_of_option(text: str) -> float:
    """The same of an option, where a date alone, such as `2026-05-01`, is its first moment in UTC."""
    return second(f"{text}T00:00:00Z" if _DATE.fullmatch(text) else text)


def count(text: str, what: str = "") -> float:
    """What a counter shows. Raises InputError, with `what` it counts, for anything but a number from 0 on."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value < math.inf:
        before = f"`{what}`: " if what else ""
        raise InputError(f"{before}expected a number from 0 on, found `{shortened(text, 40)}`")
    return value
