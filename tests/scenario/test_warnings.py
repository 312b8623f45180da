"""A background that offers all of a NIC is warned of, before anything is simulated."""

from __future__ import annotations

import pytest

from odonata.scenario import parse
from odonata.scenario.warnings import warnings_of

SCENARIO = """
system = {{ preset = "tiny", fabric.links.node.buffer = "16 KiB" }}
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
    warnings = warnings_of(parse(SCENARIO.format(app=app, nodes=nodes, place=place)).resolve())
    if says is None:
        assert not warnings
    else:
        assert len(warnings) == 1
        assert says in warnings[0]
        assert "background job `noise`" in warnings[0]


NAMED = """
system = {{ preset = "tiny", fabric.links.node.buffer = "16 KiB" }}
[[job]]
name = "train"
nodes = {nodes}
ranks_per_node = {per_node}
{more}
[job.app.train]
model = {{ layers = 2, hidden = 64, heads = 2, vocabulary = 64, sequence = 64 }}
tensor = 2
"""

TRAINING = """
system = {{ preset = "tiny", fabric.links.node.buffer = "16 KiB" }}
[[job]]
name = "train"
nodes = {nodes}
ranks_per_node = {per_node}
app.motif = "training"
app.tensor = 2
app.data = 2
app.tensor_bytes = "8 B"
app.gradient_bytes = "8 B"
app.activation_bytes = "8 B"
{more}
"""


@pytest.mark.parametrize(
    ("nodes", "per_node", "more", "count"),
    [
        (2, 2, "", 1),
        (4, 1, "", 0),
        (2, 2, 'overhead = "none"', 0),
        (2, 2, 'overhead.gpu = { count = 2, network = "switch", bandwidth = "1 GB/s", latency = "1 us" }', 0),
    ],
)
@pytest.mark.parametrize("text", [TRAINING, NAMED], ids=["motif", "train"])
def test_tensor_groups_inside_a_node(text: str, nodes: int, per_node: int, more: str, count: int) -> None:
    """The costs of the host are said where they stand for links between GPUs, and nowhere else."""
    warnings = warnings_of(parse(text.format(nodes=nodes, per_node=per_node, more=more)).resolve())
    assert len(warnings) == count
    assert all("tensor-parallel messages of `train`" in warning for warning in warnings)
    notes = parse(text.format(nodes=nodes, per_node=per_node, more=more)).resolve().notes
    on_gpus = [note for note in notes if "NCCL's protocol Simple" in note]
    assert len(on_gpus) == ("gpu" in more), "costs that `overhead` does not give are those of GPUs, and that is said"


@pytest.mark.parametrize(
    ("app", "count"),
    [
        ('collective = "alltoall", algorithm = "linear-shift"', 200_000 * 3_455 * 3_456),
        ('motif = "all-to-all-linear"', 200_000 * 3_455 * 3_456),
        ('collective = "allreduce", algorithm = "ring"', 400_000 * 3_455 * 3_456),
        ('collective = "alltoall", algorithm = "bruck"', 0),
        ('motif = "halo2d"', 0),
    ],
)
def test_an_all_to_all_that_takes_hours_is_named_before_it_starts(app: str, count: int) -> None:
    """One of 117,649 ranks had "0 % done, no estimate yet" for ever."""
    job = f'name = "a"\nnodes = 3456\niterations = 200000\napp = {{ {app}, message = "1 KiB" }}\n'
    text = f'system = "kang2019"\n[[job]]\n{job}'
    said = [sentence for sentence in warnings_of(parse(text).resolve()) if "messages" in sentence]
    assert len(said) == (count > 0)
    assert count == 0 or f"`a` sends {count:,} messages" in said[0]
    short = text.replace("200000", "1")
    assert not [sentence for sentence in warnings_of(parse(short).resolve()) if "messages" in sentence]
