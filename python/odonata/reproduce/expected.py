"""`expected.csv`: what a paper says, row by row, and how it is measured here.

One line a published value (columns: [Expected][odonata.reproduce.expected.Expected]). `kind` says how far the value is
determined by the paper (letters of the requirements catalogue): `C` follows from the text, `S` steady, `N` grows with
the number of messages, which the paper leaves open, `F` as N and used to find that number, `R` a relation or a value
that hangs on something left open.
"""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass

KINDS = {
    "C": "follows by calculation from the text",
    "S": "steady: does not depend on the length of the run",
    "N": "grows with the number of messages, which the paper does not state",
    "F": "as N, and used to find out that number: nothing left to compare",
    "R": "a relation, or a value that hangs on something the paper does not state",
}
"""Kind -> its meaning."""


@dataclass(frozen=True)
class Expected:
    """One published value."""

    id: str
    """Row of the requirements catalogue."""
    what: str
    kind: str
    theirs: float
    """The value, in `unit`."""
    unit: str
    tolerance: str
    """`10 %` of the published value, `± 4` in its unit, or a relation such as `<= 1.07` that ours must satisfy."""
    measure: str
    """Name in [MEASURES][odonata.reproduce.measures.MEASURES]."""
    cases: tuple[str, ...]
    """Names of the cases it is measured on."""
    reference: tuple[str, ...]
    """Names of the cases these are compared with, pair by pair; for some measures none."""
    where: str
    """Section and figure."""
    why: dict[str, str]
    """Model -> the cause where ours does not match."""


def read_expected(text: str) -> list[Expected]:
    """The rows in the order of the file; a column `why_MODEL` (with `_` for `-`) holds causes."""
    return [_row(line) for line in csv.DictReader(io.StringIO(text))]


def _row(line: dict[str, str]) -> Expected:
    if line["kind"] not in KINDS:
        raise ValueError(f"{line['id']}: unknown kind {line['kind']!r}")
    return Expected(
        id=line["id"],
        what=line["what"],
        kind=line["kind"],
        theirs=float(line["theirs"]),
        unit=line["unit"],
        tolerance=line["tolerance"],
        measure=line["measure"],
        cases=tuple(line["cases"].split()),
        reference=tuple(line["reference"].split()),
        where=line["where"],
        why={key.removeprefix("why_").replace("_", "-"): text for key, text in line.items() if key.startswith("why_")},
    )
