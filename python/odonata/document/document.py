"""A TOML document: text, data, and the line of every key."""

import re
import tomllib
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Self

from odonata import foreign, reading
from odonata.document import edit, positions
from odonata.errors import InputError, shortened


@dataclass(frozen=True)
class Document:
    """A TOML document that was read without error; immutable.

    `file` is what errors call it; `original` is the text as given, `changes` are the values set since
    (dotted key and value, in order) and `data` is the result.
    """

    file: str
    original: str
    data: dict[str, Any] = field(hash=False)
    changes: tuple[tuple[str, Any], ...] = ()

    @cached_property
    def text(self) -> str:
        """The TOML text with all changes applied; comments and layout are kept where possible."""
        return edit.text(self.original, self.changes, self.data) if self.changes else self.original

    @cached_property
    def _lines(self) -> dict[positions.Path, int]:
        return positions.lines(self.original)

    def set(self, key: str, value: Any) -> Self:
        """A new document in which the dotted `key` has this value.

        A job is named, not counted: `job.target.nodes`. Raises InputError for a key that leads
        nowhere.
        """
        data = edit.applied(self.data, key, value)
        return replace(self, data=data, changes=(*self.changes, (key, value)))

    def first(self, count: int) -> Self:
        """The document with only the first `count` of its changes."""
        document = replace(self, data=self._given(), changes=())
        for key, value in self.changes[:count]:
            document = document.set(key, value)
        return document

    def _given(self) -> dict[str, Any]:
        """The data without any change."""
        return reading.parse_toml(self.original)

    def blaming(self, error: InputError, key: str) -> InputError:
        """The error with the change of `key` as its position."""
        return error.at(f"{self.file} with -s {key}")

    def blames(self, error: InputError, key: str) -> bool:
        """Whether the position of an error is the change of `key`."""
        return error.file == f"{self.file} with -s {key}"

    def change_of(self, error: InputError) -> str | None:
        """The key of the last change of the value that the `path` of an error leads to; None if it is as given."""
        key: str
        for key, _ in reversed(self.changes):
            changed = edit.path_of(self.data, key)
            if changed is not None and error.path[: len(changed)] == changed:
                return key
        return None

    def locate(self, error: InputError) -> InputError:
        """The error with the position of the value that its `path` leads to: file and line, or the change of a key."""
        if error.located:
            return error
        changed = self.change_of(error)
        return self._located(error) if changed is None else self.blaming(error, changed)

    def _located(self, error: InputError) -> InputError:
        path = error.path
        while path and path not in self._lines:
            path = path[:-1]
        return error.at(self.file, self._lines.get(path))


def read(path: str | Path) -> Document:
    """Reads a TOML file. Raises InputError if it cannot be read or is not TOML."""
    try:
        return parse(reading.read_text(path), str(path))
    except (OSError, ValueError) as e:
        raise InputError(f"cannot read it: {reading.why(e)}", file=path) from None
    except InputError as e:
        raise foreign.explained(e, path, "scenario") from None


def parse(text: str, file: str) -> Document:
    """Reads a TOML text; `file` is what errors call it. Raises InputError if it is not TOML.

    The byte order mark that some editors put first is dropped.
    """
    text = text.removeprefix("\ufeff")
    try:
        return Document(file, text, reading.parse_toml(text))
    except tomllib.TOMLDecodeError as e:
        raise _syntax_error(str(e), text, file) from None
    except InputError as e:
        raise e.at(file, e.line) from None


def _syntax_error(problem: str, text: str, file: str) -> InputError:
    position = re.search(r" \(at (?:line (\d+), column \d+|end of document)\)$", problem)
    line, message = None, problem
    if position is not None:
        message = problem[: position.start()]
        line = int(position[1]) if position[1] else text.count("\n") + 1
        if not position[1]:
            message += ", and the file ends there"
    shown = reading.lines(text)[line - 1].strip() if line and line <= len(reading.lines(text)) else ""
    message = message[:1].lower() + message[1:]
    hint = None
    if re.search(r"=\s*[\d.]+\s*[A-Za-z%]", shown):
        hint = 'write a quantity in quotes: "100 ns"'
    elif re.search(r"=\s*[A-Za-z][\w-]*\s*(#.*)?$", shown):
        hint = 'write a text in quotes: "..."'
    found_text = f": `{shortened(shown)}`" if shown else ""
    return InputError(f"not TOML: {message}{found_text}", file=file, line=line, hint=hint)
