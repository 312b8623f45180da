"""`manifest.json`: the description of a run folder, and all values that may differ between two equal runs."""

from __future__ import annotations

import hashlib
import json
import os
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from odonata.store.columns import TABLES, columns_of
from odonata.store.engine import fingerprint

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

MANIFEST = "manifest.json"

FORMAT = 1
"""Format of run folders and studies. A release that changes the format, even by a column, raises this number by one."""

VOLATILE = ("machine", "wall", "inputs", "checksum")
"""The only parts of a manifest that may differ between two runs of one scenario and version."""


def manifest(
    *,
    run_id: str,
    core_version: str,
    seed: int,
    channels: int,
    result: dict[str, Any],
    alone: list[str],
    wall: dict[str, Any],
    link_classes: Sequence[str] = (),
    steady: Mapping[str, Any] | None = None,
    packets: Mapping[str, Any] | None = None,
    collective: bool = False,
    reordering: bool = False,
) -> dict[str, Any]:
    """The manifest of a run; `alone` names the jobs that were also run alone, `wall` has the measured times.

    `link_classes` are the classes of links, in the order of `class_bytes` of the table of jobs. `steady` says what a
    run with `run.steady` has skipped, `packets` what was measured for `run.packets`; `collective`, whether a job is a
    collective; `reordering`, whether packets that come after later ones are counted.
    """
    return {
        "format": FORMAT,
        "id": run_id,
        "version": core_version,
        "engine": fingerprint(),
        "seed": seed,
        "sim_time_ps": result["end_ps"],
        "events": result["events"],
        "packet_hops": result["packet_hops"],
        "alone": alone,
        "link_classes": list(link_classes),
        **({} if steady is None else {"steady": dict(steady)}),
        **({} if packets is None else {"packets": dict(packets)}),
        "tables": {
            table: {
                "row": row,
                "columns": {
                    column.name: {"type": column.dtype, "unit": column.unit, "meaning": column.meaning}
                    for column in columns_of(
                        table, channels, steady=steady is not None, collective=collective, reordering=reordering
                    )
                },
            }
            for table, row in TABLES.items()
        },
        "machine": machine(),
        "wall": wall,
    }


def sealed_text(facts: Mapping[str, Any]) -> str:
    """A manifest as it is written: JSON, with a checksum over all other values."""
    text = json.dumps({**facts, "checksum": _checksum(facts)}, indent=2, ensure_ascii=False) + "\n"
    # Names of files may contain bytes that are not characters. They are escaped in JSON and read back unchanged.
    return text.encode("utf-8", "backslashreplace").decode()


def is_intact(facts: Mapping[str, Any]) -> bool:
    """Whether a manifest has the values that were written, by its checksum."""
    return bool(facts.get("checksum") == _checksum(facts))


def _checksum(facts: Mapping[str, Any]) -> str:
    signed = {key: value for key, value in facts.items() if key != "checksum"}
    canonical = json.dumps(signed, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()


def machine() -> dict[str, Any]:
    """Properties of the computer and the libraries that affect speed, without names of hosts or users."""
    import platform
    from importlib.metadata import version

    return {
        "platform": platform.platform(),
        "processor": _processor(),
        "cpus": os.cpu_count(),
        "python": platform.python_version(),
        "numpy": version("numpy"),
        "polars": version("polars"),
    }


def now() -> str:
    """The current time in UTC, to the second (ISO 8601)."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def peak_rss_bytes() -> int:
    """The peak resident memory of this process, in bytes.

    It is read from `VmHWM` of `/proc` if that exists, because `getrusage` also counts the memory of the parent at the
    fork.
    """
    try:
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    import platform

    return platform.processor() or platform.machine()
