"""`desensi2019-hosts`: measured times beside ours, and the speed-up of a barrier with less of the costs of hosts."""

from __future__ import annotations

from typing import Any

import pytest

import odonata
from odonata.reproduce import find
from odonata.reproduce.desensi2019 import hosts
from odonata.reproduce.desensi2019.benchmarks import DEFAULT

STUDY = find("desensi2019-hosts")


def made(slow: float, gain: float) -> list[dict[str, Any]]:
    """Measured operations take `slow` times as long as published; barriers are `gain` times as fast with high bias."""
    published = {(of.benchmark, of.size, of.nodes): of.us for of in hosts.OPERATIONS}
    runs = []
    for point in STUDY.points(False):
        if point["figure"] == hosts.MEASURED:
            us = published[point["benchmark"], point["size"], point["nodes"]] * slow
            time = us * (2 if point["benchmark"] == "ping-pong" else 1)
        else:
            time = 10.0 if point["policy"] == DEFAULT else 10.0 / gain
        runs.append({**point, "times_ps": [time * 1e6] * (point["iterations"] - 1), "latency_ps": 1e6, "optical": 0.3})
    return runs


def test_operations_run_in_one_group_without_others() -> None:
    point = next(p for p in STUDY.points(False) if (p["benchmark"], p["nodes"]) == ("alltoall", 16))
    resolved = STUDY.make(point).resolve()
    (job,) = resolved.spec["jobs"]
    shape = resolved.system.shape
    assert {shape.group_of(node) for node in job["nodes"]} == {0}
    assert len({shape.router_of(node) for node in job["nodes"]}) == 16


def test_rows_that_agree_and_rows_that_do_not() -> None:
    good, bad = STUDY.rows(made(1.0, 2.0)), STUDY.rows(made(1.5, 1.2))
    # Two all-reduces on six nodes: of Dom and of Piz Daint, which differ.
    assert {row.what for row in good if row.verdict == "no match"} == {"Dom: allreduce, 8 B, 6 nodes"}
    assert {row.verdict for row in bad if row.kind == "F"} == {"no match"}
    assert [row.verdict for row in bad if row.what.startswith("barrier, 100")] == ["no match"]
    # What no machine has is no match, whatever it gives.
    assert {row.verdict for row in good if row.what.startswith(("barrier, 30", "barrier, 0"))} == {"not comparable"}


def test_the_preset_has_the_times_that_chose_its_costs() -> None:
    """Simulates the ping-pong of 8 B on Piz Daint: 1.30 us."""
    point = next(p for p in STUDY.points(False) if (p["benchmark"], p["size"]) == ("ping-pong", "8 B"))
    times = odonata.run(STUDY.make(point)).iterations["time_ps"]
    assert times.median() / 2e6 == pytest.approx(1.30, abs=0.02)


def test_the_page() -> None:
    runs = made(1.0, 1.2)
    page = STUDY.page(STUDY.rows(runs), runs)
    assert "$" not in page
    assert "| D25 | Piz Daint: ping-pong, 8 B, 2 nodes | 1.30 us | 10 % | (1.30) |" in page
    assert page.count("| D25 |") == len(STUDY.rows(runs))
