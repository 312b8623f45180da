"""`study.toml` of a latency-load study: machine, times, and the loads of each traffic.

`full` and `reduced` each have a `system` (a dragonfly that the rest of the table `[system]` completes), `warm_up`,
`horizon` and, under `loads`, the percentages of each traffic. `models` are the routings, `traffics` the patterns.
`buffers` are further sizes of all input buffers, with which minimal routing is simulated under the full load of uniform
traffic.
"""

from __future__ import annotations

import json
import textwrap
import tomllib
from typing import Any

from odonata.errors import InputError
from odonata.reproduce.latency_load.checks import BIASED
from odonata.reproduce.latency_load.load_case import LoadCase


def read_loads(text: str, file: str, reduced: bool) -> list[LoadCase]:
    """The cases in the order of traffic, routing, load. Raises InputError for what is missing."""
    study = tomllib.loads(text)
    try:
        return _cases(study, study["reduced" if reduced else "full"])
    except KeyError as problem:
        raise InputError(f"{problem} is missing or not defined", file=file) from None


def _cases(study: dict[str, Any], form: dict[str, Any]) -> list[LoadCase]:
    machine = {**study["system"], **form["system"]}
    nodes = machine["groups"] * machine["routers"] * machine["nodes_per_router"]

    def case(model: str, traffic: str, percent: float, buffer: str = "") -> LoadCase:
        return LoadCase(
            model=model,
            traffic=traffic,
            percent=percent,
            nodes=nodes,
            machine=json.dumps(machine),
            routing=json.dumps(study["models"][model]["routing"]),
            app=json.dumps({"pattern": study["traffics"][traffic], "message": study["message"]}),
            warm_up=form["warm_up"],
            horizon=form["horizon"],
            seed=study["seed"],
            buffer=buffer,
        )

    curves = [
        case(model, traffic, percent)
        for traffic, loads in form["loads"].items()
        for model in study["models"]
        for percent in loads
    ]
    return curves + [case("minimal", "uniform", 100, buffer) for buffer in form.get("buffers", ())]


def machine_words(text: str) -> str:
    """The machine and the times of the full form, for the page."""
    study = tomllib.loads(text)
    form, fabric = study["full"], study["system"]["fabric"]
    shape = form["system"]
    p, a, h, g = (shape[key] for key in ("nodes_per_router", "routers", "global_links_per_router", "groups"))
    links = ", ".join(f"{name} {link['latency']}" for name, link in fabric["links"].items())
    one = fabric["links"]["node"]
    words = (
        f"The machine has {g * a * p:,} nodes: p = {p} nodes a router, a = {a} routers a group, h = {h} global links a "
        f"router, g = {g} groups, one cable between each two ({study['system']['arrangement']} arrangement). All links "
        f"carry {one['bandwidth']}; latencies: {links}; a router decides after {fabric['router_delay']}; "
        f"{fabric['channels']} virtual channels with {one['buffer']} each. Every node sends messages of "
        f"{study['message']}, one packet, at exponential intervals; what happens from {form['warm_up']} to "
        f"{form['horizon']} counts. Routings have their defaults; adaptive ones sense backlogs; "
        f"`{BIASED}` has a bias."
    )
    return textwrap.fill(words, 120, break_long_words=False)
