"""Schedules as a page: what was compared, and for each case who ran where and when."""

from __future__ import annotations

import math
from html import escape
from itertools import pairwise
from typing import TYPE_CHECKING

from odonata.scheduler.sentences import cases_table, differences_table, duration, notes_below, saved_table
from odonata.text import page as html

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import polars as pl

    from odonata.scheduler.outcome import Outcome
    from odonata.scheduler.savings import Saving
    from odonata.text import Table

MOST_BOXES = 20_000
"""Boxes of a chart at most; a job has one for each run of neighbouring nodes (assumed: so many draw at once)."""
SLOW = 1.05
"""From this network slowdown on a job has another colour (assumed)."""
_HEIGHT = 360


def as_page(outcome: Outcome, nodes: int, saved: Sequence[Saving], watts: float | None) -> bytes:
    """The page of an outcome on a machine of so many nodes that jobs can use."""
    import polars as pl

    streams = list(dict.fromkeys(case.stream for case in outcome.cases))
    body = [html.paragraph(f"{note}.", note=True) for note in outcome.plan_notes]
    body += [html.heading("The cases"), _table(cases_table(outcome, streams=len(streams) > 1))]
    if outcome.differences:
        body.append(
            html.paragraph(f"Differences to {outcome.cases[0].case}, means over the same jobs (95 % interval):")
        )
        body.append(_table(differences_table(outcome)))
    if saved:
        body.append(html.heading(f"Saved against {outcome.cases[0].case}"))
        body += [_table(saved_table(saved)), html.paragraph(_of_savings(watts), note=True)]
    body += [html.paragraph(line) for line in notes_below(outcome) if line]
    names = list(dict.fromkeys(case.case for case in outcome.cases))
    ends = float(outcome.jobs.filter(pl.col("stream") == streams[0])["end_s"].max() or 1.0)  # type: ignore[arg-type]
    for name in names:
        jobs = outcome.jobs.filter((pl.col("case") == name) & (pl.col("stream") == streams[0])).sort("start_s", "job")
        body.append(html.heading(name if len(streams) == 1 else f"{name}: {streams[0]}"))
        body += [*_gantt(jobs, ends), _utilisation(jobs, nodes, ends), *_waits(jobs)]
    if len(streams) > 1:
        body.append(html.paragraph(f"Drawn is the first of {len(streams)} streams.", note=True))
    return html.page(f"Schedules: {outcome.name}", body)


def _of_savings(watts: float | None) -> str:
    text = "Node-hours are nodes times run time, of jobs that were killed in no case. "
    if watts is None:
        return text + "Energy needs the power of a node: --watts."
    return text + f"Energy is that at {watts:g} W for a node with a job; nodes without a job are left out (assumed)."


def _table(of: Table) -> str:
    left = [at for at, column in enumerate(of.columns) if not column.right]
    return html.table([column.name for column in of.columns], of.rows, left=left)


def _gantt(jobs: pl.DataFrame, ends: float) -> list[str]:
    top = max((max(nodes) for nodes in jobs["node_list"].to_list() if nodes), default=0) + 1
    axes = html.Axes((0, ends / 3600), (0, top), "hours", "node", height=_HEIGHT, width=1000)
    marks: list[str] = []
    drawn = 0
    for row in jobs.iter_rows(named=True):
        boxes = list(runs(row["node_list"]))
        if len(marks) + len(boxes) > MOST_BOXES:
            break
        drawn += 1
        x = axes.at_x(row["start_s"] / 3600)
        width = max(0.3, axes.at_x(row["end_s"] / 3600) - x)
        slow = row["network_slowdown"]
        kind = "slow" if slow is not None and slow >= SLOW else "job"
        told = f"{row['job']} ({row['rule']}): {row['nodes']:,} nodes, waited {duration(row['wait_s'])}, "
        told += f"ran {duration(row['run_s'])}" + ("" if slow is None else f", network slowdown {slow:.3f}")
        for first, last in boxes:
            y = axes.at_y(last + 1)
            marks.append(
                f'<rect class="{kind}" x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" '
                f'height="{axes.at_y(first) - y:.1f}"><title>{escape(told)}</title></rect>'
            )
    said = f"Jobs over nodes and time; in the warm colour those with a network slowdown from {SLOW:g} on."
    if drawn < jobs.height:
        said += f" The first {drawn:,} of {jobs.height:,} jobs are drawn."
    hours = [(value, f"{value:g}") for value in html.ticks(0, ends / 3600, 10)]
    return [axes.drawn(marks, hours, [tick for tick in html.ticks(0, top) if tick == int(tick)]), html.paragraph(said)]


def runs(nodes: Sequence[int]) -> Iterator[tuple[int, int]]:
    """First and last of each run of neighbouring numbers."""
    ordered = sorted(nodes)
    first = ordered[0] if ordered else 0
    for node, after in pairwise([*ordered, math.inf] if ordered else []):
        if after != node + 1:
            yield first, int(node)
            first = int(after) if after < math.inf else 0


def steps(jobs: pl.DataFrame) -> list[tuple[float, int]]:
    """Nodes with a job from each moment on at which that changes."""
    changes: dict[float, int] = {}
    for nodes, start, end in jobs.select("nodes", "start_s", "end_s").iter_rows():
        changes[start] = changes.get(start, 0) + nodes
        changes[end] = changes.get(end, 0) - nodes
    made, busy = [], 0
    for at in sorted(changes):
        busy += changes[at]
        made.append((at, busy))
    return made


def _utilisation(jobs: pl.DataFrame, nodes: int, ends: float) -> str:
    axes = html.Axes((0, ends / 3600), (0, 100), "hours", "nodes with a job (%)", height=180, width=1000)
    points = [(axes.at_x(0), axes.at_y(0))]
    for at, busy in _thinned(steps(jobs)):
        x = axes.at_x(at / 3600)
        points += [(x, points[-1][1]), (x, axes.at_y(100 * busy / nodes))]
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    hours = [(value, f"{value:g}") for value in html.ticks(0, ends / 3600, 10)]
    return axes.drawn([f'<polyline class="line" points="{path}"/>'], hours, [0, 25, 50, 75, 100])


def _thinned(points: list[tuple[float, int]], most: int = 4000) -> list[tuple[float, int]]:
    """At most about so many points: the least and the greatest of each part, and the last."""
    if len(points) <= most:
        return points
    size = -(-2 * len(points) // most)
    kept: list[tuple[float, int]] = []
    for at in range(0, len(points), size):
        part = points[at : at + size]
        kept += sorted({min(part, key=lambda point: point[1]), max(part, key=lambda point: point[1])})
    return kept if kept[-1] == points[-1] else [*kept, points[-1]]


def _waits(jobs: pl.DataFrame) -> list[str]:
    waits = jobs["wait_s"].sort()
    parts = [(0.5, "half"), (0.9, "90 %"), (0.99, "99 %")]
    told = ", ".join(f"{name} at most {duration(_quantile(waits, q))}" for q, name in parts)
    at_once = int((waits <= 0).sum())
    longest = duration(float(waits[-1]))
    text = f"Waiting times: {at_once:,} of {jobs.height:,} jobs start at once; {told}; the longest is {longest}."
    return [html.paragraph(text)]


def _quantile(ordered: pl.Series, q: float) -> float:
    return float(ordered[max(0, math.ceil(q * len(ordered)) - 1)])
