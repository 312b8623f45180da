"""Loads a machine from its name, file or table."""

import json
from collections.abc import Mapping
from functools import cache, lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from odonata.document import Document, parse, read, validate
from odonata.document.plain import plain
from odonata.errors import InputError, unknown
from odonata.machine import core
from odonata.machine.fabric import ARIES
from odonata.machine.host import NO_COSTS, HostTable, gains_gpus, overruled_lists, with_gpu_costs
from odonata.machine.kinds import KINDS, MachineTable, WiringTable
from odonata.machine.sources import check_sources, flat, rows, stated_sources
from odonata.machine.system import System


@cache
def _rules() -> set[str]:
    """Keys that define the cables between groups, of all kinds: a table with one replaces a list, and a list them."""
    return {key for kind in KINDS.values() for key in kind.rules_of_pairs}


def names() -> list[str]:
    """List the machines that ship with Odonata.

    Returns
    -------
    list of str
        Names as `system` of a scenario takes them, in alphabetical order. `odonata show NAME` prints a machine with a
        source for every number.

    Examples
    --------
    >>> import odonata as od
    >>> "theta" in od.systems()
    True
    """
    folder = files("odonata.machine") / "presets"
    return sorted(f.name.removesuffix(".toml") for f in folder.iterdir() if f.name.endswith(".toml"))


def variants(name: str) -> list[str]:
    """The machines that ship with Odonata and change this one: their names begin with its name."""
    return [variant for variant in names() if variant.startswith(f"{name}-")]


def load(
    system: str | Mapping[str, Any],
    fabric: Mapping[str, Any] | None = None,
    folder: str | Path = ".",
    usual: Mapping[str, Any] | None = None,
) -> System:
    """The machine of that name, of that `.toml` file (relative to `folder`), or of that table.

    A table may name a `preset` and override any of its numbers, or describe a machine completely. `fabric` overrides
    numbers of the fabric once more; `usual` changes the fabric where neither of the two says anything (what a published
    simulator has instead of the preset's number). Equal arguments give the same object.

    Raises InputError if there is no such machine or it cannot be built; the error's `path` leads into
    the table (under `system`) or into `fabric`.
    """
    given: dict[str, Any] = {"preset": system} if isinstance(system, str) else dict(system)
    preset = given.get("preset")
    if preset is not None and not isinstance(preset, str):
        raise InputError(f"expected the name of a system, found `{preset!r}`", path=("system", "preset"))
    host = given.get("host")
    in_file = isinstance(host, str) and host.endswith(".toml")
    names_links = isinstance(given.get("links"), str)
    if (preset is not None and preset.endswith(".toml")) or "wiring" in given or names_links or in_file:
        return _load(given, fabric, Path(folder), usual)
    try:
        question = json.dumps([given, fabric, usual])
    except TypeError:  # numbers of NumPy; or a date, which TOML has and JSON does not: the models refuse it
        return _load(plain(given), fabric, Path(folder), usual)
    return _answer(question)


@lru_cache(maxsize=64)
def _answer(question: str) -> System:
    given, fabric, usual = json.loads(question)
    return _load(given, fabric, Path(), usual)


def _load(
    given: dict[str, Any], fabric: Mapping[str, Any] | None, folder: Path, usual: Mapping[str, Any] | None
) -> System:
    preset = given.pop("preset", None)
    base = {} if preset is None else _base(preset, folder)
    try:
        own_sources = stated_sources(given.pop("sources", {}))
        sources = base.pop("sources", {}) | own_sources
        measured, of_preset = _text_of("measured", given), _text_of("measured", base)
    except InputError as e:
        raise e.under("system") from None
    host = given.get("host")
    whole_host = isinstance(host, str)
    given, host_sources = _host(given, folder)
    if whole_host:
        base = {key: value for key, value in base.items() if key != "host"}
        sources = {key: text for key, text in sources.items() if not key.startswith("host.")}
    base, changed = _spelled_out(base), _spelled_out(given)
    if fabric is not None:
        changed = _over(changed, _spelled_out({"fabric": dict(fabric)}))
    base = _overruled(base, changed)
    if _gets_aries(base, changed):  # whose packets have a header and flits of their own
        base = _copy(base)
        for key in ("header", "flit"):
            base.get("fabric", {}).pop(key, None)
            sources.pop(f"fabric.{key}", None)
    merged = _over(_merge(base, {"fabric": dict(usual or {})}) if usual else base, changed)
    if changed and base and "name" not in given:
        merged["name"] = f"{base['name']} (changed)"
    if measured is None and of_preset is not None:
        measured = f"never with these changes; {preset}: {of_preset}" if changed else of_preset
    sources |= dict.fromkeys(flat({"fabric": usual or {}}), "the published simulator's own")
    try:
        table, imported = _wired(merged, folder)
        check_sources(own_sources, table)
        elsewhere = {*imported, *(("host",) if host_sources else ())}
        stated = {key: value for key, value in changed.items() if key not in elsewhere}
        parameters = rows(table, base, stated, sources | imported | host_sources)
        system = System(table.name, table, tuple(parameters), measured)
        _ = system.unusable_nodes
    except InputError as e:
        raise _placed(_of_named_host(e, host), fabric or {}) from None
    return system


