"""Rows of figures 5 and 6: packets and stalls of output ports (L35)."""

from __future__ import annotations

import math
from statistics import mean
from typing import TYPE_CHECKING

from odonata.reproduce.zhang2018.gathered import COMPACT, SPREAD, gather, relation
from odonata.reproduce.zhang2018.runs import COUNTS, GROUPING, KINDS, SPREADING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from odonata.reproduce.reproduction import Runs as Table
    from odonata.reproduce.rows import Row
    from odonata.reproduce.zhang2018.gathered import Runs

LEAST, LOWER, MEDIAN, UPPER, LARGEST = range(5)
"""What is kept of the distribution over ports, in order."""


def five(runs: Runs, policy: str, what: str) -> list[float]:
    """The five numbers, each as mean over the repetitions."""
    return [runs.mean_of(policy, lambda run, at=at: run[what][at]) for at in range(5)]  # type: ignore[misc]


def fig5(table: Table) -> list[Row]:
    """Jobs of 16: compact policies stress links less, and stall less."""
    (runs,) = gather(table)
    at = "section VI-A, figure 5"
    rows = []
    for kind in KINDS:
        for count, what in zip(COUNTS, ("packets", "stalls"), strict=True):
            name = f"{kind}_{count}"
            worst = {policy: five(runs, policy, name)[LARGEST] for policy in runs.by_policy}
            words = f"jobs of 16, {kind} links: {what} of the busiest port, compact over spreading"
            rows.append(_ratio(words, worst, COMPACT, SPREADING, "< 1", at))
    return rows


def fig6(table: Table) -> list[Row]:
    """Jobs of 64: spreading policies have more packets in the median, less spread, fewer stalls."""
    (runs,) = gather(table)
    at = "section VI-A, figure 6"
    rows = []
    for kind in KINDS:
        packets = {policy: five(runs, policy, f"{kind}_packets") for policy in runs.by_policy}
        stalls = {policy: five(runs, policy, f"{kind}_stalled_ps") for policy in runs.by_policy}
        medians = {policy: values[MEDIAN] for policy, values in packets.items()}
        widths = {policy: values[LARGEST] - values[LEAST] for policy, values in packets.items()}
        worst = {policy: values[LARGEST] for policy, values in stalls.items()}
        for words, values, tolerance in (
            ("median packets of a port", medians, "> 1"),
            ("packets of the busiest port less those of the idlest", widths, "< 1"),
            ("stalls of the busiest port", worst, "< 1"),
        ):
            what = f"jobs of 64, {kind} links: {words}, spreading over grouping"
            rows.append(_ratio(what, values, SPREAD, GROUPING, tolerance, at))
    return rows


def _ratio(
    what: str, values: Mapping[str, float], these: Sequence[str], those: Sequence[str], tolerance: str, at: str
) -> Row:
    """Mean over some policies over the mean over others."""
    ours, theirs = (mean(values[policy] for policy in some) for some in (these, those))
    if theirs == 0:
        why = "there are none at all: no buffer is ever full" if ours == 0 else "the others have none at all"
        return relation("L35", what, 1 if ours == 0 else math.inf, tolerance, at, comparable=ours > 0, why=why)
    return relation("L35", what, ours / theirs, tolerance, at)
