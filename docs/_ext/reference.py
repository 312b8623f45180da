"""Writes the reference pages from the code, before the site is built.

Commands come from the command line's own definitions; systems, routings, placements, applications and scenario keys
from what `odonata show` prints; columns from their registry; Python from the public names of the package.
"""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs" / "reference"


def setup(app: Any) -> dict[str, bool]:
    """Register with Sphinx."""
    app.connect("config-inited", lambda *_: write_all())
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def write_all() -> None:
    """Write all pages; a page that did not change keeps its time, so that Sphinx does not read it again."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    pages = {
        "commands": commands(),
        "scenario": scenario(),
        "columns": columns(),
        "python": python(),
        **{kind: names(kind) for kind in ("systems", "routings", "placements", "applications")},
    }
    for name, text in pages.items():
        path = FOLDER / f"{name}.md"
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def commands() -> str:
    """Every command with its options, from the definitions that parse the command line."""
    from odonata.cli.main import application, commands_of

    app = application()
    parts = ["# Commands", "`odonata COMMAND --help` prints the same."]
    for name, command in commands_of(app):
        function = command.default_command
        document = inspect.getdoc(function) or ""
        summary, _, rest = document.partition("\n\n")
        parts += [f"## odonata {name}", _plain(summary)]
        before, _, listed = rest.partition("Parameters\n----------\n")
        if before.strip():
            parts.append(_plain(before))
        rows = []
        meanings = _numpydoc(listed)
        for argument in command.assemble_argument_collection(parse_docstring=True):
            if argument.children:
                continue  # a group of options, each of which comes next
            shown = ", ".join(f"`{n}`" for n in argument.names)
            meaning = argument.parameter.help or meanings.get(argument.name.strip("-"), "")
            rows.append((shown, _cell(meaning)))
        parts.append(_table(("argument", "meaning"), rows))
    return _page(parts)


def scenario() -> str:
    """All keys of a scenario file."""
    from odonata.cli.show import describe

    parts = [
        "# Scenario keys",
        "A scenario is a TOML file. `odonata show scenario` prints the same list, and `odonata new FILE` writes a "
        "commented example. Every physical number carries its unit.",
    ]
    for header, keys in describe("scenario")["tables"].items():
        parts += [f"## {header}", _keys(keys)]
    return _page(parts)


def names(kind: str) -> str:
    """All names of a kind, with what `odonata show NAME` prints."""
    from odonata.cli.show import describe, listing

    lists = listing()
    applications = ("patterns", "collectives", "motifs", "traces", "trainings", "models", "mappings")
    kinds = applications if kind == "applications" else (kind,)
    parts = [f"# {kind.capitalize()}", f"`odonata show {kinds[0]}` lists them, and `odonata show NAME` prints one."]
    for list_name in kinds:
        if len(kinds) > 1:
            parts.append(f"## {list_name.capitalize()}")
        level = "###" if len(kinds) > 1 else "##"
        for name, about in lists[list_name].items():
            facts = describe(name)
            parts += [f"{level} {name}", _plain(facts.get("about") or about)]
            if facts.get("keys"):
                parts.append(_keys(facts["keys"]))
            if facts.get("algorithms"):
                rows = [(f"`{a}`", _cell(what)) for a, what in facts["algorithms"].items()]
                parts += [_table(("algorithm", "what it does"), rows), f"Default: {facts['default']}."]
            if facts["kind"] == "system":
                parts.append("```text\n" + _shown(name) + "\n```")
    return _page(parts)


def columns() -> str:
    """Every result column of every table."""
    from odonata.store.columns import COLUMNS, TABLES

    parts = [
        "# Result columns",
        "A run folder holds one Parquet file for each table. Units stand in the metadata of each field as well. "
        "Times are picoseconds.",
    ]
    for table, about in TABLES.items():
        rows = [(f"`{c.name}`", f"{c.dtype}", c.unit, _cell(c.meaning)) for c in COLUMNS if c.table == table]
        parts += [
            f"## {table}",
            f"{about[:1].upper()}{about[1:]}.",
            _table(("column", "type", "unit", "meaning"), rows),
        ]
    return _page(parts)


def python() -> str:
    """The public names of the package."""
    import odonata

    names = sorted(_public(odonata), key=lambda pair: _place(*pair))
    parts = ["# Python", inspect.getdoc(odonata) or "", "## Overview", _overview(names)]
    for name, thing in names:
        if not inspect.ismodule(thing):
            parts += [f"## odonata.{name}", _documented(thing)]
            continue
        parts += [f"## odonata.{name}", inspect.getdoc(thing) or ""]
        for inner, member in _public(thing):
            parts += [f"### odonata.{name}.{inner}", _documented(member)]
    return _page(parts)


FIRST = ("load", "Scenario", "run", "Run", "sweep", "Study", "explain", "advise", "schedule", "place", "open")
"""What most programs use, in the order in which they use it."""


def _place(name: str, thing: Any) -> tuple[int, int, str]:
    """Where a name stands on the page: what most programs use first, errors and warnings last."""
    if name in FIRST:
        return 0, FIRST.index(name), name
    last = inspect.isclass(thing) and issubclass(thing, Exception)
    return (2 if last else 1), 0, name


def _overview(names: list[tuple[str, Any]]) -> str:
    """One line for each name."""

    def link(name: str, thing: Any) -> str:
        if inspect.ismodule(thing):
            return f"[`odonata.{name}`](#odonata{name})"
        return f"{{py:obj}}`odonata.{name} <{thing.__module__}.{thing.__qualname__}>`"

    def summary(thing: Any) -> str:
        return _cell((inspect.getdoc(thing) or "").partition("\n\n")[0])

    return _table(("name", "what it is"), [(link(name, thing), summary(thing)) for name, thing in names])


def _public(module: Any) -> list[tuple[str, Any]]:
    return [(name, getattr(module, name)) for name in module.__all__ if not name.startswith("__")]


def _documented(thing: Any) -> str:
    directive = "autoclass" if inspect.isclass(thing) else "autofunction"
    members = "\n   :members:\n   :inherited-members: BaseException, BaseModel" if inspect.isclass(thing) else ""
    return f"```{{eval-rst}}\n.. {directive}:: {thing.__module__}.{thing.__qualname__}{members}\n```"


def _shown(name: str) -> str:
    from odonata.cli import system_text
    from odonata.cli.show import describe

    return system_text.text(describe(name))


def _numpydoc(text: str) -> dict[str, str]:
    sections = re.findall(r"^(\w+)\n((?:    .*\n?)+)", text, re.MULTILINE)
    return {name.rstrip("_"): " ".join(meaning.split()) for name, meaning in sections}


def _keys(keys: list[dict[str, Any]]) -> str:
    rows = []
    for key in keys:
        values = f" One of: {', '.join(f'`{v}`' for v in key['values'])}." if key["values"] else ""
        default = "required" if key["default"] is None else key["default"]
        rows.append((f"`{key['name']}`", _cell(key["meaning"]) + values, _cell(str(default))))
    return _table(("key", "meaning", "default"), rows)


def _table(header: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    if not rows:
        return ""
    lines = [f"| {' | '.join(header)} |", "|" + "---|" * len(header)]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows)])


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _plain(text: str) -> str:
    return inspect.cleandoc(text)


def _page(parts: list[str]) -> str:
    return "<!-- Written by docs/_ext/reference.py; do not edit. -->\n\n" + "\n\n".join(p for p in parts if p) + "\n"
