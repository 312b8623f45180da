"""The times of each job with a program: the states of its ranks, and its critical path."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from odonata.blame.critical import KINDS, LATE_RECEIVER, LATE_SENDER, Segment, critical_path, states
from odonata.blame.timeline import timeline_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import polars as pl

    from odonata.store import Run

RANKS = 3
"""Most ranks that are listed for a kind."""


@dataclass(frozen=True, slots=True)
class Share:
    """A kind of time."""

    kind: str
    """One of `odonata.blame.critical.KINDS`."""
    ps: int
    """In picoseconds."""
    share: float
    """Share of the total."""
    ranks: dict[int, int]
    """The ranks with the longest times of this kind. On a critical path these are the ranks on it; for waits for a late
    sender or receiver, the late ranks."""


@dataclass(frozen=True, slots=True)
class ProgramTime:
    """The times of a job with a program."""

    job: str
    """Name of the job."""
    time_ps: int
    """From its start to the end of its last rank, in picoseconds."""
    path: tuple[Share, ...]
    """The critical path by kind, longest first; the times add up to `time_ps`."""
    ranks_ps: int
    """The sum over ranks of the time from the start to the rank's end."""
    states: tuple[Share, ...]
    """The tasks and waits of the ranks by kind, longest first; the times add up to `ranks_ps`."""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A job with a program whose times are not known."""

    job: str
    """Name of the job."""
    reason: str
    """The reason, as the end of a sentence."""


TOO_MANY = "it has more operations than the million that a run records; with fewer `iterations` it may fit"
"""Why a program has no critical path."""


def is_recorded(run: Run, job: int) -> bool:
    """Whether a run has recorded the tasks and the messages of a job with a program, as far as a run records them."""
    spec = run.resolved["spec"]
    return bool(spec["measure"].get("operations")) and spec["jobs"][job]["record"] == "every-message"


def program_times(
    run: Run, jobs: Iterable[int], operations: pl.DataFrame, messages: pl.DataFrame
) -> tuple[tuple[ProgramTime, ...], tuple[LeftOut, ...]]:
    """Compute the times of jobs with programs.

    Parameters
    ----------
    run
        The run.
    jobs
        Indices of jobs.
    operations, messages
        Every task and every message of these jobs, as the tables of a run.

    Returns
    -------
    tuple of ProgramTime
        The jobs whose ranks have finished and whose tasks were all recorded.
    tuple of LeftOut
        The other jobs.
    """
    import polars as pl

    spec, names = run.resolved["spec"], run.jobs["name"].to_list()
    times, left_out = list[ProgramTime](), list[LeftOut]()
    for job in jobs:
        finish = run.ranks.filter(pl.col("job") == job)["finish_ps"].to_list()
        if None in finish:
            left_out.append(LeftOut(names[job], "not all of its ranks have finished"))
        elif not _has_all_ranks(operations, job, len(finish)):
            left_out.append(LeftOut(names[job], TOO_MANY))
        else:
            times.append(_program_time(names[job], spec, job, operations, messages, finish))
    return tuple(times), tuple(left_out)


def program_time(result: Mapping[str, Any], spec: Mapping[str, Any], job: int) -> ProgramTime | None:
    """The times of a job with a program, from a result of the core with its tasks and messages.

    None if not all of its ranks have finished, or not all of their tasks are recorded.
    """
    import polars as pl

    from odonata.store.tables import messages_frame, operations_frame, ranks_frame

    finish = ranks_frame(result, spec).filter(pl.col("job") == job)["finish_ps"].to_list()
    operations = operations_frame(result)
    if None in finish or not _has_all_ranks(operations, job, len(finish)):
        return None
    return _program_time(spec["jobs"][job]["name"], spec, job, operations, messages_frame(result), finish)


def _has_all_ranks(operations: pl.DataFrame, job: int, ranks: int) -> bool:
    import polars as pl

    return operations.filter(pl.col("job") == job)["rank"].n_unique() == ranks


def _program_time(
    name: str, spec: Mapping[str, Any], job: int, operations: pl.DataFrame, messages: pl.DataFrame, finish: list[int]
) -> ProgramTime:
    timeline = timeline_of(spec, job, operations, messages, finish)
    path = critical_path(timeline)
    of_ranks = [segment for rank in range(len(finish)) for segment in states(timeline, rank)]
    whole = max(finish) - timeline.start
    together = sum(finish) - len(finish) * timeline.start
    return ProgramTime(name, whole, _shares(path, whole), together, _shares(of_ranks, together))


def _shares(segments: Sequence[Segment], whole: int) -> tuple[Share, ...]:
    times, ranks = Counter[str](), {kind: Counter[int]() for kind in KINDS}
    for segment in segments:
        length = segment.end - segment.begin
        times[segment.kind] += length
        late = segment.kind in (LATE_SENDER, LATE_RECEIVER) and segment.peer is not None
        ranks[segment.kind][segment.peer if late and segment.peer is not None else segment.rank] += length
    order = sorted(times, key=lambda kind: (-times[kind], kind))
    return tuple(Share(kind, times[kind], times[kind] / whole if whole else 0.0, _most(ranks[kind])) for kind in order)


def _most(ranks: Counter[int]) -> dict[int, int]:
    return dict(sorted(ranks.items(), key=lambda item: (-item[1], item[0]))[:RANKS])
