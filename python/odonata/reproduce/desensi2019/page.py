"""What the pages for De Sensi 2019 share."""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING

import numpy as np

from odonata.reproduce.aries_modes.runs import ROUND_TRIPS
from odonata.reproduce.desensi2019.setting import BACKGROUNDS, MACHINES, NODES
from odonata.reproduce.markdown import counts, reasons, relations, side_by_side
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
) -> Page:
    """The page of that template: rows, verdicts, reasons and setting beside the values of its own."""

    def from_rows(rows: Sequence[Row], _: Texts) -> Texts:
        said = {"counts": counts(rows, MODEL), "statements": side_by_side(rows, [MODEL]), "reasons": reasons(rows)}
        orderings = [row for row in rows if row.interval is not None]
        return {
            **said,
            "reasons": said["reasons"] or "None.",
            "relations": relations(orderings),
            **(fixed_values or {}),
        }

    def from_runs(_: Sequence[Row], runs: Runs) -> Texts:
        return {**({"setting": setting(runs)} if with_setting else {}), **of_runs(runs)}

    text = files("odonata.reproduce.desensi2019") / f"{template}.md"
    return Page(lambda: text.read_text("utf-8"), from_rows, from_runs)


def setting(runs: Runs) -> str:
    """Machine, background and assumptions in words."""
    loaded = [run for run in runs if run["load"]] or runs
    first = loaded[0]
    machine = MACHINES[first["machine"]]
    trips = ", ".join(f"{name} {trip}" for name, trip in ROUND_TRIPS.items())
    sends = {
        "uniform": f"messages of {BACKGROUNDS['uniform']['message']} to each other (`uniform`)",
        "bursts": f"messages of {BACKGROUNDS['bursts']['message']} to nodes of the next group (`bursts`)",
    }
    kinds = list(dict.fromkeys(run["background"] for run in loaded))
    optical = [np.mean([run["optical"] for run in loaded if run["background"] == kind]) for kind in kinds]
    over = ", over which the paper's jobs spread" if first["machine"] in ("piz-daint", "cori") else ""
    what, busy = " or ".join(sends[kind] for kind in kinds), " or ".join(fixed(share, ".0%") for share in optical)
    return (
        f"Machine: {machine['groups']} groups of the preset `{machine['preset']}`{over}; all groups would cost many "
        "times as much. Other groups are missing as intermediate groups of non-minimal "
        f"paths. Background: {NODES[first['machine']]:,} nodes drawn at random send {what} at random times, always "
        "with `adaptive-0`. Its load is in percent of what the cables between groups would carry if all of it took "
        f"minimal paths; it is {first['load']:g} % unless a line says otherwise. With detours, responses and headers, "
        f"these cables are busy for {busy} of the time. NICs answer packets; a packet of {first['packet']} stands for "
        "a burst of packets of 64 B (docs/machines.md states the error of the times). Congestion metric: `both`; "
        f"routers learn of credits one round trip of the link late ({trips}). Biases are the modes' defaults, 0 and "
        "8 KiB. All of this is assumed; none of it was chosen by the results."
    )


def coefficient(of: Coefficient) -> str:
    """A coefficient with its interval."""
    return f"{of.value:.2f}" + (f" ({of.interval[0]:.2f} to {of.interval[1]:.2f})" if of.interval else "")
