"""A week as text, and as a page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from odonata.monitor.week import PLACEMENTS
from odonata.text import Table, columns
from odonata.text import page as html

if TYPE_CHECKING:
    from collections.abc import Sequence

    from odonata.monitor.lost import Lost
    from odonata.monitor.right import Risk, Slowdowns
    from odonata.monitor.week import Week

SHOWN = 25
"""Jobs of the page, those that lost most; `--json` has all."""
_JOBS = ("job", "nodes", "node-hours", "slowdown", "lost", "range of it", "mostly to", "lost to it")
_RISKS = ("predicted", "jobs", "mean", "in the tail", "95 %")
_SLOWDOWNS = ("predicted", "jobs", "mean", "measured (median)", "95 %")


def as_text(week: Week, width: int | None = None, most: int = 20) -> str:
    """The week for a terminal."""
    lines = [*_summary(week), ""]
    lines += Table(columns(_JOBS), [_job(job) for job in week.jobs[:most]]).lines(width)
    if len(week.jobs) > most:
        lines.append(f"{len(week.jobs) - most:,} more jobs lost less")
    lines += ["", "risk of the long tail, predicted and measured"]
    lines += _table_or_why(_RISKS, week.risk if isinstance(week.risk, str) else _risks(week.risk), width)
    if not isinstance(week.risk, str):
        lines.append(_flags(week.risk))
    lines += ["", "slowdown, predicted and measured"]
    lines += _table_or_why(
        _SLOWDOWNS, week.slowdowns if isinstance(week.slowdowns, str) else _bins(week.slowdowns), width
    )
    if not isinstance(week.slowdowns, str):
        lines.append(_correlation(week.slowdowns))
    return "\n".join([*lines, "", f"placements: cannot be told: {PLACEMENTS}"])


def as_page(week: Week) -> bytes:
    """The week as an HTML file."""
    body = [html.paragraph(sentence) for sentence in _summary(week)]
    body += [html.heading("Node-hours lost on each day (UTC)"), _days(week)]
    body += [html.heading("Jobs that lost most")]
    body.append(html.table(_JOBS, [_job(job) for job in week.jobs[:SHOWN]], left=(6,)))
    if len(week.jobs) > SHOWN:
        body.append(html.paragraph(f"{len(week.jobs) - SHOWN:,} more jobs lost less.", note=True))
    body.append(
        html.paragraph(
            "The slowdown is that of communication, mean over time. The range is over the assumptions of the traffic "
            "book, and no confidence interval.",
            note=True,
        )
    )
    body.append(html.heading("Placements that would have saved them"))
    body.append(html.paragraph(f"This cannot be told: {PLACEMENTS}."))
    body.append(html.heading("Risk of the long tail: predicted and measured"))
    if isinstance(week.risk, str):
        body.append(html.paragraph(f"This cannot be told: {week.risk}."))
    else:
        body += [_curve(week.risk), html.table(_RISKS, _risks(week.risk)), html.paragraph(_flags(week.risk) + ".")]
    body.append(html.heading("Slowdown: predicted and measured"))
    if isinstance(week.slowdowns, str):
        body.append(html.paragraph(f"This cannot be told: {week.slowdowns}."))
    else:
        body += [html.table(_SLOWDOWNS, _bins(week.slowdowns)), html.paragraph(_correlation(week.slowdowns) + ".")]
        body.append(
            html.paragraph(
                "Measured is the run time over the median of other runs with the same name and number of nodes. These "
                "have neighbours too, so it is about 1 where all runs are slowed down alike.",
                note=True,
            )
        )
    return html.page(f"Jobs and their neighbours, {week.begin:%Y-%m-%d} to {week.end:%Y-%m-%d}", body)


def _summary(week: Week) -> list[str]:
    total, low, high = week.lost
    between = "" if low is None or high is None else f" ({amount(low, 1)} to {amount(high, 1)} over the assumptions)"
    share = f", {total / week.node_hours:.1%} of {amount(week.node_hours, 1)}" if week.node_hours else ""
    hours = (week.end - week.begin).total_seconds() / 3600
    lost = f"{len(week.jobs):,} jobs lost {amount(total, 1)} node-hours to neighbours{between}{share}."
    stand = "simulation stands" if week.simulations == 1 else "simulations stand"
    of = f"{amount(week.covered_s / 3600, 1)} of {amount(hours, 1)} hours"
    covered = f"{week.simulations:,} {stand} for {of}."
    said = [lost.replace("%", " %"), covered]
    if week.b is not None:
        said.append(f"The mean background utilisation of {week.samples:,} samples is {week.b:.3f}.")
    if week.communicates == 1:
        said.append("Jobs are taken to communicate all the time (assumed), so they lost at most that.")
    else:
        said.append(f"Communication is taken to be {week.communicates:.3g} of a run alone.")
    return said


def _job(job: Lost) -> list[str]:
    between = "-" if job.low is None or job.high is None else f"{amount(job.low, 2)} to {amount(job.high, 2)}"
    most = ("-", "-") if job.by is None else (job.by, amount(job.by_lost, 2))
    return [
        job.job,
        f"{job.nodes:,}",
        amount(job.node_hours, 1),
        f"{job.slowdown:.2f}",
        amount(job.lost, 2),
        between,
        *most,
    ]


def amount(value: float, digits: int) -> str:
    """A number with so many decimals, or with two significant digits if that shows more of it."""
    return f"{value:,.{digits}f}" if value == 0 or abs(value) >= 10.0 ** (1 - digits) else f"{value:.2g}"


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _risks(risk: Risk) -> list[list[str]]:
    return [
        [
            f"{_percent(of.low)} to {_percent(of.high)}",
            f"{of.runs:,}",
            _percent(of.forecast),
            _percent(of.observed),
            f"{_percent(of.interval[0])} to {_percent(of.interval[1])}",
        ]
        for of in risk.bins
    ]


def _flags(risk: Risk) -> str:
    return (
        f"{risk.jobs:,} jobs ended; {risk.in_tail:,} fell into the tail, {risk.flagged:,} were flagged, "
        f"{risk.flagged_in_tail:,} were both"
    )


def _bins(of: Slowdowns) -> list[list[str]]:
    return [
        [
            f"{bin_.low:g} or more" if bin_.high == float("inf") else f"{bin_.low:g} to {bin_.high:g}",
            f"{bin_.jobs:,}",
            f"{bin_.predicted:.2f}",
            f"{bin_.measured:.2f}",
            "-" if bin_.interval is None else f"{bin_.interval[0]:.2f} to {bin_.interval[1]:.2f}",
        ]
        for bin_ in of.bins
    ]


def _correlation(of: Slowdowns) -> str:
    if of.correlation is None or of.p is None:
        return f"{of.jobs:,} jobs; too few or too equal for a correlation"
    return f"{of.jobs:,} jobs; rank correlation of predicted and measured {of.correlation:.2f} (p = {of.p:.2g})"


def _table_or_why(names: Sequence[str], rows: list[list[str]] | str, width: int | None) -> list[str]:
    if isinstance(rows, str):
        return [f"cannot be told: {rows}"]
    return Table(columns(names), rows).lines(width)


def _days(week: Week) -> str:
    most = max((value for _, value in week.days), default=0.0) or 1.0
    axes = html.Axes((0, len(week.days)), (0, most), "day", "node-hours")
    marks = []
    for at, (day, value) in enumerate(week.days):
        left, right, top = axes.at_x(at + 0.15), axes.at_x(at + 0.85), axes.at_y(value)
        marks.append(
            f'<rect class="bar" x="{left:.1f}" y="{top:.1f}" width="{right - left:.1f}" '
            f'height="{axes.at_y(0) - top:.1f}"><title>{day}: {amount(value, 2)}</title></rect>'
        )
    every = -(-len(week.days) // 8)
    names = [(at + 0.5, day[5:]) for at, (day, _) in enumerate(week.days) if at % every == 0]
    return axes.drawn(marks, names, html.ticks(0, most))


def _curve(risk: Risk) -> str:
    axes = html.Axes((0, 100), (0, 100), "predicted risk (%)", "jobs in the tail (%)", height=420, width=460)
    marks = [_line("ideal", axes, (0, 0), (100, 100))]
    for of in risk.bins:
        low, high = of.interval
        x = 100 * of.forecast
        marks.append(_line("range", axes, (x, 100 * low), (x, 100 * high)))
        marks.append(
            f'<circle class="dot" cx="{axes.at_x(x):.1f}" cy="{axes.at_y(100 * of.observed):.1f}" r="4">'
            f"<title>{of.runs} jobs</title></circle>"
        )
    return axes.drawn(marks, [(value, f"{value:g}") for value in range(0, 101, 20)], list(range(0, 101, 20)))


def _line(kind: str, axes: html.Axes, begin: tuple[float, float], end: tuple[float, float]) -> str:
    x1, y1, x2, y2 = axes.at_x(begin[0]), axes.at_y(begin[1]), axes.at_x(end[0]), axes.at_y(end[1])
    return f'<line class="{kind}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'
