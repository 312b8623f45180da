"""Routings and their options as a scenario names them: one file each, listed in `ROUTINGS`.

What a routing does is in `docs/model.md`, section 6.
"""

from typing import TYPE_CHECKING, Annotated, Union

from pydantic import BeforeValidator, Field

from odonata.scenario.choice import one_of
from odonata.scenario.routings.fpar import Fpar
from odonata.scenario.routings.minimal import Minimal
from odonata.scenario.routings.prog_adaptive import ProgAdaptive
from odonata.scenario.routings.routing import Routing
from odonata.scenario.routings.valiant import Valiant

#: All routings by name.
ROUTINGS: dict[str, type[Routing]] = {
    "minimal": Minimal,
    "valiant": Valiant,
    "prog-adaptive": ProgAdaptive,
    "fpar": Fpar,
}

#: What a scenario means that names no routing: the one made for the Dragonfly+ (Shpiner 2017; K5).
DEFAULT = "fpar"

if TYPE_CHECKING:
    AnyRouting = Routing
else:
    AnyRouting = Annotated[
        Union[tuple(ROUTINGS.values())],  # noqa: UP007 - made from the table
        Field(discriminator="name"),
        BeforeValidator(one_of(ROUTINGS, "name", "routing", DEFAULT)),
    ]

__all__ = ["DEFAULT", "ROUTINGS", "AnyRouting", "Routing"]
