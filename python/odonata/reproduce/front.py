"""The first page of validation: conclusions, measured machines, and what is missing (`validation/README.md`)."""

from __future__ import annotations

from importlib.resources import files
from string import Template
from typing import TYPE_CHECKING

from odonata import machine
from odonata.machine.measured_slowdowns import never_measured
from odonata.reproduce.conclusions import SETTLED, conclusions, machines
from odonata.reproduce.links import link
from odonata.reproduce.markdown import table, wrapped
from odonata.reproduce.page_files import outdated, read_rows
from odonata.reproduce.rows import judged_again

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from odonata.reproduce.conclusions import Conclusion, Settled
    from odonata.reproduce.rows import Row

    Rows = Mapping[str, Sequence[Row]]

ONCE = "One run each, so no interval."
CHOSE = "A parameter of the model was chosen by this value."
OLD = "The page is to be made again: the present engine gives other numbers (`outdated.txt`)."


def rows_behind(folder: Path) -> Rows:
    """The rows of the studies that the conclusions name, judged again. Raises InputError if one is missing."""
    of = [*(e for c in conclusions() for e in (*c.evidence.values(), *c.other.values()))]
    of += [e for m in machines() for e in m.evidence.values()]
    pages = dict.fromkeys(e.page for e in of)
    return {page: [judged_again(row) for row in read_rows(folder / f"{page}.csv")] for page in pages}


def front(folder: Path) -> str:
    """The text of the page. Raises InputError for a conclusion whose rows are missing."""
    rows = rows_behind(folder)
    settled = [(conclusion, conclusion.settled(rows)) for conclusion in conclusions()]
    template = (files("odonata.reproduce") / "readme.md").read_text("utf-8")
    text = Template(template).substitute(
        counts=_counts([verdict for _, verdict in settled]),
        conclusions=_tables(settled, rows, outdated(folder)),
        contradicted=_contradicted(settled, rows),
        machines=_machines(rows),
        beaten=_beaten(rows),
        never=", ".join(f"`{name}`" for name in machine.names() if never_measured(name)),
    )
    return wrapped(text.rstrip())


def _counts(verdicts: Sequence[Settled]) -> str:
    said = ", ".join(f"{verdicts.count(verdict)} {_PLURAL[verdict]}" for verdict in SETTLED)
    return f"Of {len(verdicts)} conclusions of five papers, {said}."


_PLURAL = {
    "confirmed": "are confirmed",
    "contradicted": "are contradicted",
    "cannot tell": "cannot be told",
}


def _tables(settled: Sequence[tuple[Conclusion, Settled]], rows: Rows, old: Sequence[str]) -> str:
    """A table for each paper, and what the marks mean."""
    marks: dict[str, str] = {}
    blocks = []
    for paper in dict.fromkeys(conclusion.paper for conclusion, _ in settled):
        lines = []
        for conclusion, verdict in settled:
            if conclusion.paper != paper:
                continue
            said = [*(f"Settings deviate: {words}." for words in conclusion.deviates())]
            said += [f"Assumed: {conclusion.assumes}."] if conclusion.assumes else []
            said += [f"Cannot be told: {conclusion.open}."] if conclusion.open else []
            said += [CHOSE] if conclusion.fitted(rows) else []
            said += [ONCE] if conclusion.once(rows) else []
            said += [OLD] if {*conclusion.pages()} & {*old} else []
            signs = [marks.setdefault(words, f"[{len(marks) + 1}]") for words in said]
            lines.append(
                [
                    f"{conclusion.says} ({conclusion.where})",
                    " ".join([conclusion.text(conclusion.ours, rows), *signs]),
                    verdict if verdict == "confirmed" else f"**{verdict}**",
                    ", ".join(_named(study) for study in conclusion.pages()),
                ]
            )
        blocks.append(f"## {paper}\n\n{table(['the paper', 'Odonata', 'verdict', 'rows'], lines)}")
    notes = "\n".join(f"- {mark} {words}" for words, mark in marks.items())
    return "\n\n".join([*blocks, *([f"Marks:\n\n{notes}"] if marks else [])])


def _named(study: str) -> str:
    return f"[{study}]({link(study)})"


def _contradicted(settled: Sequence[tuple[Conclusion, Settled]], rows: Rows) -> str:
    blocks = []
    for conclusion, verdict in settled:
        if verdict != "contradicted":
            continue
        because = "Not explained."
        if conclusion.cause:
            cause = f"{conclusion.cause[:1].upper()}{conclusion.cause[1:]}"
            because = f"{cause} ({_named(conclusion.experiment)})."
            because = " ".join([because, conclusion.text(conclusion.turns, rows)]).strip()
        ours = conclusion.text(conclusion.ours, rows)
        blocks.append(f"- **{conclusion.paper}: {conclusion.says}.** Odonata: {ours}. {because}")
    return "\n".join(blocks) or "None."


def _machines(rows: Rows) -> str:
    lines = []
    for of in machines():
        cells = [of.words(name, rows) for name in ("ours", "nothing", "mean")]
        lines.append([of.name, of.what, *cells, of.beats(rows), _named(of.ours.page)])
    head = ["machine", "what ran", "missed by", "over no interference", "over the mean of the class", "beats", "page"]
    return table(head, lines, "llrrrll")


def _beaten(rows: Rows) -> str:
    compared = [of for of in machines() if of.nothing is not None and of.mean is not None]
    both = sum(of.beats(rows) == "no interference and the mean" for of in compared)
    return f"Of {len(compared)} lines with both, {both or 'none'} beats both."
