"""The league table: which routings it has, and places only where the runs tell routings apart."""

from __future__ import annotations

import pytest

from odonata.reproduce.league import grid, page
from odonata.reproduce.league.grid import LEFT_OUT, MACHINES, PLACED, SEEDS
from odonata.reproduce.league.page import Number, best, places
from odonata.scenario.routings import DEFAULTS, ROUTINGS

pytest.importorskip("numba")
pytestmark = pytest.mark.xdist_group("numba")


@pytest.mark.parametrize("machine", list(MACHINES))
def test_every_routing_of_a_machine_is_simulated_or_named_as_left_out(machine):
    of = MACHINES[machine]
    listed = {table if isinstance(table, str) else table["name"] for table in of.routings.values()}
    known = {name for name, routing in ROUTINGS.items() if machine in routing.kinds} - {"custom"}
    assert listed | {*LEFT_OUT} >= known
    assert listed <= known
    assert not listed & {*LEFT_OUT}


@pytest.mark.parametrize("machine", list(MACHINES))
def test_the_first_routing_is_the_default_and_the_words_have_its_nodes(machine):
    of = MACHINES[machine]
    resolved = grid.make(
        {"machine": machine, "routing": next(iter(of.routings)), "test": "uniform", "load": 50, "seed": 1}
    ).resolve()
    assert resolved.system.shape.nodes == of.nodes
    [job] = resolved.spec["jobs"]
    assert job["traffic"]["interval_ps"] == 163_840, "1,024 B at 12.5 GB/s and half of the load"
    document = resolved.document["scenario"]
    name = document["routing"] if isinstance(document["routing"], str) else document["routing"]["name"]
    assert name == DEFAULTS[machine]


def test_points_are_few_and_every_cell_has_every_seed():
    full, few = grid.points(False), grid.points(True)
    assert len(full) == 23 * 8 * len(SEEDS) == 552
    assert {point["machine"] for point in few} == {"fat-tree"}
    assert {(point["test"], point["load"]) for point in few} >= {*PLACED.items()}


def test_the_neighbour_and_the_target_share_no_node_and_the_target_keeps_its_nodes():
    point = {"machine": "graph", "routing": "valiant", "load": 90, "seed": 2}
    alone, beside = (grid.make({**point, "test": test}).resolve().spec["jobs"] for test in ("alone", "beside"))
    assert alone[0]["nodes"] == beside[0]["nodes"]
    assert not {*beside[0]["nodes"]} & {*beside[1]["nodes"]}
    assert len(beside[0]["nodes"]) == len(beside[1]["nodes"]) == 27


def test_a_routing_is_better_only_if_the_interval_of_the_ratios_leaves_1_out():
    """Numbers vary with the seed, and together: they are told apart by seed."""
    first, second, wide = Number((1.0, 2.0, 3.0)), Number((1.1, 2.21, 3.29)), Number((0.5, 2.5, 4.5))
    assert first.beats(second, higher=False)
    assert second.beats(first, higher=True)
    assert not first.beats(second, higher=True)
    assert not first.beats(wide, higher=False)
    assert not wide.beats(first, higher=False)


def test_places_are_shared_and_what_is_not_accepted_is_last():
    standing = {
        "a": Number((1.0, 1.0, 1.0)),
        "b": Number((0.9, 1.1, 1.0)),
        "c": Number((2.0, 2.1, 2.0)),
        "d": Number(()),
        "e": Number(()),
    }
    assert places(standing, higher=False) == {"a": 1, "b": 1, "c": 3, "d": 4, "e": 4}
    assert best(standing, higher=True) == "c"


def test_the_interval_of_a_slowdown_is_of_its_logarithm():
    low, high = Number((1.0, 4.0), ratio=True).interval
    assert Number((1.0, 4.0), ratio=True).mean == pytest.approx(2)
    assert low > 0
    assert low * high == pytest.approx(4)


def run(routing, test, load, seed, **values):
    given = {"offered": load / 100, "accepted": load / 100, "mean_ps": 1e6, "p99_ps": 2e6, "time_ps": 10}
    point = {"machine": "fat-tree", "routing": routing, "test": test, "load": load, "seed": seed}
    return {**point, **given, **values}


def runs(slow):
    """Two routings; the second has latencies and slowdowns that differ from the first by `slow`."""
    made = []
    for routing, factor in (("default", 1.0), ("other", slow)):
        for seed in (1, 2, 3):
            made += [
                run(routing, "uniform", 80, seed, mean_ps=1e6 * seed * factor),
                run(routing, "adversarial", 100, seed, accepted=0.5 / factor),
                run(routing, "alone", 0, seed, time_ps=100 * seed),
                run(routing, "beside", 90, seed, time_ps=300 * seed * factor),
            ]
    return made


def test_rows_say_how_far_the_default_is_from_the_best():
    better = page.compare(runs(0.5))
    assert [(row.ours, row.verdict) for row in better] == [
        (pytest.approx(2), "no match"), (pytest.approx(0.5), "no match"), (pytest.approx(2), "no match"),
    ]  # fmt: skip
    assert {row.why for row in better} == {"`other` is better there than the default"}
    assert [(row.ours, row.verdict) for row in page.compare(runs(2.0))] == [(pytest.approx(1), "direction")] * 3


def test_a_default_that_does_not_accept_the_load_has_no_latency():
    saturated = [
        {**of, "accepted": 0.7} if (of["routing"], of["test"]) == ("default", "uniform") else of for of in runs(0.5)
    ]
    rows = page.compare(saturated)
    assert [row.id for row in rows] == ["LG2", "LG3"]
    texts = page.REPRODUCTION.text.of_runs(rows, saturated)
    assert "*70.0±0.0*" in texts["tails"]
    assert "| 2 | – |" in texts["league"]


def test_the_page_takes_the_best_and_says_how_sure():
    rows = page.compare(runs(0.5))
    texts = page.REPRODUCTION.text.of_runs(rows, runs(0.5))
    assert "| fat-tree | uniform | `other` |" in texts["take"]
    assert "| 1 of 1 |" in texts["take"]
    text = page.REPRODUCTION.text.render(rows, texts, "routings")
    assert "| fat-tree | `default` | **2.00** |" in text
    assert page.draw(rows, runs(0.5)).axes
