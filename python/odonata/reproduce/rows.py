"""Rows of a reproduction: published value, ours, verdict, reason."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from odonata.reproduce.measures import MEASURES, SCALE
from odonata.reproduce.verdict import growth, judge, meets_at

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from odonata.reproduce.expected import Expected
    from odonata.reproduce.outcome import Outcome
    from odonata.reproduce.simulated import Measured, Simulated
    from odonata.reproduce.verdict import Growth, Verdict

    Results = Mapping[tuple[str, str], Mapping[int, Outcome]]
    """(model, name of the case) -> number of messages -> outcome."""

M = TypeVar("M", bound="Measured")


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


def by_name(outcomes: Mapping[Simulated[M], M]) -> Mapping[tuple[str, str], Mapping[int, M]]:
    """Outcomes in the form in which rows look for them."""
    found: dict[tuple[str, str], dict[int, M]] = {}
    for case, outcome in outcomes.items():
        found.setdefault((case.model, case.name), {})[case.messages] = outcome
    return found


def compare(
    expected: Iterable[Expected], results: Results, models: Iterable[str], *, inferred: int | None = None
) -> list[Row]:
    """A row for every published value and model whose cases were all simulated with one number of messages.

    `inferred` is the number of messages at which values that grow with it are held against the published ones.
    """
    models = list(models)
    rows = (_row(wanted, results, model, inferred) for wanted in expected for model in models)
    return [row for row in rows if row is not None]


def _row(wanted: Expected, results: Results, model: str, inferred: int | None) -> Row | None:
    ours = _by_messages(wanted, results, model)
    if not ours:
        return None
    most = inferred if inferred in ours else max(ours)
    growing = growth(ours)
    verdict = judge(wanted.kind, ours[most], wanted.theirs, wanted.tolerance, growing, inferred=most == inferred)
    meets = meets_at(ours, wanted.theirs) if wanted.kind in "NF" else None
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
        why=_why(wanted.kind, verdict, growing, most, "" if verdict == "match" else wanted.why.get(model, "")),
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


def _why(kind: str, verdict: Verdict, growing: Growth | None, most: int, cause: str) -> str:
    """What the numbers say by themselves, then the cause as far as it is known."""
    unstated = "the number of messages, which the paper does not state"
    said = ""
    if kind == "F":
        said = f"{unstated}, was inferred from this value"
    elif kind == "N" and verdict == "not comparable":
        said = f"grows with {unstated}" if growing == "grows" else f"hangs on {unstated}; simulated for {most} only"
    elif kind == "N" and growing != "steady":
        said = f"at {most} messages, a number inferred from another value"
    return "; ".join(part for part in (said, cause) if part)
