"""The processors of this machine."""

import os
from pathlib import Path

MOST_THREADS = 1024
"""Most threads of a run."""
DEFAULT_THREADS = 8
"""Most threads of a run unless more are asked for (assumed: with more, each has little to do between two
exchanges)."""


def processors() -> int:
    """Processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def idle_processors(load: Path = Path("/proc/loadavg")) -> int:
    """Processors that this process may use and that nothing else uses now, its own included: at least 1.

    On systems that do not say how many processes run, all count as idle.
    """
    try:
        running = int(load.read_text().split()[3].partition("/")[0])  # proc_loadavg(5): this process is one of them
    except (OSError, ValueError, IndexError):
        return processors()
    others = max(running - 1, 0)
    return max(min(processors(), (os.cpu_count() or 1) - others), 1)


def default_threads() -> int:
    """The threads of a run for which none are asked: the idle processors, up to `DEFAULT_THREADS`."""
    return min(idle_processors(), DEFAULT_THREADS)
