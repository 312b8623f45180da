"""Collectives as a scenario names them, listed in `listed.COLLECTIVES`.

What each algorithm sends is in the crate `odonata-programs`, `collective/`; `docs/applications.md` has the table.
"""

from collections.abc import Iterator
from typing import Any, ClassVar, Literal, Self

from pydantic import Field, PrivateAttr

from odonata.errors import InputError
from odonata.machine.host import HostTable
from odonata.scenario.apps.app import JobNodes
from odonata.scenario.apps.channelled import CHANNELS, TREE, ChannelledCollective
from odonata.scenario.apps.collective import ALGORITHMS, Collective, SizedCollective, algorithm_of, single_phase_problem
from odonata.scenario.apps.gpu_collectives import GPU_COLLECTIVES, by_rails, gpus_of_a_node, node_after_node
from odonata.scenario.apps.libraries import REDUCE_BROADCAST, chosen
from odonata.scenario.apps.nccl import DIRECT, NCCL, PXN, exchange
from odonata.scenario.apps.values import MessageSize

__all__ = ["ALGORITHMS", "Collective", "SizedCollective"]


class RootedCollective(SizedCollective):
    """A collective in which one rank, the root, has a special role."""

    root: int = Field(0, description="the rank that has the data, or gets the result (default: 0)")

    def options(self, ranks: int) -> dict[str, Any]:
        """The size, and the root, which is one of the ranks."""
        return {"root": checked_root(self.root, ranks), **super().options(ranks)}


def checked_root(root: int, ranks: int) -> int:
    """The root, if it is one of the ranks; else InputError (path `root`)."""
    if not 0 <= root < ranks:
        raise InputError(f"root {root} is not one of the ranks 0 to {ranks - 1}", path=("root",))
    return root


def is_power_of_two(number: int) -> bool:
    """Whether it is 1, 2, 4, 8, ..."""
    return number & (number - 1) == 0


#: Size and number of ranks below which MPICH sends whole messages down a tree (Thakur 2005, section 4).
SHORT_BROADCAST, FEW_RANKS = 12_288, 8


class Broadcast(RootedCollective):
    """The root's data goes to all (MPI_Bcast).

    Sources: Thakur, Rabenseifner and Gropp 2005, section 4; `binary` as Zhang 2018 ran it; `flat` as Kang 2019
    has it.
    """

    reason: ClassVar[str] = (
        "`binomial` below 12 KiB or 8 ranks, else `scatter-allgather`: as MPICH (Thakur 2005, section 4)"
    )

    collective: Literal["broadcast"]
    message: MessageSize = Field(description="size of the data (osu_bcast)")
    algorithm: algorithm_of("broadcast") | None = Field(  # type: ignore[valid-type]
        None, description="how (default: binomial below 12 KiB or 8 ranks, else scatter-allgather, as MPICH)"
    )

    def usual(self, ranks: int) -> str:
        """As MPICH chooses."""
        return "binomial" if self.message < SHORT_BROADCAST or ranks < FEW_RANKS else "scatter-allgather"


class Reduce(RootedCollective):
    """All vectors are combined at the root (MPI_Reduce).

    Sources: Thakur, Rabenseifner and Gropp 2005, section 4; `binary` as Zhang 2018 ran it.
    """

    reason: ClassVar[str] = "`binomial`: as MPICH for short vectors (Thakur 2005, section 4); for all sizes: assumed"

    collective: Literal["reduce"]
    message: MessageSize = Field(description="size of the vector of each rank (osu_reduce)")
    algorithm: algorithm_of("reduce") | None = Field(  # type: ignore[valid-type]
        None, description="how (default: binomial, as MPICH)"
    )

    def usual(self, ranks: int) -> str:  # noqa: ARG002
        """The tree with the fewest steps."""
        return "binomial"


#: Largest size for which MPICH exchanges whole vectors (Thakur 2005, section 4).
SHORT_ALLREDUCE = 2_048


