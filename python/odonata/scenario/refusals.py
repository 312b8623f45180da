"""Translates a path into the specification to keys of the scenario."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from odonata.messages import Path

#: Suffixes of numbers in the specification that are quantities in the scenario.
_UNITS = ("_ps", "_bytes", "_ppm", "_milli")


@dataclass(frozen=True)
class _Table:
    """The counterpart of a table of the specification in the scenario.

    `keys` replace its own key. `below` has the keys inside it that have another name; the others keep their name
    without the unit. `whole`: the scenario has one value instead of the table. `unlisted`: the scenario does not have
    its lists as lists.
    """

    keys: Path = ()
    below: Mapping[str, "_Table"] = field(default_factory=dict)
    whole: bool = False
    unlisted: bool = False


def _named(*keys: str) -> _Table:
    """A value that has this name in the scenario."""
    return _Table(keys, whole=True)


_ROUTING = _Table(("routing",), {"name": _Table(whole=True)})
_BODY = _Table(
    ("app",),
    {"phases": _Table((), {"bytes": _named("message")}), "bytes": _named("message"), "goal": _named("trace")},
    unlisted=True,
)
_TRAFFIC = _Table(
    ("app",),
    {
        "message_bytes": _named("message"),
        "intervals": _named("messages"),
        "arrival": _named("arrival"),
        "pattern": _Table(),
    },
)
_GPUS = _Table(("overhead", "gpu"), {"network": _Table((), {"port": _named("bandwidth"), "kind": _named("network")})})
_JOB = _Table(
    ("job",),
    {
        "nodes": _named("place"),
        "traffic": _TRAFFIC,
        "routing": _ROUTING,
        "program": _Table((), {"costs": _Table(("overhead",)), "gpus": _GPUS, "body": _BODY}),
    },
)
_SPECIFICATION = _Table(
    (),
    {
        "jobs": _JOB,
        "topology": _Table(("system",)),
        "failures": _Table(("system", "failed"), whole=True),
        "fabric": _Table(("fabric",), {"nic": _Table(("nic",), {"aries": _Table()})}),
        "routing": _ROUTING,
        "sensing": _Table(("sensing",), {"delay_ps": _Table(("delay",))}),
        "stop": _Table(("run",), {"at_ps": _named("horizon"), "jobs": _named("until")}),
        "measure": _Table(
            ("measure",),
            {
                "until_ps": _named("window"),
                "arrivals_every_ps": _named("links", "every"),
                "blame": _named("blame"),
                "roots": _named("roots"),
                "series": _named("series"),
                "operations": _named("operations"),
                "reordering": _named("reordering"),
            },
        ),
        "seed": _named("run", "seed"),
    },
)


def keys_of_path(path: Path) -> Path:
    """The keys in the scenario that led to the value at this path of the specification."""
    table, unlisted = _SPECIFICATION, False
    keys: list[str | int] = []
    for part in path:
        if table.whole:
            break
        if isinstance(part, int):
            if not unlisted:
                keys.append(part)
            continue
        table = table.below.get(part) or _Table((_without_unit(part),))
        keys.extend(table.keys)
        unlisted = unlisted or table.unlisted
    return tuple(keys)


def _without_unit(key: str) -> str:
    for unit in _UNITS:
        key = key.removesuffix(unit)
    return key
