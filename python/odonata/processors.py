"""The processors of this machine, and how processes of a pool end."""

import os
import signal
import threading
import time
from pathlib import Path

MOST_THREADS = 1024
"""Most threads of a run."""
DEFAULT_THREADS = 8
"""Most threads of a run by default (assumed: with more, each thread has little work between two exchanges)."""

WATCH_S = 0.5
"""Wall time between two checks that the parent process lives."""


def begin_worker(parent: int) -> None:
    """Prepares a process of a pool. It ignores Ctrl-C, and ends soon after its parent, however the parent ends."""
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
    """Idle processors that this process may use, with its own: at least 1.

    On systems that do not report the number of running processes, all count as idle.
    """
    try:
        running = int(load.read_text().split()[3].partition("/")[0])  # proc_loadavg(5): this process is one of them
    except (OSError, ValueError, IndexError):
        return processors()
    others = max(running - 1, 0)
    return max(min(processors(), (os.cpu_count() or 1) - others), 1)


def default_threads() -> int:
    """The default number of threads of a run: the idle processors, up to `DEFAULT_THREADS`."""
    return min(idle_processors(), DEFAULT_THREADS)
