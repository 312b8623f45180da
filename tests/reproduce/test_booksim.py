"""The comparison with BookSim 2: its machines, its loads, and ratios of latencies."""

from __future__ import annotations

import pytest

from odonata.reproduce.booksim import uniform


@pytest.mark.parametrize(("machine", "nodes", "links"), [("72 nodes", 72, 36), ("1,056 nodes", 1056, 528)])
def test_machines_and_loads_are_booksims(machine, nodes, links):
    """dragonflynew of k: a = 2k, g = a k + 1, N = a k g, one link between each two groups; loads count flits."""
    resolved = uniform.make({"machine": machine, "routers": "ideal", "load": 50}).resolve()
    told = resolved.system.describe()
    assert told["nodes"] == nodes
    assert told["links"]["global"] == links
    job = resolved.spec["jobs"][0]
    cycles = job["traffic"]["interval_ps"] / 1000
    assert 10 / cycles == pytest.approx(0.5)
    assert job["traffic"]["message_bytes"] == 10 * uniform.FLIT


def test_ratios_are_to_the_lowest_load_of_the_same_machine_and_routers():
    runs = [
        {"machine": "72 nodes", "routers": routers, "load": load, "mean_ps": mean}
        for routers, factor in (("ideal", 1.0), ("input-queued", 1.06))
        for load, mean in ((5, 100_000.0), (50, 100_000.0 * factor * 432.718 / 377.840))
    ]
    rows = {row.model: row for row in uniform.compare(runs)}
    assert rows["ideal"].ours == pytest.approx(rows["ideal"].theirs)
    assert (rows["ideal"].verdict, rows["input-queued"].verdict) == ("match", "no match")
