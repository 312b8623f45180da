"""Which algorithm and protocol NCCL's tuning model chooses for an all-reduce, an all-gather or a reduce-scatter: the
least estimated time; and how it does an all-to-all.

Source: NCCL, src/graph/tuning.cc and src/graph/search.cc, of version 2.23, for GPUs that are joined by NVLink. Only
rings and trees are chosen from, so the choice is that of NCCL without NVLink SHARP (on Hopper), without CollNet and
without PAT (nodes of one GPU). The latencies are those of `odonata.scenario.apps.protocols`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

from odonata.errors import InputError
from odonata.machine.gpu_channels import chain_carries, chains, rings_carry
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
    speeds: tuple[float, ...]
    """Bandwidths that a channel between nodes may have, in falling order (src/graph/search.cc)."""


_AMPERE = (48.0, 30.0, 28.0, 24.0, 20.0, 18.0, 15.0, 12.0, 10.0, 9.0, 7.0, 6.0, 5.0, 4.0, 3.0, 2.4, 1.2, 0.24, 0.12)
_HOPPER = (48.0, 45.0, 42.0, 40.0, 30.0, 24.0, 22.0, 20.0, 17.5, 15.0, 12.0, 6.0, 3.0, 2.4, 1.2, 0.24, 0.12)
GENERATIONS = {
    "ampere": Generation(20.0, 87.7, (20.0, 20.0, 20.0), (20.0, 20.0, 20.0), (24.0, 23.6, 17.8), _AMPERE),
    "hopper": Generation(20.6, 141.0, (36.7, 36.7, 36.7), (36.7, 36.7, 29.0), (38.7, 41.4, 36.0), _HOPPER),
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
    nics: int | None = None
    """NICs of a node, on several; None for as many as channels."""
    inside: float | None = None
    """GB/s of all channels of trees together inside a node, on two nodes; None for `bandwidth`."""

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

    On one node there is a channel for each link of NVLink that rings use, and on more for each NIC (assumed: NCCL
    searches for channels in the topology that it finds); of fast NICs for each 48 GB/s, and twice as many of few
    channels.

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
        inside = rings_carry(gpu, range(gpu.count)) / 1e15
        channels = max(1, round(inside / GENERATIONS[gpu.generation].link))
        return Communicator(1, gpu.count, channels, inside, gpu.generation, gpu.cpu)
    assert gpu.nics is not None
    nics = len(set(gpu.nics))
    channels, inside = _channels(gpu, nics, nic / 1e15)
    return Communicator(
        nodes,
        gpu.count,
        channels,
        nics * nic / 1e15,
        gpu.generation,
        gpu.cpu,
        nics,
        None if nodes > 2 else channels * inside,
    )


def _channels(gpu: GpuTable, nics: int, nic: float) -> tuple[int, float]:
    """The channels of so many NICs of `nic` GB/s, and GB/s of a channel of a tree inside a node of two.

    A channel has the first speed of a list with which NICs carry most. Where it has 25 GB/s or more, there are twice as
    many channels of a half, except more than four of less than 50 GB/s on Hopper. Trees then have a higher speed inside
    nodes than between them, step by step along the list until it is twice as high, if the links carry it. NCCL takes it
    for two nodes.
    """
    assert gpu.generation is not None
    speeds = GENERATIONS[gpu.generation].speeds
    speed = next((of for of in speeds if of <= nic), nic)
    for slower in speeds:
        if SLOWEST < slower / speed < 1 and nic // slower * slower > nic // speed * speed:
            speed = slower
    channels = nics * max(1, int(nic // speed))
    if speed >= FAST and not (gpu.generation == "hopper" and speed < VERY_FAST and channels > FEW):
        channels, speed = 2 * channels, speed / 2
    carried = min(of.rate or chain_carries(gpu, of) for of in chains(gpu, range(gpu.count))) / 1e15
    carried = carried * nics / channels
    inside = speed
    for faster in sorted(of for of in speeds if of > speed):
        if inside >= 2 * speed or faster > carried:
            break
        inside = faster
    return channels, inside


SLOWEST = 0.49
"""NCCL tries speeds down to this share of the best that it has found (src/graph/search.cc)."""
FAST, VERY_FAST, FEW = 25.0, 50.0, 4
"""In GB/s, and channels: where NCCL doubles them (src/graph/search.cc)."""


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


def bandwidth(of: Communicator, algorithm: str, protocol: str, collective: str = "allreduce") -> float:
    """Bytes of a vector over the time, without latency, in GB/s."""
    generation, bus = GENERATIONS[of.generation], of.bandwidth
    if algorithm == "ring":
        if protocol == "ll":
            bus = min(of.low_latency, bus * RING_LL)
        elif protocol == "ll128":
            bus = min(bus * RING_LL128, of.channels * generation.ring_ll128[of.place])
        return bus * of.ranks / _steps(of, collective)
    bus = of.bandwidth if of.inside is None else of.inside
    bus = min(bus * TREE, of.channels * generation.tree[of.place])
    if protocol == "ll":
        bus = min(bus * TREE_LL, of.low_latency)
    elif protocol == "ll128":
        left = TREE_LL128_ONE_NODE if of.nodes == 1 else TREE_LL128
        bus = min(bus * left, of.channels * generation.tree_ll128[of.place])
    return bus / 2


def _steps(of: Communicator, collective: str) -> int:
    """Of a ring."""
    return (of.ranks - 1) * (2 if collective == "allreduce" else 1)


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

    def rate(gigabytes: float) -> int:
        return int(round(gigabytes * 1e15) * wire)

    written = rate(inside)
    if tree and of.per_node > 1:
        # What the head of a chain writes goes to another node: a part of what each GPU writes.
        written = written * (of.per_node - 1) // of.per_node
    if of.nodes == 1:
        return Limits(written, None, shared=tree)
    rings, nics = 1 if single else of.nics or of.channels, of.nics or of.channels
    # Each NIC has a CPU for a ring, and each GPU two for each of two trees, of which the busiest sends half of all.
    cpus = 2 * of.per_node if tree else rings
    # A CPU looks for the flags of LL, line by line. Else a channel writes in slices, while its NIC sends others; what
    # it writes inside its node keeps it from more. A tree over nodes of one GPU writes nothing there.
    whole = protocol == "ll" or (tree and of.per_node == 1)
    nic = None if whole else round(of.bandwidth * 1e15) // nics
    return Limits(written, rate(between) // cpus, nic, tree)


def latency(of: Communicator, algorithm: str, protocol: str, collective: str = "allreduce") -> int:
    """In nanoseconds."""
    if algorithm == "tree":
        times, levels = PROTOCOLS[protocol].tree, of.nodes.bit_length() - 1
        return times.base + 2 * ((of.per_node - 1) * times.inside + levels * times.between)
    times = PROTOCOLS[protocol].ring
    post = CPUS[of.cpu].post * (3 if protocol == "simple" else 1)
    inside = times.inside if of.nodes == 1 else max(times.inside, post)
    steps = _steps(of, collective)
    crossings = steps // (of.ranks - 1) * (of.nodes - 1)
    return times.base + (steps - crossings) * inside + crossings * times.between


def time_us(of: Communicator, algorithm: str, protocol: str, size: int, collective: str = "allreduce") -> float:
    """The estimated time of a collective whose vector has `size` bytes, all blocks together."""
    rate = bandwidth(of, algorithm, protocol, collective)
    wait = latency(of, algorithm, protocol, collective) / 1_000
    if algorithm == "tree":
        factors, place = TREE_FACTORS[protocol], (size // SMALLEST).bit_length() - 1
        rate *= factors[place] if 0 <= place < len(factors) else 1
    elif protocol == "simple" and of.nodes > 1 and size // (of.channels * of.ranks) >= SMALLEST:
        wait *= PLATEAU if collective == "allreduce" else 1
    return wait + size / (1_000 * rate)


def choice(
    of: Communicator, size: int, protocols: Iterable[str] = ORDER, collective: str = "allreduce"
) -> tuple[str, str]:
    """The algorithm and the protocol of a collective whose vector has `size` bytes, of some protocols.

    Trees are for all-reduces alone.
    """
    algorithms = ALGORITHMS if collective == "allreduce" else ("ring",)
    return min(product(algorithms, protocols), key=lambda pair: time_us(of, pair[0], pair[1], size, collective))
