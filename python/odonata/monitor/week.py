"""A week of a cluster, from the records of `odonata cluster watch`: what jobs lost, and how right predictions were."""

from __future__ import annotations

import time as clock
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING, Any

from odonata.errors import InputError
from odonata.monitor import recorded, right
from odonata.monitor.lost import DAY_S, Lost, Row, Span, clipped, lost, lost_by_day, spans

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from odonata.queue.accounting import Run

WEEK = timedelta(days=7)
MARGIN_S = 60.0
"""Seconds after the last sample for which a simulation stands at most, if a single sample does not say how often they
are taken (the default of `watch`).
"""
NO_JOBS = "the records do not say how long jobs ran: give past jobs with --jobs"


@dataclass(frozen=True)
class Week:
    """What the records say of a time."""

    begin: datetime
    end: datetime
    simulations: int
    covered_s: float
    """Seconds for which simulations stand."""
    b: float | None
    """Mean background utilisation of the samples; None without any."""
    samples: int
    communicates: float
    jobs: tuple[Lost, ...]
    """The largest loss first."""
    days: tuple[tuple[str, float], ...]
    """Node-hours lost on each day (UTC)."""
    risk: right.Risk | str
    """Or why it cannot be told."""
    slowdowns: right.Slowdowns | str
    """Or why it cannot be told."""

    @property
    def node_hours(self) -> float:
        """Of the jobs, while simulations say how they are slowed down."""
        return sum(job.node_hours for job in self.jobs)

    @property
    def lost(self) -> tuple[float, float | None, float | None]:
        """Node-hours lost, and the least and most over the assumptions, if all jobs have them."""
        known = [(job.low, job.high) for job in self.jobs if job.low is not None and job.high is not None]
        total = sum(job.lost for job in self.jobs)
        if len(known) < len(self.jobs) or not known:
            return total, None, None
        return total, sum(low for low, _ in known), sum(high for _, high in known)

    def as_dict(self) -> dict[str, Any]:
        """The object that `--json` prints."""
        total, low, high = self.lost
        return {
            "from": self.begin.isoformat(),
            "to": self.end.isoformat(),
            "simulations": self.simulations,
            "covered_s": self.covered_s,
            "background_utilisation": self.b,
            "samples": self.samples,
            "communicates": self.communicates,
            "node_hours": self.node_hours,
            "lost": total,
            "lost_range": None if low is None else [low, high],
            "days": [{"day": day, "lost": value} for day, value in self.days],
            "jobs": [asdict(job) for job in self.jobs],
            "risk": {"cannot_be_told": self.risk} if isinstance(self.risk, str) else asdict(self.risk),
            "slowdowns": {"cannot_be_told": self.slowdowns}
            if isinstance(self.slowdowns, str)
            else asdict(self.slowdowns),
            "placements": {"cannot_be_told": PLACEMENTS},
        }


PLACEMENTS = (
    "the records do not say which placement would have saved node-hours, because that takes many simulations of each "
    "job: `odonata cluster snapshot --victim JOB`, then `odonata advise`, say it while the job runs"
)


