"""What the paper says (`expected*.csv`), how it is measured here, and the rows that come of it."""

from __future__ import annotations

import csv
import math
from dataclasses import dataclass, field
from importlib.resources import files
from statistics import mean, stdev
from typing import TYPE_CHECKING, Any

from odonata.reproduce.kang2019.claims import with_quotients, without_verdict
from odonata.reproduce.kang2019.runs import AS_PUBLISHED, BACKLOG, CORRECT, MODELS, by_case, met
from odonata.reproduce.rows import KINDS, Row, explained_by_model, growth, judge, meets_at, without_cause

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from odonata.reproduce.reproduction import Runs
    from odonata.reproduce.rows import Growth

    Cases = Sequence[Mapping[str, Any]]
    Measure = Callable[[Cases, Cases], float]
    """Runs and those they are compared with, to a value: picoseconds, bytes per second, a ratio or percent."""

MET = 0.1
"""Share of a job's messages that a background must meet to slow the job measurably (assumed; `runs.met`)."""
_NOT_MET = "at some interval the job has sent its messages before the background begins"

_SIMULATOR = "the value comes from how the authors' simulator works, which this model does not imitate"
_AS_RUN = "the model as published, on this page"
_REPAIRED = "the model as published without its defects, on the page kang2019-defects"

CAPACITY = 384 * 4.37 * 2**30
"""What the global links of a group carry in one direction (K53), bytes per second."""


@dataclass(frozen=True)
class Expected:
    """One published value."""

    id: str
    """Row of the requirements catalogue."""
    what: str
    kind: str
    """How far the value is determined by the paper (`rows.KINDS`)."""
    theirs: float
    """The value, in `unit`."""
    unit: str
    tolerance: str
    measure: str
    """Name in [MEASURES][odonata.reproduce.kang2019.published.MEASURES]."""
    cases: tuple[str, ...]
    """The cases it is measured on."""
    reference: tuple[str, ...]
    """The cases these are compared with, pair by pair; for some measures none."""
    where: str
    """Section and figure."""
    why: dict[str, str]
    """Model -> the cause where ours does not match; "" if none is known."""
    tested: dict[str, str] = field(default_factory=dict)
    """Model -> the experiment that supports the cause."""


def expected(file: str = "expected.csv") -> list[Expected]:
    """The rows of a file in order; its columns `why_MODEL` and `tested_MODEL` (with `_` for `-`) hold causes and the
    experiments that support them."""
    text = (files("odonata.reproduce.kang2019") / file).read_text(encoding="utf-8")
    return [_expected(line) for line in csv.DictReader(text.splitlines())]


def _expected(line: dict[str, str]) -> Expected:
    if line["kind"] not in KINDS:
        raise ValueError(f"{line['id']}: unknown kind {line['kind']!r}")
    why, tested = (
        {key.removeprefix(of).replace("_", "-"): text for key, text in line.items() if key.startswith(of)}
        for of in ("why_", "tested_")
    )
    texts = {key: text for key, text in line.items() if not key.startswith(("why_", "tested_"))}
    theirs, cases, reference = (texts.pop(key) for key in ("theirs", "cases", "reference"))
    return Expected(
        **texts,
        theirs=float(theirs),
        cases=tuple(cases.split()),
        reference=tuple(reference.split()),
        why=why,
        tested=tested,
    )


def means_alone() -> dict[str, Expected]:
    """Case -> its row, for mean latencies of uniform random and tornado traffic without a background."""
    return {
        row.cases[0]: row
        for row in expected()
        if row.measure == "mean" and row.cases[0].count("/") == 2 and row.cases[0].startswith(("uniform", "tornado"))
    }


def _one(cases: Cases, key: str) -> float:
    (case,) = cases
    value: float = case[key]
    return value


def _ratios(cases: Cases, reference: Cases) -> list[float]:
    """Mean latency over that of the reference, pair by pair."""
    pairs = zip(cases, reference, strict=True)
    return [here["latency_mean_ps"] / there["latency_mean_ps"] for here, there in pairs]


def _ratio(cases: Cases, reference: Cases) -> float:
    (ratio,) = _ratios(cases, reference)
    return ratio


def _ratio_of_largest(cases: Cases, reference: Cases) -> float:
    """Largest ratio of the first half of the pairs over the largest of the second half."""
    ratios = _ratios(cases, reference)
    half = len(ratios) // 2
    return max(ratios[:half]) / max(ratios[half:])


def _least_ratio_of_slowdowns(cases: Cases, reference: Cases) -> float:
    """Least ratio of a pair of the first half to its counterpart in the second half."""
    ratios = _ratios(cases, reference)
    half = len(ratios) // 2
    return min(here / there for here, there in zip(ratios[:half], ratios[half:], strict=True))


def _spread(cases: Cases, _: Cases) -> float:
    """Percent by which the largest mean latency exceeds the smallest."""
    means: list[float] = [case["latency_mean_ps"] for case in cases]
    return (max(means) / min(means) - 1) * 100


MEASURES: dict[str, Measure] = {
    "mean": lambda cases, _: _one(cases, "latency_mean_ps"),
    "ratio": _ratio,
    "mean-ratio": lambda cases, reference: mean(_ratios(cases, reference)),  # not ratio of the means (K32)
    "largest-ratio": lambda cases, reference: max(_ratios(cases, reference)),
    "least-ratio": lambda cases, reference: min(_ratios(cases, reference)),
    "ratio-of-largest": _ratio_of_largest,
    "least-ratio-of-slowdowns": _least_ratio_of_slowdowns,
    "slowdown": lambda cases, reference: (_ratio(cases, reference) - 1) * 100,
    "largest-slowdown": lambda cases, reference: (max(_ratios(cases, reference)) - 1) * 100,
    "spread": _spread,
    "rate": lambda cases, _: _one(cases, "root_rate"),
    "background": lambda cases, _: _one(cases, "background_rate"),
    "background-load": lambda cases, _: _one(cases, "background_rate") / CAPACITY,
}
"""Name in `expected.csv` -> function."""

