"""Claims of the paper about two of its own values, and rows that cannot have a verdict.

A quotient is computed from the rows of the two values, so it exists for every model that has both, also where these
rows are older than the page.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from odonata.reproduce.rows import Row, judge

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True)
class Quotient:
    """A claim about one value over another."""

    id: str
    what: str
    over: str
    """The statement of the row whose value is divided."""
    under: str
    theirs: float
    tolerance: str
    where: str


_BROADCAST = "520 % background every 1 us"
QUOTIENTS = (
    Quotient(
        "K51",
        f"broadcast, {_BROADCAST}: slowdown with the root in its groups over that outside",
        f"broadcast, random-in: slowdown by {_BROADCAST}",
        f"broadcast, random-out: slowdown by {_BROADCAST}",
        6.67,
        # 0.30 ms has two digits: half a unit of the last is 17 % of a slowdown of 11.1 %.
        "20 %",
        "section 4.4",
    ),
    *(
        Quotient(
            "K53",
            f"broadcast, {place}, {_BROADCAST}: rate of the background over that of the broadcast",
            f"broadcast, {place}, 520 % every 1 us: background in and out of the root's group",
            f"broadcast, {place}, {_BROADCAST}: rate out of the root's group",
            50.0,
            "> 50",
            "section 4.4",
        )
        for place in ("contiguous", "random-in")
    ),
    Quotient(
        "K31",
        "uniform-random, 4 KB: 0.5 us over 3 us, contiguous over random (independent of the placement)",
        "uniform-random, contiguous: 0.5 us over 3 us",
        "uniform-random, random: 0.5 us over 3 us",
        1.0,
        "10 %",
        "section 4.1",
    ),
    Quotient(
        "K34",
        "uniform-random, 4 MB: 0.7 ms over 4 ms, contiguous over random (independent of the placement)",
        "uniform-random, contiguous, 4 MB: 0.7 ms over 4 ms",
        "uniform-random, random, 4 MB: 0.7 ms over 4 ms",
        1.0,
        "10 %",
        "section 4.1",
    ),
)

_OTHER_INTERVAL = "the paper does not state the interval of the background; the row of every 1 us has the verdict"
WITHOUT = {
    r"uniform-random, 4 KB: 0.5 us over 3 us, contiguous over random": (
        "the paper contradicts itself: its printed slowdowns, 18.4 and 11.6 x, are 1.59 apart"
    ),
    r"uniform-random, 4 MB every (1|0.7) ms: difference between the placements": (
        "the paper contradicts itself: its printed means differ by more"
    ),
    r"broadcast, random-(in|out): slowdown by 520 % background every (10|100) us": _OTHER_INTERVAL,
    r"uniform-random, random, every 1 us: slowdown by 130 % background every (10|100) us": _OTHER_INTERVAL,
    r"broadcast, .*325 %": (
        "an experiment: the captions say 520 %, and the three additional nodes of the text would make 325 %"
    ),
}
"""Beginning of a statement, as a regular expression -> why no verdict is claimed: one statement has one verdict."""


def with_quotients(rows: Sequence[Row]) -> list[Row]:
    """The rows with those of `QUOTIENTS`, after the rows that they are computed from."""
    names = {quotient.what for quotient in QUOTIENTS}
    made = [row for row in rows if row.what not in names]
    for quotient in QUOTIENTS:
        for model in dict.fromkeys(row.model for row in rows):
            of = {row.what: at for at, row in enumerate(made) if row.model == model}
            if quotient.over in of and quotient.under in of:
                last = max(of[quotient.over], of[quotient.under])
                made.insert(last + 1, _divided(quotient, made[of[quotient.over]], made[of[quotient.under]]))
    return made


def _divided(quotient: Quotient, over: Row, under: Row) -> Row:
    """The quotient of two rows of a model. It has no interval: those of the two rows are not independent."""
    kinds = {over.kind, under.kind}
    kind = "F" if "F" in kinds else "N" if "N" in kinds else "R"
    ours = over.ours / under.ours
    verdict = judge(kind, ours, quotient.theirs, quotient.tolerance, None, unit="x", inferred=True)
    why = ""
    open_ = next((row for row in (over, under) if row.verdict == "not comparable" and row.kind != "F"), None)
    if open_ is not None:
        verdict, why = "not comparable", open_.why
    return Row(
        quotient.id, quotient.what, over.model, kind, "x", ours, quotient.theirs, quotient.tolerance, verdict, why,
        min(over.messages, under.messages), quotient.where,
    )  # fmt: skip


def without_verdict(rows: Sequence[Row]) -> list[Row]:
    """The rows; those of `WITHOUT` are not comparable."""
    return [
        replace(row, verdict="not comparable", why=why, experiment="", kind="R") if (why := _why(row)) else row
        for row in rows
    ]


def _why(row: Row) -> str:
    return next((why for beginning, why in WITHOUT.items() if re.match(beginning, row.what)), "")
