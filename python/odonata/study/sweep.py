"""A sweep: every run of a study once, and its tables."""

from __future__ import annotations

import fcntl
import os
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from odonata.errors import InputError, RunError
from odonata.study import dataset
from odonata.study.folder import is_study_folder
from odonata.study.ledger import Ledger
from odonata.study.results import Results
from odonata.study.study import Study

if TYPE_CHECKING:
    from collections.abc import Iterator

    from odonata.study.ledger import Report
    from odonata.study.plan import Plan


QUICK = 10_000
"""Points whose tables are written within a second, so also after Ctrl-C; those of more wait until it is resumed."""


class Backend(Protocol):
    """Who does the work."""

    @property
    def workers(self) -> int:
        """Simulations at once, as far as is known at present; 0 if nothing is."""

    def run(self, ledger: Ledger) -> None:
        """Settles every point of the ledger."""


def sweep(
    plan: Plan,
    out: Path | None,
    backend: Backend,
    *,
    force: bool = False,
    retry_failed: bool = False,
    report: Report | None = None,
) -> Study:
    """Does what is not done yet of a study, and writes its tables; `out` is its folder (`None`: in memory).

    A run that fails is kept as failed, with its error; it is not repeated unless `retry_failed` is set. `force` repeats
    all. Whatever ends it, what was finished stays in `out`, and tables of that are written if there is time
    (KeyboardInterrupt). Raises InputError if `out` is something else or another sweep is at work in it, RunError if
    nothing can be written.
    """
    if out is None:
        ledger = Ledger(plan, Results(None), report=report)
        backend.run(ledger)
        made = dataset.tables(ledger)
        return Study(dataset.facts_of(plan, made["runs"]), made)
    check_place(out)
    with _alone_in(out):
        ledger = Ledger(plan, Results(out), force=force, retry_failed=retry_failed, report=report)
        try:
            backend.run(ledger)
        except BaseException as problem:
            # What stopped it is said by the exception; what was finished by then is in the tables.
            ledger.flush()
            if not isinstance(problem, KeyboardInterrupt) or ledger.settled <= QUICK:
                dataset.write(ledger, out)
            raise
        dataset.write(ledger, out)
    from odonata.study.study import open_study

    return open_study(out)


def check_place(folder: Path) -> None:
    """Raises InputError if a study could not be written there because something else is there."""
    if not folder.exists():
        return
    if not folder.is_dir():
        raise InputError(f"`{folder}` is a file, expected the folder of a study", hint="choose another with --out")
    if folder.samefile(Path.cwd()):
        raise InputError(f"`{folder}` is the current directory", hint="name a folder in it")
    if any(folder.iterdir()) and not is_study_folder(folder):
        raise InputError(f"`{folder}` exists and is not the folder of a study", hint="choose another with --out")


@contextmanager
def _alone_in(folder: Path) -> Iterator[None]:
    """Holds the lock of a folder; the system releases it however the process ends."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as problem:
        raise RunError(f"cannot use the folder `{folder}`: {problem.strerror or problem}") from problem
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InputError(f"another sweep is at work in `{folder}`", hint="wait for it, or choose --out") from None
        except OSError:
            pass  # a file system that knows no locks
        yield
    finally:
        os.close(lock)
