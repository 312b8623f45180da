"""From a queue to a scenario: who runs where, what is assumed, and what is refused."""

from __future__ import annotations

import json
import tomllib
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import tomlkit

import odonata as od
from odonata import machine
from odonata.cli.main import main
from odonata.cluster import Job, from_queue, read_book
from odonata.errors import InputError
from odonata.queue.hosts import expand
from odonata.scenario import parse
from odonata.study import read as read_study
from odonata.study.study import Study
from odonata.workload.book import default_text
from odonata.workload.robustness import Robustness, robustness

if TYPE_CHECKING:
    from odonata.cluster import Workload

QUEUE = """\
JOBID|PARTITION|NAME|USER|STATE|NODES|NODELIST|COMMENT
1|gpu|train|ann|RUNNING|4|node[00-03]|
2|cpu|fft|bob|RUNNING|5|node[04-08]|app=alltoall
3|cpu|shares|bob|RUNNING|3|node[08-10]|
4|cpu|small|eve|RUNNING|1|node12|
5|cpu|waits|eve|PENDING|2||
"""

BOOK = """\
title = "ours"
alternatives = ["light"]
messages = 7

[[rule]]
name = "fft"
comment = "app=*"
app = { collective = "alltoall", message = "1 KiB" }
gap = "10 us"
alternatives.light = { gap = "1 ms" }

[[rule]]
name = "rest"
app = { pattern = "uniform-random", message = "16 KiB" }
load = "10 %"
source = "measured last week"
alternatives.light = { load = "1 %" }
"""


@pytest.fixture
def queue(tmp_path: Path) -> Path:
    file = tmp_path / "squeue.txt"
    file.write_text(QUEUE)
    return file


@pytest.fixture
def book(tmp_path: Path) -> Path:
    file = tmp_path / "book.toml"
    file.write_text(BOOK)
    return file


@pytest.fixture
def workload(queue: Path, book: Path, tmp_path: Path) -> Workload:
    nodes = tmp_path / "sinfo.txt"
    nodes.write_text("NODELIST|STATE\nnode[00-12]|allocated\nnode[13-14]|idle\nnode15|drained\n")
    return from_queue("tiny", queue=queue, nodes_file=nodes, book=book, victim="1")


def test_running_jobs_keep_their_nodes_and_the_rest_of_the_machine_is_as_it_is(workload: Workload) -> None:
    """Job 2 is larger than job 3, so it gets the shared node; the node of the small job, and the drained, are taken."""
    resolved = parse(workload.toml()).resolve()
    assert {job["name"]: sorted(set(job["nodes"])) for job in resolved.spec["jobs"]} == {
        "job-1": [0, 1, 2, 3],
        "job-2": [4, 5, 6, 7, 8],
        "job-3": [9, 10],
    }
    assert resolved.targets == ("job-1",)
    assert resolved.system.unusable_nodes == (12, 15)
    moved = parse(workload.toml()).set("job.job-1.nodes", 4).set("job.job-1.place", "contiguous").resolve()
    assert not {12, 15} & set(moved.spec["jobs"][0]["nodes"])


def test_a_load_is_what_the_nics_of_a_node_are_offered(workload: Workload) -> None:
    resolved = parse(workload.toml()).resolve()
    traffic = resolved.spec["jobs"][0]["traffic"]
    offered = Fraction(traffic["message_bytes"] * 10**12, traffic["interval_ps"])
    capacity = Fraction(resolved.spec["fabric"]["links"]["node"]["bandwidth"], 10**6)
    assert float(offered / capacity) == pytest.approx(0.1, rel=1e-6)
    assert traffic["intervals"] == 7


def test_every_assumption_is_in_the_scenario_its_comments_and_the_resolved_run(workload: Workload) -> None:
    text = workload.toml()
    sources = parse(text).table.sources
    assert sources["job.job-2.app"] == "assumed (rule `fft` of ours)"
    assert sources["job.job-1.app"] == "from the book: measured last week (rule `rest` of ours)"
    assert sources["queue.1"] == "assumed: 1 node shared by several jobs, each counted for the largest of them"
    for note in workload.notes:
        assert f"# - {note}" in text
    told = {row["key"]: row for row in parse(text).resolve().document["sources"]}
    assert told["job.job-2.app"]["source"].startswith("assumed")
    assert "alltoall" in told["job.job-2.app"]["value"]
    assert parse(text).resolve().id == parse(text.partition("[sources]")[0]).resolve().id


