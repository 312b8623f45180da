"""`odonata bench` measures a process of its own and reports medians."""

from __future__ import annotations

import csv
import importlib.util
import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from odonata.cli import bench, bench_blame, bench_instructions, bench_large, bench_machines, bench_scaling
from odonata.cli.bench import summarise
from odonata.cli.bench_instructions import callgrind_total
from odonata.cli.bench_record import append
from odonata.errors import InputError

ROOT = Path(__file__).parents[2]

Command = Callable[..., tuple[int, str, str]]


def _repetition(wall_s: float, **more: Any) -> dict[str, Any]:
    base = {"end_ps": 10, "messages": 3, "events": 1500, "packet_hops": 1000, "threads": 1}
    return {**base, "peak_rss_bytes": 50, "idle_rss_bytes": 9, "wall_s": wall_s, **more}


def test_rates_are_those_of_the_median_time() -> None:
    summary = summarise([_repetition(2.0), _repetition(0.5, peak_rss_bytes=60), _repetition(1.0)])
    assert (summary["wall_s"], summary["wall_s_min"], summary["wall_s_max"]) == (1.0, 0.5, 2.0)
    assert summary["packet_hops_per_s"] == 1000.0
    assert summary["events_per_s"] == 1500.0
    assert summary["ns_per_packet_hop"] == pytest.approx(1e6)
    assert summary["events_per_packet_hop"] == 1.5
    assert summary["peak_rss_bytes"] == 60


def test_repetitions_that_differ_are_a_defect() -> None:
    with pytest.raises(AssertionError, match="differ"):
        summarise([_repetition(1.0), _repetition(1.0, packet_hops=999)])


def test_the_whole_command(odonata: Command) -> None:
    status, out, err = odonata("bench", "-n", "2", "--messages", "2", "--json")
    printed = json.loads(out)
    assert status == 0
    assert err.splitlines() == [
        f"{case}: repetition {n} of 2" for case in ("main", "overload", "occupancy") for n in (1, 2)
    ]
    assert printed["overload"]["messages"] == printed["messages"]
    assert printed["overload"]["id"] != printed["id"]
    assert printed["occupancy"]["id"] != printed["id"]
    assert printed["messages"] == 2304 * 2
    assert printed["packet_hops"] > 2304 * 2 * 2
    assert printed["ns_per_packet_hop"] == pytest.approx(1e9 / printed["packet_hops_per_s"])
    assert 10_000_000 < printed["idle_rss_bytes"] <= printed["peak_rss_bytes"] < 150_000_000


def test_numbers_below_one_are_refused(odonata: Command) -> None:
    status, out, err = odonata("bench", "-n", "0")
    assert (status, out) == (2, "")
    assert err.startswith("error: ")


def test_the_instructions_of_the_core_in_a_profile() -> None:
    profile = """events: Ir
summary: 4102

ob=(1) /lib/libc.so.6
fn=(1) f
0 5
cob=(2) /a/_core.abi3.so
cfn=(2) g
calls=1 0
0 120
ob=(2)
fn=(2)
12 100
cfn=(1)
calls=3 0
+1 900
-2 20
ob=(1)
fn=(3) h
0 7
ob=(2)
fn=(4) i
* 3
"""
    assert callgrind_total(profile) == 123
    with pytest.raises(ValueError, match="no file"):
        callgrind_total(profile.replace("_core", "core"))


def test_instructions_need_valgrind(odonata: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    status, out, err = odonata("bench", "--instructions")
    assert (status, out) == (1, "")
    assert "valgrind, which is not installed" in err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("mian = 600", "limits.toml:1: unknown case `mian`\n  hint: did you mean `main`?"),
        ("main = 600\nring = 0", "limits.toml:2: expected a number of instructions above 0, found `0`"),
        ("", "limits.toml: the file has no limit"),
        ("main = ", "limits.toml:1"),
    ],
)
def test_bad_limits_are_errors(odonata: Command, tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "limits.toml").write_text(text)
    status, out, err = odonata("bench", "--limits", str(tmp_path / "limits.toml"))
    assert (status, out) == (2, "")
    assert message in err.replace(f"{tmp_path}/", "")


