"""A sweep simulates every run of a study once and writes its tables."""

from __future__ import annotations

import warnings
from contextlib import suppress
from typing import TYPE_CHECKING, Protocol

from odonata import files
from odonata.errors import InputError, StaleWarning
from odonata.store.engine import fingerprint
from odonata.study import dataset, resolution_cache
from odonata.study.folder import is_study_folder, study_in
from odonata.study.ledger import Ledger
from odonata.study.results import Results
from odonata.study.study import Study, open_study

if TYPE_CHECKING:
    from pathlib import Path

    from odonata.study.ledger import Report
    from odonata.study.plan import Plan


QUICK = 10_000
"""Up to this number of points, tables are written after Ctrl-C (within a second). For more, the resumed sweep writes
them."""


class Backend(Protocol):
    """The workers of a sweep."""

    @property
    def workers(self) -> int:
        """Number of simultaneous simulations, if known; else 0."""

    def run(self, ledger: Ledger) -> None:
        """Settles every point of the ledger."""


def sweep(
    plan: Plan,
    out: Path | None,
    backend: Backend,
    *,
    force: bool = False,
    retry_failed: bool = False,
    keep_stale: bool = False,
    report: Report | None = None,
    until: float | None = None,
) -> Study:
    """Simulates the missing runs of a study, and writes its tables; `out` is its folder (`None`: in memory).

    A run that fails is kept as failed, with its error; it is not repeated unless `retry_failed` is set. Runs in `out`
    by another engine are stale: a StaleWarning counts them, and they are repeated unless `keep_stale` is set. `force`
    repeats all. A study whose tables are there and unchanged is only opened, and nothing is reported. At the time
    `until` (of `time.monotonic`) it ends with an OutOfTimeError. After any interruption, finished runs stay in `out`;
    after a KeyboardInterrupt their tables are written as well. Raises InputError if `out` has other contents or another
    sweep is using it, RunError if nothing can be written.
    """
    if out is None:
        ledger = Ledger(plan, Results(None), report=report, until=until)
        backend.run(ledger)
        made = dataset.tables(ledger)
        return Study(dataset.facts_of(plan, made["runs"]), made)
    check_place(out, plan, force=force)
    with files.alone_in(out, "sweep"):
        if not _is_of(out, plan):
            dataset.begin(plan, out)
        elif not force and resolution_cache.is_finished(plan, out):
            with suppress(InputError):  # a damaged table is written again
                return open_study(out)
        results = Results(out, keep_stale=keep_stale)
        if not force and not keep_stale:
            _warn_of_stale(out, results, plan.mark)
        ledger = Ledger(plan, results, force=force, retry_failed=retry_failed, report=report, until=until)
        ledger.take_cached(*resolution_cache.cached_resolutions(plan, out))
        try:
            if not ledger.complete:
                backend.run(ledger)
        except BaseException as problem:
            # The exception reports what stopped the sweep. The tables have all finished runs.
            ledger.flush()
            if not isinstance(problem, KeyboardInterrupt) or ledger.settled <= QUICK:
                dataset.write(ledger, out)
            raise
        dataset.write(ledger, out)
    return open_study(out)


def _warn_of_stale(folder: Path, results: Results, mark: str | None) -> None:
    stale = len(results.stale(mark))
    if stale:
        runs = f"{stale:,} run{' was' if stale == 1 else 's were'}"
        message = f"{runs} kept in `{folder}` by another engine (this one is {fingerprint()})"
        hint = "--keep-stale keeps them"
        what = "the sweep simulates again what the study needs"
        warnings.warn(f"{message}: {what}\n  hint: {hint}", StaleWarning, stacklevel=3)


def check_place(folder: Path, plan: Plan, *, force: bool = False) -> None:
    """Raises InputError if a study cannot be written there, or if the path has other contents.

    With `force`, the folder may be that of another study: with another name, or without any of these axes.
    """
    files.check_folder(folder)
    if not folder.exists() or not any(folder.iterdir()):
        return
    if not is_study_folder(folder):
        raise InputError(f"`{folder}` exists and is not the folder of a study", hint="choose another with --out")
    present = study_in(folder)
    if present is not None and not _is_of(folder, plan) and not force:
        name, keys = present
        axes = f"axes {', '.join(sorted(keys))}" if keys else "without axes"
        raise InputError(
            f"`{folder}` is the folder of another study: `{name}`, {axes}",
            hint="choose another folder with --out, or overwrite its tables with --force",
        )


def _is_of(folder: Path, plan: Plan) -> bool:
    """Whether the folder holds this study or an earlier form of it: the same name and a common axis, or the same
    file."""
    from pathlib import Path

    present = study_in(folder)
    if present is None or present[1].isdisjoint(plan.keys):
        return False
    return present[0] == plan.name or (plan.file is not None and Path(plan.file).resolve().parent == folder.resolve())
