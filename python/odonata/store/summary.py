"""A run in one object and in one small table."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from odonata.store.columns import QUANTILES
from odonata.units import format_time

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

_UNITS = [("s", 10**12), ("ms", 10**9), ("us", 10**6), ("ns", 10**3), ("ps", 1)]


def summary_of(manifest: Mapping[str, Any], jobs: pl.DataFrame) -> dict[str, Any]:
    """What `odonata run --json` prints. Times are picoseconds, `throughput` is bytes per second."""
    wall = manifest["wall"]
    return {
        "id": manifest["id"],
        "seed": manifest["seed"],
        "version": manifest["version"],
        "sim_time_ps": manifest["sim_time_ps"],
        "events": manifest["events"],
        "packet_hops": manifest["packet_hops"],
        "wall_s": wall["wall_s"],
        "packet_hops_per_s": wall["packet_hops_per_s"],
        "peak_rss_bytes": wall["peak_rss_bytes"],
        "jobs": [_job(row) for row in jobs.iter_rows(named=True)],
    }


_TOTALS = ("messages_sent", "messages_delivered", "packets", "bytes", "time_ps", "throughput")


def _job(row: Mapping[str, Any]) -> dict[str, Any]:
    job = {name: row[name] for name in ("name", "nodes", "background", *_TOTALS)}
    job["latency_ps"] = _latency(row, "latency")
    job["hops_mean"] = row["hops_mean"]
    job["minimal_fraction"] = row["minimal_fraction"]
    alone = _latency(row, "alone")
    if alone is not None:
        job["latency_alone_ps"] = alone
        job["slowdown"] = row["slowdown"]
    return job


def _latency(row: Mapping[str, Any], prefix: str) -> dict[str, Any] | None:
    if row[f"{prefix}_mean_ps"] is None:
        return None
    return {name: row[f"{prefix}_{name}_ps"] for name in (*QUANTILES, "mean")}


@dataclass(frozen=True, slots=True)
class Table:
    """The summary as text: one row per job."""

    unit: str
    """Unit of all latencies in it."""
    header: list[str]
    rows: list[list[str]]


def table_of(summary: Mapping[str, Any]) -> Table:
    """Jobs with their latencies in a common unit (that of the least mean)."""
    jobs = summary["jobs"]
    unit, factor = _unit(summary)
    alone = any("slowdown" in job for job in jobs)
    shown = {"min": "min", "p25": "q25", "p50": "median", "p75": "q75", "p99": "p99", "max": "max", "mean": "mean"}
    header = ["job", "nodes", "messages", *shown.values(), "hops", "minimal"]
    header += ["alone mean", "slowdown"] if alone else []
    rows = []
    for job in jobs:
        latency, by_itself = job["latency_ps"] or {}, job.get("latency_alone_ps") or {}
        row = [job["name"], f"{job['nodes']:,}", f"{job['messages_delivered']:,}"]
        row += [_digits(latency.get(name), factor) for name in shown]
        row += [_fixed(job["hops_mean"], ".2f"), _fixed(job["minimal_fraction"], ".1%")]
        if alone:
            row += [_digits(by_itself.get("mean"), factor), _fixed(job.get("slowdown"), ".2f", " x")]
        rows.append([text.replace("%", " %") for text in row])
    return Table(unit, header, rows)


def _unit(summary: Mapping[str, Any]) -> tuple[str, int]:
    means = [job["latency_ps"]["mean"] for job in summary["jobs"] if job["latency_ps"]]
    return next(((u, f) for u, f in _UNITS if means and min(means) >= f), _UNITS[-1])


def _digits(ps: float | None, factor: int) -> str:
    """Four digits or more, never a power of ten: 1.234, 51.36, 1,234, 12,345."""
    if ps is None:
        return "-"
    value = ps / factor
    places = next((p for p, below in ((3, 10), (2, 100), (1, 1000)) if value < below), 0)
    return f"{value:,.{places if factor > 1 else 0}f}"


def _fixed(value: float | None, form: str, unit: str = "") -> str:
    return "-" if value is None else f"{value:{form}}{unit}"


def answers(summary: Mapping[str, Any]) -> list[str]:
    """One sentence for each job that is not background: how long its messages took, and what the others cost it.

    In the unit and with the digits of the table.
    """
    said = []
    unit, factor = _unit(summary)

    def time(ps: float) -> str:
        return f"{_digits(ps, factor)} {unit}"

    for job in summary["jobs"]:
        if job["background"]:
            continue
        latency = job["latency_ps"]
        if latency is None:
            delivered, sent = job["messages_delivered"], job["messages_sent"]
            said.append(f"{job['name']}: no latencies recorded; {delivered:,} of {sent:,} messages delivered")
            continue
        text = f"{job['name']}: mean latency {time(latency['mean'])}"
        if job.get("slowdown") is not None:
            by_itself = time(job["latency_alone_ps"]["mean"])
            text += f", {job['slowdown']:.2f} x that of {job['name']} alone ({by_itself})"
        else:
            text += f" (median {time(latency['p50'])}, 99 % within {time(latency['p99'])})"
        said.append(text)
    return said


def as_text(summary: Mapping[str, Any], width: int | None = None) -> str:
    """The table in plain text, with the answers below it; turned on its side if it is wider than `width` characters."""
    table = table_of(summary)
    upright = [table.header, *table.rows]
    lines = _aligned(upright)
    if width is not None and len(lines[0]) > width:
        lines = _aligned([list(row) for row in zip(*upright, strict=True)])
    rule = "-" * max(len(line) for line in lines)
    return "\n".join([_title(summary, table.unit), "", lines[0], rule, *lines[1:], "", *answers(summary)])


def _aligned(lines: list[list[str]]) -> list[str]:
    """The first column to the left, all others to the right."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return [
        "  ".join([line[0].ljust(widths[0]), *(text.rjust(w) for text, w in zip(line[1:], widths[1:], strict=True))])
        for line in lines
    ]


def as_html(summary: Mapping[str, Any]) -> str:
    """The same for a notebook."""
    table = table_of(summary)

    def line(cells: list[str], tag: str) -> str:
        return "<tr>" + "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in cells) + "</tr>"

    body = "".join(line(row, "td") for row in table.rows)
    caption = escape(_title(summary, table.unit))
    notes = "".join(f"<p>{escape(text)}</p>" for text in answers(summary))
    head = f"<caption>{caption}</caption><thead>{line(table.header, 'th')}</thead>"
    return f"<table>{head}<tbody>{body}</tbody></table>{notes}"


def _title(summary: Mapping[str, Any], unit: str) -> str:
    simulated = format_time(summary["sim_time_ps"], 3)
    return f"run {summary['id']}, seed {summary['seed']}: {simulated} simulated; latencies in {unit}"
