"""Paths in the inputs of an archive: absolute ones become relative, and none may lead out of the archive."""

from __future__ import annotations

import json
import os
import re
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

_TOKEN = re.compile(
    r'"""(?:[^\\]|\\[\s\S])*?"""|' + r"'''[\s\S]*?'''|" + r'"(?:[^"\\\n]|\\.)*"|' + r"'[^'\n]*'|" + r"#[^\n]*"
)
"""A text of TOML in any quotes, or a comment."""


def absolute(text: str) -> list[str]:
    """The absolute paths that a TOML text names."""
    return [value for token in _TOKEN.findall(text) if (value := _value(token)) is not None and Path(value).anchor]


def shared(text: str, folder: Path, known: Iterable[Path], root: Path) -> dict[str, str]:
    """Absolute paths of a TOML text that name a file in `known`, or a folder of one below `root`, and the same
    relative to `folder`."""
    real = {os.path.realpath(path): path for path in known}
    result = {}
    for value in absolute(text):
        plain = Path(os.path.normpath(value))
        path = plain if plain in real.values() else real.get(os.path.realpath(value))
        if path is None and plain.is_relative_to(root) and any(at.is_relative_to(plain) for at in real.values()):
            path = plain
        if path is not None:
            result[value] = os.path.relpath(path, folder)
    return result


def rewritten(text: str, paths: Mapping[str, str]) -> str:
    """The TOML text with other paths."""

    def other(match: re.Match[str]) -> str:
        value = _value(match[0])
        return match[0] if value is None or value not in paths else json.dumps(paths[value], ensure_ascii=False)

    return _TOKEN.sub(other, text)


def replaced(data: Any, paths: Mapping[str, str]) -> Any:
    """The same for data of JSON, also inside texts, such as `from /data/links.csv`."""
    if isinstance(data, dict):
        return {key: replaced(value, paths) for key, value in data.items()}
    if isinstance(data, list):
        return [replaced(value, paths) for value in data]
    if isinstance(data, str):
        for path in sorted(paths, key=len, reverse=True):
            data = data.replace(path, paths[path])
    return data


def outside(read: Iterable[str], root: Path) -> Iterator[Path]:
    """The files that were read neither in `root` nor in the package of Odonata."""
    package = Path(__file__).parents[1]
    for name in read:
        path = Path(os.path.normpath(name))
        if not path.is_relative_to(root) and not path.is_relative_to(package):
            yield path


def _value(token: str) -> str | None:
    if token.startswith("#"):
        return None
    try:
        return str(tomllib.loads(f"x = {token}")["x"])
    except tomllib.TOMLDecodeError:
        return None
