"""A week of a cluster, from the records of `odonata cluster watch`: what jobs lost, and how right predictions were."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from odonata import reading
from odonata.errors import InputError
from odonata.monitor import right
from odonata.monitor.lost import Lost, Row, lost, spans
from odonata.monitor.records import KINDS, PREDICTIONS, SLOWDOWNS

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import polars as pl

    from odonata.queue.accounting import Run

WEEK = timedelta(days=7)
NO_JOBS = "the records do not say how long jobs ran: give past jobs with --jobs"
MOST_BYTES = 1 << 28
"""Most bytes of a file of records."""


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
) -> Week:
    """What the records of a folder say of a time: by default of their last seven days.

    `runs` are past jobs. Raises InputError for a folder without records of simulations, and for files that are damaged.
    """
    folder = folder / "records" if (folder / "records").is_dir() else folder
    if not folder.is_dir():
        raise InputError(f"expected the folder that `odonata cluster watch` writes, found `{folder}`")
    slowdowns = _table(folder, "slowdowns", ["time", *SLOWDOWNS])
    if slowdowns is None:
        hint = "`odonata cluster watch --system MACHINE` writes them"
        raise InputError(f"`{folder}` has no records of slowdowns (slowdowns-*.parquet)", hint=hint)
    rows = [Row(time.timestamp(), *rest) for time, *rest in slowdowns.iter_rows()]
    if not rows:
        raise InputError(f"no simulation in `{folder}` judged a job")
    last = datetime.fromtimestamp(max(span.end for span in spans([row.time for row in rows]).values()), UTC)
    if end is None:
        end = last if begin is None else min(last, begin + WEEK)
    begin = end - WEEK if begin is None else begin
    if begin >= end:
        raise InputError(f"the time from {begin:%Y-%m-%d %H:%M} to {end:%Y-%m-%d %H:%M} is empty")
    bounds = begin.timestamp(), end.timestamp()
    lives = {run.id: (run.start, bounds[1] if run.end is None else run.end) for run in runs or () if run.id}
    jobs = lost(rows, *bounds, lives, communicates)
    stands = spans([row.time for row in rows])
    covered = [span.within(*bounds) for span in stands.values()]
    background = _table(folder, "background", ["time", "b"])
    samples = [] if background is None else [b for time, b in background.iter_rows() if begin <= time < end and b == b]
    samples = [b for b in samples if b is not None]
    told_risk: right.Risk | str = NO_JOBS
    told_slowdowns: right.Slowdowns | str = NO_JOBS
    if runs is not None:
        ended = [run for run in runs if run.end is not None]
        now = [run for run in ended if run.end is not None and bounds[0] <= run.end < bounds[1]]
        told_risk = right.risk(_starts(folder), now)
        whole = lost(rows, 0.0, bounds[1], lives, communicates)
        these = {run.id for run in now}
        told_slowdowns = right.slowdowns([job for job in whole if job.job in these], ended, communicates)
    return Week(
        begin,
        end,
        sum(seconds > 0 for seconds in covered),
        sum(covered),
        sum(samples) / len(samples) if samples else None,
        len(samples),
        communicates,
        tuple(jobs),
        tuple(_days(rows, begin, end, lives, communicates)),
        told_risk,
        told_slowdowns,
    )


def _days(
    rows: Sequence[Row],
    begin: datetime,
    end: datetime,
    lives: dict[str, tuple[float, float]],
    communicates: float,
) -> list[tuple[str, float]]:
    day = begin.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    made = []
    while day < end:
        after = day + timedelta(days=1)
        ends = max(day, begin).timestamp(), min(after, end).timestamp()
        made.append((f"{day:%Y-%m-%d}", sum(job.lost for job in lost(rows, *ends, lives, communicates))))
        day = after
    return made


def _starts(folder: Path) -> list[right.Start]:
    """Predictions of jobs when they began: the first of each, unless it was running before."""
    table = _table(folder, "predictions", ["time", *PREDICTIONS])
    if table is None:
        return []
    first = table.sort("time", maintain_order=True).unique("job", keep="first", maintain_order=True).filter("began")
    names = ("job", "probability", "flagged", "threshold_s", "median_s")
    return [right.Start(*row) for row in first.select(names).iter_rows()]


def _table(folder: Path, kind: str, columns: Sequence[str]) -> pl.DataFrame | None:
    """The files of a kind as one table; None without any."""
    import polars as pl

    assert kind in KINDS
    tables = []
    for path in sorted(folder.glob(f"{kind}-*.parquet")):
        try:
            data = reading.read_bytes(path, MOST_BYTES)
        except (OSError, ValueError) as problem:
            raise InputError(f"cannot read it: {reading.why(problem)}", file=path) from None
        if not data and kind == "background":
            continue  # a name that was reserved when the process ended
        tables.append(reading.read_parquet(path, data, columns))
    return pl.concat(tables) if tables else None
