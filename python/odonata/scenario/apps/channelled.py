"""Collectives that NCCL does in channels on nodes with GPUs: their algorithms, protocols and costs."""

from collections.abc import Iterator
from typing import Any, ClassVar, Literal, Self

from pydantic import Field, PrivateAttr

from odonata.errors import InputError
from odonata.machine.host import HostTable
from odonata.scenario.apps.app import JobNodes
from odonata.scenario.apps.collective import SizedCollective, single_phase_problem
from odonata.scenario.apps.gpu_collectives import GPU_COLLECTIVES, Data, gpus_of_a_node
from odonata.scenario.apps.nccl import ALGORITHMS as NCCL_ALGORITHMS
from odonata.scenario.apps.nccl import NCCL, ORDER, Communicator, choice, communicator, known, limits
from odonata.scenario.apps.protocols import PROTOCOLS, tree_chunk, with_limits, with_protocol, without_handshakes
from odonata.units import format_bytes

#: Algorithms that have protocols of NCCL, besides others of `GPU_COLLECTIVES`, and that have chunks.
RING, TREE = "ring", "double-binary-tree"
#: The algorithm that every such collective has.
CHANNELS = NCCL_ALGORITHMS["ring"]


class ChannelledCollective(SizedCollective):
    """A collective with channels and protocols of NCCL, on nodes with GPUs."""

    #: Its algorithms for nodes with GPUs.
    gpu_algorithms: ClassVar[tuple[str, ...]] = (CHANNELS,)

    protocol: Literal[(*PROTOCOLS,)] | None = Field(  # type: ignore[valid-type]
        None,
        description="protocol of NCCL on nodes with GPUs: `simple`, `ll` or `ll128` (default: the costs of the host as "
        "they are, which are those of a ring with `simple` in presets; with `nccl` what it chooses)",
    )

    _chosen: bool = PrivateAttr(False)
    """Whether NCCL's tuning model chose the algorithm and the protocol."""
    _communicator: Communicator | None = PrivateAttr(None)
    """What NCCL's tuning model knows of the GPUs, if the protocol is one of NCCL and the system says enough."""

    @property
    def for_each_gpu(self) -> str | None:
        """Its algorithm, if it is one for nodes with GPUs."""
        return self.algorithm if self.algorithm in (*self.gpu_algorithms, NCCL) else None

    def vector(self, ranks: int) -> int:  # noqa: ARG002
        """Bytes of all blocks together."""
        return self.message

    def on_nodes(self, nodes: JobNodes, overhead: HostTable) -> Self:
        """With the algorithm and the protocol that NCCL chooses, if it does: of its protocols, or of the one given."""
        gpu = overhead.gpu
        if self.algorithm != NCCL:
            if self.protocol is None or gpu is None or not known(gpu):
                return self
            made = self.model_copy()
            made._communicator = communicator(gpu, nodes.count, nodes.nic)
            return made
        gpus_of_a_node(NCCL, overhead, "algorithm")
        assert gpu is not None
        of = communicator(gpu, nodes.count, nodes.nic)
        protocols = ORDER if self.protocol is None else (self.protocol,)
        algorithm, protocol = choice(of, self.vector(of.ranks), protocols, self.collective)
        made = self.model_copy(update={"algorithm": NCCL_ALGORITHMS[algorithm], "protocol": protocol})
        made._communicator, made._chosen = of, True
        return made

    def notes(self, ranks: int) -> Iterator[str]:
        """What NCCL chose."""
        if self._chosen:
            yield (
                f"`{NCCL}` takes `{self.algorithm}` with the protocol `{self.protocol}` for {self.collective} of "
                f"{format_bytes(self.message)} on {ranks} ranks, by the tuning model of version 2.23"
            )

    def decided(self, ranks: int) -> Self:
        """With its algorithm filled in. Raises InputError for a protocol that it does not have."""
        made = super().decided(ranks)
        if made.protocol is not None and made.algorithm not in (RING, *self.gpu_algorithms, NCCL):
            hint = f"algorithm = {', '.join(f'`{name}`' for name in (RING, *self.gpu_algorithms))}"
            raise InputError(f"`{made.algorithm}` has no protocol of NCCL", hint=hint, path=("protocol",))
        return made

    def operation(self, ranks: int) -> list[dict[str, Any]]:
        """A single phase, of an algorithm that does not depend on nodes."""
        if self.algorithm in (*self.gpu_algorithms, NCCL) or self.protocol is not None:
            key = "algorithm" if self.algorithm in (*self.gpu_algorithms, NCCL) else "protocol"
            raise single_phase_problem(key, getattr(self, key))
        return super().operation(ranks)

    def operation_with(self, ranks: int, overhead: HostTable) -> dict[str, Any]:
        """The operation; some algorithms, and protocols, depend on the GPUs of a node."""
        protocol = PROTOCOLS[self.protocol or "simple"]
        size, limit = protocol.carried(self.message), self._limit()
        if self.algorithm in GPU_COLLECTIVES:
            inside = gpus_of_a_node(self.algorithm, overhead, "algorithm")
            chunk = self.own_chunk() or tree_chunk(self.protocol or "simple", self.message, ranks // inside, inside)
            data = Data(size, self.collective, protocol.carried(chunk), limit)
            return GPU_COLLECTIVES[self.algorithm](data, ranks, self.paid(overhead))
        if self.protocol is None:
            return super().operation_with(ranks, overhead)
        gpus_of_a_node(self.protocol, overhead, "protocol")
        plain = self.model_copy(update={"message": size, "protocol": None})
        body = plain.operation_with(ranks, overhead)
        return body if limit is None else {**body, "rates": [[0, limit]]}

    def own_chunk(self) -> int | None:
        """The data that a tree carries at a time, if it is given."""
        return None

    def paid(self, overhead: HostTable) -> HostTable:
        """The costs of the host, or what the protocol makes of them; messages of channels do not wait for receives."""
        if self.algorithm in NCCL_ALGORITHMS.values() or self.protocol is not None:
            overhead = without_handshakes(overhead)
        if self.protocol is None:
            return overhead
        paid = with_protocol(overhead, self.protocol, tree=self.algorithm == TREE)
        most = self._limits()
        return paid if most is None else with_limits(paid, most)

    def _limits(self) -> Any:
        if self._communicator is None or self.protocol is None or self.algorithm is None:
            return None
        return limits(self._communicator, self.algorithm, self.protocol)

    def _limit(self) -> int | None:
        most = self._limits()
        return None if most is None or most.shared else most.inside
