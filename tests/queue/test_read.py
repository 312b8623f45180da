"""Queues and nodes in every form that Slurm gives them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from tests.cluster import shapes

from odonata import cluster
from odonata.background.utilisation import of_jobs
from odonata.cli.main import main
from odonata.cluster import read_nodes, read_queue
from odonata.errors import InputError
from odonata.queue.slurm import commands
from odonata.workload.from_queue import from_queue

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


def file(folder: Path, text: str) -> Path:
    path = folder / "given"
    path.write_text(text)
    return path


def check_queue(path: Path) -> None:
    jobs = {job.id: job for job in read_queue(path)}
    assert sorted(jobs) == ["1", "2", "3", "4", "5"]
    assert {key: job.running for key, job in jobs.items()} == {"1": True, "2": True, "3": True, "4": False, "5": False}
    assert jobs["1"].nodes == ("n01", "n02", "n03")
    assert jobs["3"].nodes == ("n05",)
    assert jobs["4"].nodes == ()
    assert of_jobs(jobs.values(), 10).b == pytest.approx(0.4 * 5 / 6)


@pytest.mark.parametrize("release", shapes.RELEASES)
def test_queues_of_every_release(release: str, tmp_path: Path) -> None:
    check_queue(file(tmp_path, shapes.queue(release)))


@pytest.mark.parametrize("form", shapes.TABLES)
def test_tables(form: str, tmp_path: Path) -> None:
    check_queue(file(tmp_path, shapes.TABLES[form]))


def check_nodes(path: Path) -> None:
    nodes = read_nodes(path)
    assert [node.name for node in sorted(nodes, key=lambda node: node.name)] == list(shapes.NODES)
    assert sorted(node.name for node in nodes if node.idle) == shapes.IDLE
    assert {"n05", "n07"} <= {node.name for node in nodes if node.drained} <= {"n05", "n07", "n09"}
    assert all("main" in node.partitions for node in nodes)


@pytest.mark.parametrize("release", shapes.RELEASES)
def test_nodes_of_every_release(release: str, tmp_path: Path) -> None:
    check_nodes(file(tmp_path, shapes.nodes(release)))


@pytest.mark.parametrize("form", shapes.NODE_TABLES)
def test_node_tables(form: str, tmp_path: Path) -> None:
    check_nodes(file(tmp_path, shapes.NODE_TABLES[form]))


def test_nodes_of_scontrol_as_json(tmp_path: Path) -> None:
    check_nodes(file(tmp_path, shapes.scontrol_nodes()))


@pytest.mark.parametrize("state", ["CONFIGURING", "SUSPENDED", "STOPPED", "COMPLETING", "PENDING", "PREEMPTED"])
def test_jobs_whose_processes_do_not_run(state: str, tmp_path: Path) -> None:
    for states in (state, ["RUNNING", state], [state]):
        path = file(tmp_path, json.dumps({"jobs": [{"job_id": 1, "job_state": states, "nodes": "n[1-4]"}]}))
        assert not read_queue(path)[0].running


#: A state, short and long, beside a job that runs; and whether the job in it runs.
STATES = {
    "PO": ("POWER_UP_NODE", False),
    "LF": ("LAUNCH_FAILED", False),
    "UD": ("UPDATE_DB", False),
    "EX": ("EXPEDITING", False),
    "A_NEW_STATE": ("A_NEW_STATE", False),
    "ZZ": ("ZZ", False),
    "RUNNING+UD": ("RUNNING,EXPEDITING", True),
    "R+PO": ("RUNNING+POWER_UP_NODE", False),
    "RUNNING+A_NEW_FLAG": ("RUNNING+A_NEW_FLAG", False),
    "SI": ("SIGNALING", True),
}


@pytest.mark.parametrize(("short", "long", "runs"), [(short, *rest) for short, rest in STATES.items()])
def test_no_state_of_a_job_refuses_the_queue(short: str, long: str, runs: bool, tmp_path: Path) -> None:
    """A state that is not known is one of a job that does not run."""
    forms = [f"JOBID|ST|NODES|NODELIST\n1|R|2|n[1-2]\n2|{state}|2|n[3-4]\n" for state in (short, long)]
    forms += [f"JOBID ST NODES NODELIST(REASON)\n1 R 2 n[1-2]\n2 {state} 2 n[3-4]\n" for state in (short, long)]
    flags = long.replace(",", "+").split("+")
    jobs = [{"job_id": 1, "job_state": ["RUNNING"], "nodes": "n[1-2]"}]
    forms += [json.dumps({"jobs": [*jobs, {"job_id": 2, "job_state": flags, "nodes": "n[3-4]"}]})]
    forms += [f"JobId=1 JobState=RUNNING NodeList=n[1-2]\n\nJobId=2 JobState={long} NodeList=n[3-4]\n"]
    for text in forms:
        read = read_queue(file(tmp_path, text))
        assert [(job.running, job.nodes) for job in read] == [(True, ("n1", "n2")), (runs, ("n3", "n4"))], text


def test_states_that_are_not_known_are_counted_and_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = file(tmp_path, "JOBID|ST|NODELIST\n1|R|n[1-2]\n2|A_NEW_STATE|n[3-4]\n3|A_NEW_STATE|n5\n4|PO|n[6-7]\n")
    asked = ["cluster", "background", "--queue", str(path), "--nodes-total", "10"]
    assert main(asked) == 0
    out = capsys.readouterr().out
    assert "b = 0.2000" in out
    assert "1 jobs counted, 3 left out" in out
    assert out.endswith("\nassumed: 2 jobs are in states that are not known here, taken as not running: A_NEW_STATE\n")
    assert main([*asked, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["unknown_states"] == {"A_NEW_STATE": 2}
    topology = tmp_path / "topology.conf"
    topology.write_text("SwitchName=a Nodes=n[1-9]\n")
    assert main(["cluster", "allocations", "--topology", str(topology), "--queue", str(path)]) == 0
    assert "left out: 2 jobs in a state that is not known here: A_NEW_STATE" in capsys.readouterr().out
    queue = file(tmp_path, path.read_text().replace("|n", "|node0"))
    notes = from_queue("tiny", queue=queue).notes
    assert "assumed: 2 jobs are in states that are not known here, taken as not running: A_NEW_STATE" in notes


def test_a_job_with_no_state_does_not_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An empty list refused the whole queue."""
    jobs = [{"job_id": 1, "job_state": ["RUNNING"], "nodes": "n[1-2]"}, {"job_id": 2, "job_state": [], "nodes": "n3"}]
    path = file(tmp_path, json.dumps({"jobs": jobs}))
    assert [job.running for job in read_queue(path)] == [True, False]
    assert main(["cluster", "background", "--queue", str(path), "--nodes-total", "10"]) == 0
    said = "assumed: 1 job is in a state that is not known here, taken as not running: NO STATE\n"
    assert capsys.readouterr().out.endswith(said)


