"""`odonata export RUN --format perfetto`: what was recorded, as a trace."""

from __future__ import annotations

import json

import polars as pl
import pytest
from tests.report.conftest import PROGRAM

import odonata as od
from odonata.cli.main import main
from odonata.report import events
from odonata.report.events import trace_of
from odonata.store import TABLES

OPERATIONS = "\n[measure]\noperations = true\n"


@pytest.fixture
def recorded(made):
    """Two programs with computing, gaps and waits; each starts at its own time."""
    halo = PROGRAM.replace("iterations = 6", 'compute = "20 us", iterations = 6').replace(
        'name = "sum"', 'name = "sum"\nstart = "30 us"\ngap = "5 us"'
    )
    return made(halo + OPERATIONS)


def spans(trace, kind):
    """Begin and end of each asynchronous slice, in whole picoseconds."""
    slices = {}
    for event in trace["traceEvents"]:
        if event["ph"] in "be" and event["cat"] == kind:
            slices.setdefault((event["pid"] - 1, event["id"]), []).append(round(event["ts"] * 1e6))
    return sorted((pid, *times) for (pid, _), times in slices.items())


def of(trace, phase):
    return [event for event in trace["traceEvents"] if event["ph"] == phase]


def test_messages_and_traffic_are_those_of_the_tables(plus):
    trace = json.loads(trace_of(plus)[0])
    arrived = plus.messages.filter(pl.col("latency_ps").is_not_null())
    rows = arrived.select("job", "issue_ps", end=pl.col("issue_ps") + pl.col("latency_ps")).rows()
    assert spans(trace, "message") == sorted(rows)
    rates = {(event["pid"] - 1, event["ts"]): event["args"]["rate"] for event in of(trace, "C")}
    totals = plus.counters.group_by("job", "start_ps").agg(pl.col("rate_in").sum())
    assert rates == {(job, start / 1e6): pytest.approx(rate) for job, start, rate in totals.iter_rows()}


def test_iterations_and_ranks_are_those_of_the_tables(program):
    trace = json.loads(trace_of(program)[0])
    iterations = program.iterations.select("job", "first_begin_ps", "last_end_ps").rows()
    assert spans(trace, "iteration") == sorted(iterations)
    ends = {round((event["ts"] + event["dur"]) * 1e6) for event in of(trace, "X") if event["name"] == "runs"}
    assert ends == set(program.ranks["finish_ps"])
    threads = {(event["pid"], event["tid"]) for event in trace["traceEvents"] if "tid" in event}
    assert len({tid for _, tid in threads}) == len(threads)
    assert min(min(pair) for pair in threads) > 0
    names = [event["args"]["name"] for event in of(trace, "M") if event["name"] == "process_name"]
    assert names == ["halo", "sum"]


def tracks(trace, name):
    """Begin and end of each slice called `name`, and those of the slices inside, in whole picoseconds by thread."""
    outer, inner = {}, {}
    for event in of(trace, "X"):
        begin, end = round(event["ts"] * 1e6), round((event["ts"] + event["dur"]) * 1e6)
        if event["name"] == name:
            outer[event["tid"]] = (begin, end)
        else:
            inner.setdefault(event["tid"], []).append((begin, end, event["name"]))
    return {tid: (span, inner.get(tid, [])) for tid, span in outer.items()}


def test_operations_and_waits_fill_the_time_of_each_rank(recorded):
    trace = json.loads(trace_of(recorded)[0])
    by_track = tracks(trace, "runs")
    assert len(by_track) == recorded.ranks.height
    kinds = dict(recorded.operations.group_by("kind").len().iter_rows())
    named = [name.split()[0] for _, inside in by_track.values() for *_, name in inside if name != "waits"]
    assert {kind: named.count(kind) for kind in kinds} == kinds
    assert {"compute", "send", "receive", "gap"} <= set(kinds)
    works = recorded.ranks.rows_by_key(["job", "rank"], named=True, unique=True)
    for tid, ((begin, end), inside) in by_track.items():
        at = begin
        for start, finish, _ in inside:
            assert start == at
            at = finish
        assert at == end
        job, rank = tid // 10_000_000 - 1, tid % 10_000_000
        work = sum(finish - start for start, finish, name in inside if name != "waits")
        assert work == works[job, rank]["work_ps"]


