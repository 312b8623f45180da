"""A run on a machine of 100,000 nodes, with loads that are made up: only its size matters."""

from __future__ import annotations

import numpy as np
import polars as pl

import odonata as od
from odonata.store import TABLES, columns_of
from odonata.store.frame import polars_type

GROUPS, ROUTERS, NODES = 250, 25, 16


def large_run() -> od.Run:
    """A dragonfly: 250 groups of 25 routers of 16 nodes; each router has 24 local links and 10 global links."""
    draw = np.random.default_rng(1)
    routers = GROUPS * ROUTERS
    router = np.arange(routers)
    node = np.arange(routers * NODES)
    peers = np.concatenate([np.setdiff1d(np.arange(ROUTERS), [r % ROUTERS]) + r // ROUTERS * ROUTERS for r in router])
    local = (np.repeat(router, ROUTERS - 1), peers)
    far = (np.repeat(router, 10), (np.repeat(router, 10) + ROUTERS * draw.integers(1, GROUPS, routers * 10)) % routers)
    ends = {
        "node": [("router", node // NODES, "node", node), ("node", node, "router", node // NODES)],
        "local": [("router", local[0], "router", local[1])],
        "global": [("router", far[0], "router", far[1])],
    }
    frames = [_links(kind, *end, draw) for kind, all_ends in ends.items() for end in all_ends]
    links = pl.concat(frames).with_row_index("link")
    order = [column.name for column in columns_of("links")]
    jobs = [{"name": name, "nodes": [int(n) for n in node[at::2]], "record": "nothing"} for at, name in enumerate("ab")]
    resolved = {
        "name": "large",
        "scenario": {"system": {"name": "large"}, "job": [{}, {}], "routing": {"name": "minimal"}},
        "sources": [],
        "spec": {"topology": {"kind": "dragonfly", "routers": ROUTERS}, "jobs": jobs, "measure": {}},
    }
    manifest = {
        "id": "0" * 16,
        "seed": 1,
        "version": "0",
        "engine": "0",
        "sim_time_ps": 10**8,
        "alone": [],
        "packet_hops": 0,
        "events": 0,
    }
    manifest |= {"wall": {"wall_s": 1, "packet_hops_per_s": 1, "peak_rss_bytes": 1}, "link_classes": []}
    tables = {"links": links.select(order), "jobs": _jobs(jobs)}
    tables |= {name: _empty(name) for name in TABLES if name not in tables}
    return od.Run(manifest, resolved, "", tables)


def _links(kind: str, from_kind: str, sender, to_kind: str, receiver, draw: np.random.Generator) -> pl.DataFrame:
    def group(of, ids):
        return ids // (ROUTERS * NODES if of == "node" else ROUTERS)

    size = draw.integers(0, 2_500_000, len(sender))
    data = {
        "class": [kind] * len(sender),
        "from_kind": [from_kind] * len(sender),
        "from_id": sender,
        "from_port": np.zeros(len(sender), np.uint16),
        "from_group": group(from_kind, sender),
        "to_kind": [to_kind] * len(sender),
        "to_id": receiver,
        "to_group": group(to_kind, receiver),
        "bandwidth": np.full(len(sender), 25e9),
        "packets": size // 2048,
        "bytes": size,
        "flits": pl.Series([None] * len(sender), dtype=pl.UInt64),
        "busy": size / 2_500_000,
        "stalled_ps": draw.integers(0, 10**7, len(sender)),
    }
    return pl.DataFrame(data)


def _empty(table: str) -> pl.DataFrame:
    return pl.DataFrame(schema={column.name: polars_type(column.dtype) for column in columns_of(table)})


def _jobs(jobs: list[dict]) -> pl.DataFrame:
    rows = [
        {"job": index, "name": job["name"], "nodes": len(job["nodes"]), "background": False, "bin_count": []}
        | dict.fromkeys(("messages_sent", "messages_delivered", "measured_sent", "measured_delivered"), 0)
        | {"class_bytes": [], "ranks": len(job["nodes"])}
        for index, job in enumerate(jobs)
    ]
    return pl.concat([_empty("jobs"), pl.DataFrame(rows, strict=False)], how="diagonal_relaxed")
