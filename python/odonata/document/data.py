"""Data from Python as a document: the same checks and changes, and positions of errors that are keys."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from odonata.document import writing
from odonata.document.document import Document
from odonata.document.plain import Path, checked, key_of, shown
from odonata.errors import InputError


@dataclass(frozen=True)
class Data(Document):
    """A document without a file. `original` is empty; `given` is the data without any change."""

    given: dict[str, Any] = field(hash=False, kw_only=True)
    under: Path = field(default=(), kw_only=True)
    """The path of this table in the data that the user gave."""

    @cached_property
    def text(self) -> str:
        """The data as TOML; it is written when it is first asked for."""
        return writing.text(self.data)

    def table(self, key: str) -> "Data":
        """The table under a key as a document of its own, whose errors keep their path."""
        inner = self.data[key]
        return Data(self.file, "", inner, given=inner, under=(*self.under, key))

    def blaming(self, error: InputError, key: str) -> InputError:
        """The error with the changed key as its position."""
        return error if error.located else error.but(key=key)

    def blames(self, error: InputError, key: str) -> bool:
        """As for any document."""
        return error.key == key

    def _located(self, error: InputError) -> InputError:
        here: Any = self.data
        path: Path = ()
        for step in error.path:
            known = range(len(here)) if isinstance(here, list) else here if isinstance(here, dict) else ()
            if step not in known:
                break
            here, path = here[step], (*path, step)
        return error.but(key=key_of((*self.under, *path)) or None)

    def _given(self) -> dict[str, Any]:
        return self.given


def of(data: object, what: str) -> Data:
    """Data from Python as a document; `what` is what it is in errors, such as `scenario`.

    Raises InputError for data that is no table, and for a value that TOML cannot express, at its key.
    """
    if not isinstance(data, Mapping):
        raise InputError(f"expected the data of a {what} (a table), found `{shown(data)}`")
    try:
        table = checked(data)
    except InputError as e:
        raise e.but(key=key_of(e.path) or None) from None
    return Data(what, "", table, given=table)
