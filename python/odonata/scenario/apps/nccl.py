"""Which algorithm and protocol NCCL's tuning model chooses for an all-reduce: the least estimated time; and how it
does an all-to-all.

Source: NCCL, src/graph/tuning.cc, of version 2.23, for GPUs that are joined by NVLink. Only rings and trees are
chosen from, so the choice is that of NCCL without NVLink SHARP (on Hopper) and without CollNet. The latencies
are those of `odonata.scenario.apps.protocols`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

from odonata.errors import InputError
from odonata.scenario.apps.protocols import PROTOCOLS, Limits

if TYPE_CHECKING:
    from collections.abc import Iterable

    from odonata.machine.gpus import GpuTable

NCCL = "nccl"
"""`algorithm` of an all-reduce or an all-to-all that NCCL chooses."""
PXN = "pxn"
"""`algorithm` of an all-to-all by rails."""
DIRECT = "scattered"
"""`algorithm` of an all-to-all without: NCCL groups its messages."""
ALGORITHMS = {"tree": "double-binary-tree", "ring": "ring-channels"}
"""Algorithm of NCCL -> ours, in NCCL's order: of two with the same time, the first is chosen."""
ORDER = ("ll", "ll128", "simple")
"""Protocols in NCCL's order."""


@dataclass(frozen=True)
class Generation:
    """Most that GPUs carry, in GB/s. Of three values, those on one node, on two and on more."""

    link: float
    """A link of NVLink (src/graph/topo.h)."""
    low_latency: float
    """A ring or a tree with LL on one node."""
    ring_ll128: tuple[float, float, float]
    """A channel of a ring with LL128."""
    tree_ll128: tuple[float, float, float]
    """A channel of a tree with LL128."""
    tree: tuple[float, float, float]
    """A channel of a tree."""


GENERATIONS = {
    "ampere": Generation(20.0, 87.7, (20.0, 20.0, 20.0), (20.0, 20.0, 20.0), (24.0, 23.6, 17.8)),
    "hopper": Generation(20.6, 141.0, (36.7, 36.7, 36.7), (36.7, 36.7, 29.0), (38.7, 41.4, 36.0)),
}


@dataclass(frozen=True)
class Cpus:
    """What the CPUs of a node decide between nodes."""

    low_latency: tuple[float, float]
    """Most that a ring or a tree with LL carries on two and more nodes, in GB/s."""
    post: int
    """Least time of a step of a ring between several nodes, in nanoseconds; three times as much with Simple."""


_INTEL = Cpus((39.0, 20.4), 1_000)
CPUS = {"amd": Cpus((22.5, 19.0), 2_000), "intel": _INTEL, "arm": _INTEL}
"""NCCL tells only AMD from others."""
RING_LL, RING_LL128 = 0.5, 0.92
TREE, TREE_LL, TREE_LL128, TREE_LL128_ONE_NODE = 0.92, 1 / 3.8, 120 / 128, 7 / 9
"""What is left of the bandwidth."""
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
    """GB/s of all channels together."""
    generation: str
    cpu: str

    @property
    def ranks(self) -> int:
        """All GPUs."""
        return self.nodes * self.per_node

    @property
    def place(self) -> int:
        """Which of three values counts: that for one node, for two, or for more."""
        return min(self.nodes, 3) - 1

    @property
    def low_latency(self) -> float:
        """Most that LL carries, in GB/s."""
        if self.nodes == 1:
            return GENERATIONS[self.generation].low_latency
        return CPUS[self.cpu].low_latency[self.place - 1]


def known(gpu: GpuTable) -> bool:
    """Whether NCCL's model has numbers here for these GPUs."""
    return gpu.generation is not None and gpu.cpu is not None and gpu.network != "pcie" and gpu.most_of_one() > 0


def communicator(gpu: GpuTable, nodes: int, nic: int) -> Communicator:
    """All GPUs of so many nodes, whose NICs carry `nic` millionths of a byte per second each.

    On one node there is a channel for each link of NVLink of a GPU, and on more for each NIC (assumed: NCCL searches
    for channels in the topology that it finds).

    Raises InputError for GPUs of which NCCL's model has no numbers here.
    """
    if gpu.generation is None or gpu.cpu is None:
        missing = " and ".join(f"`{key}`" for key in ("generation", "cpu") if getattr(gpu, key) is None)
        hint = f"`gpu` with `generation`, {' or '.join(f'`{name}`' for name in GENERATIONS)}, and `cpu`; docs/gpus.md"
        raise InputError(f"`{NCCL}` needs {missing} of the GPUs", hint=hint, path=("algorithm",))
    if gpu.network == "pcie":
        hint = f"{' or '.join(f'`{name}`' for name in ALGORITHMS.values())}"
        raise InputError(f"`{NCCL}` is for GPUs that are joined by NVLink, not PCIe", hint=hint, path=("algorithm",))
    if gpu.most_of_one() == 0:
        hint = "`gpu` with `count` above 1 and with links"
        raise InputError(f"`{NCCL}` needs GPUs that are joined to others of their node", hint=hint, path=("algorithm",))
    if nodes == 1:
        inside = gpu.most_of_one() / 1e15
        channels = max(1, round(inside / GENERATIONS[gpu.generation].link))
        return Communicator(1, gpu.count, channels, inside, gpu.generation, gpu.cpu)
    assert gpu.nics is not None
    channels = len(set(gpu.nics))
    return Communicator(nodes, gpu.count, channels, channels * nic / 1e15, gpu.generation, gpu.cpu)


