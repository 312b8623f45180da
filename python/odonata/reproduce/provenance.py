"""What made a page, its rows and its picture: version, engine, date and settings.

The date is the day (UTC) on which the newest run of the study was written, so the same finished runs give the same
bytes; without a study it is the day of the command. `SOURCE_DATE_EPOCH` (seconds) takes precedence over both.
"""

from __future__ import annotations

import os
import tomllib
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from importlib.resources import files
from textwrap import fill
from typing import TYPE_CHECKING, Any

from odonata import __version__
from odonata.errors import InputError
from odonata.store.engine import fingerprint

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

SHIPPED = "shipped defaults"
UNKNOWN = "not recorded"
"""The engine of pages that were made before pages named it."""


@dataclass(frozen=True)
class About:
    """What `pages.toml` says of a reproduction."""

    name: str
    page: str
    """The page that it is a part of."""
    heading: str
    """That of its section."""
    paper: str
    """Its name in the summary."""
    source: str
    """Authors, venue, figures."""
    contents: str
    settings: Mapping[str, str]
    """Model -> what deviates from the shipped defaults, "" if nothing does. `*` stands for all other models."""

    def of(self, model: str) -> str:
        """The settings of a model in words. Raises KeyError if `pages.toml` does not state them."""
        if model not in self.settings and "*" not in self.settings:
            raise KeyError(f"pages.toml states no settings of `{model}` of {self.name}")
        return self.settings.get(model, self.settings.get("*")) or SHIPPED

    def words(self, models: Iterable[str]) -> str:
        """The settings of all models of a page."""
        by_settings: dict[str, list[str]] = {}
        for model in dict.fromkeys(models):
            by_settings.setdefault(self.of(model), []).append(f"`{model}`")
        if len(by_settings) == 1:
            return f"Settings: {next(iter(by_settings))}."
        return "Settings: " + "; ".join(f"{', '.join(which)}: {what}" for what, which in by_settings.items()) + "."


@lru_cache
def abouts() -> dict[str, About]:
    """Name -> what `pages.toml` says, in its order."""
    text = (files("odonata.reproduce") / "pages.toml").read_text(encoding="utf-8")
    return {
        name: About(
            name,
            entry["page"],
            entry["heading"],
            entry["paper"],
            entry["source"],
            " ".join(entry["contents"].split()),
            entry.get("settings", {"*": ""}),
        )
        for name, entry in tomllib.loads(text).items()
    }


@dataclass(frozen=True)
class Provenance:
    """What made the files of a reproduction."""

    version: str
    engine: str
    """Fingerprint, or `UNKNOWN`."""
    date: str
    """Year, month, day."""

    def words(
        self,
        about: About,
        models: Iterable[str],
        earlier: Mapping[str, Provenance] | None = None,
        settings_above: str = "",
    ) -> str:
        """The first paragraph of a section; `earlier` has the models whose rows are older."""
        settings = about.words(models)
        settings = "Settings as above." if settings == settings_above else settings
        said = f"`{about.name}`: {self._said()}. {settings}"
        for made in dict.fromkeys((earlier or {}).values()):
            of = ", ".join(f"`{model}`" for model, older in (earlier or {}).items() if older == made)
            said += f" The rows of {of} are older: {made._said()}."
        return fill(said, 120, break_on_hyphens=False, break_long_words=False)

    def _said(self) -> str:
        engine = UNKNOWN if self.engine == UNKNOWN else f"`{self.engine}`"
        return f"Odonata {self.version}, engine {engine}, {self.date}"

    def mark(self, name: str) -> str:
        """The text in the file of a picture."""
        return f"odonata reproduce {name}: Odonata {self.version}, engine {self.engine}, {self.date}"

    def as_json(self) -> dict[str, Any]:
        """For the file beside a page."""
        return dict(self.__dict__)


def provenance_now(study: Path | None = None) -> Provenance:
    """What makes the files now, from the finished runs in the folder of a study.

    Raises InputError if `SOURCE_DATE_EPOCH` is not a number of seconds.
    """
    return Provenance(__version__, fingerprint(), _day(study))


def _day(study: Path | None) -> str:
    stated = os.environ.get("SOURCE_DATE_EPOCH")
    if stated is not None:
        try:
            return datetime.fromtimestamp(int(stated), UTC).date().isoformat()
        except (ValueError, OverflowError, OSError) as problem:
            raise InputError(f"SOURCE_DATE_EPOCH: found `{stated}`, expected a number of seconds") from problem
    written = [file.stat().st_mtime for file in sorted((study / "results").rglob("*"))] if study else []
    return (datetime.fromtimestamp(max(written), UTC) if written else datetime.now(UTC)).date().isoformat()