@pytest.mark.parametrize(
    ("state", "hint"),
    [
        ("RUNING", "did you mean `RUNNING`?"),
        ("idle", "`squeue` lists jobs"),
        ("MIXED", "`squeue` lists jobs"),
        *((state, None) for state in ("ann", "1-00:00", "", "X" * 40)),
    ],
)
def test_what_is_no_state_of_a_job_is_refused(state: str, hint: str | None, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="expected the state of a job, found") as told:
        read_queue(file(tmp_path, f"JOBID|STATE|NODELIST\n1|{state}|n1\n"))
    assert (told.value.hint or "").startswith(hint or "")
    assert (told.value.hint is None) == (hint is None)


@pytest.mark.parametrize(
    "flag", ["DRAIN", "NOT_RESPONDING", "MAINTENANCE", "RESERVED", "REBOOT_REQUESTED", "A_NEW_FLAG"]
)
def test_nodes_on_which_no_job_starts(flag: str, tmp_path: Path) -> None:
    path = file(tmp_path, json.dumps({"nodes": [{"name": "n1", "state": ["IDLE", flag]}]}))
    assert not read_nodes(path)[0].idle


TWO_PARTITIONS = "PARTITION AVAIL STATE NODELIST\nmain* up idle n1\nold down idle n[1-2]\n"
TWO_PARTITIONS_JSON = {
    "sinfo": [
        {
            "nodes": {"nodes": nodes},
            "node": {"state": ["IDLE"]},
            "partition": {"name": name, "partition": {"state": [state]}},
        }
        for name, state, nodes in (("main", "UP", ["n1"]), ("old", "DOWN", ["n1", "n2"]))
    ]
}


