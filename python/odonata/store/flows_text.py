"""Flow completion times as text: a table by size, as the simulators of that field print it, and a sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from odonata.text import Column, Table, digits, four_digits, size, unit_of

if TYPE_CHECKING:
    from collections.abc import Mapping

_SHOWN = ("p50", "p95", "p99", "mean")


def flows_table(job: Mapping[str, Any]) -> Table:
    """Flows of a job by size: completion times in a common unit, and slowdowns over the ideal."""
    bins = job["flows"]["by_size"]
    unit, factor = unit_of(row["fct_ps"]["mean"] for row in bins)
    known = any(row["slowdown"] for row in bins)
    names = ["size", "flows", *(f"FCT {name}" for name in _SHOWN)]
    names += [f"slowdown {name}" for name in _SHOWN] if known else []
    rows = []
    for number, row in enumerate(bins):
        whole = len(bins) > 1 and number == len(bins) - 1
        cells = ["all" if whole else _sizes(row), f"{row['flows']:,}"]
        cells += [digits(row["fct_ps"][name], factor) for name in _SHOWN]
        if known:
            cells += [f"{row['slowdown'][name]:,.2f}" if row["slowdown"] else "-" for name in _SHOWN]
        rows.append(cells)
    over = ", and slowdowns over the ideal (the flow alone on the idle machine)" if known else ""
    title = f"{job['name']}: flow completion times (FCT) by size{f' in {unit}' if bins else ''}{over}"
    return Table([Column(name, right=index > 0) for index, name in enumerate(names)], rows, title)


def flows_answer(job: Mapping[str, Any]) -> str:
    """How many flows are complete, and their slowdown."""
    flows = job["flows"]
    text = f"{job['name']}: {flows['complete']:,} of {flows['begun']:,} flows complete"
    if not flows["by_size"]:
        return text
    every = flows["by_size"][-1]
    if every["slowdown"] is None:
        unit, factor = unit_of([every["fct_ps"]["mean"]])
        mean, most = (digits(every["fct_ps"][name], factor) for name in ("mean", "p99"))
        return (
            f"{text}; completion time: mean {mean} {unit}, 99 % within {most} {unit} (no ideal times on this machine)"
        )
    mean, most = (four_digits(every["slowdown"][name]) for name in ("mean", "p99"))
    return f"{text}; slowdown over the ideal: mean {mean} x, 99 % within {most} x"


def _sizes(row: Mapping[str, Any]) -> str:
    least, most = (size(row[name]) for name in ("bytes_least", "bytes_most"))
    return least if least == most else f"{least} to {most}"
