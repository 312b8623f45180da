"""Values that several applications of machine learning share: rates of computing, and algorithms by collective."""

from collections.abc import Callable, Mapping
from typing import Annotated, Any

from pydantic import BeforeValidator, PlainSerializer

from odonata import units
from odonata.document import input_error_as_problem
from odonata.errors import InputError, unknown
from odonata.machine.host import HostTable
from odonata.scenario.apps.channelled import CHANNELS
from odonata.scenario.apps.collective import ALGORITHMS
from odonata.scenario.apps.gpu_collectives import gpus_of_a_node
from odonata.scenario.apps.libraries import LIBRARIES
from odonata.scenario.apps.listed import COLLECTIVES
from odonata.scenario.apps.nccl import NCCL, PXN, exchange


def _flop_rate(value: Any) -> int:
    rate = value if type(value) is int else units.flop_rate(value)
    if not 1 <= rate < 2**64:
        raise InputError(f"expected a rate from 1 flop/s to 2^64 flop/s, found `{value}`")
    return rate


def _algorithms_and(more: Mapping[str, tuple[str, ...]]) -> Callable[[Any], dict[str, str]]:
    def algorithms(value: Any) -> dict[str, str]:
        if not isinstance(value, Mapping):
            raise InputError(f'expected a table such as {{ allreduce = "ring" }}, found `{value!r}`')
        for collective, algorithm in value.items():
            if collective not in COLLECTIVES:
                raise unknown("collective", collective, COLLECTIVES).under(collective)
            if algorithm not in (known := (*ALGORITHMS[collective], *more.get(collective, ()), *LIBRARIES)):
                raise unknown("algorithm", str(algorithm), known).under(collective)
        return dict(value)

    return algorithms


#: Floating-point operations per second, from a text with a unit.
FlopRate = Annotated[
    int,
    BeforeValidator(input_error_as_problem(_flop_rate)),
    PlainSerializer(units.format_flop_rate, when_used="json"),
]
#: Collective -> its algorithm, or the library that chooses one.
AlgorithmTable = Annotated[dict[str, str], BeforeValidator(input_error_as_problem(_algorithms_and({})))]
#: Further algorithms, of groups that are known by their nodes.
OF_GROUPS = {"alltoall": (PXN, NCCL), **dict.fromkeys(("allreduce", "allgather", "reduce-scatter"), (CHANNELS,))}
#: The same for a job whose groups are known by their nodes.
GroupAlgorithmTable = Annotated[dict[str, str], BeforeValidator(input_error_as_problem(_algorithms_and(OF_GROUPS)))]


def for_each_gpu(algorithms: Mapping[str, str] | None) -> str | None:
    """Its algorithm that needs a rank for each GPU, node by node; None without one."""
    return next((name for name in (algorithms or {}).values() if name in (PXN, NCCL, CHANNELS)), None)


def as_nccl_chooses(algorithms: dict[str, str] | None, nodes: int, overhead: HostTable) -> dict[str, str] | None:
    """With the algorithm that NCCL takes on so many nodes in place of its name.

    Raises InputError (path `algorithm`) for nodes without GPUs of NVIDIA.
    """
    if algorithms is not None and CHANNELS in algorithms.values():
        gpus_of_a_node(CHANNELS, overhead, "algorithm")
    if algorithms is None or algorithms.get("alltoall") != NCCL:
        return algorithms
    gpus_of_a_node(NCCL, overhead, "algorithm")
    assert overhead.gpu is not None
    return {**algorithms, "alltoall": exchange(overhead.gpu, nodes)}
