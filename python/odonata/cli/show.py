"""`odonata show`: all names that a scenario can use, and their details."""

import json as json_module
import textwrap
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from odonata.cli.completion import routings, shown
from odonata.errors import InputError, unknown
from odonata.lazy import ByName
from odonata.text import aligned, terminal_width

if TYPE_CHECKING:
    from odonata.store import Column

#: What `odonata show` without a name lists: heading -> names and one line about each.
Listing = dict[str, dict[str, str]]


def show(
    name: Annotated[str | None, Parameter(completer=shown)] = None,
    /,
    *,
    routes: Annotated[tuple[str, str] | None, Parameter(negative=())] = None,
    routing: Annotated[str | None, Parameter(completer=routings)] = None,
    limit: int | None = None,
    cost: Annotated[bool, Parameter(negative=())] = False,
    json: Annotated[bool, Parameter(negative=())] = False,
) -> int:
    """List or print systems, routings, placements, applications and columns.

    Parameters
    ----------
    name
        What to print: a name, a whole list such as `routings`, the columns of a table such as `jobs`, `scenario`
        for all keys of a scenario file, or a TOML file of a system or of a scenario (its system is printed). All lists
        without it.
    routes
        Two nodes of a system, by number or by the names in the file of a graph: print the paths that packets may take
        between them, hop by hop, with the channels.
    routing
        With `--routes`: the routing, a name or a table in TOML (default: that of the scenario, or the system's
        default).
    limit
        With `--routes`: maximum number of minimal paths to print, and of non-minimal paths (default: 10).
    cost
        Of a system: what it needs. Switches, cables of each class, ports, each also per node, and the bandwidth between
        its halves.
    json
        Print one JSON object.
    """
    if routes is not None:
        if cost:
            raise InputError("`--cost` and `--routes` are two questions", hint="ask for one of them")
        return _show_routes(name, routes, routing, 10 if limit is None else limit, json)
    for option, given in (("--routing", routing), ("--limit", limit)):
        if given is not None:
            raise InputError(f"`{option}` belongs to `--routes`", hint="odonata show SYSTEM --routes A B")
    if cost:
        return _show_cost(name, json)
    if name is None:
        _print_listing(listing() if json else _overview(), json)
    elif name in _LISTS:
        _print_listing({name: _LISTS[name]()}, json)
    elif name in _tables():
        _print_listing({name: {n: about for n, about in _columns().items() if n.startswith(f"{name}.")}}, json)
    else:
        facts = describe(name)
        print(json_module.dumps(facts) if json else _text(facts))
    return 0


def _show_routes(name: str | None, ends: tuple[str, str], routing: str | None, limit: int, json: bool) -> int:
    from odonata.cli import routes

    paths = routes.routes(_named_system(name, "--routes", " A B"), *ends, routing, limit)
    print(json_module.dumps(paths) if json else routes.text(paths))
    return 0


def _show_cost(name: str | None, json: bool) -> int:
    from odonata import scenario
    from odonata.cli import cost

    facts = cost.facts(scenario.system(_named_system(name, "--cost")))
    print(json_module.dumps(facts) if json else cost.text(facts))
    return 0


def _named_system(name: str | None, option: str, more: str = "") -> str:
    """The name of a system, or a file. Raises InputError for another name."""
    if name is None:
        raise InputError(f"`{option}` needs a system", hint=f"odonata show SYSTEM {option}{more}")
    if not name.endswith(".toml"):
        from odonata import machine

        if name not in machine.names():
            raise unknown("system", name, machine.names())
    return name


def listing() -> Listing:
    """All names by kind, each with one line about it."""
    return {kind: names() for kind, names in _LISTS.items()}


def describe(name: str) -> dict[str, Any]:
    """Everything about one name, as JSON prints it. Raises InputError for an unknown name."""
    if name.endswith(".toml"):
        return _system(name)
    if name == "scenario":
        return _scenario()
    aliases = _aliases()
    named = [(kind, name) for kind in _LISTS if _has(kind, name)]
    named += [where for alias, where in aliases.items() if alias.casefold() == name.casefold()]
    descriptions = [_DESCRIBE[kind](known_as) for kind, known_as in named]
    if descriptions:
        # A broadcast is a pattern and a collective.
        return descriptions[0] | ({"also": descriptions[1:]} if len(descriptions) > 1 else {})
    known = {"scenario", *_LISTS, *_tables(), *(n for names in _LISTS.values() for n in names()), *aliases}
    error = unknown("name", name, known)
    if error.hint and error.hint.startswith("known"):
        error.hint = "`odonata show` lists all names"
    raise error


def _has(kind: str, name: str) -> bool:
    """Whether a list has the name. What it names is not loaded for that."""
    if kind == "systems":
        from odonata import machine

        return name in machine.names()
    return name in (_MODELS[kind]() if kind in _MODELS else _LISTS[kind]())


