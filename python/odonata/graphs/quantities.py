"""Bandwidths and times as files of other simulators write them: `100Gbps`, `12.5GBps`, `25 Gb/s`."""

from __future__ import annotations

import re

from odonata import units
from odonata.errors import InputError, shortened

#: A bandwidth of ns-3 and SimGrid: in small letters bits, in capitals bytes.
_RATE = re.compile(r"([0-9.eE+]+)\s*([kKMGT]?i?)(bps|Bps|b/s)")
_UNITS = {"bps": "bit/s", "b/s": "bit/s", "Bps": "B/s"}


def rate(text: str, line: int) -> int:
    """A bandwidth in millionths of a byte per second. Raises InputError with the line."""
    match = _RATE.fullmatch(text.strip())
    said = text if match is None else f"{match[1]} {match[2].replace('K', 'k') if match[2] == 'K' else match[2]}"
    if match is not None:
        said += _UNITS[match[3]]
    try:
        micro = units.bandwidth_micro(said)
    except InputError as e:
        hint = e.hint if e.hint is None or "did you mean" not in e.hint else 'for example "100 Gbit/s" or "100Gbps"'
        raise InputError(f"`{shortened(text, 60)}` is no bandwidth: {e.message}", line=line, hint=hint) from None
    if micro == 0:
        raise InputError(f"a link with the bandwidth `{shortened(text, 60)}` never delivers a packet", line=line)
    return micro


def delay(text: str, line: int) -> int:
    """A time in picoseconds. Raises InputError with the line."""
    try:
        return units.time_ps(text.strip())
    except InputError as e:
        raise InputError(f"`{shortened(text, 60)}` is no latency: {e.message}", line=line, hint=e.hint) from None
