"""Which iterations are skipped, of runs that a small model simulates: each program has a pace in each set of programs.

The model gives the arrays of the core, so that the arithmetic of epochs is checked by hand, to the picosecond.
"""

import json
from collections.abc import Callable

import numpy as np
import pytest

from odonata.steady.epochs import Border, Epoch
from odonata.steady.extrapolate import Part
from odonata.steady.mean import Mean
from odonata.steady.search import search
from odonata.steady.series import Iterations, Seen
from odonata.steady.skipped import Steady

MEASURE = {"from_ps": 0, "until_ps": None}


def spec_of(*jobs: tuple[int | None, int], waited: tuple[int, ...] | None = None, at_ps: int | None = None) -> dict:
    """Jobs as (iterations, start); the run waits for all that end."""
    waited = tuple(n for n, (count, _) in enumerate(jobs) if count is not None) if waited is None else waited
    made = [
        {"name": f"job-{n}", "nodes": [n], "program": {"iterations": count, "start_ps": start}}
        for n, (count, start) in enumerate(jobs)
    ]
    return {"jobs": made, "stop": {"jobs": list(waited), "at_ps": at_ps}, "measure": MEASURE}


class Model:
    """Plays specifications; `pace` gives the time of iteration k of a job beside others, and all are counted."""

    def __init__(self, pace: Callable[[int, int, frozenset[int]], int], ahead: int = 0) -> None:
        self.pace = pace
        self.ahead = ahead
        """How far the fastest rank is ahead after each further iteration."""
        self.played: list[dict] = []

    def __call__(self, spec: dict, number: int) -> dict:
        self.played.append(spec)
        assert number == len(self.played)
        programs = [job["program"] for job in spec["jobs"]]
        now = [program["start_ps"] for program in programs]
        rows: list[list[tuple[int, int]]] = [[] for _ in programs]
        done: dict[int, int] = {}
        while set(spec["stop"]["jobs"]) - set(done):
            job = min((n for n in range(len(now)) if n not in done), key=lambda n: (now[n], n))
            beside = frozenset(n for n, p in enumerate(programs) if p["start_ps"] <= now[job] and n not in done)
            took = self.pace(job, len(rows[job]), beside)
            rows[job].append((now[job], now[job] + took))
            now[job] += took
            if len(rows[job]) == programs[job]["iterations"]:
                done[job] = now[job]
        table = [
            (n, begin, end, end - self.ahead * k) for n, of in enumerate(rows) for k, (begin, end) in enumerate(of)
        ]
        column = lambda at: np.array([row[at] for row in table], np.uint64)  # noqa: E731
        iterations = {"job": column(0).astype(np.uint16), "ranks": np.ones(len(table), np.uint32)}
        iterations |= {
            "first_begin_ps": column(1),
            "last_end_ps": column(2),
            "first_end_ps": column(3),
            "total_ps": column(2) - column(1),
        }
        finish = [done.get(n, 2**64 - 1) for n in range(len(now))]
        ranks = {"job": np.arange(len(now), dtype=np.uint16), "finish_ps": np.array(finish, np.uint64)}
        return {"iterations": iterations, "ranks": ranks, "packet_hops": len(table)}

    def whole(self, spec: dict) -> list[int]:
        """The times of the jobs that end in the whole run."""
        finish = Model(self.pace)(spec, 1)["ranks"]["finish_ps"]
        return [int(end) - job["program"]["start_ps"] for end, job in zip(finish, spec["jobs"], strict=True)]


def found(model: Model, spec: dict, error: float = 0.01):
    """The steady part, and the time of each job with what was skipped."""
    result, short, steady = search(spec, error, model)
    times = []
    for n, job in enumerate(short["jobs"]):
        skipped = steady.of_job(short, n)
        times.append(int(result["ranks"]["finish_ps"][n]) - job["program"]["start_ps"] + (skipped.ps if skipped else 0))
    return steady, short, times


