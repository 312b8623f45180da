"""Rows of a reproduction: the published value, ours, a verdict, what is known of the cause.

| tolerance | verdict |
|---|---|
| `10 %`, `± 4`: two-sided | `match` if ours and both ends of its interval are within it, else `no match` |
| `< 1`, `>= 100`: an ordering or a bound | `direction` if it holds for both ends of the interval, else `no match` |

Where ours satisfies it and an end of its interval does not, the runs cannot tell
([unsure][odonata.reproduce.rows.unsure]). That is `no match` too, and pages say which of the two it is.

A ratio that must be above or below 1 must also differ from 1 by more than
[NO_EFFECT][odonata.reproduce.rows.NO_EFFECT]: what is nearer is no effect, however short its interval is. A `direction`
is never counted as a match. Values that the paper does not determine are `not comparable`:

| kind | verdict |
|---|---|
| C, S, R | as above |
| N | the same if ours is `steady` or for the number of messages inferred from a row of kind F; else `not comparable` |
| F | `not comparable` where ours is within the tolerance, since a parameter was chosen by it; else `no match` |

**Steady or grows**: with the two largest numbers of messages N1 < N2, the exponent
`ln(value(N2) / value(N1)) / ln(N2 / N1)` is 0 for a value that does not depend on N and 1 for one proportional to it.
Above [GROWS][odonata.reproduce.rows.GROWS] (doubling N adds more than 11 %) it grows.
"""

from __future__ import annotations

import itertools
import math
import operator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, get_args

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

Verdict = Literal["match", "direction", "no match", "not comparable"]
Growth = Literal["steady", "grows"]

VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
"""All verdicts, in the order of tables."""

KINDS = {
    "C": "follows by calculation from the text",
    "S": "steady: does not depend on the length of the run",
    "N": "grows with the number of messages, which the paper does not state",
    "R": "a relation, or a value that depends on something the paper does not state",
    "F": "fitted: the value was used to choose a parameter, so nothing is left to compare",
}
"""Kind (letter of the requirements catalogue) -> its meaning."""

GROWS = 0.15
"""Exponent from which a value is said to grow with the number of messages."""

NO_EFFECT = 0.01
"""A ratio nearer to 1 than this is no effect. Assumed: it is the tolerance of calculated values (K50, K52)."""

_RELATIONS = {"<=": operator.le, ">=": operator.ge, "<": operator.lt, ">": operator.gt}


@dataclass(frozen=True)
class Row:
    """One published value against one model.

    Raises ValueError for a cause of a mismatch without the experiment that supports it.
    """

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
    """Of `no match`, the cause, which `experiment` supports; of `not comparable`, what the paper leaves open."""
    messages: int
    """Messages per process behind `ours`."""
    where: str
    """Section and figure."""
    by_messages: dict[int, float] = field(default_factory=dict)
    """Ours for every number of messages that was simulated."""
    growth: Growth | None = None
    meets_at: float | None = None
    """Number of messages at which a growing value would be the published one."""
    interval: tuple[float, float] | None = None
    """95 % interval of ours over repetitions; None if there is none."""
    repetitions: int = 0
    """Number of values behind the interval."""
    experiment: str = ""
    """The page, or the table of this page, whose runs support the cause; "" if there is none."""
    note: str = ""
    """What else the numbers say, such as the number of messages that was inferred."""

    def __post_init__(self) -> None:
        if self.verdict == "no match" and bool(self.why) != bool(self.experiment):
            raise ValueError(f"{self.id} {self.what}: a cause without an experiment, or an experiment without a cause")

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
    experiment: str = "",
    messages: int = 1,
    comparable: bool = True,
    interval: tuple[float, float] | None = None,
) -> Row:
    """A row judged by its tolerance.

    `why` with its `experiment` is the cause if ours does not agree; of a row that is not `comparable`, `why` alone says
    what the paper leaves open.
    """
    verdict = judge(kind, ours, theirs, tolerance, None, unit=unit, inferred=comparable, interval=interval)
    if not comparable:
        verdict, experiment = "not comparable", ""
    elif verdict != "no match":
        why = experiment = ""
    return Row(
        id_, what, model, kind, unit, ours, theirs, tolerance, verdict, why, messages, where,
        interval=interval, experiment=experiment,
    )  # fmt: skip


