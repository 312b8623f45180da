"""Processes that are killed at any moment lose no finished run, and damage nothing."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from odonata.cli.main import main
from odonata.study.estimate import Estimate
from odonata.study.ledger import Ledger
from odonata.study.local import LocalPool, _Member
from odonata.study.results import Results
from odonata.study.sweep import sweep

from .conftest import BASE, Write, children, command, eventually, final, kept, killed, sweeping, swept

SLOW = """\
base = "base.toml"

[sweep]
routing = ["fpar", "minimal"]
"job.target.app.messages" = [6000, 6001]
"run.seed" = { from = 1, to = 8 }
"""


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """What `SLOW` gives if nothing is killed, simulated once."""
    folder = tmp_path_factory.mktemp("whole")
    (folder / "base.toml").write_text(BASE)
    (folder / "study.toml").write_text(SLOW)
    with pytest.MonkeyPatch.context() as patched:
        patched.chdir(folder)
        swept("study.toml", "--out", "whole")
        return final("whole")


def test_a_killed_worker_loses_nothing(study: Write, whole: dict[str, bytes]) -> None:
    """Catches a pool that loses its queue, or the batch of the dead worker, and one that repeats finished runs."""
    plan = study(SLOW)
    victims: list[int] = []

    def kill_one(ledger: Ledger) -> None:
        if ledger.settled >= 4 and not victims:
            victims.append(children()[0])
            os.kill(victims[0], signal.SIGKILL)

    swept = sweep(plan, Path("out"), LocalPool(2), report=kill_one)
    assert victims
    assert swept.runs["status"].to_list() == ["done"] * 32
    assert final("out") == whole
    parts = [pl.read_parquet(file) for file in Path("out/results").iterdir()]
    ids = pl.concat([part.unique("run.id") for part in parts])["run.id"]
    assert ids.n_unique() == len(ids) == 32  # none was simulated twice


def test_a_run_that_kills_its_workers_fails_and_the_others_go_on(study: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches endless retries, and a batch condemned for one of its runs."""
    plan = study(
        'base = "base.toml"\n[sweep]\n"run.seed" = [1, 2]\n'
        '"job.target.app.messages" = [20, 900000000, 21]\n'
    )  # fmt: skip
    long = [number for number in range(6) if number % 3 == 1]
    deaths = []
    plain = LocalPool._heard

    def heard(self: LocalPool, member: _Member, ledger: Ledger) -> bool:
        alive = plain(self, member, ledger)
        # While it simulates, not while it resolves the point: it must not have said anything after.
        run = None if member.at is None else ledger.ids.get(member.at)
        if alive and member.at in long and ledger._under_way.get(run) == member.at:
            deaths.append(member.at)
            os.kill(member.process.pid, signal.SIGKILL)
        return alive

    monkeypatch.setattr(LocalPool, "_heard", heard)
    swept = sweep(plan, Path("out"), LocalPool(2))
    assert swept.failed["point"].to_list() == long
    assert set(swept.failed["error"]) == {"its worker died 2 times (SIGKILL, perhaps because memory ran out)"}
    assert swept.runs.filter(pl.col("status") == "done").height == 4
    assert swept.jobs["point"].n_unique() == 4
    assert sorted(deaths) == sorted([*long, *long])


def test_a_killed_sweep_goes_on_where_it_was(study: Write, here: Path, whole: dict[str, bytes]) -> None:
    """Catches results that are only in memory, or in a file that a kill cuts off, and workers that outlive it."""
    study(SLOW)
    with sweeping("-j", "2") as process:
        eventually(lambda: len(kept("out")) >= 6)
        workers = children(process.pid)
        killed(process)
    safe = kept("out")
    assert 6 <= len(safe) < 32
    assert len(workers) == 2
    eventually(lambda: not any(Path(f"/proc/{pid}").exists() for pid in workers), within_s=30)
    early = command("compare", "out", "--by", "routing")
    assert (early.returncode, early.stdout) == (2, "")
    assert "was interrupted before its tables were written\n  hint: run `odonata sweep` again" in early.stderr

    again = swept("study.toml", "--out", "out", "-j", "1")
    assert (again["simulated"], again["kept"]) == (32 - len(safe), len(safe))
    assert not [path for path in here.rglob("*") if ".partial-" in path.name]
    assert final("out") == whole


def test_workers_do_not_outlive_a_killed_sweep_even_in_a_long_run(study: Write) -> None:
    """Catches a worker that goes on for hours after its parent is gone."""
    study('base = "base.toml"\n[sweep]\n"job.target.app.messages" = [800000000]\n')
    with sweeping() as process:
        eventually(lambda: children(process.pid))
        time.sleep(1.0)
        workers = children(process.pid)
        killed(process)
    assert workers
    eventually(lambda: not any(Path(f"/proc/{pid}").exists() for pid in workers), within_s=30)


@pytest.mark.parametrize(
    ("number", "status", "word"), [(signal.SIGINT, 130, "interrupted"), (signal.SIGTERM, 143, "terminated")]
)
def test_ctrl_c_and_sigterm_end_soon_and_keep_what_is_done(
    study: Write,
    number: signal.Signals,
    status: int,
    word: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    study(SLOW)
    pipe = subprocess.PIPE
    with sweeping("-j", "2", stdout=pipe, stderr=pipe, start_new_session=True) as process:
        eventually(lambda: len(kept("out")) >= 4)
        os.killpg(process.pid, number)  # as a terminal and a queue send it: to the workers too
        out, err = process.communicate(timeout=60)  # within a second on a machine with nothing else to do
    assert (process.returncode, out) == (status, "")
    assert f"of 32 points are done and kept; the same command continues from there\nerror: {word}\n" in err
    runs = pl.read_parquet("out/runs.parquet")
    assert set(runs["id"]) == kept("out")
    assert 4 <= runs.height < 32

    # The same command knows of what is kept before it simulates anything.
    def interrupted(self: LocalPool, ledger: Ledger) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(LocalPool, "run", interrupted)
    assert main(["sweep", "study.toml", "--out", "out"]) == 130
    assert f"\n{runs.height} of 32 points are done and kept" in f"\n{capsys.readouterr().err}"


@pytest.mark.parametrize(
    ("owner", "step", "before"),
    [
        (Results, "add", False),
        (Estimate, "took", True),
        (Results, "flush", True),
        (Results, "flush", False),
        (Ledger, "_settle_run", True),
        (Ledger, "_settle_run", False),
    ],
)
def test_an_interruption_at_any_step_leaves_every_kept_run_in_the_tables(
    study: Write, monkeypatch: pytest.MonkeyPatch, owner: type, step: str, before: bool
) -> None:
    """Catches a run whose result is written, but of which the ledger does not know when the signal comes."""
    plan = study('base = "base.toml"\n[sweep]\n"run.seed" = [1, 2, 3, 4]\n')
    plain, calls = getattr(owner, step), 0

    def interrupted(*arguments: Any) -> Any:
        nonlocal calls
        if owner is Results and step == "flush" and not arguments[0].waiting:
            return plain(*arguments)  # on a busy machine, before the first run is finished
        calls += 1
        if calls == 1 and before:
            raise KeyboardInterrupt
        plain(*arguments)
        if calls == 1:
            raise KeyboardInterrupt
        return None

    monkeypatch.setattr(owner, step, interrupted)
    with pytest.raises(KeyboardInterrupt):
        sweep(plan, Path("out"), LocalPool(1))
    done = pl.read_parquet("out/runs.parquet").filter(pl.col("status") == "done")
    assert done.height >= 1
    assert set(done["id"]) == kept("out")