@pytest.mark.parametrize("text", [TWO_PARTITIONS, json.dumps(TWO_PARTITIONS_JSON)])
def test_no_job_starts_in_a_partition_that_is_down(text: str, tmp_path: Path) -> None:
    nodes = {node.name: (node.idle, node.drained, node.partitions) for node in read_nodes(file(tmp_path, text))}
    assert nodes == {"n1": (True, False, frozenset({"main"})), "n2": (False, False, frozenset())}


def wrong_queue(folder: Path, text: str) -> str:
    path = file(folder, text)
    with pytest.raises(InputError) as raised:
        read_queue(path)
    return str(raised.value).replace(str(path), "F")


JOB = {"job_id": 7, "job_state": "RUNNING", "nodes": "n[1-4]"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "F: the file is empty"),
        (
            '{"jobs": [\n{"job_id": 1, "job_st',
            "F:2: not JSON: unterminated string starting at\n  hint: the file may be cut",
        ),
        (
            '{"jobs": [\n{"job_id": 1,\n',
            "F:3: not JSON: expecting property name enclosed in double quotes\n  hint: the file may be cut",
        ),
        ('{"nodes": []}', "F: expected what `squeue --json` prints: a list under `jobs`; found the keys `nodes`"),
        ('{"jobs": {"1": {}}}', "F: expected what `squeue --json` prints: a list under `jobs`; found the keys `jobs`"),
        ('{"jobs": [3]}', "F: jobs[0]: expected an object, found `3`"),
        ("[3]", "F: jobs[0]: expected an object, found `3`"),
        (json.dumps({"jobs": [{"job_id": 7}]}), "F: jobs[0] (job 7): it has no `job_state`"),
        (
            json.dumps({"jobs": [JOB | {"job_state": {"now": 1}}]}),
            "F: jobs[0] (job 7): it has no `job_state`",
        ),
        (
            json.dumps({"jobs": [JOB | {"job_state": [3]}]}),
            "F: jobs[0] (job 7): expected `job_state` as a text or a list of texts, found `[3]`",
        ),
        (
            json.dumps({"jobs": [JOB | {"job_state": "RUNING"}]}),
            "F: jobs[0] (job 7): expected the state of a job, found `RUNING`",
        ),
        (
            json.dumps({"jobs": [JOB, JOB | {"job_id": 8}, JOB]}),
            "F: jobs[2]: the running job 7 is listed twice, first as jobs[0]",
        ),
        (
            json.dumps({"jobs": [JOB | {"nodes": ""}]}),
            "F: jobs[0] (job 7): it runs, but has no nodes; expected `nodes` or `job_resources.nodes`",
        ),
        (
            json.dumps({"jobs": [JOB | {"nodes": "n[4-1]"}]}),
            "F: jobs[0] (job 7): host list `n[4-1]`, character 3: the range `4-1` ends before it begins",
        ),
        (
            json.dumps({"jobs": [], "errors": [{"error": "x", "description": "Unable to contact the controller"}]}),
            "F: Slurm says in this file that it failed: Unable to contact the controller",
        ),
        (
            "1 R n1\n",
            "F:1: expected the header of `squeue` with `STATE` and `NODELIST`, found `1 R n1`\n"
            "  hint: keep the header, give `squeue --json`, or say how it was printed, as in --queue-format '%i|%T|%N'",
        ),
        (
            "JOBID|STATE|NODELIST\n1|RUNNING|n[1-4",
            "F:2: host list `n[1-4`, character 6: the list is cut: a bracket is not closed\n  hint: print the whole "
            "list: `squeue -o '%i|%T|%D|%N'` or `squeue --json`",
        ),
        (
            "JOBID|STATE|NODELIST\n1|RUNNING\n",
            "F:2: expected 3 columns as in the header, found 2: `1|RUNNING`\n  hint: the file may be cut; a sign "
            "between the columns is safer than blanks: `squeue -o '%i|%T|%D|%N'` or `squeue --json`",
        ),
        (
            "JOBID|STATE|NODES|NODELIST\n1|RUNNING|3|n1,n2\n",
            "F:2: the job has 3 nodes, but its list names 2: the list is cut\n  hint: print the whole list: "
            "`squeue -o '%i|%T|%D|%N'` or `squeue --json`",
        ),
        ("JobId=3 JobName=x\n   UserId=a", "F:1: job 3: it has no `JobState`: the file may be cut"),
        (
            "JobId=3 JobState=RUNNING\n   NodeList=n1\n\n" * 2,
            "F:4: job 3: it runs, and is listed twice, first in line 1",
        ),
        (
            "JobId=3 JobState=RUNNING\n   NodeList=n1\n   WorkDir=/\n\nJobId=4 JobState=RUNNING\n   NodeList=n2",
            "F:5: the last record has no `WorkDir`: the file may be cut",
        ),
    ],
)
def test_wrong_queues(text: str, message: str, tmp_path: Path) -> None:
    assert wrong_queue(tmp_path, text) == message


