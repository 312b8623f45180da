"""Writes what a study gave: page, rows, picture. The same bytes for the same numbers."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, Any

from odonata.errors import RunError
from odonata.plot.style import save
from odonata.reproduce.rows import by_name

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from odonata.reproduce.rows import Row
    from odonata.reproduce.simulated import Simulated
    from odonata.reproduce.study import Study


def publish(
    study: Study, rows: Sequence[Row], outcomes: Mapping[Simulated[Any], Any], folder: Path, *, reduced: bool
) -> list[Path]:
    """NAME.md, NAME.csv and, where the study has a picture, NAME.png; the reduced form only the .csv, which no page
    is about. Returns the files. Raises RunError if one cannot be written."""
    results = by_name(outcomes)
    name = f"{study.name}-reduced" if reduced else study.name
    files = [folder / f"{name}.csv"]
    _write(files[0], _as_csv(rows))
    if not reduced:
        files.append(folder / f"{name}.md")
        _write(files[-1], study.page(rows, results))
        if study.picture is not None:
            files.append(folder / f"{name}.png")
            save(study.picture(rows, results), files[-1])
    return files


def _as_csv(rows: Sequence[Row]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    head = ["id", "what", "model", "kind", "unit", "ours", "theirs", "tolerance", "verdict", "messages", "growth"]
    writer.writerow([*head, "meets_at", "where", "why"])
    for row in rows:
        cells = [getattr(row, name) for name in head]
        cells[5] = f"{row.ours:.6g}"
        meets = "" if row.meets_at is None else f"{row.meets_at:.0f}"
        writer.writerow([*("" if cell is None else cell for cell in cells), meets, row.where, row.why])
    return text.getvalue()


def _write(file: Path, text: str) -> None:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    except OSError as problem:
        raise RunError(f"cannot write `{file}`: {problem.strerror or problem}") from problem
