"""Rows and table of `zhang2018-variants`: L38 and L41 with one thing changed at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from odonata.reproduce.markdown import table
from odonata.reproduce.zhang2018.gathered import BASELINES, JOKANOVIC, gather
from odonata.reproduce.zhang2018.points import headline, points
from odonata.reproduce.zhang2018.prepare import CODED
from odonata.reproduce.zhang2018.statement import statement

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from odonata.reproduce.rows import Row
    from odonata.reproduce.zhang2018.gathered import CommResults, Runs
    from odonata.reproduce.zhang2018.points import Headline

_WHY = "shown to see what matters; the main runs are those of figures 10 and 12"


def by_variant(results: CommResults) -> Mapping[str, list[Runs]]:
    """Variant -> its workloads."""
    found: dict[str, list[Runs]] = {}
    for one in gather("variants", results):
        found.setdefault(one.setup.variant, []).append(one)
    return found


def variants(results: CommResults, _: Sequence[str]) -> list[Row]:
    """L38 and L41 for every variant."""
    rows = []
    for variant, runs in by_variant(results).items():
        said, other = headline(points(runs, BASELINES)), headline(points(runs, [CODED]))
        for id_, what, ours, theirs, tolerance in (
            ("L38", "points with Level-Spread strictly better", said.better, 59, "± 5"),
            ("L38", "points with a baseline strictly better", said.worse, 3, "± 2"),
            ("L38", "mean reduction of communication time", said.averages["points"], 16, "± 4"),
            ("L41", "workloads strictly better than Jokanovic's policy as coded", other.better, 64, "± 5"),
        ):
            where = "figure 10" if id_ == "L38" else "figure 12"
            text = f"{variant}: {what}"
            rows.append(
                statement(id_, text, ours, theirs, "%", tolerance, where, kind="R", model=variant, why=_WHY),
            )
    return rows


def variant_tables(_: str, results: CommResults) -> str:
    """A line for each variant."""
    lines = []
    for variant, runs in by_variant(results).items():
        said = headline(points(runs, BASELINES))
        jokanovic, coded = (headline(points(runs, [policy])) for policy in (JOKANOVIC, CODED))
        values = (*_all(said), jokanovic.better, jokanovic.worse, coded.better, coded.worse)
        lines.append([variant, *(f"{value:.1f}" for value in values), _diverted(runs)])
    head = ["variant", "LS better in both", "worse in both", "largest reduction", "mean reduction"]
    head += ["mean, small", "mean, large", "better than Jokanovic", "worse", "better than Jokanovic as coded", "worse"]
    head.append("packets diverted")
    return f"\n## By variant, all in percent\n\n{table(head, lines, 'l' + 'r' * (len(head) - 1))}"


def _all(said: Headline) -> tuple[float, ...]:
    return said.better, said.worse, said.best, *(said.averages[name] for name in ("points", "small", "large"))


def _diverted(runs: Sequence[Runs]) -> str:
    """Packets that did not go the shortest way, mean over workloads and policies."""
    shares = [100 * (1 - one.mean_of(policy, lambda found: found.minimal)) for one in runs for policy in one.by_policy]
    return f"{sum(shares) / len(shares):.1f}"
