"""Where the numbers of a machine come from, as rows for `odonata show` and for run folders."""

from collections.abc import Mapping
from typing import Any

from odonata import units
from odonata.errors import InputError, unknown
from odonata.machine import congestion, flight
from odonata.machine.host import COSTS
from odonata.machine.kinds import MachineTable
from odonata.machine.system import Source, dumped
from odonata.machine.terms import ON_GPUS, ON_PROCESSORS

#: Where the defaults of a machine without preset come from, in machines of every kind.
DEFAULT_SOURCES = {
    "fabric.packet": "assumed: as in kang2019",
    "fabric.router_delay": "assumed: as in kang2019",
    "fabric.channels": "default: two channels, enough for every routing (Kang 2019, section 3.1.2)",
    "fabric.nic.overhead": "default: an ideal NIC",
    "fabric.nic.kind": "default: packets go one way",
    "fabric.nic.packet": "De Sensi 2019, section 2.1: request packets of up to 64 B",
    "fabric.nic.window": "De Sensi 2019, equation 2: at most 1,024 outstanding packets",
    "fabric.nic.operation": "assumed: messages are written to their destination",
    "fabric.nic.cycle": "assumed: the time of a flit on the link of a node, one a cycle (De Sensi 2019, section 2.1)",
    "fabric.header": "De Sensi 2019, section 2.1: one header flit",
    "fabric.flit": "De Sensi 2019, section 2.1: 64 B in four flits",
    "fabric.congestion_control.kind": "default: only full buffers hold senders back",
    "priority": "default: no class goes first",
    "share": "default: equal shares",
    "fabric.router.crossbar": "assumed: as fast as the fastest link",
    "fabric.router.output_buffer": "assumed: as large as the largest input buffer",
    "fabric.router.arbitration": "default: the only one, least recently served first",
    "fabric.nic.order": "default: messages in order of issue",
    "latency": "default: no time on the wire",
    "credit_delay": "default: credits return with the wire's latency only",
}


def stated_sources(value: Any) -> dict[str, str]:
    """The sources of numbers in the table of a system. Raises InputError for anything but texts."""
    if not isinstance(value, Mapping):
        raise InputError(f"`sources`: expected a table of texts, found `{value!r}`", path=("sources",))
    for key, source in value.items():
        if not isinstance(source, str):
            hint = f'"{key}" = "where the number comes from"'
            if isinstance(source, Mapping):
                hint = "write a key with dots in quotes: " + hint.replace(str(key), f"{key}....")
            message = f"`sources`: expected a text for `{key}`, found `{source!r}`"
            raise InputError(message, hint=hint, path=("sources", key))
    return dict(value)


def check_sources(stated: Mapping[str, str], table: MachineTable) -> None:
    """Raises InputError for the source of a number that the machine does not have."""
    numbers = flat(dumped(table))
    for key in stated:
        if key not in numbers:
            raise unknown("number of the machine", key, numbers).under("sources", key)


def rows(
    table: MachineTable, base: Mapping[str, Any], changed: Mapping[str, Any], sources: Mapping[str, str]
) -> list[Source]:
    """A row for every number of the machine: `base` is the table of its preset, `changed` overrides it."""
    stated = []
    in_base, in_changes = flat(base), flat(changed)
    defaults = {**DEFAULT_SOURCES, **table.default_sources, **derived(table)}
    for key, value in flat(dumped(table)).items():
        if key in ("name", "title", "kind"):
            continue
        if key in in_changes:
            source = "given in the scenario"
        elif key in in_base or key in sources:
            source = sources.get(key, "no source given")
        else:
            source = defaults.get(key) or defaults.get(key.rsplit(".", 1)[-1]) or "default"
        stated.append(Source(key, _shown(value), source))
    first = {key: place for place, key in enumerate(table.keys_first)}
    return sorted(stated, key=lambda row: (row.key.startswith("fabric."), first.get(row.key, len(first))))


def derived(table: MachineTable) -> dict[str, str]:
    """The sources of defaults that follow from other numbers of this machine."""
    fabric, path = table.fabric, table.longest_path()
    texts: dict[str, str] = {}
    if table.host is not None:
        texts |= {f"host.{key}": ON_PROCESSORS if table.host.gpu is None else ON_GPUS for key in (*COSTS, "by_size")}
    for name, link in fabric.links.items():
        if name not in path:
            texts |= {f"fabric.links.{name}.{key}": "default: no such link exists" for key in type(link).model_fields}
            continue
        trip = units.format_time(flight.held_ps(fabric, name, path))
        packets = flight.packets_held(fabric, name, path)
        texts[f"fabric.links.{name}.buffer"] = (
            f"derived: {packets:,} packets are on the way in a round trip of {trip}, and {flight.QUEUED_PACKETS} may "
            "queue (assumed)"
        )
    if fabric.controls_congestion:
        size = units.format_bytes(flight.round_trip_bytes(fabric, path))
        trip = f"the longest round trip ({units.format_time(flight.round_trip_ps(fabric, path))}, {size})"
        texts |= {
            f"fabric.congestion_control.{key}": f"derived: {of.text.format(trip=trip)} ({of.source})"
            for key, of in congestion.DEFAULTS.items()
        }
    return texts


def flat(table: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """A table of tables as one table with dotted keys."""
    result: dict[str, Any] = {}
    for key, value in table.items():
        if isinstance(value, Mapping):
            result |= flat(value, f"{prefix}{key}.")
        else:
            result[f"{prefix}{key}"] = value
    return result


def _shown(value: Any) -> str:
    if isinstance(value, list):
        return f"{len(value):,} entries" if len(str(value)) > 40 else ", ".join(str(entry) for entry in value)
    return str(value)
