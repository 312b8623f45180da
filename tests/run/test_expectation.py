"""What a run will simulate, known before it: held against what it has simulated."""

from __future__ import annotations

from typing import Any

import pytest

from odonata import runner, scenario
from odonata.expectation import Expectation, JobCount, counts, expectation
from odonata.expectation.expected import LONG_S
from odonata.machine import core
from odonata.scenario import Scenario


def scenario_of(app: dict[str, Any], system: str = "tiny", **more: Any) -> Scenario:
    job = {"name": "a", "nodes": 16, "app": app, **more}
    return Scenario.of({"system": system, "routing": "minimal", "job": [job]})


def of(app: dict[str, Any], system: str = "tiny", **more: Any) -> tuple[Expectation, dict[str, Any]]:
    resolved = scenario_of(app, system, **more).resolve()
    return expectation(resolved), runner.simulate(resolved.spec)


COSTS = {"send": "0 s", "receive": "0 s", "copy": "none", "memory": "0 s", "rendezvous": "0 s", "reduce": "none"}


@pytest.mark.parametrize(
    ("app", "more"),
    [
        ({"pattern": "uniform-random", "message": "10 KB", "interval": "10 us", "messages": 50}, {}),
        ({"pattern": "stencil-3d", "message": "1 B", "interval": "10 us", "messages": 5}, {"place": "random-nodes"}),
        ({"collective": "alltoall", "algorithm": "linear-shift", "message": "10 KB"}, {"iterations": 3}),
        (
            {"collective": "alltoall", "algorithm": "bruck", "message": "10 KB"},
            {"overhead": {**COSTS, "eager": "4 KB"}},
        ),
        ({"collective": "allreduce", "algorithm": "ring", "message": "1 MB"}, {"ranks_per_node": 2}),
    ],
)
def test_counts_are_those_of_the_run(app: dict[str, Any], more: dict[str, Any]) -> None:
    counted, result = of(app, **more)
    (totals,) = result["jobs"]
    sent = totals["issued"] - totals["intra_node"]
    assert counted.messages == sent > 0
    assert counted.packets == totals["packets"]
    assert counted.packet_hops == pytest.approx(result["packet_hops"], rel=0.15)
    state = {"now_ps": result["end_ps"], "packet_hops": result["packet_hops"] // 4, "delivered": 0, "expected": sent}
    assert counted.share(state) == pytest.approx(0.25, rel=0.15)


@pytest.mark.parametrize("system", ["tiny", "frontier"])
def test_answers_of_nics_are_packets_too(system: str) -> None:
    """NICs of Frontier are under congestion control: each packet has an acknowledgement."""
    app = {"collective": "alltoall", "algorithm": "linear-shift", "message": "10 KB"}
    counted, result = of(app, system, place="random-nodes")
    assert counted.packet_hops == pytest.approx(result["packet_hops"], rel=0.1)


@pytest.mark.parametrize(
    "app",
    [
        {"collective": "alltoall", "algorithm": "linear-shift", "message": "10 KB"},
        {"collective": "alltoall", "algorithm": "pairwise", "message": "3 KB"},
        {"collective": "allreduce", "algorithm": "ring", "message": "1 MB"},
        {"collective": "allgather", "algorithm": "ring", "message": "5 KB"},
        {"collective": "reduce-scatter", "algorithm": "ring", "message": "1 MB"},
    ],
)
@pytest.mark.parametrize("per_node", [1, 3])
def test_collectives_of_pairs_are_counted_in_closed_form(
    app: dict[str, Any], per_node: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of 10^5 ranks nobody lists the pairs. The closed form is that of the listed ones, with those inside nodes."""
    resolved = scenario_of(app, iterations=2, ranks_per_node=per_node).resolve()
    (listed,) = expectation(resolved).jobs
    monkeypatch.setattr(counts, "MOST_COUNTED", 1)
    monkeypatch.setattr(core, "traffic", None)
    (job,) = expectation(resolved).jobs
    assert (job.messages, job.packets) == (listed.messages, listed.packets)
    assert job.hops == pytest.approx(listed.hops)
    assert not job.unknown
    assert job.pairs


def test_an_all_to_all_of_a_hundred_thousand_nodes_is_counted_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(core, "traffic", None)
    text = """\
[system]
kind = "dragonfly"
groups = 49
routers = 49
nodes_per_router = 49
global_links_per_router = 1
[system.fabric]
packet = "2 KiB"
flit = "32 B"
[system.fabric.links]
node = { bandwidth = "12.5 GB/s", buffer = "64 KiB" }
local = { bandwidth = "12.5 GB/s", buffer = "64 KiB" }
global = { bandwidth = "12.5 GB/s", buffer = "64 KiB" }
[[job]]
name = "a"
nodes = 117649
app = { collective = "alltoall", algorithm = "linear-shift", message = "1 B", iterations = 1 }
"""
    counted = expectation(scenario.parse(text).resolve())
    assert counted.messages == counted.packets == 117_649 * 117_648
    assert counted.packet_hops == pytest.approx(117_649 * 117_648 * (3 + 48 / 49), rel=0.02)
    assert str(counted) == (
        "expected: 13,841,169,552 messages between nodes in 13,841,169,552 packets, about 54 G packet-hops"
    )
    assert 'algorithm = "bruck"' in str(counted.hint(10**5))
    assert "packets" not in str(counted.hint(10**5))


def job(**more: Any) -> JobCount:
    return JobCount(**{"name": "a", "ends": True, "messages": 10, "packets": 100, "hops": 2.0, **more})


def state(**more: Any) -> dict[str, Any]:
    return {"now_ps": 1000, "packet_hops": 50, "delivered": 0, "expected": 10, **more}


def test_the_share_of_a_program_follows_from_its_packet_hops() -> None:
    counted = Expectation((job(program=True),), None, 0)
    assert counted.share(state()) == 0.25
    assert counted.share(state(delivered=5)) == 0.5
    assert counted.share(state(packet_hops=150, delivered=5)) == 0.75
    # Packets took detours: the counts say nothing any more.
    assert counted.share(state(packet_hops=300)) == 0.0
    assert counted.share(state(packet_hops=300, delivered=5)) == 0.5


def test_the_share_of_a_pattern_is_what_has_been_delivered() -> None:
    counted = Expectation((job(),), None, 0)
    assert counted.share(state()) == 0.25
    assert counted.share(state(delivered=1)) == 0.1


def test_packets_of_jobs_without_end_are_left_out_of_the_share() -> None:
    endless = job(name="noise", ends=False, messages=0, packets=0, hops=3.0, per_ps=0.01)
    counted = Expectation((job(program=True), endless), None, 0)
    assert (counted.messages, counted.packets) == (10, 100)
    assert counted.share(state()) == pytest.approx((50 - 30) / 200)
    assert "and what `noise` sends until then" in str(counted)
    assert counted.alone("a").share(state()) == 0.25


def test_a_run_until_a_time_has_done_the_share_of_that_time() -> None:
    assert Expectation((job(unknown=True),), 4_000, 0).share(state(expected=0)) == 0.25


def test_without_counts_nothing_is_said_of_them() -> None:
    app = {"collective": "allreduce", "algorithm": "ring", "message": "1 MB"}
    noise = {"name": "noise", "nodes": 8, "background": True, "app": app}
    one = {"name": "a", "nodes": 8, "app": app}
    spec = {"system": "tiny", "job": [one, noise]}
    counted = expectation(Scenario.of(spec).resolve())
    assert counted.packet_hops is None
    assert counted.share(state()) == 0.0
    assert str(counted).startswith("expected: at least 112 messages")


def test_the_hint_names_what_helps() -> None:
    counted = Expectation((job(iterations=4),), None, 3 * 2**20)
    assert counted.hint(LONG_S) is None
    text = str(counted.hint(3600.0))
    assert text.startswith(
        "hint: it takes about 60 min; what makes it shorter: larger packets (`system.fabric.packet`)"
    )
    assert "fewer `iterations`" in text
    assert "bruck" not in text
    assert str(counted).endswith("; 3 MiB of memory for the rows of messages")
