"""Flows that begin at different times and share a link: how equal their shares become, and when."""

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

FLOWS = (2, 4, 8, 16)
PLACES = {"node": "frontier", "uplink": "two leaves"}
"""What the flows share -> the machine."""
BEGIN_US = 50
"""Mean exponential time to the begin of a flow into a node, and the time from one flow to the next on an uplink."""
MESSAGE = "1 GiB"
"""Of each flow: none ends."""
SPANS_MS = ((0.0, 1.0), (1.0, 2.0), (2.0, 3.0), (3.0, 5.0))
"""Parts of the run in which shares are compared. All flows have begun in the first."""
EQUAL = "5 %"
"""Jain's index of the last part: set before the runs (assumed)."""
DCTCP = (0.99, "2 %")
"""Jain's index of DCTCP's flows on one link, and the tolerance: Alizadeh 2010, section 4.1, figure 16."""


def points(controls: Sequence[str], reduced: bool) -> Points:
    """Each number of flows on both kinds of links."""
    return [
        {"test": place, "control": control, "size": flows, "beside": True, "system": machine, "message": MESSAGE}
        for place, machine in PLACES.items()
        for flows in (FLOWS[:1] if reduced else FLOWS)
        for control in controls
    ]


def jobs(point: Mapping[str, Any]) -> list[dict[str, Any]]:
    """One job whose senders compute first for a random time, or a job for each flow between the leaves."""
    flows = point["size"]
    app = {"motif": "incast", "message": point["message"]}
    if point["test"] == "node":
        place = {"policy": "explicit", "nodes": [0, *senders(point["system"], flows)]}
        app |= {"jitter": f"{BEGIN_US} us"}
        return [{"name": "flows", "place": place, "app": app, "iterations": 1, "overhead": NO_HOST}]
    return [
        {
            "name": f"flow{flow}",
            "place": {"policy": "explicit", "nodes": [16 + flow, flow]},
            "start": f"{flow * BEGIN_US} us",
            "app": app,
            "iterations": 1,
            "overhead": NO_HOST,
        }
        for flow in range(flows)
    ]


def keep(run: Run) -> dict[str, Any]:
    """Jain's index of what the senders put on their links in each part of the run."""
    import polars as pl

    nodes = [node for job in run.resolved["spec"]["jobs"] for node in job["nodes"][1:]]
    links = run.links.filter(pl.col("from_kind") == "node", pl.col("from_id").is_in(nodes))
    sent = run.series.join(links.select("link", "from_id"), on="link")
    indices = []
    for begin, end in SPANS_MS:
        part = sent.filter(pl.col("start_ps") >= begin * 1e9, pl.col("start_ps") < end * 1e9)
        by_node = part.group_by("from_id").agg(pl.col("bytes").sum())["bytes"].to_numpy().astype(float)
        indices.append(float(by_node.sum() ** 2 / (len(nodes) * (by_node**2).sum())))
    return {"indices": indices}


def rows(runs: Runs) -> list[Row]:
    """A row for the last part of each run with control."""
    made = []
    for run in runs:
        place, control = run["test"], run["control"]
        if place not in PLACES or control == "none":
            continue
        begin, end = SPANS_MS[-1]
        link = "into one node" if place == "node" else "on one uplink"
        text = f"{run['size']} flows {link}: Jain's index from {begin:.0f} to {end:.0f} ms"
        published = place == "uplink" and control == "ecn-window"
        theirs, tolerance = DCTCP if published else (1.0, EQUAL)
        where = "Alizadeh 2010, figure 16" if published else "closed form"
        made.append(statement("CC5", text, run["indices"][-1], theirs, "x", tolerance, where, model=control))
    return made


def text(runs: Runs) -> str:
    """The table: a row for each run."""
    of = [run for run in runs if run["test"] in PLACES]
    cells = [
        [
            "one node, frontier" if run["test"] == "node" else "uplink, fat tree",
            str(run["size"]),
            run["control"],
            *(f"{value:.3f}" for value in run["indices"]),
        ]
        for run in of
    ]
    spans = [f"{begin:.0f} to {end:.0f} ms" for begin, end in SPANS_MS]
    return table(["shared", "flows", "control", *spans], cells, "lrl" + "r" * len(spans))
