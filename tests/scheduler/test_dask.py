"""Windows on the workers of a Dask cluster."""

from __future__ import annotations

import pytest
from tests.study.test_dask import scheduler

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
