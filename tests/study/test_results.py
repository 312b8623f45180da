"""Finished runs are on the disk whole, or not at all."""

from __future__ import annotations

import errno
import os
import resource
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from odonata import files
from odonata.errors import InputError, RunError
from odonata.study.local import LocalPool
from odonata.study.results import MANY, Results
from odonata.study.sweep import sweep
from odonata.study.task import failure, frame_of

from .conftest import STUDY, Write, command, final, kept, swept


def done(run: str, time_ps: int) -> pl.DataFrame:
    facts = {**failure(run, ""), "error": None, "status": "done", "seed": 1, "wall_s": 0.5}
    jobs = pl.DataFrame({"job": [0, 1], "name": ["a", "b"], "time_ps": [time_ps, 2 * time_ps]})
    return frame_of([facts], [jobs])


def failed(run: str) -> pl.DataFrame:
    return frame_of([failure(run, "it broke")], [None])


def test_what_is_flushed_is_there_for_the_next_one(tmp_path: Path) -> None:
    first = Results(tmp_path)
    first.add(done("x", 5))
    assert Results(tmp_path).statuses() == {}
    first.flush()
    first.add(failed("y"))
    first.add(done("z", 7))
    first.flush()
    again = Results(tmp_path)
    assert again.statuses() == {"x": "done", "y": "failed", "z": "done"}
    rows = again.rows(["z", "y"]).sort("run.id", "job")
    assert rows["run.id"].to_list() == ["y", "z", "z"]
    assert rows["time_ps"].to_list() == [None, 7, 14]
    assert rows["run.error"].to_list() == ["it broke", None, None]


def test_a_run_that_was_done_after_it_failed_is_done_wherever_it_stands(tmp_path: Path) -> None:
    results = Results(tmp_path)
    for rows in (failed("x"), done("x", 5), failed("x"), done("x", 5)):
        results.add(rows)
        results.flush()
    assert results.statuses() == {"x": "done"}
    assert results.rows(["x"])["time_ps"].sort().to_list() == [5, 10]


def test_of_a_run_that_was_simulated_again_the_last_rows_count(tmp_path: Path) -> None:
    """Catches `--force` that simulates everything and shows the old results."""
    results = Results(tmp_path)
    for rows in (done("x", 5), done("x", 6), failed("x")):
        results.add(rows)
        results.flush()
    assert results.rows(["x"])["time_ps"].sort().to_list() == [6, 12]
    results.add(done("x", 7))
    assert results.rows(["x"])["time_ps"].sort().to_list() == [7, 14]


def test_many_small_files_become_one_and_nothing_is_lost_on_the_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Catches files that are removed before the joint one is safe: the process is killed between all its steps."""
    results = Results(tmp_path)
    for number in range(MANY - 1):
        results.add(done(f"run {number}", number))
        results.flush()
    assert len(list((tmp_path / "results").iterdir())) == MANY - 1

    class KilledError(BaseException):
        pass

    removed = []
    plain = Path.unlink

    def die(self: Path, missing_ok: bool = False) -> None:
        if removed:
            raise KilledError
        removed.append(self)
        plain(self, missing_ok)

    results.add(done("last", 1))
    with monkeypatch.context() as patched:
        patched.setattr(Path, "unlink", die)
        with pytest.raises(KilledError):
            results.flush()
    expected = {f"run {number}" for number in range(MANY - 1)} | {"last"}
    again = Results(tmp_path)
    assert set(again.statuses()) == expected
    rows = again.rows(expected)
    assert rows.height == 2 * MANY
    again._written = MANY - 1
    again.add(done("more", 1))
    again.flush()
    assert len(list((tmp_path / "results").iterdir())) == 1
    assert set(Results(tmp_path).statuses()) == expected | {"more"}


def test_a_file_that_cannot_be_written_leaves_the_old_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "part-000001.parquet"
    files.write(file, b"old")

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(RunError, match=r"cannot write `.*part-000001.parquet`: No space left on device"):
        files.write(file, b"new")
    assert [path.name for path in tmp_path.iterdir()] == [file.name]
    assert file.read_bytes() == b"old"


def test_nothing_is_renamed_before_it_is_on_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches a missing or late fsync: after a loss of power the file would be there and empty."""
    steps: list[str] = []
    sync, replace = os.fsync, Path.replace
    monkeypatch.setattr(os, "fsync", lambda fd: (steps.append("sync"), sync(fd)))
    monkeypatch.setattr(Path, "replace", lambda self, to: (steps.append("rename"), replace(self, to))[1])
    files.write(tmp_path / "x", b"data")
    assert steps == ["sync", "rename", "sync"]


def test_what_a_killed_writer_left_is_removed(tmp_path: Path) -> None:
    Results(tmp_path)
    left = tmp_path / "results" / ".part-000001.parquet.partial-0123abcd"
    left.write_bytes(b"half")
    assert Results(tmp_path).statuses() == {}
    assert not left.exists()


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    results = Results(tmp_path)
    results.add(done("x", 5))
    results.flush()
    (file,) = (tmp_path / "results").iterdir()
    file.write_bytes(file.read_bytes()[:40])
    with pytest.raises(InputError, match=r"part-000001-[0-9a-f]{16}.parquet: the file is damaged"):
        Results(tmp_path).statuses()


def test_a_full_disk_ends_the_sweep_and_loses_nothing(
    study: Write, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A disk on which the third file finds no room, and later finds it."""
    plan = study(STUDY.replace("to = 4", "to = 40"))
    written = []
    plain = files.write

    def write(path: Path, data: Any) -> None:
        if len(written) >= 2:
            raise RunError(f"cannot write `{path}`: No space left on device")
        plain(path, data)
        written.append(path)

    monkeypatch.setattr("odonata.study.ledger.FLUSH_S", 0.0)
    with monkeypatch.context() as patched:
        patched.setattr(files, "write", write)
        with pytest.raises(RunError, match="No space left on device"):
            sweep(plan, Path("out"), LocalPool(2))
    safe = kept("out")
    assert safe
    assert swept("study.toml", "--out", "out")["kept"] == len(safe)
    swept("study.toml", "--out", "whole")
    assert final("out") == final("whole")


def test_a_disk_without_room_is_said_in_one_line(study: Write, here: Path) -> None:
    """As on a full disk, but of the system's own making: no file may have more than 2,048 bytes."""
    study()
    limit = (2048, 2048)
    process = command(
        "sweep", "study.toml", "--out", "out", "-q", preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, limit)
    )
    assert (process.returncode, process.stdout) == (1, "")
    assert process.stderr.startswith("error: cannot write `out/results/part-0")
    assert process.stderr.endswith("`: File too large\n")
    assert not [path for path in here.rglob("*") if ".partial-" in path.name]
    assert swept("study.toml", "--out", "out")["settled"] == 8
