"""A background that offers all of a NIC is warned of, before anything is simulated."""

from __future__ import annotations

import pytest

from odonata.scenario import parse
from odonata.scenario.doubts import doubts

SCENARIO = """
system = "tiny"
[[job]]
name = "target"
nodes = 4
app = {{ pattern = "uniform-random", message = "4 KB", interval = "10 ns", messages = 2 }}
[[job]]
name = "noise"
nodes = {nodes}
place = {place}
app = {app}
background = true
"""
CONTIGUOUS, SPREAD = '"contiguous"', '"random"'


@pytest.mark.parametrize(
    ("app", "nodes", "place", "says"),
    [
        ('{ pattern = "uniform-random", message = "4 KB", interval = "10 us" }', 4, CONTIGUOUS, None),
        ('{ pattern = "uniform-random", message = "4 KB", interval = "100 ns" }', 4, CONTIGUOUS, "40 GB/s a node"),
        ('{ pattern = "stencil-3d", message = "4 KB", interval = "1 us" }', 8, CONTIGUOUS, "24 GB/s a node"),
        ('{ pattern = "broadcast", message = "4 KB", interval = "1 ns" }', 4, CONTIGUOUS, None),
    ],
)
def test_warnings(app: str, nodes: int, place: str, says: str | None) -> None:
    """Only the background: a target that offers too much is said to be saturated."""
    found = doubts(parse(SCENARIO.format(app=app, nodes=nodes, place=place)).resolve())
    if says is None:
        assert not found
    else:
        assert len(found) == 1
        assert says in found[0]
        assert "background job `noise`" in found[0]