def _text_of(key: str, table: dict[str, Any]) -> str | None:
    """What the table says under a key, which it no longer has after that. Raises InputError for anything but a text."""
    said = table.pop(key, None)
    if said is not None and not isinstance(said, str):
        raise InputError(f"`{key}`: expected a text, found `{said!r}`", path=(key,))
    return said


def _host(given: dict[str, Any], folder: Path) -> tuple[dict[str, Any], dict[str, str]]:
    """The table with the costs of the host that it names, and their sources: `none`, a preset or a file."""
    name = given.get("host")
    if not isinstance(name, str):
        return given, {}
    sources: dict[str, str] = {}
    host: Mapping[str, Any]
    if name == "none":
        host = NO_COSTS
        usual = "given in the scenario: none"
    elif name.endswith(".toml"):
        host, sources = _host_of_file(read(folder / name))
        usual = "no source given"
    elif name in names():
        preset = _preset(name)
        host, sources = preset["host"], stated_sources(preset.get("sources", {}))
        usual = f"as in {name}"
        sources = {key: f"as in {name}: {text}" for key, text in sources.items() if key.startswith("host.")}
    else:
        error = unknown("host", name, ["none", *names()])
        hint = error.hint or '`host = "none"`'
        message = f'expected a table, "none", a preset or a file that ends in .toml, found `{name}`'
        raise InputError(message, hint=f"{hint}; `odonata calibrate` writes a file", path=("system", "host"))
    return {**given, "host": host}, {f"host.{key}": usual for key in flat(host)} | sources


def _host_of_file(document: Document) -> tuple[Mapping[str, Any], dict[str, str]]:
    """`[host]` of a file of `odonata calibrate`, or of a machine, and its sources."""
    try:
        sources = stated_sources(document.data.get("sources", {}))
        for key in document.data if "kind" not in document.data else ():
            if key not in ("host", "sources", "calibration"):
                raise unknown("key", key, ["host", "sources", "calibration"]).but(path=(key,))
        host = document.data.get("host")
        if not isinstance(host, Mapping):
            raise InputError("the table `[host]` is missing", hint="`odonata calibrate` writes such a file")
        try:
            validate(HostTable, host)
        except InputError as e:
            raise e.under("host") from None
    except InputError as e:
        raise document.locate(e) from None
    return host, {key: text for key, text in sources.items() if key.startswith("host.")}


def _overruled(base: dict[str, Any], changed: Mapping[str, Any]) -> dict[str, Any]:
    """The base without the keys that `changed` replaces.

    A list of links between groups replaces the rules for them, and the rules replace a list. Another arrangement has
    another seed. Nodes with one NIC have no other NIC keys. Costs of the host replace those by size, and
    GPUs all costs of ranks on processors.
    """
    if not changed:
        return base
    wiring = changed.get("wiring")
    void: set[str] = set()
    if "global_links" in changed or (isinstance(wiring, Mapping) and "inter" in wiring):
        void |= _rules()
    elif _rules() & changed.keys():
        void.add("global_links")
    if "arrangement" in changed:
        void.add("arrangement_seed")
    if changed.get("rails") == 1:
        void.add("rails_on")
        base = _copy(base)
        for key in ("rail", "stripe_above"):
            base.get("fabric", {}).get("nic", {}).pop(key, None)
    host = changed.get("host")
    if gains_gpus(base.get("host"), host):
        void.add("host")  # its costs are those of processors
    elif isinstance(host, Mapping) and (lists := overruled_lists(host)):
        base = _copy(base)
        for key in lists:
            base.get("host", {}).pop(key, None)
    return {key: value for key, value in base.items() if key not in void}


