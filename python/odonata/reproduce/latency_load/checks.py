"""Statements of the papers about the curves of latency against load, and whether they hold for ours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from odonata.reproduce.rows import Row, statement

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from odonata.machine import System
    from odonata.reproduce.reproduction import Runs

    Curve = Mapping[float, Mapping[str, Any]]
    """Offered load in percent -> run."""
    Curves = Mapping[str, Mapping[str, Curve]]
    """Traffic -> routing -> curve."""

SATURATED = 0.95
"""A network that accepts less than this fraction of the offered load is saturated: latencies grow with the run."""

BIASED = "ugal-l-2KiB"
"""UGAL-L with a bias of four packets."""

KIM = "Kim 2008, section 4 and figure 8"
JIANG = "Jiang 2009 (PAR)"
LIGHT, MIDDLE, HEAVY = 10.0, 30.0, 80.0
"""Offered loads at which latencies are compared, in percent."""


def curves(runs: Runs) -> Curves:
    """The runs in the order in which they come, those with other buffers left out."""
    lines: dict[str, dict[str, dict[float, Mapping[str, Any]]]] = {}
    for run in runs:
        if not run["buffer"]:
            lines.setdefault(run["traffic"], {}).setdefault(run["routing"], {})[run["load"]] = run
    return lines


def throughput(curve: Curve) -> float:
    """Accepted load at the greatest offered load, in percent of the injection bandwidth."""
    accepted: float = curve[max(curve)]["accepted"] * 100
    return accepted


def stable(run: Mapping[str, Any]) -> bool:
    """Whether the offered load was accepted."""
    return bool(run["accepted"] >= SATURATED * run["offered"])


def one_pair(system: System) -> float:
    """1/(ah) of a balanced dragonfly, percent: all nodes of a group share its cables to one other."""
    return 100 * system.links_per_pair / system.shape.nodes_per_group


def half_uniform(system: System) -> float:
    """About one half: packets between groups use two global links, and there is one global link per node."""
    shape = system.shape
    return 50 / ((shape.nodes - shape.nodes // shape.groups) / (shape.nodes - 1))


def half_worst(system: System) -> float:
    """About one half, less the cables to the next group: none of them leads to a third group."""
    return 50 * (system.shape.groups - 2) / (system.shape.groups - 1)


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
    """`{}` stands for theirs."""
    where: str
    why: str = ""
    """The reason if ours does not match."""


def compare(runs: Runs, system: System, messages: int) -> list[Row]:
    """A row for every statement; `messages` were issued by a node at full load."""
    lines = curves(runs)
    return [_row(check, lines, messages) for check in _checks(system)]


def _row(check: Check, lines: Curves, messages: int) -> Row:
    ours, theirs = check.ours(lines), check.theirs(lines)
    return statement(
        check.id,
        check.what,
        ours,
        theirs,
        check.unit,
        check.tolerance.format(f"{theirs:.4g}"),
        check.where,
        model=check.model,
        why=check.why,
        experiment=f"the curve of `{BIASED}` on this page" if check.why else "",
        messages=messages,
    )


def _most(traffic: str, model: str) -> Callable[[Curves], float]:
    """Throughput at full load."""
    return lambda lines: throughput(lines[traffic][model])


def _slower(traffic: str, load: float, model: str, reference: str) -> Callable[[Curves], float]:
    """Mean latency over that of another routing at the same load."""
    return lambda lines: lines[traffic][model][load]["mean_ps"] / lines[traffic][reference][load]["mean_ps"]


def _number(value: float) -> Callable[[Curves], float]:
    return lambda _: value


def _checks(system: System) -> Iterator[Check]:
    uniform, worst = "uniform, throughput at full load", "worst case, throughput at full load"
    adaptive = ("ugal-l", "ugal-g", "par")
    best = _most("uniform", "minimal")
    yield Check("LL1", f"{uniform}: the capacity", "minimal", "%", best, _number(100), "3 %", KIM)
    yield Check(
        "LL2",
        f"{uniform}: about one half",
        "valiant",
        "%",
        _most("uniform", "valiant"),
        _number(half_uniform(system)),
        "10 %",
        KIM,
    )
    for number, model in enumerate(adaptive, 3):
        where = JIANG if model == "par" else KIM
        yield Check(f"LL{number}", f"{uniform}: as minimal", model, "%", _most("uniform", model), best, "10 %", where)
    least = _most("worst-case", "minimal")
    yield Check("LL6", f"{worst}: 1/(ah)", "minimal", "%", least, _number(one_pair(system)), "3 %", KIM)
    half = _most("worst-case", "valiant")
    yield Check("LL7", f"{worst}: about one half", "valiant", "%", half, _number(half_worst(system)), "10 %", KIM)
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
        "without a bias, one or two packets that wait on the minimal path are enough for a non-minimal path, which "
        f"takes two global links instead of one; with a bias (`{BIASED}`) the statement holds"
    )
    for number, model in enumerate(("ugal-l", BIASED, "ugal-g"), 18):
        ours = _slower("uniform", HEAVY, model, "minimal")
        yield Check(f"LL{number}", heavy, model, "x", ours, _number(1), "<= 1.5", KIM, why if model == "ugal-l" else "")
    ours = _most("worst-case", BIASED)
    yield Check("LL21", f"{worst}: more than minimal", BIASED, "%", ours, least, "> {}", KIM)
