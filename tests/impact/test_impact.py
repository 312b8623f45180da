"""The impact of all jobs on a small machine, where who slows down whom, and by how much, is known."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import odonata as od
from odonata.cli.cluster_impact import impact as command_help
from odonata.cli.main import main
from odonata.impact import alone, window
from odonata.impact.assumed import SEEDS, Assumption, jobs_under
from odonata.impact.impact import impact
from odonata.units import format_time
from odonata.workload.from_queue import from_queue

if TYPE_CHECKING:
    from odonata.impact import Impact

# Two hosts on a leaf switch, two leaves in a group. Job 1 sends from three groups to the host beside job 2. Job 3 has a
# leaf of its own, and so does the program of job 4.
TOPOLOGY = """\
SwitchName=x1c0r1 Nodes=nid[01-02]
SwitchName=x1c0r2 Nodes=nid[03-04]
SwitchName=x1c1r1 Nodes=nid[05-06]
SwitchName=x1c1r2 Nodes=nid[07-08]
SwitchName=x2c0r1 Nodes=nid[09-10]
SwitchName=x2c0r2 Nodes=nid[11-12]
SwitchName=x2c1r1 Nodes=nid[13-14]
SwitchName=x2c1r2 Nodes=nid[15-16]
SwitchName=g1 Switches=x1c0r[1-2]
SwitchName=g2 Switches=x1c1r[1-2]
SwitchName=g3 Switches=x2c0r[1-2]
SwitchName=g4 Switches=x2c1r[1-2]
SwitchName=all Switches=g[1-4]
"""
QUEUE = """\
JOBID|NAME|USER|STATE|NODES|NODELIST
1|gather|ann|RUNNING|5|nid[02,05,09,11,13]
2|solver|bob|RUNNING|2|nid[01,15]
3|quiet|eve|RUNNING|2|nid[07-08]
4|steps|eve|RUNNING|2|nid[03-04]
5|small|eve|RUNNING|1|nid16
"""
BOOK = """\
title = "ours"
alternatives = ["light"]

[[rule]]
name = "gather"
job_name = "gather"
app = { motif = "incast", message = "64 KiB" }
gap = "40 us"
alternatives.light = { gap = "1 ms" }

[[rule]]
name = "steps"
job_name = "steps"
app = { collective = "allreduce", message = "4 KiB" }
gap = "5 us"

