"""From the name or the table of a machine to the machine."""

import json
from collections.abc import Mapping
from functools import cache, lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from odonata.document import parse, read, validate
from odonata.errors import InputError, unknown
from odonata.machine.kinds import KINDS, MachineTable
from odonata.machine.system import Source, System

#: Where the defaults of a machine without preset come from.
DEFAULT_SOURCES = {
    "fabric.packet": "assumed: as in kang2019",
    "fabric.router_delay": "assumed: as in kang2019",
    "fabric.channels": "default: two channels, which every routing can do with (K6)",
    "fabric.nic.overhead": "default: an ideal NIC",
    "fabric.nic.order": "default: messages in order of issue",
    "latency": "default: no time on the wire",
    "buffer": "assumed: four packets of 2 KiB",
    "credit_delay": "default: credits return with the wire's latency only",
    "arrangement": "default: linear (Kang 2019, section 3.1.1; K4)",
}


def names() -> list[str]:
    """Names of the machines that ship with Odonata."""
    folder = files("odonata.machine") / "presets"
    return sorted(f.name.removesuffix(".toml") for f in folder.iterdir() if f.name.endswith(".toml"))


def load(
    system: str | Mapping[str, Any],
    fabric: Mapping[str, Any] | None = None,
    folder: str | Path = ".",
    usual: Mapping[str, Any] | None = None,
) -> System:
    """The machine of that name, of that `.toml` file (relative to `folder`), or of that table.

    A table may name a `preset` and override any of its numbers, or describe a machine completely. `fabric` overrides
    numbers of the fabric once more; `usual` changes the fabric where neither of the two says anything (what a published
    simulator has instead of the preset's number). The same question gives the same object.

    Raises InputError if there is no such machine or it cannot be built; the error's `path` leads into
    the table (under `system`) or into `fabric`.
    """
    given: dict[str, Any] = {"preset": system} if isinstance(system, str) else dict(system)
    preset = given.get("preset")
    if preset is not None and not isinstance(preset, str):
        raise InputError(f"expected the name of a system, found `{preset!r}`", path=("system", "preset"))
    if preset is not None and preset.endswith(".toml"):
        return _load(given, fabric, Path(folder), usual)
    try:
        question = json.dumps([given, fabric, usual])
    except TypeError:  # a date, which TOML has and JSON has not; the models refuse it
        return _load(given, fabric, Path(folder), usual)
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
        sources = base.pop("sources", {}) | _told_sources(given.pop("sources", {}))
    except InputError as e:
        raise e.under("system") from None
    changed = dict(given) if fabric is None else _merge(given, {"fabric": dict(fabric)})
    merged = _merge(_merge(base, {"fabric": dict(usual or {})}), changed) if usual else _merge(base, changed)
    if changed and base and "name" not in given:
        merged["name"] = f"{base['name']} (changed)"
    try:
        table = _table(merged)
    except InputError as e:
        raise _placed(e, fabric or {}) from None
    sources |= dict.fromkeys(_flat({"fabric": usual or {}}), "the published simulator's own")
    return System(table.name, table, tuple(_sources(table, base, changed, sources)))


def _table(merged: dict[str, Any]) -> MachineTable:
    kind = merged.get("kind")
    if kind is None:
        hint = f'name a preset (`preset = "kang2019"`) or a kind ({", ".join(KINDS)})'
        raise InputError("neither a preset nor the kind of machine is given", hint=hint)
    if not isinstance(kind, str) or kind not in KINDS:
        error = unknown("kind of machine", str(kind), KINDS)
        raise InputError(error.message, hint=error.hint, path=("kind",))
    classes = KINDS[kind].classes
    fabric = merged.get("fabric")
    links = fabric.get("links") if isinstance(fabric, Mapping) else None
    for name in links if isinstance(links, Mapping) else ():
        if name not in classes:
            error = unknown("class of links", name, classes)
            raise InputError(error.message, hint=error.hint, path=("fabric", "links", name))
    table = validate(KINDS[kind], merged)
    try:
        table.fabric.check(table.classes)
    except InputError as e:
        raise e.under("fabric") from None
    table.check()
    return table


def _told_sources(value: Any) -> dict[str, str]:
    """Where numbers come from, as a table of a system says it. Raises InputError for anything else."""
    if not isinstance(value, Mapping):
        raise InputError(f"`sources`: expected a table of texts, found `{value!r}`", path=("sources",))
    for key, source in value.items():
        if not isinstance(source, str):
            hint = f'"{key}" = "where the number comes from"'
            if isinstance(source, Mapping):
                hint = "a key with dots stands in quotes: " + hint.replace(str(key), f"{key}....")
            message = f"`sources`: expected a text for `{key}`, found `{source!r}`"
            raise InputError(message, hint=hint, path=("sources", key))
    return dict(value)


def _base(name: str, folder: Path) -> dict[str, Any]:
    if name.endswith(".toml"):
        document = read(folder / name)
        try:
            _told_sources(document.data.get("sources", {}))
            _table({k: v for k, v in document.data.items() if k != "sources"})
        except InputError as e:
            raise document.locate(e) from None
        return {"name": Path(name).stem} | _copy(document.data)
    if name not in names():
        error = unknown("system", name, names())
        raise InputError(error.message, hint=error.hint, path=("system", "preset"))
    return _copy(_preset(name))


@cache
def _preset(name: str) -> dict[str, Any]:
    file = files("odonata.machine") / "presets" / f"{name}.toml"
    return parse(file.read_text(encoding="utf-8"), f"{name}.toml").data


def _placed(error: InputError, fabric: Mapping[str, Any]) -> InputError:
    """Puts the path of an error in the merged table where the value was given."""
    if error.path[:1] == ("fabric",):
        here: Any = fabric
        for step in error.path[1:]:
            if not isinstance(here, Mapping) or step not in here:
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


def _sources(
    table: MachineTable, base: Mapping[str, Any], changed: Mapping[str, Any], sources: Mapping[str, str]
) -> list[Source]:
    rows = []
    dumped = _flat(table.model_dump(mode="json", exclude_none=True))
    in_base, in_changes = _flat(base), _flat(changed)
    for key, value in dumped.items():
        if key in ("name", "title", "kind"):
            continue
        if key in in_changes:
            source = "given in the scenario"
        elif key in in_base or key in sources:
            source = sources.get(key, "no source given")
        else:
            default = DEFAULT_SOURCES.get(key) or DEFAULT_SOURCES.get(key.rsplit(".", 1)[-1])
            source = default or "default"
        rows.append(Source(key, str(value), source))
    return sorted(rows, key=lambda row: row.key.startswith("fabric."))


def _flat(table: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    rows: dict[str, Any] = {}
    for key, value in table.items():
        if isinstance(value, Mapping):
            rows |= _flat(value, f"{prefix}{key}.")
        else:
            rows[f"{prefix}{key}"] = value
    return rows