class Allreduce(ChannelledCollective):
    """All vectors are combined, and all ranks get the result (MPI_Allreduce).

    Four algorithms are for nodes with GPUs, with ranks on the nodes in order, one for each GPU. `hierarchical` is a
    reduce-scatter inside each node, all-reduces of a block between the ranks of one number, and an all-gather inside,
    each around a ring. `ring-channels` is as many rings side by side as a node has GPUs, each with its part of the
    vector. `double-binary-tree` is two trees for each GPU of a node, which carry their parts in chunks, up and down at
    once. `nccl` is one of the last two with one of the protocols: what NCCL's tuning model chooses for the size.

    Sources: Thakur, Rabenseifner and Gropp 2005, section 4; `ring`: Patarasuk and Yuan 2009; `binary` as Zhang 2018
    ran it; `double-binary-tree`: Sanders, Speck and Traeff 2009, and NCCL, src/graph/trees.cc.
    """

    reason: ClassVar[str] = "`recursive-doubling` up to 2 KiB, else `rabenseifner`: as MPICH (Thakur 2005, section 4)"

    gpu_algorithms: ClassVar[tuple[str, ...]] = (*GPU_COLLECTIVES,)

    collective: Literal["allreduce"]
    message: MessageSize = Field(description="size of the vector of each rank (osu_allreduce)")
    algorithm: algorithm_of("allreduce", *GPU_COLLECTIVES, NCCL) | None = Field(  # type: ignore[valid-type]
        None,
        description="how (default: recursive-doubling up to 2 KiB, else rabenseifner, as MPICH); `hierarchical`, "
        "`ring-channels`, `double-binary-tree` and `nccl` for nodes with GPUs",
    )
    chunk: MessageSize | None = Field(
        None,
        description="data that a tree of `double-binary-tree` carries at a time (default: as NCCL, 19 to 512 KiB by "
        "size, protocol, nodes and GPUs)",
    )

    def usual(self, ranks: int) -> str:  # noqa: ARG002
        """As MPICH chooses."""
        return "recursive-doubling" if self.message <= SHORT_ALLREDUCE else "rabenseifner"

    def decided(self, ranks: int) -> Self:
        """With its algorithm filled in. Raises InputError for a protocol or chunks that it does not have."""
        made = super().decided(ranks)
        if made.chunk is not None and made.algorithm != TREE:
            raise InputError(f"`{made.algorithm}` has no chunks", hint=f"algorithm = `{TREE}`", path=("chunk",))
        return made

    def operation(self, ranks: int) -> list[dict[str, Any]]:
        """A single phase; or a reduction to rank 0 and a broadcast from it, each as Open MPI does it."""
        if self.algorithm != REDUCE_BROADCAST:
            return super().operation(ranks)
        parts = [(name, chosen("open-mpi", name, ranks, self.message)) for name in ("reduce", "broadcast")]
        return [{"what": {"name": name, "algorithm": how, "root": 0, "bytes": self.message}} for name, how in parts]

    def own_chunk(self) -> int | None:
        """The data that a tree carries at a time, if it is given."""
        return self.chunk


#: Size from which on MPICH exchanges blocks pairwise (Thakur 2005, section 4).
LONG_BYTES = 524_288


class ReduceScatter(ChannelledCollective):
    """All vectors are combined, and each rank gets its block of the result.

    Sources: Thakur, Rabenseifner and Gropp 2005, section 4; `ring`: Patarasuk and Yuan 2009.
    """

    reason: ClassVar[str] = "`recursive-halving` below 512 KiB, else `pairwise`: as MPICH (Thakur 2005, section 4)"

    collective: Literal["reduce-scatter"]
    message: MessageSize = Field(
        description="size of the vector of each rank, all blocks together (osu_reduce_scatter)"
    )
    algorithm: algorithm_of("reduce-scatter", CHANNELS, NCCL) | None = Field(  # type: ignore[valid-type]
        None,
        description="how (default: recursive-halving below 512 KiB, else pairwise, as MPICH); `ring-channels` and "
        "`nccl` for nodes with GPUs",
    )

    def usual(self, ranks: int) -> str:  # noqa: ARG002
        """As MPICH chooses."""
        return "recursive-halving" if self.message < LONG_BYTES else "pairwise"


#: Bytes of all ranks together from which on MPICH uses a ring: with a power of two of ranks, and else (Thakur
#: 2005, section 4).
LONG_BYTES, MEDIUM_BYTES = 524_288, 81_920


class Allgather(ChannelledCollective):
    """Every rank gets the data of all (MPI_Allgather).

    Source: Thakur, Rabenseifner and Gropp 2005, section 4.
    """

    reason: ClassVar[str] = (
        "`recursive-doubling` for 2^n ranks and less than 512 KiB in all, `bruck` for other numbers and less than "
        "80 KiB, else `ring`: as MPICH (Thakur 2005, section 4)"
    )

    collective: Literal["allgather"]
    message: MessageSize = Field(description="size of the data of each rank (osu_allgather)")
    algorithm: algorithm_of("allgather", CHANNELS, NCCL) | None = Field(  # type: ignore[valid-type]
        None,
        description="how (default, as MPICH: recursive-doubling for 2^n ranks and less than 512 KiB in all, bruck for "
        "other numbers and less than 80 KiB, else ring); `ring-channels` and `nccl` for nodes with GPUs",
    )

    def usual(self, ranks: int) -> str:
        """As MPICH chooses."""
        if is_power_of_two(ranks):
            return "recursive-doubling" if self.message * ranks < LONG_BYTES else "ring"
        return "bruck" if self.message * ranks < MEDIUM_BYTES else "ring"

    def vector(self, ranks: int) -> int:
        """Bytes of all blocks together."""
        return self.message * ranks


