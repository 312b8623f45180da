"""What each job suffers from the others: its mean time alone and beside them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from odonata.plot.style import plain, time_unit

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.axes import Axes

MOST_JOBS = 8
"""Jobs that are drawn: those that suffer most."""
_TIMES = (
    ("iteration_mean_ps", "alone_iteration_mean_ps", "iteration"),
    ("latency_mean_ps", "alone_mean_ps", "message"),
)


def draw_slowdowns(axes: Axes, jobs: pl.DataFrame, *, colours: dict[str, str]) -> Axes:
    """Two bars for each job with a time alone, that alone pale, and how many times as long it takes beside the others.

    The time is that of an iteration, or of a message for a job without iterations. Of more than eight jobs those that
    suffer most. Without a time alone, the bar of the other time stands alone.
    """
    known = [job for job in map(_times, jobs.iter_rows(named=True)) if job is not None]
    known = [job for job in known if job[2] is not None] or known
    known.sort(key=lambda job: -job[1] / (job[2] or job[1]))
    shown = known[:MOST_JOBS]
    unit, factor = time_unit([time for _, *times, _ in shown for time in times if time])
    for at, (name, beside, alone, _) in enumerate(shown):
        colour = colours.get(name, "0.5")
        aside = 0.0 if alone is None else 0.2
        axes.bar(at + aside, beside / factor, 0.38, color=colour)
        if alone is not None:
            axes.bar(at - aside, alone / factor, 0.38, color=colour, alpha=0.35)
            said = f"{beside / alone:.2f} x"
            axes.text(at + aside, beside / factor, said, ha="center", va="bottom", weight="bold", size=13)
    axes.set_xticks(range(len(shown)), [plain(f"{name}\n{what}") for name, *_, what in shown])
    axes.tick_params(axis="x", length=0)
    room = 0.6 if len(shown) > 1 else 1.0
    axes.set_xlim(-room, len(shown) - 1 + room)
    axes.margins(y=0.12)
    axes.set_ylabel(f"mean time ({unit})")
    axes.grid(axis="y", color="0.9", linewidth=0.6)
    if any(alone is not None for _, _, alone, _ in shown):
        axes.set_title("pale: alone; full: beside the other jobs", fontsize=9)
    return axes


def _times(row: dict[str, object]) -> tuple[str, float, float | None, str] | None:
    """Name, mean time beside the others and alone, and what is timed; None for a job without a time."""
    for beside, alone, what in _TIMES:
        if (time := row.get(beside)) is not None:
            return row["name"], time, row.get(alone), what  # type: ignore[return-value]
    return None