def test_the_study_varies_what_the_book_varies(workload: Workload, tmp_path: Path) -> None:
    (tmp_path / "now.toml").write_text(workload.toml())
    study = tmp_path / "now-traffic.toml"
    study.write_text(workload.study("now.toml"))
    plan = read_study.load(study)
    assert len(plan) == 2 * 8
    light = plan.scenario(1).resolve()
    usual = plan.scenario(0).resolve()
    assert plan.point(1)[1] == ("sources.traffic", "light")
    intervals = [resolved.spec["jobs"][0]["traffic"]["interval_ps"] for resolved in (light, usual)]
    assert intervals[0] / intervals[1] == pytest.approx(10, rel=1e-6)
    assert light.spec["jobs"][1]["program"]["gap_ps"] == 10**9
    assert plan.alone


def placed(tmp_path: Path, hosts: list[str], listed: list[str] | None, **options: bool) -> tuple[dict, list[str]]:
    """Nodes of each job on the 16 nodes of `tiny`, by their hosts and a list of the nodes; and what is assumed."""
    queue = tmp_path / "q.txt"
    rows = [f"{number}|RUNNING|{len(expand(host))}|{host}" for number, host in enumerate(hosts, 1)]
    queue.write_text("JOBID|STATE|NODES|NODELIST\n" + "\n".join(rows) + "\n")
    nodes_file = None
    if listed is not None:
        nodes_file = tmp_path / "n.txt"
        nodes_file.write_text("NODELIST STATE\n" + "".join(f"{host} idle\n" for host in listed))
    found = from_queue("tiny", queue=queue, nodes_file=nodes_file, **options)
    counted = [note for note in found.notes if "hosts count" in note]
    return {job: sorted(nodes) for job, nodes in found.nodes.items()}, counted


FROM_ONE = {"1": [0, 1, 2, 3], "2": [4, 5, 6, 7]}


@pytest.mark.parametrize(
    ("hosts", "listed", "note"),
    [
        (["node[01-04]", "node[05-08]"], ["node[01-16]"], "assumed: hosts count from 1: `node01` is node 0"),
        (["node[01-04]", "node[05-08]"], ["node[01-10]", "login[1-2]", "node[11-16]"], "from 1: `node01` is node 0"),
        (["node[01-04]", "node[05-08]"], ["node[01-08]", "node16"], "from 1, because `node00` is not there, and the"),
        (["nid[000001-000004]", "nid[000005-000008]"], ["nid[000001-000016]"], "from 1: `nid000001` is node 0"),
        (["n[1-4]", "n[5-8]"], ["n[1-16]"], "from 1: `n1` is node 0"),
        (["c2-n[1-4].x", "c2-n[5-8].x"], ["c2-n[1-16].x"], "from 1: `c2-n1.x` is node 0"),
        (["nid[005000-005003]", "nid[005004-005007]"], ["nid[005000-005015]"], "from 5000: `nid005000` is node 0"),
        (["node[00-03]", "node[04-07]"], ["node[00-15]"], None),
        (["node[00-03]", "node[04-07]"], ["node[00-09]"], None),
        (["node[00-03]", "node[04-07]"], None, None),
    ],
)
def test_hosts_count_from_the_number_that_the_list_of_nodes_shows(hosts, listed, note, tmp_path) -> None:
    nodes, notes = placed(tmp_path, hosts, listed)
    assert nodes == FROM_ONE
    assert (notes == []) == (note is None)
    assert note is None or note in notes[0]