def test_one_steady_program_needs_one_short_run():
    spec, model = spec_of((1_000, 5)), Model(lambda *_: 100)
    steady, short, times = found(model, spec)
    assert steady.in_full is None
    assert len(model.played) == 1
    assert short["jobs"][0]["program"]["iterations"] < 70
    assert times == [100_000]
    assert steady.of_job(short, 0).iterations + short["jobs"][0]["program"]["iterations"] == 1_000


def test_each_set_of_programs_has_its_own_means():
    """Job 1 starts late and ends first: three epochs, in which job 0 has 100, 150 and again 100."""
    spec = spec_of((1_000, 0), (300, 20_000))
    model = Model(lambda job, _, beside: (150 if len(beside) == 2 else 100) if job == 0 else 80)
    steady, _, times = found(model, spec)
    assert steady.in_full is None
    assert [sorted(part.epoch.seen) for part in steady.parts if part.skipped_ps] == [[0], [0, 1], [0]]
    for ours, whole in zip(times, model.whole(spec), strict=True):
        assert ours == pytest.approx(whole, rel=0.003)
    assert len(model.played[-1]["jobs"]) == 2
    assert steady.trials[-1] < 0.2 * 1_300


def test_a_background_program_without_end_follows():
    spec = spec_of((500, 0), (None, 0))
    steady, short, times = found(Model(lambda job, *_: 100 if job == 0 else 37), spec)
    assert (steady.in_full, times[0]) == (None, 50_000)
    assert steady.of_job(short, 1).iterations == pytest.approx(50_000 / 37, rel=0.1)


def test_a_program_that_never_settles_is_simulated_in_full_and_the_work_is_bounded():
    spec = spec_of((400, 0))
    random = np.random.default_rng(5)
    wild = random.pareto(1.3, 400)
    model = Model(lambda _, k, __: int(100 * (1 + wild[k])))
    steady, short, times = found(model, spec)
    assert steady.in_full is not None
    assert "`job-0`" in steady.in_full
    assert (short, times) == (spec, model.whole(spec))
    assert sum(steady.trials) <= 2.25 * 400


def test_a_slow_drift_is_not_taken_for_a_mean():
    spec = spec_of((400, 0))
    model = Model(lambda _, k, __: 1_000 + 3 * k)
    steady, _, times = found(model, spec)
    assert abs(times[0] / model.whole(spec)[0] - 1) <= 0.01 or steady.in_full


def test_a_negligible_epoch_needs_no_mean_and_its_interval_is_finite():
    """Job 0 starts when job 1 has almost ended, so that the epoch of both has no iteration of job 0."""
    spec = spec_of((200, 1_990), (100, 0))
    steady, short, times = found(Model(lambda job, *_: 150 if job == 0 else 20), spec)
    assert steady.in_full is None
    assert times == pytest.approx([30_000, 2_000], rel=0.01)
    assert all(steady.of_job(short, job).share < 0.01 for job in (0, 1))
    json.dumps(steady.facts(["a", "b"]), allow_nan=False)


def test_epochs_that_are_short_are_the_reason():
    """Each job has ten iterations before the next one starts: all of them are needed."""
    spec = spec_of((30, 0), (30, 1_000), (30, 2_000))
    steady, short, _ = found(Model(lambda *_: 100), spec)
    assert short == spec
    assert steady.in_full == "enough iterations of every job between each start or end of a job are 100 % of the run"


@pytest.mark.parametrize(
    ("skipped_ps", "left", "iterations", "ps"),
    # 10.6 iterations, and 0.3 of one that was begun; a program with an end has no more than it left out.
    [(1_060.0, {}, 10, 1_060), (1_080.0, {}, 11, 1_080), (1_060.0, {0: 10}, 10, 1_060), (-30.0, {}, 0, 0)],
)
def test_what_was_skipped_is_neither_negative_nor_more_than_there_is(skipped_ps, left, iterations, ps):
    seen = {0: Seen(Mean(100.0, 0.0, 0, 20), 100.0, 100.0, 0.0, 30.0)}
    part = Part(Epoch(0, Border(2_030, "end", 0), seen), skipped_ps, {0: 100.0}, {0: 0.0})
    steady = Steady(0.01, (1,), (part,), left=left)
    of = steady.of_job(spec_of((20, 0)), 0)
    assert (of.iterations, of.ps) == (iterations, ps)
    assert of.times_ps >= 0