def _overview() -> Listing:
    """As `listing`, with the many columns summed up by table."""
    from odonata.store.columns import TABLES

    tables = {t: f"{sum(c.table == t for c in _registered_columns())} columns; {about}" for t, about in TABLES.items()}
    return listing() | {"columns": tables}


def _systems() -> dict[str, str]:
    from odonata import machine
    from odonata.cli.system_text import summary

    return {name: summary(machine.load(name)) for name in machine.names()}


def _routings() -> Mapping[str, type]:
    from odonata.scenario import ROUTINGS

    return ROUTINGS


def _patterns() -> Mapping[str, type]:
    from odonata.scenario import PATTERNS

    return PATTERNS


def _collectives() -> Mapping[str, type]:
    from odonata.scenario import COLLECTIVES

    return COLLECTIVES


def _motifs() -> Mapping[str, type]:
    from odonata.scenario import MOTIFS

    return MOTIFS


def _traces() -> Mapping[str, type]:
    return ByName("odonata.scenario.apps", {"trace": "trace.Trace", "chakra": "chakra.Chakra", "flows": "flows.Flows"})


def _matrices() -> Mapping[str, type]:
    return ByName("odonata.scenario.apps", {"matrix": "matrix.Matrix"})


def _trainings() -> Mapping[str, type]:
    return ByName(
        "odonata.scenario.apps",
        {
            "train": "train.app.Train",
            "serve": "serve.Serve",
            "parallelism": "train.options.TrainTable",
            "serving": "serve.ServeTable",
            "shapes": "train.shapes.ShapeTable",
        },
    )


def _placements() -> dict[str, str]:
    from odonata.placement import POLICIES

    return {name: policy.summary for name, policy in POLICIES.items()}


def _aliases() -> dict[str, tuple[str, str]]:
    """Other names in the literature -> kind and name."""
    from odonata.placement import POLICIES
    from odonata.scenario.apps.listed import PATTERN_ALIASES
    from odonata.scenario.routings import ALIASES

    return {
        **{alias: ("placements", POLICIES.find(alias).name) for alias in POLICIES.aliases},
        **{alias: ("patterns", pattern) for alias, pattern in PATTERN_ALIASES.items()},
        **{alias: ("routings", routing) for alias, routing in ALIASES.items()},
    }


def _also_called(kind: str, name: str) -> list[str]:
    """The other names, as a scenario may write them."""
    from odonata.scenario.routings import ARIES_MODES

    called = [alias for alias, where in _aliases().items() if where == (kind, name)]
    if kind == "routings" and name in ARIES_MODES:
        called.append(f'{{ name = "aries", mode = "{name}" }}')
    return called


def _models() -> dict[str, str]:
    from odonata.scenario.apps.train import MODELS

    return {name: model.about for name, model in MODELS.items()}


def _mappings() -> dict[str, str]:
    from odonata.scenario.apps.mapping import MAPPINGS

    return dict(MAPPINGS)


def _simulators() -> dict[str, str]:
    from odonata.cli.simulators import COMPATS

    return {name: simulator.about for name, simulator in COMPATS.items()}


def _simulator(name: str) -> dict[str, Any]:
    from odonata.cli.simulators import COMPATS

    of = COMPATS[name]
    about = f'{of.about}. In a scenario: `compat = "{name}"`.\n\nSource: {of.source}.\n\nIt refuses {of.refuses}.'
    return {"kind": "simulator", "name": name, "about": about, "keys": [], "differences": dict(of.differences)}


def _tables() -> dict[str, str]:
    from odonata.store.columns import TABLES

    return TABLES


def _columns() -> dict[str, str]:
    return {
        f"{c.table}.{c.name}": _with_header(c, c.meaning + (f" ({c.unit})" if c.unit else ""))
        for c in _registered_columns()
    }


def _registered_columns() -> "list[Column]":
    """All columns, those that studies derive after the stored ones of `jobs`."""
    from odonata.analysis.derived import DERIVED
    from odonata.store.columns import COLUMNS

    jobs, others = ([c for c in COLUMNS if (c.table == "jobs") is of_jobs] for of_jobs in (True, False))
    return [*jobs, *DERIVED, *others]


def _with_header(column: "Column", about: str) -> str:
    """The meaning of a column, with the header under which `odonata run` prints it."""
    from odonata.analysis.derived import DERIVED
    from odonata.store.columns import PRINTED

    if column in DERIVED:
        return f"{about}; computed when a study is read"
    header = PRINTED.get(column.name) if column.table == "jobs" else None
    return about if header is None else f"{about}; printed as `{header}`"


