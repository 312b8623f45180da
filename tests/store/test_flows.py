"""Flow completion times: the ideal of a flow is what it takes alone, and slowdowns by hand."""

from __future__ import annotations

import csv

import polars as pl
import pytest

import odonata as od
from odonata import scenario
from odonata.store.flows import by_size

LINK = {"bandwidth": "100 Gbit/s", "latency": "250 ns"}
SLOW = {"bandwidth": "30 Gbit/s", "latency": "700 ns"}
#: Kind, its links, and a pair of nodes that one shortest path joins, or several that are alike.
MACHINES = {
    "switch": ({"kind": "graph", "links": {"generator": "switch", "nodes": 6}}, {"node": LINK}, (1, 4)),
    "torus": (
        {"kind": "graph", "links": {"generator": "torus", "dimensions": [4, 3]}},
        {"node": LINK, "link": SLOW},
        (0, 7),
    ),
    "fat-tree": (
        {"kind": "fat-tree", "pods": 2, "leaves": 2, "spines": 2, "cores": 4, "nodes_per_leaf": 2},
        {"node": LINK, "leaf": SLOW, "core": LINK},
        (0, 6),
    ),
    "hyperx": (
        {"kind": "hyperx", "dimensions": [2, 3], "nodes_per_router": 2},
        {"node": LINK, "dim1": LINK, "dim2": LINK},
        (0, 11),
    ),
    "dragonfly": (
        {"kind": "dragonfly", "groups": 3, "routers": 2, "nodes_per_router": 2, "global_links_per_router": 1},
        {"node": SLOW, "local": LINK, "global": SLOW},
        (0, 11),
    ),
}  # fmt: skip
FABRICS = {
    "plain": {},
    "cut-through": {"switching": "cut-through", "header": "62 B", "flit": "32 B"},
    "headers": {"header": "26 B", "nic": {"overhead": "77 ns"}},
    "crossbar": {"router": {"kind": "virtual-output-queued", "crossbar": "300 Gbit/s"}},
    "slow crossbar": {"router": {"kind": "input-queued", "crossbar": "20 Gbit/s"}, "switching": "cut-through"},
}
HOSTS = {
    "none": "none",
    "costs": {
        "send": "1 us",
        "receive": "2 us",
        "copy": "7 GB/s",
        "eager": "4 KiB",
        "rendezvous": "3 us",
        "header": "40 B",
    },
    "by size": {
        "eager": "8 KiB",
        "by_size": [
            {"size": "1 KB", "send": "1 us", "receive": "1 us", "delay": "1 us"},
            {"size": "30 KB", "send": "500 ns", "receive": "1 us"},
            {"size": "1 MB", "send": "13 us", "receive": "1 us"},
        ],
    },
}  # fmt: skip
BIG = {"buffer": "4 MiB"}


def flows_of(tmp_path, system, lines, **job):
    (tmp_path / "f.csv").write_text("".join(f"{line}\n" for line in lines))
    job = {"name": "a", "app": {"flows": "f.csv"}, **job}
    # A flow keeps to one path.
    routing = {"name": "up-down" if system["kind"] == "fat-tree" else "minimal"}
    key = {"dragonfly": None, "fat-tree": "spread"}.get(system["kind"], "select")
    routing |= {key: "hash"} if key else {}
    return od.run(scenario.load({"system": system, "routing": routing, "job": [job]}, folder=tmp_path))


def machine(kind, fabric="plain", host="none"):
    shape, links, ends = MACHINES[kind]
    links = {name: {**link, **BIG} for name, link in links.items()}
    return {**shape, "host": HOSTS[host], "fabric": {"packet": "4 KiB", **FABRICS[fabric], "links": links}}, ends


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("fabric", FABRICS)
@pytest.mark.parametrize("kind", MACHINES)
def test_a_flow_alone_has_a_slowdown_of_exactly_one(tmp_path, kind, fabric, host):
    """Flows far apart, of one byte to many packets, to the picosecond."""
    system, ends = machine(kind, fabric, host)
    sizes = [1, 4095, 4096, 4097, 9_000, 16_385, 900_000, 3_000_001]
    lines = [f"0,1,{size} B,{number * 10} ms" for number, size in enumerate(sizes)]
    run = flows_of(tmp_path, system, lines, place={"policy": "explicit", "nodes": list(ends)})
    assert run.flow_times["fct_ps"].to_list() == run.flow_times["ideal_ps"].to_list()
    assert run.flow_times["slowdown"].to_list() == [1.0] * len(sizes)
    assert run.flow_times["start_ps"].to_list() == [number * 10**10 for number in range(len(sizes))]