def test_a_short_job_beside_a_long_one_that_the_run_does_not_wait_for():
    spec = spec_of((5, 0), (1_000, 0), waited=(0,))
    steady, short, _ = found(Model(lambda *_: 100), spec)
    assert (short, len(steady.trials)) == (spec, 1)


def test_iterations_that_take_no_time_are_simulated():
    spec = spec_of((100, 3))
    steady, short, _ = found(Model(lambda *_: 0), spec)
    assert short == spec
    assert steady.in_full is not None


def test_ranks_that_go_on_moving_apart_are_given_up_after_two_trials():
    steady, _, _ = found(Model(lambda *_: 1_000, ahead=50), spec_of((4_000, 0)))
    assert len(steady.trials) == 3
    assert sum(steady.trials) < 1.3 * 4_000


def test_ranks_that_run_ahead_of_others_are_not_steady():
    """The times of iterations are equal, but queues fill."""
    spec = spec_of((400, 0))
    steady, short, _ = found(Model(lambda *_: 1_000, ahead=50), spec)
    assert short == spec
    assert "move apart" in steady.in_full
    assert found(Model(lambda *_: 1_000, ahead=5), spec)[0].in_full is None


def test_warm_up_does_not_count():
    spec = spec_of((2_000, 0))
    model = Model(lambda _, k, __: 1_000 + (2_000 >> k))
    steady, _, times = found(model, spec)
    assert steady.in_full is None
    assert times[0] == pytest.approx(model.whole(spec)[0], rel=0.01)


def test_a_horizon_before_the_end_of_the_whole_run_forbids_skipping():
    model = Model(lambda *_: 100)
    assert found(model, spec_of((1_000, 0), at_ps=200_000))[0].in_full is None
    reason = found(Model(lambda *_: 100), spec_of((1_000, 0), at_ps=90_000))[0].in_full
    assert reason == "`run.until` ends the whole run before its jobs end"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"stop": {"jobs": [], "at_ps": 9}}, "ends at a time"),
        ({"measure": {"from_ps": 5, "until_ps": None}}, "warm_up"),
        ({"jobs": [{"name": "b", "nodes": [1], "bursts": {}, "program": {"iterations": 99, "start_ps": 0}}]}, "bursts"),
        ({"jobs": [{"name": "t", "nodes": [1], "traffic": {"intervals": 7}}]}, "messages"),
        ({"jobs": [{"name": "s", "nodes": [1], "program": {"iterations": 9, "start_ps": 0}}]}, "iterations"),
    ],
)
def test_what_cannot_be_shortened_is_simulated_once_with_the_reason(change, said):
    runs = []
    spec = {**spec_of((1_000, 0)), **change}
    result, short, steady = search(spec, 0.01, lambda given, _: runs.append(given) or {"packet_hops": 3})
    assert (runs, short, result["packet_hops"], steady.trials) == ([spec], spec, 3, (3,))
    assert said in steady.in_full


def test_a_program_that_waits_is_judged_by_the_time_of_an_iteration_too():
    """Its pace is that of the clock. Catches a bound that holds for the time of the run and not for what users read."""
    random = np.random.default_rng(3)
    begins = np.arange(60) * 1_000.0
    times = 100 + 60 * random.random(60)
    seen = [
        Iterations(0.0, begins, begins + times, begins + times, np.full(60, 1_000.0), times, waits).inside(0, 60_000)
        for waits in (False, True)
    ]
    assert seen[0].pace.error == 0
    assert 0.01 < seen[1].pace.error < 0.2
