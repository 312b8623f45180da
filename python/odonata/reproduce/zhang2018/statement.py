"""A statement of the paper, held against what was simulated."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from odonata.reproduce.rows import Row
from odonata.reproduce.verdict import within

if TYPE_CHECKING:
    from collections.abc import Sequence

    from odonata.reproduce.verdict import Verdict


def statement(
    id_: str,
    what: str,
    ours: float,
    theirs: float,
    unit: str,
    tolerance: str,
    where: str,
    *,
    kind: str = "S",
    why: str = "",
    model: str = "level-spread",
    comparable: bool = True,
) -> Row:
    """A row; `why` is said where ours does not match, or is not comparable."""
    verdict: Verdict = "match" if within(ours, theirs, tolerance) else "no match"
    if not comparable:
        verdict = "not comparable"
    return Row(
        id=id_,
        what=what,
        model=model,
        kind=kind,
        unit=unit,
        ours=ours,
        theirs=theirs,
        tolerance=tolerance,
        verdict=verdict,
        why="" if verdict == "match" else why,
        messages=1,
        by_messages={},
        growth=None,
        meets_at=None,
        where=f"Zhang 2018, {where}",
    )


def share(holds: Sequence[bool]) -> float:
    """Percent of the statements that hold."""
    return 100 * sum(holds) / len(holds)


def relation(id_: str, what: str, ours: float, tolerance: str, where: str, **more: Any) -> Row:
    """A row that says of a ratio on which side of 1 it is, or how far from there (`± 0.1`) or from 0 (`<= 0.1`)."""
    theirs = 0 if tolerance.startswith("<=") else 1
    return statement(id_, what, ours, theirs, "x", tolerance, where, kind="R", **more)


def in_all(id_: str, what: str, holds: Sequence[bool], where: str, **more: Any) -> Row:
    """A row that says of how many of some panels something holds; the paper says: of all."""
    return statement(id_, what, share(holds), 100, "%", ">= 100", where, kind="R", **more)