def test_a_queue_alone_counts_from_one_if_a_job_is_on_the_node_that_the_machine_lacks(tmp_path) -> None:
    assert placed(tmp_path, ["node[13-16]", "node[01-02]"], None)[0] == {"1": [12, 13, 14, 15], "2": [0, 1]}
    nodes, notes = placed(tmp_path, ["node[01-04]"], None)
    assert nodes == {"1": [1, 2, 3, 4]}
    assert notes == ["assumed: hosts count from 0: `node00` is node 0, though no file names it"]


def test_hosts_of_which_nobody_can_say_where_they_count_from_are_refused(tmp_path) -> None:
    either = (
        "nobody can say whether `node01` is node 0 or node 1 of `tiny`, which has 16 nodes: the list of the nodes has"
    )
    with pytest.raises(InputError, match=f"{either} neither `node00` nor `node16`") as refused:
        placed(tmp_path, ["node[01-04]"], ["node[01-12]"])
    assert refused.value.hint == "--names FILE.csv says which host is which node"
    with pytest.raises(InputError, match=f"{either} `node18`"):
        placed(tmp_path, ["node[01-04]"], ["node[01-18]"], leave_out_unknown=True)
    for hosts, listed in (
        (["nid[000001-000004]"], ["nid[000001-000012]"]),
        (["r1n[01-04]", "r2n[01-04]"], ["r1n[01-08]", "r2n[01-08]"]),
        (["nid[000001-000004]"], None),
    ):
        with pytest.raises(InputError, match="and the machine has no such node"):
            placed(tmp_path, hosts, listed)


def test_what_holds_for_all_assumptions_needs_all_of_them() -> None:
    def held(*rows: tuple[float, float, float]) -> str:
        return Robustness(
            "a", tuple((f"t{n}", 8, middle, (low, high)) for n, (low, middle, high) in enumerate(rows))
        ).sentence

    assert held((1.2, 1.3, 1.4), (1.5, 1.6, 1.7)).startswith(
        "Under all 2 assumptions, `a` is slowed down: it takes 1.30"
    )
    assert held((1.2, 1.3, 1.4), (0.99, 1.0, 1.001)).endswith("slowed down beyond the interval under: t0.")
    assert "do not slow down" in held((1.0, 1.0, 1.0), (0.99, 1.0, 1.001))
    assert "depends" in held((0.9, 1.3, 1.4), (1.5, 1.6, 1.7))


def test_without_intervals_nothing_is_concluded() -> None:
    """One seed, or a few, say neither that it depends on the traffic nor that it does not."""
    one = Robustness("a", (("usual", 1, 1.01, None), ("heavy", 1, 1.02, None)))
    assert one.sentence == (
        "Not known: 1 run of an assumption gives no interval, and at least 6 do: put more seeds into `run.seed` of the "
        "study. `a` takes 1.01 to 1.02 times as long as alone in these runs."
    )
    assert one.as_dict()["holds_for_all"] is None
    some = Robustness("a", (("usual", 8, 1.5, (1.4, 1.6)), ("heavy", 5, 2.0, None)))
    assert some.sentence.startswith("Not known: 5 runs of an assumption give no interval")
    assert Robustness("a", (("usual", 8, 1.5, (1.4, 1.6)),)).as_dict()["holds_for_all"] is True
    assert Robustness("a", (("usual", 8, 1.5, (0.9, 1.6)),)).as_dict()["holds_for_all"] is False


TWO_PROGRAMS = """\
system = "tiny"
[[job]]
name = "victim"
place = { nodes = "0-3" }
app = { pattern = "uniform-random", message = "4 KB", interval = "2 us", messages = 5 }
[[job]]
name = "training"
place = { nodes = "4-11" }
app = { collective = "allreduce", algorithm = "ring", message = "64 MiB" }
background = true
[[job]]
name = "halo"
place = { nodes = "12-15" }
app = { collective = "alltoall", message = "64 B" }
background = true
[run]
until = "victim"
"""