SCALE = {"us": 1e6, "ms": 1e9, "GiB/s": 2.0**30, "x": 1.0, "%": 1.0}
"""Unit in `expected.csv` -> what a measured value is divided by."""


def compare(wanted: Iterable[Expected], runs: Runs, *, inferred: int | None = None) -> list[Row]:
    """A row for every published value and model whose cases were all simulated with one number of messages.

    `inferred` is the number of messages at which values that grow with it are held against the published ones. Where
    all cases were simulated with several seeds at the compared number, the row has their mean and its interval.
    """
    simulated = by_case(runs)
    others = [by_case(runs, number) for number in sorted({run.get("repetition", 1) for run in runs} - {1})]
    rows = []
    for statement in wanted:
        for model in MODELS:
            cases, reference = (
                [simulated.get((model, name), {}) for name in names] for names in (statement.cases, statement.reference)
            )
            common = sorted(set.intersection(*(set(by_messages) for by_messages in cases + reference)))
            measure, scale = MEASURES[statement.measure], SCALE[statement.unit]
            ours = {n: measure([case[n] for case in cases], [case[n] for case in reference]) / scale for n in common}
            if ours:
                most = inferred if inferred in ours else max(ours)
                repeated = [ours[most]]
                for cases_of in others:
                    runs_of = [cases_of.get((model, name), {}) for name in statement.cases + statement.reference]
                    if all(most in by_messages for by_messages in runs_of):
                        again = [by_messages[most] for by_messages in runs_of]
                        split = len(statement.cases)
                        repeated.append(measure(again[:split], again[split:]) / scale)
                late = any(met(name, most) < MET for name in statement.cases)
                no_claim = _NOT_MET if late else ""
                rows.append(row_of(statement, model, ours, inferred=inferred, repeated=repeated, no_claim=no_claim))
    return rows


def explain(rows: Sequence[Row]) -> list[Row]:
    """Adds claims that are about two other rows (`claims`), takes the verdict from rows that cannot have one
    (`claims.without_verdict`), and gives a cause to values that only the model as published gives within their
    tolerance.

    Also to those by which its parameters were chosen: with the same parameters and its defects repaired, it misses them
    as well (`kang2019-defects`).
    """
    others = (CORRECT, BACKLOG)
    rows = without_cause(without_verdict(with_quotients(rows)), _SIMULATOR)
    rows = explained_by_model(rows, AS_PUBLISHED, others, _SIMULATOR, _REPAIRED, _fitted)
    return explained_by_model(rows, AS_PUBLISHED, others, _SIMULATOR, _AS_RUN, lambda row: row.verdict == "match")


def _fitted(row: Row) -> bool:
    return (row.verdict, row.kind) == ("not comparable", "F")


def row_of(
    wanted: Expected,
    model: str,
    ours: dict[int, float],
    *,
    inferred: int | None = None,
    label: str = "",
    no_claim: str = "",
    repeated: Sequence[float] = (),
) -> Row:
    """The row of a published value; `ours` is by number of messages, `label` what is changed, `no_claim` why it cannot
    be compared at all, `repeated` are the values of all seeds at the compared number of messages."""
    most = inferred if inferred in ours else max(ours)
    interval = None
    if len(repeated) > 1:
        ours = {**ours, most: mean(repeated)}
        interval = interval_of_mean(repeated)
    growing = growth(ours)
    verdict = judge(
        wanted.kind,
        ours[most],
        wanted.theirs,
        wanted.tolerance,
        growing,
        unit=wanted.unit,
        inferred=most == inferred,
        interval=interval,
    )
    why = experiment = ""
    if no_claim:
        verdict, why = "not comparable", no_claim
    elif verdict == "not comparable":
        why = _open(wanted.kind, growing, most)
    elif verdict == "no match" and not label:
        why, experiment = wanted.why.get(model, ""), wanted.tested.get(model, "")
    note = ""
    if wanted.kind == "N" and growing != "steady" and verdict != "not comparable":
        note = f"at {most} messages, a number inferred from another value"
    return Row(
        id=wanted.id,
        what=f"{label}: {wanted.what}" if label else wanted.what,
        model=model,
        kind="R" if no_claim else wanted.kind,
        unit=wanted.unit,
        ours=ours[most],
        theirs=wanted.theirs,
        tolerance=wanted.tolerance,
        verdict=verdict,
        why=why,
        experiment=experiment,
        note=note,
        messages=most,
        where=wanted.where,
        by_messages=ours,
        growth=growing,
        meets_at=meets_at(ours, wanted.theirs) if wanted.kind in "NF" or label else None,
        interval=interval,
        repetitions=len(repeated) if interval else 0,
    )


def interval_of_mean(values: Sequence[float]) -> tuple[float, float]:
    """Student's 95 % interval of the mean of two values or more."""
    from scipy.stats import t

    half = float(t.ppf(0.975, len(values) - 1)) * stdev(values) / math.sqrt(len(values))
    return mean(values) - half, mean(values) + half


def _open(kind: str, growing: Growth | None, most: int) -> str:
    """What the paper leaves open."""
    unstated = "the number of messages, which the paper does not state"
    if kind == "F":
        return "a parameter was chosen by this value"
    return f"grows with {unstated}" if growing == "grows" else f"depends on {unstated}; simulated for {most} only"
