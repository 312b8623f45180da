"""A table of measurements by version: what `odonata bench --record FILE` appends."""

from __future__ import annotations

import csv
import io
import platform
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

COLUMNS = (
    "date", "version", "engine", "processor", "case", "repetitions", "ns_per_packet_hop", "events_per_packet_hop",
    "instructions_per_packet_hop", "peak_rss_bytes", "packet_hops", "instructions_per_message",
)  # fmt: skip
"""The columns of the table. `engine` is the fingerprint of the compiled core and its settings."""


def append(file: Path, results: Mapping[str, Mapping[str, Any]]) -> None:
    """Appends one row for each case; writes the head if the file is new.

    Raises
    ------
    InputError
        If the file holds another table.
    RunError
        If it cannot be read or written.
    """
    from odonata import __version__
    from odonata.errors import InputError, RunError
    from odonata.store.engine import fingerprint

    head = ",".join(COLUMNS)
    try:
        old = file.read_text(encoding="utf-8") if file.exists() else ""
        first = old.partition("\n")[0]
        if old and first != head:
            raise InputError(f"`{file}` is not a table of measurements: its first line is `{first[:80]}`, not `{head}`")
        text = io.StringIO()
        writer = csv.DictWriter(text, COLUMNS, restval="", extrasaction="ignore", lineterminator="\n")
        if not old:
            writer.writeheader()
        for case, measured in results.items():
            numbers = {name: _short(value) for name, value in measured.items()}
            writer.writerow({
                **numbers,
                "date": f"{datetime.now(UTC):%Y-%m-%d}",
                "version": __version__,
                "engine": fingerprint()[:12],
                "processor": _processor(),
                "case": case,
            })  # fmt: skip
        with file.open("a", encoding="utf-8") as table:
            table.write(text.getvalue())
    except (OSError, UnicodeDecodeError) as problem:
        raise RunError(f"cannot write `{file}`: {getattr(problem, 'strerror', None) or problem}") from problem


def _short(value: Any) -> Any:
    if value is None:
        return ""
    return f"{value:.4g}" if isinstance(value, float) else value


def _processor() -> str:
    """The name of the processor, as far as the system tells."""
    try:
        with Path("/proc/cpuinfo").open(encoding="utf-8") as lines:
            for line in lines:
                if line.startswith("model name"):
                    return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()