#: Largest size for which MPICH sends blocks together (Thakur 2005, section 4).
SHORT_ALLTOALL = 256


class Alltoall(SizedCollective):
    """Every rank has data for each other rank (MPI_Alltoall).

    `pxn` is for nodes with GPUs, with ranks on the nodes in order, one for each GPU: data go to the GPU of their own
    node that is on the rail of their destination, and from there one message goes to each other node. `nccl` is `pxn`
    or `scattered`, as NCCL does it on these nodes. With such ranks `scattered` takes node after node, as NCCL does.

    Sources: Thakur, Rabenseifner and Gropp 2005, section 4; `linear-shift` as Zhang 2018 ran it; `pxn`: NVIDIA 2022,
    "Doubling all2all performance with NCCL 2.12", and NCCL, src/graph/search.cc and src/init.cc.
    """

    reason: ClassVar[str] = (
        "`bruck` up to 256 B, else `pairwise`: as MPICH for short and long messages (Thakur 2005, section 4); "
        "between 256 B and 32 KiB, where MPICH posts everything at once, assumed"
    )

    collective: Literal["alltoall"]
    message: MessageSize = Field(description="size of the data of one rank for one other (osu_alltoall)")
    algorithm: algorithm_of("alltoall", PXN, NCCL) | None = Field(  # type: ignore[valid-type]
        None,
        description="how (default: bruck up to 256 B, else pairwise, as MPICH); `pxn` and `nccl` for nodes with GPUs",
    )

    _chosen: bool = PrivateAttr(False)
    """Whether the algorithm is what NCCL takes on these nodes."""
    _node_after_node: bool = PrivateAttr(False)
    """Whether each GPU has one rank, and the ranks of a node are side by side."""

    def usual(self, ranks: int) -> str:  # noqa: ARG002
        """As MPICH chooses for short and for long messages."""
        return "bruck" if self.message <= SHORT_ALLTOALL else "pairwise"

    @property
    def for_each_gpu(self) -> str | None:
        """Its algorithm, if it is one for nodes with GPUs."""
        return self.algorithm if self.algorithm in (PXN, NCCL) else None

    def on_nodes(self, nodes: JobNodes, overhead: HostTable) -> Self:
        """With the algorithm that NCCL takes, if it does, and with its order where each GPU has a rank."""
        made = self.model_copy()
        if self.algorithm == NCCL:
            gpus_of_a_node(NCCL, overhead, "algorithm")
            assert overhead.gpu is not None
            made = self.model_copy(update={"algorithm": exchange(overhead.gpu, nodes.count)})
            made._chosen = True
        made._node_after_node = nodes.gpus_in_order
        return made

    def notes(self, ranks: int) -> Iterator[str]:
        """What NCCL takes."""
        if self._chosen:
            yield f"`{NCCL}` takes `{self.algorithm}` for the all-to-all on {ranks} ranks"

    def operation(self, ranks: int) -> list[dict[str, Any]]:
        """A single phase."""
        if self.algorithm in (PXN, NCCL):
            raise single_phase_problem("algorithm", self.algorithm)
        return super().operation(ranks)

    def operation_with(self, ranks: int, overhead: HostTable) -> dict[str, Any]:
        """The operation; by rails, and where each GPU has a rank, it depends on the GPUs of a node."""
        if self.algorithm == PXN:
            return {"name": "phases", "phases": [by_rails(gpus_of_a_node(PXN, overhead, "algorithm"), self.message)]}
        if self.algorithm == DIRECT and self._node_after_node and overhead.gpu is not None:
            return {"name": "phases", "phases": [node_after_node(overhead.gpu.count, self.message)]}
        return super().operation_with(ranks, overhead)


class Barrier(Collective):
    """No rank continues before all ranks have entered it (MPI_Barrier). Messages have the size of control messages.

    Sources: Hensgen, Finkel and Manber 1988 (dissemination); `binary` as Zhang 2018 ran it.
    """

    reason: ClassVar[str] = "`dissemination`: as MPICH"

    collective: Literal["barrier"]
    algorithm: algorithm_of("barrier") | None = Field(  # type: ignore[valid-type]
        None, description="how (default: dissemination, as MPICH)"
    )

    def usual(self, ranks: int) -> str:  # noqa: ARG002
        """The algorithm with the fewest steps."""
        return "dissemination"

    def options(self, ranks: int) -> dict[str, Any]:  # noqa: ARG002
        """There are none."""
        return {}
