"""The files of a reproduction beside its page: NAME.csv has the rows, NAME.json the texts that come from runs.

NAME.json also has the numbers of the reduced form on the day when the page was made. Tests hold the present engine
against them. Pages whose numbers it no longer gives are listed in `OUTDATED`.
"""

from __future__ import annotations

import csv
import io
import json
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from odonata.errors import InputError, RunError
from odonata.reproduce.provenance import UNKNOWN, Provenance
from odonata.reproduce.rows import KINDS, VERDICTS, Row, judged_again

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from odonata.reproduce.provenance import About

HEAD = (
    "id", "what", "model", "kind", "unit", "ours", "low", "high", "repetitions", "theirs", "tolerance", "verdict",
    "messages", "growth", "meets_at", "where", "note", "why", "experiment", "settings", "version", "engine", "date",
)  # fmt: skip


OUTDATED = "outdated.txt"
"""The pages that are known to be of another engine with other results: a name a line, `#` begins a comment."""
SAME, SAME_FITS = 1e-3, 0.05
"""Numbers that differ by less, relatively, are the same; the second is for those that rest on fits, which may end
elsewhere on another processor. Assumed."""

Reduced = list[tuple[str, str, str, float]]
"""Model, id, statement and number of each row of the reduced form."""


def reduced_of(rows: Sequence[Row]) -> Reduced:
    """What is kept of the rows of the reduced form."""
    return [(row.model, row.id, row.what, float(f"{row.ours:.6g}")) for row in rows]


def same(kept: Reduced, now: Reduced, within: float = SAME) -> bool:
    """Whether two reduced forms have the same rows with the same numbers, relatively."""
    return len(kept) == len(now) and all(
        a[:3] == b[:3]
        and (math.isclose(a[3], b[3], rel_tol=within, abs_tol=1e-9) or (math.isnan(a[3]) and math.isnan(b[3])))
        for a, b in zip(kept, now, strict=True)
    )


def outdated(folder: Path) -> list[str]:
    """The pages that the list in the folder names."""
    file = folder / OUTDATED
    if not file.exists():
        return []
    lines = (line.partition("#")[0].strip() for line in _text(file, "").splitlines())
    return [line for line in lines if line]


@dataclass(frozen=True)
class PageFiles:
    """What the files hold."""

    rows: list[Row]
    """With the verdicts that follow from their numbers now."""
    texts: Mapping[str, Any]
    made: Provenance
    earlier: Mapping[str, Provenance] = field(default_factory=dict)
    """Model -> what made its rows, where that was not `made`."""
    reduced: Reduced | None = None
    """The reduced form on that day; None for a page that was made before this was kept, or in parts."""


def as_csv(rows: Sequence[Row], made: Provenance, about: About, earlier: Mapping[str, Provenance] | None = None) -> str:
    """The rows as a table; every line names what made it."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(HEAD)
    for row in rows:
        low, high = (f"{end:.6g}" for end in row.interval) if row.interval else ("", "")
        cells = {
            **row.__dict__,
            **(earlier or {}).get(row.model, made).as_json(),
            "ours": f"{row.ours:.6g}",
            "theirs": float(row.theirs),
            "low": low,
            "high": high,
            "repetitions": row.repetitions or "",
            "growth": row.growth or "",
            "meets_at": "" if row.meets_at is None else f"{row.meets_at:.0f}",
            "settings": about.of(row.model),
        }
        writer.writerow([cells[name] for name in HEAD])
    return text.getvalue()


def as_json(
    texts: Mapping[str, Any],
    made: Provenance,
    earlier: Mapping[str, Provenance] | None = None,
    reduced: Reduced | None = None,
) -> str:
    """The texts, what made them, and the reduced form."""
    before = {model: of.as_json() for model, of in (earlier or {}).items()}
    held: dict[str, Any] = {"made": made.as_json(), **({"earlier": before} if before else {}), "texts": dict(texts)}
    text = json.dumps(held, indent=1, ensure_ascii=False)
    if reduced is not None:  # a row a line
        lines = ",\n".join(f"  {json.dumps(row, ensure_ascii=False)}" for row in reduced)
        text = f'{text[:-2]},\n "reduced": [\n{lines}\n ]\n}}'
    return text + "\n"


def read(folder: Path, name: str) -> PageFiles:
    """The rows of NAME.csv, judged again, and the texts of NAME.json.

    Raises InputError if a file is missing or is none of these.
    """
    rows = read_rows(folder / f"{name}.csv")
    file = folder / f"{name}.json"
    try:
        held = json.loads(_text(file, name))
        earlier = {model: Provenance(**made) for model, made in held.get("earlier", {}).items()}
        reduced = (
            [(model, id_, what, ours) for model, id_, what, ours in held["reduced"]] if "reduced" in held else None
        )
        return PageFiles(
            [judged_again(row) for row in rows], held["texts"], Provenance(**held["made"]), earlier, reduced
        )
    except (ValueError, KeyError, TypeError, AttributeError) as problem:
        raise InputError(
            f"{file}: found {problem}, expected the texts of a page, written by `odonata reproduce`"
        ) from problem


def provenance_of(folder: Path, name: str) -> Provenance:
    """What made the rows of NAME.csv. Raises InputError as `read`."""
    file = folder / f"{name}.csv"
    for line in csv.DictReader(_text(file, name).splitlines()):
        return Provenance(line.get("version", ""), line.get("engine", UNKNOWN), line.get("date", ""))
    raise InputError(f"{file}: found no rows, expected one for each published value")


def read_rows(file: Path) -> list[Row]:
    """The rows as they were written. Raises InputError for another table, with the line."""
    lines = csv.DictReader(_text(file, file.stem).splitlines())
    if tuple(lines.fieldnames or ()) != HEAD:
        missing = [name for name in HEAD if name not in (lines.fieldnames or ())] or ["columns in another order"]
        raise InputError(f"{file}:1: found no column `{missing[0]}`, expected the rows of `odonata reproduce`")
    rows = []
    for number, line in enumerate(lines, start=2):
        try:
            rows.append(_row(line))
        except (ValueError, TypeError) as problem:
            raise InputError(f"{file}:{number}: found {problem}, expected a row of `odonata reproduce`") from problem
    return rows


def _row(line: Mapping[str, str]) -> Row:
    for name, known in (("kind", KINDS), ("verdict", VERDICTS), ("growth", ("", "steady", "grows"))):
        if line[name] not in known:
            raise ValueError(f"{name} `{line[name]}`")
    texts = ("id", "what", "model", "kind", "unit", "tolerance", "verdict", "where", "note", "why", "experiment")
    return Row(
        **{name: line[name] for name in texts},  # type: ignore[arg-type]
        ours=float(line["ours"]),
        theirs=float(line["theirs"]),
        messages=int(line["messages"]),
        growth=line["growth"] or None,  # type: ignore[arg-type]
        meets_at=float(line["meets_at"]) if line["meets_at"] else None,
        interval=(float(line["low"]), float(line["high"])) if line["low"] else None,
        repetitions=int(line["repetitions"] or 0),
    )


def _text(file: Path, name: str) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise InputError(f"{file}: not found", hint=f"`odonata reproduce {name}` writes it") from None
    except (OSError, UnicodeDecodeError) as problem:
        raise RunError(f"cannot read `{file}`: {problem}") from problem
