"""A way to provoke every error of the core, by its code."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from odonata import _core

from .conftest import SPEC, TOPOLOGY

DRAGONFLY: dict[str, Any] = {
    "kind": "dragonfly",
    "groups": 3,
    "routers": 2,
    "nodes_per_router": 2,
    "global_links_per_router": 2,
    "arrangement": "absolute",
}
TREE: dict[str, Any] = {
    "kind": "fat-tree",
    "pods": 1,
    "leaves": 4,
    "spines": 2,
    "cores": 0,
    "nodes_per_leaf": 2,
    "leaf_links": 1,
    "core_links": 1,
}
GRAPH = {
    "kind": "graph",
    "routers": 4,
    "nics": [0, 1, 2],
    "weights": [1],
    "links": [[0, 3, 1], [1, 3, 1], [2, 3, 1]],
}
HYPERX: dict[str, Any] = {
    "kind": "hyperx",
    "dimensions": [3, 2],
    "dimension_links": [1, 1],
    "nodes_per_router": 2,
}
COSTS = {"send_ps": 0, "receive_ps": 0, "copy": None, "memory_ps": 0, "eager_bytes": 4_000, "control_bytes": 64}
CROSSBAR = {
    "kind": "input-queued",
    "crossbar": 10**16,
    "output_buffer_bytes": 8_192,
    "arbitration": "least-recently-served",
}
ARIES = {"packet_bytes": 64, "window": 1_024, "operation": "put", "cycle_ps": 1}
TRAFFIC_CLASS = {"name": "bulk", "priority": 0, "share": 1}
VALIANT = {"name": "valiant", "via": "spine", "select": "random"}
FPAR = {"name": "fpar", "threshold_ppm": 0, "compare": "below", "candidates": "one-group"}

Provoke = Callable[[], object]


def edited(*changes: tuple[str, Any]) -> str:
    """The specification as JSON with values at dotted paths: `("jobs.0.nodes", [0, 1])`."""
    spec = json.loads(json.dumps(SPEC))
    for path, value in changes:
        *inner, last = (int(part) if part.isdigit() else part for part in path.split("."))
        at: Any = spec
        for part in inner:
            at = at[part]
        at[last] = value
    return json.dumps(spec)


def check(*changes: tuple[str, Any]) -> Provoke:
    """Asks for a specification with these changes."""
    return lambda: _core.check(edited(*changes))


def run(*changes: tuple[str, Any]) -> Provoke:
    """Runs a specification with these changes."""
    return lambda: _core.run(edited(*changes))


def plus(failures: Mapping[str, Any] | None = None, **changes: Any) -> Provoke:
    """Wires a Dragonfly+ with these changes; None takes a key away."""
    return _wire(TOPOLOGY, changes, failures)


def tree(**changes: Any) -> Provoke:
    """Wires a fat tree with these changes."""
    return _wire(TREE, changes, None)


def graph(failures: Mapping[str, Any] | None = None, **changes: Any) -> Provoke:
    """Wires a graph with these changes."""
    return _wire(GRAPH, changes, failures)


def hyperx(failures: Mapping[str, Any] | None = None, **changes: Any) -> Provoke:
    """Wires a HyperX with these changes."""
    return _wire(HYPERX, changes, failures)


def direct(failures: Mapping[str, Any] | None = None, **changes: Any) -> Provoke:
    """Wires a dragonfly with these changes."""
    return _wire(DRAGONFLY, changes, failures)


def _wire(base: Mapping[str, Any], changes: Mapping[str, Any], failures: Mapping[str, Any] | None) -> Provoke:
    topology = {key: value for key, value in {**base, **changes}.items() if value is not None}
    return lambda: _core.Machine(json.dumps(topology), json.dumps(failures or {}))


def on_direct(*changes: tuple[str, Any]) -> Provoke:
    """A specification for a dragonfly."""
    routing = {"name": "minimal", "select": "random", "gateways": "all"}
    return check(("topology", DRAGONFLY), ("routing", routing), *changes)


def program(
    body: Mapping[str, Any], *changes: tuple[str, Any], ranks: int = 4, ask: Callable[..., Provoke] = check
) -> Provoke:
    """A job that runs a program, on the nodes from 0 on."""
    told = {"start_ps": 0, "iterations": 1, "gap_ps": 0, "costs": COSTS, "body": body}
    job = {"name": "p", "nodes": list(range(ranks)), "program": told, "record": "histogram"}
    return ask(("jobs", [job]), ("stop.jobs", [0]), *changes)


def gpus(count: int, network: Mapping[str, Any]) -> Provoke:
    """A program whose nodes have so many GPUs, with one NIC for two of them."""
    body = {"name": "phases", "phases": [{"what": {"name": "compute", "ps": 1, "jitter_ps": 0}}]}
    return program(body, ("jobs.0.program.gpus", {"count": count, "nics": [0, 0], "network": network}))


def mesh(*links: list[int]) -> dict[str, Any]:
    """Links between GPUs."""
    return {"kind": "mesh", "links": list(links), "latency_ps": 0}


def phase(name: str, *, ranks: int = 4, along: Mapping[str, Any] | None = None, **options: Any) -> Provoke:
    """A program of one phase."""
    only = {"what": {"name": name, **options}} | ({} if along is None else {"along": along})
    return program({"name": "phases", "phases": [only]}, ranks=ranks)


def stages(*nodes: list[dict[str, Any]]) -> dict[str, Any]:
    """A body of stages without collectives."""
    return {"name": "stages", "collectives": [], "stages": list(nodes)}


def goal(*ranks: str) -> str:
    """A GOAL text of ranks with these lines."""
    blocks = "".join(f"rank {n} {{\n{lines}\n}}\n" for n, lines in enumerate(ranks))
    return f"num_ranks {len(ranks)}\n{blocks}"


def read(text: str, form: str = "goal") -> Provoke:
    """Reads a trace."""
    return lambda: _core.read_trace(text.encode(), form)


def table(rows: str) -> Provoke:
    """Reads a CSV trace with these rows."""
    return read(f"rank,operation,peer,bytes,tag,time\n{rows}\n", "csv")


def write(text: str) -> Provoke:
    """Writes a GOAL text of one rank as CSV."""
    return lambda: _core.write_trace(json.dumps({"name": "trace", "goal": text}), 1, "csv")


def binary() -> bytes:
    """One rank that computes and computes again, as binary GOAL."""
    body = {"name": "trace", "goal": goal("a: calc 1\nb: calc 2\nb requires a")}
    return _core.write_trace(json.dumps(body), 1, "bin")


def spoilt(at: int, value: int, size: int) -> Provoke:
    """Reads that file with another number of `size` bytes at a place."""

    def provoke() -> object:
        data = bytearray(binary())
        data[at : at + size] = value.to_bytes(size, "little")
        return _core.read_trace(bytes(data), "bin")

    return provoke


def varint(number: int) -> bytes:
    """A number as protobuf has it."""
    return bytes([number & 127 | 128]) + varint(number >> 7) if number > 127 else bytes([number])


def node(number: int, kind: int, *, wait: int | None = None, **attributes: int | str) -> bytes:
    """A node of a Chakra trace, with the length before it."""
    data = b"\x08" + varint(number) + b"\x12\x01n\x18" + varint(kind)
    data += b"" if wait is None else b"\x28" + varint(wait)
    for name, value in attributes.items():
        text = value if isinstance(value, str) else ""
        told = b"\xea\x01" + varint(len(text)) + text.encode() if text else b"\x48" + varint(int(value))
        attribute = b"\x0a" + varint(len(name)) + name.encode() + told
        data += b"\x52" + varint(len(attribute)) + attribute
    return varint(len(data)) + data


def chakra(*files: bytes, ranks: int | None = None, **options: Any) -> Provoke:
    """Reads a Chakra trace; its collectives are barriers."""
    phases = json.dumps([{"what": {"name": "barrier", "algorithm": "dissemination"}}])
    given = json.dumps(options)
    return lambda: _core.read_chakra(files, ranks or len(files), given, lambda *_: phases)


_REDUCE = node(1, 7, comm_type=0, comm_size=8)
_CALL = {"cpu": 0, "after": [], "what": {"name": "compute", "ps": 1}}

_SPINES = {"global_links_per_spine": 1, "links_per_pair": None, "arrangement": None}
_HALO = {"grid": [2, 2, 1], "periodic": False, "face_bytes": [8, 8, 8], "edge_bytes": [0, 0, 0], "corner_bytes": 0}
_SWEEP = {"grid": [2, 2], "blocks": 1, "x_bytes": 1, "y_bytes": 1, "compute_ps": 0, "sweeps": 1}
_OTHER = {"name": "minimal", "select": "hash"}
_NO_LATENCY = ("fabric.links", {name: {**link, "latency_ps": 0} for name, link in SPEC["fabric"]["links"].items()})
_COMPAT = ("compat", "codes-2019")
_UNJOINED = {key: value for key, value in DRAGONFLY.items() if key != "arrangement"} | {"global_links": [[0, 2]]}
_ROUTER_CUT = {"links": [[0, 2], [0, 3]]}


def _many_routings() -> Provoke:
    nodes = [[n, 11 - n] for n in range(6)] + [[12 + n, 23 - n] for n in range(6)]
    jobs = [{**SPEC["jobs"][0], "name": str(n), "nodes": pair} for n, pair in enumerate(nodes[:9])]
    for n, job in enumerate(jobs):
        job["routing"] = {"name": "prog-adaptive", "threshold_bytes": n, "factor_milli": 1, "candidates": "all-groups"}
    return check(("topology.nodes_per_leaf", 4), ("jobs", jobs), ("stop.jobs", [0]))


#: Code -> what provokes it.
PROVOKED: dict[str, Provoke] = {
    "out-of-range": check(("fabric.packet_bytes", 0)),
    "zero": plus(leaves=0),
    "grid-of-other-size": check(("jobs.0.traffic.pattern", {"name": "stencil-3d", "grid": [2, 2, 2]})),
    "root-not-a-rank": check(("jobs.0.traffic.pattern", {"name": "broadcast", "root": 9})),
    "no-bandwidth": check(("fabric.links.local.bandwidth", 0)),
    "too-few-global-ports": plus(links_per_pair=5),
    "too-many-groups": plus(groups=10, links_per_pair=None),
    "group-lacks-ports": plus(pair_links=[[0, 1, 7]]),
    "last-group-lacks-ports": direct(groups=4, last_group_routers=1),
    "uneven-parallel-links": plus(arrangement="parallel", links_per_pair=3),
    "last-group-too-large": plus(last_group_leaves=3),
    "machine-too-large": plus(groups=65_536),
    "beside-global-links": plus(global_links=[[2, 6]]),
    "missing-arrangement": plus(arrangement=None),
    "missing-seed": direct(arrangement="random"),
    "needless-seed": direct(arrangement_seed=1),
    "uneven-rails": direct(rails=3),
    "uneven-rail-routers": direct(rails=3, rails_on="different-routers"),
    "uneven-rail-leaves": tree(rails=3, rails_on="different-leaves"),
    "uneven-cores": tree(pods=2, cores=3),
    "needless-cores": tree(cores=2),
    "number-of-dimensions": hyperx(dimensions=[2, 2, 2, 2]),
    "links-of-dimensions": hyperx(dimension_links=[1]),
    "uneven-nics": graph(rails=2),
    "link-to-itself": graph(links=[[0, 1, 1], [2, 2, 1]]),
    "nodes-out-of-order": graph(nics=[0, 2, 1]),
    "routers-out-of-order": graph(nics=[0, 1, 3]),
    "no-such-router": plus(**_SPINES, global_links=[[2, 12]]),
    "no-such-group": plus(pair_links=[[0, 3, 1]]),
    "not-a-spine": plus(**_SPINES, global_links=[[2, 4]]),
    "same-group": plus(**_SPINES, global_links=[[2, 3]]),
    "too-many-links-of-router": plus(**_SPINES, global_links=[[2, 6], [2, 10]]),
    "pair-of-one-group": plus(pair_links=[[1, 1, 1]]),
    "pair-again": plus(pair_links=[[0, 1, 1], [1, 0, 2]]),
    "no-such-port": plus({"links": [[0, 9]]}),
    "port-to-node": plus({"links": [[0, 0]]}),
    "group-cut-apart": direct({"links": [[0, 2]]}),
    "leaves-cut-apart": plus(_ROUTER_CUT),
    "routers-cut-apart": hyperx({"links": [[0, 2], [0, 3], [0, 4]]}),
    "groups-cut-apart": on_direct(("topology", _UNJOINED)),
    "unreadable-specification": lambda: _core.check("{"),
    "unsupported-version": check(("version", 99)),
    "window-ends-early": check(("measure", {"from_ps": 50, "until_ps": 20, "arrivals_every_ps": None})),
    "other-classes": check(("fabric.links", {"node": SPEC["fabric"]["links"]["node"]})),
    "unknown-class": check(("sensing", {"kind": "credits", "delay_ps": {"optical": 5}})),
    "packet-on-wire-too-large": check(("fabric.packet_bytes", 65_530), ("fabric.header_bytes", 32)),
    "slow-link": check(("fabric.links.local.bandwidth", 100_000)),
    "application-aware-without-counters": on_direct(
        (
            "routing",
            {
                "name": "application-aware",
                "policy": "app-aware",
                "bias_high_bytes": 0,
                "threshold_bytes": 4096,
                "sample_age": 64,
                "latency_ratio_ppm": 800_000,
                "stall_ratio_ppm": 1_300_000,
                "margin_ppm": 50_000,
                "dwell": 8,
                "gateways": "all",
            },
        )
    ),
    "aries-in-order": check(("fabric.nic", SPEC["fabric"]["nic"] | {"aries": ARIES, "delivery": "in-order"})),
    "reps-without-marks": check(("fabric.nic", SPEC["fabric"]["nic"] | {"entropy": "reps"})),
    "reps-without-spraying": check(
        ("fabric.nic", SPEC["fabric"]["nic"] | {"entropy": "reps"}),
        ("fabric.congestion_control", {"law": "ecn-window", "window_bytes": 65_536, "mark_above_bytes": 1}),
        ("routing", {"name": "minimal", "select": "hash"}),
    ),
    "two-windows": check(("fabric.nic", SPEC["fabric"]["nic"] | {"aries": ARIES, "window_bytes": 65_536})),
    "fixed-acknowledgements": check(("fabric.nic", SPEC["fabric"]["nic"] | {"acknowledge_every": 4})),
    "marks-of-no-port": check(
        (
            "fabric.congestion_control",
            {"law": {"receiver-credit": {"ahead_bytes": 4_096}}, "window_bytes": 4_096, "mark_above_bytes": 0},
        )
    ),
    "no-such-traffic-class": check(("jobs.0.class", 1)),
    "traffic-class-twice": check(("fabric.traffic_classes", [TRAFFIC_CLASS, TRAFFIC_CLASS])),
    "not-with-traffic-classes": check(("fabric.traffic_classes", [TRAFFIC_CLASS]), ("measure.blame", True)),
    "cycle-too-long": check(("fabric.nic.aries", ARIES | {"cycle_ps": 10_000})),
    "roots-without-blame": check(("measure.roots", True)),
    "no-output-buffers": check(("sensing", {"kind": "output-buffer"})),
    "buffer-out-of-range": check(("fabric.links.global.buffer_bytes", 100)),
    "job-count": check(("jobs", [])),
    "job-name-taken": check(("jobs.1.name", "every")),
    "no-such-node": check(("jobs.1.nodes", [1, 2, 99])),
    "node-twice": check(("jobs.0.nodes", [0, 0])),
    "node-taken": check(("jobs.1.nodes", [1, 2, 0])),
    "node-failed": check(("failures", {"routers": [0]})),
    "same-node": lambda: _core.Machine(json.dumps(SPEC["topology"])).routes(json.dumps(SPEC), 3, 3, 1),
    "too-few-ranks": check(("jobs.0.nodes", [0])),
    "traffic-or-program": check(("jobs.0.traffic", None)),
    "nics-of-gpus": gpus(3, mesh([0, 1, 1], [1, 2, 1])),
    "gpu-link-again": gpus(2, mesh([0, 1, 1], [1, 0, 1])),
    "gpus-apart": gpus(2, mesh()),
    "no-end": check(("stop.jobs", [])),
    "no-such-job": check(("stop.jobs", [2])),
    "endless-job": check(("jobs.0.traffic.intervals", None)),
    "offset-to-self": check(("jobs.1.traffic.pattern", {"name": "tornado", "offset": 3})),
    "shift-to-self": check(("jobs.0.traffic.pattern", {"name": "group-shift", "shift": 3})),
    "one-group": check(("jobs.1.nodes", [1, 2]), ("jobs.1.traffic.pattern", {"name": "group-peers"})),
    "unequal-groups": check(("jobs.1.nodes", [1, 2, 4]), ("jobs.1.traffic.pattern", {"name": "group-peers"})),
    "endless-iterations": program(
        {"name": "phases", "phases": [{"what": {"name": "compute", "ps": 0, "jitter_ps": 0}}]},
        ("jobs.0.program.iterations", None),
        ("stop", {"jobs": [], "at_ps": 1_000}),
        ask=run,
    ),
    "routing-not-for-machine": on_direct(("routing", {**FPAR, "channel_switch": "intermediate"})),
    "via-not-for-machine": on_direct(("routing", {**VALIANT, "gateways": "all"})),
    "needless-inside": check(
        ("routing", {"name": "valiant", "via": "spine", "select": "random", "inside": "router"}),
    ),
    "needless-gateways": check(("routing.gateways", "all")),
    "missing-gateways": on_direct(("routing", {"name": "minimal", "select": "random"})),
    "different-gateways": on_direct(("jobs.0.routing", {"name": "minimal", "select": "random", "gateways": "nearest"})),
    "too-few-channels": check(("routing", VALIANT), ("fabric.channels", 1)),
    "dimension-order-with-failures": check(
        ("topology", HYPERX),
        ("routing", {"name": "dimension-order", "select": "random"}),
        ("failures", {"links": [[0, 2]]}),
        ("fabric.links", dict.fromkeys(["node", "dim1", "dim2"], SPEC["fabric"]["links"]["node"])),
    ),
    "via-leaf-with-failures": check(("routing", {**VALIANT, "via": "leaf"}), ("failures", {"links": [[0, 2]]})),
    "too-many-routings": _many_routings(),
    "could-deadlock": check(("routing", {**FPAR, "channel_switch": "intermediate-leaf"})),
    "compat-other-value": check(_COMPAT, ("fabric.channels", 3)),
    "compat-not-zero": check(_COMPAT, ("fabric.channels", 2)),
    "compat-unsupported": check(_COMPAT, ("fabric.channels", 2), _NO_LATENCY, ("jobs.0.routing", _OTHER)),
    "phase-count": program({"name": "phases", "phases": []}),
    "no-such-axis": phase("barrier", algorithm="dissemination", along={"grid": [2, 2], "axis": 2}),
    "collective-too-large": phase("alltoall", algorithm="linear-shift", bytes=2**41),
    "no-partner": phase("ping-pong", stride=3, bytes=1, rounds=1),
    "faces-only": phase("halo", **_HALO | {"corner_bytes": 1, "order": "axis-by-axis"}),
    "nothing-to-send": phase("halo", **_HALO | {"face_bytes": [0, 0, 0], "order": "axis-by-axis"}),
    "pair-order": phase("matrix", pairs=[[1, 0, 8, 1], [0, 1, 8, 1]]),
    "too-many-messages": phase("sweep", **_SWEEP | {"blocks": 2**31, "sweeps": 2**31}),
    "stage-order": program(stages([{"cpu": 0, "after": [0], "what": {"name": "compute", "ps": 1}}])),
    "stage-message": program(
        stages([{"cpu": 0, "after": [], "what": {"name": "send", "stage": 0, "tag": 0, "bytes": 8}}])
    ),
    "trace-of-other-ranks": program({"name": "trace", "goal": goal("calc 1")}),
    "unexpected": read(goal("l1: sned 8b to 1")),
    "unknown-name": table("0,snd,1,5,,"),
    "second-time": read(goal("a: calc 1\na: calc 2")),
    "open-rank": read("num_ranks 1\nrank 0 {\ncalc 1\n"),
    "open-comment": read("num_ranks 1 /* one"),
    "not-whole": read(goal("send 1.5b to 0")),
    "too-large": read(goal("calc 1 cpu 4294967296")),
    "trace-without-ranks": read("num_ranks 0"),
    "missing-rank": read("num_ranks 2\nrank 0 {\n}\n"),
    "no-such-rank": read(goal("send 8b to 3")),
    "any-source": read(goal("recv 8b from -1")),
    "any-tag": read(goal("recv 8b from 0 tag -1")),
    "unknown-label": read(goal("first: calc 1\nfirst requires frist")),
    "cycle-of-operations": read(goal("a: calc 1\nb: calc 2\na requires b\nb requires a")),
    "no-header": read("", "csv"),
    "no-rows": table(""),
    "missing-column": read("rank,peer\n0,1\n", "csv"),
    "too-many-fields": read("rank,operation\n0,wait,1\n", "csv"),
    "rank-without-rows": table("1,compute,,,,1ns"),
    "missing-field": table("0,compute,,,,"),
    "needless-field": table("0,send,1,5,,1ns"),
    "nothing-to-wait-for": table("0,wait,0,,5,"),
    "unmatched": read(goal("send 8b to 1 tag 3", "recv 8b from 0 tag 4")),
    "unequal-sizes": read(goal("send 8b to 1", "recv 1b from 0")),
    "not-a-time": table("0,compute,,,,soon"),
    "no-unit": table("0,compute,,,,5"),
    "negative-time": table("0,compute,,,,-1 ns"),
    "time-too-long": table("0,compute,,,,1e300 s"),
    "fraction-of-picosecond": table("0,compute,,,,0.5 ps"),
    "random-compute": lambda: _core.write_trace(
        json.dumps({"name": "phases", "phases": [{"what": {"name": "compute", "ps": 5, "jitter_ps": 1}}]}), 1, "csv"
    ),
    "csv-cpu": write(goal("calc 1 cpu 1")),
    "csv-nic": write(goal("a: send 1b to 0 nic 1\nb: recv 1b from 0")),
    "csv-order": write(goal("calc 1\ncalc 2")),
    "too-many-cpus": read(goal("\n".join(f"calc 1 cpu {n}" for n in range(65_537)))),
    "binary-as-text": lambda: _core.read_trace(binary(), "goal"),
    "not-utf8": lambda: _core.read_trace(b"num_ranks \xff", "goal"),
    "short-file": lambda: _core.read_trace(binary()[:9], "bin"),
    "spoilt-file": spoilt(0, 2342, 8),
    "not-binary-goal": spoilt(0, 7, 8),
    "long-rank-table": spoilt(8, 1_000, 4),
    "rank-misplaced": spoilt(14, 1, 8),
    "rank-beyond-file": spoilt(22, 10_000, 8),
    "short-rank": spoilt(22, 23, 8),
    "bytes-of-no-rank": lambda: _core.read_trace(binary() + b"1234", "bin"),
    "too-many-operations": spoilt(30, 1_000, 4),
    "dependencies-do-not-fit": spoilt(42 + 23, 2, 4),
    "followers-outside": spoilt(42 + 27, 5, 4),
    "no-such-follower": spoilt(120, 9, 4),
    "waits-disagree": spoilt(42, 5, 4),
    "root-disagrees": spoilt(38, 1, 4),
    "bad-root": spoilt(38, 9, 4),
    "unknown-operation": spoilt(42 + 4, 9, 1),
    "compute-too-long": spoilt(42 + 9, 2**63, 8),
    "chakra-truncated": chakra(b"\x05ab"),
    "chakra-unreadable": chakra(b"\x02\x0a\x09"),
    "chakra-without-nodes": chakra(b""),
    "chakra-node-type": chakra(node(1, 9)),
    "chakra-second-node": chakra(node(1, 4) + node(1, 4)),
    "chakra-missing-node": chakra(node(1, 4, wait=2)),
    "chakra-cycle": chakra(node(1, 4, wait=2) + node(2, 4, wait=1)),
    "chakra-missing-value": chakra(node(1, 5)),
    "chakra-bad-value": chakra(node(1, 5, comm_dst="x")),
    "chakra-needs-key": chakra(node(1, 4, num_ops=5)),
    "chakra-unknown-group": chakra(node(1, 7, comm_type=0, comm_size=8, pg_name="a"), groups={"b": [0]}),
    "chakra-bad-group": chakra(node(1, 7, comm_type=0, comm_size=8, pg_name="a"), groups={"a": [0, 0]}),
    "chakra-collectives-differ": chakra(_REDUCE, node(1, 7, comm_type=2, comm_size=9)),
    "chakra-collective-missing": chakra(_REDUCE, node(1, 4)),
    "chakra-collective": chakra(node(1, 7, comm_type=3)),
    "chakra-too-long": chakra(b"".join(node(n, 4) for n in range(1, 42)), ranks=1_000_000),
    "too-many-nodes": lambda: _core.write_trace(
        json.dumps({"name": "stages", "collectives": [], "stages": [[_CALL, _CALL, _CALL]]}), 400_000_000, "goal"
    ),
    "binary-limit": lambda: _core.write_trace(json.dumps({"name": "trace", "goal": goal("calc 1ps")}), 1, "bin"),
    "deadlocked-program": program(
        {
            "name": "trace",
            "goal": goal(
                "r: recv 8b from 1\ns: send 8b to 1\ns requires r",
                *["r: recv 8b from 0\ns: send 8b to 0\ns requires r"],
            ),
        },
        ranks=2,
        ask=run,
    ),
    "time-overflow": program({"name": "trace", "goal": goal("calc 9000000s\ncalc 9000000s", "")}, ranks=2, ask=run),
}

#: Code -> parameters, for errors that only the tests in Rust can provoke: machines or texts of many gigabytes, states
#: that the checks before a run exclude, and ports without a cable, which no machine of today has.
IN_RUST: dict[str, dict[str, Any]] = {
    "too-many-vcs": {"ports": 2_250_000, "channels": 16, "most": 2**25},
    "too-many-cables": {"found": 65_537, "most": 65_536},
    "too-many-windows": {},
    "too-many-spines": {"routing": "valiant", "found": 65, "most": 64},
    "no-such-model": {},
    "defect-without-model": {},
    "unused-port": {"router": 2, "port": 5},
    "other-machine": {},
    "compat-whole-percent": {"model": "codes-2019", "found_ppm": 505_000},
    "compat-too-many-packets": {"model": "codes-2019", "found": 2**33, "most": 2**32 - 1},
    "no-ranks": {},
    "trace-too-long": {"found_bytes": 5_000_000_000, "most_bytes": 2**32 - 1},
    "csv-overlap": {},
    "deadlock": {"at_ps": 1_500_000, "waiting": 7},
    "out-of-memory": {"rows": 10**12},
    "interrupted": {},
    # A function of one's own is needed: tests/routing.
    "routing-not-loaded": {"program": "0123"},
    "beside-own-routing": {"routing": "minimal"},
    "too-few-hops": {"need": 3, "have": 1},
    "no-such-choice": {"picked": "7", "ports": 2, "router": 4, "destination": 9, "hop": 1, "time_ps": 1_500},
    "memory-out-of-range": {"memory": "-5", "router": 4, "destination": 9, "hop": 1, "time_ps": 1_500},
    "routing-raised": {"function": "learn", "router": 4, "time_ps": 1_500},
}
