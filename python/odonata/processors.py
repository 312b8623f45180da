"""The processors of this machine, and how processes of a pool end."""

import os
import signal
import threading
import time
from pathlib import Path

MOST_THREADS = 1024
"""Most threads of a run."""
DEFAULT_THREADS = 8
"""Most threads of a run unless more are asked for (assumed: with more, each has little to do between two
exchanges)."""

WATCH_S = 0.5
"""Wall time between two looks at whether the parent still lives."""


def begin_worker(parent: int) -> None:
    """Begins a process of a pool: Ctrl-C is for its parent, and it ends soon after its parent, however that ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(WATCH_S)
    os._exit(1)


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
