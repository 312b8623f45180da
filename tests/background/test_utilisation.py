"""Background utilisation against counts by hand, and properties of every queue."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cluster import shapes

import odonata as od
from odonata.background.utilisation import of_jobs
from odonata.errors import InputError
from odonata.queue.records import Job

if TYPE_CHECKING:
    from pathlib import Path

RUNNING, PENDING = frozenset({"RUNNING"}), frozenset({"PENDING"})


@pytest.fixture
def queue(tmp_path: Path) -> Path:
    path = tmp_path / "squeue.json"
    path.write_text(shapes.queue("23.11"))
    return path


@pytest.fixture
def sinfo(tmp_path: Path) -> Path:
    path = tmp_path / "sinfo.json"
    path.write_text(shapes.nodes("22.05"))
    return path


def test_the_worked_example(queue: Path, sinfo: Path) -> None:
    background = od.cluster.background(queue, nodes_total=10)
    assert (background.nodes_communicating, background.listings_communicating, background.listings_running) == (4, 5, 6)
    assert (background.jobs_counted, background.jobs_excluded) == (2, 3)
    assert background.b1 == 0.4
    assert background.utilisation == background.b == pytest.approx(0.4 * 5 / 6)
    assert od.cluster.background(queue, nodes=sinfo) == background


def test_more_than_two_nodes(queue: Path) -> None:
    background = od.cluster.background(queue, nodes_total=10, least_nodes=3)
    assert (background.nodes_communicating, background.jobs_counted) == (3, 1)
    assert background.b == pytest.approx(0.3 * 3 / 6)


def test_drained_nodes_are_left_out_if_no_job_runs_there(queue: Path, sinfo: Path) -> None:
    # n05 is draining and runs a job; n07 is drained.
    assert od.cluster.background(queue, nodes=sinfo, drained="leave-out").nodes_total == 9
    assert od.cluster.background(queue, nodes=sinfo).nodes_total == 10


def test_a_file_that_lists_jobs_and_nodes(tmp_path: Path) -> None:
    both = json.loads(shapes.queue("24.11")) | {"nodes": json.loads(shapes.nodes("22.05"))["nodes"]}
    path = tmp_path / "both.json"
    path.write_text(json.dumps(both))
    assert od.cluster.background(path).nodes_total == 10


def test_an_empty_queue() -> None:
    assert of_jobs([], 10).b == of_jobs([], 10).b1 == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "the number of nodes of the machine is not known"),
        ({"nodes_total": 4}, "the jobs run on 5 nodes, more than the 4 of the machine"),
        ({"nodes_total": 0}, "expected a number of nodes from 1 on, found 0"),
        ({"nodes_total": 10, "least_nodes": 1}, "expected at least 2 nodes"),
        ({"nodes_total": 10, "drained": "leave-out"}, "drained nodes to leave out exclude each other"),
        ({"nodes_total": 10, "nodes": "x"}, "a number of nodes and a file of nodes exclude each other"),
        ({"nodes_total": 10, "drained": "no"}, "expected `count` or `leave-out`"),
    ],
)
def test_refused(queue: Path, options: dict, message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(InputError, match=message):
        od.cluster.background(queue, **options)


nodes = st.lists(st.integers(0, 19), max_size=8, unique=True)
queues = st.lists(st.tuples(st.sampled_from([RUNNING, PENDING]), nodes), max_size=12)


@given(queues)
def test_what_holds_for_every_queue(listed: list) -> None:
    jobs = [Job(str(at), states, tuple(f"n{n}" for n in names)) for at, (states, names) in enumerate(listed)]
    background = of_jobs(jobs, 20)
    assert 0 <= background.b <= background.b1 <= 1
    assert background.jobs_counted + background.jobs_excluded == len(jobs)
    assert background.nodes_communicating <= background.listings_communicating <= background.listings_running
    # Jobs that wait change nothing but the count of those left out; a job on one node can only lower b.
    assert of_jobs([job for job in jobs if job.running], 20).b == background.b
    more = of_jobs([*jobs, Job("one", RUNNING, ("n0",))], 20)
    assert more.b1 == background.b1
    assert more.b <= background.b
    # Without jobs on one node, and only then, the second factor is 1.
    alone = any(job.running and len(job.nodes) == 1 for job in jobs)
    assert (background.b < background.b1) == (alone and background.b1 > 0)


def test_scontrol_says_that_the_queue_is_empty(queue: Path) -> None:
    queue.write_text("No jobs in the system\n")
    background = od.cluster.background(queue, nodes_total=10)
    assert (background.b, background.jobs_counted, background.jobs_excluded) == (0, 0, 0)
