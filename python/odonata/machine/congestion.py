"""Congestion control of a machine's NICs and switches, as a table of a document (docs/model.md, section 3).

The laws, their options and limits are those of the core. Here are the defaults of the options, with their sources.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Self

from pydantic import Field, create_model

from odonata import _core, units
from odonata.core_options import CONGESTION_LAWS, OPTIONS, bounds, choice, key_of, meaning
from odonata.document import PositiveTime, Size, Table
from odonata.errors import InputError
from odonata.machine import flight

if TYPE_CHECKING:
    Kind = str
else:
    Kind = Literal[("none", *CONGESTION_LAWS)]

_OF_TABLE = "fabric.congestion_control."
#: The options of all laws by their keys.
LAW_OPTIONS: "Mapping[str, _core.Option]" = {
    key_of(option["name"]): option for law in CONGESTION_LAWS.values() for option in law["options"]
}
#: The numbers of the table by their keys, as the core has them: those of every law, then those of some.
NUMBERS: "Mapping[str, _core.Option]" = {
    "window": OPTIONS[f"{_OF_TABLE}window_bytes"],
    "mark_above": OPTIONS[f"{_OF_TABLE}mark_above_bytes"],
    **LAW_OPTIONS,
}
#: The keys of each kind.
KEYS: Mapping[str, tuple[str, ...]] = {
    "none": (),
    **{
        name: ("window", *(["mark_above"] if law["marks"] else []), *(key_of(o["name"]) for o in law["options"]))
        for name, law in CONGESTION_LAWS.items()
    },
}


@dataclass(frozen=True)
class Trip:
    """A longest round trip without queues."""

    packet: int
    """Payload of a full packet, in bytes."""
    ps: int
    """Its time."""
    bytes: int
    """What is on the way in it."""


@dataclass(frozen=True)
class Derived:
    """A default that follows from the longest round trip."""

    value: Callable[[Trip], int]
    text: str
    """How, with `{trip}` for the round trip."""
    source: str


#: Defaults. An option of a law that is not here must be given.
DEFAULTS: Mapping[str, Derived] = {
    "window": Derived(
        lambda trip: max(64 * 1024, trip.packet, int(trip.bytes * flight.WINDOW_OVER_ROUND_TRIP)),
        "1.5 times {trip}, at least 64 KiB",
        "as NSCC in ultraethernet/uet-htsim",
    ),
    "mark_above": Derived(lambda trip: max(64 * 1024, trip.bytes), "{trip}, at least 64 KiB", "assumed"),
    "target": Derived(lambda trip: max(2_000_000, trip.ps), "{trip}, at least 2 us", "assumed"),
    "ahead": Derived(lambda trip: max(64 * 1024, trip.packet, trip.bytes), "{trip}, at least 64 KiB", "assumed"),
}


class _CongestionTable(Table):
    """What holds senders back when queues are long (docs/model.md, section 3, "Congestion control")."""

    kind: Kind = Field(
        description="`none`: only full buffers; "
        + choice({name: law["about"] for name, law in CONGESTION_LAWS.items()})
    )

    @property
    def is_none(self) -> bool:
        """Whether nothing reacts to congestion."""
        return self.kind == "none"

    def number(self, key: str) -> int | None:
        """The value of a number; None if the kind has none, or if it is not given."""
        value: int | None = getattr(self, key)
        return value

    @property
    def window_bytes(self) -> int | None:
        """First and largest window, in bytes."""
        return self.number("window")

    def completed(self, trip: Trip) -> Self:
        """The same with a value for every key that its kind has, within the limits of the core."""
        missing = [key for key in KEYS[self.kind] if self.number(key) is None and key in DEFAULTS]
        return self.model_copy(update={key: min(DEFAULTS[key].value(trip), bounds(NUMBERS[key])[1]) for key in missing})

    def check(self, packet: int) -> None:
        """Raises InputError (with a path) for keys that its kind does not have, and for values that none has."""
        for key, option in NUMBERS.items():
            value, has = self.number(key), key in KEYS[self.kind]
            if value is None and has:
                raise InputError(f"congestion control `{self.kind}` needs `{key}`", path=(key,))
            if value is None:
                continue
            if not has:
                kinds = [kind for kind, keys in KEYS.items() if key in keys]
                message = f"congestion control `{self.kind}` has no `{key}`"
                raise InputError(message, hint=f'kind = "{kinds[0]}"', path=(key,))
            least, most = bounds(option)
            in_bytes = option["name"].endswith("_bytes")
            shown = units.format_bytes if in_bytes else units.format_time
            holds_packet = in_bytes and least > 0
            least = packet if holds_packet else least
            if not least <= value <= most:
                full = ", a full packet," if holds_packet else ""
                message = f"`{key}` must be between {shown(least)}{full} and {shown(most)}, found {shown(value)}"
                raise InputError(message, path=(key,))

    @property
    def text(self) -> str:
        """What it is, for `odonata show`."""
        parts = [f"windows up to {units.format_bytes(self.window_bytes or 0)}"]
        for key in KEYS[self.kind][1:]:
            in_bytes = NUMBERS[key]["name"].endswith("_bytes")
            value = (units.format_bytes if in_bytes else units.format_time)(self.number(key) or 0)
            parts.append(f"marks around {value}" if key == "mark_above" else f"{key} {value}")
        return f"{self.kind} ({', '.join(parts)})"

    def spec(self) -> dict[str, Any]:
        """Congestion control as the core reads it, from the result of `completed`."""
        law = CONGESTION_LAWS[self.kind]
        options = {option["name"]: self.number(key_of(option["name"])) for option in law["options"]}
        spec = {"law": {self.kind: options} if options else self.kind, "window_bytes": self.window_bytes}
        return spec | ({"mark_above_bytes": self.number("mark_above")} if law["marks"] else {})


def _field(key: str, option: "_core.Option") -> Any:
    kinds = [kind for kind, keys in KEYS.items() if key in keys]
    some = len(kinds) < len(CONGESTION_LAWS)
    default = DEFAULTS[key].text.format(trip="the longest round trip") if key in DEFAULTS else None
    of = f"{' and '.join(f'`{kind}`' for kind in kinds)}: " if some and key in LAW_OPTIONS else ""
    text = f"{of}{meaning(option['about'])}" + (f" (default: derived, {default})" if default else "")
    size = option["name"].endswith("_bytes")
    return ((Size if size else PositiveTime) | None, Field(None, description=text))


if TYPE_CHECKING:
    CongestionTable = _CongestionTable
else:
    #: The table of a document, with the options of all laws.
    CongestionTable = create_model(
        "CongestionTable",
        __base__=_CongestionTable,
        __doc__=_CongestionTable.__doc__,
        **{key: _field(key, option) for key, option in NUMBERS.items()},
    )
