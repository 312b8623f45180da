"""When to submit: the starts of a small queue that can be followed by hand."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from tests.prediction.test_predict import records

from odonata import cluster
from odonata.cli.main import main
from odonata.errors import InputError
from odonata.prediction.when import ROWS

if TYPE_CHECKING:
    from pathlib import Path

    from odonata.queue.records import Job

HOUR = 3600.0
QUEUE = """JOBID|STATE|NODES|TIME_LEFT|TIME_LIMIT|NODELIST
1|RUNNING|30|1:00:00|10:00:00|n[1-30]
2|RUNNING|40|5:00:00|10:00:00|n[31-70]
3|RUNNING|20|30:00|1:00:00|n[71-90]
4|PENDING|24|2:00:00|2:00:00|
5|RUNNING|1|UNLIMITED|UNLIMITED|n91
"""
KNOWN = {"groups": 2, "nodes": 8, "job": "job1"}


@pytest.fixture(scope="module")
def trained() -> cluster.Predictor:
    return cluster.train(records())


@pytest.fixture
def jobs(tmp_path: Path) -> list[Job]:
    (tmp_path / "q.txt").write_text(QUEUE)
    return cluster.read_queue(tmp_path / "q.txt")


def test_both_cases_by_hand(trained: cluster.Predictor, jobs: list[Job]) -> None:
    advice = cluster.when(trained, KNOWN, jobs, 100, nodes=8, run_s=4 * HOUR)
    assert [(start.wait_s / HOUR, start.ended) for start in advice.starts] == [(0, 0), (0.5, 1), (1, 2), (5, 3)]
    assert [start.calm.idle for start in advice.starts] == [9, 29, 59, 99]
    # Job 4 waits for 24 nodes: it starts after half an hour and has ended after two and a half.
    assert [start.busy.idle for start in advice.starts] == [9, 5, 35, 99]
    # Equation 2: nodes of jobs of two nodes or more over 100, times their share of all that run.
    calm = [0.90 * 90 / 91, 0.70 * 70 / 71, 0.40 * 40 / 41, 0]
    busy = [calm[0], 0.94 * 94 / 95, 0.64 * 64 / 65, 0]
    assert [start.calm.b for start in advice.starts] == pytest.approx(calm)
    assert [start.busy.b for start in advice.starts] == pytest.approx(busy)
    assert advice.starts[1].busy.prediction is None  # five idle nodes
    for start in advice.starts:
        for case in (start.calm, start.busy):
            if case.prediction is not None:
                assert case.prediction == trained.predict({**KNOWN, "b": case.b})


def test_the_start_that_ends_first_is_advised(trained: cluster.Predictor, jobs: list[Job]) -> None:
    long = cluster.when(trained, KNOWN, jobs, 100, nodes=8, run_s=4 * HOUR)
    assert long.best is long.starts[2]
    assert long.sentence().startswith("wait 60 min: the run is expected to end")
    ends = [end for start in long.starts if (end := start.ends_s(start.busy)) is not None]
    assert long.best.ends_s(long.best.busy) == min(ends)
    # A short run has ended before any job has.
    short = cluster.when(trained, KNOWN, jobs, 100, nodes=8, run_s=60)
    assert short.best is short.starts[0]
    assert short.sentence().startswith("run now")
    # What does not communicate gains nothing by waiting.
    still = cluster.when(trained, KNOWN, jobs, 100, nodes=8, run_s=4 * HOUR, communicates=0)
    assert still.best is still.starts[0]
    assert {start.calm.run_s for start in still.starts} == {4 * HOUR}


def test_a_risk_that_is_asked_for(trained: cluster.Predictor, jobs: list[Job]) -> None:
    for risk, wait in ((1.0, 0), (0.2, 1), (0.05, 5)):
        advice = cluster.when(trained, KNOWN, jobs, 100, nodes=8, risk=risk)
        assert advice.best is not None
        assert advice.best.wait_s == wait * HOUR
    none = cluster.when(trained, KNOWN, jobs, 100, nodes=8, risk=0.0, within_s=HOUR)
    assert none.best is None
    assert "no start within 60 min has a probability" in none.sentence()


def test_a_run_that_does_not_fit(trained: cluster.Predictor, jobs: list[Job]) -> None:
    later = cluster.when(trained, KNOWN, jobs, 100, nodes=12)
    assert later.best is later.starts[2]
    assert "not idle before" in later.sentence()
    never = cluster.when(trained, KNOWN, jobs, 100, nodes=100)
    assert never.best is None
    assert "does not fit" in never.sentence()


def test_many_ends_are_thinned_by_nodes(trained: cluster.Predictor, jobs: list[Job]) -> None:
    many = [replace(jobs[0], id=f"{k}", nodes=(f"m{k}",), left_s=60.0 * k) for k in range(1, 201)]
    advice = cluster.when(trained, KNOWN, many, 300, nodes=8)
    waits = [start.wait_s for start in advice.starts]
    assert len(waits) == ROWS
    assert waits == sorted(waits)
    assert waits[-1] == 60.0 * 200


def test_only_nodes_that_the_run_may_get_count(trained: cluster.Predictor, jobs: list[Job]) -> None:
    """Jobs on other nodes take no room from the run, and leave it none when they end."""
    usable = frozenset(f"n{k}" for k in range(71, 101))
    idle = frozenset(f"n{k}" for k in range(92, 101))
    advice = cluster.when(trained, KNOWN, jobs, 100, nodes=8, idle=idle, usable=usable)
    assert [start.calm.idle for start in advice.starts] == [9, 29, 29, 29]
    whole = cluster.when(trained, KNOWN, jobs, 100, nodes=8)
    assert [start.calm.b for start in advice.starts] == [start.calm.b for start in whole.starts]


def test_errors(trained: cluster.Predictor, jobs: list[Job]) -> None:
    unknown = [replace(job, left_s=None) for job in jobs]
    with pytest.raises(InputError, match="does not say when its jobs end"):
        cluster.when(trained, KNOWN, unknown, 100, nodes=8)
    with pytest.raises(InputError, match="expected `communicates` from 0 to 1"):
        cluster.when(trained, KNOWN, jobs, 100, nodes=8, communicates=2)


@pytest.mark.parametrize(
    "text",
    [
        QUEUE,
        "JobId=1 JobName=a UserId=u(1)\n   JobState=RUNNING RunTime=09:00:00 TimeLimit=10:00:00\n   NumNodes=30-30\n"
        "   NodeList=n[1-30]\n",
        json.dumps(
            {
                "jobs": [
                    {
                        "job_id": 1,
                        "job_state": ["RUNNING"],
                        "nodes": "n[1-30]",
                        "time_limit": {"set": True, "infinite": False, "number": 600},
                        "end_time": {"set": True, "infinite": False, "number": 1_700_003_600},
                        "node_count": {"set": True, "infinite": False, "number": 30},
                    }
                ],
                "last_update": {"set": True, "infinite": False, "number": 1_700_000_000},
            }
        ),
    ],
    ids=["table", "scontrol", "json"],
)
def test_every_form_says_what_is_left(text: str, tmp_path: Path) -> None:
    (tmp_path / "q").write_text(text)
    job = cluster.read_queue(tmp_path / "q")[0]
    assert (job.wants, job.left_s, job.limit_s) == (30, HOUR, 10 * HOUR)


def test_as_a_user_types_it(
    trained: cluster.Predictor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    trained.write("m.json")
    (tmp_path / "q.txt").write_text(QUEUE)
    (tmp_path / "topology.conf").write_text(
        "SwitchName=a Nodes=n[1-50]\nSwitchName=b Nodes=n[51-100]\nSwitchName=top Switches=a,b\n"
    )
    words = ["cluster", "when", "m.json", "-N", "8", "--job", "job1", "--queue", "q.txt", "--run", "04:00:00"]
    assert main([*words, "--nodes-total", "100", "--groups", "2"]) == 0
    out = capsys.readouterr().out
    assert "wait 60 min: the run is expected to end" in out
    assert main([*words, "--nodes-total", "100", "--place", "simple", "--topology", "topology.conf", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [start["calm"]["idle"] for start in told["starts"]] == [9, 29, 59, 99]
    for more, said in (
        (["--nodes-total", "100"], "needs the groups that the run touches"),
        (["--nodes-total", "100", "--groups", "2", "--within", "soon"], "--within: expected a time such as"),
        (["--nodes-total", "100", "--groups", "2", "--set", "a=1"], "--set goes with --place"),
        (["--nodes-total", "10", "--groups", "2"], "more than the 10 of the machine"),
    ):
        assert main([*words, *more]) == 2
        assert said in capsys.readouterr().err


def test_a_partition(
    trained: cluster.Predictor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nodes of another partition, drained nodes, and jobs that wait for another partition do not count."""
    monkeypatch.chdir(tmp_path)
    trained.write("m.json")
    (tmp_path / "q.txt").write_text(
        "JOBID|STATE|NODES|PARTITION|TIME_LEFT|TIME_LIMIT|NODELIST\n"
        "1|RUNNING|60|gpu|1:00:00|2:00:00|n[41-100]\n"
        "2|RUNNING|20|cpu|2:00:00|4:00:00|n[1-20]\n"
        "3|PENDING|30|gpu|9:00:00|9:00:00|\n"
    )
    (tmp_path / "n.txt").write_text(
        "PARTITION|STATE|NODELIST\ncpu|alloc|n[1-20]\ncpu|idle|n[21-38]\ncpu|drain|n[39-40]\ngpu|alloc|n[41-100]\n"
    )
    words = ["cluster", "when", "m.json", "-N", "8", "--job", "job1", "--place", "simple", "--queue", "q.txt"]
    assert main([*words, "--nodes-file", "n.txt", "--partition", "cpu", "--json"]) == 0
    starts = json.loads(capsys.readouterr().out)["starts"]
    for case in ("calm", "busy"):
        assert [start[case]["idle"] for start in starts] == [18, 18, 38]