def week(
    folder: Path,
    begin: datetime | None = None,
    end: datetime | None = None,
    runs: Sequence[Run] | None = None,
    communicates: float = 1.0,
    now: float | None = None,
) -> Week:
    """What the records of a folder say of a time: by default of their last seven days.

    `runs` are past jobs, `now` is seconds since 1970 (default: the clock). Raises InputError for a folder without
    records of simulations, for files that are damaged, and for a time outside of the records.
    """
    folder = folder / "records" if (folder / "records").is_dir() else folder
    if not folder.is_dir():
        raise InputError(f"expected the folder that `odonata cluster watch` writes, found `{folder}`")
    slowdowns = recorded.read(folder, "slowdowns")
    if slowdowns is None:
        hint = "`odonata cluster watch --system MACHINE` writes them"
        raise InputError(f"`{folder}` has no records of slowdowns (slowdowns-*.parquet)", hint=hint)
    rows = [Row(**{**row, "time": row["time"].timestamp()}) for row in slowdowns.iter_rows(named=True)]
    if not rows:
        raise InputError(f"no simulation in `{folder}` judged a job")
    background = recorded.read(folder, "background")
    sampled = [] if background is None else [time.timestamp() for time in background["time"]]
    stands = _stands([row.time for row in rows], sampled, clock.time() if now is None else now)
    whole = Span(min(span.begin for span in stands.values()), max(span.end for span in stands.values()))
    begin, end = _bounds(begin, end, whole)
    bounds = begin.timestamp(), end.timestamp()
    lives = {run.id: (run.start, bounds[1] if run.end is None else run.end) for run in runs or () if run.id}
    jobs = lost(rows, stands, *bounds, lives, communicates)
    by_day = lost_by_day(rows, stands, *bounds, lives, communicates)
    covered = [span.within(*bounds) for span in stands.values()]
    samples = [] if background is None else [b for time, b in background.iter_rows() if begin <= time < end and b == b]
    samples = [b for b in samples if b is not None]
    told_risk: right.Risk | str = NO_JOBS
    told_slowdowns: right.Slowdowns | str = NO_JOBS
    if runs is not None:
        ended = [run for run in runs if run.end is not None]
        done = [run for run in ended if run.end is not None and bounds[0] <= run.end < bounds[1]]
        told_risk = right.risk(_starts(folder), done)
        until = lost(rows, stands, 0.0, bounds[1], lives, communicates)
        these = {run.id for run in done}
        told_slowdowns = right.slowdowns([job for job in until if job.job in these], ended, communicates)
    return Week(
        begin,
        end,
        sum(seconds > 0 for seconds in covered),
        sum(covered),
        sum(samples) / len(samples) if samples else None,
        len(samples),
        communicates,
        tuple(jobs),
        tuple(_days(by_day, begin, end)),
        told_risk,
        told_slowdowns,
    )


def _stands(times: Sequence[float], sampled: Sequence[float], now: float) -> dict[float, Span]:
    """The time for which each simulation stands: none that `watch` did not see, and none after now.

    It saw the time from the first to the last record, and the time of a sample on each side.
    """
    stands = spans(times)
    gaps = [after - before for before, after in pairwise(sorted(set(sampled)))]
    if not sampled or (not gaps and len(stands) > 1):  # how often samples are taken is not known
        return clipped(stands, 0.0, max(now, min(times)))
    margin = median(gaps) if gaps else MARGIN_S
    first, last = min(*times, *sampled) - margin, max(*times, *sampled) + margin
    return clipped(stands, first, max(min(last, now), min(times)))


def _bounds(begin: datetime | None, end: datetime | None, whole: Span) -> tuple[datetime, datetime]:
    """The time that is asked for, as far as there are records. Raises InputError if there are none."""
    first, last = datetime.fromtimestamp(whole.begin, UTC), datetime.fromtimestamp(whole.end, UTC)
    said_begin, said_end = begin, end
    if end is None:
        end = last if begin is None or last - WEEK <= begin else min(last, max(begin, first) + WEEK)
    end = min(end, last)
    begin = max(first, begin) if begin is not None else max(end, first) - WEEK
    if begin < end and end > first:
        return begin, end
    asked = f"from {_told(said_begin)} " if said_begin is not None else ""
    asked += f"to {_told(said_end)} " if said_end is not None else ""
    message = f"the time {asked}is empty: the records go from {_told(first)} to {_told(last)}"
    raise InputError(message, hint="--from or --to within the records")


def _told(moment: datetime) -> str:
    return f"{moment.astimezone(UTC).replace(tzinfo=None).isoformat(timespec='seconds')}Z"


def _days(by_day: dict[int, float], begin: datetime, end: datetime) -> list[tuple[str, float]]:
    first, last = int(begin.timestamp() // DAY_S), -int(-end.timestamp() // DAY_S)
    days = ((day, datetime.fromtimestamp(day * DAY_S, UTC)) for day in range(first, last))
    return [(f"{of:%Y-%m-%d}", by_day.get(day, 0.0)) for day, of in days]


def _starts(folder: Path) -> list[right.Start]:
    """Predictions of jobs when they began: the first of each, unless it was running before."""
    table = recorded.read(folder, "predictions")
    if table is None:
        return []
    first = table.sort("time", maintain_order=True).unique("job", keep="first", maintain_order=True).filter("began")
    names = ("job", "probability", "flagged", "threshold_s", "median_s")
    return [right.Start(*row) for row in first.select(names).iter_rows()]