def test_a_rank_with_several_cpus_has_a_track_for_each(made, tmp_path):
    goal = "num_ranks 2\nrank 0 {\n a: calc 3000 cpu 0\n b: calc 5000 cpu 2\n}\nrank 1 {\n calc 10\n}\n"
    (tmp_path / "two.goal").write_text(goal)
    job = f'[[job]]\nname = "two"\nnodes = 2\napp = {{ trace = "{tmp_path / "two.goal"}" }}\n'
    run = made(f'system = "tiny"\n{job}\n[measure]\noperations = true\n')
    assert run.operations.filter(rank=0)["cpu"].to_list() == [0, 1]
    trace = json.loads(trace_of(run)[0])
    names = [event["args"]["name"] for event in of(trace, "M") if event["name"] == "thread_name"]
    assert names[1:] == [
        f"rank 0 on node {run.ranks['node'][0]}",
        "rank 0, CPU 1",
        f"rank 1 on node {run.ranks['node'][1]}",
    ]
    (second,) = (event["tid"] for event in of(trace, "M") if event["args"]["name"] == "rank 0, CPU 1")
    assert [event["name"] for event in of(trace, "X") if event["tid"] == second] == ["compute"]


def test_a_rank_that_does_not_finish_waits_up_to_the_end_of_the_run(made):
    scenario = PROGRAM.replace("seed = 1", 'seed = 1\nhorizon = "300 us"') + OPERATIONS
    run = made(scenario)
    trace, left_out = trace_of(run)
    assert left_out == []
    for (begin, end), inside in tracks(json.loads(trace), "runs, not finished").values():
        assert inside[0][0] == begin
        assert max(finish for _, finish, _ in inside) == end >= run.manifest["sim_time_ps"]


def test_a_large_run_is_sampled_and_says_so(plus, program, monkeypatch):
    monkeypatch.setattr(events, "MOST_MESSAGES", 50)
    monkeypatch.setattr(events, "MOST_RANKS", 4)
    trace, left_out = trace_of(plus)
    total = plus.messages["latency_ps"].count()
    every = -(-total // 50)
    assert left_out == [f"Of {total:,} recorded messages, those of one source rank in {every} are in the trace."]
    kept = plus.messages.filter(pl.col("latency_ps").is_not_null(), pl.col("source") % every == 0)
    assert len(spans(json.loads(trace), "message")) == kept.height
    none = "The run has no operations of ranks: it records them with `operations = true` under [measure]."
    assert trace_of(program)[1] == [none, *(f"{name}: one rank in 4 is in the trace." for name in ("halo", "sum"))]


def test_of_many_operations_those_of_some_ranks_are_kept(recorded, monkeypatch):
    tasks = recorded.operations.group_by("job", maintain_order=True).len()["len"].to_list()
    monkeypatch.setattr(events, "MOST_OPERATIONS", max(tasks) // 3)
    trace, left_out = trace_of(recorded)
    every = [-(-count // (max(tasks) // 3)) for count in tasks]
    names = recorded.jobs["name"].to_list()
    assert left_out == [
        f"{name}: operations of one recorded rank in {n} are in the trace."
        for name, n in zip(names, every, strict=True)
        if n > 1
    ]
    kept = {tid for tid, (_, inside) in tracks(json.loads(trace), "runs").items() if inside}
    ranks = recorded.jobs["ranks"].to_list()
    assert kept == {(job + 1) * 10_000_000 + rank for job, n in enumerate(every) for rank in range(0, ranks[job], n)}


def test_ranks_that_the_run_has_not_recorded_are_counted(recorded):
    """As of a run with more tasks than it may record."""
    tables = {name: recorded.table(name) for name in TABLES}
    tables["operations"] = tables["operations"].filter((pl.col("job") == 1) | (pl.col("rank") % 4 == 0))
    some = od.Run(recorded.manifest, recorded.resolved, recorded.scenario, tables, recorded.path)
    ranks = recorded.jobs["ranks"][0]
    assert trace_of(some)[1] == [f"halo: the run has recorded operations of {ranks // 4} of {ranks} ranks."]


def test_the_command_writes_it_and_says_how_much(plus, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for form in ("perfetto", "chrome-trace"):
        assert main(["export", str(plus.path), "-o", "trace.json", "--format", form]) == 0
        size = (tmp_path / "trace.json").stat().st_size
        assert capsys.readouterr().out == f"trace.json: {size:,} bytes\n"
    assert main(["export", "nothing", "-o", "t.json", "--format", "perfetto"]) == 2
    assert "there is no run folder `nothing`" in capsys.readouterr().err
    assert main(["export", str(plus.path), "-o", "no/t.json", "--format", "perfetto"]) == 2
    assert "there is no folder `no`" in capsys.readouterr().err
    assert main(["export", str(plus.path), "-o", "t.json"]) == 2
    said = capsys.readouterr().err
    assert "is a folder, expected a machine\n  hint: --format perfetto writes a run as a trace" in said
