"""What jobs send, as a scenario names it: one file a traffic pattern, listed in `PATTERNS`.

What a pattern sends is in `docs/model.md`, section 7.
"""

from typing import TYPE_CHECKING, Annotated, Union

from pydantic import BeforeValidator, Field

from odonata.scenario.apps.app import App, Ranks
from odonata.scenario.apps.broadcast import Broadcast
from odonata.scenario.apps.group_peers import GroupPeers
from odonata.scenario.apps.group_shift import GroupShift
from odonata.scenario.apps.stencil_3d import Stencil3d
from odonata.scenario.apps.tornado import Tornado
from odonata.scenario.apps.uniform_random import UniformRandom
from odonata.scenario.choice import one_of

#: All traffic patterns by name.
PATTERNS: dict[str, type[App]] = {
    "uniform-random": UniformRandom,
    "stencil-3d": Stencil3d,
    "tornado": Tornado,
    "broadcast": Broadcast,
    "group-peers": GroupPeers,
    "group-shift": GroupShift,
    "worst-case": GroupShift,
}

if TYPE_CHECKING:
    AnyApp = App
else:
    AnyApp = Annotated[
        Union[tuple(PATTERNS.values())],  # noqa: UP007 - made from the table
        Field(discriminator="pattern"),
        BeforeValidator(one_of(PATTERNS, "pattern", "pattern")),
    ]

__all__ = ["PATTERNS", "AnyApp", "App", "Ranks"]
