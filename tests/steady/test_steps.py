"""Steps of a long collective around rings, skipped in place of iterations: close to whole runs, or in full."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import odonata
from odonata.cli.main import main
from odonata.steady.series import Steps, ends_of_steps
from odonata.steady.steps import played, steps_of, unrolled

if TYPE_CHECKING:
    from pathlib import Path

BOUND = "1 %"
RING = {"collective": "allreduce", "algorithm": "ring", "message": "2 MB"}
CHANNELS = {"collective": "allreduce", "algorithm": "ring-channels", "message": "4 MiB"}


def scenario(app: dict[str, Any], system: Any = "tiny", steady: str | None = None, **job: Any) -> odonata.Scenario:
    """A job with one iteration; on `tiny` of 128 ranks, so that an all-reduce has 254 steps."""
    of = {"nodes": 8, "ranks_per_node": 16, **job}
    run = {"seed": 5} if steady is None else {"seed": 5, "steady": {"error": steady}}
    return odonata.Scenario.of({"system": system, "job": [{"name": "ring", "app": app, **of}], "run": run})


def gpus(**job: Any) -> dict[str, Any]:
    return {"system": "alps-gpu", "nodes": 24, "ranks_per_node": 4, **job}


CASES = {
    "all-reduce": (RING, {}),
    "reduce-scatter": (RING | {"collective": "reduce-scatter"}, {"ranks_per_node": 32}),
    "all-gather": (RING | {"collective": "allgather", "message": "16 KB"}, {"ranks_per_node": 32}),
    "combines": (RING, {"overhead": {"reduce": "1 GB/s"}}),
    "computes first": (RING | {"compute": "1 ms"}, {}),
    "channels": (CHANNELS, gpus()),
    "channels, at random places": (CHANNELS, gpus(place={"policy": "random"})),
}


@pytest.mark.parametrize("case", CASES)
def test_the_time_is_that_of_the_whole_run(case: str) -> None:
    """Catches steps of one kind only, a compute that is counted again, and a mean that is not that of the ring."""
    app, job = CASES[case]
    whole = odonata.run(scenario(app, **job))
    short = odonata.run(scenario(app, steady=BOUND, **job))
    ours, theirs = short.jobs.row(0, named=True), whole.jobs.row(0, named=True)
    assert short.manifest["steady"]["in_full"] is None
    steps = short.manifest["steady"]["steps"]["ring"]
    assert steps["count"] == steps_of(scenario(app, **job).resolve().spec["jobs"][0])
    assert steps["count"] / 2 < steps["skipped"] < steps["count"]
    assert sum(short.manifest["steady"]["trials"]) < whole.manifest["packet_hops"] / 2
    for name in ("time_ps", "iteration_mean_ps", "iteration_p99_ps", "iteration_rank_mean_ps"):
        assert ours[name] == pytest.approx(theirs[name], rel=0.01), name
    if "busbw" in theirs:
        assert ours["busbw"] == pytest.approx(theirs["busbw"], rel=0.01)
    assert (ours["iterations"], ours["iterations_skipped"]) == (1, 0)
    assert 0 < ours["skipped_ps"] < ours["time_ps"]
    assert ours["iteration_p50_ps"] == round(ours["iteration_mean_ps"]) == ours["iteration_max_ps"]


def test_what_is_skipped_is_said_and_marked() -> None:
    run = odonata.run(scenario(RING, steady=BOUND))
    text = str(run)
    count = run.manifest["steady"]["steps"]["ring"]
    assert (
        f"skipped steps around rings: {count['skipped']:,} of the {count['count']:,} of ring (its time within" in text
    )
    assert "skipped iterations" not in text
    assert "~" in text
    assert run.table("operations").height == 0


def test_a_slow_link_is_waited_for_in_the_end() -> None:
    """The link between two switches has a third of the bandwidth: at first only the ranks behind it are late, and all
    are in the end. Catches the mean pace of the first steps, which is that of the fast links."""
    links = [[f"n{k}", f"switch{k // 80}", "100 Gbit/s", "100 ns"] for k in range(160)]
    links.append(["switch0", "switch1", "30 Gbit/s", "100 ns"])
    app = {"collective": "allreduce", "algorithm": "ring", "message": "8 MB"}
    job: dict[str, Any] = {"system": {"kind": "graph", "links": links}, "nodes": 160, "ranks_per_node": 1}
    whole, short = (odonata.run(scenario(app, steady=bound, **job)) for bound in (None, BOUND))
    ours, theirs = (of.jobs.row(0, named=True)["time_ps"] for of in (short, whole))
    assert ours == pytest.approx(theirs, rel=0.01)


NO_STEPS = {
    "several iterations": {"iterations": 2},
    "no ring": {"app": RING | {"algorithm": "rabenseifner"}},
    "other phases too": {"app": RING | {"barrier": True}},
    "computes for a random time": {"app": RING | {"compute": "1 us", "jitter": "1 us"}},
    "a motif": {"app": {"motif": "halo3d", "message": "1 KB"}},
    "three parts": {"app": CHANNELS | {"algorithm": "hierarchical"}, "system": "alps-gpu", "ranks_per_node": 4},
    "a tree": {"app": CHANNELS | {"algorithm": "double-binary-tree"}, "system": "alps-gpu", "ranks_per_node": 4},
}


@pytest.mark.parametrize("case", NO_STEPS)
def test_other_programs_have_no_steps(case: str) -> None:
    spec = scenario(**{"app": RING, **NO_STEPS[case]}).resolve().spec
    assert steps_of(spec["jobs"][0]) is None


def test_a_short_ring_is_simulated_in_full() -> None:
    run = odonata.run(scenario(RING, steady=BOUND, ranks_per_node=8))
    assert "around a ring of more than 128 steps" in run.manifest["steady"]["in_full"]


def test_the_shortened_job_makes_so_many_steps_of_the_same_rings() -> None:
    spec = scenario(CHANNELS, **gpus()).resolve().spec
    assert played(spec, {}) == spec
    steps = {0: 190}
    assert unrolled(spec, steps)["jobs"][0]["program"]["iterations"] == 190
    short = played(unrolled(spec, {0: 70}), steps)
    program = short["jobs"][0]["program"]
    assert (program["iterations"], short["measure"]["operations"]) == (1, True)
    for ours, theirs in zip(
        program["body"]["collectives"], spec["jobs"][0]["program"]["body"]["collectives"], strict=True
    ):
        (new,), (old,) = ours["phases"], theirs["phases"]
        same = {key: old["what"][key] for key in ("work", "order", "bytes")}
        assert new["what"] == {"name": "ring-steps", **same, "steps": 70}


def _ring(delays: list[float], steps: int, busy: float = 0.0) -> Steps:
    """A ring of ranks with these times from one to the next; the third is busy for a time with each step."""
    ends = np.zeros((len(delays), steps + 1))
    for step in range(1, steps + 1):
        for rank, delay in enumerate(delays):
            ends[rank, step] = max(
                ends[rank - 1, step - 1] + delay, ends[rank, step - 1] + (busy if rank == 2 else 0.0)
            )
    return Steps(0.0, ends[None, :, 1:], np.ones((1, len(delays)), np.int64), second=0, whole=10_000)


def test_the_pace_of_a_ring_is_the_mean_time_to_the_next_rank() -> None:
    """Long before the slow link has come to all ranks, the pace is known."""
    seen = _ring([10.0] * 99 + [60.0], 60).inside(0, 10**9)
    assert seen.pace is not None
    assert seen.pace.value == pytest.approx(10.5)
    assert seen.pace.error < 0.001


def test_halves_with_other_bottlenecks_have_paces_of_their_own() -> None:
    """Here a slow rank limits an all-gather and not a reduce-scatter. Catches steps of both in turn, which are 15 % too
    fast, and an interval without the begin and the end."""
    fast = {"memory": "10 ns", "copy": "400 GB/s", "receive": "10 ns", "call": "0 ns"}
    whole, short = (
        odonata.run(scenario(RING, steady=bound, nodes=16, ranks_per_node=10, overhead=fast)) for bound in (None, BOUND)
    )
    ours, theirs = (of.jobs.row(0, named=True) for of in (short, whole))
    assert abs(ours["time_ps"] / theirs["time_ps"] - 1) <= max(0.001, ours["skipped_error"])
    assert ours["skipped_error"] <= 0.01


@pytest.mark.parametrize("seed", [1, 3])
@pytest.mark.parametrize("system", ["cori", "theta"])
def test_rings_on_adaptive_networks_are_within_what_is_stated(system: str, seed: int) -> None:
    """Their paces change as ranks get out of step: catches an error that knows only of the spread of the mean."""
    job: dict[str, Any] = {"system": system, "nodes": 24, "ranks_per_node": 8, "place": {"policy": "random"}}
    app = RING | {"message": "1 MB"}
    runs = [odonata.run(scenario(app, steady=bound, **job).set("run.seed", seed)) for bound in (None, BOUND)]
    theirs, ours = (of.jobs.row(0, named=True) for of in runs)
    assert abs(ours["time_ps"] / theirs["time_ps"] - 1) <= ours["skipped_error"] <= 0.01


def test_a_small_bound_of_a_short_ring_is_not_met() -> None:
    """The begin of a ring of 254 steps alone may take 0.4 % of its time."""
    run = odonata.run(scenario(RING, steady="0.1 %"))
    assert "is not known within the bound" in run.manifest["steady"]["in_full"]


def test_a_ring_that_has_hardly_begun_when_the_run_ends_is_no_error() -> None:
    """Catches series of no steps, and of some ranks only. The other job has ended before all ranks have received."""
    slow = {"name": "slow", "nodes": 8, "ranks_per_node": 16, "app": RING | {"message": "2 GB"}, "background": True}
    for start in ("0 us", "300 us"):
        short = {"name": "short", "nodes": 8, "app": RING | {"message": "8 KB"}, "iterations": 100}
        data = {"system": "tiny", "job": [short, slow | {"iterations": 1, "start": start}]}
        run = odonata.run(odonata.Scenario.of(data | {"run": {"seed": 1, "steady": {"error": "1 %"}}}))
        assert run.jobs.height == 2
    operations = {
        "job": np.zeros(3, np.uint16), "task": ["receive"] * 3, "rank": np.array([0, 0, 1], np.uint32),
        "cpu": np.array([0, 1, 0], np.uint16), "end_ps": np.array([5, 6, 7], np.uint64),
    }  # fmt: skip
    for rows in (slice(3), slice(0)):
        _, ends = ends_of_steps({name: column[rows] for name, column in operations.items()}, 0)
        assert ends.size == 0
    empty = Steps(0.0, ends, np.zeros((0, 0), np.int64), 0, 100).inside(0, 1_000)
    assert (empty.pace, empty.begun_ps) == (None, 1_000)


def test_a_busy_rank_is_in_the_error() -> None:
    """In the end all ranks have its pace, 15, though in the mean they have one of 10 at first."""
    seen = _ring([10.0] * 100, 60, busy=15.0).inside(0, 10**9)
    assert seen.pace is not None
    assert 15.0 <= seen.pace.value * (1 + seen.pace.error) < 17.0
    assert 9.0 < seen.pace.value * (1 - seen.pace.error) < 13.0


def test_seeds_and_studies_say_that_steps_were_skipped(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Catches notes that count skipped iterations, of which a ring has none."""
    path = tmp_path / "ring.toml"
    path.write_text(scenario(RING, steady=BOUND).text)
    assert main(["run", str(path), "--seeds", "2", "-q", "-o", str(tmp_path / "study")]) == 0
    assert "were skipped (`run.steady`)" in capsys.readouterr().out
