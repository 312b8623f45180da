"""The impact of all jobs in words and as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from odonata.errors import visible
from odonata.impact.result import MATTERS
from odonata.text import Column, Table
from odonata.units import format_time
from odonata.workload.from_queue import name_of

if TYPE_CHECKING:
    from odonata.impact.result import Impact, JobImpact

_OVER = {"traffic": "over the assumptions about the traffic", "seeds": "over the seeds"}


def headline(impact: Impact) -> str:
    """The worst job, how many are slowed down, and how many are not judged."""
    judged, slowed = impact.judged, [entry for entry in impact.judged if entry.is_slowed]
    left = len(impact.not_judged)
    rest = f" {left:,} {'is' if left == 1 else 'are'} not judged." if left else ""
    if not judged:
        return f"None of the {len(impact.jobs):,} jobs can be judged."
    if not slowed:
        only = len(judged) == 1
        who = "The judged job does not take" if only else f"None of the {len(judged):,} judged jobs takes"
        return f"{who} longer than alone by {100 * (MATTERS - 1):.0f} % or more.{_elsewhere(impact)}{rest}"
    worst = slowed[0]
    near = worst.neighbour
    who = f", most because of `{near.job}` at {near.where}" if near is not None else ""
    has = "the messages of `{}` take" if worst.of == "latency" else "`{}` takes"
    text = f"{has.format(_name(worst))} {_times(worst)} as long as alone{_between(impact, worst)}{who}."
    many = f"{len(slowed):,} of {len(judged):,} judged jobs {'is' if len(slowed) == 1 else 'are'} slowed down."
    return f"{text[0].upper()}{text[1:]} {many}{rest}"


def _elsewhere(impact: Impact) -> str:
    """How many jobs are slowed down under other assumptions only."""
    many = sum(entry.range is not None and entry.range[1] >= MATTERS for entry in impact.judged)
    return f" Under other assumptions, {many:,} {'does' if many == 1 else 'do'}." if many else ""


def _name(entry: JobImpact) -> str:
    return name_of(entry.job)


def _times(entry: JobImpact) -> str:
    return f"{'at least ' if entry.now.at_least else ''}{entry.now.slowdown:.2f} times"


def _between(impact: Impact, entry: JobImpact) -> str:
    if entry.range is None:
        return ""
    return f" ({_range(entry)} {_OVER[impact.vary]})"


def _range(entry: JobImpact) -> str:
    if entry.range is None:
        return "-"
    return f"{entry.range[0]:.2f} to {entry.range[1]:.2f}{' or more' if entry.range_at_least else ''}"


def as_text(impact: Impact, width: int | None = None) -> str:
    """The headline, the table, the jobs that are not judged, and what was simulated."""
    lines = [headline(impact), ""]
    rows = [_row(impact, entry) for entry in impact.judged]
    heads = [("job", False), ("name", False), ("nodes", True), ("slowdown", True), ("of", False)]
    heads += [("range", True), ("under", True)] if len(impact.simulated) > 1 else []
    heads += [("most because of", False), ("of waiting for others", True), ("where", False)]
    if rows:
        lines += Table([Column(text, right=right) for text, right in heads], rows).lines(width)
        lines.append("")
    lines += [
        f"not judged: `{_name(entry)}` ({visible(entry.job.name)}, {len(entry.job.nodes):,} nodes): {entry.now.why}"
        for entry in impact.not_judged
    ]
    return "\n".join([*lines, *_how(impact)])


def _row(impact: Impact, entry: JobImpact) -> list[str]:
    near = entry.neighbour if entry.is_slowed else None
    known = sum(each.slowdown is not None for each in entry.judged)
    slowdown = f"{'>= ' if entry.now.at_least else ''}{entry.now.slowdown:.2f} x"
    cells = [_name(entry), entry.job.name, f"{len(entry.job.nodes):,}", slowdown, entry.of]
    cells += [_range(entry), f"{known} of {len(entry.judged)}"] if len(impact.simulated) > 1 else []
    if near is None:
        return [*cells, "-", "-", "-"]
    return [*cells, near.job, f"{100 * near.share_of_others:.0f} %", near.where]


def _how(impact: Impact) -> list[str]:
    """What was simulated, and what was not."""
    windows = [f"{entry.assumption.name} {format_time(entry.window_ps, 3)}" for entry in impact.simulated]
    lines = [f"simulated: {', '.join(windows)} of the machine with all jobs, and each job alone"]
    if len(impact.simulated) > 1:
        what = "the traffic of the book" if impact.vary == "traffic" else "seeds"
        lines.append(f"range: least and greatest slowdown over {what}; under: in how many of them the job is judged")
    if impact.judged and impact.judged[0].is_slowed:
        worst = impact.judged[0]
        lines.append(
            f"what would have helped is not tried: `odonata cluster snapshot --victim {worst.job.id} -o now.toml` "
            f"with the same files, then `odonata advise now.toml --move {_name(worst)} --allow placement,routing`"
        )
    return lines
