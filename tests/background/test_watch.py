"""A recording: what is announced is on the disk, and nothing that was there is touched."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import polars as pl
import pytest
from tests.cluster import shapes

from odonata.background.utilisation import Background
from odonata.background.watch import COLUMNS, Recorder, watch
from odonata.errors import RunError

if TYPE_CHECKING:
    from pathlib import Path

FOUND = Background(4, 10, 5, 6, 2, 3)
NOON = datetime(2026, 5, 1, 12, tzinfo=UTC).timestamp()


class Clocks:
    """A wall clock that can be set, and one that cannot."""

    def __init__(self) -> None:
        self.wall, self.steady = NOON, 0.0

    def sleep(self, seconds: float) -> None:
        self.wall += seconds
        self.steady += seconds


def record(folder: Path, clocks: Clocks, measures: list, rows: int = 100) -> pl.DataFrame:
    answers = iter(measures)

    def measure() -> Background:
        answer = next(answers)
        if isinstance(answer, float):  # somebody sets the clock
            clocks.wall += answer
            return FOUND
        if isinstance(answer, Exception):
            raise answer
        return answer

    process = datetime.fromtimestamp(clocks.wall, UTC)
    recorder = Recorder(folder, process, rows)
    samples = watch(
        60, measure, count=len(measures), now=lambda: clocks.wall, clock=lambda: clocks.steady, sleep=clocks.sleep
    )
    for sample in samples:
        recorder.add(sample)
    return pl.read_parquet(folder / "*.parquet").filter(process=process).sort("sample")


def test_samples_are_rows(tmp_path: Path) -> None:
    recorded = record(tmp_path / "new" / "folder", Clocks(), [FOUND] * 3)
    assert recorded.columns == list(COLUMNS)
    assert recorded["elapsed_s"].to_list() == [0, 60, 120]
    assert recorded["b"].to_list() == [FOUND.b] * 3
    assert recorded["jobs_excluded"].to_list() == [3] * 3
    assert recorded["time"][1] == datetime(2026, 5, 1, 12, 1, tzinfo=UTC)


def test_a_new_file_after_so_many_rows_and_every_day(tmp_path: Path) -> None:
    clocks = Clocks()
    clocks.wall += 12 * 3600 - 150  # two and a half minutes before midnight
    recorded = record(tmp_path, clocks, [FOUND] * 7, rows=2)
    assert recorded["sample"].to_list() == list(range(7))
    heights = [pl.read_parquet(path).height for path in sorted(tmp_path.iterdir())]
    assert heights == [2, 1, 2, 2]


def test_a_clock_that_goes_back_loses_nothing(tmp_path: Path) -> None:
    clocks = Clocks()
    first = record(tmp_path, clocks, [FOUND, FOUND])
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    clocks.wall = NOON  # the second recording begins when the first did
    second = record(tmp_path, clocks, [FOUND, -3600.0, FOUND, FOUND], rows=2)
    assert {path: path.read_bytes() for path in before} == before
    assert pl.read_parquet(tmp_path / "*.parquet").height == len(first) + 4
    assert second.height >= 4
    backwards = [value for value in second["clock_back_s"] if value]
    assert backwards == [3540.0]


def test_a_failed_sample_is_a_row_with_its_reason(tmp_path: Path) -> None:
    recorded = record(tmp_path, Clocks(), [FOUND, RunError("`squeue` failed: no answer"), FOUND])
    assert recorded["b"].to_list() == [FOUND.b, None, FOUND.b]
    assert recorded["error"].to_list() == [None, "`squeue` failed: no answer", None]


def test_if_the_first_sample_fails_nothing_is_recorded(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="no answer"):
        next(watch(60, lambda: (_ for _ in ()).throw(RunError("no answer"))))


def test_a_kill_keeps_every_sample_that_was_announced(tmp_path: Path) -> None:
    queue = tmp_path / "squeue.json"
    queue.write_text(shapes.queue("25.05"))
    command = [sys.executable, "-m", "odonata.cli.main", "cluster", "background", "--queue", str(queue)]
    command += ["--nodes-total", "10", "--watch", "0.01", "--out", str(tmp_path / "record")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        announced = [process.stdout.readline() for _ in range(5)]
        os.kill(process.pid, signal.SIGKILL)
        announced += process.stdout.read().splitlines()
    kept = pl.read_parquet(tmp_path / "record" / "*.parquet")
    assert kept.height >= len([line for line in announced if "b1" in line])
    assert set(kept["b"]) == {0.4 * (5 / 6)}