def test_jobs_that_ended_no_iteration_are_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An all-reduce of 64 MiB takes much longer than the victim, so only its begin is simulated."""
    (tmp_path / "now.toml").write_text(TWO_PROGRAMS)
    assert main(["run", str(tmp_path / "now.toml"), "--out", str(tmp_path / "run")]) == 0
    out = capsys.readouterr().out
    assert "training: no iteration ended: only the begin of one is in this run" in out
    assert "halo: no" not in out
    (tmp_path / "st.toml").write_text(
        'base = "now.toml"\nalone = true\n[sweep]\n"run.seed" = [1, 2]\n[zip]\n"sources.traffic" = ["usual", "light"]\n'
    )
    held = robustness(od.sweep(tmp_path / "st.toml"))
    assert held.unended == (("training", 4, 4),)
    [warning] = held.as_dict()["warnings"]
    assert warning.startswith("`training` in 4 of 4 runs ended no iteration: only the begin of one is simulated")
    assert f"warning: {warning}" in str(held)


def test_only_a_study_over_assumptions_can_say_it() -> None:
    study = Study({"name": "s", "axes": [{"keys": ["run.seed"], "values": 1}]}, {})
    with pytest.raises(InputError, match=r"no axis `sources\.traffic`"):
        robustness(study)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("node[00-03]", "nide[00-03]"), "job 1 runs on `nide00`, and the machine has no such node (4 such hosts)"),
        (("|4|node[00-03]", "|4|node[00-0"), "squeue.txt:2: "),
        (("|4|node[00-03]", "|6|node[00-03]"), "the list is cut"),
        (("\n3|", "\n2|"), "squeue.txt:4: the running job 2 is listed twice, first in line 3"),
        (("RUNNING", "PENDING"), "no job of two nodes or more runs"),
    ],
)
def test_bad_queues_are_errors(queue: Path, change: tuple[str, str], message: str) -> None:
    queue.write_text(QUEUE.replace(*change))
    with pytest.raises(InputError) as error:
        from_queue("tiny", queue=queue)
    assert message in str(error.value)


def test_hosts_that_are_no_nodes_can_be_left_out(queue: Path) -> None:
    queue.write_text(QUEUE.replace("|5|node[04-08]", "|6|node[04-08],login1"))
    workload = from_queue("tiny", queue=queue, leave_out_unknown=True)
    assert "assumed: 1 host that the machine lacks do not matter: login1" in workload.notes
    assert workload.nodes["2"] == (4, 5, 6, 7, 8)


def test_names_say_which_host_is_which_node(queue: Path, tmp_path: Path) -> None:
    names = tmp_path / "names.csv"
    rows = [f"node,{15 - node},node{node:02}" for node in range(16)]
    names.write_text("\n".join(["what,number,name", "router,0,r0", *rows]) + "\n")
    workload = from_queue("tiny", queue=queue, names=names)
    assert workload.nodes["1"] == (15, 14, 13, 12)
    names.write_text("what,number,name\nnode,3\n")
    with pytest.raises(InputError, match=r"names\.csv:2: .*found `node,3`"):
        from_queue("tiny", queue=queue, names=names)
    names.write_text("what,number,name\nnode,99,node00\n")
    with pytest.raises(InputError, match="has nodes 0 to 15, found 99"):
        from_queue("tiny", queue=queue, names=names)


@pytest.mark.parametrize("victim", ["4", "5", "77"])
def test_the_victim_must_use_the_network(queue: Path, victim: str) -> None:
    with pytest.raises(
        InputError,
        match=r"job 4 has fewer than two nodes|job 5 is pending, expected a running job|unknown running job `77`",
    ):
        from_queue("tiny", queue=queue, victim=victim)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (('comment = "app=*"', 'comment = "app=x"'), "book.toml:5: the rule `fft` fits no job of the queue"),
        (('comment = "app=*"', 'partition = "gpus"'), "did you mean `gpu`?"),
        (('name = "rest"', 'name = "rest"\npartition = "cpu"'), "no rule fits the job 1"),
        (('load = "10 %"\n', ""), "has neither a load nor an interval"),
        (('load = "10 %"', 'load = "0 %"'), "book.toml:15: the rule `rest`: expected a load above 0 %, found 0 %"),
        (("alternatives.light = { load", "alternatives.lihgt = { load"), "did you mean `light`?"),
        (('app = { pattern = "uniform-random"', 'app = { patern = "uniform-random"'), "expected an application"),
        (('pattern = "uniform-random"', 'pattern = "uniform"'), "book.toml:14: job 1: unknown pattern"),
        (('comment = "app=*"', 'nodes = "9-2"'), "ends before it begins"),
        (("messages = 7", "mesages = 7"), "did you mean `messages`?"),
    ],
)
def test_bad_books_are_errors(queue: Path, book: Path, change: tuple[str, str], message: str) -> None:
    book.write_text(BOOK.replace(*change, 1))
    with pytest.raises(InputError) as error:
        from_queue("tiny", queue=queue, book=book).toml()
    assert message in str(error.value)


TRAINING = """\
overhead = { copy = "300 GB/s", reduce = "none" }
ranks_per_node = 4

