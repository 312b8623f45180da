"""The collectives of a training step as the core reads them, each once."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from odonata.errors import InputError
from odonata.scenario.apps.app import computing
from odonata.scenario.apps.listed import COLLECTIVES
from odonata.scenario.apps.nccl import PXN
from odonata.scenario.apps.of_nodes import by_rails, gpus_of_a_node, members_of_a_node
from odonata.scenario.apps.train.shapes import checked_time
from odonata.scenario.apps.values import MAX_MESSAGE_BYTES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from odonata.machine.host import HostTable
    from odonata.scenario.apps.train.layout import Group

ALGORITHMS = {"allreduce": "ring", "allgather": "ring", "reduce-scatter": "ring", "alltoall": "scattered"}
"""Collective -> its algorithm. NCCL runs large reductions and gathers as rings, and groups the messages of an
all-to-all (NVIDIA, documentation of NCCL: algorithms; ncclGroupStart)."""


class CollectiveTable:
    """The collectives that a job needs; `number` gives the number of one."""

    def __init__(self, algorithms: Mapping[str, str], overhead: HostTable) -> None:
        self.entries: list[dict[str, Any]] = []
        self._known: dict[str, int] = {}
        self._algorithms = {**ALGORITHMS, **algorithms}
        self._overhead = overhead

    def number(self, name: str, group: Group, size: int) -> int:
        """A collective of a group; `size` in bytes, as `message` of the collective of this name.

        Raises InputError if a message is larger than 2^40 bytes, or for an all-to-all by rails in a group whose nodes
        have other numbers of its ranks.
        """
        if size > MAX_MESSAGE_BYTES:
            hint = "more ranks, a shorter sequence or a smaller `merge` make it smaller"
            raise InputError(f"a collective would have {size:,} B, more than 2^40 B", hint=hint)
        if self._algorithms[name] == PXN:
            gpus = gpus_of_a_node(PXN, self._overhead, "algorithm")
            members = members_of_a_node(group.size, group.stride, gpus)
            return self._put([by_rails(members, size)], group, 0)
        kind = COLLECTIVES[name]
        table = {"collective": name, "algorithm": self._algorithms[name], "message": size}
        made = kind.model_construct(**table).decided(group.size)  # type: ignore[arg-type]
        reduced = size if name in ("allreduce", "reduce-scatter") else 0
        return self._put(made.phases(group.size), group, reduced)

    def exchange(self, group: Group, sizes: list[list[int]]) -> int:
        """Messages of a group all at once: `sizes` in bytes, from each rank to each other.

        Raises InputError (path `skew`) by rails, for which all sizes are equal.
        """
        if self._algorithms["alltoall"] == PXN:
            message = (
                f"all-to-alls by rails (`{PXN}`, `nccl`) have blocks of one size, so the busiest expert has the mean"
            )
            raise InputError(message, hint='use `skew = 1`, or `alltoall = "scattered"`', path=("skew",))
        pairs = [
            [source, target, size, 1]
            for source, row in enumerate(sizes)
            for target, size in enumerate(row)
            if source != target and size
        ]
        return self._put([{"what": {"name": "matrix", "pairs": pairs}}], group, 0)

    def _put(self, phases: list[dict[str, Any]], group: Group, reduced: int) -> int:
        along = {"grid": list(group.grid), "axis": group.axis}
        calls = [computing(self._overhead.call, 0)] if self._overhead.call else []
        inside = [{"along": along, **phase} for phase in phases]
        entry = {"phases": calls + inside, "combine_ps": combining(self._overhead, reduced)}
        key = json.dumps(entry)
        if key not in self._known:
            self._known[key] = len(self.entries)
            self.entries.append(entry)
        return self._known[key]


def combining(overhead: HostTable, size: int) -> int:
    """Time to combine a vector of `size` bytes, in picoseconds (docs/model.md, section 10)."""

    def at(rate: int) -> int:
        return checked_time(-(-size * 10**18 // rate)) if rate else 0

    sizes = overhead.reduce_by_size
    if not sizes:
        return at(overhead.reduce)
    if size <= sizes[0].size:
        return at(sizes[0].rate)
    for low, high in pairwise(sizes):
        if size <= high.size:
            below, above = at(low.rate), at(high.rate)
            return below + int(Fraction((above - below) * (size - low.size), high.size - low.size))
    return at(sizes[-1].rate)