def judged_again(row: Row) -> Row:
    """The row with the verdict on its numbers; what was not comparable stays so, since that is no property of numbers.

    A cause stays only where the verdict is still `no match`.
    """
    if row.verdict == "not comparable" and row.kind != "F":
        return row
    verdict = judge(
        row.kind,
        row.ours,
        row.theirs,
        row.tolerance,
        row.growth,
        unit=row.unit,
        inferred=True,
        interval=row.interval,
    )
    told = verdict == "no match" == row.verdict
    return replace(row, verdict=verdict, why=row.why if told else "", experiment=row.experiment if told else "")


def holds(row: Row) -> bool:
    """Whether the statement holds for its numbers, also where no verdict is claimed."""
    verdict = judge(row.kind, row.ours, row.theirs, row.tolerance, None, unit=row.unit, interval=row.interval)
    return verdict in ("match", "direction")


def unsure(row: Row) -> bool:
    """Whether it fails only because an end of its interval does: the runs cannot tell."""
    alone = judge(row.kind, row.ours, row.theirs, row.tolerance, row.growth, unit=row.unit, inferred=True)
    return row.interval is not None and row.verdict == "no match" and alone in ("match", "direction")


def without_cause(rows: Sequence[Row], why: str) -> list[Row]:
    """The rows without this cause, which another version may have given them."""
    return [replace(row, why="", experiment="") if row.why == why else row for row in rows]


def explained_by_model(
    rows: Sequence[Row],
    model: str,
    of: Collection[str],
    why: str,
    experiment: str,
    gives: Callable[[Row], bool] = lambda row: row.verdict in ("match", "direction"),
) -> list[Row]:
    """The rows, with a cause for what models `of` miss and `model` gives: what the models differ in. Its experiment is
    the row of `model`. A cause that a row has already stays."""
    given = {(row.id, row.what) for row in rows if row.model == model and gives(row)}
    return [
        replace(row, why=why, experiment=experiment)
        if row.model in of and row.verdict == "no match" and not row.why and (row.id, row.what) in given
        else row
        for row in rows
    ]


def growth(by_messages: Mapping[int, float]) -> Growth | None:
    """Whether a value depends on the number of messages; None if it was measured for one number only."""
    if len(by_messages) < 2:
        return None
    (n1, first), (n2, second) = sorted(by_messages.items())[-2:]
    if first <= 0 or second <= 0:
        return "steady" if first == second else None
    return "grows" if math.log(second / first) / math.log(n2 / n1) > GROWS else "steady"


def is_relation(tolerance: str) -> bool:
    """Whether it is an ordering or a bound, which ours satisfies or not, in place of a two-sided tolerance."""
    return tolerance.split()[:1] != [] and tolerance.split()[0] in _RELATIONS


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


def no_effect(ours: float, unit: str, tolerance: str) -> bool:
    """Whether ours is a ratio that must be above or below 1 and hardly differs from 1."""
    return unit == "x" and tolerance in ("< 1", "> 1") and abs(ours - 1) <= NO_EFFECT


def judge(
    kind: str,
    ours: float,
    theirs: float,
    tolerance: str,
    growing: Growth | None,
    *,
    unit: str = "",
    inferred: bool = False,
    interval: tuple[float, float] | None = None,
) -> Verdict:
    """The verdict on one value (tables above); `inferred` if ours is for the inferred number of messages."""
    if kind == "N" and growing != "steady" and not inferred:
        return "not comparable"
    # A parameter that was chosen by a value brought ours there, however wide its interval is.
    ends = (ours,) if kind == "F" else (ours, *(interval or ()))
    agrees = all(within(end, theirs, tolerance) for end in ends)
    if is_relation(tolerance):
        agrees = agrees and not no_effect(ours, unit, tolerance)
    if not agrees:
        return "no match"
    if kind == "F":
        return "not comparable"
    return "direction" if is_relation(tolerance) else "match"


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
