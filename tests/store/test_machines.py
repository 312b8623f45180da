"""The table of links on machines whose nodes have several NICs, and on machines in which something has failed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

import odonata as od

if TYPE_CHECKING:
    from pathlib import Path

_SMALL = """
[system]
kind = "dragonfly"
groups = 3
routers = 4
nodes_per_router = 4
global_links_per_router = 2
{more}
[system.fabric]
channels = 6
[system.fabric.links]
node = {{ bandwidth = "10 GB/s" }}
local = {{ bandwidth = "10 GB/s" }}
global = {{ bandwidth = "10 GB/s" }}

[[job]]
name = "all"
nodes = {nodes}
app = {{ pattern = "uniform-random", message = "4 KB", interval = "1 us", messages = 20 }}
"""


def _links(tmp_path: Path, more: str, nodes: int) -> tuple[od.Run, pl.DataFrame]:
    path = tmp_path / "small.toml"
    path.write_text(_SMALL.format(more=more, nodes=nodes))
    run = od.run(od.load(path))
    return run, run.links


def test_every_nic_has_its_injection_link(tmp_path: Path) -> None:
    """Catches NICs counted as nodes: rows that are missing, or bytes booked to another node."""
    run, links = _links(tmp_path, 'rails = 2\nrails_on = "different-routers"', 24)
    injection = links.filter(pl.col("from_kind") == "node")
    assert injection.height == 48
    assert injection.select("from_id", "from_port").unique().height == 48
    assert injection["bytes"].min() > 0
    assert injection["bytes"].sum() == run.jobs["bytes"].sum()
    ends = links.filter(pl.col("to_kind") == "node")
    assert ends.group_by("to_id").len()["len"].unique().to_list() == [2]
    # What leaves a NIC arrives at the router in whose table its port is.
    routers = {(row["from_id"], row["to_id"]) for row in injection.iter_rows(named=True)}
    assert routers == {(row["to_id"], row["from_id"]) for row in ends.iter_rows(named=True)}


def test_links_that_have_failed_are_left_out(tmp_path: Path) -> None:
    """Catches failed links that count as idle links in means and in the capacity."""
    _, whole = _links(tmp_path, "", 48)
    _, links = _links(tmp_path, 'failed = { links = ["0-1"], routers = [11] }', 44)
    local = pl.col("class") == "local"
    assert links.filter(local).height == whole.filter(local).height - 2 - 6
    by_router = links.filter(pl.col("from_kind") == "router")
    assert 11 not in by_router["from_id"]
    assert 11 not in by_router.filter(pl.col("to_kind") == "router")["to_id"]
    nodes = links.filter(pl.col("class") == "node")
    assert nodes.height == whole.filter(pl.col("class") == "node").height - 2 * 4
    injection = links.filter(pl.col("from_kind") == "node")
    assert injection["from_id"].to_list() == list(range(44))
    assert injection["bytes"].min() > 0
