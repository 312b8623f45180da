"""Durations in the notation of Slurm, such as time limits and remaining times."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from odonata.errors import InputError, shortened

NONE = frozenset({"", "unknown", "none", "null", "(null)", "nan", "nat", "n/a", "none assigned", "invalid", "not_set"})
"""Texts, in lower case, that Slurm prints in place of a missing duration or time."""
_ENDLESS = frozenset({"unlimited", "partition_limit", "infinite"})
_FORM = r"(?:([0-9]{1,9})-)?([0-9]{1,12})(?::([0-9]{1,12}))?(?::([0-9]{1,12}))?(?:\.[0-9]+)?"


def duration_s(text: str, what: str = "a time limit") -> float | None:
    """Seconds of a duration such as `90` (minutes), `30:00`, `12:00:00` or `1-12:00:00`.

    Returns None for a missing or an unlimited duration. Raises InputError for any other text. Source: squeue(1),
    sbatch(1) on `--time`.
    """
    text = text.strip()
    if text.lower() in NONE | _ENDLESS:
        return None
    match = re.fullmatch(_FORM, text)
    if match is None:
        raise InputError(f"expected {what} such as 1-12:00:00, found `{shortened(text, 40)}`")
    days, parts = int(match[1] or 0), [int(part) for part in match.groups()[1:] if part is not None]
    if match[1] is not None:  # days-hours[:minutes[:seconds]]
        hours, minutes, seconds = (*parts, 0, 0)[:3]
    elif len(parts) == 3:
        hours, minutes, seconds = parts
    else:  # minutes[:seconds]
        hours, (minutes, seconds) = 0, (*parts, 0)[:2]
    return float(((24 * days + hours) * 60 + minutes) * 60 + seconds)


def moment(start: str, ran: str) -> str:
    """When a job was listed that had started at a time and had run for a while: to the minute; empty if one is missing.

    What is no time is missing too: only the title of a scenario needs it.
    """
    try:
        ran_s = duration_s(ran)
        return "" if ran_s is None else f"{datetime.fromisoformat(start) + timedelta(seconds=ran_s):%Y-%m-%d %H:%M}"
    except (InputError, ValueError, OverflowError):
        return ""


def moment_of(seconds: int | None) -> str:
    """The same of a number of seconds since 1970; without the place of the cluster, it is in UTC."""
    try:
        return "" if not seconds else f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M} UTC"
    except (OverflowError, OSError, ValueError):
        return ""
