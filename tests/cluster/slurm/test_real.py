"""A real Slurm: its queue against a count by hand, and jobs on the nodes that were selected."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import polars as pl
import pytest

import odonata as od
from odonata import cluster
from odonata.cli.main import main
from odonata.errors import RunError

if TYPE_CHECKING:
    from pathlib import Path

SLEEP = "#!/bin/sh\nexec sleep 600\n"


def slurm_command(*command: str, text: str | None = None) -> str:
    done = subprocess.run(command, capture_output=True, text=True, input=text, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


def submit(*options: str) -> str:
    return slurm_command("sbatch", "--parsable", "--output=/dev/null", *options, text=SLEEP).strip()


def state(job: str) -> str:
    return slurm_command("squeue", "--noheader", "--states=all", f"--jobs={job}", "--format=%T").strip()


def until(jobs: list[str], wanted: str) -> None:
    end = time.monotonic() + 40
    while any(state(job) != wanted for job in jobs):
        assert time.monotonic() < end, slurm_command("squeue")
        time.sleep(0.2)


def nodes_of(job: str) -> list[str]:
    return cluster.expand(slurm_command("squeue", "--noheader", f"--jobs={job}", "--format=%N").strip())


@pytest.fixture
def empty(slurm: Path, monkeypatch: pytest.MonkeyPatch):
    """The cluster, with no jobs before and none behind."""
    monkeypatch.setenv("PATH", f"{os.environ['PATH']}:/usr/sbin")
    yield slurm
    slurm_command("scancel", "--user=root")
    end = time.monotonic() + 40
    while slurm_command("squeue", "--noheader").strip() or any(not node.idle for node in cluster.read_nodes()):
        assert time.monotonic() < end, slurm_command("sinfo")
        time.sleep(0.2)


@pytest.fixture
def busy(empty: Path) -> dict[str, str]:
    """Jobs of every sort, by what they are."""
    jobs = {
        "eight": submit("-p", "excl", "-w", "n[0-7]", "-N8"),
        "six": submit("-p", "excl", "-w", "n[8,12,16,20,24,28]", "-N6"),
        "two, sharing a node": submit("-p", "main", "-w", "n[32-33]", "-N2", "-n2", "--ntasks-per-node=1"),
        "two, sharing it too": submit("-p", "main", "-w", "n[33-34]", "-N2", "-n2", "--ntasks-per-node=1"),
        "one node": submit("-p", "excl", "-w", "n40", "-N1"),
        "one core": submit("-p", "main", "-w", "n33", "-N1", "-n1"),
    }
    until(list(jobs.values()), "RUNNING")
    jobs["waits"] = submit("-p", "excl", "-N60")
    jobs["waits for another"] = submit("-p", "excl", "-N2", f"--dependency=afterok:{jobs['eight']}")
    until([jobs["waits"], jobs["waits for another"]], "PENDING")
    return jobs


def test_background_against_a_count_by_hand(busy: dict[str, str], tmp_path: Path, capsys) -> None:
    # Ne: 8 + 6 + n32, n33, n34. N'e: 8 + 6 + 2 + 2. Na: N'e + n40 + n33.
    background = od.cluster.background()
    assert (background.nodes_communicating, background.nodes_total) == (17, 64)
    assert (background.listings_communicating, background.listings_running) == (18, 20)
    assert (background.jobs_counted, background.jobs_excluded) == (4, 4)
    assert background.b == pytest.approx(17 / 64 * 18 / 20)
    # The same from every form in which this Slurm prints it.
    forms = {
        "json": ("squeue", "--json"),
        "text": ("squeue",),
        "long": ("squeue", "--long"),
        "format": ("squeue", "-O", "JobID:10,Name:30,State:15,NumNodes:8,NodeList:300"),
        "records": ("scontrol", "show", "job"),
        "one line": ("scontrol", "--oneliner", "show", "job"),
    }
    for name, command in forms.items():
        path = tmp_path / name
        path.write_text(slurm_command(*command))
        assert od.cluster.background(path) == background, name
    for command in (("sinfo", "--json"), ("sinfo",), ("sinfo", "--Node", "--long"), ("scontrol", "show", "node")):
        path.write_text(slurm_command(*command))
        assert {node.name: node.idle for node in cluster.read_nodes(path)} == {
            node.name: node.idle for node in cluster.read_nodes()
        }, command
    assert main(["cluster", "background", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["b"] == background.b


def test_the_name_of_a_job_is_no_row(empty: Path) -> None:
    """A line feed in a name, and what looks like a running job on other nodes after it."""
    name = "mine\n9|RUNNING|4|excl|a|u|1:00|2:00|x|n[1-4]"
    job = submit("-p", "excl", "-N2", "--job-name", name)
    until([job], "RUNNING")
    (listed,) = cluster.read_queue()
    assert (listed.id, listed.name, len(listed.nodes)) == (job, name.replace("\n", " "), 2)


def test_drained_nodes_stay_in_the_machine(busy: dict[str, str]) -> None:
    slurm_command("scontrol", "update", "NodeName=n[0,62-63]", "State=DRAIN", "Reason=test")
    try:
        assert od.cluster.background().nodes_total == 64
        assert od.cluster.background(drained="leave-out").nodes_total == 62  # n0 still runs a job
        assert not {"n62", "n63"} & set(cluster.select(16).nodes)
    finally:
        slurm_command("scontrol", "update", "NodeName=n[0,62-63]", "State=RESUME")


def test_slurm_starts_the_job_on_the_nodes_of_level_spread(busy: dict[str, str], tmp_path: Path, capsys) -> None:
    # Island 3 (n48 to n63) is idle, and no other has 10 idle nodes but island 2, which has 12.
    selection = cluster.select(10, partition="excl")
    assert selection.nodelist == "n[48-50,52-54,56-57,60-61]"
    assert "group 3 (`isl3`) has 16 idle nodes, the most" in selection.reason
    script = tmp_path / "job.sh"
    script.write_text(SLEEP)
    slurm_command("scancel", busy["waits"])
    words = ["cluster", "select", "-N", "10", "-p", "excl", "--submit", "--json"]
    assert main([*words, "--", "--output=/dev/null", str(script)]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["state"] == "RUNNING"
    assert told["races"] == []
    assert sorted(nodes_of(told["job"])) == sorted(selection.nodes)


def test_ranks_are_where_the_host_file_says(empty: Path, tmp_path: Path) -> None:
    hostfile, out, script = tmp_path / "hosts", tmp_path / "out", tmp_path / "job.sh"
    script.write_text(
        "#!/bin/sh\nsrun --distribution=arbitrary -n 8 sh -c 'echo $SLURM_PROCID $SLURMD_NODENAME'\nsleep 1\n"
    )
    words = ["cluster", "select", "-N", "4", "--place", "round-robin-nodes", "--hostfile", str(hostfile)]
    words += ["--ranks-per-node", "2", "--submit", "--", f"--output={out}", "--ntasks-per-node=2", str(script)]
    assert main(words) == 0
    end = time.monotonic() + 40
    while not out.exists() or len(out.read_text().splitlines()) < 8:
        assert time.monotonic() < end, out.read_text() if out.exists() else "no output"
        time.sleep(0.2)
    lines = sorted(line.split() for line in out.read_text().splitlines())
    assert [node for _, node in lines] == hostfile.read_text().split()
    assert hostfile.read_text().split() == ["n0", "n0", "n16", "n16", "n32", "n32", "n48", "n48"]


def test_a_node_that_is_taken_meanwhile(empty: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from odonata.allocation.submission import submit as start

    others: list[str] = []

    def chosen():
        selection = cluster.select(4, partition="excl")
        if not others:  # between the selection and the submission, another job gets one of the nodes
            others.append(submit("-p", "excl", "-N1", "-w", selection.nodes[0]))
            until(others, "RUNNING")
        return selection

    script = tmp_path / "job.sh"
    script.write_text(SLEEP)
    job = start(chosen, ["--output=/dev/null", str(script)], partition="excl")
    assert job.races == ["n0 was taken by another job"]
    assert job.state == "RUNNING"
    assert sorted(nodes_of(job.job)) == sorted(job.selection.nodes) == ["n4", "n5", "n6", "n7"]


def test_without_retries_the_job_stays_in_the_queue(empty: Path, tmp_path: Path) -> None:
    from odonata.allocation.submission import submit as start

    selection = cluster.select(2, partition="excl")
    until([submit("-p", "excl", "-N1", "-w", selection.nodes[0])], "RUNNING")
    script = tmp_path / "job.sh"
    script.write_text(SLEEP)
    with pytest.raises(RunError, match=r"job \d+ waits: n0 was taken by another job"):
        start(lambda: selection, ["--output=/dev/null", str(script)], partition="excl", retries=0)


def test_a_partition_that_does_not_exist(empty: Path, tmp_path: Path, capsys) -> None:
    assert main(["cluster", "select", "-N", "2", "-p", "nope"]) == 2
    assert "unknown partition `nope`" in capsys.readouterr().err
    assert main(["cluster", "select", "-N", "2", "--submit", "--", str(tmp_path / "none.sh")]) == 1
    assert "`sbatch` failed: " in capsys.readouterr().err


def test_the_probe_in_a_job(busy: dict[str, str], tmp_path: Path) -> None:
    if shutil.which("mpicc") is None:
        pytest.skip("no Open MPI here; `make system-deps` installs it (as root)")
    launcher = "mpirun --allow-run-as-root --oversubscribe --map-by node --mca btl self,tcp --mca btl_tcp_if_include lo"
    launcher += " --mca oob_tcp_if_include lo --mca mpi_yield_when_idle 1 -n 4"
    script, out = tmp_path / "probe.sh", tmp_path / "out"
    script.write_text(
        f"#!/bin/sh\n{sys.executable} -m odonata cluster probe --iterations 5 --warmup 1 --op bcast --size '4 B' "
        f"--out {tmp_path}/probe --launcher '{launcher}'\necho done: $?\n"
    )
    # Three leaves of one island.
    words = ["-p", "excl", "-w", "n[48-49,52,60]", "-N4", f"--output={out}", str(script)]
    slurm_command("sbatch", *words)
    end = time.monotonic() + 60
    while not out.exists() or "done: " not in out.read_text():
        assert time.monotonic() < end, out.read_text() if out.exists() else slurm_command("squeue")
        time.sleep(0.2)
    assert "done: 0" in out.read_text(), out.read_text()
    [file] = (tmp_path / "probe").iterdir()
    table = pl.read_parquet(file)
    # The background is that of the other jobs, as in `test_background_against_a_count_by_hand`.
    assert table["b_before"].unique().to_list() == pytest.approx([17 / 64 * 18 / 20])
    assert table["b_after"].to_list() == table["b_before"].to_list()
    assert sorted(table["node"].unique()) == ["n48", "n49", "n52", "n60"]
    assert table.select("nodes", "ranks", "leaves", "groups").row(0) == (4, 4, 3, 1)
    assert table.height == 5 * 4


def test_a_controller_that_does_not_answer(
    slurm: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys
) -> None:
    text = (slurm / "slurm.conf").read_text()
    port = text.partition("SlurmctldPort=")[2].split()[0]
    other = text.replace(f"SlurmctldPort={port}", "SlurmctldPort=9") + "MessageTimeout=2\n"
    (tmp_path / "slurm.conf").write_text(other)
    monkeypatch.setenv("SLURM_CONF", str(tmp_path / "slurm.conf"))
    assert main(["cluster", "background"]) == 1
    assert "error: `squeue` failed: " in capsys.readouterr().err
