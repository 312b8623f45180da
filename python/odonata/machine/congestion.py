"""Congestion control of a machine's NICs and switches, as a table of a document (docs/model.md, section 3)."""

from typing import Any, Literal, Self

from pydantic import Field

from odonata import units
from odonata.document import PositiveTime, Size, Table
from odonata.errors import InputError
from odonata.machine import flight

#: Largest window of the core, in bytes.
MAX_WINDOW_BYTES = 2**40
#: Largest threshold of the core, in bytes.
MAX_MARK_BYTES = 2**30
#: Longest target of the core: 1 ms.
MAX_TARGET_PS = 10**9

Kind = Literal["none", "slingshot", "ecn-window", "nscc", "receiver-credit"]

#: The keys of each kind beside `window`.
KEYS: dict[Kind, tuple[str, ...]] = {
    "slingshot": ("mark_above",),
    "ecn-window": ("mark_above",),
    "nscc": ("mark_above", "target"),
    "receiver-credit": ("ahead",),
}

#: Least defaults of the keys, which follow from the longest round trip; `machine.sources` has their sources.
LEAST_BYTES = 64 * 1024
LEAST_TARGET_PS = 2_000_000


class CongestionTable(Table):
    """What holds senders back when queues are long (docs/model.md, section 3, "Congestion control")."""

    kind: Kind = Field(
        description="`none`: only full buffers; `slingshot`: senders into a long queue of a node are held back, at "
        "once and pair by pair, to equal shares (De Sensi 2020; the law is assumed); `ecn-window`: switches mark "
        "packets, and windows follow as in DCTCP (Alizadeh 2010); `nscc`: marks and delays, as in Ultra Ethernet 1.0; "
        "`receiver-credit`: after a first window the receiver says who sends next (RCCC of Ultra Ethernet 1.0)",
    )
    window: Size | None = Field(
        None,
        description="first and largest window from a NIC to another one (default: derived, 1.5 times what is on the "
        "way in the longest round trip, at least 64 KiB)",
    )
    mark_above: Size | None = Field(
        None,
        description="a switch marks packets whose output has about this much work: none behind less than half of it, "
        "all behind more than three halves (default: derived, what is on the way in the longest round trip, at least "
        "64 KiB)",
    )
    target: PositiveTime | None = Field(
        None,
        description="`nscc`: wait in queues that senders aim at (default: derived, the longest round trip, at least 2 "
        "us)",
    )
    ahead: Size | None = Field(
        None,
        description="`receiver-credit`: most bytes that a receiver asks for ahead of their arrival (default: derived, "
        "what is on the way in the longest round trip, at least 64 KiB)",
    )

    @property
    def is_none(self) -> bool:
        """Whether nothing reacts to congestion."""
        return self.kind == "none"

    def completed(self, packet: int, trip_ps: int, trip_bytes: int) -> Self:
        """The same with a value for every key that its kind has.

        Full packets have `packet` bytes, and `trip_bytes` are on the way in `trip_ps`, the longest round trip without
        queues. Both are limited to what the core takes.
        """
        if self.is_none:
            return self
        window = int(trip_bytes * flight.WINDOW_OVER_ROUND_TRIP)
        values = {
            "mark_above": min(max(LEAST_BYTES, trip_bytes), MAX_MARK_BYTES),
            "target": min(max(LEAST_TARGET_PS, trip_ps), MAX_TARGET_PS),
            "ahead": min(max(LEAST_BYTES, packet, trip_bytes), MAX_WINDOW_BYTES),
        }
        defaults: dict[str, Any] = {"window": min(max(LEAST_BYTES, packet, window), MAX_WINDOW_BYTES)}
        defaults |= {key: values[key] for key in KEYS[self.kind]}
        return self.model_copy(update={key: value for key, value in defaults.items() if getattr(self, key) is None})

    def check(self, packet: int) -> None:
        """Raises InputError (with a path) for keys that its kind does not have, and for values that none has."""
        for key in ("window", "mark_above", "target", "ahead"):
            has = not self.is_none and (key == "window" or key in KEYS[self.kind])
            if not has and getattr(self, key) is not None:
                kinds = [kind for kind, keys in KEYS.items() if key in keys]
                hint = f'kind = "{kinds[0] if kinds else "slingshot"}"'
                raise InputError(f"congestion control `{self.kind}` has no `{key}`", hint=hint, path=(key,))
        for key, name in (("window", "a window"), ("ahead", "`ahead`")):
            size = getattr(self, key)
            if size is not None and not packet <= size <= MAX_WINDOW_BYTES:
                least, most = units.format_bytes(packet), units.format_bytes(MAX_WINDOW_BYTES)
                message = f"{name} must have between {least}, a full packet, and {most}, found "
                raise InputError(message + units.format_bytes(size), path=(key,))
        if self.mark_above is not None and self.mark_above > MAX_MARK_BYTES:
            message = f"`mark_above` must be at most 1 GiB, found {units.format_bytes(self.mark_above)}"
            raise InputError(message, path=("mark_above",))
        if self.target is not None and not 1 <= self.target <= MAX_TARGET_PS:
            message = f"`target` must be between 1 ps and 1 ms, found {units.format_time(self.target)}"
            raise InputError(message, path=("target",))

    @property
    def text(self) -> str:
        """What it is, for `odonata show`."""
        window, above = units.format_bytes(self.window or 0), units.format_bytes(self.mark_above or 0)
        if self.kind == "receiver-credit":
            return f"{self.kind} (first windows of {window}, {units.format_bytes(self.ahead or 0)} asked for ahead)"
        target = f", target {units.format_time(self.target)}" if self.target is not None else ""
        return f"{self.kind} (windows up to {window}, marks around {above}{target})"

    def spec(self) -> dict[str, Any]:
        """Congestion control as the core reads it, from the result of `completed`."""
        if self.kind == "receiver-credit":
            return {"law": {self.kind: {"ahead_bytes": self.ahead}}, "window_bytes": self.window}
        law: Any = {"nscc": {"target_ps": self.target}} if self.kind == "nscc" else self.kind
        return {"law": law, "window_bytes": self.window, "mark_above_bytes": self.mark_above}
