"""The keys of the tables of a scenario, as rows for `odonata show` and the reference pages."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from fractions import Fraction
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin

from pydantic.fields import FieldInfo

from odonata import units
from odonata.document import Table
from odonata.machine.classes import TrafficClassTable
from odonata.machine.congestion import CongestionTable
from odonata.machine.fabric import FabricTable, LinkTable, NicTable, RouterTable
from odonata.machine.failed import FailedTable
from odonata.machine.gpus import GpuTable
from odonata.machine.host import HostTable
from odonata.machine.kinds import KINDS, WiringTable
from odonata.placement import Policy
from odonata.scenario.apps.bursts import LengthTable
from odonata.scenario.apps.mapping import MappingTable
from odonata.scenario.sensing import SensingTable
from odonata.scenario.tables import (
    AdviseTable,
    ImportTable,
    JobTable,
    LinksTable,
    MeasureTable,
    RunTable,
    ScenarioTable,
)


@dataclass(frozen=True)
class Key:
    """A key of a table: its meaning, its possible values and its default."""

    name: str
    meaning: str
    values: tuple[str, ...] = ()
    default: str | None = None
    """None if the key must be given."""

    def row(self) -> dict[str, Any]:
        """The key as JSON."""
        return asdict(self)


def keys_of_table(model: type[Table], leave_out: frozenset[str] = frozenset()) -> list[Key]:
    """The keys of a table of a document."""
    return [
        Key(field.alias or name, field.description or "", _choices(field.annotation), _default(field))
        for name, field in model.model_fields.items()
        if name not in leave_out
    ]


def scenario_tables() -> dict[str, list[Key]]:
    """Every table of a scenario file, by its header. The choices of `app` and `routing` have their own lists."""
    return {
        "a scenario": keys_of_table(ScenarioTable),
        "[[job]]": keys_of_table(JobTable),
        "[host] of a [system] (also overhead of a [[job]]; defaults: those of the system)": keys_of_table(HostTable),
        "gpu of [host]": keys_of_table(GpuTable),
        "mapping of a [[job]]": keys_of_table(MappingTable),
        "on and off of a [[job]] (also a time)": keys_of_table(LengthTable),
        "[run]": keys_of_table(RunTable),
        "[measure]": keys_of_table(MeasureTable),
        "[advise]": keys_of_table(AdviseTable),
        "[measure.links]": keys_of_table(LinksTable),
        "[import]": keys_of_table(ImportTable),
        "sensing": keys_of_table(SensingTable),
        **{
            f"[system] of kind {kind} (required keys are required only without a preset)": [
                Key("preset", "a system that ships with Odonata, or a TOML file; the keys below override it", (), ""),
                *keys_of_table(model, frozenset({"fabric"})),
            ]
            for kind, model in KINDS.items()
        },
        "[failed] of a [system]": keys_of_table(FailedTable),
        "wiring of a [system]": keys_of_table(WiringTable),
        "[fabric] (also [system.fabric])": keys_of_table(FabricTable),
        "[fabric.router]": keys_of_table(RouterTable),
        "[fabric.nic]": keys_of_table(NicTable),
        "[fabric.congestion_control]": keys_of_table(CongestionTable),
        "[fabric.traffic_classes.NAME]": keys_of_table(TrafficClassTable),
        "[fabric.links.CLASS]": keys_of_table(LinkTable),
    }


def keys_of_policy(policy: Policy) -> list[Key]:
    """The options of a placement policy."""
    return [Key(o.name, o.doc, (), o.default) for o in policy.options]


def _choices(annotation: Any) -> tuple[str, ...]:
    if get_origin(annotation) is Literal:
        return tuple(str(value) for value in get_args(annotation))
    if get_origin(annotation) in (Union, UnionType):
        return tuple(c for part in get_args(annotation) for c in _choices(part))
    return ()


def _is_table(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, Table)


def _default(field: FieldInfo) -> str | None:
    if field.is_required():
        return None
    default = field.default
    if default is None or _is_table(field.annotation):
        return ""
    for serializer in field.metadata:
        if hasattr(serializer, "func") and getattr(serializer, "when_used", "") == "json":
            write: Callable[[Any], Any] = serializer.func
            # Defaults of options of the core are texts already.
            default = default if isinstance(default, str) else write(default)
    if isinstance(default, bool):
        return str(default).lower()
    if isinstance(default, Fraction):
        return units.format_fraction(default)
    if isinstance(default, Mapping | tuple):
        return " ".join(str(v) for v in (default.values() if isinstance(default, Mapping) else default)) or "[]"
    return str(default)
