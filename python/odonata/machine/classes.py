"""Traffic classes of a machine's fabric, as a table of a document (docs/model.md, section 4)."""

import re
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field

from odonata.core_options import LIMITS, OPTIONS, bounds
from odonata.document import Table
from odonata.errors import InputError, unknown

MAX_CLASSES = LIMITS["traffic_classes"]

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")


def _within(key: str) -> Any:
    least, most = bounds(OPTIONS[f"fabric.traffic_classes.{key}"])
    return Field(ge=least, le=most)


class TrafficClassTable(Table):
    """Jobs whose packets have virtual channels, buffers and a share of every link of their own."""

    priority: Annotated[int, _within("priority")] = Field(
        0, description="links serve classes of a higher priority first, as long as these have packets (0 to 255)"
    )
    share: Annotated[int, _within("share")] = Field(
        1, description="classes of one priority share a link in proportion to it (1 to 1,000)"
    )


def check(classes: Mapping[str, TrafficClassTable]) -> None:
    """Raises InputError (with a path) for names that are none, and for no or too many classes."""
    if not 1 <= len(classes) <= MAX_CLASSES:
        raise InputError(f"a fabric has 1 to {MAX_CLASSES} traffic classes, found {len(classes)}")
    for name in classes:
        if not _NAME.fullmatch(name):
            hint = "use 1 to 64 letters, digits, `-` and `_`, a letter or digit first"
            raise InputError(f"`{name}` is not a name of a traffic class", hint=hint, path=(name,))


def check_channels(channels: int, classes: int, acknowledged: bool, most: int) -> None:
    """Raises InputError (with a path) if a link cannot have so many channels for each of so many classes."""
    sets = classes * (2 if acknowledged else 1)
    if channels * sets > most:
        of_each = f"{channels} channels for each of {classes} traffic classes"
        both = ", and as many for acknowledgements," if acknowledged else ""
        hint = f"channels = {most // sets}, if the routing needs no more" if most >= sets else "fewer traffic classes"
        message = f"{of_each}{both} are {channels * sets}; a link has at most {most}"
        raise InputError(message, hint=hint, path=("channels",))


def number(name: str | None, classes: Mapping[str, TrafficClassTable] | None) -> int:
    """The number of the traffic class of a job: the first one unless it names one. Raises InputError."""
    if name is None:
        return 0
    if not classes:
        hint = f"fabric = {{ traffic_classes = {{ {name} = {{ priority = 1 }}, other = {{}} }} }}"
        raise InputError("the fabric of this system has no traffic classes", hint=hint)
    if name not in classes:
        raise unknown("traffic class", name, classes)
    return list(classes).index(name)


def text(classes: Mapping[str, TrafficClassTable], channels: int) -> str:
    """What they are, for `odonata show`."""
    each = ", ".join(f"{name} (priority {of.priority}, share {of.share})" for name, of in classes.items())
    has = "1 channel" if channels == 1 else f"{channels} channels"
    return f"{each}; each has {has} and an equal part of the buffers between routers"


def spec(classes: Mapping[str, TrafficClassTable]) -> list[dict[str, Any]]:
    """Traffic classes as the core reads them."""
    return [{"name": name, "priority": of.priority, "share": of.share} for name, of in classes.items()]
