"""`congestion-control`: incasts under each kind of congestion control, and GPCNeT's canaries beside its congestors.

- Points with `test` "incast": `flows` nodes send to one node without end, and two bystanders exchange small messages
  with nodes on the same routers. The closed form: the root takes what its link carries, each flow an equal share, and
  the bystander is not slowed.
- "finite": incasts that end (`finite`). "node", "uplink": flows that begin at different times (`shares`).
- "latency" or "allreduce": GPCNeT (`gpcnet`).
"""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING, Any

from odonata.reproduce.congestion import finite, gpcnet, shares
from odonata.reproduce.congestion.gpcnet import CANARY_START, GPCNET, HORIZON
from odonata.reproduce.congestion.machines import FREE_HOST, system
from odonata.reproduce.markdown import pivot, reasons, table
from odonata.reproduce.page import Page
from odonata.reproduce.reproduction import Reproduction
from odonata.reproduce.rows import statement
from odonata.scenario import Scenario

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from odonata.reproduce.page import Texts
    from odonata.reproduce.reproduction import Points, Runs
    from odonata.reproduce.rows import Row
    from odonata.store import Run

SYSTEM = "frontier"
CONTROLS = ("none", "slingshot", "ecn-window", "nscc", "receiver-credit")
FLOWS = (8, 32, 128)
INCAST_MESSAGE = "2 MiB"
"""Of each flow, as in the aggressor of Piarulli et al. (arXiv 2604.11432)."""
WARM_UP, SPAN = "3 ms", "4 ms"
"""The bystanders of an incast begin when the first windows of 128 flows have drained (335 us) and have shrunk, in
several round trips. With 400 us, those beside 128 flows under `slingshot` still meet them."""
WINDOW_US = {"incast": 1_000.0, "latency": 5_000.0, "allreduce": 5_000.0}
"""Time in which iterations can end. Where none ends, it stands for their mean: the impact is at least so large."""


def points(reduced: bool) -> Points:
    """Incasts without end, then those that end, flows that begin at different times, and GPCNeT."""
    controls = CONTROLS[:2] if reduced else CONTROLS
    incasts: Points = [
        {"test": "incast", "control": control, "size": flows, "beside": beside}
        for flows in (FLOWS[:1] if reduced else FLOWS)
        for control, beside in [("none", False), *((control, True) for control in controls)]
    ]
    canaries: Points = [
        {"test": test, "control": control, "size": size, "beside": beside}
        for size in (gpcnet.REDUCED if reduced else GPCNET)
        for test in ("latency", "allreduce")
        for control in CONTROLS[:2]
        for beside in (False, True)
    ]
    here = {"system": SYSTEM, "message": ""}
    return [
        *(point | here for point in incasts),
        *finite.points(controls, reduced),
        *shares.points(controls, reduced),
        *(point | here for point in canaries),
    ]


def make(point: Mapping[str, Any]) -> Scenario:
    """The scenario of a point."""
    kinds = {"incast": _incast, "finite": finite.jobs, **dict.fromkeys(shares.PLACES, shares.jobs)}
    table: dict[str, Any] = {
        "system": system(point["system"], point["control"]),
        "job": kinds.get(point["test"], gpcnet.jobs)(point),
        "run": {"seed": 1},
    }
    if point["test"] == "incast":
        table["run"]["until"] = SPAN
    elif point["test"] in shares.PLACES:
        table["run"]["until"] = f"{shares.SPANS_MS[-1][1]:.0f} ms"
        table["measure"] = {"series": True}
    elif point["test"] != "finite":
        table["run"] |= {"until": "canary", "horizon": HORIZON}
    return Scenario.of(table)


