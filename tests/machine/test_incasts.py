"""Congestion control: how busy an incast keeps its link until the last flow has ended, and how flows share a link."""

import polars as pl
import pytest
import tomlkit

import odonata as od
from odonata import machine, scenario
from odonata.core_options import CONGESTION_LAWS

LAWS = tuple(CONGESTION_LAWS)
NO_HOST = {"send": "0 s", "receive": "0 s", "call": "0 s", "copy": "none", "eager": "4 GB", "rendezvous": "0 s"}
NO_HOST["reduce"] = "none"
ONE_NIC = {"nic": {"rail": "by-rank"}}


def tree(leaves: int, spines: int, nodes: int, latency: str = "50 ns") -> dict:
    """A fat tree of one pod with links of 100 Gbit/s."""
    links = {
        name: {"bandwidth": "100 Gbit/s", "latency": of, "buffer": "64 KiB"}
        for name, of in (("node", "10 ns"), ("leaf", latency))
    }
    shape = {"pods": 1, "leaves": leaves, "spines": spines, "nodes_per_leaf": nodes}
    fabric = {"packet": "4 KiB", "router_delay": "100 ns", "links": links}
    return {"kind": "fat-tree", **shape, "host": "none", "fabric": fabric}


SYSTEMS = {
    "tree": tree(8, 8, 8),
    "frontier": {"preset": "frontier", "fabric": ONE_NIC},
    "lumi": {"preset": "lumi", "fabric": ONE_NIC},
    "lumi, 4 NICs": {"preset": "lumi", "fabric": {}},
}


def controlled(system: dict, law: str) -> dict:
    return system | {"fabric": system["fabric"] | {"congestion_control": law}}


def goodput(system: dict, flows: int, message: str) -> float:
    """The time of the busiest link to node 0 for its bytes, over the time of the incast without a first byte's way."""
    apart = (machine.load(system).shape.nodes - 1) // flows

    def ran(message: str, senders: list[int]) -> tuple[float, float]:
        job = {
            "name": "incast",
            "place": {"policy": "explicit", "nodes": [0, *senders]},
            "app": {"motif": "incast", "message": message},
            "overhead": NO_HOST,
        }
        run = od.run(scenario.parse(tomlkit.dumps({"system": system, "job": [job]}), "incast.toml"))
        to_root = run.links.filter(pl.col("to_kind") == "node", pl.col("to_id") == 0)["bytes"].max()
        rate = run.resolved["spec"]["fabric"]["links"]["node"]["bandwidth"] / 1e6
        return run.jobs["time_ps"][0] / 1e12, to_root / rate

    senders = [apart * (place + 1) for place in range(flows)]
    way, _ = ran("1 B", senders[-1:])
    took, wire = ran(message, senders)
    return wire / (took - way)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize(
    ("system", "flows", "message"),
    [
        ("tree", 8, "64 KiB"),
        ("tree", 8, "16 MiB"),
        ("tree", 15, "1 MiB"),
        ("tree", 60, "1 MiB"),
        ("frontier", 8, "1 MiB"),
        ("frontier", 32, "256 KiB"),
        ("frontier", 1_023, "64 KiB"),
        ("lumi", 127, "1 MiB"),
    ],
)
def test_an_incast_that_ends_keeps_the_link_to_its_root_busy_to_the_end(system, flows, message, law):
    """Catches a law whose pairs stay slow when the others have ended: 0.5 to 0.6 with pauses of milliseconds."""
    assert goodput(controlled(SYSTEMS[system], law), flows, message) > 0.97


def test_the_preset_of_lumi_gathers_as_fast_as_without_control():
    """Four NICs, 511 senders of 1 MiB: 10.6 ms with pauses of milliseconds."""
    assert goodput(SYSTEMS["lumi, 4 NICs"], 511, "1 MiB") > 0.97


def shares(jobs: list[dict], system: dict, begin_ms: float, end_ms: float) -> list[float]:
    """What each sender puts on its link in a part of the run."""
    table = {"system": system, "job": jobs, "run": {"until": f"{end_ms} ms"}, "measure": {"series": True}}
    run = od.run(scenario.parse(tomlkit.dumps(table), "shares.toml"))
    senders = [node for job in jobs for node in job["place"]["nodes"][1:]]
    links = run.links.filter(pl.col("from_kind") == "node", pl.col("from_id").is_in(senders))
    part = run.series.join(links.select("link", "from_id"), on="link").filter(pl.col("start_ps") >= begin_ms * 1e9)
    sent = part.group_by("from_id").agg(pl.col("bytes").sum())["bytes"].to_list()
    assert len(sent) == len(senders)
    return sent


def jain(sent: list[float]) -> float:
    return sum(sent) ** 2 / (len(sent) * sum(of**2 for of in sent))


def flow(name: str, nodes: list[int], start: str = "0 s") -> dict:
    app = {"motif": "incast", "message": "1 GiB"}
    return {
        "name": name,
        "place": {"policy": "explicit", "nodes": nodes},
        "start": start,
        "app": app,
        "iterations": 1,
        "overhead": NO_HOST,
    }


@pytest.mark.parametrize("latency", ["50 ns", "53 ns", "500 ns"])
@pytest.mark.parametrize("law", LAWS)
def test_two_flows_on_one_uplink_come_to_equal_shares(law, latency):
    """The second begins 300 us later. DCTCP's flows reach 0.99 (Alizadeh 2010, figure 16). With one threshold for all
    packets, their marks follow the phase of their arrival, and shares stay at 2 : 1 (Jain's index 0.90)."""
    jobs = [flow("a", [8, 0]), flow("b", [9, 1], "300 us")]
    assert jain(shares(jobs, controlled(tree(2, 1, 8, latency), law), 3, 6)) > 0.99


@pytest.mark.parametrize("law", LAWS)
def test_four_flows_into_one_node_come_to_equal_shares(law):
    """With the least delay that each pair has seen as its delay without queues, four of `nscc` stay at 0.93."""
    assert jain(shares([flow("a", [8, 0, 1, 2, 3])], controlled(tree(2, 8, 8), law), 3, 6)) > 0.98


@pytest.mark.parametrize("law", LAWS)
def test_flows_that_begin_after_each_other_come_to_equal_shares(law):
    """Sixteen on one uplink, 50 us apart: who began in a queue has as much of the link as who did not."""
    jobs = [flow(f"flow{number}", [16 + number, number], f"{50 * number} us") for number in range(16)]
    assert jain(shares(jobs, controlled(tree(2, 1, 16), law), 3, 5)) > 0.98
