"""The costs of the host as a job gives them: changes of those of its system."""

from typing import Annotated, Any

from pydantic import BeforeValidator

from odonata.document import input_error_as_problem, validate
from odonata.errors import InputError, unknown
from odonata.machine.host import NO_COSTS, HostTable, overrules_sizes


def _read(value: Any) -> Any:
    if isinstance(value, HostTable):
        return value
    if isinstance(value, str):
        if value != "none":
            error = unknown("overhead", value, ["none"])
            raise InputError(error.message, hint='"none", or a table such as { send = "190 ns", eager = "12 KB" }')
        value = NO_COSTS
    return validate(HostTable, value)


#: A table, or "none". Keys that are not given are those of the system.
Overhead = Annotated[HostTable, BeforeValidator(input_error_as_problem(_read))]


def decided(overhead: HostTable | None, host: HostTable | None) -> HostTable:
    """The costs of a job: its own keys, the others from its system, or the defaults of a system that has none."""
    usual = host or HostTable()
    if overhead is None:
        return usual
    given = {key: getattr(overhead, key) for key in overhead.model_fields_set}
    if overrules_sizes([key.removesuffix("_") for key in given]):
        given["by_size"] = ()
    return usual.model_copy(update=given)
