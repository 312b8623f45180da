"""Which studies each page of validation has, and the places of their sections."""

from __future__ import annotations

import re
from functools import lru_cache

from odonata.reproduce.provenance import abouts

_LINK = re.compile(r"\]\(study:([a-z0-9-]+)\)")


@lru_cache
def pages() -> dict[str, tuple[str, ...]]:
    """Page -> its studies, in the order of `pages.toml`."""
    of: dict[str, tuple[str, ...]] = {}
    for name, about in abouts().items():
        of[about.page] = (*of.get(about.page, ()), name)
    return of


def anchor(heading: str) -> str:
    """What a heading is called in a link, as code hosts and the site of the documentation make it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def link(study: str, on: str = "") -> str:
    """Where the section of a study is, for a page of the same folder."""
    about = abouts()[study]
    return f"{'' if about.page == on else f'{about.page}.md'}#{anchor(about.heading)}"


def linked(text: str, on: str) -> str:
    """The text with `(study:NAME)` of its links as the place of that section. Raises KeyError for another name."""
    return _LINK.sub(lambda place: f"]({link(place[1], on)})", text)
