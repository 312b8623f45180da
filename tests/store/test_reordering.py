"""What a run says of the order of packets, and what order costs (docs/results.md, "Order of packets")."""

from __future__ import annotations

import pytest

import odonata as od
from odonata import scenario
from odonata.errors import InputError
from odonata.store.columns import REORDERING

LINKS = {
    name: {"bandwidth": "10 GB/s", "latency": "50 ns", "buffer": "1 MiB"} for name in ("node", "leaf")
}  # two leaves, four spines
TREE = {
    "kind": "fat-tree",
    "pods": 1,
    "leaves": 2,
    "spines": 4,
    "nodes_per_leaf": 4,
    "host": "none",
    "fabric": {"packet": "1 kB", "links": LINKS},
}
APP = {"pattern": "tornado", "offset": 4, "message": "1 kB", "interval": "100 ns", "messages": 200}
NSCC = {"congestion_control": "nscc"}


def run_of(measured=True, spread="packet", fabric=None, **more):
    table = {
        "system": TREE,
        "routing": {"name": "up-down", "spread": spread},
        "job": [{"name": "a", "nodes": 8, "app": APP}],
        "measure": {"reordering": True} if measured else {},
        **({"fabric": fabric} if fabric else {}),
        **more,
    }
    return od.run(scenario.load(table))


def row_of(run):
    return run.jobs.row(0, named=True)


def test_the_columns_are_in_tables_and_text():
    run = run_of()
    row, (job,) = row_of(run), run.summary["jobs"]
    assert 0 < row["reordered_fraction"] < 1
    assert row["reordering_extent_max"] >= row["reordering_extent_mean"] >= 1
    assert row["reorder_buffer_bytes"] >= 1000 * row["reordering_extent_max"] / 2
    assert {name: job[name] for name in REORDERING} == {name: row[name] for name in REORDERING}
    text = str(run)
    assert "extents of reordering in packets" in text
    assert f"{row['reordered_fraction']:.1%}".replace("%", " %") in text
    assert set(REORDERING) <= run.manifest["tables"]["jobs"]["columns"].keys()


def test_without_the_key_a_run_is_as_it_was():
    run, other = run_of(measured=False), run_of()
    assert run.manifest["id"] != other.manifest["id"]
    assert not set(REORDERING) & set(run.jobs.columns)
    assert not set(REORDERING) & run.manifest["tables"]["jobs"]["columns"].keys()
    assert run.jobs.equals(other.jobs.drop(REORDERING))
    assert run.messages.equals(other.messages)


def test_one_path_keeps_the_order():
    row = row_of(run_of(spread="hash"))
    assert tuple(row[name] for name in REORDERING) == (0, None, 0, 0)


def test_order_costs_time():
    free, ordered = run_of(), run_of(fabric={"nic": {"delivery": "in-order"}})
    assert row_of(ordered)["latency_mean_ps"] > row_of(free)["latency_mean_ps"]
    assert row_of(ordered)["latency_min_ps"] == row_of(free)["latency_min_ps"]
    assert [row_of(ordered)[name] for name in REORDERING] == [row_of(free)[name] for name in REORDERING]
    one_path = [run_of(spread="hash", fabric=fabric).jobs for fabric in (None, {"nic": {"delivery": "in-order"}})]
    assert one_path[0].equals(one_path[1])


def test_defaults_leave_ids_as_they_are():
    named = {"nic": {"delivery": "on-arrival", "entropy": "fresh"}}
    assert run_of(fabric=named).manifest["id"] == run_of().manifest["id"]


def test_reps_runs_with_marks():
    fresh, reps = run_of(fabric=NSCC), run_of(fabric={**NSCC, "nic": {"entropy": "reps"}})
    assert row_of(fresh)["packets"] == row_of(reps)["packets"]
    assert fresh.manifest["id"] != reps.manifest["id"]


@pytest.mark.parametrize(
    ("fabric", "spread", "path", "message"),
    [
        ({"nic": {"entropy": "reps"}}, "packet", ("fabric", "nic", "entropy"), "without a mark"),
        ({**NSCC, "nic": {"entropy": "reps"}}, "hash", ("routing",), "`up-down` with these options does not draw"),
        ({"nic": {"kind": "aries", "delivery": "in-order"}}, "packet", ("fabric", "nic", "delivery"), "as they come"),
    ],
)
def test_what_does_not_go_together_is_refused(fabric, spread, path, message):
    with pytest.raises(InputError, match=message) as caught:
        run_of(spread=spread, fabric=fabric)
    assert caught.value.path == path


def test_they_can_be_compared():
    """The columns are results that `compare --value` and `[show]` know."""
    from odonata.study.read import numeric_columns

    assert set(REORDERING) <= set(numeric_columns())
