"""The scripts of `packaging/submission` in a real Slurm: what users are told, what jobs get, and that nothing fails."""

from __future__ import annotations

import os
import re
import statistics
import time
from typing import TYPE_CHECKING

import pytest
from tests.cluster.slurm.plugins import GARBAGE, advice, loaded_anew, submit, use
from tests.cluster.slurm.server import run

from odonata.cli.main import main
from odonata.cluster import expand

if TYPE_CHECKING:
    from pathlib import Path

TOLD = (
    "odonata: background utilisation 25 %, 64 nodes idle. 4 nodes fit now on 1 leaf switch of 1 group: --switches=1 or "
    "--nodelist=n[0-3]. There the risk of the long tail is 10 %."
)


@pytest.fixture
def here(slurm: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PATH", f"{os.environ['PATH']}:/usr/sbin")
    before = (slurm / "slurm.conf").read_text()
    yield slurm
    (slurm / "slurm.conf").write_text(before)
    run("scontrol", "reconfigure")
    run("scancel", "--user=root")
    end = time.monotonic() + 40
    while run("squeue", "--noheader").strip():
        assert time.monotonic() < end
        time.sleep(0.2)


def shown(job: str) -> str:
    return run("scontrol", "show", "job", job)


@pytest.mark.parametrize("plugin", ["job_submit", "cli_filter"])
def test_what_the_user_is_told_and_what_the_job_gets(here: Path, plugin: str) -> None:
    (here / "advice").write_text(advice())
    use(here, plugin)
    job, told, _ = submit("-N4", "--hold")
    assert TOLD in told
    assert "Switches=" not in shown(job)
    assert "background" not in submit("-N1", "--hold")[1]
    use(here, plugin, sets="switches")
    assert "Switches=1" in shown(submit("-N3", "--hold")[0])
    assert "Switches=2" in shown(submit("-N3", "--hold", "--switches=2")[0])
    use(here, plugin, sets="comment")
    assert f"Comment={TOLD}" in shown(submit("-N4", "--hold")[0])
    assert "Comment=mine" in shown(submit("-N4", "--hold", "--comment=mine")[0])


def test_from_the_queue_to_the_user(here: Path, tmp_path: Path) -> None:
    """The file of `odonata cluster watch` on this Slurm, and a job that gets the switches that it names."""
    use(here, "job_submit", sets="switches")
    words = ["cluster", "watch", "--count", "1", "--every", "60", "--out", str(tmp_path / "watch"), "--quiet"]
    assert main([*words, "--advice", str(here / "advice")]) == 0
    job, told, _ = submit("-N4", "-p", "excl")
    assert "odonata: background utilisation 0 %, 64 nodes idle. 4 nodes fit now on 1 leaf switch of 1 group" in told
    assert "Switches=1@" in shown(job)
    end = time.monotonic() + 40
    while "JobState=RUNNING" not in (record := shown(job)):
        assert time.monotonic() < end, record
        time.sleep(0.2)
    [nodes] = re.findall(r" NodeList=(\S+)", record)
    assert len({int(name.removeprefix("n")) // 4 for name in expand(nodes)}) == 1


@pytest.mark.parametrize("plugin", ["job_submit", "cli_filter"])
def test_it_fails_open(here: Path, plugin: str) -> None:
    texts = {"old": advice(now=time.time() - 3600), "garbage": GARBAGE, "cut": advice()[:-20], "missing": None}
    use(here, plugin, sets="switches")
    for name, text in texts.items():
        if text is None:
            (here / "advice").unlink()
        else:
            (here / "advice").write_text(text)
        job, told, _ = submit("-N4", "--hold")
        assert "odonata" not in told, name
        assert "Switches=" not in shown(job), name
    (here / "odonata_advice.lua").write_text("this is no Lua")
    loaded_anew(here / "job_submit.lua")
    (here / "advice").write_text(advice())
    job, told, _ = submit("-N4", "--hold")
    assert "odonata" not in told
    assert "JobState=PENDING" in shown(job)


def test_a_submission_waits_less_than_50_ms(here: Path) -> None:
    """The median of a few, in turn; `python -m tests.cluster.slurm.plugins 1000` measures many."""
    (here / "advice").write_text(advice())
    times: dict[str, list[float]] = {"neither": [], "job_submit": []}
    for _ in range(3):
        for plugin, of in times.items():
            use(here, plugin)
            of += [submit("-N16", "--hold")[2] for _ in range(5)]
    assert statistics.median(times["job_submit"]) - statistics.median(times["neither"]) < 0.05
