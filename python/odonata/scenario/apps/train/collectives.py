"""The collectives of a training step as the core reads them, each once."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from odonata.errors import InputError
from odonata.scenario.apps.app import computing
from odonata.scenario.apps.channelled import CHANNELS
from odonata.scenario.apps.combining import combining
from odonata.scenario.apps.gpu_collectives import (
    by_rails,
    channels_of_group,
    gpus_of_a_node,
    members_of_a_node,
    node_after_node,
    ring_phase,
    shares,
)
from odonata.scenario.apps.listed import COLLECTIVES
from odonata.scenario.apps.nccl import DIRECT, PXN
from odonata.scenario.apps.values import MAX_MESSAGE_BYTES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from odonata.machine.gpu_channels import Channel
    from odonata.machine.host import HostTable
    from odonata.scenario.apps.train.layout import Group

ALGORITHMS = {"allreduce": "ring", "allgather": "ring", "reduce-scatter": "ring", "alltoall": "scattered"}
"""Collective -> its algorithm. NCCL runs large reductions and gathers as rings, and groups the messages of an
all-to-all (NVIDIA, documentation of NCCL: algorithms; ncclGroupStart)."""


STREAMS = 5
"""CPUs of a rank that are streams; those of channels come behind."""
MOST_CPUS = 256
"""Of the core."""


class CollectiveTable:
    """The collectives that a job needs; `number` gives the number of one, and `nodes` what runs it.

    With `channels` each GPU has one rank, and the ranks of a node are side by side. Rings then use all links and NICs
    that their groups have, as those of NCCL, unless an algorithm is given.
    """

    def __init__(self, algorithms: Mapping[str, str], overhead: HostTable, *, channels: bool = False) -> None:
        self._entries: list[dict[str, Any]] = []
        self._known: dict[str, int] = {}
        self._calls: list[tuple[tuple[int, int | None], ...]] = []
        """The entries that are done side by side, each with its rate."""
        self._numbers: dict[tuple[tuple[int, int | None], ...], int] = {}
        self._cpus: dict[tuple[int, int, int | None], int] = {}
        """Stream, channel and rate -> CPU."""
        self._given = algorithms
        self._run: set[str] = set()
        """The collectives that the job runs, or would run with more ranks."""
        self._algorithms = {**ALGORITHMS, **algorithms}
        self._overhead = overhead
        self._in_order = channels
        self._channels = {name for name in ALGORITHMS if channels and name not in algorithms}
        self._channels |= {name for name, algorithm in algorithms.items() if algorithm == CHANNELS}

    def number(self, name: str, group: Group, size: int) -> int:
        """A collective of a group; `size` in bytes, as `message` of the collective of this name.

        Raises InputError if a message is larger than 2^40 bytes, or for an all-to-all by rails in a group whose nodes
        have other numbers of its ranks.
        """
        self._run.add(name)
        if size > MAX_MESSAGE_BYTES:
            hint = "more ranks, a shorter sequence or a smaller `merge` make it smaller"
            raise InputError(f"a collective would have {size:,} B, more than 2^40 B", hint=hint)
        if self._algorithms[name] == PXN:
            gpus = gpus_of_a_node(PXN, self._overhead, "algorithm")
            members = members_of_a_node(group.size, group.stride, gpus)
            return self._put([[by_rails(members, size)]], group, [0])
        in_order = self._members(group)
        if name == "alltoall" and self._algorithms[name] == DIRECT and in_order is not None:
            return self._put([[node_after_node(in_order, size)]], group, [0])
        reduced = size if name in ("allreduce", "reduce-scatter") else 0
        if name in self._channels and (channels := self._of_group(group)):
            sizes = shares(channels, size)
            phases = [[ring_phase(of, name, part)] for of, part in zip(channels, sizes, strict=True)]
            return self._put(phases, group, sizes if reduced else [0] * len(channels), [of.rate for of in channels])
        kind = COLLECTIVES[name]
        algorithm = "ring" if self._algorithms[name] == CHANNELS else self._algorithms[name]
        table = {"collective": name, "algorithm": algorithm, "message": size}
        made = kind.model_construct(**table).decided(group.size)  # type: ignore[arg-type]
        return self._put([made.phases(group.size)], group, [reduced])

    def single(self, name: str) -> None:
        """A collective of a group that has one rank, and would have more in a larger job."""
        self._run.add(name)

    def check_given(self, what: str) -> None:
        """Raises InputError (path `algorithm`) for the algorithm of a collective that is never run."""
        for name in self._given:
            if name not in self._run:
                may = ", ".join(f"`{other}`" for other in ALGORITHMS if other in self._run)
                hint = f"it runs {may}" if may else "it runs no collective: give no `algorithm`"
                raise InputError(f"this {what} never runs `{name}`", hint=hint, path=("algorithm", name))

    def _of_group(self, group: Group) -> list[Channel] | None:
        """The channels of a group; None if it has one ring that visits its ranks in their order."""
        gpu = self._overhead.gpu
        assert gpu is not None
        channels = channels_of_group(gpu, group.size, group.stride)
        plain = len(channels) == 1 and channels[0].order == tuple(range(len(channels[0].order)))
        return None if plain else channels

    def nodes(self, stream: int, number: int, after: list[int]) -> list[dict[str, Any]]:
        """The nodes of a graph that run a collective on a stream when these nodes have ended."""
        call, after = self._calls[number], sorted(set(after))
        made = []
        for channel, (entry, rate) in enumerate(call):
            cpu = stream
            if len(call) > 1 or rate is not None:
                cpu = self._cpus.setdefault((stream, channel, rate), STREAMS + len(self._cpus))
            if cpu >= MOST_CPUS:
                message = f"the collectives of a rank need more than {MOST_CPUS} channels"
                hint = 'a single ring has one, such as `algorithm = { allgather = "ring" }`'
                raise InputError(message, hint=hint, path=("algorithm",))
            made.append({"cpu": cpu, "after": after, "what": {"name": "collective", "number": entry}})
        return made

    def body(self, stages: list[list[dict[str, Any]]]) -> dict[str, Any]:
        """The graphs of all stages as the core reads them."""
        rates = [[cpu, rate] for (_, _, rate), cpu in self._cpus.items() if rate is not None]
        body: dict[str, Any] = {"name": "stages", "collectives": self._entries, "stages": stages}
        return body | ({"rates": rates} if rates else {})

    def exchange(self, group: Group, sizes: list[list[int]]) -> int:
        """Messages of a group all at once: `sizes` in bytes, from each rank to each other.

        Raises InputError (path `skew`) for algorithms whose sizes are all equal.
        """
        self._run.add("alltoall")
        algorithm = self._algorithms["alltoall"]
        if algorithm != DIRECT:
            how = f"by rails (`{PXN}`, `nccl`)" if algorithm == PXN else f"by `{algorithm}`"
            message = f"all-to-alls {how} have blocks of one size, so the busiest expert has the mean"
            raise InputError(message, hint=f'use `skew = 1`, or `alltoall = "{DIRECT}"`', path=("skew",))
        pairs = [
            [source, target, size, 1]
            for source, row in enumerate(sizes)
            for target, size in enumerate(row)
            if source != target and size
        ]
        members = self._members(group)
        order = {} if members is None else {"per_node": members}
        return self._put([[{"what": {"name": "matrix", "pairs": pairs, **order}}]], group, [0])

    def _members(self, group: Group) -> int | None:
        """Ranks of a group on each of its nodes, if each has a GPU and there are several of both."""
        if not self._in_order or self._overhead.gpu is None:
            return None
        try:
            members = members_of_a_node(group.size, group.stride, self._overhead.gpu.count)
        except InputError:
            return None
        return members if 1 < members < group.size else None

    def _put(
        self,
        channels: list[list[dict[str, Any]]],
        group: Group,
        reduced: list[int],
        rates: list[int | None] | None = None,
    ) -> int:
        """The phases of each channel, what it reduces, and its rate."""
        along = {"grid": list(group.grid), "axis": group.axis}
        calls = [computing(self._overhead.call, 0)] if self._overhead.call else []
        call = []
        for phases, size, rate in zip(channels, reduced, rates or [None] * len(channels), strict=True):
            inside = [{"along": along, **phase} for phase in phases]
            entry = {"phases": calls + inside, "combine_ps": combining(self._overhead, size)}
            key = json.dumps(entry)
            if key not in self._known:
                self._known[key] = len(self._entries)
                self._entries.append(entry)
            call.append((self._known[key], rate))
        if tuple(call) not in self._numbers:
            self._numbers[tuple(call)] = len(self._calls)
            self._calls.append(tuple(call))
        return self._numbers[tuple(call)]
