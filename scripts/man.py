"""Writes the man pages of all commands from their definitions: `odonata.1`, and a page for each command.

The wheel installs them under `share/man` (`packaging/wheel` is its data). A test fails if they are not what this gives.
"""

from __future__ import annotations

import inspect
import re
import tomllib
from pathlib import Path
from typing import Any

from odonata.cli import COMMANDS, GROUPS
from odonata.cli.main import application, commands_of

ROOT = Path(__file__).parents[1]
TARGET = ROOT / "packaging/wheel/data/share/man/man1"
_STATUS = (
    ("0", "The command did what it was asked for."),
    ("1", "The run failed."),
    ("2", "The input is wrong."),
    ("130", "It was ended by Ctrl-C."),
    ("143", "It was ended by SIGTERM."),
)


def pages() -> dict[str, str]:
    """The text of each page, by the name of its file."""
    app = application()
    made = {"odonata.1": _overview()}
    for name, command in commands_of(app):
        made[f"odonata-{name.replace(' ', '-')}.1"] = _page(name, command)
    return made


def _overview() -> str:
    parts = [
        _head("ODONATA", "who slows whom down on a shared network, why, and what prevents it"),
        ".SH SYNOPSIS\n.B odonata\n.I COMMAND\n.RI [ OPTIONS ]",
        ".SH DESCRIPTION\nOdonata simulates the jobs on a machine and their network, packet by packet. It says which "
        "jobs slow each other down, why, and which placement or routing prevents it.",
    ]
    for title, names in GROUPS.items():
        parts.append(f".SH {_text(title.upper())}")
        parts += [f".TP\n.BR odonata\\-{_text(name)} (1)\n{_text(COMMANDS[name][1])}" for name in names]
    return _joined([*parts, *_end()])


def _page(name: str, command: Any) -> str:
    summary, _, rest = (inspect.getdoc(command.default_command) or "").partition("\n\n")
    before, _, listed = rest.partition("Parameters\n----------\n")
    meanings = _meanings(listed)
    synopsis, options = [f".B odonata {_text(name)}"], []
    for argument in command.assemble_argument_collection(parse_docstring=True):
        if argument.children:
            continue  # a group of options, each of which comes next
        names = [word for word in argument.names if word.startswith("-")]
        meaning = argument.parameter.help or meanings.get(argument.name.strip("-"), "")
        label = ", ".join(names) or argument.name.strip("-").upper()
        if not names:
            synopsis.append(f".I {_text(label)}")
        options.append(f".TP\n.B {_text(label)}\n{_text(meaning) or _text('No description.')}")
    parts = [
        _head(f"ODONATA-{name.upper().replace(' ', '-')}", summary.replace("\n", " ")),
        "\n".join([".SH SYNOPSIS", *synopsis, ".RI [ OPTIONS ]"]),
        f".SH DESCRIPTION\n{_text(summary)}",
        *(f".PP\n{_text(part)}" for part in before.split("\n\n") if part.strip()),
        *([".SH OPTIONS", *options] if options else []),
    ]
    return _joined([*parts, *_end()])


def _head(title: str, summary: str) -> str:
    version = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))["workspace"]["package"]["version"]
    name = title.lower()
    return f'.TH "{_text(title)}" 1 "" "Odonata {version}" "Odonata"\n.SH NAME\n{_text(name)} \\- {_text(summary)}'


def _end() -> list[str]:
    status = [f".TP\n.B {code}\n{_text(meaning)}" for code, meaning in _STATUS]
    others = "The same in a browser, and all keys of files: the documentation in the folder docs of the sources."
    return [".SH EXIT STATUS", *status, f".SH SEE ALSO\n.BR odonata (1)\n.PP\n{_text(others)}"]


def _meanings(listed: str) -> dict[str, str]:
    """The parameters of a docstring and their meanings, also those of a group as its keys."""
    found: dict[str, list[str]] = {}
    name = ""
    for line in listed.splitlines():
        if line and not line.startswith(" "):
            name = line.split(":")[0].strip().rpartition(".")[2].replace("_", "-")
            found[name] = []
        elif name:
            found[name].append(line.strip())
    return {key: " ".join(lines) for key, lines in found.items()}


def _text(text: str) -> str:
    """A text of roff: no character has a meaning, and backticks are bold."""
    text = " ".join(text.split()).replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq")
    text = re.sub(r"``?([^`]*)``?", r"\\fB\1\\fR", text)
    return f"\\&{text}" if text[:1] in ".'" else text


def _joined(parts: list[str]) -> str:
    return "\n".join(parts) + "\n"


if __name__ == "__main__":
    TARGET.mkdir(parents=True, exist_ok=True)
    for file in TARGET.glob("*.1"):
        file.unlink()
    for name, text in pages().items():
        (TARGET / name).write_text(text, encoding="utf-8")