def _scenario() -> dict[str, Any]:
    from odonata.scenario.describe import scenario_tables

    tables = {header: [key.row() for key in keys] for header, keys in scenario_tables().items()}
    return {"kind": "scenario", "name": "scenario", "tables": tables}


def _system(name: str) -> dict[str, Any]:
    from odonata import scenario
    from odonata.cli.system_text import facts

    return facts(scenario.system(name))


def _routing(name: str) -> dict[str, Any]:
    from odonata.scenario import ROUTINGS

    facts = _table("routing", name, ROUTINGS[name], frozenset({"name"}))
    return facts | {"sensing": ROUTINGS[name].sensing, "also_called": _also_called("routings", name)}


def _sensing() -> dict[str, str]:
    from odonata.scenario.sensing import METRICS

    return METRICS


def _metric(name: str) -> dict[str, Any]:
    about = f'With `sensing = "{name}"`, the load of a port is {_sensing()[name]}.'
    return {"kind": "congestion metric", "name": name, "about": about, "keys": []}


def _pattern(name: str) -> dict[str, Any]:
    from odonata.scenario import PATTERNS

    facts = _table("pattern", name, PATTERNS[name], frozenset({"pattern"}))
    return facts | {"also_called": _also_called("patterns", name)}


def _collective(name: str) -> dict[str, Any]:
    from odonata.scenario import COLLECTIVES
    from odonata.scenario.apps.libraries import LIBRARIES
    from odonata.scenario.apps.nccl import NCCL

    collective = COLLECTIVES[name]
    facts = _program("collective", name, collective)
    chooses = {
        "allreduce": {NCCL: "what NCCL 2.23 chooses by size, GPUs and nodes"},
        "alltoall": {NCCL: "what NCCL does on nodes with GPUs: `pxn` or `scattered`"},
    }
    libraries = {**LIBRARIES, **chooses.get(name, {})}
    chosen = {"algorithms": dict(collective.algorithms), "libraries": libraries, "default": collective.reason}
    return {**facts, **chosen}


def _motif(name: str) -> dict[str, Any]:
    from odonata.scenario import MOTIFS

    return _program("motif", name, MOTIFS[name])


def _trace(name: str) -> dict[str, Any]:
    return _program("trace", name, _traces()[name])


def _matrix(name: str) -> dict[str, Any]:
    return _program("matrix", name, _matrices()[name])


def _training(name: str) -> dict[str, Any]:
    from odonata.scenario.apps.app import Program

    model = _trainings()[name]
    if issubclass(model, Program):
        return _program("application", name, model)
    return _table("table", name, model, frozenset())


def _model(name: str) -> dict[str, Any]:
    from odonata.scenario.apps.train import MODELS

    model = MODELS[name]
    shapes = model.table()
    sizes = {"parameters": f"{shapes.parameters():,}"}
    if shapes.experts is not None:
        sizes["of a token"] = f"{shapes.active_parameters():,}"
    numbers = shapes.model_dump(exclude_defaults=True)
    given = {key: str(value).lower() if isinstance(value, bool) else f"{value:,}" for key, value in numbers.items()}
    about = f'{model.about}. In a scenario: `train = {{ model = "{name}", ... }}`.\n\nSource: {model.source}.'
    return {"kind": "model", "name": name, "about": about, "keys": [], "shapes": sizes | given}


def _program(kind: str, name: str, model: Any) -> dict[str, Any]:
    """A program without the keys that may stand in the job as well, which `odonata show scenario` has."""
    from odonata.scenario.apps.app import JOB_KEYS

    return _table(kind, name, model, frozenset({"collective", "motif", *JOB_KEYS}))


def _mapping(name: str) -> dict[str, Any]:
    return {"kind": "mapping", "name": name, "about": f"{_mappings()[name]}.", "keys": []}


def _table(kind: str, name: str, model: Any, leave_out: frozenset[str]) -> dict[str, Any]:
    from odonata.scenario.describe import keys_of_table

    keys = [key.row() for key in keys_of_table(model, leave_out)]
    return {"kind": kind, "name": name, "about": _about(model), "keys": keys}


def _placement(name: str) -> dict[str, Any]:
    from odonata.placement import POLICIES
    from odonata.scenario.describe import keys_of_policy

    policy = POLICIES[name]
    about = f"{policy.summary}. Ranks are in this order: {policy.rank_order}."
    return {
        "kind": "placement",
        "name": name,
        "about": about[:1].upper() + about[1:],
        "keys": [key.row() for key in keys_of_policy(policy)],
        "also_called": _also_called("placements", name),
    }


def _column(name: str) -> dict[str, Any]:
    from dataclasses import asdict

    table, _, column = name.partition(".")
    registered = next(c for c in _registered_columns() if (c.table, c.name) == (table, column))
    return {"kind": "column", **asdict(registered), "name": name, "text": _with_header(registered, registered.meaning)}


