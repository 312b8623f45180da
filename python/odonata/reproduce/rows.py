"""Rows of a reproduction: the published value, ours, a verdict, a reason.

| kind | verdict |
|---|---|
| C, S, R | `match` if within the tolerance, else `no match` |
| N | the same if ours is `steady` or for the number of messages inferred from a row of kind F; else `not comparable` |
| F | `not comparable`: the number of messages, which the paper does not state, was inferred from it |

**Steady or grows**: with the two largest numbers of messages N1 < N2, the exponent
`ln(value(N2) / value(N1)) / ln(N2 / N1)` is 0 for a value that does not depend on N and 1 for one proportional to it.
Above [GROWS][odonata.reproduce.rows.GROWS] (doubling N adds more than 11 %) it grows.
"""

from __future__ import annotations

import itertools
import math
import operator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

Verdict = Literal["match", "no match", "not comparable"]
Growth = Literal["steady", "grows"]

KINDS = {
    "C": "follows by calculation from the text",
    "S": "steady: does not depend on the length of the run",
    "N": "grows with the number of messages, which the paper does not state",
    "F": "as N, and used to find out that number: nothing left to compare",
    "R": "a relation, or a value that depends on something the paper does not state",
}
"""Kind (letter of the requirements catalogue) -> its meaning."""

GROWS = 0.15
"""Exponent from which a value is said to grow with the number of messages."""

_RELATIONS = {"<=": operator.le, ">=": operator.ge, "<": operator.lt, ">": operator.gt}


@dataclass(frozen=True)
class Row:
    """One published value against one model."""

    id: str
    """Row of the requirements catalogue."""
    what: str
    model: str
    kind: str
    unit: str
    ours: float
    theirs: float
    tolerance: str
    """`10 %` of the published value, `± 4` in its unit, or a relation such as `<= 1.07` that ours must satisfy."""
    verdict: Verdict
    why: str
    messages: int
    """Messages per process behind `ours`."""
    where: str
    """Section and figure."""
    by_messages: dict[int, float] = field(default_factory=dict)
    """Ours for every number of messages that was simulated."""
    growth: Growth | None = None
    meets_at: float | None = None
    """Number of messages at which a growing value would be the published one."""

    def as_json(self) -> dict[str, Any]:
        """One element of `odonata reproduce --json`."""
        return {**self.__dict__, "by_messages": {str(n): value for n, value in self.by_messages.items()}}


def statement(
    id_: str,
    what: str,
    ours: float,
    theirs: float,
    unit: str,
    tolerance: str,
    where: str,
    *,
    model: str,
    kind: str = "R",
    why: str = "",
    messages: int = 1,
    comparable: bool = True,
) -> Row:
    """A row whose verdict is whether ours is within the tolerance; `why` is said unless it matches."""
    verdict: Verdict = "match" if within(ours, theirs, tolerance) else "no match"
    if not comparable:
        verdict = "not comparable"
    why = "" if verdict == "match" else why
    return Row(id_, what, model, kind, unit, ours, theirs, tolerance, verdict, why, messages, where)


def growth(by_messages: Mapping[int, float]) -> Growth | None:
    """Whether a value depends on the number of messages; None if it was measured for one number only."""
    if len(by_messages) < 2:
        return None
    (n1, first), (n2, second) = sorted(by_messages.items())[-2:]
    if first <= 0 or second <= 0:
        return "steady" if first == second else None
    return "grows" if math.log(second / first) / math.log(n2 / n1) > GROWS else "steady"


def within(ours: float, theirs: float, tolerance: str) -> bool:
    """Whether ours is close enough: `10 %` of theirs, `± 4`, or a relation of ours to a number, as `<= 1.07`.

    Raises ValueError for a tolerance that is none of these.
    """
    words = tolerance.split()
    if len(words) == 2 and words[1] == "%":
        return abs(ours - theirs) <= abs(theirs) * float(words[0]) / 100
    if len(words) == 2 and words[0] == "±":
        return abs(ours - theirs) <= float(words[1])
    if len(words) == 2 and words[0] in _RELATIONS:
        return bool(_RELATIONS[words[0]](ours, float(words[1])))
    raise ValueError(f"unknown tolerance {tolerance!r}")


def judge(
    kind: str, ours: float, theirs: float, tolerance: str, growing: Growth | None, *, inferred: bool = False
) -> Verdict:
    """The verdict on one value (table above); `inferred` if ours is for the inferred number of messages."""
    if kind == "F" or (kind == "N" and growing != "steady" and not inferred):
        return "not comparable"
    return "match" if within(ours, theirs, tolerance) else "no match"


def meets_at(by_messages: Mapping[int, float], theirs: float) -> float | None:
    """Number of messages at which a growing value would be the published one, on the line through its two largest
    numbers of messages or between the two that enclose it; None if it does not grow or starts above."""
    points = sorted(by_messages.items())
    if growth(by_messages) != "grows":
        return None
    enclosing = [(a, b) for a, b in itertools.pairwise(points) if a[1] <= theirs <= b[1]]
    (n1, first), (n2, second) = enclosing[0] if enclosing else points[-2:]
    if second <= first:
        return None
    at = n1 + (theirs - first) * (n2 - n1) / (second - first)
    return at if at > 0 else None
