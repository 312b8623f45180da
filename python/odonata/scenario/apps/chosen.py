"""Values that several applications of machine learning share: rates of computing, and algorithms by collective."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BeforeValidator, PlainSerializer

from odonata import units
from odonata.document import input_error_as_problem
from odonata.errors import InputError, unknown
from odonata.scenario.apps.collectives import ALGORITHMS
from odonata.scenario.apps.libraries import LIBRARIES
from odonata.scenario.apps.listed import COLLECTIVES


def _flop_rate(value: Any) -> int:
    rate = value if type(value) is int else units.flop_rate(value)
    if not 1 <= rate < 2**64:
        raise InputError(f"expected a rate from 1 flop/s to 2^64 flop/s, found `{value}`")
    return rate


def _algorithms(value: Any) -> dict[str, str]:
    if not isinstance(value, Mapping):
        raise InputError(f'expected a table such as {{ allreduce = "ring" }}, found `{value!r}`')
    for collective, algorithm in value.items():
        if collective not in COLLECTIVES:
            raise unknown("collective", collective, COLLECTIVES).under(collective)
        if algorithm not in (known := (*ALGORITHMS[collective], *LIBRARIES)):
            raise unknown("algorithm", str(algorithm), known).under(collective)
    return dict(value)


#: Floating-point operations per second, from a text with a unit.
FlopRate = Annotated[
    int,
    BeforeValidator(input_error_as_problem(_flop_rate)),
    PlainSerializer(units.format_flop_rate, when_used="json"),
]
#: Collective -> its algorithm, or the library that chooses one.
AlgorithmTable = Annotated[dict[str, str], BeforeValidator(input_error_as_problem(_algorithms))]