def _lines(models: Callable[[], Mapping[str, type]]) -> dict[str, str]:
    return {name: _first_line(model) for name, model in models().items()}


#: Kind -> its models by name; the first line of a model's text is the line of the list.
_MODELS: dict[str, Callable[[], Mapping[str, type]]] = {
    "routings": _routings,
    "patterns": _patterns,
    "collectives": _collectives,
    "motifs": _motifs,
    "traces": _traces,
    "matrices": _matrices,
    "trainings": _trainings,
}
_LISTS: dict[str, Callable[[], dict[str, str]]] = {
    "systems": _systems,
    "routings": partial(_lines, _routings),
    "sensing": _sensing,
    "placements": _placements,
    "patterns": partial(_lines, _patterns),
    "collectives": partial(_lines, _collectives),
    "motifs": partial(_lines, _motifs),
    "traces": partial(_lines, _traces),
    "matrices": partial(_lines, _matrices),
    "trainings": partial(_lines, _trainings),
    "models": _models,
    "mappings": _mappings,
    "simulators": _simulators,
    "columns": _columns,
}
_DESCRIBE: dict[str, Callable[[str], dict[str, Any]]] = {
    "systems": _system,
    "routings": _routing,
    "sensing": _metric,
    "placements": _placement,
    "patterns": _pattern,
    "collectives": _collective,
    "motifs": _motif,
    "traces": _trace,
    "matrices": _matrix,
    "trainings": _training,
    "models": _model,
    "mappings": _mapping,
    "simulators": _simulator,
    "columns": _column,
}


def _first_line(model: type) -> str:
    return (model.__doc__ or "").strip().splitlines()[0].rstrip(".")


def _about(model: type) -> str:
    from inspect import cleandoc

    return cleandoc(model.__doc__ or "")


def _print_listing(lists: Listing, json: bool) -> None:
    if json:
        print(json_module.dumps(lists))
        return
    blocks = []
    for kind, names in lists.items():
        blocks.append("\n".join([kind, *aligned(list(names.items()), indent="  ", width=terminal_width())]))
    print("\n\n".join(blocks))


def _text(facts: dict[str, Any]) -> str:
    if facts["kind"] == "system":
        from odonata.cli import system_text

        return system_text.text(facts)
    if facts["kind"] == "column":
        rows = [("type", facts["dtype"]), ("unit", facts["unit"] or "none"), ("better", facts["better"])]
        return "\n".join([f"{facts['name']}: {facts['text']}", "", *aligned(rows, indent="  ", width=terminal_width())])
    if facts["kind"] == "scenario":
        return "\n\n".join("\n".join([*_folded(header), *_key_lines(keys)]) for header, keys in facts["tables"].items())
    lines = [f"{facts['kind']} {facts['name']}", "", *_folded(facts["about"])]
    if facts.get("also_called"):
        lines += ["", *_folded("Also called: " + ", ".join(f"`{name}`" for name in facts["also_called"]) + ".")]
    if facts["keys"]:
        lines += ["", *_key_lines(facts["keys"])]
    if "sensing" in facts:
        lines += [
            "",
            *_folded(
                f"Congestion metric: {facts['sensing']}, unless the scenario names another (`odonata show sensing`)."
            ),
        ]
    if "shapes" in facts:
        lines += ["", *aligned(list(facts["shapes"].items()), indent="  ", width=terminal_width())]
    if "differences" in facts:
        lines += ["", "instead of docs/model.md:"]
        lines += aligned(list(facts["differences"].items()), indent="  ", width=terminal_width())
    if "algorithms" in facts:
        lines += ["", *aligned(list(facts["algorithms"].items()), indent="  ", width=terminal_width())]
        lines += ["", *aligned(list(facts["libraries"].items()), indent="  ", width=terminal_width())]
        lines += ["", f"Without `algorithm`: {facts['default']}."]
    return "\n\n\n".join(["\n".join(lines), *(_text(other) for other in facts.get("also", ()))])


def _folded(text: str) -> list[str]:
    """Lines of a text, on a terminal not wider than it."""
    width = terminal_width()
    lines = text.splitlines()
    return lines if width is None else [part for line in lines for part in textwrap.wrap(line, width) or [""]]


def _key_lines(keys: list[dict[str, Any]]) -> list[str]:
    return aligned([(key["name"], _key_text(key)) for key in keys], indent="  ", width=terminal_width())


def _key_text(key: dict[str, Any]) -> str:
    values = f": {', '.join(key['values'])}" if key["values"] else ""
    if key["default"] is None:
        return f"{key['meaning']}{values} (required)"
    has_default = key["default"] and "(default" not in key["meaning"]
    default = f" (default: {key['default']})" if has_default else ""
    return f"{key['meaning']}{values}{default}"