def test_an_incast_of_n_has_a_slowdown_of_about_n(tmp_path):
    """n flows share the link of their destination packet by packet, so all end at about n times the ideal."""
    system, _ = machine("switch")
    run = flows_of(tmp_path, system, [f"{source},5,4 MB,0 s" for source in range(5)])
    assert run.flow_times["slowdown"].min() > 4.9
    assert run.flow_times["slowdown"].max() < 5.01
    (job,) = run.summary["jobs"]
    (row,) = job["flows"]["by_size"]
    assert (row["flows"], row["bytes_least"], row["bytes_most"]) == (5, 4_000_000, 4_000_000)
    assert row["slowdown"]["mean"] == pytest.approx(run.flow_times["slowdown"].mean())
    assert "5 of 5 flows complete; slowdown over the ideal: mean 4.9" in str(run)


def test_flows_of_one_pair_are_told_apart_by_start_and_host(tmp_path):
    """The second line starts first, and the third one overtakes the first: its copy is shorter."""
    system, ends = machine("switch", host="costs")
    lines = ["0,1,4000,20 us", "0,1,64,1 us", "0,1,8,20 us"]
    flows = flows_of(tmp_path, system, lines, place={"policy": "explicit", "nodes": list(ends)}).flow_times
    assert flows["bytes"].to_list() == [4000, 64, 8]
    assert flows["start_ps"].to_list() == [20_000_000, 1_000_000, 20_000_000]
    assert flows["slowdown"][1] == 1.0


def test_iterations_have_rows_of_their_own(tmp_path):
    system, _ = machine("switch")
    flows = flows_of(tmp_path, system, ["0,1,4 KiB,1 us", "2,1,4 KiB,2 us"], iterations=3).flow_times
    assert flows.select("iteration", "flow").rows() == [(i, f) for i in range(3) for f in range(2)]


def test_flows_inside_a_node_take_its_memory(tmp_path):
    system, _ = machine("switch")
    system["host"] = {"send": "0 s", "receive": "0 s", "copy": "10 GB/s", "memory": "300 ns"}
    flows = flows_of(tmp_path, system, ["0,1,1 KB"], ranks_per_node=2).flow_times
    assert flows.select("fct_ps", "ideal_ps").rows() == [(400_000, 400_000)]


def test_an_adaptive_routing_is_compared_with_minimal_paths(tmp_path):
    """From router 0 to its neighbour: half of the detours are longer."""
    system, _ = machine("torus")
    (tmp_path / "f.csv").write_text("".join(f"0,1,1 KB,{number} ms\n" for number in range(20)))
    job = {"name": "a", "app": {"flows": "f.csv"}}
    run = od.run(scenario.load({"system": system, "routing": "valiant", "job": [job]}, folder=tmp_path))
    assert run.flow_times["ideal_ps"].n_unique() == 1
    assert run.flow_times["slowdown"].min() >= 1
    assert run.flow_times["slowdown"].mean() > 1.5


def test_flows_that_are_cut_off_have_no_completion_time(tmp_path):
    system, _ = machine("switch")
    (tmp_path / "f.csv").write_text("0,1,1 MB\n2,3,1 MB,10 us\n")
    job = {"name": "a", "app": {"flows": "f.csv"}}
    document = {"system": system, "job": [job], "run": {"until": "85 us"}}
    run = od.run(scenario.load(document, folder=tmp_path), out=tmp_path / "run")
    assert run.flow_times["fct_ps"].is_null().to_list() == [False, True]
    assert "a: 1 of 2 flows complete" in str(run)


def test_without_an_ideal_completion_times_are_printed_alone(tmp_path):
    system, _ = machine("switch")
    system["fabric"]["nic"] = {"kind": "aries"}
    run = flows_of(tmp_path, system, ["0,1,1 MB"])
    assert run.flow_times.select("ideal_ps", "slowdown").rows() == [(None, None)]
    assert "completion time: mean" in str(run)
    assert "slowdown p50" not in str(run)


