"""The results of a job without each other job: runs in which one job is left out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from odonata.store.columns import RECORDS
from odonata.store.tables import job_rows

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from odonata.runner import Progress


@dataclass(frozen=True, slots=True)
class Without:
    """A job in a run that leaves out another job."""

    victim: str
    """The job."""
    without: str
    """The job that is left out."""
    quantity: str
    """What is compared: `latency_mean_ps`, or `time_ps` of a program."""
    with_ps: float | None
    """It in the run with all jobs, in picoseconds; `None` if not all of it arrived."""
    without_ps: float | None
    """It without the other job, in picoseconds; `None` if not all of it arrived."""

    @property
    def slowdown(self) -> float | None:
        """With the other job, divided by without it."""
        return self.with_ps / self.without_ps if self.with_ps and self.without_ps else None


def spec_without(spec: Mapping[str, Any], left_out: int) -> dict[str, Any] | None:
    """The specification without one job: same seed, same nodes. `None` if nothing would end its run."""
    jobs = [job for index, job in enumerate(spec["jobs"]) if index != left_out]
    waited = [index - (index > left_out) for index in spec["stop"]["jobs"] if index != left_out]
    if not jobs or (not waited and spec["stop"]["at_ps"] is None):
        return None
    stop = {"jobs": waited, "at_ps": spec["stop"]["at_ps"]}
    measure = {key: value for key, value in spec["measure"].items() if key not in RECORDS}
    return {**spec, "jobs": jobs, "stop": stop, "measure": measure}


def compare(
    spec: Mapping[str, Any], background: Sequence[bool], rows: Sequence[Mapping[str, Any]], progress: Progress | None
) -> list[Without]:
    """Leave out every job once.

    Parameters
    ----------
    spec, background
        The specification of the run, and which of its jobs are background.
    rows
        The rows of its table `jobs`.
    progress
        As in `odonata.run`.

    Returns
    -------
    list of Without
        For each job that is not background and each other job without which the run still ends.
    """
    from odonata.runner import simulate

    found = []
    for left_out, job in enumerate(spec["jobs"]):
        victims = [n for n, is_background in enumerate(background) if n != left_out and not is_background]
        reduced = spec_without(spec, left_out)
        if reduced is None or not victims:
            continue
        rest = [is_background for n, is_background in enumerate(background) if n != left_out]
        result = simulate(reduced, progress, stage=f"without {job['name']}")
        there = job_rows(result, reduced, rest, {})
        for victim in victims:
            here, other = rows[victim], there[victim - (victim > left_out)]
            quantity = "time_ps" if "program" in spec["jobs"][victim] else "latency_mean_ps"
            values = [row[quantity] if row["complete"] is not False else None for row in (here, other)]
            found.append(Without(here["name"], job["name"], quantity, values[0], values[1]))
    return found
