"""The text and the JSON of `odonata design`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from odonata.machine.cost import cost
from odonata.text import Table, columns

if TYPE_CHECKING:
    from collections.abc import Sequence

    from odonata.machine.design import Designed, Wanted


def facts(wanted: Wanted, bandwidth: str, machines: Sequence[Designed], kinds: Sequence[str]) -> dict[str, Any]:
    """The machines, as JSON prints them."""
    from odonata.machine.design.machine import SEARCHES

    made = [of.kind for of in machines]
    return {
        "kind": "design",
        "nics": wanted.nics,
        "nics_per_node": wanted.nics_per_node,
        "radix": wanted.radix,
        "taper": float(wanted.taper),
        "bandwidth": bandwidth,
        "machines": [_machine(of) for of in machines],
        "without": [kind for kind in kinds or SEARCHES if kind not in made],
    }


def _machine(of: Designed) -> dict[str, Any]:
    needs = cost(of.system)
    return {
        "kind": of.kind,
        "shape": of.design.shape,
        "routing": routing(of),
        "nodes": needs.nodes,
        "nics": of.design.nics,
        "switches": needs.switches_in_all,
        "ports_per_nic": needs.ports / of.design.nics,
        "cables": {cable.name: cable.count for cable in needs.cables},
        "cables_between_switches": of.design.links,
        "switches_on_longest_path": of.switches_on_the_way,
        "bisection": None if needs.bisection is None else needs.bisection / needs.sent,
    }


def routing(of: Designed) -> str:
    """The routing of scenarios that name none."""
    from odonata.scenario.job_routings import default_of

    return default_of(of.system)[0]


def text(facts: dict[str, Any]) -> str:
    """The facts as text."""
    nodes = "" if facts["nics_per_node"] == 1 else f" on nodes of {facts['nics_per_node']}"
    taper = f"{facts['taper']:g}:1"
    rows = [
        [
            of["kind"],
            f"{of['nics']:,}",
            f"{of['switches']:,}",
            f"{of['cables_between_switches']:,}",
            f"{of['ports_per_nic']:.2f}",
            str(of["switches_on_longest_path"]),
            "-" if of["bisection"] is None else f"{of['bisection']:.0%}".replace("%", " %"),
        ]
        for of in facts["machines"]
    ]
    names = ["", "NICs", "switches", "cables between", "ports a NIC", "longest path", "bisection"]
    title = f"{facts['nics']:,} NICs{nodes}, switches of {facts['radix']} ports, taper {taper}, {facts['bandwidth']}"
    lines = [title, "", *Table(columns(names), rows).lines(), ""]
    lines += [f"{of['kind']}: {_shape(of)}; routing {of['routing']}" for of in facts["machines"]]
    lines += [f"{kind}: none has so many NICs with switches of {facts['radix']} ports" for kind in facts["without"]]
    lines += [
        "",
        "cables between: between switches; ports a NIC: of switches, in use; longest path: switches on it; bisection: "
        "of what half of the NICs send",
    ]
    return "\n".join(lines)


def _shape(of: dict[str, Any]) -> str:
    of_shape = {key: value for key, value in of["shape"].items() if key not in ("spread", "rails", "rails_on")}
    return ", ".join(f"{key} = {value}" for key, value in of_shape.items())
