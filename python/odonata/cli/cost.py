"""The text and the JSON of `odonata show SYSTEM --cost`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from odonata import units
from odonata.machine.cost import cost
from odonata.text import aligned, terminal_width

if TYPE_CHECKING:
    from odonata.machine import System


def facts(system: System) -> dict[str, Any]:
    """What a machine needs, as JSON prints it. Bandwidths are bytes per second."""
    of = cost(system)
    return {
        "kind": "cost",
        "name": system.name,
        "title": system.title,
        "nodes": of.nodes,
        "switches": [
            {"kind": kind.kind, "count": kind.count, "fewest_ports": kind.ports[0], "most_ports": kind.ports[1]}
            for kind in of.switches
        ],
        "switches_in_all": of.switches_in_all,
        "radix": of.radix,
        "cables": [
            {"class": cable.name, "count": cable.count, "bandwidth": _per_second(cable.bandwidth)}
            for cable in of.cables
        ],
        "cables_in_all": of.cables_in_all,
        "ports": of.ports,
        "per_node": {
            "switches": of.per_node(of.switches_in_all),
            "cables": of.per_node(of.cables_in_all),
            "ports": of.per_node(of.ports),
        },
        "bisection": None
        if of.bisection is None
        else {
            "bandwidth": _per_second(of.bisection),
            "between": of.halves,
            "share_of_nics": of.bisection / of.sent,
        },
    }


def _per_second(bandwidth: int) -> float:
    return bandwidth / 1e6


def text(facts: dict[str, Any]) -> str:
    """The facts as text."""
    nodes = facts["nodes"]
    rows = [["", "number", "per node", ""]]
    rows += [
        _row(f"switches: {of['kind']}", of["count"], nodes, _ports(of, facts["radix"])) for of in facts["switches"]
    ]
    if len(facts["switches"]) > 1:
        rows.append(_row("switches in all", facts["switches_in_all"], nodes, ""))
    rows += [_row(f"cables: {of['class']}", of["count"], nodes, _bandwidth(of["bandwidth"])) for of in facts["cables"]]
    rows.append(_row("cables in all", facts["cables_in_all"], nodes, ""))
    rows.append(_row("ports of switches in use", facts["ports"], nodes, ""))
    title = f": {facts['title']}" if facts["title"] else ""
    lines = [f"{facts['name']}{title}", f"{nodes:,} nodes", ""]
    lines += aligned(rows, [False, True, True, False], indent="  ", width=terminal_width())
    if (across := facts["bisection"]) is not None:
        share = f"{across['share_of_nics']:.0%}".replace("%", " %")
        lines += [
            "",
            f"bisection, between {across['between']}: {_bandwidth(across['bandwidth'])} each way, {share} of what the "
            "NICs of the smaller half send",
        ]
    return "\n".join(lines)


def _row(what: str, count: int, nodes: int, more: str) -> list[str]:
    return [what, f"{count:,}", f"{count / nodes:.3g}", more]


def _ports(of: dict[str, Any], radix: int | None) -> str:
    least, most = of["fewest_ports"], of["most_ports"]
    used = f"{most}" if least == most else f"{least} to {most}"
    return f"{used} {f'of {radix} ' if radix is not None else ''}ports in use"


def _bandwidth(per_second: float) -> str:
    return units.format_bandwidth(round(per_second * 1e6), 3)
