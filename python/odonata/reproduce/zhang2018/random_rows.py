"""Rows of figures 10 to 13, random workloads (L38 to L41), and of what their headline depends on."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING

from odonata.reproduce.zhang2018.gathered import (
    Headline,
    Point,
    alone,
    gather,
    headline,
    in_all,
    mixed,
    points,
    relation,
    statement,
)
from odonata.reproduce.zhang2018.runs import BASELINES, CODED, GROUPING, JOKANOVIC, SPREADING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from odonata.reproduce.reproduction import Runs as Table
    from odonata.reproduce.rows import Row
    from odonata.reproduce.zhang2018.gathered import Runs

ALONE = {"alltoall": 1.0, "halo3d": 1.0, "halo3d26": 3.0, "halo2d": 4.0, "broadcast": 8.0, "fft3d": None}
"""Pattern -> percent of points at which a baseline is strictly better (L39); the paper does not give FFT3d."""


def fig10(table: Table) -> list[Row]:
    """L38, L39."""
    of_workloads = points(mixed(table, "small-first"), BASELINES)
    said = headline(of_workloads)
    where = "section VI-D, figure 10"
    rows = [
        statement("L38", "points with Level-Spread strictly better", said.better, 59, "%", "± 5", where),
        statement("L38", "points with a baseline strictly better", said.worse, 3, "%", "± 2", where),
        statement("L38", "largest reduction of communication time", said.best, 71, "%", "± 5", where),
        statement("L38", "mean reduction of communication time", said.averages["points"], 16, "%", "± 4", where),
    ]
    for motif, runs in alone(table).items():
        ours, theirs = headline(points(runs, BASELINES)).worse, ALONE[motif]
        what = f"{motif} alone: points with a baseline strictly better"
        given = theirs is not None
        why = "" if given else "the paper leaves this pattern out"
        rows.append(
            statement("L39", what, ours, theirs or 0, "%", "± 3", "section VI-D", why=why, comparable=given),
        )
    return rows


def fig11(table: Table) -> list[Row]:
    """L40."""
    early = points(mixed(table, "small-first"), BASELINES)
    late = points(mixed(table, "large-first"), BASELINES)
    said, where = headline(late), "section VI-E, figure 11"
    shifts = {policy: _median(late, policy) / _median(early, policy) for policy in BASELINES}
    nearer = [abs(_median(late, policy) - 1) < abs(_median(early, policy) - 1) for policy in SPREADING]
    words = "large first over small first, largest of the medians (small jobs):"
    return [
        relation("L40", f"{words} grouping policies", max(shifts[policy] for policy in GROUPING), "< 1", where),
        relation("L40", f"{words} spreading policies", max(shifts[policy] for policy in SPREADING), "< 1", where),
        in_all("L40", "spreading policies whose small jobs come nearer to Level-Spread's", nearer, where),
        relation("L40", "Level-Spread strictly better over a baseline strictly better", _odds(said), "> 1", where),
        statement("L40", "mean reduction of time", said.averages["points"], 0, "%", ">= 0", where, kind="R"),
    ]


def _odds(said: Headline) -> float:
    """Points with Level-Spread strictly better over those with the baseline strictly better (at least 0.1 %)."""
    return said.better / max(said.worse, 0.1)


def _median(of: Sequence[Point], policy: str) -> float:
    return median(point.small for point in of if point.policy == policy)


def fig12(table: Table) -> list[Row]:
    """L41, small jobs first."""
    where = "section VI-F, figure 12"
    runs = mixed(table, "small-first")
    rows = []
    for policy, words in ((JOKANOVIC, ""), (CODED, " as coded")):
        said = headline(points(runs, [policy]))
        for what, ours, theirs, tolerance in (("better", said.better, 64, "± 5"), ("worse", said.worse, 0, "± 2")):
            text = f"workloads with Level-Spread strictly {what} than Jokanovic's policy{words}"
            rows.append(statement("L41", text, ours, theirs, "%", tolerance, where))
    return rows


def fig13(table: Table) -> list[Row]:
    """L41, large jobs first: the same conclusion, without numbers."""
    where = "section VI-F, figure 13"
    runs = mixed(table, "large-first")
    rows = []
    for policy, words in ((JOKANOVIC, ""), (CODED, " as coded")):
        said, whose = headline(points(runs, [policy])), f"Jokanovic's policy{words}"
        cut, odds = said.averages["points"], _odds(said)
        rows += [
            statement("L41", f"mean reduction of time over {whose}", cut, 0, "%", "> 0", where, kind="R"),
            relation("L41", f"Level-Spread strictly better over strictly worse, {whose}", odds, "> 1", where),
        ]
    return rows


def by_variant(table: Table) -> Mapping[str, list[Runs]]:
    """Variant -> its workloads."""
    by_name: dict[str, list[Runs]] = {}
    for of_setup in gather(table):
        by_name.setdefault(of_setup.setup.variant, []).append(of_setup)
    return by_name


_NO_CLAIM = "a variant with few workloads; figures 10 and 12 are judged on their pages"


def variants(table: Table) -> list[Row]:
    """L38 and L41 for every variant, without a verdict: to count those that agree would choose by the result."""
    rows = []
    for variant, runs in by_variant(table).items():
        said, other = headline(points(runs, BASELINES)), headline(points(runs, [CODED]))
        for id_, what, ours, theirs, tolerance in (
            ("L38", "points with Level-Spread strictly better", said.better, 59, "± 5"),
            ("L38", "points with a baseline strictly better", said.worse, 3, "± 2"),
            ("L38", "mean reduction of communication time", said.averages["points"], 16, "± 4"),
            ("L41", "workloads strictly better than Jokanovic's policy as coded", other.better, 64, "± 5"),
        ):
            where = "figure 10" if id_ == "L38" else "figure 12"
            text = f"{variant}: {what}"
            row = statement(id_, text, ours, theirs, "%", tolerance, where, kind="R", comparable=False, why=_NO_CLAIM)
            rows.append(row)
    return rows