def test_instructions_are_differences_of_two_runs(
    odonata: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A start of 1,000, then 7 for each packet-hop of a pattern, or 50 for each message of a program."""

    def child(words: list[str], spec: str) -> tuple[dict[str, Any], str]:
        job = json.loads(spec)["jobs"][0]
        length = job["program"]["iterations"] if "program" in job else job["traffic"]["intervals"]
        work = 50 * 256 * 255 * length if "program" in job else 7 * 100 * length
        Path(words[-1].partition("=")[2]).write_text(f"ob=(1) _core\nfn=(1) run\n1 {1000 + work}\n")
        return {"packet_hops": 100 * length}, ""

    monkeypatch.setattr(bench_instructions.shutil, "which", lambda _: "valgrind")
    monkeypatch.setattr(bench, "_child", child)
    limits = tmp_path / "limits.toml"
    limits.write_text("main = 7\nall-to-all = 50")
    status, out, _ = odonata("bench", "--limits", str(limits), "--json")
    assert (status, json.loads(out)) == (0, {"main": 7, "all-to-all": 50})
    limits.write_text("main = 6\nall-to-all = 50")
    status, out, err = odonata("bench", "--limits", str(limits), "--record", str(tmp_path / "results.csv"))
    assert status == 1
    assert "main: 7 instructions per packet-hop are more than 6" in err
    assert out.split() == ["instructions", "main", "7", "per", "packet-hop", "all-to-all", "50", "per", "message"]
    rows = list(csv.DictReader((tmp_path / "results.csv").read_text().splitlines()))
    assert [(row["instructions_per_packet_hop"], row["instructions_per_message"]) for row in rows] == [
        ("7", ""),
        ("", "50"),
    ]


def test_runs_with_blame_are_compared_with_those_beside_them(odonata: Command) -> None:
    """Each round is twice as slow as the one before; with blame, a run takes 3 times as long, in the last round 4."""
    calls: list[tuple[str, ...]] = []

    def child(overrides: tuple[str, ...]) -> dict[str, Any]:
        number = sum(overrides == other for other in calls)
        calls.append(overrides)
        longer = (3.0 + (number == 2)) if "measure.blame=true" in overrides else 1.0
        return _repetition(1e-6 * 2.0**number * longer)

    rows = bench_blame.measure(3, lambda overrides: overrides, child)
    assert [row["kind"] for row in rows] == list(bench_blame.KINDS)
    assert len(calls) == 6 * len(rows)
    for row in rows:
        assert (row["ns_per_packet_hop"], row["ns_per_packet_hop_with_blame"]) == pytest.approx((2.0, 6.0))
        assert (row["ratio"], row["ratio_of_shortest"]) == pytest.approx((3.0, 3.0))
    status, out, _ = odonata("bench", "--blame", "-n", "1", "--messages", "1")
    assert status == 0
    assert [line.split()[0] for line in out.splitlines()[1:]] == list(bench_blame.KINDS)


def test_machines_are_compared_with_the_main_job_round_by_round() -> None:
    """Each round is 1.5 times as slow as the one before for all cases, so ratios must be the same in every round."""
    rounds = 3
    calls: list[str] = []

    def child(spec: str) -> dict[str, Any]:
        slower = 1.5 ** (len(calls) // (len(bench_machines.names()) + 1))
        calls.append(spec)
        hops = 200 if spec == "the main job" else 100
        kind = "" if spec == "the main job" else json.loads(spec)["topology"]["kind"]
        seconds = {"": 0.4, "dragonfly-plus": 0.1, "dragonfly": 0.3, "cascade": 0.5}[kind]
        return _repetition(seconds * slower, packet_hops=hops)

    measured = bench_machines.measure(rounds, 1, "the main job", child)
    assert len(calls) == rounds * (len(bench_machines.names()) + 1)
    cascade = measured["cascade", "minimal"]
    assert cascade["ns_per_packet_hop"] == pytest.approx(0.5 * 1.5 / 100 * 1e9)
    assert (cascade["times_main"], cascade["times_base"]) == (pytest.approx(2.5), pytest.approx(5))
    text = bench_machines.as_text(measured, {"cascade": (99_840, 0.03)}).splitlines()
    assert text[0] == "ns per packet-hop (times the main job's, 3000000.0 ns)"
    assert text[1].split() == ["kang2019", "dragonfly", "cascade"]
    assert text[2].split() == ["minimal", "1500000.0", "(0.50)", "4500000.0", "(1.50)", "7500000.0", "(2.50)"]


def test_machines_of_two_sizes_are_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    """On small machines: the real ones take minutes."""
    small = {"tiny": ("tiny", 3), "larger": ({"preset": "tiny", "groups": 3}, 2)}
    calls: list[str] = []

    def child(spec: str) -> dict[str, Any]:
        calls.append(spec)
        return _repetition(0.5 * len(calls), messages=len(json.loads(spec)["jobs"][0]["nodes"]))

    monkeypatch.setattr(bench_large, "CASES", small)
    measured = bench_large.measure(3, child, summarise)
    assert [json.loads(spec)["jobs"][0]["traffic"]["intervals"] for spec in calls] == [3] * 3 + [2] * 3
    assert measured["tiny"]["nodes"] == measured["tiny"]["messages"] == 16
    assert measured["larger"]["nodes"] == 12
    assert (measured["tiny"]["wall_s"], measured["larger"]["wall_s"]) == (1.0, 2.5)
    lines = bench_large.as_text(measured).splitlines()
    assert lines[0].split() == ["tiny", "larger"]
    assert lines[2].split() == ["time", "per", "packet-hop", "1000000.0", "ns", "2500000.0", "ns"]


def test_the_large_machines_have_the_sizes_that_they_are_named_after() -> None:
    from odonata.machine import load

    for name, (system, _) in bench_large.CASES.items():
        assert load(system).shape.nodes == pytest.approx(int(name.split()[0].replace(",", "")), rel=0.01)


def test_measurements_are_appended_to_a_table(tmp_path: Path) -> None:
    table = tmp_path / "results.csv"
    once = {"main": {**summarise([_repetition(2.0)]), "instructions_per_packet_hop": 678.6}}
    append(table, once)
    append(table, {**once, "overload": summarise([_repetition(3.0)])})
    with table.open(encoding="utf-8") as text:
        rows = list(csv.DictReader(text))
    assert [row["case"] for row in rows] == ["main", "main", "overload"]
    assert [row["instructions_per_packet_hop"] for row in rows] == ["678.6", "678.6", ""]
    assert rows[0]["ns_per_packet_hop"] == "2e+06"
    assert all(row["date"] and row["version"] and row["engine"] and row["processor"] for row in rows)


def test_a_table_of_something_else_is_left_alone(tmp_path: Path) -> None:
    table = tmp_path / "other.csv"
    table.write_text("a,b\n1,2\n")
    with pytest.raises(InputError, match="its first line is `a,b`, not `date,version"):
        append(table, {"main": summarise([_repetition(2.0)])})
    assert table.read_text() == "a,b\n1,2\n"


def test_only_main_cases_and_large_machines_are_recorded(odonata: Command, tmp_path: Path) -> None:
    status, out, err = odonata("bench", "--sweep", "--record", str(tmp_path / "results.csv"))
    assert (status, out) == (2, "")
    assert "`--record` does not apply to `--sweep`" in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("--sweep --machines", "`--machines` and `--sweep` exclude each other"),
        ("--large --messages 3", "`--messages` does not apply to `--large`"),
        ("--blame --limits x.toml", "`--blame` and `--instructions` exclude each other"),
        ("--machines --threads 2", "`--threads` does not apply to `--machines`"),
        ("--threads 2 --instructions", "`--threads` does not apply to `--instructions`"),
        ("--threads 2 --record x.csv", "`--threads` excludes `--record`"),
        ("--repetitions 3 --instructions", "`--repetitions` does not apply to `--instructions`"),
        ("--messages 3 --limits x.toml", "`--messages` does not apply to `--instructions`"),
        ("--machines --instructions", "`--machines` and `--instructions` exclude each other"),
    ],
)
def test_no_option_is_ignored(odonata: Command, arguments: str, message: str) -> None:
    status, out, err = odonata("bench", *arguments.split())
    assert (status, out) == (2, "")
    assert message in err


@pytest.mark.parametrize(("limit", "status"), [(107, 0), (106, 1)])
def test_limits_of_the_simulator_of_the_tests(
    limit: int, status: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without valgrind: 107 instructions a message of the program, in two runs of the example `hops`."""
    place = importlib.util.spec_from_file_location("limits_of_tests", ROOT / "scripts" / "test_instructions.py")
    assert place is not None
    assert place.loader is not None
    script = importlib.util.module_from_spec(place)
    place.loader.exec_module(script)

    def run(words: list[object], **_: object) -> subprocess.CompletedProcess[str]:
        spec = json.loads(Path(str(words[-2])).read_text())
        messages = spec["jobs"][0]["program"]["iterations"] * script.RANKS * (script.RANKS - 1)
        out = Path(str(words[2]).partition("=")[2])
        out.write_text(f"ob=(1) hops\nfn=(1) run\n1 {5000 + 107 * messages}\nob=(2) libc\nfn=(2) f\n1 {messages}\n")
        return subprocess.CompletedProcess([], 0, "packet_hops 7 events 8\n", "")

    monkeypatch.setattr(bench_instructions.shutil, "which", lambda _: "valgrind")
    monkeypatch.setattr(script.platform, "machine", lambda: "x86_64")
    monkeypatch.setattr(script.subprocess, "run", run)
    monkeypatch.setattr(script, "LIMITS", tmp_path / "limits.toml")
    (tmp_path / "limits.toml").write_text(f"all-to-all = {limit}")
    assert script.main() == status
    said = "error: all-to-all: 107 instructions per message are more than 106" in capsys.readouterr().err
    assert said is (status == 1)
    case = script.SHORT[script.OWN]
    routings = [
        json.loads(script.spec_of(name)(case.file, [f"{case.key}=1"])[1])["routing"]["name"]
        for name in (script.OWN, "main")
    ]
    assert routings == ["custom", "fpar"], "one case calls a function of one's own"


def test_scaling_is_bound_by_the_longest_parts_and_the_exchanges() -> None:
    """1,000 events of 1 us; two threads take 600 us for the longest parts and 100 exchanges of 2 us."""

    def child(_: str, threads: int) -> dict[str, Any]:
        longest = {1: 0, 2: 600, 4: 350, 5: 300}
        used = min(threads, 5)
        wall_s = {1: 1e-3, 2: 800e-6}.get(used, 1.0)
        windows = 0 if used == 1 else 100
        return {"wall_s": wall_s, "events": 1000, "threads": used, "windows": windows, "longest": longest[used]}

    rows = bench_scaling.measure({"main": "a specification"}, 16, child)
    assert [row["threads"] for row in rows] == [2, 4, 5]
    assert [row["exchange_us"] for row in rows] == pytest.approx([2.0] * 3)
    assert [row["at_most"] for row in rows] == pytest.approx([1000 / 600, 1000 / 350, 1000 / 300])
    assert [row["longest_over_mean"] for row in rows] == pytest.approx([1.2, 1.4, 1.5])
    # The time that was measured with two threads, and for more that of the parts with as long exchanges.
    assert [row["expected"] for row in rows] == pytest.approx([1000 / 800, 1000 / 550, 1000 / 500])
    assert "main 2.0 us" in bench_scaling.as_text(rows)


def test_a_run_that_has_one_thread_has_no_row() -> None:
    one = {"wall_s": 1.0, "events": 10, "threads": 1, "windows": 0, "longest": 0}
    assert bench_scaling.measure({"main": ""}, 16, lambda *_: one) == []
