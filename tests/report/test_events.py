"""`odonata export RUN --format perfetto`: what was recorded, as a trace."""

from __future__ import annotations

import json

import polars as pl
import pytest

from odonata.cli.main import main
from odonata.report import events
from odonata.report.events import trace_of


def spans(trace, kind):
    """Begin and end of each asynchronous slice, in whole picoseconds."""
    found = {}
    for event in trace["traceEvents"]:
        if event["ph"] in "be" and event["cat"] == kind:
            found.setdefault((event["pid"] - 1, event["id"]), []).append(round(event["ts"] * 1e6))
    return sorted((pid, *times) for (pid, _), times in found.items())


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
    ends = {round(event["dur"] * 1e6) for event in of(trace, "X") if event["name"] == "runs"}
    assert ends == set(program.ranks["finish_ps"])
    threads = {(event["pid"], event["tid"]) for event in trace["traceEvents"] if "tid" in event}
    assert len({tid for _, tid in threads}) == len(threads)
    assert min(min(pair) for pair in threads) > 0
    names = [event["args"]["name"] for event in of(trace, "M") if event["name"] == "process_name"]
    assert names == ["halo", "sum"]


def test_a_large_run_is_sampled_and_says_so(plus, program, monkeypatch):
    monkeypatch.setattr(events, "MOST_MESSAGES", 50)
    monkeypatch.setattr(events, "MOST_RANKS", 4)
    trace, left_out = trace_of(plus)
    total = plus.messages["latency_ps"].count()
    every = -(-total // 50)
    assert left_out == [f"Of {total:,} recorded messages, those of one source rank in {every} are in the trace."]
    kept = plus.messages.filter(pl.col("latency_ps").is_not_null(), pl.col("source") % every == 0)
    assert len(spans(json.loads(trace), "message")) == kept.height
    assert trace_of(program)[1] == [f"{name}: one rank in 4 is in the trace." for name in ("halo", "sum")]


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
