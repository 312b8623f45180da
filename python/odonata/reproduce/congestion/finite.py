"""Incasts that end: how well the link to the root is used until its last byte has come."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from odonata.reproduce.congestion.machines import NO_HOST, senders
from odonata.reproduce.markdown import table
from odonata.reproduce.rows import statement

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from odonata.reproduce.reproduction import Points, Runs
    from odonata.reproduce.rows import Row
    from odonata.store import Run

CASES = (
    ("fat tree", 8, "256 KiB"),
    ("fat tree", 60, "1 MiB"),
    ("long links", 8, "1 MiB"),
    ("long links", 8, "16 MiB"),
    ("frontier", 8, "64 KiB"),
    ("frontier", 8, "1 MiB"),
    ("frontier", 8, "16 MiB"),
    ("frontier", 128, "64 KiB"),
    ("frontier", 128, "1 MiB"),
    ("frontier", 128, "4 MiB"),
    ("frontier", 1_023, "64 KiB"),
    ("frontier", 1_023, "256 KiB"),
    ("frontier", 1_023, "1 MiB"),
    ("frontier, 4 NICs", 511, "1 MiB"),
    ("lumi, 4 NICs", 511, "1 MiB"),
)
"""Machine, flows, and the message of each."""
FIRST = "1 B"
"""The message of one flow alone, which says when a first byte comes."""
TOLERANCE = "3 %"
"""Of the goodput of a finite incast: set before the runs."""


def points(controls: Sequence[str], reduced: bool) -> Points:
    """For each machine one flow of a byte, then all cases."""
    cases = CASES[1:2] if reduced else CASES
    machines = dict.fromkeys(machine for machine, _, _ in cases)
    first = [("none", machine, 1, FIRST) for machine in machines]
    all_ = [(control, *case) for case in cases for control in controls]
    return [
        {"test": "finite", "control": control, "size": flows, "beside": True, "system": machine, "message": message}
        for control, machine, flows, message in [*first, *all_]
    ]


def jobs(point: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Each sender sends one message to node 0."""
    flows = point["size"]
    return [
        {
            "name": "incast",
            "place": {"policy": "explicit", "nodes": [0, *senders(point["system"], flows)]},
            "app": {"motif": "incast", "message": point["message"]},
            "iterations": 1,
            "overhead": NO_HOST,
        }
    ]


def keep(run: Run) -> dict[str, Any]:
    """The time of the incast, and the time that the busiest link to the root needs for its bytes."""
    import polars as pl

    spec = run.resolved["spec"]
    to_root = run.links.filter(pl.col("to_kind") == "node", pl.col("to_id") == spec["jobs"][0]["nodes"][0])
    rate = spec["fabric"]["links"]["node"]["bandwidth"]  # millionths of a byte per second
    longest = run.iterations["longest_ps"].to_numpy().max()
    return {"span_us": float(longest) / 1e6, "wire_us": float(to_root["bytes"].to_numpy().max()) * 1e12 / rate}


def goodput(runs: Runs) -> dict[tuple[str, int, str, str], float]:
    """Machine, flows, message and control -> the least time of the incast over its time.

    The least time is that of the busiest link to the root for its bytes, after the first of them has come: one byte
    from a distant sender.
    """
    of = [run for run in runs if run["test"] == "finite"]
    first = {run["system"]: run["span_us"] for run in of if run["message"] == FIRST}
    return {
        (run["system"], run["size"], run["message"], run["control"]): (first[run["system"]] + run["wire_us"])
        / run["span_us"]
        for run in of
        if run["message"] != FIRST
    }


def rows(runs: Runs) -> list[Row]:
    """A row for each case with each kind of control."""
    return [
        statement(
            "CC4",
            f"{flows:,} flows of {message} each, {machine}: goodput",
            value,
            1.0,
            "x",
            TOLERANCE,
            "closed form",
            model=control,
        )
        for (machine, flows, message, control), value in goodput(runs).items()
    ]


def text(runs: Runs, controls: Sequence[str]) -> str:
    """The table: a row for each case."""
    values = goodput(runs)
    cases = dict.fromkeys(key[:3] for key in values)
    cells = [
        [
            machine,
            f"{flows:,}",
            message,
            *("–" if (value := values.get((*case, control))) is None else f"{value:.3f}" for control in controls),
        ]
        for case in cases
        for machine, flows, message in [case]
    ]
    return table(["machine", "flows", "each", *controls], cells, "lrr" + "r" * len(controls))
