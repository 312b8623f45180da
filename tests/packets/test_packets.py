"""Runs with `run.packets`: the size is within the bound, stated, and refused where it is what is measured."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

import odonata
from odonata.cli.main import main
from odonata.errors import InputError
from odonata.packets import FEW, choose, part
from odonata.report.run import run_document

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

RING = {"collective": "allreduce", "algorithm": "ring", "message": "1 MB"}
HALO = {"motif": "halo3d", "message": "64 KB"}
PATTERN = {"pattern": "uniform-random", "message": "4 KB", "interval": "2 us"}
TWO = [
    {"name": "ring", "nodes": 8, "app": RING, "iterations": 16},
    {"name": "halo", "nodes": 8, "app": HALO, "iterations": 16, "barrier": True, "start": "50 us"},
]


def scenario(jobs: Any = TWO, fabric: Any = (), **run: Any) -> odonata.Scenario:
    system = {"preset": "tiny", "fabric": {"switching": "cut-through", **dict(fabric)}}
    return odonata.Scenario.of({"system": system, "job": jobs, "run": run})


@pytest.fixture(scope="module")
def given() -> odonata.Run:
    return odonata.run(scenario(), alone=True)


@pytest.fixture(scope="module")
def larger() -> odonata.Run:
    return odonata.run(scenario(packets={"error": "10 %"}), alone=True)


def test_without_the_key_nothing_is_said_and_ids_depend_on_the_bound(given: odonata.Run) -> None:
    assert "packets" not in given.manifest
    assert "packets" not in given.summary
    of = [scenario(), *(scenario(packets={"error": bound}) for bound in ("1 %", "2 %"))]
    assert len({each.resolve().id for each in of}) == 3
    assert len({each.resolve().id_alone("ring") for each in of}) == 3


def test_larger_packets_are_faster_and_times_are_within_the_bound(given: odonata.Run, larger: odonata.Run) -> None:
    facts = larger.manifest["packets"]
    assert facts["given_bytes"] == given_size()
    assert facts["simulated_bytes"] >= 2 * given_size()
    assert larger.manifest["packet_hops"] < 0.6 * given.manifest["packet_hops"]
    for ours, theirs in zip(larger.jobs.to_dicts(), given.jobs.to_dicts(), strict=True):
        assert ours["iteration_mean_ps"] == pytest.approx(theirs["iteration_mean_ps"], rel=0.1)
        assert ours["slowdown"] == pytest.approx(theirs["slowdown"], rel=0.1)


def given_size() -> int:
    return int(scenario().resolve().spec["fabric"]["packet_bytes"])


def test_what_was_measured_is_stated(larger: odonata.Run) -> None:
    facts = larger.manifest["packets"]
    names = {"ring", "halo", "ring alone", "halo alone"}
    sizes = [of["bytes"] for of in facts["tried"]]
    assert sizes == [given_size() * 2**number for number in range(1, len(sizes) + 1)]
    assert all(of["errors"].keys() == names for of in facts["tried"])
    within = [of["bytes"] for of in facts["tried"] if max(map(abs, of["errors"].values())) < 0.075]
    assert facts["simulated_bytes"] == max(within)


def test_the_printed_output_has_size_errors_and_part(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "scenario.toml"
    file.write_text(
        '[system]\npreset = "tiny"\nfabric = { switching = "cut-through" }\n'
        '[[job]]\nname = "ring"\nnodes = 8\niterations = 16\n'
        'app = { collective = "allreduce", algorithm = "ring", message = "1 MB" }\n'
    )
    change = 'run.packets={ error = "10 %" }'
    assert main(["run", str(file), "-q", "-s", change, "--out", str(tmp_path / "run")]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "were simulated in place of 2 KiB (`run.packets`). On the first 4 iterations of each program" in printed
    assert "they change the time of an iteration by: ring " in printed
    assert "Not larger: " in printed
    assert json.loads((tmp_path / "run" / "manifest.json").read_text())["packets"]["error"] == 0.1


@pytest.mark.parametrize(
    ("jobs", "fabric", "more", "message"),
    [
        (TWO, {"nic": "aries"}, {}, "NICs of Aries count packets"),
        ([TWO[0] | {"iterations": 3}], {}, {}, "`ring` has 3 iterations, and with fewer than 16"),
        ([TWO[0] | {"iterations": 1}], {}, {}, "`ring` has 1 iteration"),
        (TWO, {}, {"measure": {"blame": True}}, "waiting of single packets"),
        (TWO, {}, {"measure": {"reordering": True}}, "`measure.reordering` counts packets"),
        (TWO, {}, {"run": {"until": "1 ms"}}, "the run ends at a time"),
        (
            [{"name": "a", "nodes": 4, "app": PATTERN}],
            {},
            {"run": {"until": "1 ms"}},
            "`a` sends messages of a pattern",
        ),
        (
            [TWO[0], {"name": "n", "nodes": 4, "app": PATTERN | {"messages": 9}, "background": True}],
            {},
            {"run": {"until": "n"}},
            "the run ends with `n`, which has no iterations",
        ),
        ([TWO[0] | {"on": "1 us", "off": "1 us"}], {}, {}, "`ring` has bursts"),
        ([TWO[1] | {"barrier": False}], {}, {}, "`halo` has no barrier or all-reduce of all ranks"),
    ],
)
def test_what_makes_no_sense_is_refused(jobs: Any, fabric: Any, more: Any, message: str) -> None:
    data = dict(scenario(jobs, fabric).data) | {"measure": more.get("measure", {})}
    data["run"] = {**more.get("run", {}), "packets": {"error": "5 %"}}
    with pytest.raises(InputError, match=message) as caught:
        odonata.run(odonata.Scenario.of(data))
    assert caught.value.path == ("run", "packets")


def test_the_run_of_a_study_refuses_it() -> None:
    """Catches sizes that differ from run to run, and that nothing states."""
    with pytest.raises(InputError, match="a study cannot choose packets"):
        odonata.runner.measure(scenario(packets={"error": "5 %"}).resolve())


FILE = """\
[system]
preset = "tiny"
[run]
packets = { error = "5 %" }
[[job]]
name = "ring"
nodes = 8
iterations = 16
app = { collective = "allreduce", algorithm = "ring", message = "1 MB" }
"""
REFUSED = "a study cannot choose packets (`run.packets`)"


@pytest.mark.parametrize("command", [("run", "ring.toml", "--seeds", "6"), ("advise", "ring.toml")])
def test_commands_that_make_studies_refuse_it_before_the_first_run(
    command: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ring.toml").write_text(FILE)
    assert main([*command]) == 2
    assert f"error: ring.toml:4: {REFUSED}" in capsys.readouterr().err
    assert not (tmp_path / "studies").exists()


@pytest.mark.parametrize(
    ("study", "given", "where"),
    [
        ('base = "ring.toml"\n[sweep]\nrun.seed = [1, 2]\n', FILE, "ring.toml:4: "),
        (
            'base = "ring.toml"\n[sweep]\nrun.packets.error = ["1 %", "5 %"]\n',
            FILE.replace('packets = { error = "5 %" }', ""),
            "study.toml:3: ",
        ),
    ],
)
def test_a_sweep_refuses_it_at_its_line(
    study: str,
    given: str,
    where: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ring.toml").write_text(given)
    (tmp_path / "study.toml").write_text(study)
    assert main(["sweep", "study.toml"]) == 2
    assert f"error: {where}{REFUSED}" in capsys.readouterr().err
    assert not (tmp_path / "studies").exists()


def test_a_sweep_in_python_refuses_it() -> None:
    with pytest.raises(InputError, match="a study cannot choose packets"):
        odonata.sweep(scenario(packets={"error": "5 %"}), {"run.seed": [1, 2]}, workers=1)


def test_explain_and_reports_are_about_the_simulated_packets_and_say_so(
    larger: odonata.Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Catches a run that is simulated again with packets as they are, beside one with larger ones."""
    folder = str(tmp_path / "run")
    odonata.run(scenario(packets={"error": "10 %"}), folder, alone=True)
    simulated = larger.manifest["packets"]["simulated_bytes"]
    assert larger.resolved["spec"]["fabric"]["packet_bytes"] == simulated
    note = f"packets of {simulated // 1024} KiB were simulated in place of 2 KiB (`run.packets`): "
    assert main(["explain", folder, "-q"]) == 0
    assert note in " ".join(capsys.readouterr().out.split())
    assert main(["explain", folder, "-q", "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["packets"] == larger.manifest["packets"]
    alone = {row["name"]: row["alone_time_ps"] for row in larger.jobs.to_dicts()}
    assert {entry["job"]: entry["alone_ps"] for entry in printed["beside"]} == alone
    facts = run_document(odonata.open(folder))["facts"]
    assert any(text.startswith(note) for name, text in facts if name == "note")


def test_a_gap_between_iterations_hides_no_change() -> None:
    """Catches a choice by the time with the gap alone, which is ten times as long as an iteration."""
    jobs = [{"name": "ring", "nodes": 8, "app": RING, "iterations": 20, "gap": "10 ms"}]
    as_given, run = odonata.run(scenario(jobs)), odonata.run(scenario(jobs, packets={"error": "5 %"}))
    change = run.jobs["iteration_mean_ps"][0] / as_given.jobs["iteration_mean_ps"][0] - 1
    assert abs(change) < 0.05
    tried = run.manifest["packets"]["tried"]
    assert abs(tried[-1]["errors"]["ring"]) >= 0.0375, "the size that is too large is the last one that is tried"


BARRIER = {"name": "barrier", "nodes": 8, "app": {"collective": "barrier"}, "iterations": 16}
FOUR = {"name": "sum", "nodes": 8, "app": RING | {"message": "4 MB"}, "iterations": 4}


def test_a_part_that_is_most_of_the_work_is_refused() -> None:
    """Catches a count of iterations alone: the job with the most of them sends next to nothing."""
    with pytest.raises(InputError, match=r"4 iterations of each program are 99\.6 % of what the run sends") as caught:
        odonata.run(scenario([BARRIER, FOUR], packets={"error": "5 %"}))
    assert caught.value.path == ("run", "packets")


def test_a_part_of_unknown_work_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("odonata.expectation.counts.MOST_RANKS", 4)
    with pytest.raises(InputError, match="fewer than 16 iterations, and what `barrier` sends is not counted"):
        odonata.run(scenario([FOUR, BARRIER], packets={"error": "5 %"}))


def test_a_short_job_that_sends_little_is_no_reason_to_refuse() -> None:
    few = BARRIER | {"iterations": 3}
    run = odonata.run(scenario([FOUR | {"iterations": 20, "app": RING}, few], packets={"error": "10 %"}))
    assert run.manifest["packets"]["simulated_bytes"] > given_size()


@pytest.mark.parametrize(("share", "sizes"), [(0.01, 3), (0.25, 3), (0.27, 2), (0.3, 1), (0.4, 0)])
def test_trials_cost_at_most_half_of_the_run(share: float, sizes: int) -> None:
    """Catches trials without end: they cost 1, 1/2, 1/4 ... of the part, and half of the run is 1 / (2 x share)."""
    size = given_size()
    spec = scenario().resolve().spec
    chosen = choose({"": spec}, 0.05, stretched({size * 2**number: 1.0 for number in range(4)}), share)
    assert len(chosen.tried) == sizes
    assert chosen.bytes == size * 2 ** len(chosen.tried)
    if sizes < 3:
        assert chosen.why.endswith("all trials would cost more than 50 % of the run")


def test_a_background_counts_by_time() -> None:
    """Catches a job of a few long iterations that send little, beside a background that sends all the time."""
    slow = BARRIER | {"name": "slow", "nodes": 4, "iterations": 4, "gap": "5 ms"}
    data = [TWO[0], slow, {"name": "noise", "nodes": 4, "app": PATTERN, "background": True}]
    run = odonata.run(scenario(data, packets={"error": "5 %"}))
    assert run.manifest["packets"]["tried"] == []
    assert "all trials would cost more than 50 %" in run.manifest["packets"]["why_not_larger"]


@pytest.mark.parametrize("value", ["5 %", {"error": "50 %"}, {"error": 0}, {}])
def test_other_values_are_refused(value: Any) -> None:
    with pytest.raises(InputError):
        scenario(packets=value).resolve()


def stretched(by: Mapping[int, float]) -> Any:
    """A core whose iterations take as much longer as `by` says of the size of packets, and fewer hops."""

    def simulate(spec: Mapping[str, Any], stage: str) -> dict[str, Any]:
        size = spec["fabric"]["packet_bytes"]
        if size not in by:
            raise InputError("too large")
        result = odonata.runner.simulate(of_given(spec), stage=stage)
        rows = result["iterations"]
        longer = {name: (rows[name] * by[size]).astype("uint64") for name in ("first_begin_ps", "last_end_ps")}
        return {**result, "iterations": {**rows, **longer}, "packet_hops": 10**9 // size}

    return simulate


def of_given(spec: Mapping[str, Any]) -> dict[str, Any]:
    return {**spec, "fabric": {**spec["fabric"], "packet_bytes": given_size()}}


@pytest.mark.parametrize(
    ("by", "factor", "why"),
    [
        ({1: 1.0, 2: 1.01, 4: 1.04, 8: 1.0}, 2, "with 8 KiB it is 4.00 %, and 3.75 % are three quarters of the bound"),
        ({1: 1.0, 2: 0.9}, 1, "with 4 KiB it is 10.00 %, and 3.75 % are three quarters of the bound"),
        ({1: 1.0, 2: 1.0}, 2, "those of 8 KiB are refused: too large"),
        ({1: 1.0}, 1, "those of 4 KiB are refused: too large"),
    ],
)
def test_the_largest_size_within_the_bound_is_chosen(by: dict[int, float], factor: int, why: str) -> None:
    """Catches an error whose sign counts, one of a job that is left out, and a size behind one that is too wrong."""
    size = given_size()
    spec = scenario().resolve().spec
    chosen = choose({"": spec}, 0.05, stretched({size * key: value for key, value in by.items()}), 0.01)
    assert (chosen.bytes, chosen.why) == (size * factor, why)
    assert chosen.applied(spec)["fabric"]["packet_bytes"] == size * factor


def test_the_part_has_all_programs_at_once_and_few_iterations() -> None:
    spec = scenario([TWO[0], TWO[1] | {"background": True, "iterations": 100}]).resolve().spec
    programs = [job["program"] for job in part(spec)["jobs"]]
    assert [of["iterations"] for of in programs] == [FEW, FEW]
    assert [of["start_ps"] for of in programs] == [0, 0]
