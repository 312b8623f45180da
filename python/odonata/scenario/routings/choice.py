"""A routing in a scenario: a name, a table with options, or only options of the default routing."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal, Union

from pydantic import BeforeValidator, Field

from odonata.document import Table, validate
from odonata.scenario.choice import one_of
from odonata.scenario.routings import ROUTINGS, Routing


class Unnamed(Table):
    """Options without the name of a routing: the routing is known when the machine is known."""

    name: Literal[""]
    options: dict[str, Any]


def named(given: Routing | Unnamed, usual: str, options: Mapping[str, Any] | None = None) -> Routing:
    """The routing of a scenario, `usual` with these options besides its own if it has no name.

    Raises InputError, whose path leads into the routing's table, for options that it does not have.
    """
    if isinstance(given, Unnamed):
        return validate(ROUTINGS[usual], {"name": usual, **(options or {}), **given.options})
    return given


_read_named = one_of(ROUTINGS, "name", "routing", "")


def _read(value: Any) -> Any:
    if isinstance(value, Mapping) and "name" not in value:
        return {"name": "", "options": dict(value)}
    return _read_named(value)


if TYPE_CHECKING:
    AnyRouting = Routing | Unnamed
else:
    #: A routing as a scenario gives it: its name, or a table.
    AnyRouting = Annotated[
        Union[(*ROUTINGS.values(), Unnamed)],
        Field(discriminator="name"),
        BeforeValidator(_read),
    ]
