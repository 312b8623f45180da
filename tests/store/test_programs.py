"""What programs leave behind, from numbers written by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from odonata.store.columns import QUANTILES
from odonata.store.latency import Latency
from odonata.store.manifest import manifest
from odonata.store.programs import iterations_frame, progress, ranks_frame
from odonata.store.summary import answers, as_text, jobs_of, summary_of, tables_of
from odonata.store.tables import Alone, jobs_frame

NEVER = 2**64 - 1
US = 1_000_000


@pytest.fixture
def program(result: dict[str, Any], spec: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The target runs a program of two ranks on each of its nodes; the last of its three iterations is cut off."""
    target = spec["jobs"][0]
    target |= {"nodes": [0, 0, 2, 2], "program": {"start_ps": 1 * US}, "record": "histogram"}
    result["ranks"] = {
        "job": np.zeros(4, np.uint16),
        "rank": np.arange(4, dtype=np.uint32),
        "finish_ps": np.array([7 * US, 9 * US, 8 * US, NEVER], np.uint64),
        "work_ps": np.array([1, 2, 3, 4], np.uint64),
    }
    result["iterations"] = {
        "job": np.zeros(3, np.uint16),
        "iteration": np.arange(3, dtype=np.uint32),
        "ranks": np.array([4, 4, 3], np.uint32),
        "first_begin_ps": np.array([1 * US, 3 * US, 6 * US], np.uint64),
        "last_begin_ps": np.array([1 * US, 4 * US, 7 * US], np.uint64),
        "first_end_ps": np.array([2 * US, 5 * US, 7 * US], np.uint64),
        "last_end_ps": np.array([3 * US, 7 * US, 9 * US], np.uint64),
        "longest_ps": np.array([2 * US, 3 * US, 2 * US], np.uint64),
        "total_ps": np.array([6 * US, 10 * US, 5 * US], np.uint64),
    }
    result["class_bytes"] = np.array([[1, 2, 3], [4, 5, 6]], np.uint64)
    result["jobs"][0] |= {"intra_node": 2, "control": 5}
    return result, spec


def finished(result: dict[str, Any]) -> None:
    result["ranks"]["finish_ps"][3] = 10 * US
    result["iterations"]["ranks"][2] = 4


def times(mean: float) -> Latency:
    return Latency(1, dict.fromkeys(QUANTILES, round(mean)), mean)


def test_a_program_that_was_cut_off(program: tuple[dict[str, Any], dict[str, Any]]) -> None:
    program_progress = progress(*program, 0)
    assert program_progress is not None
    assert (program_progress.time_ps, program_progress.iterations) == (None, 2)
    assert program_progress.times is not None
    assert (
        program_progress.times.quantiles["min"],
        program_progress.times.quantiles["max"],
        program_progress.times.mean,
    ) == (2 * US, 4 * US, 3 * US)
    assert program_progress.rank_mean_ps == pytest.approx(2 * US)  # 16 us of four ranks in two iterations
    assert progress(*program, 1) is None


def test_its_time_is_from_the_start_to_the_end_of_the_last_rank(program: tuple[dict[str, Any], dict[str, Any]]) -> None:
    finished(program[0])
    program_progress = progress(*program, 0)
    assert program_progress is not None
    assert (program_progress.time_ps, program_progress.iterations) == (9 * US, 3)


def test_iterations_that_began_while_not_measuring_are_left_out(program: tuple[dict[str, Any], dict[str, Any]]) -> None:
    result, spec = program
    finished(result)
    spec["measure"] = {"from_ps": 2 * US, "until_ps": 6 * US, "arrivals_every_ps": None}
    program_progress = progress(result, spec, 0)
    assert program_progress is not None
    assert program_progress.times is not None
    assert (program_progress.iterations, program_progress.times.count, program_progress.times.mean) == (3, 1, 4 * US)


def test_the_tables(program: tuple[dict[str, Any], dict[str, Any]]) -> None:
    iterations, ranks = iterations_frame(*program), ranks_frame(*program)
    assert iterations["time_ps"].to_list() == [2 * US, 4 * US, None]
    assert iterations["mean_ps"].to_list() == [1.5 * US, 2.5 * US, pytest.approx(5 * US / 3)]
    assert ranks["node"].to_list() == [0, 0, 2, 2]
    assert ranks["finish_ps"].to_list() == [7 * US, 9 * US, 8 * US, None]


