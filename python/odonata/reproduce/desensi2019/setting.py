"""The machines and the background of the studies for De Sensi 2019."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from odonata.reproduce.aries_modes.runs import Around

if TYPE_CHECKING:
    from collections.abc import Mapping

PACKET = "1 KiB"
"""Bursts of 16 packets of Aries. docs/machines.md states their error; single packets would cost 16 times as much."""
LOAD = 10.0
"""Background, in percent of what the cables between groups would carry if all of it took minimal paths. Assumed: the
paper does not state the load of its machines."""
BACKGROUNDS: dict[str, dict[str, str]] = {
    "uniform": {"pattern": "uniform-random", "message": "64 KiB"},
    "bursts": {"pattern": "group-shift", "message": "1 MiB"},
}
"""What the background's nodes send, as a Poisson process: to random nodes, or from each group to the next one in long
bursts, which overload the cables between them for some time. Assumed."""
SEND_FROM = "20 us"
"""When the measured jobs begin: the background has settled by then."""

MACHINES: dict[str, dict[str, Any]] = {
    "piz-daint": {"preset": "piz-daint", "groups": 6},
    "cori": {"preset": "cori", "groups": 5},
    "small": {"preset": "piz-daint", "groups": 4, "rows": 2, "columns": 4, "links_per_pair": 6},
}
"""The groups over which the jobs of the paper spread (D23), and the machine of the reduced
forms. With all 20 or 34 groups of the machines, a background of the same load costs ten times as much and more."""
NODES = {"piz-daint": 1024, "cori": 768, "small": 48}
"""Nodes of the background, drawn at random. Assumed."""


def around(point: Mapping[str, Any]) -> Around:
    """The machine of a point, with NICs that answer packets, and its background."""
    system = {**MACHINES[point["machine"]], "fabric": {"packet": point["packet"], "nic": "aries"}}
    sends = BACKGROUNDS[point["background"]]
    return Around(system=system, nodes=NODES[point["machine"]], load=point["load"], delay=point["delay"], **sends)


def table(point: Mapping[str, Any], jobs: list[dict[str, Any]]) -> dict[str, Any]:
    """A scenario of these jobs, then the background with the default mode. The run ends with these jobs."""
    made = around(point).scenario(jobs, point["seed"])
    del made["fabric"]  # store-and-forward: here routers cut through, as the presets say
    made["run"]["until"] = [job["name"] for job in jobs]
    return made
