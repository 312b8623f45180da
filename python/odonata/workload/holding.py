"""What holds for all assumptions about the traffic: a study over the alternatives of a traffic book."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from odonata.errors import InputError
from odonata.text import columns, four_digits
from odonata.workload.from_queue import TRAFFIC

if TYPE_CHECKING:
    from odonata.study.study import Study

MATTERS = 1.01
"""A smaller slowdown is called none (assumed, as for remedies)."""


@dataclass(frozen=True)
class Held:
    """The slowdown of a job by assumption."""

    job: str
    rows: tuple[tuple[str, int, float | None, tuple[float, float] | None], ...]
    """Assumption, runs, median slowdown, 95 % interval of the median."""

    @property
    def slowed(self) -> tuple[str, ...]:
        """Assumptions under which the job is slowed down beyond the interval."""
        return tuple(name for name, _, _, between in self.rows if between is not None and between[0] >= MATTERS)

    @property
    def free(self) -> tuple[str, ...]:
        """Assumptions under which it is not slowed down, also by its interval."""
        return tuple(name for name, _, _, between in self.rows if between is not None and between[1] < MATTERS)

    @property
    def sentence(self) -> str:
        """What holds for all assumptions, or for which it does not."""
        medians = [median for _, _, median, _ in self.rows if median is not None]
        if len(medians) < len(self.rows):
            return f"Not known for all assumptions: some runs of `{self.job}` are not complete."
        span = f"{min(medians):.2f} to {max(medians):.2f} times as long as alone"
        if len(self.slowed) == len(self.rows):
            return f"Under all {len(self.rows)} assumptions, `{self.job}` is slowed down: it takes {span}."
        if len(self.free) == len(self.rows):
            return f"Under all {len(self.rows)} assumptions, the other jobs do not slow down `{self.job}`."
        under = ", ".join(self.slowed) or "none"
        return f"It depends on the traffic: `{self.job}` takes {span}; slowed down beyond the interval under: {under}."

    def as_dict(self) -> dict[str, Any]:
        """The object that `--json` prints.

        Returns
        -------
        dict
            Strings, numbers, lists and dictionaries.
        """
        rows = [
            {"traffic": name, "runs": runs, "slowdown": median, "interval": between}
            for name, runs, median, between in self.rows
        ]
        return {"job": self.job, "holds_for_all": len(self.slowed) == len(self.rows), "sentence": self.sentence} | {
            "traffic": rows
        }

    def __str__(self) -> str:
        from odonata.text import Table

        rows = [
            [
                name,
                str(runs),
                "-" if median is None else f"{four_digits(median)} x",
                "-" if between is None else f"{four_digits(between[0])} to {four_digits(between[1])}",
            ]
            for name, runs, median, between in self.rows
        ]
        table = Table(columns(["traffic", "runs", "slowdown", "95 % interval"]), rows)
        return "\n".join([self.sentence, "", *table.lines()])


def holding(study: Study) -> Held:
    """What holds of the victim's slowdown for all assumptions about the traffic.

    Parameters
    ----------
    study
        The study that `odonata cluster snapshot --vary traffic` wrote, swept.

    Returns
    -------
    Held

    Raises
    ------
    InputError
        If it is another study, or no run is done.
    """
    if TRAFFIC not in study.axes:
        hint = "odonata cluster snapshot --vary traffic writes one"
        raise InputError(f"the study has no axis `{TRAFFIC}`", file=study.path, hint=hint)
    comparison = study.compare(TRAFFIC, "slowdown")
    return Held(
        str(comparison.job), tuple((str(row.value), row.n, row.median, row.interval) for row in comparison.rows)
    )
