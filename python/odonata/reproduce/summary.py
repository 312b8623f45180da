"""Everything that is reproduced in one table: by paper, settings, kind and verdict, as in `validation/pages.md`."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from importlib.resources import files
from string import Template
from typing import TYPE_CHECKING

from odonata.errors import InputError, unknown
from odonata.reproduce.links import link, linked, pages
from odonata.reproduce.markdown import COUNTED, FITTED, counted, table
from odonata.reproduce.page_files import OUTDATED, outdated, provenance_of, read, read_rows
from odonata.reproduce.provenance import SHIPPED, UNKNOWN, abouts
from odonata.reproduce.rows import KINDS, judged_again

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from odonata.reproduce.provenance import About, Provenance

HEAD = ("paper", "settings", "kind", *COUNTED, "rests on an interval")
DEVIATE = "deviate"
THIS, SAME_NUMBERS = "this", "another, the same numbers"


@dataclass(frozen=True)
class Summary:
    """The counts of the rows in a folder, and what made those of each study."""

    counts: dict[tuple[str, str, str], Counter[str]]
    """(Paper, shipped defaults or not, kind) -> verdict -> number; `interval` counts those with an interval."""
    studies: dict[str, Provenance]
    same: tuple[str, ...]
    """Studies whose reduced form is kept and gives the same numbers now, as tests check."""
    missing: tuple[str, ...]
    """Studies that are not in the folder."""

    def lines(self) -> list[list[str]]:
        """The table below `HEAD`, with the sums in its last lines."""
        counted_lines = [
            [*key, *(str(of[verdict]) for verdict in COUNTED), str(of["interval"])] for key, of in self.counts.items()
        ]
        for settings in (SHIPPED, DEVIATE):
            total = sum((of for key, of in self.counts.items() if key[1] == settings), Counter())
            counted_lines.append(
                ["all", settings, "", *(str(total[verdict]) for verdict in COUNTED), str(total["interval"])]
            )
        return counted_lines

    def as_json(self) -> list[dict[str, str | int]]:
        """One object for each paper, settings and kind."""
        return [
            {"paper": paper, "settings": settings, "kind": kind, **{name: of[name] for name in (*COUNTED, "interval")}}
            for (paper, settings, kind), of in self.counts.items()
        ]


def summarise(folder: Path) -> Summary:
    """The rows of all studies in the folder, judged again.

    Raises InputError if there is none, or a table that is none of `odonata reproduce`.
    """
    counts: dict[tuple[str, str, str], Counter[str]] = {}
    studies: dict[str, Provenance] = {}
    missing, alike = [], []
    differ = outdated(folder)
    for name in differ:
        if name not in abouts():
            error = unknown("reproduction", name, abouts())
            raise InputError(f"{folder / OUTDATED}: {error.message}", hint=error.hint)
    for name, about in abouts().items():
        file = folder / f"{name}.csv"
        if not file.exists():
            missing.append(name)
            continue
        studies[name] = provenance_of(folder, name)
        if name not in differ and read(folder, name).reduced is not None:
            alike.append(name)
        for row in read_rows(file):
            row = judged_again(row)
            settings = SHIPPED if about.of(row.model) == SHIPPED else DEVIATE
            of = counts.setdefault((about.paper, settings, row.kind), Counter())
            of[counted(row)] += 1
            of["interval"] += row.interval is not None
    if not studies:
        raise InputError(f"{folder}: found no rows of a reproduction", hint="`odonata reproduce NAME` makes a page")
    return Summary(_ordered(counts), studies, tuple(alike), tuple(missing))


def _ordered(counts: dict[tuple[str, str, str], Counter[str]]) -> dict[tuple[str, str, str], Counter[str]]:
    papers = list(dict.fromkeys(about.paper for about in abouts().values()))
    order = (papers, [SHIPPED, DEVIATE], list(KINDS))
    return {
        key: counts[key]
        for key in sorted(counts, key=lambda key: [of.index(part) for of, part in zip(order, key, strict=True)])
    }


def index(summary: Summary, engine: str) -> str:
    """The text of `validation/pages.md`; studies are held against this engine."""
    template = (files("odonata.reproduce") / "index.md").read_text("utf-8")
    state = {name: _state(name, summary, engine) for name in summary.studies}
    template = linked(template, "")
    return Template(template).substitute(
        engine=engine,
        this=str(sum(of == THIS for of in state.values())),
        same=str(sum(of == SAME_NUMBERS for of in state.values())),
        old=str(sum(of.startswith("**") for of in state.values())),
        all=str(len(summary.studies)),
        count=str(len(pages())),
        pages=table(
            ["page", "study", "contents", "source", "date", "engine"],
            [_study(abouts()[name], made, state[name]) for name, made in summary.studies.items()],
        ),
        summary=table(HEAD, summary.lines(), "lll" + "r" * (len(COUNTED) + 1)),
        kinds="\n".join(f"- {kind}: {meaning}." for kind, meaning in KINDS.items()),
        fitted=FITTED,
    )


def _study(about: About, made: Provenance, state: str) -> list[str]:
    first = pages()[about.page][0] == about.name
    page = f"[{about.page}]({about.page}.md)" if first else ""
    study = f"[{about.name}]({link(about.name)}) ([rows]({about.name}.csv))"
    return [page, study, about.contents, about.source, made.date, state]


def _state(name: str, summary: Summary, engine: str) -> str:
    """What is known of a study: whether this engine made it, or gives its reduced form."""
    made = summary.studies[name]
    if made.engine == engine:
        return THIS
    if name in summary.same:
        return SAME_NUMBERS
    return f"**older**: {UNKNOWN if made.engine == UNKNOWN else 'another'}"


def printed(summary: Summary) -> tuple[Sequence[str], list[list[str]]]:
    """Head and lines of the table on a terminal."""
    return HEAD, summary.lines()
