"""Background utilisation over the past, from a file of jobs with their times."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from odonata.background.utilisation import LEAST_NODES, Background
from odonata.errors import InputError
from odonata.queue.accounting import Record, Run, read_runs
from odonata.queue.records import not_known

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    import polars as pl

#: Seconds between two samples, assumed: most jobs of two nodes or more run longer.
EVERY_S = 600.0
#: Most samples of a series, and most of them for each job. Assumed: a year, once each ten seconds; and that jobs of a
#: cluster are not days apart. A single wrong date would otherwise make millions of samples.
_MOST_SAMPLES = 3_200_000
_FREE_SAMPLES = 60_000
_SAMPLES_OF_A_JOB = 1_000


@dataclass(frozen=True)
class History:
    """Background utilisation as a series of samples."""

    times: list[float]
    """Seconds since 1970, by the clock of the file."""
    samples: list[Background]
    """What holds at these times."""
    mean_b: float
    """Mean of b over the whole time, exact: every change counts for as long as it lasts."""
    mean_b1: float
    runs: int
    """Jobs that ran."""
    skipped: int
    """Jobs left out because they end before they start."""
    unknown_states: Mapping[str, int] = field(default_factory=dict)
    """States that are not known here -> how many jobs have them. These are taken as not running."""

    def frame(self) -> pl.DataFrame:
        """The series as a table.

        Returns
        -------
        polars.DataFrame
            A row for each sample: time (UTC), b1, b, and the counts that they are made of.
        """
        import polars as pl

        columns: dict[str, Any] = {"time": [datetime.fromtimestamp(t, UTC).replace(tzinfo=None) for t in self.times]}
        names = ("b1", "b", "nodes_communicating", "nodes_total", "listings_communicating", "listings_running")
        columns |= {name: [getattr(sample, name) for sample in self.samples] for name in (*names, "jobs_counted")}
        return pl.DataFrame(columns)


def read_history(
    file: str | Path,
    *,
    nodes_total: int | None = None,
    every_s: float = EVERY_S,
    least_nodes: int = LEAST_NODES,
    cores_per_node: int | None = None,
    cluster: str | None = None,
) -> History:
    """Background utilisation over the past.

    Parameters
    ----------
    file
        What `sacct --parsable2` or `sacct --json` prints, a trace in SWF, or a table of jobs as PM100 has it. Where a
        file has only numbers of nodes, as SWF has, nodes are taken to be not shared.
    nodes_total
        Nt, the number of nodes of the machine; SWF says it in its header (`MaxNodes`).
    every_s
        Seconds from one sample to the next; the first is at the first start of a job.
    least_nodes
        Fewest nodes of a job that communicates.
    cores_per_node
        Processors of a node, for SWF without `MaxNodes` and `MaxProcs`.
    cluster
        The cluster whose jobs count, in a file of several.

    Returns
    -------
    History

    Raises
    ------
    InputError
        For a file that cannot be read, if the number of nodes is not known, and if jobs run on more.
    """
    if not 0 < every_s < math.inf:
        raise InputError(f"expected a finite number of seconds above 0 between samples, found {every_s:g}")
    record = read_runs(file, cores_per_node, cluster)
    total = nodes_total if nodes_total is not None else record.nodes_total
    if total is None:
        raise InputError("the number of nodes of the machine is not known", file=file, hint="give --nodes-total N")
    if not record.runs:
        hint = not_known(dict(record.unknown_states)) if record.unknown_states else None
        raise InputError("no job in the file ran", file=file, hint=hint)
    try:
        return _sampled(record, total, every_s, least_nodes)
    except InputError as e:
        raise e.at(file) from None


def _sampled(record: Record, total: int, every_s: float, least_nodes: int) -> History:
    first = min(run.start for run in record.runs)
    last = max(run.start if run.end is None else run.end for run in record.runs)
    if (last - first) / every_s > _MOST_SAMPLES:
        raise InputError(f"samples of {every_s:g} s make more than {_MOST_SAMPLES:,}", hint="give a larger --every")
    expected = _FREE_SAMPLES + _SAMPLES_OF_A_JOB * len(record.runs)
    if (last - first) / every_s > expected:
        days = [datetime.fromtimestamp(moment, UTC).date() for moment in (first, last)]
        raise InputError(
            f"{len(record.runs):,} jobs from {days[0]} to {days[1]} make {(last - first) / every_s:,.0f} samples",
            hint="a date may be wrong; if it is not, give a larger --every",
        )
    times: list[float] = []
    samples: list[Background] = []
    area_b = area_b1 = 0.0
    for begin, end, state in _states(record.runs, total, least_nodes, last):
        area_b += state.b * (end - begin)
        area_b1 += state.b1 * (end - begin)
        while (at := first + len(times) * every_s) < end or (at == end == last and not times):
            times.append(at)
            samples.append(state)
    span = last - first
    mean_b, mean_b1 = (area_b / span, area_b1 / span) if span else (samples[0].b, samples[0].b1)
    return History(times, samples, mean_b, mean_b1, len(record.runs), record.skipped, record.unknown_states)


def _states(runs: list[Run], total: int, least_nodes: int, last: float) -> Iterator[tuple[float, float, Background]]:
    """The utilisation between each change and the next: begin, end and what holds there."""
    if any(run.parts for run in runs):
        runs = [replace(run, start=start, end=end, parts=()) for run in runs for start, end in run.spans]
    # At one moment, ends come before starts: nodes go from one job to the next.
    changes = sorted(
        [(run.start, 1, at) for at, run in enumerate(runs)]
        + [(last if run.end is None else run.end, 0, at) for at, run in enumerate(runs)]
    )
    communicating: Counter[str] = Counter()
    unnamed = shared = running = counted = 0
    instant = {at for at, run in enumerate(runs) if run.end == run.start}
    for number, (moment, starts, at) in enumerate(changes):
        run = runs[at]
        if at not in instant:
            sign = 1 if starts else -1
            running += sign * run.count
            if run.count >= least_nodes:
                counted += sign
                shared += sign * run.count
                if run.nodes is None:
                    unnamed += sign * run.count
                else:
                    _count(communicating, run.nodes, sign)
        following = changes[number + 1][0] if number + 1 < len(changes) else last
        if following > moment or number + 1 == len(changes):
            if len(communicating) > total:
                raise InputError(
                    f"jobs run on {len(communicating):,} nodes at once, more than the {total:,} of the machine"
                )
            # Jobs with a known number of nodes but no list may share nodes.
            used = min(total, len(communicating) + unnamed)
            yield moment, following, Background(used, total, shared, running, counted, 0)


def _count(counter: Counter[str], names: tuple[str, ...], sign: int) -> None:
    for name in names:
        counter[name] += sign
        if not counter[name]:
            del counter[name]
