"""Which algorithm and protocol NCCL's tuning model chooses for an all-reduce: the least estimated time.

Source: NCCL, src/graph/tuning.cc, from version 2.19 on. The constants are those for A100 joined by NVLink, and for
nodes with CPUs of AMD. Only rings and trees are chosen from. The latencies are those of
`odonata.scenario.apps.protocols`.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

from odonata.scenario.apps.protocols import PROTOCOLS

ALGORITHMS = ("tree", "ring")
"""In NCCL's order: of two with the same time, the first is chosen."""
ORDER = ("ll", "ll128", "simple")
"""Protocols in NCCL's order."""

LL_GBPS = (87.7, 22.5, 19.0)
"""Most that a ring or a tree with LL carries on one, two and more nodes, in GB/s."""
LL128_CHANNEL_GBPS = 20.0
"""Most that a channel with LL128 carries."""
TREE_CHANNEL_GBPS = (24.0, 23.6, 17.8)
"""Most that a channel of a tree carries on one, two and more nodes."""
RING_LL, RING_LL128 = 0.5, 0.92
TREE, TREE_LL, TREE_LL128, TREE_LL128_ONE_NODE = 0.92, 1 / 3.8, 120 / 128, 7 / 9
"""What is left of the bandwidth."""
POST_NS = {"ll": 2_000, "ll128": 2_000, "simple": 6_000}
"""Least time of a step of a ring between several nodes."""
PLATEAU = 1.4
"""Factor of the latency of a ring with Simple on several nodes, if each block has at least 64 B."""
SMALLEST = 64
"""Bytes to which the first of the factors below belongs, the next to twice as many, and so on."""
TREE_FACTORS = {
    "ll": (1, 1, 1, 1, 0.9, 0.8, 0.7, 0.7, 0.7, 0.7, 0.6, 0.5, 0.4, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1, 1, 1),
    "ll128": (1, 1, 1, 1, 1, 0.9, 0.8, 0.8, 0.8, 0.7, 0.6, 0.6, 0.6, 0.6, 0.6, 0.6, 0.8, 0.9, 0.9, 0.9, 0.9, 1, 1),
    "simple": (
        *(0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.8, 0.7, 0.6, 0.6, 0.5),
        *(0.5, 0.5, 0.5, 0.6, 0.7, 0.8, 0.7, 0.7, 0.8, 0.9, 0.9),
    ),
}
"""Correction of the bandwidth of a tree by size."""


@dataclass(frozen=True)
class Communicator:
    """What the model knows of the GPUs that reduce."""

    nodes: int
    per_node: int
    channels: int
    bandwidth: float
    """GB/s of all channels together: inside a node for up to two nodes, else between nodes."""

    @property
    def ranks(self) -> int:
        """All GPUs."""
        return self.nodes * self.per_node


def bandwidth(of: Communicator, algorithm: str, protocol: str) -> float:
    """Bytes of a vector over the time, without latency, in GB/s."""
    place = min(of.nodes, 3) - 1
    bus = of.bandwidth
    if algorithm == "ring":
        if protocol == "ll":
            bus = min(LL_GBPS[place], bus * RING_LL)
        elif protocol == "ll128":
            bus = min(bus * RING_LL128, of.channels * LL128_CHANNEL_GBPS)
        return bus * of.ranks / (2 * (of.ranks - 1))
    bus = min(bus * TREE, of.channels * TREE_CHANNEL_GBPS[place])
    if protocol == "ll":
        bus = min(bus * TREE_LL, LL_GBPS[place])
    elif protocol == "ll128":
        left = TREE_LL128_ONE_NODE if of.nodes == 1 else TREE_LL128
        bus = min(bus * left, of.channels * LL128_CHANNEL_GBPS)
    return bus / 2


def latency(of: Communicator, algorithm: str, protocol: str) -> int:
    """In nanoseconds."""
    if algorithm == "tree":
        times, levels = PROTOCOLS[protocol].tree, of.nodes.bit_length() - 1
        return times.base + 2 * ((of.per_node - 1) * times.inside + levels * times.between)
    times = PROTOCOLS[protocol].ring
    inside = times.inside if of.nodes == 1 else max(times.inside, POST_NS[protocol])
    steps, crossings = 2 * (of.ranks - 1), 2 * (of.nodes - 1)
    return times.base + (steps - crossings) * inside + crossings * times.between


def time_us(of: Communicator, algorithm: str, protocol: str, size: int) -> float:
    """The estimated time of an all-reduce of `size` bytes."""
    rate, wait = bandwidth(of, algorithm, protocol), latency(of, algorithm, protocol) / 1_000
    if algorithm == "tree":
        factors, place = TREE_FACTORS[protocol], (size // SMALLEST).bit_length() - 1
        rate *= factors[place] if 0 <= place < len(factors) else 1
    elif protocol == "simple" and of.nodes > 1 and size // (of.channels * of.ranks) >= SMALLEST:
        wait *= PLATEAU
    return wait + size / (1_000 * rate)


def choice(of: Communicator, size: int) -> tuple[str, str]:
    """The algorithm and the protocol of an all-reduce of `size` bytes."""
    return min(product(ALGORITHMS, ORDER), key=lambda pair: time_us(of, pair[0], pair[1], size))
