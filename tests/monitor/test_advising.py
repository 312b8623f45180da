"""The advice file: a small cluster worked out by hand, a predictor, and bounds."""

from __future__ import annotations

import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest

from odonata.allocation.selection import Cluster
from odonata.cli.main import main
from odonata.errors import InputError
from odonata.monitor.advising import MOST_BYTES, MOST_NODE_LIST, MOST_SIZES, Advising, sizes, without_histories
from odonata.prediction.predictor import read_predictor
from odonata.queue.records import Job
from odonata.queue.topology import Topology, parse_topology

TOPOLOGY = "SwitchName=a Nodes=n[0-3]\nSwitchName=b Nodes=n[4-7]\nSwitchName=top Switches=a,b\n"
SUBMISSION = Path(__file__).parents[2] / "packaging" / "submission"


def job(identity, nodes, left_s):
    names = tuple(f"n{n}" for n in nodes)
    return Job(id=identity, states=frozenset({"RUNNING"}), nodes=names, name="x", left_s=left_s)


def seen(*jobs) -> Cluster:
    nodes = frozenset(f"n{n}" for n in range(8))
    busy = {name for of in jobs for name in of.nodes}
    return Cluster(parse_topology(TOPOLOGY), nodes - busy, list(jobs), nodes)


def text(cluster: Cluster, predictor=None, **more) -> list[str]:
    advising = Advising(Path("advice"), 300.0, **more)
    return advising.text(cluster, 0.5, 8, predictor, 1_800_000_000.0).splitlines()


def test_by_hand():
    cluster = seen(job("1", [0, 1], 600.0), job("2", [4, 5, 6], 7200.0))
    assert text(cluster) == [
        "odonata-advice 1",
        "time 1800000000",
        "valid 300",
        "background 0.5000",
        "idle 3",
        "size 2 wait 0 leaves 1 groups 1 nodes n[2-3]",
        "size 3 wait 0 leaves 2 groups 1 nodes n[2-3,7]",
        "size 4 wait 600",
        "size 8 wait 7200",
        "end",
    ]


def test_what_the_queue_does_not_say():
    lines = text(seen(job("1", [0, 1, 2, 3], None)))
    assert lines[-2] == "size 8"


def test_a_partition_is_named():
    assert "partition main" in text(seen(), partition="main")
    with pytest.raises(InputError, match="--partition"):
        text(seen(), partition="main debug")


def test_an_absurd_wait_is_left_out():
    assert text(seen(job("1", [0, 1, 2, 3], 1e12)))[-2] == "size 8"


class Predictor:
    """Flags a run beside a busier machine than a quarter; knows no histories."""

    flag_from = 0.3
    tail = 0.85

    def __init__(self):
        self.histories = [SimpleNamespace(model_copy=lambda update: None)]

    def model_copy(self, update):
        return self

    def predict(self, known):
        assert {"nodes", "groups", "leaves", "neighbours", "b"} <= set(known)
        return SimpleNamespace(
            probability=known["b"], flagged=known["b"] >= 0.3, median_ps=1e12, quantiles_ps={}, warnings=[]
        )


def test_risk_and_when_it_is_low():
    """b is (4/8)(4/4) until the job ends after an hour; then it is 0."""
    lines = text(seen(job("1", [0, 1, 2, 3], 3600.0)), Predictor())
    assert lines[5] == "flag 0.3000"
    assert lines[6] == "size 2 wait 0 leaves 1 groups 1 risk 0.5000 quiet 3600 nodes n[4-5]"


def test_risk_that_only_the_user_can_know(monkeypatch):
    def predict(known):
        raise InputError("the predictor needs `bytes` of the run")

    predictor = Predictor()
    predictor.predict = predict
    assert "risk" not in " ".join(text(seen(job("1", [0, 1, 2, 3], 3600.0)), predictor))


def test_the_probability_is_that_of_every_history():
    path = Path(__file__).parents[1] / "cluster" / "predictor.json"
    predictor = read_predictor(path)
    any_job = without_histories(predictor)
    known = {"b": 0.4, "nodes": 8, "groups": 2, "leaves": 4, "neighbours": 3.0, "bytes": 1024.0}
    known |= {"pattern": next(iter(predictor.patterns), "alltoall")}
    for history in predictor.histories:
        of = known | dict(zip(predictor.history_of, history.key, strict=True))
        of = {name: known[name] if name in predictor.used else value for name, value in of.items()}
        assert any_job.predict(of).probability == predictor.predict(of).probability


def test_names_of_nodes_add_no_line():
    names = ("a b", "c\nend", "d\x1b[31m")
    cluster = Cluster(Topology({"all": {"leaf": names}}), frozenset(names), [], frozenset(names))
    lines = text(cluster)
    assert lines[5:] == ["size 2 wait 0 leaves 1 groups 1", "size 3 wait 0 leaves 1 groups 1", "end"]


def test_bounds():
    assert sizes(1, 1) == []
    assert sizes(2, 0) == [2]
    assert sizes(64, 26) == [2, 4, 8, 16, 26, 32, 64]
    assert len(sizes(10**6, 12_345)) == MOST_SIZES
    assert MOST_SIZES * (MOST_NODE_LIST + 200) + 200 < MOST_BYTES
    lua = (SUBMISSION / "odonata_advice.lua").read_text()
    for name, value in (("bytes", MOST_BYTES), ("sizes", MOST_SIZES), ("node_list", MOST_NODE_LIST)):
        assert f"most_{name} = {value}," in lua


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("squeue.txt", "sinfo.txt", "topology.txt"):
        shutil.copy(Path(__file__).parents[2] / "examples" / "queue" / name, name)
    return tmp_path


BASE = ["cluster", "watch", "--queue", "squeue.txt", "--nodes-file", "sinfo.txt", "--count", "1", "--every", "60"]


def test_the_command(here, capsys):
    assert main([*BASE, "--topology", "topology.txt", "--advice", "advice", "--textfile", "o.prom"]) == 0
    lines = Path("advice").read_text().splitlines()
    assert lines[2] == "valid 300"
    assert "size 16 wait 0 leaves 4 groups 1 nodes n[32-47]" in lines
    assert "odonata_watch_advice_failures_total 0.0" in Path("o.prom").read_text()


def test_a_failure_leaves_the_old_file(here, capsys):
    Path("advice").write_text("old")
    Path("topology.txt").write_text("SwitchName=a Nodes=other[1-4]\n")
    assert main([*BASE, "--topology", "topology.txt", "--advice", "advice", "--textfile", "o.prom"]) == 0
    assert "warning: no advice for submissions: " in capsys.readouterr().err
    assert Path("advice").read_text() == "old"
    assert "odonata_watch_advice_failures_total 1.0" in Path("o.prom").read_text()


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--place", "linear"], "--place goes with --advice"),
        (["--topology", "topology.txt"], "--topology goes with --advice"),
        (["--partition", "main"], "--partition goes with --advice"),
        (["--set", "groups=0"], "--set goes with --advice"),
        (["--advice", "."], "found a folder"),
        (["--advice", "no/advice"], "a folder that does not exist"),
        (["--advice", "advice", "--place", "levelspread"], "level-spread"),
        (["--advice", "advice", "--place", "explicit"], "explicit"),
    ],
)
def test_wrong_options(here, capsys, more, message):
    assert main([*BASE, *more]) == 2
    assert message in capsys.readouterr().err
