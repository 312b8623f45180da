"""The machines and the background of the studies for De Sensi 2019."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from odonata.reproduce.desensi2019.mix import KINDS, production
from odonata.reproduce.desensi2019.surroundings import Around

if TYPE_CHECKING:
    from collections.abc import Mapping

PACKET = "1 KiB"
"""Bursts of 16 packets of Aries. docs/machines.md states their error; single packets would cost 16 times as much."""
LOAD = 10.0
"""Background, in percent of what the cables between groups would carry if all of it took minimal paths. Assumed: the
paper does not state the load of its machines."""
PRODUCTION_LOAD = 40.0
"""The same of the jobs of a production machine: chosen by figure 3 (`distances.chosen`; a test compares both)."""
UNIFORM, BURSTS, PRODUCTION = "uniform", "bursts", "production"
BACKGROUNDS: dict[str, dict[str, str]] = {
    UNIFORM: {"pattern": "uniform-random", "message": "64 KiB"},
    BURSTS: {"pattern": "group-shift", "message": "1 MiB"},
    PRODUCTION: {"pattern": "uniform-random", "message": "64 KiB"},
}
"""What the background's nodes send, as a Poisson process: to random nodes, or from each group to the next one in long
bursts, which overload the cables between them for some time. `production` has jobs (`mix.py`). Assumed."""
SEND_FROM = "20 us"
"""When the measured jobs begin: the background has settled by then."""

MACHINES: dict[str, dict[str, Any]] = {
    "piz-daint": {"preset": "piz-daint", "groups": 6},
    "cori": {"preset": "cori", "groups": 5},
    "small": {"preset": "piz-daint", "groups": 4, "rows": 2, "columns": 4, "links_per_pair": 6},
}
"""The groups over which the jobs of the paper spread (D23), and the machine of the reduced forms. With all 20 or 34
groups of the machines, a background of the same load costs ten times as much and more."""
NODES = {"piz-daint": 1024, "cori": 768, "small": 48}
"""Nodes of the background. Assumed."""


def around(point: Mapping[str, Any]) -> Around:
    """The machine of a point, with NICs that answer packets, and its background."""
    system = {**MACHINES[point["machine"]], "fabric": {"packet": point["packet"], "nic": "aries"}}
    sends = BACKGROUNDS[point["background"]]
    return Around(system=system, nodes=NODES[point["machine"]], load=point["load"], delay=point["delay"], **sends)


def table(point: Mapping[str, Any], jobs: list[dict[str, Any]]) -> dict[str, Any]:
    """A scenario of these jobs, then the background with the default mode. The run ends with these jobs."""
    surroundings = around(point)
    if point["load"] and point["background"] == PRODUCTION:
        more = production(surroundings.nodes, surroundings.bytes_per_second, point["seed"])
    else:
        more = surroundings.steady(len(jobs), point["seed"])
    made = surroundings.scenario([*jobs, *more], point["seed"])
    made["run"]["until"] = [job["name"] for job in jobs]
    return made


def words(background: str) -> str:
    """What a background sends."""
    if background == PRODUCTION:
        kinds = ", ".join(f"{kind.words} ({100 * kind.share:.0f} % of the bytes)" for kind in KINDS)
        return (
            f"jobs of a mix ({kinds}; `{PRODUCTION}`), which would send as many bytes as a steady background of "
            "the same load on an empty machine, and are placed as Slurm places them (`slurm-dragonfly`)"
        )
    whom = "each other" if background == UNIFORM else "nodes of the next group"
    size = BACKGROUNDS[background]["message"]
    return f"nodes drawn at random that send messages of {size} to {whom} at random times (`{background}`)"
