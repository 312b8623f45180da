"""Rows and table of `zhang2018-routers`: jobs of one size on five kinds of routers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from odonata.reproduce.markdown import table as as_table
from odonata.reproduce.zhang2018.gathered import COMPACT, gather, motif, reductions, statement
from odonata.reproduce.zhang2018.runs import LEVEL_SPREAD, SIMPLE, SPREADING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from odonata.reproduce.reproduction import Runs as Table
    from odonata.reproduce.rows import Row
    from odonata.reproduce.zhang2018.gathered import Runs


def of_class(runs: Sequence[Runs], name: str) -> list[Runs]:
    """The experiments with small or with large jobs."""
    return [of_setup for of_setup in runs if of_setup.setup.classes[0].name == name]


def cuts(runs: Sequence[Runs]) -> list[float]:
    """Percent by which large jobs are faster under Level-Spread than under Simple, by pattern."""
    return [100 * (1 - of_setup.over(LEVEL_SPREAD, "large", SIMPLE)) for of_setup in of_class(runs, "large")]


def routers(table: Table) -> list[Row]:
    """L31 and L32 on one kind of routers."""
    runs = gather(table)
    large = cuts(runs)
    made = [
        statement(
            "L32", f"jobs of 64, ratio 1: {words} reduction over Simple", ours, theirs, "%", "± 10", "figure 4(b)"
        )
        for words, ours, theirs in (("least", min(large), 22), ("largest", max(large), 54))
    ]
    pairs = [
        value for of_setup in of_class(runs, "small") for value in reductions(of_setup, "small", COMPACT, SPREADING)
    ]
    if pairs:
        for words, ours, theirs in (("least", min(pairs), 15), ("largest", max(pairs), 89)):
            what = f"jobs of 16, ratio 1: {words} reduction of a compact policy over a spreading one"
            made.append(
                statement("L31", what, ours, theirs, "%", "± 10", "figure 4(a)", comparable=False, why=ALL_BANDWIDTHS)
            )
    return made


ALL_BANDWIDTHS = "the paper's number is over all bandwidths of global links, here is one (zhang2018-fig4 has all)"


def router_tables(_: str, table: Table) -> str:
    """Times under Simple, and what Level-Spread gains, by pattern and kind of routers."""
    lines = []
    for of_setup in gather(table):
        job_class = of_setup.setup.classes[0]
        time, level = of_setup.time(SIMPLE, job_class.name), of_setup.over(LEVEL_SPREAD, job_class.name, SIMPLE)
        slowest = max(of_setup.over(policy, job_class.name, SIMPLE) for policy in SPREADING)
        cells = [f"{time / 1e6:,.1f}", f"{level:.2f}", f"{slowest:.2f}"]
        lines.append([str(job_class.nodes), motif(of_setup.setup), of_setup.setup.routers, *cells])
    lines.sort(key=lambda line: line[:2])
    head = ["jobs of", "pattern", "routers", "Simple, us", "Level-Spread over Simple", "slowest spreading over Simple"]
    return f"\n## By pattern\n\n{as_table(head, lines, 'rllrrr')}"
