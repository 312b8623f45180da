"""NCCL's tuning model of version 2.7.5, and hosts that cost what its tables say.

Source: NCCL 2.7.5, src/graph/tuning.cc, for GPUs of the Ampere generation that are joined by NVLink; the speeds of
channels: src/graph/search.cc. `odonata.scenario.apps.nccl` has the model of version 2.23.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

from odonata.scenario.apps.nccl import ALGORITHMS, ORDER
from odonata.scenario.apps.protocols import PROTOCOLS

VERSION = "2.7.5"
AMPERE = 235.0
"""Most that all channels of A100 carry, in GB/s."""
RING_LL, RING_LL128, TREE, TREE_LL, TREE_LL128, TREE_LL128_ONE_NODE = 1 / 4, 0.92, 0.9, 1 / 3.8, 0.915, 7 / 9
"""What is left of the bandwidth."""
LL128_OF_A_CHANNEL = 16.7
"""In GB/s, of an all-reduce."""
MOST_OF_A_TREE = {False: 80.0, True: 105.0}
"""Between more than two nodes, in GB/s: without and with LL128, on A100. (On one node and on two 110 and 130.)"""
MOST_OF_A_TREE_NEAR = {False: 110.0, True: 130.0}
PLATEAU = 1.9
"""Factor of the latency of a ring with Simple on several nodes, from 64 KiB for 16 ranks."""
TREE_FACTORS = {
    "ll": (1, 1, 1, 1, 0.9, 0.8, 0.7, 0.7, 0.7, 0.7, 0.6, 0.5, 0.4, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1, 1),
    "ll128": (1, 1, 1, 1, 1, 0.9, 0.8, 0.8, 0.8, 0.7, 0.6, 0.6, 0.6, 0.5, 0.6, 0.6, 0.7, 0.7, 0.8, 0.9, 0.9, 1),
    "simple": (
        *(0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.8, 0.7, 0.6, 0.6, 0.5),
        *(0.5, 0.5, 0.5, 0.5, 0.5, 0.6, 0.6, 0.7, 0.8, 0.9),
    ),
}
"""Correction of the bandwidth of a tree by size: from 64 B, doubling."""


@dataclass(frozen=True)
class Times:
    """In microseconds: at the start, of a step over NVLink, of a step over a network."""

    base: float
    inside: float
    between: float


TIMES = {
    ("tree", "ll"): Times(4.4, 0.52, 5.0),
    ("tree", "ll128"): Times(4.4, 1.2, 8.5),
    ("tree", "simple"): Times(0, 28, 50),
    ("ring", "ll"): Times(3.6, 0.47, 2.7),
    ("ring", "ll128"): Times(10.0, 1.9, 4.0),
    ("ring", "simple"): Times(8.4, 3.4, 9.6),
}


@dataclass(frozen=True)
class Machine:
    """The GPUs that reduce, as this version of NCCL finds them (assumed)."""

    nodes: int
    per_node: int
    channels: int
    speed: float
    """Of a channel, in GB/s: one of a list of speeds."""

    @property
    def ranks(self) -> int:
        """All GPUs."""
        return self.nodes * self.per_node


def bus(of: Machine, algorithm: str, protocol: str) -> float:
    """Bus bandwidth without latency, in GB/s."""
    most, low = min(of.channels * of.speed, AMPERE), protocol == "ll128"
    if algorithm == "ring":
        if protocol == "ll":
            return most * RING_LL
        return min(most * RING_LL128, of.channels * LL128_OF_A_CHANNEL) if low else most
    most = min(most * TREE, (MOST_OF_A_TREE if of.nodes > 2 else MOST_OF_A_TREE_NEAR)[low])
    if protocol == "ll":
        return most * TREE_LL
    if low:
        left = TREE_LL128_ONE_NODE if of.nodes == 1 else TREE_LL128
        return min(most * left, of.channels * LL128_OF_A_CHANNEL * TREE_LL128_ONE_NODE)
    return most


def carried(of: Machine, algorithm: str, protocol: str) -> float:
    """What the GPUs carry, whatever the links between the nodes: bus bandwidth in GB/s."""
    return bus(replace(of, speed=math.inf), algorithm, protocol)


def time_us(of: Machine, algorithm: str, protocol: str, size: int) -> float:
    """The estimated time of an all-reduce of `size` bytes."""
    times, rate = TIMES[algorithm, protocol], bus(of, algorithm, protocol)
    inside = times.inside * (1.8 if of.nodes > 1 and protocol == "ll" else 1)
    if algorithm == "tree":
        wait = times.base + 2 * ((of.per_node - 1) * inside + (of.nodes.bit_length() - 1) * times.between)
        factors, place = TREE_FACTORS[protocol], (size // 64).bit_length() - 1
        return wait + size / (500 * rate * (factors[place] if place < len(factors) else 1))
    steps, crossings = 2 * (of.ranks - 1), 2 * (of.nodes - 1)
    wait = times.base + (steps - crossings) * inside + crossings * times.between
    if protocol == "simple" and of.nodes > 1 and size >= of.ranks / 16 * 65_536:
        wait *= PLATEAU
    return wait + size * steps / of.ranks / (1_000 * rate)


def choice(of: Machine, size: int) -> tuple[str, str]:
    """The algorithm and the protocol of an all-reduce of `size` bytes."""
    return min(product(ALGORITHMS, ORDER), key=lambda pair: time_us(of, pair[0], pair[1], size))


def host(of: Machine, algorithm: str, protocol: str) -> dict[str, Any]:
    """Costs of a host and its GPUs with which a collective costs what these tables say.

    A protocol changes the costs of a host by differences of the tables of version 2.23, so these are taken off here. No
    cost is below 0: a tree with LL128 starts 1.2 us later than in the tables.
    """
    wanted, table = TIMES[algorithm, protocol], PROTOCOLS[protocol]
    theirs, usual = getattr(table, algorithm), PROTOCOLS["simple"].ring
    latency = min(0.6, wanted.inside)
    ends = wanted.inside - latency + (usual.inside - theirs.inside) / 1_000
    network = (
        2.2  # microseconds of a step over the network that are simulated: 14 us less `ends` and the preset's delay
    )
    delay = wanted.between + (usual.between - theirs.between) / 1_000 - network - ends
    call = max(0.0, wanted.base + (usual.base - theirs.base) / 1_000)
    half = f"{ends / 2:.4f} us"
    return {
        "send": half,
        "receive": half,
        "call": f"{call:.4f} us",
        "by_size": [{"size": "8 B", "send": half, "receive": half, "delay": f"{max(0.0, delay):.4f} us"}],
        "gpu": {
            "bandwidth": f"{float(carried(of, algorithm, protocol) * table.wire):.4f} GB/s",
            "latency": f"{latency:.4f} us",
        },
    }
