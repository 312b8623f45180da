"""`steady`: times of programs whose steady iterations are skipped, against those of whole runs.

A point is a `machine`, a `program`, a `neighbour` and a `model`: the whole run, or a bound. The cells are not those by
which the method was chosen: other sizes, seeds and nodes.
"""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING, Any

from odonata.reproduce.markdown import table
from odonata.reproduce.page import Page
from odonata.reproduce.reproduction import Reproduction
from odonata.reproduce.rows import statement
from odonata.reproduce.steady.cells import (
    BOUNDS,
    ITERATIONS,
    LATE_ITERATIONS,
    LATE_START,
    MACHINES,
    NEIGHBOURS,
    NODES,
    PROGRAMS,
    make,
    points,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from odonata.reproduce.page import Texts
    from odonata.reproduce.reproduction import Runs
    from odonata.reproduce.rows import Row
    from odonata.store import Run

GOAL = 95
"""Share of the cells, in percent, whose error is to be within the bound: that of the intervals. Stated before the first
run."""
CELL, SHARE, SAVED = "time of the program: ", "cells within the bound", "packet-hops of whole runs over those simulated"
WHERE = "the whole run"


def keep(run: Run) -> dict[str, Any]:
    """What all its trials have simulated, and whether the last of them is the whole run."""
    steady = run.manifest.get("steady")
    if steady is None:
        return {"work": run.manifest["packet_hops"], "in_full": True}
    return {"work": sum(steady["trials"]), "in_full": steady["in_full"] is not None}


def compare(runs: Runs) -> list[Row]:
    """For each bound: the time of the program in each cell; how many are within the bound; what is saved."""
    rows = []
    by_key = {(_cell(run), run["model"]): run for run in runs}
    cells = list(dict.fromkeys(cell for cell, _ in by_key))
    for model, bound in BOUNDS.items():
        if bound is None:
            continue
        of_model = [
            statement(
                "ST1",
                f"{CELL}{cell}",
                by_key[cell, model]["time_ps"] / 1e6,
                by_key[cell, "whole"]["time_ps"] / 1e6,
                "us",
                bound,
                WHERE,
                model=model,
            )
            for cell in cells
        ]
        share = 100 * sum(row.verdict == "match" for row in of_model) / len(of_model)
        whole, simulated = (sum(by_key[cell, of]["work"] for cell in cells) for of in ("whole", model))
        rows += of_model
        rows.append(statement("ST2", SHARE, share, GOAL, "%", f">= {GOAL}", WHERE, model=model))
        rows.append(statement("ST3", SAVED, whole / simulated, 1, "x", "> 1", WHERE, model=model))
    return rows


def _cell(run: Any) -> str:
    beside = "alone" if run["neighbour"] == "alone" else f"beside {run['neighbour']}"
    return f"{run['program']} {beside} on {run['machine']}"


def _error(row: Row) -> float:
    return row.ours / row.theirs - 1


def _signed(share: float) -> str:
    return f"{100 * share:+.2f} %"


def of_rows(rows: Sequence[Row], _: Texts) -> Texts:
    """The texts of the table of errors."""
    cells = [row for row in rows if row.what.startswith(CELL)]
    lines = []
    for model, bound in BOUNDS.items():
        own = [row for row in cells if row.model == model]
        if own:
            worst = max(own, key=lambda row: abs(_error(row)))
            missed = sum(row.verdict != "match" for row in own)
            name = worst.what.removeprefix(CELL)
            lines.append([str(bound), str(len(own)), str(missed), _signed(_error(worst)), name])
    head = ["bound", "cells", "outside", "largest error", "where"]
    return {
        "errors": table(head, lines, "rrrrl"),
        "goal": f"{GOAL} %",
        "machines": ", ".join(f"`{name}`" for name in MACHINES),
        "programs": ", ".join(PROGRAMS),
        "neighbours": ", ".join(name for name in NEIGHBOURS if name != "alone"),
        "iterations": str(ITERATIONS),
        "nodes": str(NODES),
        "late": f"{LATE_ITERATIONS} iterations from {LATE_START} on",
    }


def of_runs(_: Sequence[Row], runs: Runs, keys: Sequence[str] = ("program", "neighbour")) -> Texts:
    """Factors by program and by neighbour, or by one: packet-hops of the whole runs over those of all trials."""
    works = {(_cell(run), run["model"]): run for run in runs}
    bounds = [model for model, bound in BOUNDS.items() if bound is not None]

    def factors(key: str, value: str) -> list[str]:
        of = [run for run in runs if run[key] == value and run["model"] == "whole"]
        line = [value, str(len(of))]
        for model in bounds:
            own = [works[_cell(run), model] for run in of]
            saved = sorted(run["work"] / mine["work"] for run, mine in zip(of, own, strict=True))
            joint = sum(run["work"] for run in of) / sum(mine["work"] for mine in own)
            full = sum(bool(mine["in_full"]) for mine in own)
            line += [f"{joint:.1f}", f"{saved[0]:.1f} to {saved[-1]:.1f}", str(full)]
        return line

    head = ["", "cells"]
    for model in bounds:
        head += [f"saved, {BOUNDS[model]}", "least to most", "in full"]
    lines = [factors(key, value) for key in keys for value in dict.fromkeys(run[key] for run in runs)]
    covered = [run for run in runs if not run["in_full"]]
    inside = sum(
        abs(run["time_ps"] / works[_cell(run), "whole"]["time_ps"] - 1) <= run["skipped_error"] for run in covered
    )
    least = min(works[_cell(run), "whole"]["work"] / run["work"] for run in runs)
    return {
        "factors": table(head, lines, "lr" + "rrr" * len(bounds)),
        "covered": f"{inside} of {len(covered)}",
        "least": f"{least:.2f}",
    }


REPRODUCTION = Reproduction(
    name="steady",
    title="Times of programs whose steady iterations are skipped, against whole runs",
    points=points,
    make=make,
    rows=compare,
    text=Page(lambda: (files("odonata.reproduce.steady") / "page.md").read_text("utf-8"), of_rows, of_runs),
    keep=keep,
)
