"""What the papers say of the curves, and whether ours do as well."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from odonata.reproduce.latency_load.curves import curves, throughput
from odonata.reproduce.rows import Row
from odonata.reproduce.verdict import within

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from odonata.reproduce.latency_load.curves import Curves, LoadResults
    from odonata.reproduce.verdict import Verdict

KIM = "Kim 2008, section 4.2 and figure 8"
JIANG = "Jiang 2009, sections 3 and 5"
LIGHT, MIDDLE = 10.0, 30.0
"""Offered loads at which latencies are compared, in percent."""


@dataclass(frozen=True)
class Check:
    """One statement about the curves."""

    id: str
    what: str
    model: str
    unit: str
    ours: Callable[[Curves], float]
    theirs: Callable[[Curves], float]
    """The published value; in a relation between two routings, ours of the other one."""
    tolerance: str
    """As in `expected.csv`; `{}` stands for theirs."""
    where: str
    why: str = ""
    """The cause where ours does not match."""


def compare(results: LoadResults, models: Sequence[str]) -> list[Row]:
    """A row for every statement."""
    found = curves(results)
    most = {model: max(n for (m, _), one in results.items() if m == model for n in one) for model in models}
    return [_row(check, found, most[check.model]) for check in _checks() if check.model in models]


def _row(check: Check, found: Curves, messages: int) -> Row:
    ours, theirs = check.ours(found), check.theirs(found)
    tolerance = check.tolerance.format(f"{theirs:.4g}")
    verdict: Verdict = "match" if within(ours, theirs, tolerance) else "no match"
    return Row(
        id=check.id,
        what=check.what,
        model=check.model,
        kind="R",
        unit=check.unit,
        ours=ours,
        theirs=theirs,
        tolerance=tolerance,
        verdict=verdict,
        why="" if verdict == "match" else check.why,
        messages=messages,
        by_messages={},
        growth=None,
        meets_at=None,
        where=check.where,
    )


def _most(traffic: str, model: str) -> Callable[[Curves], float]:
    """Throughput at full load."""
    return lambda found: throughput(found[traffic][model])


def _slower(traffic: str, load: float, model: str, reference: str) -> Callable[[Curves], float]:
    """Mean latency over that of another routing at the same load."""
    return lambda found: found[traffic][model][load].mean_ps / found[traffic][reference][load].mean_ps


def _number(value: float) -> Callable[[Curves], float]:
    return lambda _: value


def _one_pair(found: Curves) -> float:
    """1/(ah) of a balanced dragonfly: all nodes of a group share its cables to one other."""
    return next(iter(found["worst-case"]["minimal"].values())).pair_share * 100


def _checks() -> Iterator[Check]:
    uniform = "uniform traffic, throughput at full load"
    worst = "worst case, throughput at full load"
    yield Check("LL1", uniform, "minimal", "%", _most("uniform", "minimal"), _number(100), "3 %", KIM)
    yield Check("LL2", uniform, "valiant", "%", _most("uniform", "valiant"), _number(50), "10 %", KIM)
    for number, model in enumerate(("ugal-l", "ugal-g", "par"), 3):
        where = JIANG if model == "par" else KIM
        ours, theirs = _most("uniform", model), _most("uniform", "minimal")
        yield Check(f"LL{number}", f"{uniform}, against minimal", model, "%", ours, theirs, "10 %", where)
    yield Check("LL6", f"{worst}: 1/(ah)", "minimal", "%", _most("worst-case", "minimal"), _one_pair, "3 %", KIM)
    yield Check("LL7", worst, "valiant", "%", _most("worst-case", "valiant"), _number(50), "10 %", KIM)
    for number, model in enumerate(("ugal-l", "ugal-g", "par"), 8):
        ours = _most("worst-case", model)
        against = f"{worst}, against minimal"
        yield Check(f"LL{number}", against, model, "%", ours, _most("worst-case", "minimal"), ">= {}", KIM)
    ours, theirs = _most("worst-case", "ugal-g"), _most("worst-case", "valiant")
    yield Check("LL11", f"{worst}, against valiant", "ugal-g", "%", ours, theirs, "10 %", KIM)
    ours, theirs = _most("worst-case", "par"), _most("worst-case", "ugal-l")
    yield Check("LL12", f"{worst}, against ugal-l", "par", "%", ours, theirs, ">= {}", JIANG)
    light = f"uniform traffic at {LIGHT:g} %, mean latency against minimal"
    ours = _slower("uniform", LIGHT, "valiant", "minimal")
    yield Check("LL13", light, "valiant", "x", ours, _number(1), "> {}", KIM)
    for number, model in enumerate(("ugal-l", "ugal-g", "par"), 14):
        ours = _slower("uniform", LIGHT, model, "minimal")
        yield Check(f"LL{number}", light, model, "x", ours, _number(1), "10 %", KIM)
    middle = f"worst case at {MIDDLE:g} %, mean latency against ugal-g"
    ours = _slower("worst-case", MIDDLE, "ugal-l", "ugal-g")
    yield Check("LL17", middle, "ugal-l", "x", ours, _number(1), "> {}", KIM)
    ours = _slower("worst-case", MIDDLE, "par", "ugal-l")
    what = f"worst case at {MIDDLE:g} %, mean latency against ugal-l"
    yield Check("LL18", what, "par", "x", ours, _number(1), "<= {}", JIANG)
