"""Loads recovered from the counters of a real Prometheus against what real MPI programs sent under a real Slurm."""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING, Any

import pytest
from tests.cluster.fabric.traffic import MOST_S, result
from tests.cluster.slurm.server import missing

if TYPE_CHECKING:
    from pathlib import Path

WITHIN = 0.05

pytestmark = pytest.mark.timeout(MOST_S + 60)


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("traffic")


@pytest.fixture(scope="module")
def told(possible: None, out: Path) -> dict[str, Any]:
    if why := missing("prometheus", "prometheus-node-exporter"):
        pytest.skip(f"counters of real parts: {why}")
    return result(out)


def test_what_was_sent(told: dict[str, Any]) -> None:
    jobs = {job["id"]: job for job in told["traffic"]["jobs"]}
    assert jobs.keys() == told["sent"].keys()
    assert told["traffic"]["not_measured"] == []
    for identity, sent in told["sent"].items():
        job = jobs[identity]
        recovered = job["sent"] * job["seconds"] * job["nodes"]
        assert recovered == pytest.approx(sum(sent), rel=WITHIN)
        assert job["received"] == pytest.approx(job["sent"], rel=WITHIN)  # between nodes of the job alone
        assert job["covered"] > 0.95
        assert job["low"] <= job["sent"] <= job["high"]


def test_who_sent_and_received(told: dict[str, Any]) -> None:
    jobs = {job["name"]: job for job in told["traffic"]["jobs"]}
    assert (jobs["exchange"]["shape"], jobs["incast"]["shape"]) == ("even", "incast")
    assert jobs["exchange"]["top_sender"] == pytest.approx(1 / 4, rel=WITHIN)
    assert jobs["incast"]["top_sender"] == pytest.approx(1 / 3, rel=WITHIN)
    assert jobs["incast"]["top_receiver"] > 0.9


def test_the_book_has_the_load(told: dict[str, Any], out: Path) -> None:
    book = tomllib.loads((out / "book.toml").read_text())
    rules = {rule["job_name"]: rule for rule in book["rule"] if "job_name" in rule}
    for job in told["traffic"]["jobs"]:
        load = float(rules[job["name"]]["load"].removesuffix(" %")) / 100
        assert load == pytest.approx(job["sent"] / 125e6, rel=0.01)  # of 1 Gbit/s