def _part_of(table: Mapping[str, Any], key: str) -> Any:
    fabric = table.get("fabric")
    return fabric.get(key) if isinstance(fabric, Mapping) else None


def _gets_aries(base: Mapping[str, Any], changed: Mapping[str, Any]) -> bool:
    """Whether the changes give NICs of Aries to a base that has others."""
    before, after = _part_of(base, "nic"), _part_of(changed, "nic")
    kind = before.get("kind") if isinstance(before, Mapping) else None
    return isinstance(after, Mapping) and after.get("kind") == "aries" and kind != "aries"


def _over(table: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """A table with changes. A change of a kind drops the keys of the kind before: crossbars of routers, windows of
    NICs, the numbers of congestion control.
    """
    router, nic = _part_of(changes, "router"), _part_of(changes, "nic")
    table = _copy(table)
    if isinstance(router, Mapping) and router.get("kind") == "ideal" and _part_of(table, "router") is not None:
        del table["fabric"]["router"]
    before = _part_of(table, "nic")
    if isinstance(nic, Mapping) and isinstance(before, dict):
        if nic.get("kind") in ("simple", "windowed") and before.get("kind") == "aries":
            for key in ("header", "flit"):
                table["fabric"].pop(key, None)
        if nic.get("kind", before.get("kind")) != before.get("kind"):
            for key in ARIES:
                before.pop(key, None)
    control, before = _part_of(changes, "congestion_control"), _part_of(table, "congestion_control")
    if (
        isinstance(control, Mapping)
        and isinstance(before, Mapping)
        and control.get("kind", before["kind"]) != before["kind"]
    ):
        del table["fabric"]["congestion_control"]
    return _merge(table, changes)


def _spelled_out(table: dict[str, Any]) -> dict[str, Any]:
    """The table with `router = "input-queued"`, `nic = "aries"` and so on as tables, so that they can be merged."""
    for key in ("router", "nic", "congestion_control"):
        kind = _part_of(table, key)
        if isinstance(kind, str):
            table = {**table, "fabric": {**table["fabric"], key: {"kind": kind}}}
    return table


def _wired(merged: dict[str, Any], folder: Path) -> tuple[MachineTable, dict[str, str]]:
    """The table with the links of its connection files, if it names some, and where these come from."""
    if merged.get("kind") == "graph" and "wiring" not in merged:
        from odonata.machine.graph_files import numbered

        numbers, sources = numbered(merged, folder)
        return _table(numbers), sources
    given = merged.get("wiring")
    if given is None:
        return _table(merged), {}
    from odonata.machine.connection_files import read_inter, read_intra

    try:
        wiring = validate(WiringTable, given)
    except InputError as e:
        raise e.under("wiring") from None
    merged = {key: value for key, value in merged.items() if key != "wiring"}
    kind = KINDS.get(str(merged.get("kind")))
    if kind is not None and kind.intra_numbers is None:
        raise InputError(f"CODES has no connection files for a {merged['kind']}", path=("wiring",))
    imported = {}
    if wiring.inter is not None:
        for key in ("global_links", *_rules()):
            if key in merged:
                message = f"`{key}` and `wiring.inter` cannot be given together: the file is complete"
                raise InputError(message, path=(key,))
        table = _table({**merged, "global_links": []})
        merged["global_links"] = read_inter(folder / wiring.inter, table)
        imported["global_links"] = f"imported from {wiring.inter}"
    table = _table(merged)
    if wiring.intra is not None:
        columns = getattr(table, "columns", None)
        assert table.intra_numbers is not None
        lacking = read_intra(folder / wiring.intra, table.intra_numbers, columns, core.describe(table.topology()))
        if lacking:
            failed = merged.get("failed", {})
            merged["failed"] = {**failed, "links": [*failed.get("links", ()), *lacking]}
            imported["failed.links"] = f"not in {wiring.intra}"
            table = _table(merged)
    return table, imported


def _table(merged: dict[str, Any]) -> MachineTable:
    kind = merged.get("kind")
    if kind is None:
        hint = f'name a preset (`preset = "kang2019"`) or a kind ({", ".join(KINDS)})'
        raise InputError("neither a preset nor the kind of machine is given", hint=hint)
    if not isinstance(kind, str) or kind not in KINDS:
        error = unknown("kind of machine", str(kind), KINDS)
        raise InputError(error.message, hint=error.hint, path=("kind",))
    if gains_gpus(None, merged.get("host")):
        merged = {**merged, "host": with_gpu_costs(merged["host"])}
    classes = KINDS[kind].classes_of(merged)
    fabric = merged.get("fabric")
    links = fabric.get("links") if isinstance(fabric, Mapping) else None
    for name in links if isinstance(links, Mapping) else ():
        if name not in classes:
            error = unknown("class of links", name, classes)
            raise InputError(error.message, hint=error.hint, path=("fabric", "links", name))
    table = validate(KINDS[kind], KINDS[kind].completed(merged))
    path = table.longest_path()
    table = table.model_copy(update={"fabric": table.fabric.completed(path, table.own_classes)})
    try:
        table.fabric.check(tuple(dict.fromkeys((*path, *table.own_classes))))
    except InputError as e:
        raise e.under("fabric") from None
    table.check()
    if table.host is not None:
        try:
            table.host.on_rails(getattr(table, "rails", None) or 1)
        except InputError as e:
            raise e.under("host") from None
    return table


def _base(name: str, folder: Path) -> dict[str, Any]:
    if name.endswith(".toml"):
        document = read(folder / name)
        try:
            if "preset" in document.data:
                message = "a file describes a machine completely, so it has no `preset`"
                hint = "to change a preset, write in the scenario: system = { preset = ... }"
                raise InputError(message, hint=hint, path=("preset",))
            sources = stated_sources(document.data.get("sources", {}))
            host = document.data.get("host")
            data, of_host = _host(document.data, (folder / name).parent)
            own = _spelled_out({k: v for k, v in data.items() if k not in ("sources", "measured")})
            try:
                table, _ = _wired(own, (folder / name).parent)
            except InputError as e:
                raise _of_named_host(e, host) from None
            check_sources(sources, table)
            _ = System(table.name, table, ()).unusable_nodes
        except InputError as e:
            raise document.locate(e) from None
        # Relative to `folder`, as those that a scenario names itself.
        wiring = {k: str(Path(name).parent / v) for k, v in own.get("wiring", {}).items()}
        base = {"name": Path(name).stem} | _copy(data) | ({"wiring": wiring} if wiring else {})
        if isinstance(own.get("links"), str):
            base["links"] = str(Path(name).parent / own["links"])
        return base | {"sources": of_host | sources} if of_host else base
    if name not in names():
        error = unknown("system", name, names())
        raise InputError(error.message, hint=error.hint, path=("system", "preset"))
    return _copy(_preset(name))


@cache
def _preset(name: str) -> dict[str, Any]:
    """The table of a preset, merged with that of the preset that it changes."""
    file = files("odonata.machine") / "presets" / f"{name}.toml"
    table = parse(file.read_text(encoding="utf-8"), f"{name}.toml").data
    return _merge(_preset(table.pop("preset")), table) if "preset" in table else table


def _of_named_host(error: InputError, host: Any) -> InputError:
    """An error in the costs of the host; if they were given by a name, with the name, where it was given."""
    if error.path[:1] != ("host",) or not isinstance(host, str):
        return error
    return error.but(message=f'`host = "{host}"`: {error.message}', path=("host",))


def _placed(error: InputError, fabric: Mapping[str, Any]) -> InputError:
    """Moves the path of an error from the merged table to the place where the value was given."""
    if error.path[:1] == ("fabric",):
        here: Any = fabric
        for step in error.path[1:]:
            if not isinstance(here, Mapping):  # `router = "ideal"` is short for a table
                return error
            if step not in here:
                break
            here = here[step]
        else:
            if len(error.path) > 1:
                return error
    return error.under("system")


def _merge(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    result = _copy(base)
    for key, value in over.items():
        both = isinstance(value, Mapping) and isinstance(result.get(key), Mapping)
        result[key] = _merge(result[key], value) if both else value
    return result


def _copy(table: Mapping[str, Any]) -> dict[str, Any]:
    return {k: _copy(v) if isinstance(v, Mapping) else v for k, v in table.items()}
