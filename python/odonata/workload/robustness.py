"""Whether a slowdown depends on the assumed traffic: a study over the alternatives of a traffic book."""

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
_FEWEST = 6
"""Fewest runs that give an interval of 95 % of their median (`analysis.dispersion`)."""
_SHOWN = 4
"""Jobs that are named in a warning."""


@dataclass(frozen=True)
class Robustness:
    """The slowdown of a job under each assumption."""

    job: str
    rows: tuple[tuple[str, int, float | None, tuple[float, float] | None], ...]
    """Assumption, runs, median slowdown, 95 % interval of the median."""
    unended: tuple[tuple[str, int, int], ...] = ()
    """Other jobs that ended no iteration: name, in how many runs, of how many."""

    @property
    def slowed(self) -> tuple[str, ...]:
        """Assumptions under which the job is slowed down, with its whole interval."""
        return tuple(name for name, _, _, between in self.rows if between is not None and between[0] >= MATTERS)

    @property
    def free(self) -> tuple[str, ...]:
        """Assumptions under which it is not slowed down, with its whole interval."""
        return tuple(name for name, _, _, between in self.rows if between is not None and between[1] < MATTERS)

    @property
    def known(self) -> bool:
        """Whether every assumption has an interval. Without one, nothing can be concluded."""
        return all(between is not None for *_, between in self.rows)

    @property
    def warnings(self) -> tuple[str, ...]:
        """Warnings about jobs that did not end an iteration."""
        if not self.unended:
            return ()
        jobs = ", ".join(f"`{name}` in {runs:,} of {of:,} runs" for name, runs, of in self.unended[:_SHOWN])
        more = f" and {len(self.unended) - _SHOWN:,} more jobs" if len(self.unended) > _SHOWN else ""
        return (
            f"{jobs}{more} ended no iteration: only the begin of one is simulated, so the runs do not show what such a "
            "job does to others. Runs of more messages or iterations of the victim do (`messages`, `iterations` of "
            "the traffic book).",
        )

    @property
    def sentence(self) -> str:
        """Whether the slowdown is there under all assumptions, and under which if not."""
        medians = [median for _, _, median, _ in self.rows if median is not None]
        if len(medians) < len(self.rows):
            return f"Not known for all assumptions: some runs of `{self.job}` are not complete."
        span = f"{min(medians):.2f} to {max(medians):.2f} times as long as alone"
        if not self.known:
            fewest = min(runs for _, runs, _, between in self.rows if between is None)
            seeds = "1 run" if fewest == 1 else f"{fewest:,} runs"
            return (
                f"Not known: {seeds} of an assumption give{'s' if fewest == 1 else ''} no interval, and at least "
                f"{_FEWEST} do: put more seeds into `run.seed` of the study. `{self.job}` takes {span} in these runs."
            )
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
        holds_for_all = len(self.slowed) == len(self.rows) if self.known else None
        told = {
            "job": self.job,
            "holds_for_all": holds_for_all,
            "sentence": self.sentence,
            "warnings": list(self.warnings),
        }
        return told | {"traffic": rows}

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
        return "\n".join([self.sentence, *(f"warning: {text}" for text in self.warnings), "", *table.lines()])


def robustness(study: Study) -> Robustness:
    """Compare the slowdowns of the victim under all assumptions about the traffic.

    Parameters
    ----------
    study
        The study that `odonata cluster snapshot --vary traffic` wrote, swept.

    Returns
    -------
    Robustness

    Raises
    ------
    InputError
        If it is another study, or no run is done.
    """
    if TRAFFIC not in study.axes:
        hint = "odonata cluster snapshot --vary traffic writes one"
        raise InputError(f"the study has no axis `{TRAFFIC}`", file=study.path, hint=hint)
    comparison = study.compare(TRAFFIC, "slowdown")
    rows = tuple((str(row.value), row.n, row.median, row.interval) for row in comparison.rows)
    return Robustness(str(comparison.job), rows, _unended(study))


def _unended(study: Study) -> tuple[tuple[str, int, int], ...]:
    """The jobs beside the victim that ended no iteration in some runs, those of most runs first."""
    import polars as pl

    beside = study.jobs.filter(pl.col("background") & pl.col("iterations").is_not_null())
    counted = beside.group_by("name", maintain_order=True).agg(
        (pl.col("iterations") == 0).sum().alias("none"), pl.len()
    )
    rows = [(str(name), int(none), int(runs)) for name, none, runs in counted.iter_rows() if none]
    return tuple(sorted(rows, key=lambda row: -row[1]))
