"""Data as TOML, for files that a person asks for. Values that are only passed on are never written."""

from collections.abc import Mapping
from typing import Any


def text(data: Mapping[str, Any]) -> str:
    """A whole document. Its values are those that `odonata.document.plain.checked` gives."""
    import tomli_w

    return tomli_w.dumps(data)


def inline(value: Any) -> str:
    """A value on one line, as after `key =`."""
    import tomlkit

    # In a list of a list, a table is one in braces, with all that it holds.
    return str(tomlkit.item([[value]]).as_string()[2:-2])


def key(name: str) -> str:
    """A key; one with dots is one name, in quotes."""
    import tomlkit

    return tomlkit.key(name).as_string()


def pair(name: str, value: Any) -> str:
    """A line with a key and its value."""
    return f"{key(name)} = {inline(value)}"
