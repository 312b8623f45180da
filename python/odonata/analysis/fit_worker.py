"""A process that fits families, one after another, each within a limit of processor time.

Processor time does not depend on other load or on the number of workers. A signal ends a fit at its limit; where SciPy
does not return to Python, the kernel ends the process a second later (`RLIMIT_CPU`).
"""

from __future__ import annotations

import math
import os
import resource
import signal
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any

from odonata.analysis.fit import NoFitError, fit


class _OverLimit(BaseException):
    """The limit is reached. No `Exception`, which SciPy and `fit` may catch."""


def main(descriptor: int) -> None:
    """Serves until the pipe is closed: a list of samples first, then (sample, family, seconds); answers each."""
    # Ctrl-C goes to all processes of a terminal; the parent closes the pipe.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGPROF, _over_limit)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    # Before the first limit: it takes a second.
    import scipy.stats  # noqa: F401

    pipe = Connection(descriptor)
    with suppress(EOFError, BrokenPipeError, ConnectionResetError):
        samples = pipe.recv()
        while True:
            sample, family, limit_s = pipe.recv()
            pipe.send(_limited(family, samples[sample], limit_s))
    os._exit(0)


def _limited(family: str, values: Any, limit_s: float) -> Any:
    """The fit, or why there is none."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    most = math.ceil(used.ru_utime + used.ru_stime + limit_s) + 1
    with suppress(ValueError, OSError):  # a lower limit of the user's stays
        resource.setrlimit(resource.RLIMIT_CPU, (most, hard))
    try:
        signal.setitimer(signal.ITIMER_PROF, limit_s)
        try:
            return fit(family, values)
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
    except NoFitError as problem:
        return str(problem)
    except Exception as problem:
        return f"{type(problem).__name__}: {problem}"
    except _OverLimit:
        return over_limit(limit_s)


def over_limit(limit_s: float) -> str:
    """The reason for a family that takes too long."""
    return f"not done within {limit_s:g} s of processor time"


def _over_limit(*_: object) -> None:
    raise _OverLimit