@pytest.mark.parametrize("release", shapes.RELEASES)
def test_a_queue_that_is_cut_anywhere_is_refused(release: str, tmp_path: Path) -> None:
    text = shapes.queue(release)
    for at in range(1, len(text) - 1, 97):
        assert wrong_queue(tmp_path, text[:at]).startswith("F")


def test_nodes_that_are_cut(tmp_path: Path) -> None:
    path = tmp_path / "nodes"
    whole = "NodeName=n1\n   State=IDLE\n   CfgTRES=cpu=4\n\n"
    path.write_text(whole + whole.replace("n1", "n2"))
    assert [node.name for node in read_nodes(path)] == ["n1", "n2"]
    path.write_text(whole + "NodeName=n2\n   State=IDLE\n   Cfg")
    with pytest.raises(InputError, match=r":5: the last record has no `CfgTRES`: the file may be cut"):
        read_nodes(path)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot read it: no such file"):
        read_queue(tmp_path / "none")


def test_a_job_in_each_line(tmp_path: Path) -> None:
    jobs = json.loads(shapes.queue(shapes.RELEASES[-1]))["jobs"]
    check_queue(file(tmp_path, "".join(json.dumps(job) + "\n" for job in jobs)))
    nodes = [{"name": f"n{n}", "state": ["IDLE"]} for n in (1, 2)]
    listed = read_nodes(file(tmp_path, "\n".join(map(json.dumps, nodes))))
    assert [node.name for node in listed] == ["n1", "n2"]
    twice = json.dumps({"jobs": jobs}) + "\n"
    with pytest.raises(InputError, match="expected the output of one command, found several"):
        read_queue(file(tmp_path, twice + twice))
    with pytest.raises(InputError, match="not JSON: extra data"):
        read_queue(file(tmp_path, "{}\n[1]\n"))


def test_a_line_feed_in_a_job_name_is_no_row(monkeypatch: pytest.MonkeyPatch) -> None:
    """A user may name a job so that a part of the name looks like the row of a running job."""
    name = "mine\n9|RUNNING|4|p|a|u|1:00|2:00|x|n[1-4]"

    def printed(command: Sequence[str]) -> str:
        mark = command[-1].removeprefix("--format=").partition("|")[0]
        header = "JOBID|STATE|NODES|PARTITION|ACCOUNT|USER|TIME_LEFT|TIME_LIMIT|NAME|NODELIST"
        rows = [f"1|RUNNING|2|p|a|u|1:00|2:00|{name}|n[5-6]", "2|PENDING|1|p|a|u|1:00|2:00|b|"]
        return "".join(f"{mark}|{row}\n" for row in [header, *rows])

    monkeypatch.setattr(commands, "run", printed)
    first, second = cluster.read_queue()
    assert (first.id, first.nodes, first.name) == ("1", ("n5", "n6"), name.replace("\n", " "))
    assert (second.id, second.running) == ("2", False)


def test_a_queue_without_marks_is_read_as_it_is() -> None:
    assert commands.marked_rows("JOBID|NAME\n1|a\nb\n", "x|") == "JOBID|NAME\n1|a\nb\n"
    assert commands.marked_rows("", "x|") == ""
    assert commands.marked_rows("x|JOBID|NAME\nx|1|a\nb\n", "x|") == "JOBID|NAME\n1|a b\n"
