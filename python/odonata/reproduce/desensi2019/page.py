"""What the pages for De Sensi 2019 share."""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING

from odonata.reproduce.desensi2019.setting import MACHINES, NODES, words
from odonata.reproduce.desensi2019.surroundings import ROUND_TRIPS
from odonata.reproduce.markdown import (
    comparable,
    published,
    reasons,
    table,
    told,
)
from odonata.reproduce.page import Page
from odonata.text.numbers import fixed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from odonata.analysis.correlation import Coefficient
    from odonata.reproduce.page import Texts
    from odonata.reproduce.reproduction import Runs
    from odonata.reproduce.rows import Row

MODEL = "simulated"


def page_of(
    template: str,
    of_runs: Callable[[Runs], Mapping[str, str]],
    fixed_values: Mapping[str, str] | None = None,
    *,
    with_setting: bool = True,
    of_rows: Callable[[Sequence[Row]], Mapping[str, str]] | None = None,
) -> Page:
    """The page of that template: rows, verdicts, reasons and setting beside the values of its own."""

    def from_rows(rows: Sequence[Row], _: Texts) -> Texts:
        said = {"statements": judged(comparable(rows)), "reasons": reasons(rows)}
        return {
            **said,
            "reasons": said["reasons"] or "None.",
            "all": judged(rows),
            **(fixed_values or {}),
            **(of_rows(rows) if of_rows else {}),
        }

    def from_runs(_: Sequence[Row], runs: Runs) -> Texts:
        own = of_runs(runs)
        return {**({"setting": setting(runs)} if with_setting and own else {}), **own}

    text = files("odonata.reproduce.desensi2019") / f"{template}.md"
    return Page(lambda: text.read_text("utf-8"), from_rows, from_runs)


def setting(runs: Runs) -> str:
    """Machine, background and assumptions in words."""
    loaded = [run for run in runs if run["load"]] or runs
    first = loaded[0]
    machine = MACHINES[first["machine"]]
    trips = ", ".join(f"{name} {trip}" for name, trip in ROUND_TRIPS.items())
    kinds = list(dict.fromkeys(run["background"] for run in loaded))
    optical = [[run["optical"] for run in loaded if run["background"] == kind] for kind in kinds]
    over = ", over which the paper's jobs spread" if first["machine"] in ("piz-daint", "cori") else ""
    what, busy = " or ".join(map(words, kinds)), " or ".join(_range(shares) for shares in optical)
    loads = list(dict.fromkeys(f"{run['load']:g} %" for run in loaded))
    return (
        f"Machine: {machine['groups']} groups of the preset `{machine['preset']}`{over}; all groups would cost many "
        "times as much. Other groups are missing as intermediate groups of non-minimal "
        f"paths. Background: {NODES[first['machine']]:,} nodes, always with `adaptive-0`: {what}. Its load is in "
        "percent of what the cables between groups would carry if all of it took minimal paths; it is "
        f"{' or '.join(loads)}. With detours, responses and headers, these cables are busy for {busy} of the "
        f"time. NICs answer packets; a packet of {first['packet']} stands for "
        "a burst of packets of 64 B (docs/machines.md states the error of the times). Congestion metric: "
        f"`occupancy`, the default of Aries; where credits are late, by round trips of the link ({trips}). Biases are "
        "the modes' defaults, 0 and 8 KiB. All of this is assumed. But for the load of `production`, none of it was "
        "chosen by results."
    )


def _range(shares: Sequence[float]) -> str:
    low, high = (fixed(of(shares), ".0%") for of in (min, max))
    return low if low == high else f"{low} to {high}"


def judged(rows: Sequence[Row]) -> str:
    """Rows with their intervals: bold what does not match, in brackets without a verdict or fitted."""
    lines = [[row.id, row.what, published(row), row.tolerance, told(row, interval=True)] for row in rows]
    return table(["id", "what", "published", "tolerance", f"{MODEL}, 95 % interval"], lines, "llrlr")


def coefficient(of: Coefficient) -> str:
    """A coefficient with its interval."""
    return f"{of.value:.2f}" + (f" ({of.interval[0]:.2f} to {of.interval[1]:.2f})" if of.interval else "")
