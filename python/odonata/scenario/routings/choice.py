"""A routing in a scenario: a name, a table with options, or only options of the default routing."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BeforeValidator, SerializeAsAny

from odonata.document import Table, input_error_as_problem, validate
from odonata.document.quantities import problem
from odonata.errors import InputError, nearest, unknown
from odonata.scenario.routings import ALIASES, ROUTINGS, Routing, by_own_name, named_table


def one_of(kinds: Mapping[str, type], key: str, what: str, default: str | None = None) -> Callable[[Any], Any]:
    """A reader that determines the kind of a value.

    The table's `key` names the kind. If there is a `default` kind, a table without `key` means that one, and a bare
    name is short for a table with nothing else. The result is a table whose `key` is one of `kinds`; anything else is a
    validation problem.
    """

    def read(value: Any) -> Any:
        if default is not None and isinstance(value, str):
            value = {key: value}
        if not isinstance(value, Mapping):
            form = f"a {what} or a table" if default is not None else f"a table with `{key}`"
            raise problem(f"expected {form}, found `{value!r}`")
        name = value.get(key, default)
        if name is None:
            raise problem(f"missing key `{key}`", f"the {what}s are: {', '.join(kinds)}")
        if not isinstance(name, str) or name not in kinds:
            error = unknown(what, str(name), kinds)
            raise problem(error.message, error.hint, (key,))
        return {**value, key: name}

    return read


class Unnamed(Table):
    """Options without the name of a routing: the routing is known when the machine is known."""

    name: Literal[""]
    options: dict[str, Any]


def named(given: Routing | Unnamed, usual: str, options: Mapping[str, Any] | None = None) -> Routing:
    """The routing of a scenario, `usual` with these options besides its own if it has no name.

    Raises InputError, whose path leads into the routing's table, for options that it does not have.
    """
    if isinstance(given, Unnamed):
        table = named_table(usual, {**(options or {}), **given.options})
        return validate(ROUTINGS[table["name"]], table)
    return given


_read_named = one_of(ROUTINGS, "name", "routing", "")


def read_routing(value: Any) -> Routing | Unnamed:
    """The routing that a name or a table describes. Raises InputError, whose path leads into the table."""
    if isinstance(value, Routing | Unnamed):
        return value
    if isinstance(value, Mapping) and "name" not in value and ("python" in value or "library" in value):
        value = {"name": "custom", **value}
    if isinstance(value, Mapping) and "name" not in value:
        for key in value:
            near = nearest(str(key), ("python", "library"))
            if near is not None and key not in ("python", "library"):
                raise InputError(f"unknown key `{key}`", hint=f"did you mean `{near}`?", path=(str(key),))
    if isinstance(value, Mapping) and "name" not in value:
        return Unnamed(name="", options=dict(value))
    if isinstance(value, str) and value in ALIASES:
        value = {"name": value}
    table = _read_named(by_own_name(value) if isinstance(value, Mapping) else value)
    return validate(ROUTINGS[table["name"]], table)


if TYPE_CHECKING:
    AnyRouting = Routing | Unnamed
else:
    #: A routing as a scenario gives it: its name, or a table.
    AnyRouting = Annotated[SerializeAsAny[Table], BeforeValidator(input_error_as_problem(read_routing))]
