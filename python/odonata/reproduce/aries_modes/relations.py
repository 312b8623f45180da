"""What is said of the modes, and whether it holds here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from odonata.reproduce.aries_modes import measures
from odonata.reproduce.aries_modes.found import found
from odonata.reproduce.aries_modes.median import median_of
from odonata.reproduce.aries_modes.modes_grid import ADAPTIVE, HIGH_BIAS
from odonata.reproduce.rows import Row
from odonata.reproduce.verdict import within

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from odonata.reproduce.aries_modes.found import Found, ModesResults
    from odonata.reproduce.aries_modes.measures import OfPairs
    from odonata.reproduce.aries_modes.median import Median
    from odonata.reproduce.verdict import Verdict

SMALLER, GREATER, EQUAL = "< 1", "> 1", "10 %"
"""Tolerances: a relation must hold for both ends of the interval of the median; `about equal` for the median."""

_QUARTILES = (
    "presumably because with the delay nearly all packets go round, which makes the middle half of the latencies "
    "alike, though longer; without it some go round and some do not"
)
_CAUSES = {
    "latency L is similar": (
        "what a pair queues on its few shortest ways stands in the routers here, up to the bias, and the probe waits "
        "behind it; with a bias of 2 KiB L is similar, but then so is the time"
    ),
    "variance of L is lower": (
        "beside so much background half of the packets go round even with a high bias and half do not, while without a "
        "bias nearly all do"
    ),
}
"""Statement -> why it does not hold where it does not."""


@dataclass(frozen=True)
class Relation:
    """One statement about ratios of paired values."""

    id: str
    what: str
    model: str
    tolerance: str
    ratio: Median
    where: str
    cause: str = ""
    """Why ours does not match, where it does not."""

    @property
    def verdict(self) -> Verdict:
        """Whether it holds."""
        ends = (self.ratio.value,) if self.tolerance == EQUAL else (self.ratio.low, self.ratio.high)
        return "match" if all(within(end, 1, self.tolerance) for end in ends) else "no match"

    @property
    def why(self) -> str:
        """What the numbers say, then the cause; nothing if it holds."""
        if self.verdict == "match":
            return ""
        low, high = self.ratio.low, self.ratio.high
        said = f"from {low:.3f} to {high:.3f}"
        if self.tolerance != EQUAL:
            said = f"no clear difference, {said}" if low <= 1 <= high else f"the opposite, {said}"
            if within(self.ratio.value, 1, self.tolerance):
                return f"{said}, too few runs to tell"
        return f"{said}; {self.cause}" if self.cause else said


def compare(results: ModesResults, models: Sequence[str]) -> list[Row]:
    """A row for every statement."""
    most = {model: max(n for (m, _), one in results.items() if m == model for n in one) for model in models}
    return [_row(one, most[one.model]) for one in relations(found(results))]


def relations(results: Found) -> list[Relation]:
    """Every statement about the main runs."""
    return [*_phantom(results), *_pairs(results)]


def _row(one: Relation, messages: int) -> Row:
    return Row(
        id=one.id,
        what=one.what,
        model=one.model,
        kind="R",
        unit="x",
        ours=one.ratio.value,
        theirs=1.0,
        tolerance=one.tolerance,
        verdict=one.verdict,
        why=one.why,
        messages=messages,
        by_messages={},
        growth=None,
        meets_at=None,
        where=one.where,
    )


def trips(delay: int) -> str:
    """A delay in words."""
    return "a round trip" if delay == 1 else f"{delay} round trips"


def _phantom(results: Found) -> Iterator[Relation]:
    """D8: the delay of what credits tell makes latencies vary."""
    source = "De Sensi 2019, section 2.2"
    for load in results.delay_loads():
        for delay in results.multiples():
            for what, value in (("variance", lambda one: one.variance_ps2), ("QCD", lambda one: one.qcd)):
                ratio = median_of(measures.off_over_on(results, "", load, delay, value))
                words = f"load {load:g} %, delay off over {trips(delay)}: {what} of latency shrinks"
                cause = _QUARTILES if what == "QCD" else ""
                yield Relation("D8", words, ADAPTIVE, SMALLER, ratio, source, cause)


def _pairs(results: Found) -> Iterator[Relation]:
    """D22: figure 7."""
    wanted: dict[str, tuple[tuple[str, OfPairs, str, str], ...]] = {
        "intra": (
            ("time is longer", measures.times, GREATER, "7(a)"),
            ("stalls (1 + s) are more", measures.sending, GREATER, "7(b)"),
            ("latency L is similar", measures.latency, EQUAL, "7(c)"),
            ("time by equation (2) is longer", measures.estimates, GREATER, "7(d)"),
        ),
        "inter": (
            ("time is shorter", measures.times, SMALLER, "7(a)"),
            ("stalls (1 + s) are comparable", measures.sending, EQUAL, "7(b)"),
            ("latency L is lower", measures.latency, SMALLER, "7(c)"),
            ("variance of L is lower", measures.variance, SMALLER, "7(c)"),
            ("time by equation (2) is shorter", measures.estimates, SMALLER, "7(d)"),
        ),
    }
    for load in results.pair_loads():
        for where, statements in wanted.items():
            for what, value, tolerance, panel in statements:
                ratio = median_of(measures.high_over_adaptive(results, "", load, where, value))
                words = f"{where}-group, load {load:g} %, high bias over none: {what}"
                source = f"De Sensi 2019, section 4.1, figure {panel}"
                yield Relation("D22", words, HIGH_BIAS, tolerance, ratio, source, _CAUSES.get(what, ""))
