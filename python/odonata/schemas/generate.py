"""Makes the schemas from the models of documents: keys, meanings, forms of values.

A table that changes another one (the fabric of a scenario, a machine with a `preset`, the base of a study) may leave
out what that one has: its schema is the same without required keys, under a name that ends in `.changes`.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from pydantic.json_schema import GenerateJsonSchema

from odonata.machine.fabric import FabricTable
from odonata.machine.kinds import KINDS as MACHINES
from odonata.scenario.apps.app import JOB_KEYS
from odonata.scenario.apps.listed import COLLECTIVES, FILES, MOTIFS, PATTERN_ALIASES, PATTERNS, TABLES
from odonata.scenario.apps.mapping import ALIASES, MAPPINGS
from odonata.scenario.apps.phases import Along, Compute
from odonata.scenario.apps.train.models import MODELS
from odonata.scenario.apps.train.shapes import ShapeTable
from odonata.scenario.routings import ALIASES as ROUTING_ALIASES
from odonata.scenario.routings import ARIES_MODES, ROUTINGS
from odonata.scenario.sensing import METRICS
from odonata.scenario.tables import ScenarioTable
from odonata.scheduler.tables import ScheduleTable
from odonata.schemas import NAMES
from odonata.schemas.readers import FORMS, TABLE, TEXT, TEXTS, TIME, Json, either, one_of, several, whole
from odonata.study.keep import KEYS as KEPT
from odonata.study.read import KEYS as SHOWN
from odonata.study.slurm import OPTIONS as OF_CLUSTER
from odonata.workload.book import BookTable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from odonata.document import Table

DIALECT = "https://json-schema.org/draft/2020-12/schema"
CHANGES = ".changes"
"""End of the name of a table without required keys."""
PHASE = ".phase"
"""End of the name of an application as a phase of another one."""
PHASES = "phases"
"""The motif that lists others, and its key."""
PACKAGE = "odonata."

_TITLES = {
    "scenario": "A scenario of Odonata: jobs on a machine",
    "system": "A machine of Odonata",
    "study": "A study of Odonata: a scenario along axes",
    "schedule": "A schedule of Odonata: a stream of jobs under several rules",
    "book": "A traffic book of Odonata: what jobs send",
}


class _Schemas(GenerateJsonSchema):
    """Schemas of what documents hold: what readers accept in place of what they give on, and no defaults.

    Defaults are in the descriptions, in words; those of the models are in picoseconds and bytes.
    """

    ignored_warning_kinds = {"skipped-choice", "non-serializable-default"}  # noqa: RUF012 - as the base class has it

    def function_before_schema(self, schema: Any) -> Json:
        reader = name_of(schema["function"]["function"])
        chosen = _CHOICES.get(reader)
        if chosen is not None:
            return chosen(self, self.generate_inner(schema["schema"]))
        form = FORMS[reader]
        return form(self.generate_inner(schema["schema"])) if callable(form) else form

    def literal_schema(self, schema: Any) -> Json:
        """With the other names of patterns, which a reader replaces."""
        others = [other for other, name in PATTERN_ALIASES.items() if name in schema["expected"]]
        extended: Any = {**schema, "expected": [*schema["expected"], *others]}
        return super().literal_schema(extended)

    def default_schema(self, schema: Any) -> Json:
        return self.generate_inner(schema["schema"])

    def is_instance_schema(self, schema: Any) -> Json:  # noqa: ARG002 - a Fraction, which a reader has made
        return {}

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002
        return False

    def of(self, models: Iterable[type[Table]]) -> Json:
        """One of several models."""
        refs = []
        for model in dict.fromkeys(models):
            model.model_rebuild()
            refs.append(self.generate_inner(model.__pydantic_core_schema__))
        return either(*refs)


def name_of(function: Any) -> str:
    """The name of a reader in `FORMS`: its module in the package, and its own name."""
    reader = getattr(function, "reader", function)
    return f"{reader.__module__.removeprefix(PACKAGE)}:{reader.__qualname__}"


def _app(schemas: _Schemas, _: Json) -> Json:
    return schemas.of([table[name] for table in (PATTERNS, COLLECTIVES, MOTIFS, FILES, TABLES) for name in table])


def _phases(schemas: _Schemas, _: Json) -> Json:
    phases = [table[name] for table in (COLLECTIVES, MOTIFS) for name in table if name != PHASES]
    along = schemas.of([Along])["anyOf"][0]
    flat = {"$mark": "phase", "along": along, **schemas.of([Compute, *phases])}
    nested = {"type": "object", "properties": {"motif": {"const": PHASES}}, "required": ["motif", PHASES]}
    return {"type": "array", "minItems": 1, "items": either(flat, nested)}


def _routing(schemas: _Schemas, _: Json) -> Json:
    tables = [ROUTINGS[name] for name in ROUTINGS]
    unnamed = {"type": "object", "not": {"required": ["name"]}}
    by_mode = {
        "type": "object",
        "properties": {"name": one_of(*ROUTING_ALIASES), "mode": one_of(*ARIES_MODES)},
        "required": ["name"],
    }
    return either(one_of(*ROUTINGS, *ROUTING_ALIASES), unnamed, by_mode, schemas.of(tables))


def _model(schemas: _Schemas, _: Json) -> Json:
    return either(one_of(*MODELS), schemas.of([ShapeTable]))


def _mapping(_: _Schemas, inner: Json) -> Json:
    file = {"type": "string", "pattern": r"[./]"}
    short = {"type": "object", "required": ["file"], "properties": {"file": TEXT, "holds": TEXT}}
    named = {
        "type": "object",
        "required": ["name"],
        "properties": {"name": one_of(*ALIASES), "seed": whole(0, 2**64 - 1)},
    }
    return either(one_of(*MAPPINGS, *ALIASES), file, short, named, inner)


def _sensing(_: _Schemas, inner: Json) -> Json:
    return either(one_of(*METRICS), inner)


def _bursts(schemas: _Schemas, _: Json) -> Json:
    from odonata.scenario.apps.bursts import LengthTable

    return either(TIME, schemas.of([LengthTable]))


def _system(schemas: _Schemas, _: Json) -> Json:
    machine = schemas.of([MACHINES[kind] for kind in MACHINES])
    return either(TEXT, _with_sources(machine), _changed_machine(machine))


def _with_sources(machine: Json) -> Json:
    """A whole machine, as a preset has it."""
    return {"$mark": "whole", **machine}


def _changed_machine(machine: Json) -> Json:
    """A machine with a preset, of which a table changes numbers."""
    return {"$mark": "changes", **machine}


def _in_book(_: _Schemas, __: Json) -> Json:
    """The application of a rule: the load may give what an application needs, so no key is required but one."""
    return {
        "type": "object",
        "anyOf": [{"required": [key]} for key in ("pattern", "collective", "motif", *FILES, *TABLES)],
    }


_CHOICES: dict[str, Callable[[_Schemas, Json], Json]] = {
    "scenario.apps.choice:read_app": _app,
    "scenario.apps.phases:_phases": _phases,
    "scenario.apps.bursts:_read": _bursts,
    "scenario.apps.mapping:_read": _mapping,
    "scenario.apps.train.options:model_of": _model,
    "scenario.routings.choice:read_routing": _routing,
    "scenario.sensing:_read": _sensing,
    "scenario.tables:_system": _system,
    "workload.book:_app": _in_book,
}
"""Readers that choose a model."""


def schema_of(name: str) -> Json:
    """The schema of a kind of file."""
    made = _MAKERS[name]()
    made = _finished({"$schema": DIALECT, "title": _TITLES[name], **{k: v for k, v in made.items() if k != "title"}})
    return _without_unused(made)


def text_of(name: str) -> str:
    """The file of a schema: a table in each line, so that differences can be read."""
    made = schema_of(name)
    defs = made.pop("$defs")
    lines = [f"{json.dumps(key)}: {_compact(form)}" for key, form in made.items()]
    tables = ",\n".join(f"{json.dumps(key)}: {_compact(form)}" for key, form in defs.items())
    return "{" + ",\n".join(lines) + ',\n"$defs": {\n' + tables + "}}\n"


def _compact(form: Any) -> str:
    return json.dumps(form, ensure_ascii=False, separators=(",", ":"))


def _model_schema(model: type[Table]) -> Json:
    return model.model_json_schema(schema_generator=_Schemas, ref_template="#/$defs/{model}")


def _scenario() -> Json:
    made = _model_schema(ScenarioTable)
    fabric = _model_schema(FabricTable)
    made["$defs"].update(fabric.pop("$defs"))
    made["$defs"]["FabricTable"] = fabric
    made["properties"]["fabric"] = {"$ref": f"#/$defs/FabricTable{CHANGES}"}
    return made


def _machine() -> Json:
    made = _scenario()
    _, *machines = made["properties"]["system"]["anyOf"]
    return {"type": "object", "$defs": made["$defs"], **either(*machines)}


def _study() -> Json:
    scenario = _scenario()
    defs = scenario.pop("$defs")
    defs["ScenarioTable"] = scenario
    number = {"type": ["number", "string"]}
    span = {
        "type": "object",
        "properties": {"from": number, "to": number, "step": number, "count": whole(2, 1_000_000)},
        "required": ["from", "to"],
        "additionalProperties": False,
    }
    defs["Axis"] = {
        "description": "values of an axis: a list, a range, or keys one level deeper",
        "anyOf": [
            {"type": "array", "minItems": 1},
            span,
            {
                "type": "object",
                "minProperties": 1,
                "not": {"anyOf": [{"required": ["from"]}, {"required": ["to"]}]},
                "additionalProperties": {"$ref": "#/$defs/Axis"},
            },
        ],
    }
    axes = {"type": "object", "additionalProperties": {"$ref": "#/$defs/Axis"}}
    types = {int: whole(1, 2**53), str: TEXT, list: TEXTS}
    cluster = {key: {**types[kind], "description": meaning} for key, (kind, meaning) in OF_CLUSTER.items()}
    shown: dict[str, Json] = {
        "columns": {"description": "columns that are shown first", **several(TEXT)},
        "by": {"description": "axes by which they are shown", **several(TEXT)},
        "job": {"description": "the job that is shown", **TEXT},
    }
    assert shown.keys() == set(SHOWN)
    properties = {
        "base": {
            "description": "the scenario: a path relative to the study, or a table",
            **either({**TEXT, "pattern": "."}, {"$ref": f"#/$defs/ScenarioTable{CHANGES}"}),
        },
        "alone": {"type": "boolean", "description": "also simulate each job alone, for slowdowns (default: false)"},
        "sweep": {**axes, "description": "axes of which every combination is simulated"},
        "zip": {**axes, "description": "axes whose values go together, of equal length"},
        "random": {
            "type": "object",
            "description": "axes whose values are drawn",
            "properties": {"samples": whole(1, 1_000_000), "seed": whole(0, 1_000_000)},
            "required": ["samples", "seed"],
        },
        "keep": {
            "type": "object",
            "description": "statistics of tables that become columns of the runs",
            "additionalProperties": {
                "type": "object",
                "propertyNames": {"enum": list(KEPT)},
                "required": list(KEPT[:3]),
            },
        },
        "show": {"description": "what tables and pictures show first", **_closed(shown)},
        "cluster": {"description": "jobs of Slurm that simulate points", **_closed(cluster)},
    }
    axis = [{"required": [key]} for key in ("sweep", "zip", "random")]
    return {**_closed(properties), "required": ["base"], "anyOf": axis, "$defs": defs}


def _closed(properties: Json) -> Json:
    return {"type": "object", "properties": properties, "additionalProperties": False}


def _schedule() -> Json:
    made, scenario = _model_schema(ScheduleTable), _scenario()
    made["$defs"] = {**scenario["$defs"], **made["$defs"]}
    for key in ("system", "routing", "sensing", "fabric"):
        meaning = made["properties"][key].get("description", "")
        made["properties"][key] = {**scenario["properties"][key], "description": meaning}
    return made


def _book() -> Json:
    return _model_schema(BookTable)


_MAKERS: dict[str, Callable[[], Json]] = {
    "scenario": _scenario,
    "system": _machine,
    "study": _study,
    "schedule": _schedule,
    "book": _book,
}
assert tuple(_MAKERS) == NAMES


def _finished(made: Json) -> Json:
    """With short forms of parts of a machine, keys that only files have, and the tables without required keys."""
    defs = made["$defs"]
    machines = {MACHINES[kind].__name__ for kind in MACHINES} & defs.keys()
    if "FabricTable" in defs:
        for key in ("router", "nic", "congestion_control"):
            part = defs["FabricTable"]["properties"][key]
            kinds = _kinds_of(part, defs)
            meaning = part.pop("description", "")
            defs["FabricTable"]["properties"][key] = {"description": meaning, **either(one_of(*kinds), part)}
    for name in machines:
        properties = defs[name]["properties"]
        properties["sources"] = {**_texts_by_key(), "description": "where each number comes from, by its key"}
        properties["measured"] = {**TEXT, "description": "what the machine was held against"}
        properties["host"] = {
            "description": properties["host"].get("description", ""),
            **either(TEXT, {"$ref": "#/$defs/HostTable"}),
        }
        properties["fabric"] = {"$ref": "#/$defs/FabricTable"}
        # What a machine derives from its other numbers has a default although the model needs it.
        needed = defs[name].get("required", [])
        defs[name]["required"] = [key for key in needed if "(default" not in properties[key].get("description", "")]
    for name in list(defs):
        defs[name + CHANGES] = _changes(defs[name], defs)
    for name in machines:
        changed = defs[name + CHANGES]
        changed["properties"]["preset"] = {**TEXT, "description": "a system that ships with Odonata, or a file"}
        changed["required"] = ["preset"]
        changed["properties"]["kind"] = TEXT
    top = {key: _resolved(value, defs) for key, value in made.items() if key != "$defs"}
    for name in list(defs):
        defs[name] = _resolved(defs[name], defs)
    return {**top, "$defs": defs}


def _texts_by_key() -> Json:
    return {"type": "object", "additionalProperties": either(TEXT, TABLE)}


def _kinds_of(part: Json, defs: Json) -> list[str]:
    """The kinds of a part of a machine, from the model that it refers to."""
    refs = [form["$ref"] for form in part.get("anyOf", [part]) if "$ref" in form]
    kind = defs[refs[0].rpartition("/")[2]]["properties"]["kind"]
    listed = [form for form in kind.get("anyOf", [kind]) if "enum" in form or "const" in form]
    return [str(name) for form in listed for name in form.get("enum", [form.get("const")])]


def _changes(given: Any, defs: Json) -> Any:
    """A copy without required keys, also in the tables that it refers to."""
    if isinstance(given, dict):
        copied = {key: _changes(value, defs) for key, value in given.items() if key != "required"}
        if isinstance(copied.get("$ref"), str):
            copied["$ref"] = copied["$ref"].removesuffix(CHANGES) + CHANGES
        return copied
    return [_changes(value, defs) for value in given] if isinstance(given, list) else given


def _resolved(given: Any, defs: Json) -> Any:
    """With marks replaced by what they stand for: machines of which a table changes numbers, and phases."""
    if isinstance(given, list):
        return [_resolved(value, defs) for value in given]
    if not isinstance(given, dict):
        return given
    mark = given.get("$mark")
    made = {key: _resolved(value, defs) for key, value in given.items() if key != "$mark"}
    if mark == "changes":
        made["anyOf"] = [{"$ref": form["$ref"].removesuffix(CHANGES) + CHANGES} for form in made["anyOf"]]
    if mark == "phase":
        along = made.pop("along")
        made["anyOf"] = [_phase(form["$ref"], along, defs) for form in made["anyOf"]]
    return made


def _phase(ref: str, along: Json, defs: Json) -> Json:
    """An application as a phase, which ranks along an axis may do together."""
    name = ref.rpartition("/")[2]
    given = defs[name]
    if name + PHASE not in defs:
        own = {key: form for key, form in given["properties"].items() if key not in JOB_KEYS}
        defs[name + PHASE] = {**given, "properties": {**own, "along": along}}
    return {"$ref": ref + PHASE}


def _without_unused(made: Json) -> Json:
    """Only the tables that are referred to, directly or not."""
    defs = made.pop("$defs")
    used: dict[str, None] = {}
    left = [made]
    while left:
        for name in _refs(left.pop()):
            if name not in used:
                used[name] = None
                left.append(defs[name])
    return {**made, "$defs": {name: defs[name] for name in sorted(used)}}


def _refs(given: Any) -> list[str]:
    if isinstance(given, list):
        return [name for value in given for name in _refs(value)]
    if not isinstance(given, dict):
        return []
    own = [given["$ref"].rpartition("/")[2]] if isinstance(given.get("$ref"), str) else []
    return own + [name for value in given.values() for name in _refs(value)]
