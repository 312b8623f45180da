"""Values of several applications: sizes of messages, durations, numbers of repetitions, costs of the host."""

from collections.abc import Callable
from typing import Annotated, Any

from pydantic import BeforeValidator, PlainSerializer

from odonata import units
from odonata.core_options import LIMITS
from odonata.document import input_error_as_problem, validate
from odonata.errors import InputError, unknown
from odonata.machine.host import GPU_COSTS, NO_COSTS, HostTable, overruled_lists

#: Largest message.
MAX_MESSAGE_BYTES = LIMITS["message_bytes"]
#: Longest interval, gap, jitter and computing time: 5 hours.
MAX_DURATION_PS = LIMITS["duration_ps"]
#: Most intervals and iterations.
MAX_REPETITIONS = LIMITS["repetitions"]


def whole_number(what: str) -> Callable[[Any], int]:
    """A reader of a number from 1 to 2^31 - 1; `what` is "a number of ..."."""

    def read(value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, int):
            whole = isinstance(value, float) and value.is_integer() and abs(value) < 2**53
            hint = f"write {int(value):_}" if whole else None
            raise InputError(f"expected {what} (a whole number), found `{value!r}`", hint=hint)
        if not 1 <= value <= MAX_REPETITIONS:
            raise InputError(f"expected {what} from 1 to 2^31 - 1, found {value}")
        return value

    return read


def _message(value: Any) -> int:
    size = units.size_bytes(value)
    if not 1 <= size <= MAX_MESSAGE_BYTES:
        raise InputError(f"a message has between 1 B and 2^40 B (1 TiB), found `{value}`")
    return size


def _duration(value: Any) -> int:
    ps = units.time_ps(value)
    if ps > MAX_DURATION_PS:
        raise InputError(f"`{value}` is longer than 2^54 ps (5 hours)")
    return ps


#: The size of a message, 1 to 2^40 bytes.
MessageSize = Annotated[
    int,
    BeforeValidator(input_error_as_problem(_message)),
    PlainSerializer(lambda v: None if v is None else units.format_bytes(v), when_used="json"),
]
#: How long something takes, up to 2^54 ps.
Duration = Annotated[
    int,
    BeforeValidator(input_error_as_problem(_duration)),
    PlainSerializer(lambda v: None if v is None else units.format_time(v), when_used="json"),
]
#: How often a program runs its body.
Iterations = Annotated[int, BeforeValidator(input_error_as_problem(whole_number("a number of iterations")))]


def _overhead(value: Any) -> Any:
    if isinstance(value, HostTable):
        return value
    if isinstance(value, str):
        if value != "none":
            error = unknown("overhead", value, ["none"])
            raise InputError(error.message, hint='"none", or a table such as { send = "190 ns", eager = "12 KB" }')
        value = NO_COSTS
    return validate(HostTable, value)


#: A table, or "none". Keys that are not given are those of the system.
Overhead = Annotated[HostTable, BeforeValidator(input_error_as_problem(_overhead))]


def decided_overhead(overhead: HostTable | None, host: HostTable | None) -> HostTable:
    """The costs of a job: its own keys, and the others from its system, which has none if it states none.

    Ranks that the job puts on GPUs, on a system without them, have the costs of GPUs.
    """
    usual = host or validate(HostTable, NO_COSTS)
    if overhead is None:
        return usual
    if overhead.gpu is not None and usual.gpu is None:
        usual = validate(HostTable, GPU_COSTS)
    given = {key: getattr(overhead, key) for key in overhead.model_fields_set}
    for key in overruled_lists([key.removesuffix("_") for key in given]):
        given[key] = ()
    return usual.model_copy(update=given)
