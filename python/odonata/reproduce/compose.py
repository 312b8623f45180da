"""Pages of validation, each about one or several studies: `pages.toml` groups them, `pages/PAGE.md` begins them.

A page is its beginning (the finding and pictures), a table of verdicts, and a section for each study. It is made from
what is kept of its studies (NAME.csv and NAME.json), so that any of them can be made again without the others.
"""

from __future__ import annotations

import re
from collections import Counter
from importlib.resources import files
from string import Template
from typing import TYPE_CHECKING

from odonata.errors import unknown
from odonata.reproduce.links import link, linked, pages
from odonata.reproduce.markdown import COUNTED, counted, table, wrapped
from odonata.reproduce.page import check_filled, quoted
from odonata.reproduce.page_files import PageFiles, read, read_rows
from odonata.reproduce.provenance import abouts
from odonata.reproduce.rows import judged_again

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from odonata.reproduce.rows import Row


def chosen(of: str) -> list[str]:
    """The studies that a name stands for: a study, a page, or a paper (`Kang 2019`, `kang2019`).

    Raises InputError for another name.
    """
    papers = {_plain(about.paper): about.paper for about in abouts().values()}
    if of in abouts():
        return [of]
    if of in pages():
        return [*pages()[of]]
    names = [name for name, about in abouts().items() if about.paper == papers.get(_plain(of))]
    if not names:
        raise unknown("study, page or paper", of, [*abouts(), *pages(), *papers.values()])
    return names


def _plain(name: str) -> str:
    return "".join(letter for letter in name.lower() if letter.isalnum())


def rows_of(folder: Path, of: str) -> list[tuple[str, Row]]:
    """The rows of a study, page or paper with their studies, judged again.

    Raises InputError for another name, or if rows are missing.
    """
    return [(name, judged_again(row)) for name in chosen(of) for row in read_rows(folder / f"{name}.csv")]


def tables_of(folder: Path, of: str) -> Iterator[tuple[str, str, str]]:
    """Study, name and text of every table and list that its runs and its rows give, whether a page shows it or not.

    Raises InputError as `rows_of`.
    """
    from odonata.reproduce import find

    for name in chosen(of):
        study, kept = find(name), read(folder, name)
        made = study.text.of_rows(study.explain(kept.rows), kept.texts)
        for what, text in {**kept.texts, **made}.items():
            if isinstance(text, str) and re.search(r"^ *\| *:?---|^- ", text, re.MULTILINE):
                yield name, what, text.strip("\n")


def compose(page: str, folder: Path) -> str:
    """The text of a page, from the studies that are in the folder.

    Raises InputError for files that are wrong.
    """
    from odonata.reproduce import find

    there = {name: read(folder, name) for name in pages()[page] if (folder / f"{name}.json").exists()}
    rows = {name: find(name).explain(kept.rows) for name, kept in there.items()}
    begin = _begin(page, rows, _verdicts(there, rows))
    sections, said = [], ""
    for name, kept in there.items():
        section = find(name).section(rows[name], kept.texts, kept.made, kept.earlier, settings_above=said)
        said = abouts()[name].words(row.model for row in rows[name])
        sections.append(_PICTURE.sub(lambda picture: "" if picture[1] in begin else picture[0], section).strip())
    return "\n\n".join([begin, *sections]) + "\n"


_PICTURE = re.compile(r"^!\[[^\]]*\](\([^)]*\))\n\n", re.MULTILINE)


def _begin(page: str, rows: Mapping[str, Sequence[Row]], verdicts: str) -> str:
    """Finding, pictures, verdicts, and what the sections share; without these texts while studies are missing."""
    template = (files("odonata.reproduce") / "pages" / f"{page}.md").read_text("utf-8")
    missing = [name for name in pages()[page] if name not in rows]
    if missing:
        title = template.partition("\n")[0]
        return f"{title}\n\nNot in this folder, so a finding is left out: {', '.join(missing)}.\n\n{verdicts}"
    text = Template(linked(quoted(template, [], rows), page)).substitute(verdicts=verdicts)
    check_filled(text)
    return wrapped(text.strip()).strip()


def _verdicts(there: Mapping[str, PageFiles], rows: Mapping[str, Sequence[Row]]) -> str:
    """Which commands made the page and print its rows, and a line of verdicts for each study and model."""
    (page,) = {abouts()[name].page for name in there}
    lines: list[list[str]] = []
    for name in there:
        for model in dict.fromkeys(row.model for row in rows[name]):
            of = Counter(counted(row) for row in rows[name] if row.model == model)
            section = f"[{abouts()[name].heading}]({link(name, page)})"
            section = section if not lines or section not in {line[0] for line in lines} else ""
            lines.append([section, model, *(str(of[verdict] or "") for verdict in COUNTED)])
    said = (
        f"Made by {', '.join(f'`odonata reproduce {name}`' for name in there)}; do not edit. All rows: "
        f'`odonata reproduce --rows {page} [--verdict "no match"]`. All tables of the runs: '
        f"`odonata reproduce --tables {page}`."
    )
    return f"{wrapped(said).strip()}\n\n{table(['section', 'model', *COUNTED], lines, 'll' + 'r' * len(COUNTED))}"
