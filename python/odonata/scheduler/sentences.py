"""An outcome as text."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from odonata.scheduler.outcome import COMPARED
from odonata.text import Column, Table, html

if TYPE_CHECKING:
    from collections.abc import Sequence

    from odonata.scheduler.outcome import Case, Difference, Outcome
    from odonata.scheduler.savings import Saving


def as_text(outcome: Outcome, width: int | None = None) -> str:
    """The notes, a table of the cases, and one of their differences to the first."""
    streams = len({case.stream for case in outcome.cases}) > 1
    lines = [f"# {note}" for note in outcome.plan_notes]
    lines += ["", *cases_table(outcome, streams=streams).lines(width)]
    if outcome.differences:
        title = f"difference to {outcome.cases[0].case}, mean over the same jobs (95 % interval):"
        lines += ["", title, *differences_table(outcome).lines(width)]
    lines += notes_below(outcome)
    return "\n".join(lines)


def as_html(outcome: Outcome) -> str:
    """The same in a notebook."""
    streams = len({case.stream for case in outcome.cases}) > 1
    tables = [cases_table(outcome, streams=streams), *([differences_table(outcome)] if outcome.differences else [])]
    return html([*outcome.plan_notes, *notes_below(outcome)], tables)


def cases_table(outcome: Outcome, *, streams: bool) -> Table:
    """A row for each case and stream."""
    columns = [Column("case", right=False), *([Column("stream", right=False)] if streams else [])]
    columns += [Column(name) for name in ("jobs", "makespan", "utilisation", "useful", "wait", "bounded slowdown")]
    columns += [Column(name) for name in ("network slowdown", "worst", "windows")]
    return Table(columns, [_row(case, streams=streams) for case in outcome.cases])


def _row(case: Case, *, streams: bool) -> list[str]:
    return [
        case.case,
        *([case.stream] if streams else []),
        f"{case.jobs:,}",
        duration(case.makespan_s),
        f"{100 * case.utilisation:.1f} %",
        f"{100 * case.useful:.1f} %",
        duration(case.wait_s),
        f"{case.bounded_slowdown:.2f}",
        f"{case.network_slowdown:.3f}",
        "-" if math.isnan(case.worst_network_slowdown) else f"{case.worst_network_slowdown:.2f}",
        f"{case.windows:,}",
    ]


def notes_below(outcome: Outcome) -> list[str]:
    """What stands below the tables."""
    return [*_arriving(outcome), *_drift(outcome), *_warnings(outcome)]


def _arriving(outcome: Outcome) -> list[str]:
    """How full the machine is without the time in which it drains; beside the load that a stream has."""
    shares = [100 * case.arriving for case in outcome.cases if case.arriving is not None]
    if not shares:
        return []
    ends = sorted({f"{share:.1f}" for share in (min(shares), max(shares))}, key=float)
    return ["", f"Between the first and the last submission, {' to '.join(ends)} % of the nodes have a job (mean)."]


def saved_table(saved: Sequence[Saving]) -> Table:
    """Node-hours and energy that cases save."""
    energy = any(of.kwh is not None for of in saved)
    columns = [Column("case", right=False), Column("jobs"), Column("node-hours"), Column("saved"), Column("95 %")]
    columns += [Column("energy"), Column("95 %")] if energy else []
    return Table(columns, [_saved_row(of, energy=energy) for of in saved])


def _saved_row(of: Saving, *, energy: bool) -> list[str]:
    row = [of.case, f"{of.jobs:,}", f"{of.first:,.1f}", f"{of.node_hours:+,.2f}", _between(of.interval)]
    if energy:
        row += ["-" if of.kwh is None else f"{of.kwh:+,.2f} kWh", _between(of.kwh_interval)]
    return row


def _between(interval: tuple[float, float] | None) -> str:
    return "too few jobs" if interval is None else f"{interval[0]:+,.2f} to {interval[1]:+,.2f}"


def _drift(outcome: Outcome) -> list[str]:
    """How wrong the rates were that jobs kept from one window to the next."""
    drifts = [100 * case.drift for case in outcome.cases if case.drift is not None]
    if not drifts:
        return []
    ends = sorted({f"{drift:.1f}" for drift in (min(drifts), max(drifts))}, key=float)
    return ["", f"From one window to the next, the rates of jobs changed by {' to '.join(ends)} % (mean)."]


def differences_table(outcome: Outcome) -> Table:
    """A row for each case but the first."""
    by_cell = {(difference.case, difference.column): difference for difference in outcome.differences}
    cases = dict.fromkeys(difference.case for difference in outcome.differences)
    rows = [[case, *(_cell(by_cell.get((case, column))) for column in COMPARED)] for case in cases]
    return Table([Column("case", right=False), *(Column(name, right=False) for name in COMPARED.values())], rows)


def _cell(difference: Difference | None) -> str:
    if difference is None:
        return "-"
    if difference.difference == 0 and difference.interval in (None, (0.0, 0.0)):
        return "the same"
    amount = _amount(difference.column, difference.difference)
    if difference.interval is None:
        return f"{amount} (too few jobs)"
    low, high = (_amount(difference.column, end) for end in difference.interval)
    zero = ", contains 0" if difference.interval[0] <= 0 <= difference.interval[1] else ""
    return f"{amount} ({low} to {high}{zero})"


def _amount(column: str, value: float) -> str:
    sign = "-" if value < 0 else "+"
    return f"{sign}{duration(abs(value))}" if column.endswith("_s") else f"{sign}{abs(value):.3f}"


def duration(seconds: float) -> str:
    """A time as people write it: `2.5 s`, `4.2 min`, `3.1 h`, `12.0 d`."""
    for unit, length in (("d", 86400.0), ("h", 3600.0), ("min", 60.0)):
        if seconds >= 2 * length:
            return f"{seconds / length:.1f} {unit}"
    return f"{seconds:.3g} s"


def _warnings(outcome: Outcome) -> list[str]:
    lines = [line for warning in outcome.warnings for line in ("", f"warning: {warning}.")]
    killed = sum(case.killed for case in outcome.cases)
    if killed:
        lines += ["", f"{killed:,} jobs were killed at the time that they had requested."]
    late = [case for case in outcome.cases if case.long_windows]
    if late:
        share = sum(case.long_windows for case in late) / sum(case.windows for case in outcome.cases)
        text = f"In {100 * share:.1f} % of the windows, the interval of a job is longer than wanted (`window.error`)"
        lines += ["", f"{text}; `window.longest` limits them."]
    return lines
