"""Windows on the workers of a Dask cluster."""

from __future__ import annotations

import subprocess
import sys
import time
from contextlib import ExitStack

import pytest
from tests.study.test_dask import running, scheduler

import odonata
from odonata.scheduler.cache import FILE

__all__ = ["scheduler"]
distributed = pytest.importorskip("distributed", reason="the extra `cluster` is not installed")
pytestmark = pytest.mark.filterwarnings("ignore")
TEXT = """\
system = "tiny"
place = ["contiguous", "random"]

[stream.synthetic]
jobs = 3
load = "90 %"
largest = 6
"""


@pytest.fixture(autouse=True)
def inside(tmp_path, monkeypatch):
    """The workers of Dask leave files in the current directory."""
    monkeypatch.chdir(tmp_path)


def test_the_workers_of_a_client_give_the_same(scheduler, tmp_path, monkeypatch):
    file = tmp_path / "stream.toml"
    file.write_text(TEXT)
    here = odonata.schedule(file, out=tmp_path / "here", workers=1)
    with distributed.Client(scheduler) as client, monkeypatch.context() as patched:
        patched.setattr("odonata.scheduler.scheduling.ProcessPoolExecutor", None)  # no process of our own
        there = odonata.schedule(file, out=tmp_path / "there", client=client)
    for name in ("jobs.parquet", "schedule.json"):
        assert (tmp_path / "here" / name).read_bytes() == (tmp_path / "there" / name).read_bytes()
    assert there.cases == here.cases
    assert (tmp_path / "there" / FILE).read_text().count("\n") > 0


def test_a_scheduler_that_dies_ends_the_command_with_one_message(tmp_path):
    """Catches a traceback of Dask in the place of a message."""
    (tmp_path / "stream.toml").write_text(TEXT.replace("jobs = 3", "jobs = 400"))
    kept = tmp_path / "schedules" / "stream" / FILE
    with ExitStack() as stack:
        address = stack.enter_context(
            running("dask_scheduler", "--host", "127.0.0.1", "--no-dashboard", "--port", "0", until="Scheduler at:")
        ).split()[-1]
        more = ("--nthreads", "1", "--no-dashboard", "--local-directory", "scratch", address)
        stack.enter_context(running("dask_worker", *more, until="Registered to:"))
        command = [sys.executable, "-m", "odonata", "schedule", "stream.toml", "-q"]
        command += ["--on", "dask", "--scheduler", address]
        process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        until = time.monotonic() + 120
        while not kept.exists() and time.monotonic() < until:
            time.sleep(0.1)
        stack.close()
        output, errors = process.communicate(timeout=300)
    assert (process.returncode, output) == (1, "")
    assert "the same command continues" in errors
    assert "Traceback" not in errors
    assert kept.read_text().count("\n") > 0
