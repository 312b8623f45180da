"""Where the jobs of a cluster are: a small one, by hand."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

import odonata as od
from odonata.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

# Two groups of two leaf switches with three nodes each.
TOPOLOGY = """\
SwitchName=l0 Nodes=n[0-2]
SwitchName=l1 Nodes=n[3-5]
SwitchName=l2 Nodes=n[6-8]
SwitchName=l3 Nodes=n[9-11]
SwitchName=g0 Switches=l[0-1]
SwitchName=g1 Switches=l[2-3]
"""
QUEUE = """\
JOBID|STATE|NODES|NODELIST
1|RUNNING|3|n[0,3,6]
2|RUNNING|2|n[1,9]
3|RUNNING|2|n[4-5]
4|RUNNING|1|n2
5|PENDING|2|
6|RUNNING|2|n[7,99]
7|RUNNING|2|n[4,8]
"""


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    topology, queue = tmp_path / "topology.conf", tmp_path / "queue.txt"
    topology.write_text(TOPOLOGY)
    queue.write_text(QUEUE)
    return topology, queue


def test_by_hand(files: tuple[Path, Path]) -> None:
    topology, queue = files
    allocations = od.cluster.allocations(topology, queue=queue, together=True)
    assert allocations.left_out == {
        "on one node": 1,
        "not running": 1,
        "with nodes that the topology lacks": 1,
        "with a node of a job before": 1,
    }
    first, second, third = allocations.jobs
    # Job 1: leaves l0, l1, l2 in both groups; of its three pairs of nodes two are in different groups.
    assert (first.spread.leaves, first.spread.groups, first.spread.pairs) == (3, 2, 1)
    assert first.spread.crossing == pytest.approx(2 / 3)
    # Level-Spread on the empty machine: three nodes fit on one leaf switch.
    assert (first.chosen.leaves, first.chosen.groups, first.chosen.crossing) == (1, 1, 0.0)
    assert (first.beside_leaves, first.beside_links) == (("2", "3"), ("2",))
    assert (second.beside_leaves, second.beside_links) == (("1",), ("1",))
    assert (third.spread.groups, third.beside_leaves, third.beside_links) == (1, ("1",), ())
    assert allocations.overlapping == 0


def test_jobs_of_different_times_are_told_apart(files: tuple[Path, Path], tmp_path: Path) -> None:
    topology, queue = files
    everyone = od.cluster.allocations(topology, queue=queue)
    assert [job.job for job in everyone.jobs] == ["1", "2", "3", "7"]
    assert everyone.overlapping == 2
    assert "2 jobs have a node in common with another" in str(everyone)
    again = tmp_path / "again.txt"
    again.write_text(od.cluster.allocations(topology, queue=queue, together=True).queue)
    kept = od.cluster.allocations(topology, queue=again)
    assert [job.job for job in kept.jobs] == ["1", "2", "3"]
    assert kept.left_out == {}


def test_another_policy(files: tuple[Path, Path]) -> None:
    topology, queue = files
    allocations = od.cluster.allocations(topology, queue=queue, place="contiguous")
    assert allocations.policy == "contiguous"
    assert allocations.jobs[0].chosen.leaves == 1
    with pytest.raises(InputError, match="needs a policy that chooses"):
        od.cluster.allocations(topology, queue=queue, place="explicit")


def test_a_queue_of_another_machine_is_refused(files: tuple[Path, Path]) -> None:
    topology, queue = files
    queue.write_text("JOBID|STATE|NODELIST\n1|R|x[1-2]\n")
    with pytest.raises(InputError, match="no running job of two nodes or more has all of its nodes") as caught:
        od.cluster.allocations(topology, queue=queue)
    assert "`n0`" in str(caught.value)


def test_the_command(files: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from odonata.cli.main import main

    topology, queue = files
    out = tmp_path / "kept.txt"
    arguments = ["cluster", "allocations", "--topology", str(topology), "--queue", str(queue), "--together"]
    assert main([*arguments, "-o", str(out)]) == 0
    text = capsys.readouterr().out
    assert text.startswith(
        "3 jobs of two nodes or more: 3 share a leaf switch with another job, 2 share global links;\n"
    )
    assert "left out: 1 job on one node" in text
    assert out.read_text().count("\n") == 4
    assert main([*arguments, "--json"]) == 0
    assert [job["job"] for job in json.loads(capsys.readouterr().out)["jobs"]] == ["1", "2", "3"]
