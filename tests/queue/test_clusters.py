"""Listings of several clusters: nodes of one name are other nodes there, so one is chosen or nothing is read."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import polars as pl
import pytest

from odonata.cli.main import main
from odonata.cluster import read_nodes, read_queue
from odonata.errors import InputError
from odonata.queue.accounting import read_runs
from odonata.queue.listing import Listing
from odonata.scheduler.submission import read_stream

if TYPE_CHECKING:
    from pathlib import Path

HEADER = "JOBID PARTITION     NAME     USER ST       TIME  NODES NODELIST(REASON)"
FIRST, SECOND = "101 a x u R 1:00 4 n[1-4]", "101 a y u R 1:00 4 n[1-4]\n102 a x u R 1:00 2 n[5-6]"
WHEN = "2026-05-01T00:00:00|2026-05-01T01:00:00|2"

#: The jobs 101 of two clusters, and 102 of the second, in every form in which they are read.
QUEUES = {
    "squeue -M": f"CLUSTER: hpc1\n{HEADER}\n{FIRST}\n\nCLUSTER: hpc2\n{HEADER}\n{SECOND}\n",
    "squeue -M -l": f"CLUSTER: hpc1\nFri May  1 10:00:00 2026\n{HEADER}\n{FIRST}\n"
    f"CLUSTER: hpc2\nFri May  1 10:00:00 2026\n{HEADER}\n{SECOND}\n",
    "a column": "CLUSTER|JOBID|ST|NODELIST\nhpc1|101|R|n[1-4]\nhpc2|101|R|n[1-4]\nhpc2|102|R|n[5-6]\n",
    "a column of -O": "JOBID   ST  NODELIST  CLUSTER \n101     R   n[1-4]    hpc1    \n101     R   n[1-4]    hpc2    \n"
    "102     R   n[5-6]    hpc2    \n",
    "JSON": json.dumps(
        {
            "jobs": [
                {"job_id": number, "job_state": ["RUNNING"], "nodes": nodes, "cluster": cluster}
                for number, nodes, cluster in (
                    (101, "n[1-4]", "hpc1"),
                    (101, "n[1-4]", "hpc2"),
                    (102, "n[5-6]", "hpc2"),
                )
            ]
        }
    ),
}
RUNS = {
    "sacct --parsable2": f"Cluster|JobID|Start|End|NNodes|NodeList\nhpc1|101|{WHEN}|n[1-2]\nhpc2|101|{WHEN}|n[1-2]\n"
    f"hpc2|101.batch|{WHEN}|n[1-2]\nhpc2|102|{WHEN}|n[3-4]\n",
    "sacct --parsable": f"JobID|Start|End|NNodes|NodeList|Cluster|\n101|{WHEN}|n[1-2]|hpc1|\n101|{WHEN}|n[1-2]|hpc2|\n"
    f"102|{WHEN}|n[3-4]|hpc2|\n",
    "sacct --json": json.dumps(
        {
            "jobs": [
                {"job_id": number, "state": {"current": ["COMPLETED"]}, "nodes": nodes, "cluster": cluster}
                | {"time": {"start": 1000, "end": 2000}}
                for number, nodes, cluster in (
                    (101, "n[1-2]", "hpc1"),
                    (101, "n[1-2]", "hpc2"),
                    (102, "n[3-4]", "hpc2"),
                )
            ]
        }
    ),
    "a table": "cluster,job_id,start_time,end_time,nodes\nhpc1,101,1,2,n1\nhpc2,101,1,2,n1\nhpc2,102,1,2,n2\n",
}


def written(folder: Path, text: str) -> Path:
    path = folder / "given"
    path.write_text(text)
    return path


@pytest.mark.parametrize("form", QUEUES)
def test_a_queue_of_several_clusters_is_of_the_one_that_is_chosen(form: str, tmp_path: Path) -> None:
    path = written(tmp_path, QUEUES[form])
    with pytest.raises(InputError, match="jobs of 2 clusters: hpc1, hpc2") as told:
        read_queue(path)
    assert told.value.hint == "nodes of one name are other nodes there; choose one with --cluster hpc1"
    assert [job.id for job in read_queue(Listing(path, cluster="hpc1"))] == ["101"]
    assert [job.id for job in read_queue(Listing(path, cluster="hpc2"))] == ["101", "102"]
    with pytest.raises(InputError, match="unknown cluster `hpc3`") as told:
        read_queue(Listing(path, cluster="hpc3"))
    assert told.value.hint == "did you mean `hpc2`?"


@pytest.mark.parametrize("form", RUNS)
def test_jobs_of_the_past_are_of_one_cluster(form: str, tmp_path: Path) -> None:
    path = written(tmp_path, RUNS[form])
    with pytest.raises(InputError, match="jobs of 2 clusters: hpc1, hpc2"):
        read_runs(path)
    assert [run.id for run in read_runs(path, cluster="hpc1").runs] == ["101"]
    assert [run.id for run in read_runs(path, cluster="hpc2").runs] == ["101", "102"]


def test_a_parquet_table_of_several_clusters(tmp_path: Path) -> None:
    table = {"cluster": ["a", "b"], "start_time": [1, 1], "end_time": [2, 2], "nodes": ["n1", "n1"]}
    pl.DataFrame(table).write_parquet(tmp_path / "jobs.parquet")
    with pytest.raises(InputError, match="jobs of 2 clusters: a, b"):
        read_runs(tmp_path / "jobs.parquet")
    assert len(read_runs(tmp_path / "jobs.parquet", cluster="b").runs) == 1


def test_nodes_of_several_clusters(tmp_path: Path) -> None:
    several = (
        "CLUSTER: a\nPARTITION AVAIL STATE NODELIST\nx* up idle n[1-2]\n\n"
        "CLUSTER: b\nPARTITION AVAIL STATE NODELIST\nx* up mix n[1-3]\n",
        json.dumps({"nodes": [{"name": "n1", "state": ["IDLE"], "cluster_name": name} for name in "ab"]}),
    )
    for text in several:
        path = written(tmp_path, text)
        with pytest.raises(InputError, match="nodes of 2 clusters: a, b"):
            read_nodes(path)
        assert read_nodes(Listing(path, cluster="a"))[0].idle
    assert len(read_nodes(Listing(written(tmp_path, several[0]), cluster="b"))) == 3
    path = written(tmp_path, "STATE NODELIST\nidle n[1-3]\n")
    assert len(read_nodes(Listing(path, cluster="b"))) == 3, "a list of one cluster need not name it"


def test_one_cluster_needs_no_name(tmp_path: Path) -> None:
    path = written(tmp_path, f"CLUSTER: hpc1\n{HEADER}\n{FIRST}\n")
    assert [job.id for job in read_queue(path)] == ["101"]
    path = written(tmp_path, "CLUSTER: hpc1\n101|R|n1\n")
    assert [job.id for job in read_queue(Listing(path, "%i|%t|%N"))] == ["101"]
    path = written(tmp_path, "JOBID|ST|NODELIST\n101|R|n[1-4]\n")
    with pytest.raises(InputError, match="the file does not say of which cluster its jobs are") as told:
        read_queue(Listing(path, cluster="hpc1"))
    assert told.value.hint == "leave out --cluster"


def test_commands_take_the_cluster(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    queue, past = tmp_path / "queue", written(tmp_path, RUNS["sacct --parsable2"])
    queue.write_text(QUEUES["squeue -M"])
    topology = tmp_path / "topology.conf"
    topology.write_text("SwitchName=a Nodes=n[1-9]\n")
    now = ["cluster", "background", "--queue", str(queue), "--nodes-total", "10"]
    assert main(now) == 2
    assert main([*now, "--cluster", "hpc2"]) == 0
    assert "b = 0.6000" in capsys.readouterr().out
    before = ["cluster", "background", "--history", str(past), "--nodes-total", "8"]
    assert main(before) == 2
    assert main([*before, "--cluster", "hpc1"]) == 0
    assert "b: mean 0.2500" in capsys.readouterr().out
    free = ["cluster", "select", "-N", "3", "--queue", str(queue), "--topology", str(topology), "--cluster"]
    assert main([*free, "hpc1"]) == 0
    assert capsys.readouterr().out == "n[5-7]\n"
    assert main(["cluster", "select", "-N", "3", "--cluster", "hpc1"]) == 2
    assert "--cluster chooses a cluster of a file, and no file is given" in capsys.readouterr().err


def test_a_stream_takes_the_cluster(tmp_path: Path) -> None:
    path = written(tmp_path, RUNS["sacct --parsable2"])
    usual = {"cores_per_node": None, "first": None, "speed_up": 1.0}
    with pytest.raises(InputError, match="jobs of 2 clusters") as told:
        read_stream(path, **usual, notes=[])
    assert told.value.hint == "nodes of one name are other nodes there; choose one with cluster = hpc1"
    assert [job.id for job in read_stream(path, **usual, cluster="hpc2", notes=[])] == ["101", "102"]


@pytest.mark.parametrize("form", ["table", "format", "JSON", "records"])
def test_of_two_files_only_the_one_that_names_clusters_is_of_the_chosen(form: str, tmp_path: Path, capsys) -> None:
    """Without --cluster the nodes asked for it, and with it the queue refused it."""
    queue, nodes = tmp_path / "queue", tmp_path / "nodes"
    bare = {
        "table": "JOBID|STATE|NODES|NODELIST\n1|RUNNING|2|n[1-2]\n",
        "format": "1|RUNNING|n[1-2]\n",
        "JSON": json.dumps({"jobs": [{"job_id": 1, "job_state": ["RUNNING"], "nodes": "n[1-2]"}]}),
        "records": "JobId=1 JobState=RUNNING NodeList=n[1-2]\n",
    }
    queue.write_text(bare[form])
    table = "NODELIST STATE\nn[1-{}] idle\n"
    nodes.write_text(f"CLUSTER: hpc1\n{table.format(4)}\nCLUSTER: hpc2\n{table.format(8)}")
    asked = ["cluster", "background", "--queue", str(queue), "--nodes-file", str(nodes)]
    asked += ["--queue-format", "%i|%T|%N"] if form == "format" else []
    assert main(asked) == 2
    assert "choose one with --cluster hpc1" in capsys.readouterr().err
    for cluster, b in (("hpc1", "0.5000"), ("hpc2", "0.2500")):
        assert main([*asked, "--cluster", cluster]) == 0
        told = capsys.readouterr()
        assert f"b = {b}" in told.out
        assert told.err == f"assumed: {queue} names no cluster, so all of it is of --cluster {cluster}\n"
    queue.write_text(QUEUES["a column"])
    nodes.write_text(table.format(8))
    assert main([*asked[:6], "--cluster", "hpc2"]) == 0
    told = capsys.readouterr()
    assert "b = 0.7500" in told.out
    assert told.err == f"assumed: {nodes} names no cluster, so all of it is of --cluster hpc2\n"
