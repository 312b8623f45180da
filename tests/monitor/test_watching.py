"""The loop of `odonata cluster watch`: weeks in seconds, full disks, set clocks, failing commands and simulations."""

from __future__ import annotations

import errno
import os
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import polars as pl
import pytest

from odonata import files
from odonata.errors import InputError, RunError
from odonata.monitor import Watching, records
from odonata.monitor.judging import Judging
from odonata.monitor.state import Judgement, Slowdown

if TYPE_CHECKING:
    from pathlib import Path

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC).timestamp()
HEADER = "JOBID|STATE|NODELIST|NAME\n"


class Clocks:
    """A wall clock that can be set, and one that cannot. What is to happen at a time happens while somebody sleeps."""

    def __init__(self, events=()):
        self.wall, self.steady = NOON, 0.0
        self._events = sorted(events, key=lambda event: event[0])

    def sleep(self, seconds):
        self.wall += seconds
        self.steady += seconds
        while self._events and self._events[0][0] <= self.steady:
            self._events.pop(0)[1](self)


def watching(folder: Path, clocks: Clocks, **more) -> Watching:
    queue = folder / "queue.txt"
    if not queue.exists():
        queue.write_text(HEADER + "1|R|n[1-4]|a\n2|R|n[5-6]|b\n")
    return Watching(
        folder / "records",
        timedelta(days=more.pop("keep", 400)),
        queue,
        None,
        {"nodes_total": 10, "drained": "count", "least_nodes": 2},
        now=lambda: clocks.wall,
        clock=lambda: clocks.steady,
        sleep=clocks.sleep,
        **more,
    )


def recorded(folder: Path) -> pl.DataFrame:
    return pl.read_parquet(folder / "records" / "background-*.parquet").sort("process", "sample")


def test_a_week(tmp_path):
    def jobs(count):
        text = HEADER + "".join(f"{n}|R|n[{2 * n - 1}-{2 * n}]|x\n" for n in range(1, count + 1))
        return lambda _: (tmp_path / "queue.txt").write_text(text)

    days = 7
    clocks = Clocks([(86_400 * day + 1, jobs(day % 5 + 1)) for day in range(days)])
    of = watching(tmp_path, clocks)
    count = days * 24 * 6
    assert [troubles for _, troubles in of.samples(600, count) if troubles] == []
    table = recorded(tmp_path)
    assert table["sample"].to_list() == list(range(count))
    assert table.filter(elapsed_s=3 * 86_400 + 600)["b"].to_list() == [0.8]  # four jobs of two nodes on ten
    assert of.state.counts == {"samples": count}
    assert len(list((tmp_path / "records").iterdir())) == days + 1  # one a day, from noon to noon


def test_records_have_a_bound(tmp_path):
    of = watching(tmp_path, Clocks(), keep=2)
    for _ in of.samples(3600, 24 * 6):
        pass
    oldest = recorded(tmp_path)["time"].min()
    assert timedelta(days=2) <= datetime.fromtimestamp(NOON, UTC) + timedelta(days=6) - oldest < timedelta(days=5)


def test_a_full_disk_loses_nothing(tmp_path, monkeypatch):
    clocks = Clocks()
    of = watching(tmp_path, clocks)
    write = files.write

    def full(path, data):
        if 3600 < clocks.steady < 10_000:
            raise RunError(f"cannot write `{path}`: {os.strerror(errno.ENOSPC)}")
        write(path, data)

    monkeypatch.setattr(files, "write", full)
    troubles = [trouble for _, all_of_them in of.samples(600, 30) for trouble in all_of_them]
    assert len(troubles) == 10
    assert all("written later" in trouble and "No space left" in trouble for trouble in troubles)
    assert recorded(tmp_path)["sample"].to_list() == list(range(30))
    assert recorded(tmp_path)["elapsed_s"].to_list() == [600.0 * n for n in range(30)]
    assert of.state.counts["record_failures"] == 10
    assert of.state.counts["records_lost"] == 0


