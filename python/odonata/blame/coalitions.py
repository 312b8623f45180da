"""Runs of some of the jobs of a scenario: same nodes, same seed."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from odonata.errors import OdonataError, RunError
from odonata.processors import begin_worker
from odonata.store.columns import RECORDS
from odonata.store.tables import job_rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from odonata.runner import Progress

Coalition = frozenset[int]
"""Indices of jobs that run together."""


def spec_of(spec: Mapping[str, Any], members: Coalition) -> dict[str, Any] | None:
    """The specification with only some of its jobs: same seed, same nodes. `None` if nothing would end its run."""
    kept = sorted(members)
    waited = [kept.index(job) for job in spec["stop"]["jobs"] if job in members]
    if not kept or (not waited and spec["stop"]["at_ps"] is None):
        return None
    stop = {"jobs": waited, "at_ps": spec["stop"]["at_ps"]}
    measure = {key: value for key, value in spec["measure"].items() if key not in RECORDS}
    return {**spec, "jobs": [spec["jobs"][job] for job in kept], "stop": stop, "measure": measure}


def quantity_of(spec: Mapping[str, Any], job: int) -> str:
    """The compared quantity of a job: `latency_mean_ps`, or `time_ps` for a program."""
    return "time_ps" if "program" in spec["jobs"][job] else "latency_mean_ps"


def value(spec: Mapping[str, Any], job: int, row: Mapping[str, Any]) -> float | None:
    """Its value from the row of the job in `jobs`, without skipped iterations; `None` if not all messages arrived."""
    time: float | None = row[quantity_of(spec, job)] if row["complete"] is not False else None
    skipped = row.get("skipped_ps") if "program" in spec["jobs"][job] else None
    return time - skipped if time is not None and skipped else time


class Coalitions:
    """The times of each job in each coalition; a coalition is simulated once."""

    def __init__(self, spec: Mapping[str, Any], background: Sequence[bool], rows: Sequence[Mapping[str, Any]]) -> None:
        self._spec, self._background = spec, background
        self._known: dict[Coalition, dict[int, float | None]] = {
            frozenset(range(len(rows))): {job: value(spec, job, row) for job, row in enumerate(rows)}
        }

    def possible(self, members: Coalition) -> bool:
        """Whether a run of these jobs would end."""
        return spec_of(self._spec, members) is not None

    def __getitem__(self, members: Coalition) -> dict[int, float | None]:
        return self._known[members]

    def simulate(self, wanted: Iterable[Coalition], workers: int, progress: Progress | None) -> None:
        """Simulates the coalitions that were not simulated before. Their order does not change results.

        Raises RunError if a worker dies, and InputError or RunError if a coalition cannot be simulated.
        """
        missing = sorted({coalition for coalition in wanted if coalition not in self._known}, key=sorted)
        if min(workers, len(missing)) <= 1:
            for members in missing:
                self._known[members] = simulated(self._spec, self._background, members, progress)
            return
        from concurrent.futures import ProcessPoolExecutor
        from concurrent.futures.process import BrokenProcessPool
        from multiprocessing import get_context

        # NumPy and polars have threads, and a fork of a process with threads may hang.
        with ProcessPoolExecutor(
            min(workers, len(missing)), get_context("spawn"), begin_worker, (os.getpid(),)
        ) as pool:
            futures = {members: pool.submit(_safely, self._spec, self._background, members) for members in missing}
            try:
                for members, future in futures.items():
                    value, problem = future.result()
                    if problem is not None:
                        raise problem
                    self._known[members] = value
            except BrokenProcessPool:
                hint = "fewer --workers"
                raise RunError(f"a worker has died, perhaps because memory ran out\n  hint: {hint}") from None
            finally:
                for future in futures.values():
                    future.cancel()


def simulated(
    spec: Mapping[str, Any], background: Sequence[bool], members: Coalition, progress: Progress | None = None
) -> dict[int, float | None]:
    """The time of each job of a coalition. Raises InputError or RunError if it cannot be simulated."""
    from odonata.runner import simulate

    reduced = spec_of(spec, members)
    assert reduced is not None, members
    kept = sorted(members)
    absent = [job["name"] for number, job in enumerate(spec["jobs"]) if number not in members]
    result = simulate(reduced, progress, stage=f"without {', '.join(absent)}")
    rows = job_rows(result, reduced, [background[job] for job in kept], {})
    return {job: value(spec, job, row) for job, row in zip(kept, rows, strict=True)}


def _safely(
    spec: Mapping[str, Any], background: Sequence[bool], members: Coalition
) -> tuple[dict[int, float | None], OdonataError | None]:
    try:
        return simulated(spec, background, members), None
    except OdonataError as problem:
        return {}, problem