[rule.app.train]
model = { layers = 2, hidden = 64, heads = 4, vocabulary = 512, sequence = 64 }
tensor = 4
"""


def test_a_job_may_train_a_model_with_the_costs_of_its_gpus(queue: Path, book: Path) -> None:
    rule = 'gap = "10 us"\nalternatives.light = { gap = "1 ms" }\n'
    changed = BOOK.replace('app = { collective = "alltoall", message = "1 KiB" }\n', "").replace(rule, rule + TRAINING)
    book.write_text(changed)
    with_costs = from_queue("tiny", queue=queue, book=book, victim="1").toml()
    book.write_text(changed.replace(TRAINING.splitlines()[0], ""))
    without = from_queue("tiny", queue=queue, book=book, victim="1").toml()
    programs = [parse(text, "now.toml").resolve().spec["jobs"][1]["program"] for text in (with_costs, without)]
    assert all("stages" in program["body"] for program in programs)
    assert programs[0]["costs"] != programs[1]["costs"]


def test_files_of_a_book_are_relative_to_it(queue: Path, book: Path, tmp_path: Path, monkeypatch) -> None:
    (tmp_path / "pairs.csv").write_text("source,target,bytes\n0,1,1000\n4,0,500\n")
    book.write_text(BOOK.replace('{ collective = "alltoall", message = "1 KiB" }', '{ matrix = "pairs.csv" }'))
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    workload = from_queue("tiny", queue=queue, book=book, victim="1")
    body = parse(workload.toml(), "elsewhere/now.toml").resolve().spec["jobs"][1]["program"]["body"]
    assert "1000" in str(body)


def test_a_rule_behind_one_that_takes_all_its_jobs_is_an_error(queue: Path, book: Path) -> None:
    first, second = BOOK.index("[[rule]]"), BOOK.rindex("[[rule]]")
    book.write_text(BOOK[:first] + BOOK[second:] + "\n" + BOOK[first:second])
    with pytest.raises(InputError, match="those of the rule `rest`, which stands before"):
        from_queue("tiny", queue=queue, book=book)


def test_the_first_rule_that_fits_decides() -> None:
    book = read_book()
    names = [rule.name for rule in book.table.rule]

    def rule(name: str, nodes: int = 4) -> str:
        return names[book.rule_of(Job("1", frozenset({"RUNNING"}), tuple(map(str, range(nodes))), name=name))]

    assert rule("my-FFT-run") == "transforms"
    assert rule("train_llm") == "training"
    assert rule("lammps.in") == "grids"
    assert rule("x") == "other"


def test_every_value_of_the_default_book_is_marked_as_assumed() -> None:
    book = read_book()
    assert all(rule.source.startswith("assumed") for rule in book.table.rule)
    assert all(rule.optional for rule in book.table.rule)
    assert tomllib.loads(default_text())["title"] == book.title


def test_the_command_writes_the_scenario_and_the_study(
    queue: Path, book: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(queue.parent)
    given = ["cluster", "snapshot", "--queue", "squeue.txt", "--book", "book.toml", "--system", "tiny"]
    assert main([*given, "-o", "now.toml", "--vary", "traffic", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["victim"] == "job-2"
    assert told["study"] == "now-traffic.toml"
    assert told["jobs"][1] == {"id": "1", "nodes": [0, 1, 2, 3]}
    run = od.run("now.toml")
    assert run.jobs["name"].to_list() == ["job-2", "job-1", "job-3"]
    assert run.jobs["complete"][0]
    assert main([*given, "-o", "now.toml"]) == 0  # the same again is no change
    Path("now.toml").write_text("mine")
    assert main([*given, "-o", "now.toml"]) == 2
    assert "exists with different contents" in capsys.readouterr().err
    # A path on the command line is relative to the present folder, that in the scenario to the scenario's folder.
    Path("machines").mkdir()
    Path("now").mkdir()
    Path("machines/ours.toml").write_text(tomlkit.dumps(machine.load("tiny").document()))
    given[-1] = "machines/ours.toml"
    assert main([*given, "-o", "now/now.toml"]) == 0
    assert od.run("now/now.toml").jobs["name"].to_list() == ["job-2", "job-1", "job-3"]
    capsys.readouterr()
    assert main(["cluster", "snapshot", "--print-book"]) == 0
    assert capsys.readouterr().out == default_text()
    assert main(["cluster", "snapshot"]) == 2
    assert "which machine is the cluster?" in capsys.readouterr().err


def test_names_with_other_leading_zeros_are_those_of_the_machine(tmp_path: Path) -> None:
    """They were refused, with a node far away as the nearest."""
    path = tmp_path / "padding"
    said = "assumed: names with other leading zeros are those of `superpod-h100`: `{}` is `node001`"
    for host, listed in (("node1", "node[1-4]"), ("node00001", "node[00001-00004]"), ("node01", "node[01-04]")):
        path.write_text(f"JOBID|STATE|NODES|NODELIST\n1|RUNNING|4|{listed}\n")
        made = from_queue("superpod-h100", queue=path)
        assert made.nodes == {"1": (1, 2, 3, 4)}
        assert made.notes[0] == said.format(host)
    path.write_text("JOBID|STATE|NODES|NODELIST\n1|RUNNING|4|node[1-3,128]\n")
    made = from_queue("superpod-h100", queue=path)
    assert made.nodes == {"1": (0, 1, 2, 127)}
    assert made.notes[0] == said.format("node1")
    assert made.notes[1].startswith("assumed: hosts count from 1")
    nodes = tmp_path / "nodes"
    nodes.write_text("NODELIST STATE\nnode[0-126] idle\nnode127 drain\n")
    path.write_text("JOBID|STATE|NODES|NODELIST\n1|RUNNING|4|node[1-4]\n")
    made = from_queue("superpod-h100", queue=path, nodes_file=nodes)
    assert (made.nodes, made.unavailable) == ({"1": (1, 2, 3, 4)}, (127,))
    path.write_text("JOBID|STATE|NODES|NODELIST\n1|RUNNING|2|node[1-2]\n2|RUNNING|2|node[001,003]\n")
    with pytest.raises(InputError, match="job 1 runs on `node1`, and the machine has no such node") as told:
        from_queue("superpod-h100", queue=path)
    assert (told.value.hint or "").startswith("`node001` differs in leading zeros only; --names FILE.csv")


def test_texts_of_users_that_no_title_holds(tmp_path: Path) -> None:
    """Catches a snapshot that `odonata run` refuses: long names, and characters that are not printed."""
    names = ["a\u00a0b", "zero\u200bwidth", "turned\u202e", "line\u2028end", "x" * 300, '"quoted" \\ <b>', "tab\there"]
    jobs = [
        {"job_id": 10 + at, "job_state": ["RUNNING"], "nodes": f"node[{2 * at:02}-{2 * at + 1:02}]", "name": name}
        for at, name in enumerate(names)
    ]
    queue = tmp_path / ("q" * 180 + ".json")
    queue.write_text(json.dumps({"jobs": jobs}))
    loaded = parse(from_queue("tiny", queue=queue).toml()).resolve()
    assert [len(job["nodes"]) for job in loaded.spec["jobs"]] == [2] * len(names)