def test_a_disk_that_stays_full_has_a_bound(tmp_path, monkeypatch):
    of = watching(tmp_path, Clocks())
    monkeypatch.setattr(records, "MOST_WAITING", 5)

    def full(path, data):
        raise RunError("full")

    monkeypatch.setattr(files, "write", full)
    for _ in of.samples(600, 12):
        pass
    assert of.state.counts["records_lost"] == 7


def test_a_folder_that_is_deleted(tmp_path):
    import shutil

    of = watching(tmp_path, Clocks([(3000, lambda _: shutil.rmtree(tmp_path / "records"))]))
    for _ in of.samples(600, 12):
        pass
    assert recorded(tmp_path)["sample"].to_list() == list(range(5, 12))


def test_what_cannot_be_removed_is_left(tmp_path):
    (tmp_path / "records" / "background-20000101T000000Z-000.parquet").mkdir(parents=True)
    of = watching(tmp_path, Clocks(), keep=2)
    assert [troubles for _, troubles in of.samples(600, 3) if troubles] == []


def test_a_clock_that_is_set_back(tmp_path):
    def back(clocks):
        clocks.wall -= 7200

    of = watching(tmp_path, Clocks([(1000, back)]))
    troubles = [trouble for _, all_of_them in of.samples(600, 5) for trouble in all_of_them]
    assert troubles == ["the clock went back by 6,600.0 s; the sample is kept"]
    assert recorded(tmp_path)["elapsed_s"].to_list() == [0, 600, 1200, 1800, 2400]
    assert of.state.counts["clock_steps_back"] == 1


def test_a_queue_that_cannot_be_read_later(tmp_path):
    queue = tmp_path / "queue.txt"
    good = HEADER + "1|R|n[1-4]|a\n"
    of = watching(
        tmp_path,
        Clocks([(500, lambda _: queue.write_text("nonsense")), (1100, lambda _: queue.write_text(good))]),
    )
    seen = [(sample.background is None, of.state.background is None) for sample, _ in of.samples(600, 3)]
    assert seen == [(False, False), (True, True), (False, False)]
    assert of.state.counts["sample_failures"] == 1
    assert recorded(tmp_path)["b"].is_null().to_list() == [False, True, False]


def test_a_wrong_file_is_an_error_at_once(tmp_path):
    of = watching(tmp_path, Clocks())
    (tmp_path / "queue.txt").write_text("nonsense")
    with pytest.raises(InputError):
        next(iter(of.samples(600, 3)))


def test_a_manager_that_starts_later(tmp_path, monkeypatch):
    answers = iter([RunError("`squeue` failed"), None])

    def background(*arguments, **more):
        if (answer := next(answers)) is not None:
            raise answer
        return real(*arguments, **more)

    from odonata.monitor import watching as module

    real = module.background
    monkeypatch.setattr(module, "background", background)
    seen = [troubles for _, troubles in watching(tmp_path, Clocks()).samples(600, 2)]
    assert seen == [["no sample: `squeue` failed"], []]


class Simulations:
    """In place of `Judging`: a result after each hour, and once an error."""

    def __init__(self, clocks):
        self.clocks, self.error, self.done, self.stopped = clocks, None, 0, False

    def poll(self):
        self.error = None
        if self.clocks.steady < 3600 * (self.done + 1):
            return None
        self.done += 1
        if self.done == 2:
            self.error = "the simulation of all jobs failed with status 2: no"
            return None
        return Judgement(self.clocks.wall, 5.0, (Slowdown("1", 4, 1.5, 1.1, 2.0, "2", 0.9),), 1)

    def stop(self):
        self.stopped = True