[[rule]]
name = "rest"
app = { pattern = "uniform-random", message = "4 KiB", interval = "2 us" }
"""
ROOT = Path(__file__).parents[2]
FILES = {"topology.conf": TOPOLOGY, "squeue.txt": QUEUE, "book.toml": BOOK}


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("machine")
    for name, text in FILES.items():
        (folder / name).write_text(text)
    command = ["cluster", "import", str(folder / "topology.conf"), "--like", "tiny"]
    assert main([*command, "-o", str(folder / "our.toml"), "--names", str(folder / "names.csv")]) == 0
    return folder


def command(machine: Path, *more: str) -> list[str]:
    of = {"--system": "our.toml", "--queue": "squeue.txt", "--book": "book.toml"}
    files = [part for option, file in of.items() for part in (option, str(machine / file))]
    return ["cluster", "impact", *files, "--quiet", *more]


@pytest.fixture(scope="module")
def told(machine: Path) -> dict[str, Any]:
    """What the command writes."""
    assert main(command(machine, "-o", str(machine / "out"))) == 0
    read: dict[str, Any] = json.loads((machine / "out" / "impact.json").read_text())
    return read


def job(told: dict[str, Any], number: int) -> dict[str, Any]:
    return next(row for row in told["jobs"] if row["id"] == str(number))


def test_the_victim_of_an_incast_is_first_with_its_cause_and_the_switch(told: dict[str, Any]) -> None:
    worst = told["jobs"][0]
    assert worst["id"] == "2"
    assert worst["slowdown"] > 1.5
    assert worst["by"]["job"] == "job-1"
    assert worst["by"]["share_of_others"] == 1.0
    assert "x1c0r1 (" in worst["at"]["where"]
    assert worst["at"]["class"] == "local"
    assert told["headline"].startswith(f"The messages of `job-2` take {worst['slowdown']:.2f} times as long as alone (")
    assert "most because of `job-1` at " in told["headline"]


def test_jobs_alone_on_their_switch_are_not_slowed_down_at_all(told: dict[str, Any]) -> None:
    for number, of in ((3, "latency"), (4, "time")):
        row = job(told, number)
        assert (row["slowdown"], row["at_least"], row["of"], row["by"]) == (1.0, False, of, None)
        assert row["range"] == [1.0, 1.0]


def test_the_slowdown_is_that_of_all_jobs_until_a_time_and_of_one_until_that_time(
    machine: Path, told: dict[str, Any]
) -> None:
    """Another way to the same numbers: two runs that end at a time long after everything that is compared."""
    workload = from_queue(str(machine / "our.toml"), queue=machine / "squeue.txt", book=machine / "book.toml")
    tables = jobs_under(workload, Assumption("usual"))

    def times(of: list[dict[str, Any]], row: dict[str, Any]) -> float:
        run = od.run({"system": str(machine / "our.toml"), "job": of, "run": {"until": "2 ms"}})
        number = run.jobs["name"].to_list().index(row["job"])
        if row["of"] == "time":
            ended = run.iterations.filter(pl.col("job") == number, pl.col("time_ps").is_not_null())
            return float(ended["last_end_ps"][row["compared"] - 1])
        messages = run.messages.filter(pl.col("job") == number)
        return float(messages["latency_ps"][: row["compared"]].mean())  # type: ignore[arg-type]

    assert [row["at_least"] for row in told["jobs"]] == [False] * 4
    for row in told["jobs"]:
        itself = [table for table in tables if table["name"] == row["job"]]
        assert times(tables, row) / times(itself, row) == pytest.approx(row["slowdown"], rel=1e-12)


def test_the_range_is_over_the_assumptions_of_the_book(told: dict[str, Any]) -> None:
    victim = job(told, 2)
    usual, light = victim["slowdowns"]["usual"], victim["slowdowns"]["light"]
    assert usual == victim["slowdown"]
    assert light < usual
    assert victim["range"] == [light, usual]
    assert [entry["name"] for entry in told["assumptions"]] == ["usual", "light"]


def test_a_second_call_prints_the_same_bytes_and_simulates_nothing(
    machine: Path, told: dict[str, Any], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    before = {path: path.read_bytes() for path in (machine / "out").rglob("*") if path.is_file()}

    def simulated(*_: object, **__: object) -> None:
        raise AssertionError("something was simulated")

    monkeypatch.setattr("odonata.machine.core.run", simulated)
    for _ in range(2):
        assert main(command(machine, "-o", str(machine / "out"), "--json")) == 0
        assert json.loads(capsys.readouterr().out) == told
    assert {path: path.read_bytes() for path in (machine / "out").rglob("*") if path.is_file()} == before


def test_a_job_that_has_ended_costs_no_run_of_the_others_alone(
    machine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from odonata import runner

    stages: list[str] = []
    simulate = runner.simulate

    def counted(spec: Any, progress: Any = None, stage: str = "", threads: int = 1) -> Any:
        stages.append(stage)
        return simulate(spec, progress, stage, threads)

    monkeypatch.setattr(runner, "simulate", counted)

    def workload(without: str) -> Impact:
        queue = tmp_path / "squeue.txt"
        queue.write_text("\n".join(line for line in QUEUE.splitlines() if not line.startswith(without)) + "\n")
        loaded = from_queue(str(machine / "our.toml"), queue=queue, book=machine / "book.toml")
        return impact(loaded, tmp_path, vary="nothing")

    workload("9")
    assert sorted(stages) == ["", *(f"job-{number} alone" for number in range(1, 5))]
    stages.clear()
    found = workload("3")
    assert stages == [""]
    assert [entry.job.id for entry in found.jobs][:2] == ["2", "1"]
    damaged = next((tmp_path / "kept").glob("*.json"))
    damaged.write_text(damaged.read_text().replace('"packet_hops": ', '"packet_hops": 1'))
    stages.clear()
    workload("3")
    assert len(stages) <= 1


def test_a_job_whose_iteration_is_longer_than_the_window_is_named_as_not_judged(
    machine: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    options = ("-o", str(tmp_path / "out"), "--vary", "nothing")
    assert main(command(machine, *options, "--window", "5 us")) == 0
    text = capsys.readouterr().out
    assert "not judged: `job-1` (gather, 5 nodes): it ends no iteration in the window; alone, the first takes" in text
    assert "not judged: `job-2` (solver, 2 nodes): " in text
    read = json.loads((tmp_path / "out" / "impact.json").read_text())
    assert {row["id"] for row in read["not_judged"]} >= {"1", "2"}
    assert not {row["id"] for row in read["jobs"]} & {row["id"] for row in read["not_judged"]}


def test_seeds_instead_of_the_book(machine: Path) -> None:
    loaded = from_queue(str(machine / "our.toml"), queue=machine / "squeue.txt", book=machine / "book.toml")
    found = impact(loaded, vary="seeds")
    names = [f"seed {seed}" for seed in range(1, 7)]
    assert [entry.assumption.name for entry in found.simulated] == names
    worst = found.jobs[0]
    assert worst.job.id == "2"
    known = [entry.slowdown for entry in worst.judged]
    assert len(set(known)) > 1
    assert worst.range == (min(filter(None, known)), max(filter(None, known)))


def test_without_names_the_groups_are_named(machine: Path) -> None:
    loaded = from_queue(str(machine / "our.toml"), queue=machine / "squeue.txt", book=machine / "book.toml")
    near = impact(loaded, vary="nothing").jobs[0].neighbour
    assert near is not None
    assert near.where == "links in group 0 (local)"
    assert near.link.startswith("router ")


def test_the_documentation_has_the_numbers_by_which_jobs_are_judged() -> None:
    text = " ".join((ROOT / "docs" / "cluster.md").read_text().split())
    sending = format_time(alone.SENDING_PS)
    assert f"in {sending}, by at least {alone.MESSAGES} messages, or by {alone.ITERATIONS} iterations;" in text
    hops = f"{window.PACKET_HOPS // 10**6} million packet-hops"
    assert f"simulated {alone.SLACK} times as long" in text
    assert f"as far as {hops} allow" in text
    assert f"over {SEEDS} seeds" in text
    help_text = " ".join(str(command_help.__doc__).split())
    assert f"as far as {hops} allow" in help_text
