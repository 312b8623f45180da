"""A comparison in words: a table, a sentence for each value, and what these runs cannot tell."""

from __future__ import annotations

from typing import TYPE_CHECKING

from odonata.analysis.bootstrap import ENOUGH
from odonata.analysis.derived import simulated_part
from odonata.store.columns import columns_of
from odonata.text import Table, columns, html
from odonata.units import format_bandwidth, format_bytes, format_time

if TYPE_CHECKING:
    from odonata.analysis.compare import Comparison, Row


def as_text(comparison: Comparison, width: int | None = None) -> str:
    """The table, turned if it is wider than `width` characters, and the sentences."""
    return "\n".join([*_table(comparison).lines(width), "", *sentences(comparison)])


def as_html(comparison: Comparison) -> str:
    """The same for a notebook."""
    return html(sentences(comparison), [_table(comparison)])


def _table(comparison: Comparison) -> Table:
    oriented = comparison.higher_is_better is not None
    header = [
        comparison.by, "n", *(("p99/p50", "95 % interval") if _varies(comparison) else ()),
        "p50", "p25", "p75", "95 % interval", "ratio", "95 % interval", "pairs",
        *(("better", "worse") if oriented else ("lower", "higher")), "equal", "p",
    ]  # fmt: skip
    of = f" of {comparison.job}" if comparison.job else ""
    better = f" ({'higher' if comparison.higher_is_better else 'lower'} is better)" if oriented else ""
    title = f"{comparison.column}{of} by {comparison.by}, against {_name(comparison.baseline)}{better}"
    return Table(columns(header), [_cells(row, comparison) for row in comparison.rows], title)


def _varies(comparison: Comparison) -> bool:
    """Whether programs are compared, whose times of iterations vary."""
    return any(row.variation is not None for row in comparison.rows)


def sentences(comparison: Comparison) -> list[str]:
    """The conclusions, and what these runs cannot tell."""
    said = [_sentence(row, comparison) for row in comparison.rows if row.value != comparison.baseline]
    counts = [row.n for row in comparison.rows if row.n]
    if max(counts, default=0) <= 1:
        said.append(
            "One run for each value: no interval can be given, and a difference may be chance. "
            'Add seeds: "run.seed" = { from = 1, to = 10 }'
        )
    elif min(counts) < ENOUGH:
        few = min(counts)
        said.append(
            f"From {few} run{'' if few == 1 else 's'} "
            + ("no interval can be given" if few <= 1 else "an interval is too narrow")
            + f": at least {ENOUGH} are needed for 95 %."
        )
    if comparison.cut_off:
        said.append(
            f"{comparison.cut_off} run{'s' * (comparison.cut_off > 1)} left out: cut off before all had arrived. "
            "These may be the slow ones: give them a longer horizon, or see --include-incomplete."
        )
    if comparison.saturated:
        said.append(
            f"In {comparison.saturated} run{'s' * (comparison.saturated > 1)} the job is saturated: its latency "
            "depends on how long it sends. Compare --value throughput."
        )
    if comparison.extrapolated:
        said.append(simulated_part(comparison.extrapolated))
    tests = sum(row.p is not None for row in comparison.rows)
    if tests > 1:
        said.append(
            f"p is not corrected for {tests} tests; below {0.05 / tests:.2g} a value stands out among them all."
        )
    return said


def _sentence(row: Row, comparison: Comparison) -> str:
    name, base = _name(row.value), _name(comparison.baseline)
    # "0.1: 1.000 x 0.05" would read as a product.
    of = f"that of {base}" if base[:1].isdigit() else base
    if name[:1].isdigit():
        name = f"{comparison.by} = {name}"
    if row.n == 0:
        return f"{name}: no run that is done has a number in `{comparison.column}`."
    if row.ratio is None:
        return f"{name}: no ratio to {base}, which is 0 or has no runs."
    said = f"{name}: {_ratio(row.ratio)} x {of}"
    if row.ratio_interval is None:
        return f"{said}, from one run each: no interval can be given."
    if row.pairs and row.equal == row.pairs:
        return f"{said}: the same in all {row.pairs} pairs."
    low, high = row.ratio_interval
    if _ratio(low) != _ratio(high):
        said += f", between {_ratio(low)} and {_ratio(high)}"
    elif low != high:
        said += " (to three decimals in the whole interval)"
    overlapping = "The intervals of the medians overlap" if row.overlap else "The intervals of the medians are apart"
    if low <= 1.0 <= high:
        return f"{said}. {overlapping}, and the ratio may be 1: these runs show no difference."
    way = "lower" if high < 1.0 else "higher"
    if min(row.n, row.pairs or row.n) < ENOUGH:
        many = f"{row.pairs} pairs" if row.pairs else f"{row.n} runs"
        return f"{said}. {overlapping}; {many} are too few to say that it is {way}."
    if row.overlap and row.pairs:
        return f"{said}. {overlapping}, but pair by pair it is {way}."
    return f"{said}. {overlapping}: it is {way}."


def _cells(row: Row, comparison: Comparison) -> list[str]:
    unit = next((column.unit for column in columns_of("jobs", collective=True) if column.name == comparison.column), "")

    def number(value: float | None) -> str:
        if value is None:
            return "-"
        if comparison.column.endswith("_ps"):
            return format_time(round(value), 4)
        if unit == "bytes/s":
            return format_bandwidth(round(value * 1e6), 4)
        return format_bytes(round(value), 4) if unit == "bytes" else f"{value:,.4g}"

    def between(ends: tuple[float, float] | None, form: object = number) -> str:
        assert callable(form)
        return "-" if ends is None else f"{form(ends[0])} to {form(ends[1])}"

    varying = ["-" if row.variation is None else _ratio(row.variation), between(row.variation_interval, _ratio)]
    cells = [
        _name(row.value),
        str(row.n),
        *(varying if _varies(comparison) else ()),
        number(row.median),
        number(row.q25),
        number(row.q75),
        between(row.interval),
    ]
    if row.value == comparison.baseline:
        return [*cells, "baseline", *[""] * 6]
    cells += ["-" if row.ratio is None else _ratio(row.ratio), between(row.ratio_interval, _ratio)]
    counts = [str(count) if row.pairs else "-" for count in (row.better, row.worse, row.equal)]
    return [*cells, str(row.pairs) if row.pairs else "none", *counts, "-" if row.p is None else f"{row.p:.2g}"]


def _ratio(value: float) -> str:
    return f"{value:.3f}"


def _name(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
