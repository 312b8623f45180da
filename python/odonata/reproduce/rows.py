"""Rows of a reproduction: published value, ours, verdict, reason."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from odonata.reproduce.measures import MEASURES, SCALE
from odonata.reproduce.verdict import growth, judge, meets_at

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from odonata.reproduce.case import Case
    from odonata.reproduce.expected import Expected
    from odonata.reproduce.outcome import Outcome
    from odonata.reproduce.verdict import Growth, Verdict

    Results = Mapping[tuple[str, str], Mapping[int, Outcome]]
    """(model, name of the case) -> number of messages -> outcome."""


@dataclass(frozen=True)
class Row:
    """One published value against one model."""

    id: str
    what: str
    model: str
    kind: str
    unit: str
    ours: float
    theirs: float
    tolerance: str
    verdict: Verdict
    why: str
    messages: int
    """Messages per process behind `ours`."""
    by_messages: dict[int, float]
    """Ours for every number of messages that was simulated."""
    growth: Growth | None
    meets_at: float | None
    """Number of messages at which a growing value would be the published one."""
    where: str

    def as_json(self) -> dict[str, Any]:
        """One element of `odonata reproduce --json`."""
        return {**self.__dict__, "by_messages": {str(n): value for n, value in self.by_messages.items()}}


def by_name(outcomes: Mapping[Case, Outcome]) -> Results:
    """Outcomes in the form in which rows look for them."""
    found: dict[tuple[str, str], dict[int, Outcome]] = {}
    for case, outcome in outcomes.items():
        found.setdefault((case.model, case.name), {})[case.messages] = outcome
    return found


def compare(expected: Iterable[Expected], results: Results, models: Iterable[str]) -> list[Row]:
    """A row for every published value and model whose cases were all simulated with one number of messages."""
    models = list(models)
    rows = (_row(wanted, results, model) for wanted in expected for model in models)
    return [row for row in rows if row is not None]


def _row(wanted: Expected, results: Results, model: str) -> Row | None:
    ours = _by_messages(wanted, results, model)
    if not ours:
        return None
    most = max(ours)
    growing = growth(ours)
    verdict = judge(wanted.kind, ours[most], wanted.theirs, wanted.tolerance, growing)
    meets = meets_at(ours, wanted.theirs) if wanted.kind == "N" else None
    return Row(
        id=wanted.id,
        what=wanted.what,
        model=model,
        kind=wanted.kind,
        unit=wanted.unit,
        ours=ours[most],
        theirs=wanted.theirs,
        tolerance=wanted.tolerance,
        verdict=verdict,
        why=_why(verdict, growing, meets, most, "" if verdict == "match" else wanted.why.get(model, "")),
        messages=most,
        by_messages=ours,
        growth=growing,
        meets_at=meets,
        where=wanted.where,
    )


def _by_messages(wanted: Expected, results: Results, model: str) -> dict[int, float]:
    cases = [results.get((model, name), {}) for name in wanted.cases]
    reference = [results.get((model, name), {}) for name in wanted.reference]
    common = sorted(set.intersection(*(set(found) for found in cases + reference)))
    measure, scale = MEASURES[wanted.measure], SCALE[wanted.unit]
    return {n: measure([case[n] for case in cases], [case[n] for case in reference]) / scale for n in common}


def _why(verdict: Verdict, growing: Growth | None, meets: float | None, most: int, cause: str) -> str:
    """What the numbers say by themselves, then the cause as far as it is known."""
    said = ""
    if verdict == "not comparable":
        said = "grows with the number of messages, which the paper does not state"
        if growing is None:
            said = f"hangs on the number of messages, which the paper does not state; simulated for {most} only"
        if meets is not None:
            said += f"; it would be the published value at {meets:.0f}"
    elif verdict == "no match" and growing == "grows":
        said = "grows with the number of messages"
    return "; ".join(part for part in (said, cause) if part)