def test_simulations(tmp_path):
    clocks = Clocks()
    simulations = Simulations(clocks)
    published = []
    of = watching(tmp_path, clocks, judging=simulations, publish=lambda: published.append(clocks.steady))
    troubles = [trouble for _, all_of_them in of.samples(600, 24) for trouble in all_of_them]
    assert troubles == ["the simulation of all jobs failed with status 2: no"]
    assert (of.state.counts["impacts"], of.state.counts["impact_failures"]) == (2, 1)
    assert {3600.0, 10_800.0} <= set(published)
    assert simulations.stopped
    table = pl.read_parquet(tmp_path / "records" / "slowdowns-*.parquet")
    assert table.height == 2
    assert table.drop("time").row(0) == ("1", 4, 1.5, 1.1, 2.0, "2", 0.9)


def judging(tmp_path, text, **more):
    """The command that simulates is a script of the shell, by its text."""
    script = tmp_path / "python"
    script.write_text(f"#!/bin/sh\n{text}\n")
    script.chmod(0o755)
    clocks = Clocks()
    times = {"every_s": 3600.0, "limit_s": 60.0} | more
    of = Judging(
        [], tmp_path / "impact", times["every_s"], times["limit_s"], lambda: clocks.steady, lambda: clocks.wall
    )
    return of, clocks, script


def ended(of, clocks, seconds=2.0):
    """Polls until something is known."""
    for _ in range(400):
        result = of.poll()
        if result is not None or of.error is not None:
            return result, of.error
        clocks.sleep(seconds)
        import time

        time.sleep(0.01)
    raise AssertionError("it does not end")


RESULT = (
    '{"jobs": [{"id": "7", "job": "job-7", "nodes": 4, "slowdown": 1.5, "range": [1.1, 2.0], '
    '"by": {"job": "job-8", "share_of_others": 0.9}}], '
    '"not_judged": [{"id": "8", "job": "job-8", "nodes": 2}]}'
)


def test_a_simulation_that_ends(tmp_path, monkeypatch):
    text = f"mkdir -p {tmp_path}/impact; echo '{RESULT}' > {tmp_path}/impact/impact.json"
    of, clocks, script = judging(tmp_path, text)
    monkeypatch.setattr("sys.executable", str(script))
    result, error = ended(of, clocks)
    assert error is None
    assert result.jobs == (Slowdown("7", 4, 1.5, 1.1, 2.0, "8", 0.9),)
    assert result.not_judged == 1
    clocks.sleep(600)
    assert of.poll() is None  # it rests
    assert of._process is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("echo error: no such book >&2; exit 2", "failed with status 2: error: no such book"),
        ("exit 0", "cannot be read"),
        ("kill -9 $$", "failed with status -9"),
        ("sleep 1000", "took more than 60 s"),
    ],
)
def test_a_simulation_that_fails(tmp_path, monkeypatch, text, message):
    of, clocks, script = judging(tmp_path, text)
    monkeypatch.setattr("sys.executable", str(script))
    result, error = ended(of, clocks)
    assert result is None
    assert message in error
    assert of._process is None


class Predictor:
    """Any run is as likely to be slow as the machine is busy."""

    def predict(self, known):
        from types import SimpleNamespace

        return SimpleNamespace(flagged=known["b"] > 0.5, probability=known["b"], threshold_ps=2e12, median_ps=1e12)


def test_predictions_of_jobs_that_begin(tmp_path):
    queue = tmp_path / "queue.txt"
    more = HEADER + "1|R|n[1-4]|a\n2|R|n[5-6]|b\n3|R|n[7-8]|c\n"
    of = watching(tmp_path, Clocks([(500, lambda _: queue.write_text(more))]), predictor=Predictor())
    assert [troubles for _, troubles in of.samples(600, 4) if troubles] == []
    assert of.state.risks == {"high": 3}
    table = pl.read_parquet(tmp_path / "records" / "predictions-*.parquet")
    assert table.select("job", "nodes", "probability", "began").rows() == [
        ("1", 4, 0.6, False),
        ("2", 2, 0.6, False),
        ("3", 2, 0.8, True),
    ]
    assert table["time"].dt.epoch("s").to_list() == [NOON, NOON, NOON + 600]