def summary(program: tuple[dict[str, Any], dict[str, Any]], alone: dict[int, Alone]) -> dict[str, Any]:
    result, spec = program
    wall = {"wall_s": 0.5, "packet_hops_per_s": 32.0, "peak_rss_bytes": 1_000_000}
    facts = manifest(
        run_id="0123456789abcdef",
        core_version="0.0.0",
        seed=7,
        channels=2,
        result=result,
        alone=[],
        wall=wall,
        link_classes=["node", "local", "global"],
    )
    return summary_of(facts, jobs_of(facts, jobs_frame(result, spec, [False, True], alone)))


def test_the_object_of_a_run(program: tuple[dict[str, Any], dict[str, Any]]) -> None:
    finished(program[0])
    target, noise = summary(program, {0: Alone(None, 6 * US)})["jobs"]
    assert (target["nodes"], target["ranks"], target["iterations"]) == (2, 4, 3)
    assert (target["time_ps"], target["time_alone_ps"], target["slowdown"]) == (9 * US, 6 * US, 1.5)
    assert (target["iteration_ps"]["p50"], target["iteration_ps"]["max"]) == (3 * US, 4 * US)
    assert target["bytes_by_class"] == {"node": 1, "local": 2, "global": 3}
    assert (target["messages_intra_node"], target["messages_control"]) == (2, 5)
    assert noise["bytes_by_class"] == {"node": 4, "local": 5, "global": 6}
    assert not {"iterations", "iteration_ps", "slowdown", "messages_intra_node"} & set(noise)


def test_what_is_said(program: tuple[dict[str, Any], dict[str, Any]]) -> None:
    told = summary(program, {})
    unfinished, cut_off, *_ = answers(told)
    assert unfinished == (
        "target: not finished by the end, 2 iterations done, 333,333 per second "
        "(an iteration: median 2.000 us*, 99 % within 4.000 us*)"
    )
    assert cut_off == "target: cut off: numbers with * cover only the iterations that had ended"
    finished(program[0])
    told = summary(program, {})
    assert answers(told) == [
        "target: 9.000 us for 3 iterations, 375,000 per second (an iteration: median 3.000 us, 99 % within 4.000 us)"
    ]
    told = summary(program, {0: Alone(None, 6 * US)})
    assert answers(told) == ["target: 9.000 us for 3 iterations, 1.50 x that of target alone (6.000 us)"]


def test_programs_stand_in_a_table_of_their_own(program: tuple[dict[str, Any], dict[str, Any]]) -> None:
    sending, running = tables_of(summary(program, {}))
    assert [row[0] for row in sending.rows] == ["noise"]
    assert [row[0] for row in running.rows] == ["target"]
    of_target = dict(zip([column.heading for column in running.columns], running.rows[0], strict=True))
    assert (of_target["ranks"], of_target["iterations"], of_target["time"], of_target["max"]) == (
        "4",
        "2",
        "-",
        "4.000*",
    )
    text = as_text(summary(program, {}))
    assert text.startswith("target: not finished by the end, 2 iterations done")
    assert "\nrun 0123456789abcdef, seed 7: 2.5 us simulated; latencies in " in text
    assert "times of programs and of iterations (first begin to last end) in us" in text


def test_with_a_period_the_iterations_are_compared(program: tuple[dict[str, Any], dict[str, Any]]) -> None:
    """With a period, the total time is mostly waiting, and would give 1.00 x for all times of iterations."""
    finished(program[0])
    program[1]["jobs"][0]["program"]["every_ps"] = 3 * US
    (target, _) = summary(program, {0: Alone(None, 9 * US, times(1.5 * US))})["jobs"]
    assert target["slowdown"] == target["iteration_ps"]["mean"] / (1.5 * US)
    told = summary(program, {0: Alone(None, 9 * US, times(1.5 * US))})
    assert answers(told) == ["target: 9.000 us for 3 iterations, which take 2.00 x as long as those of target alone"]
