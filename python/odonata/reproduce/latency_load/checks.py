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
    from odonata.reproduce.latency_load.load_outcome import LoadOutcome
    from odonata.reproduce.verdict import Verdict

BIASED = "ugal-l-2KiB"
"""UGAL-L with a bias of four packets."""

KIM = "Kim 2008, section 4 and figure 8"
JIANG = "Jiang 2009 (PAR)"
LIGHT, MIDDLE, HEAVY = 10.0, 30.0, 80.0
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


def _one(found: Curves) -> LoadOutcome:
    return next(iter(next(iter(next(iter(found.values())).values())).values()))


def one_pair(found: Curves) -> float:
    """1/(ah) of a balanced dragonfly: all nodes of a group share its cables to one other."""
    return _one(found).pair_share * 100


def half_uniform(found: Curves) -> float:
    """About one half: packets between groups use two links between groups, of which there is one for each node."""
    one = _one(found)
    leaving = (one.nodes - one.nodes // one.groups) / (one.nodes - 1)
    return 50 / leaving


def half_worst(found: Curves) -> float:
    """About one half, less the cables to the next group: none of them leads to a third group."""
    groups = _one(found).groups
    return 50 * (groups - 2) / (groups - 1)


def _checks() -> Iterator[Check]:
    uniform, worst = "uniform, throughput at full load", "worst case, throughput at full load"
    adaptive = ("ugal-l", "ugal-g", "par")
    best = _most("uniform", "minimal")
    yield Check("LL1", f"{uniform}: the capacity", "minimal", "%", best, _number(100), "3 %", KIM)
    yield Check(
        "LL2", f"{uniform}: about one half", "valiant", "%", _most("uniform", "valiant"), half_uniform, "10 %", KIM
    )
    for number, model in enumerate(adaptive, 3):
        where = JIANG if model == "par" else KIM
        yield Check(f"LL{number}", f"{uniform}: as minimal", model, "%", _most("uniform", model), best, "10 %", where)
    least = _most("worst-case", "minimal")
    yield Check("LL6", f"{worst}: 1/(ah)", "minimal", "%", least, one_pair, "3 %", KIM)
    half = _most("worst-case", "valiant")
    yield Check("LL7", f"{worst}: about one half", "valiant", "%", half, half_worst, "10 %", KIM)
    for number, model in enumerate(adaptive, 8):
        where = JIANG if model == "par" else KIM
        ours = _most("worst-case", model)
        yield Check(f"LL{number}", f"{worst}: more than minimal", model, "%", ours, least, "> {}", where)
    ours = _most("worst-case", "ugal-g")
    yield Check("LL11", f"{worst}: no less than valiant", "ugal-g", "%", ours, half, ">= {}", KIM)
    light = f"uniform at {LIGHT:g} %, mean latency"
    ours = _slower("uniform", LIGHT, "valiant", "minimal")
    yield Check("LL12", f"{light}: more than minimal", "valiant", "x", ours, _number(1), "> {}", KIM)
    for number, model in enumerate(adaptive, 13):
        where = JIANG if model == "par" else KIM
        ours = _slower("uniform", LIGHT, model, "minimal")
        yield Check(f"LL{number}", f"{light}: as minimal", model, "x", ours, _number(1), "10 %", where)
    middle = f"worst case at {MIDDLE:g} %, mean latency"
    ours = _slower("worst-case", MIDDLE, "ugal-l", "ugal-g")
    yield Check("LL16", f"{middle}: more than ugal-g", "ugal-l", "x", ours, _number(1), "> {}", KIM)
    ours = _slower("worst-case", MIDDLE, "par", "ugal-l")
    yield Check("LL17", f"{middle}: less than ugal-l", "par", "x", ours, _number(1), "< {}", JIANG)
    heavy = f"uniform at {HEAVY:g} %, mean latency: little more than minimal"
    why = (
        "without a bias a packet or two that happen to wait for the shortest way are enough to go round, and what goes "
        "round takes two links between groups in place of one, which then lack capacity; with a bias of four packets "
        f"(`{BIASED}`) hardly any go round"
    )
    for number, model in enumerate(("ugal-l", BIASED, "ugal-g"), 18):
        ours = _slower("uniform", HEAVY, model, "minimal")
        yield Check(f"LL{number}", heavy, model, "x", ours, _number(1), "<= 1.5", KIM, why if model == "ugal-l" else "")
    ours = _most("worst-case", BIASED)
    yield Check("LL21", f"{worst}: more than minimal", BIASED, "%", ours, least, "> {}", KIM)
