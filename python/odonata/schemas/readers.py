"""What each reader of a value accepts, as a JSON schema.

Models of documents read texts with units, lists in short forms and the like with functions. Pydantic does not know what
they accept, so it is stated here, by the module and the name of the function. A schema may be wider than its function,
and never narrower. A test fails for a function that is not listed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from odonata import units

Json = dict[str, Any]
Form = Json | Callable[[Json], Json]
"""A schema, or a function of the schema of what the reader gives on."""

_NUMBER = r"[+-]?([0-9][0-9_]*\.?[0-9_]*|\.[0-9][0-9_]*)([eE][+-]?[0-9]{1,3})?"


def _quantity(names: object, example: str) -> Json:
    listed = "|".join(sorted(map(str, names), key=lambda name: (-len(name), name)))  # type: ignore[call-overload]
    return {"type": "string", "pattern": rf"^\s*{_NUMBER}\s*({listed})\s*$", "examples": [example]}


TIME = _quantity(units.TIME, "100 ns")
SIZE = _quantity(units.SIZE, "4 KiB")
BANDWIDTH = _quantity(units.BANDWIDTH, "200 Gbit/s")
FLOP_RATE = _quantity(units.FLOP_RATE, "312 Tflop/s")
RATIO: Json = {
    "anyOf": [{"type": "number", "minimum": 0}, {"type": "string", "pattern": rf"^\s*{_NUMBER}\s*%?\s*$"}],
    "examples": [0.5, "50 %"],
}
TEXT: Json = {"type": "string"}
TABLE: Json = {"type": "object"}
TEXTS: Json = {"type": "array", "items": TEXT}


def either(*forms: Json) -> Json:
    """One of several forms."""
    return {"anyOf": list(forms)}


def one_of(*names: str) -> Json:
    """One of several texts."""
    return {"enum": list(names)}


def several(form: Json) -> Json:
    """A value or a list of such values."""
    return either(form, {"type": "array", "items": form, "minItems": 1})


def whole(least: int, most: int) -> Json:
    """A whole number of a range."""
    return {"type": "integer", "minimum": least, "maximum": most}


def _given(inner: Json) -> Json:
    return inner


def _or(*forms: Json) -> Callable[[Json], Json]:
    return lambda inner: either(*forms, inner)


COUNTS: Json = {"type": "array", "items": whole(0, 2**32 - 1)}

FORMS: dict[str, Form] = {
    "document.quantities:_time": TIME,
    "document.quantities:_positive_time": TIME,
    "document.quantities:positive_bandwidth": BANDWIDTH,
    "document.quantities:_ratio": RATIO,
    "document.quantities:_count": whole(1, 2**32 - 1),
    "document.quantities:_count_or_zero": whole(0, 2**32 - 1),
    "document.quantities:_seed": whole(0, 2**64 - 1),
    "document.table:Table._known_keys_only": _given,
    "units:size_bytes": SIZE,
    "machine.fabric:_delay": TIME,
    "machine.fabric:_channels": whole(1, 2**8),
    "machine.fabric:_acknowledged": whole(1, 2**20),
    "machine.fabric:_window": either(SIZE, whole(1, 2**32 - 1)),
    "machine.fabric:_crossbar": either(TEXT, {"type": "number"}),
    "machine.failed:_links": TEXTS,
    "machine.failed:_routers": COUNTS,
    "machine.failed:_nodes": {"type": "array", "items": either(TEXT, whole(0, 2**32 - 1))},
    "machine.gpus:_count": whole(1, 2**16),
    "machine.gpus:_links": {"type": "array", "items": COUNTS},
    "machine.gpus:_nics": COUNTS,
    "machine.host:_rate": either(BANDWIDTH, one_of("none")),
    "machine.host:_positive_rate": BANDWIDTH,
    "machine.host:_eager": SIZE,
    "machine.host:_sized": SIZE,
    "machine.host:_control": SIZE,
    "machine.host:_header": SIZE,
    "machine.host:_fetches": either(whole(1, 2**32 - 1), one_of("any")),
    "machine.host:_by_size": _given,
    "machine.host:_reduce_by_size": _given,
    "machine.host:_gpu": _or(one_of("none")),
    "machine.kinds.graph:_links": either(TEXT, {"type": "array", "items": {"type": "array"}}, TABLE),
    "machine.kinds.graph:_routers": COUNTS,
    "machine.kinds.graph:_names": TEXTS,
    "machine.kinds.hyperx:_counts": COUNTS,
    "machine.kinds.lists:_pair_links": {"type": "array", "items": COUNTS},
    "machine.kinds.lists:_global_links": {"type": "array", "items": COUNTS},
    "scenario.sensing:_per_class": either(TIME, {"type": "object", "additionalProperties": TIME}),
    "scenario.tables:_name": {"type": "string", "pattern": "^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$"},
    "scenario.tables:_place": either(TEXT, TABLE),
    "scenario.tables:_until": several(TEXT),
    "scenario.tables:_jobs": _given,
    "scenario.tables:_bound": RATIO,
    "scenario.tables:_steady": _given,
    "scenario.tables:_packets": _given,
    "scenario.apps.bursts:_number": RATIO,
    "scenario.apps.chakra:_dimensions": COUNTS,
    "scenario.apps.learning_options:_flop_rate": either(FLOP_RATE, whole(1, 2**64 - 1)),
    "scenario.apps.learning_options:_algorithms_and.<locals>.algorithms": {
        "type": "object",
        "additionalProperties": TEXT,
    },
    "scenario.apps.grid:_extents.<locals>.read": COUNTS,
    "scenario.apps.patterns:_interval": TIME,
    "scenario.apps.patterns:_load": RATIO,
    "scenario.apps.patterns:_grid": COUNTS,
    "scenario.apps.phases:_grid": COUNTS,
    "scenario.apps.train.app:_train": _given,
    "scenario.apps.train.options:_split": COUNTS,
    "scenario.apps.serve:_serve": _given,
    "scenario.apps.values:_message": SIZE,
    "scenario.apps.values:_duration": TIME,
    "scenario.apps.values:_overhead": _or(one_of("none")),
    "scenario.apps.values:whole_number.<locals>.read": whole(1, 2**31 - 1),
    "scenario.routings.custom:_numbers": {"type": "object", "additionalProperties": {"type": "number"}},
    "scenario.routings.custom:_hops": whole(1, 16),
    "scenario.routings.custom:_state": whole(0, 2**20),
    "scenario.routings.dragonfly:_one_or_two": {"enum": [1, 2]},
    "scenario.routings.hyperx:_deroutes": whole(0, 13),
    "scenario.routings.listed:_whole.<locals>.read": whole(0, 2**32 - 1),
    "scheduler.tables:_names": either(TEXTS, {"type": "object", "additionalProperties": {"type": "number"}}),
    "scheduler.tables:_columns": {"type": "object", "additionalProperties": TEXT},
    "scheduler.tables:_seeds": several(whole(0, 2**64 - 1)),
    "scheduler.tables:_backfill": several(one_of("easy", "conservative", "none")),
    "scheduler.tables:_backfill_jobs": either(whole(1, 2**32 - 1), one_of("all")),
    "scheduler.tables:_placement": several(either(TEXT, {"type": "object", "required": ["policy"]})),
    "workload.book:_patterns": TEXT,
    "workload.book:_range": either(TEXT, whole(1, 2**32 - 1)),
    "placement.policy:read_groups": either(TEXT, COUNTS),
}
"""Module and name of a reader -> what it accepts. Those that choose a model are in `generate.py`."""