def _incast(point: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The root is node 0; senders are spread over the machine, and so are the bystanders, each beside a sender or the
    root."""
    flows = point["size"]
    senders = [16 + place * (9_000 // flows) for place in range(flows)]
    bystander = {
        "name": "bystander",
        "place": {"policy": "explicit", "nodes": [1, senders[0] + 1, senders[-1] + 1, 2]},
        "app": {"motif": "halo2d", "message": "8 KiB", "grid": [4, 1], "order": "all-at-once"},
        "overhead": FREE_HOST,
        "start": WARM_UP,
    }
    incast = {
        "name": "incast",
        "place": {"policy": "explicit", "nodes": [0, *senders]},
        "app": {"motif": "incast", "message": INCAST_MESSAGE},
        "overhead": FREE_HOST,
        "background": True,
    }
    return [bystander, incast] if point["beside"] else [bystander]


def keep(run: Run) -> dict[str, Any]:
    """What the tables need: see `_of_first_job`, `finite.keep` and `shares.keep`."""
    jobs = run.resolved["spec"]["jobs"]
    kept: dict[str, Any] = {"iterations": None, "mean_us": None, "p99_us": None, "used": None, "jain": None}
    kept |= {"span_us": None, "wire_us": None, "indices": []}
    if run.resolved["spec"]["measure"].get("series"):
        return kept | shares.keep(run)
    if len(jobs) == 1 and jobs[0]["name"] == "incast":
        return kept | finite.keep(run)
    return kept | _of_first_job(run)


def _of_first_job(run: Run) -> dict[str, Any]:
    """Iterations of the first job: their number, mean and 99 % quantile in microseconds. Of an incast also the share of
    the link to its root that was used, and Jain's index of the bytes that its senders sent."""
    import numpy as np
    import polars as pl

    ranks = run.jobs["ranks"][0]
    times = run.iterations.filter(pl.col("job") == 0, pl.col("ranks") == ranks)["longest_ps"].to_numpy() / 1e6
    ended = len(times) > 0
    kept = {
        "iterations": len(times),
        "mean_us": float(times.mean()) if ended else None,
        "p99_us": float(np.quantile(times, 0.99)) if ended else None,
    }
    job = run.resolved["spec"]["jobs"][-1]
    if job["name"] != "incast":
        return kept
    root, *senders = job["nodes"]
    links = run.links
    to_root = links.filter(pl.col("to_kind") == "node", pl.col("to_id") == root)
    used = min(float(to_root["busy"].to_numpy().max()), 1.0)  # what was granted and not sent yet counts as well
    of_senders = links.filter(pl.col("from_kind") == "node", pl.col("from_id").is_in(senders))
    sent = of_senders.group_by("from_id").agg(pl.col("bytes").max())["bytes"].to_numpy().astype(float)
    return kept | {"used": used, "jain": float(sent.sum() ** 2 / (len(sent) * (sent**2).sum()))}


def _by(runs: Runs) -> dict[tuple[str, str, int, bool], Mapping[str, Any]]:
    return {(run["test"], run["control"], run["size"], run["beside"]): run for run in runs}


def impact(runs: Runs, test: str, control: str, size: int, value: str = "mean_us") -> float:
    """A time beside the others over the same alone; if nothing ended beside them, the least that it can be."""
    by = _by(runs)
    alone = by[test, "none" if test == "incast" else control, size, False][value]
    beside = by[test, control, size, True][value]
    return float((WINDOW_US[test] if beside is None else beside) / alone)


def rows(runs: Runs) -> list[Row]:
    """Closed forms of incasts, and the published impact of GPCNeT's congestors on Slingshot."""
    statements = [*finite.rows(runs), *shares.rows(runs)]
    for run in runs:
        test, control, size = run["test"], run["control"], run["size"]
        if not run["beside"] or test not in ("incast", "latency", "allreduce"):
            continue
        model = control
        if test == "incast":
            of = f"incast of {size} flows"
            for id_, what, ours, tolerance in (
                ("CC1", "use of the link to the root", run["used"], "10 %"),
                ("CC2", "Jain's index", run["jain"], "10 %"),
                ("CC3", "slowdown of bystanders", impact(runs, test, control, size), "10 %"),
            ):
                if id_ == "CC3" and control == "none":
                    tolerance = "> 1.1"  # an incast without control spreads
                statements.append(statement(id_, f"{of}: {what}", ours, 1.0, "x", tolerance, FORM, model=model))
            continue
        name = "random neighbours, 8 B" if test == "latency" else "all-reduce of 8 B"
        for value, what in (("mean_us", "mean"), ("p99_us", "99 %")):
            ours = impact(runs, test, control, size, value)
            text = f"{name} on {size} nodes: impact of the congestors on the {what}"
            if control == "slingshot":
                statements.append(statement("GP1", text, ours, 1.0, "x", "± 0.1", PUBLISHED, model=model))
            else:
                statements.append(statement("GP2", text, ours, 1.1, "x", "> 1.1", PUBLISHED, model=model))
    return statements


FORM = "closed form"
PUBLISHED = "GPCNeT on Slingshot: impact 1.0 on 64 nodes and on 1,000 of Frontier"


def _of_runs(_: Sequence[Row], runs: Runs) -> dict[str, str]:
    """The tables of the page."""
    by = _by(runs)
    incasts = [
        [
            str(size),
            control,
            f"{run['used']:.3f}",
            f"{run['jain']:.3f}",
            _factor(impact(runs, test, control, size), run["mean_us"]),
        ]
        for (test, control, size, beside), run in by.items()
        if test == "incast" and beside
    ]
    canaries = [
        [
            test,
            str(size),
            control,
            *(
                _us(by[test, control, size, beside][value])
                for value in ("mean_us", "p99_us")
                for beside in (False, True)
            ),
            *(
                _factor(impact(runs, test, control, size, value), by[test, control, size, True][value])
                for value in ("mean_us", "p99_us")
            ),
        ]
        for (test, control, size, beside) in by
        if test in ("latency", "allreduce") and beside
    ]
    return {
        "incasts": table(["flows", "control", "link used", "Jain's index", "bystanders"], incasts, "rlrrr"),
        "finite": finite.text(runs, CONTROLS),
        "shares": shares.text(runs),
        "canaries": table(
            [
                "canary",
                "nodes",
                "control",
                "mean alone, us",
                "beside",
                "99 % alone, us",
                "beside",
                "impact, mean",
                "99 %",
            ],
            canaries,
            "lrlrrrrrr",
        ),
    }


def _of_rows(rows: Sequence[Row], _: Texts) -> dict[str, str]:
    """Verdicts, and the settings in the text."""
    return {
        "system": SYSTEM,
        "message": INCAST_MESSAGE,
        "begin": f"{shares.BEGIN_US} us",
        "start": CANARY_START,
        "ranks": " and ".join(f"{ranks} on {nodes:,} nodes" for nodes, ranks in GPCNET.items()),
        "fair": pivot(
            [row for row in rows if row.id == "CC5"], lambda row: (row.what,), lambda row: row.model, ("what",)
        ),
        "reasons": reasons(rows),
    }


def _factor(value: float, beside: float | None) -> str:
    return f"x {value:.2f}" if beside is not None else f"above x {value:.0f}"


def _us(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


REPRODUCTION = Reproduction(
    name="congestion-control",
    title="Congestion control: incasts against closed forms, and GPCNeT's canaries beside its congestors",
    points=points,
    make=make,
    rows=rows,
    text=Page(lambda: (files("odonata.reproduce.congestion") / "control.md").read_text("utf-8"), _of_rows, _of_runs),
    keep=keep,
)