def exchange(gpu: GpuTable, nodes: int) -> str:
    """How NCCL does an all-to-all on so many nodes.

    A message to another node leaves by the NIC that there belongs to its destination, and goes to the GPU at that NIC
    over NVLink first, if the two are joined by it (NCCL, src/graph/search.cc, `NCCL_P2P_PXN_LEVEL`, whose default is 2:
    as much as possible). On a node where only some GPUs are joined, NCCL does so for these; here all messages go
    directly then.

    Raises InputError for GPUs that are not known to be those of NVIDIA.
    """
    if gpu.generation is None:
        hint = f"`gpu` with `generation`, {' or '.join(f'`{name}`' for name in GENERATIONS)}; docs/gpus.md"
        raise InputError(f"`{NCCL}` needs `generation` of the GPUs", hint=hint, path=("algorithm",))
    pairs = gpu.count * (gpu.count - 1) // 2
    joined = gpu.network == "switch" or (gpu.network == "mesh" and (gpu.links is None or len(gpu.links) == pairs))
    return PXN if nodes > 1 and gpu.count > 1 and joined else DIRECT


def bandwidth(of: Communicator, algorithm: str, protocol: str) -> float:
    """Bytes of a vector over the time, without latency, in GB/s."""
    generation, bus = GENERATIONS[of.generation], of.bandwidth
    if algorithm == "ring":
        if protocol == "ll":
            bus = min(of.low_latency, bus * RING_LL)
        elif protocol == "ll128":
            bus = min(bus * RING_LL128, of.channels * generation.ring_ll128[of.place])
        return bus * of.ranks / (2 * (of.ranks - 1))
    bus = min(bus * TREE, of.channels * generation.tree[of.place])
    if protocol == "ll":
        bus = min(bus * TREE_LL, of.low_latency)
    elif protocol == "ll128":
        left = TREE_LL128_ONE_NODE if of.nodes == 1 else TREE_LL128
        bus = min(bus * left, of.channels * generation.tree_ll128[of.place])
    return bus / 2


def limits(of: Communicator, name: str, protocol: str) -> Limits | None:
    """What the GPUs and their hosts carry with one of our algorithms; None if it is no less than their links.

    Of the numbers of the model, those that belong to the devices: the rate of a kernel's channel, and of a CPU that
    looks for the flags of LL. What is left of a bandwidth by algorithm and size is an estimate, and is not taken.
    """
    generation, tree = GENERATIONS[of.generation], name == ALGORITHMS["tree"]
    single = name not in ALGORITHMS.values()  # one ring over all GPUs: one channel, and one GPU that leaves each node
    channel = generation.tree[of.place] if tree else math.inf
    if protocol == "ll128":
        channel = min(channel, (generation.tree_ll128 if tree else generation.ring_ll128)[of.place])
    inside = between = (1 if single else of.channels) * channel
    if protocol == "ll":
        inside, between = min(inside, generation.low_latency), min(between, of.low_latency)
    if math.isinf(inside):
        return None
    wire = PROTOCOLS[protocol].wire
    # Each GPU has a CPU for a ring, and two for each of two trees, of which the busiest sends half of all.
    cpus = 1 if single else of.per_node * (2 if tree else 1)
    return Limits(int(round(inside * 1e15) * wire), int(round(between * 1e15) * wire / cpus))


def latency(of: Communicator, algorithm: str, protocol: str) -> int:
    """In nanoseconds."""
    if algorithm == "tree":
        times, levels = PROTOCOLS[protocol].tree, of.nodes.bit_length() - 1
        return times.base + 2 * ((of.per_node - 1) * times.inside + levels * times.between)
    times = PROTOCOLS[protocol].ring
    post = CPUS[of.cpu].post * (3 if protocol == "simple" else 1)
    inside = times.inside if of.nodes == 1 else max(times.inside, post)
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


def choice(of: Communicator, size: int, protocols: Iterable[str] = ORDER) -> tuple[str, str]:
    """The algorithm and the protocol of an all-reduce of `size` bytes, of some protocols."""
    return min(product(ALGORITHMS, protocols), key=lambda pair: time_us(of, pair[0], pair[1], size))
