"""The jobs of a stream, from a file in which a cluster keeps them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from odonata.errors import InputError
from odonata.queue.accounting import read_runs
from odonata.queue.records import not_known

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from odonata.queue.accounting import Run

_PS = 10**12


@dataclass(frozen=True)
class Submission:
    """A job of a stream."""

    name: str
    """Unique in the stream."""
    submit_ps: int
    nodes: int
    work_ps: int
    """How long it runs with rate 1."""
    limit_ps: int
    """The time that it requested."""
    app: int
    """Number of its rule in the traffic book."""


@dataclass(frozen=True)
class Told:
    """What a stream says of a job, from which the traffic book finds its application."""

    id: str
    submit_s: float
    nodes: int
    work_s: float
    limit_s: float | None
    name: str = ""
    user: str = ""
    account: str = ""
    partition: str = ""


def read_stream(
    file: Path,
    *,
    cores_per_node: int | None,
    first: int | None,
    speed_up: float,
    notes: list[str],
    cluster: str | None = None,
    columns: Mapping[str, str] | None = None,
) -> list[Told]:
    """The jobs of a file in the order of submission, from time 0 on.

    Parameters
    ----------
    file
        As `odonata.queue.accounting.read_runs` takes it.
    cores_per_node
        For SWF: processors of a node.
    first
        Only so many jobs; None for all.
    speed_up
        The times between submissions are divided by it.
    notes
        What was left out or assumed is appended.
    cluster
        The cluster whose jobs count, in a file of several.
    columns
        For any table: what its columns are, as `odonata.queue.accounting.read_runs` takes it.

    Returns
    -------
    list of Told

    Raises
    ------
    InputError
        For a file that cannot be read and one without jobs.
    """
    try:
        record = read_runs(file, cores_per_node, cluster, columns=columns)
    except InputError as e:
        # The remedy names an option of commands, and a stream has a key.
        hint = e.hint and e.hint.replace("--cluster ", "cluster = ").replace("--cluster", "`cluster`")
        raise e.but(hint=hint and re.sub(r"--column (\w+)=COLUMN", r'columns = { \1 = "COLUMN" }', hint)) from None
    if record.skipped:
        notes.append(f"{record.skipped:,} jobs left out that end before they start")
    if record.unknown_states:
        notes.append(f"assumed: {not_known(dict(record.unknown_states))}")
    runs = [run for run in record.runs if run.end is not None and run.end > run.start]
    if len(runs) < len(record.runs):
        notes.append(f"{len(record.runs) - len(runs):,} jobs left out that had not ended, or took no time")
    if not runs:
        raise InputError("no job of the file has ended", file=file)
    late = sum(run.submit is None for run in runs)
    if late:
        notes.append(f"assumed: {late:,} jobs without a time of submission were submitted when they started")
    unlimited = sum(run.limit_s is None for run in runs)
    if unlimited:
        notes.append(f"assumed: {unlimited:,} jobs without a requested time requested the time that they ran")
    ordered = sorted(enumerate(runs), key=lambda pair: (_submitted(pair[1]), pair[0]))[:first]
    begin = _submitted(ordered[0][1])
    return [_told(number, run, (_submitted(run) - begin) / speed_up) for number, run in ordered]


def _submitted(run: Run) -> float:
    return run.start if run.submit is None else min(run.submit, run.start)


def _told(number: int, run: Run, submit_s: float) -> Told:
    assert run.end is not None
    return Told(
        run.id or str(number), submit_s, run.count, run.work_s, run.limit_s,
        run.name, run.user, run.account, run.partition,
    )  # fmt: skip


def submission(told: Told, number: int, app: int) -> Submission:
    """A job with its times in ps and the number of its rule. `number` makes the name unique."""
    work = max(1, round(told.work_s * _PS))
    limit = work if told.limit_s is None else max(1, round(told.limit_s * _PS))
    return Submission(f"{number}-{told.id}", round(told.submit_s * _PS), told.nodes, work, limit, app)
