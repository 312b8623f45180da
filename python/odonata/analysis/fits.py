"""All distribution families fitted to samples in parallel, and ranked (Salimi Beni 2022, section 4: "more than 100
different distributions have been fitted to the data", the one with the least error being taken).

The paper does not say which error. Families are ranked by AIC; the Kolmogorov-Smirnov distance and the error of the
histogram are shown beside it, with the rank that each gives. The result does not depend on the number of workers.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections import deque
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from odonata.analysis.fit import Fit
from odonata.analysis.fit_worker import over_limit
from odonata.errors import InputError, RunError, unknown

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray


Criterion = Literal["aic", "ks", "histogram_error"]
CRITERIA: tuple[Criterion, ...] = ("aic", "ks", "histogram_error")

LIMIT_S = 5.0
"""Processor time for one family and sample. Assumed: 50 times what most take for 1,000 values."""
MOST_VALUES = 2_000
"""Values that are fitted; of more, every k-th. Assumed: families that differ visibly differ by far more than 10 in AIC
there."""
LEAST = 20
"""Fewest values that are fitted. Assumed: families have up to six parameters."""

_MAIN = "import sys; sys.path[:] = {path!r}; from odonata.analysis.fit_worker import main; main({descriptor})"


@dataclass(frozen=True)
class Fits:
    """The fits of all families to one sample."""

    n: int
    """Values that were fitted."""
    of: int
    """Number of all values."""
    fits: tuple[Fit, ...]
    """The successful fits, the best by AIC first; ties by name."""
    failures: dict[str, str]
    """Family -> why it has no fit, in alphabetical order."""

    def best(self, criterion: Criterion = "aic") -> Fit | None:
        """The best fit by a criterion; `None` if no family fits."""
        return min(self.fits, key=lambda fit: (getattr(fit, criterion), fit.family), default=None)

    def ranks(self, criterion: Criterion) -> dict[str, int]:
        """Family -> its rank by a criterion, from 1."""
        ordered = sorted(self.fits, key=lambda fit: (getattr(fit, criterion), fit.family))
        return {fit.family: place for place, fit in enumerate(ordered, 1)}

    @property
    def rejected(self) -> bool | None:
        """Whether even the best family by AIC is farther from the sample than 1.36 / sqrt(n), the 95 % bound of KS.

        The bound holds for parameters that were not fitted, so that a fit within it is not proved right.
        """
        best = self.best()
        return None if best is None else best.ks > 1.36 / float(np.sqrt(self.n))


def fit_all(
    samples: Sequence[NDArray[np.float64]],
    *,
    names: Sequence[str] | None = None,
    limit_s: float = LIMIT_S,
    workers: int = 1,
    report: Callable[[int, int], None] | None = None,
) -> list[Fits]:
    """Fits all families (or those of `names`) to each sample (shape `(n,)`), in worker processes.

    `report` is called with the number of fits that are done and of all. Raises InputError for an unknown family and for
    a sample that cannot be fitted: fewer than `LEAST` values, or all of them equal.
    """
    known = families()
    chosen = known if names is None else sorted(set(names))
    for name in chosen:
        if name not in known:
            raise unknown("family", name, known)
    for sample in samples:
        if why := unfit(sample):
            raise InputError(f"cannot fit a distribution: {why}")
    thinned = [np.asarray(times, np.float64)[:: -(-len(times) // MOST_VALUES)] for times in samples]
    tasks = deque((sample, name) for name in chosen for sample in range(len(samples)))
    fitted = _run(thinned, tasks, limit_s, workers, report)
    made = []
    for number, sample in enumerate(samples):
        outcomes = {name: fitted[number, name] for name in chosen}
        fits = sorted(
            (fit for fit in outcomes.values() if isinstance(fit, Fit)),
            key=lambda fit: (fit.aic, fit.family),
        )
        failures = {name: why for name, why in outcomes.items() if not isinstance(why, Fit)}
        made.append(Fits(len(thinned[number]), len(sample), tuple(fits), failures))
    return made


def unfit(sample: NDArray[np.float64]) -> str:
    """Why no family can be fitted; empty if it can."""
    if len(sample) < LEAST:
        return f"{len(sample)} values are fewer than {LEAST}"
    if np.ptp(sample) == 0:
        return "all values are equal"
    return ""


def _run(
    samples: list[NDArray[np.float64]],
    tasks: deque[tuple[int, str]],
    limit_s: float,
    workers: int,
    report: Callable[[int, int], None] | None,
) -> dict[tuple[int, str], Fit | str]:
    outcomes: dict[tuple[int, str], Fit | str] = {}
    total, stillborn = len(tasks), 0
    crew: list[_Worker] = []
    try:
        while len(outcomes) < total:
            busy = [worker for worker in crew if worker.task]
            while tasks and len(busy) < workers:
                worker = next((idle for idle in crew if not idle.task), None)
                if worker is None:
                    worker = _Worker(samples)
                    crew.append(worker)
                worker.take(tasks.popleft(), limit_s)
                busy.append(worker)
            pipes = {worker.pipe: worker for worker in busy}
            for ready in wait(list(pipes)):
                worker = pipes[ready]  # type: ignore[index]
                task = worker.task
                assert task is not None
                try:
                    outcomes[task] = worker.pipe.recv()
                    worker.task = None
                except (EOFError, OSError):
                    crew.remove(worker)
                    outcomes[task] = worker.ended(limit_s)
                    stillborn = stillborn + 1 if worker.lame else 0
                    if stillborn > workers:
                        hint = "ODONATA_TRACEBACK=1 shows what they say"
                        problem = f"processes that fit distributions do not start: {outcomes[task]}\n  hint: {hint}"
                        raise RunError(problem) from None
                if report is not None:
                    report(len(outcomes), total)
    finally:
        for worker in crew:
            worker.end()
    return outcomes


class _Worker:
    """A worker process as the parent sees it."""

    def __init__(self, samples: list[NDArray[np.float64]]) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            code = _MAIN.format(path=sys.path, descriptor=theirs.fileno())
            # One thread each: there are as many workers as there is room for.
            threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
            self.process = subprocess.Popen(
                [sys.executable, "-c", code],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=None if os.environ.get("ODONATA_TRACEBACK") else subprocess.DEVNULL,
                env={**os.environ, **threads},
            )
        self.pipe = Connection(ours.detach())
        self.task: tuple[int, str] | None = None
        self.lame = False
        """Whether it ended for a reason other than a limit."""
        self._send(samples)

    def take(self, task: tuple[int, str], limit_s: float) -> None:
        """Gives it a family to fit."""
        self.task = task
        self._send((*task, limit_s))

    def _send(self, what: Any) -> None:
        with suppress(OSError):  # a dead worker is noticed when its pipe is read
            self.pipe.send(what)

    def ended(self, limit_s: float) -> str:
        """The reason why it ended."""
        status = self.process.wait()
        self.pipe.close()
        if status == -signal.SIGXCPU:
            return over_limit(limit_s)
        self.lame = True
        return f"the process that fitted it ended with status {status}"

    def end(self) -> None:
        """Ends it."""
        self.process.kill()
        self.process.wait()
        self.pipe.close()


LEFT_OUT = {
    "erlang": "gamma with a whole number as its shape",
    "reciprocal": "another name of loguniform",
    "vonmises": "repeats itself on the whole line; vonmises_line is fitted",
    "wrapcauchy": "a distribution on the circle",
}
"""Family that is not fitted -> why."""


def families() -> list[str]:
    """The families of the installed SciPy in alphabetical order; 106 in SciPy 1.17."""
    from scipy import stats

    continuous = (name for name in dir(stats) if isinstance(getattr(stats, name), stats.rv_continuous))
    return sorted(name for name in continuous if name not in LEFT_OUT)