def test_other_jobs_have_no_flows_and_no_file(tmp_path):
    system, _ = machine("switch")
    app = {"pattern": "uniform-random", "message": "4 KB", "interval": "1 us", "messages": 2}
    run = od.run(scenario.load({"system": system, "job": [{"name": "a", "nodes": 4, "app": app}]}), out=tmp_path / "r")
    assert run.flow_times.is_empty()
    assert not (tmp_path / "r" / "flow_times.parquet").exists()
    assert "flows" not in run.summary["jobs"][0]


def test_a_run_folder_keeps_its_flows(tmp_path):
    system, _ = machine("switch")
    (tmp_path / "f.csv").write_text("0,1,1 MB\n2,1,1 MB\n")
    given = scenario.load({"system": system, "job": [{"name": "a", "app": {"flows": "f.csv"}}]}, folder=tmp_path)
    made = od.run(given, out=tmp_path / "run")
    assert od.open(tmp_path / "run").flow_times.equals(od.run(given).flow_times)
    assert made.summary["jobs"][0]["flows"]["complete"] == 2


def test_sizes_are_in_bins_of_five_percent():
    """100 flows of 1 to 100 B: bins of five, whose quantiles are ranks; equal sizes share a bin."""
    flows = pl.DataFrame({"bytes": list(range(1, 101)), "fct_ps": list(range(100, 200)), "slowdown": [1.0] * 100})
    bins = by_size(flows)
    assert [(row["bytes_least"], row["bytes_most"], row["flows"]) for row in bins[:2]] == [(1, 5, 5), (6, 10, 5)]
    assert len(bins) == 21
    assert bins[0]["fct_ps"] == {"p50": 102, "p95": 104, "p99": 104, "mean": 102.0}
    assert bins[-1]["fct_ps"] == {"p50": 149, "p95": 194, "p99": 198, "mean": 149.5}
    alike = flows.with_columns(bytes=pl.Series([10] * 97 + [20] * 3))
    assert [row["flows"] for row in by_size(alike)] == [97, 3, 100]


def test_the_flows_of_a_run_are_exported_as_csv(tmp_path):
    system, _ = machine("switch")
    (tmp_path / "f.csv").write_text("0,1,1 MB\n2,1,64\n")
    given = scenario.load({"system": system, "job": [{"name": "a", "app": {"flows": "f.csv"}}]}, folder=tmp_path)
    run = od.run(given, out=tmp_path / "run")
    out = tmp_path / "fct.csv"
    from odonata.cli.main import main

    assert main(["export", str(tmp_path / "run"), "--format", "flows", "-o", str(out)]) == 0
    rows = list(csv.DictReader(out.read_text().splitlines()))
    assert [int(row["fct_ps"]) for row in rows] == run.flow_times["fct_ps"].to_list()
    assert [row["job"] for row in rows] == ["a", "a"]


def test_a_run_of_few_flows_names_the_unit_of_its_completion_times(tmp_path):
    """No iteration is complete, so the table of programs has no time of its own to take the unit of."""
    system, _ = machine("switch")
    (tmp_path / "f.csv").write_text("0,1,1 kB\n2,3,1 MB,10 us\n")
    job = {"name": "a", "app": {"flows": "f.csv"}}
    document = {"system": system, "job": [job], "run": {"until": "15 us"}}
    printed = str(od.run(scenario.load(document, folder=tmp_path)))
    assert "times of programs and of iterations (first begin to last end)" in printed
    units = {word for line in printed.splitlines() if "times" in line for word in line.split() if word in ("ps", "ns")}
    assert units == {"ns"}, printed
    assert "1.000 kB" in printed, "as the report has it"


def test_without_any_time_there_is_no_unit(tmp_path):
    system, _ = machine("switch")
    (tmp_path / "f.csv").write_text("0,1,1 MB\n2,3,1 MB,10 us\n")
    job = {"name": "a", "app": {"flows": "f.csv"}}
    document = {"system": system, "job": [job], "run": {"until": "5 us"}}
    printed = str(od.run(scenario.load(document, folder=tmp_path)))
    assert "(first begin to last end)\n" in printed
    assert "in ps" not in printed
