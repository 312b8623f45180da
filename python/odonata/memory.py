"""The memory check: a run whose rows do not fit into memory is refused before it is simulated."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from odonata.core_options import LIMITS
from odonata.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from odonata.scenario import Resolved

COPIES = 2
"""Copies of a row at the end of a run: issue time and latency in the core (16 bytes), the table, and the latency for
quantiles. Measured: 58 bytes a row of 30."""

_BYTES = {"UInt16": 2, "UInt32": 4, "UInt64": 8}


def check_memory(resolved: Resolved) -> None:
    """Raise InputError if the rows of a run certainly need more memory than is available.

    Only messages of jobs with a pattern are counted, and only if they are certain: those of jobs that the run waits
    for, and of all jobs if the run ends at a given time.
    """
    _check_windows(resolved)
    rows = expected_rows(resolved)
    needed, available = rows * row_bytes(), available_bytes()
    if available is not None and needed > available:
        raise InputError(
            f"the run would record {rows:,} messages and need {size(needed)} of memory for them; "
            f"{size(available)} are available",
            hint='with latency = "histogram" under [measure] (or record = "histogram" in a job) memory does not grow '
            "with the messages",
            path=("measure", "latency"),
        )


MOST_COUNTS = LIMITS["arrival_counts"]
"""Most counts by window, job and group that a run keeps."""
_COUNT_BYTES = 32


def _check_windows(resolved: Resolved) -> None:
    """Raise InputError if `measure.links.every` certainly gives more windows than a run keeps or than fit into
    memory."""
    spec = resolved.spec
    every = spec["measure"]["arrivals_every_ps"]
    if not every:
        return
    stop = spec["stop"]
    lasts = [traffic["intervals"] * traffic["interval_ps"] for job in stop["jobs"]
             if (traffic := spec["jobs"][job].get("traffic")) and traffic["intervals"] is not None]  # fmt: skip
    # A run ends when its last message has arrived, which is later than this, or at a given earlier time.
    end = max(lasts, default=0) if stop["jobs"] else stop["at_ps"]
    if stop["at_ps"] is not None:
        end = min(end, stop["at_ps"])
    windows = end // every
    counts = windows * len(spec["jobs"]) * resolved.system.shape.groups
    needed, available = counts * _COUNT_BYTES, available_bytes()
    if counts > MOST_COUNTS or (available is not None and needed > available):
        raise InputError(
            f"windows this short give {windows:,} of them, with a count for each job and group: {size(needed)} of "
            f"memory; at most {MOST_COUNTS:,} counts are kept",
            hint='use wider windows, such as every = "10 us"',
            path=("measure", "links", "every"),
        )


def expected_rows(resolved: Resolved) -> int:
    """The least number of messages that a run records of jobs with a pattern."""
    stop = resolved.spec["stop"]
    rows = 0
    for index, job in enumerate(resolved.spec["jobs"]):
        waited_for = index in stop["jobs"] if stop["jobs"] else stop["at_ps"] is not None
        if "traffic" in job and job["record"] == "every-message" and waited_for:
            rows += messages_of_pattern(resolved, job) or 0
    return rows


def messages_of_pattern(resolved: Resolved, job: Mapping[str, Any]) -> int | None:
    """The messages that a job with a pattern sends by the end of a run; None if nothing in its table says it.

    If the run ends at a time it is the least number.
    """
    # Imported here, because a process that only simulates needs neither scenarios nor tables.
    from odonata.scenario.warnings import messages_per_interval

    traffic, at_ps = job["traffic"], resolved.spec["stop"]["at_ps"]
    counts = [] if traffic["intervals"] is None else [traffic["intervals"]]
    is_broadcast = traffic["pattern"]["name"] == "broadcast"
    if at_ps is not None:
        # A broadcast waits for the previous one, so the number of broadcasts by then is unknown.
        counts.append(0 if is_broadcast else at_ps // traffic["interval_ps"])
    if not counts:
        return None
    ranks = len(job["nodes"])
    return int(min(counts) * (ranks - 1 if is_broadcast else ranks * messages_per_interval(resolved, job)))


def row_bytes() -> int:
    """Bytes of memory that a row of `messages` takes at the end of a run."""
    from odonata.store.columns import columns_of

    return COPIES * sum(_BYTES[column.dtype] for column in columns_of("messages"))


def available_bytes(root: Path = Path("/")) -> int | None:
    """Memory that this process may still use, in bytes: the available memory of the machine, or the limit of its
    control groups.

    Where the system does not report available memory (macOS), it is the whole memory of the machine, or None if that is
    unknown too. `root` is the root of the kernel's file systems.
    """
    limits = [*_of_machine(root), *_of_groups(root)]
    if limits:
        return min(limits)
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError):
        return None


def _of_machine(root: Path) -> Iterator[int]:
    for line in _lines(root / "proc/meminfo"):
        if line.startswith("MemAvailable:"):
            yield int(line.split()[1]) * 1024


def _of_groups(root: Path) -> Iterator[int]:
    """Memory left in each control group of this process (versions 2 and 1). File caches that the kernel can drop count
    as free.
    """
    for line in _lines(root / "proc/self/cgroup"):
        _, controllers, name = line.split(":", 2)
        if not controllers:
            top, most, used, dropped = root / "sys/fs/cgroup", "memory.max", "memory.current", "inactive_file"
        elif "memory" in controllers.split(","):
            top, dropped = root / "sys/fs/cgroup/memory", "total_inactive_file"
            most, used = "memory.limit_in_bytes", "memory.usage_in_bytes"
        else:
            continue
        here = Path(name.strip("/"))
        # Inside a container, the group is often mounted at the root of the file system of groups.
        for group in dict.fromkeys([top, *(top / parent for parent in (here, *here.parents))]):
            limit, taken = _lines(group / most), _lines(group / used)
            if limit and taken and limit[0] != "max":
                stat = dict(line.split() for line in _lines(group / "memory.stat"))
                yield max(0, int(limit[0]) - int(taken[0]) + int(stat.get(dropped, 0)))


def _lines(file: Path) -> list[str]:
    try:
        return file.read_text().splitlines()
    except OSError:
        return []


def size(count: int) -> str:
    """Bytes of memory as text."""
    return f"{count / 2**30:,.1f} GiB" if count >= 2**30 else f"{count / 2**20:,.0f} MiB"
