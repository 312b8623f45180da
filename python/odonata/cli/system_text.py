"""The text of `odonata show SYSTEM`."""

from __future__ import annotations

import textwrap
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from odonata.machine.measured_slowdowns import HEAD, MeasuredSlowdown, measured_slowdowns
from odonata.machine.terms import CLASSES_WITHOUT_BLAME
from odonata.text import aligned, terminal_width

if TYPE_CHECKING:
    from odonata.machine import System


def summary(system: System) -> str:
    """One line for the list of machines: its size and its title."""
    shape, routers = system.shape, system.table.routers_in_all()
    groups = f"{shape.groups:>3} {system.table.group_name}s"
    return f"{shape.nodes:>6,} nodes {routers:>6,} routers {groups:<10}  {system.title}"


def facts(system: System) -> dict[str, Any]:
    """Everything about a machine, as JSON prints it."""
    from odonata import machine

    wired = system.describe()
    described = {
        "kind": "system",
        "name": system.name,
        "title": system.title,
        "topology": system.table.kind,
        "nodes": wired["nodes"],
        "routers": wired["routers"],
        "groups": wired["groups"],
        "group_name": wired["group_name"],
        "links": wired["links"],
        "links_per_pair": wired["links_per_pair"],
        "router": system.table.fabric.router_text,
        **({"nic": nic} if (nic := system.table.fabric.nic_text) else {}),
        **({"congestion_control": control} if (control := system.table.fabric.congestion_text) else {}),
        **({"traffic_classes": classes} if (classes := system.table.fabric.classes_text) else {}),
        **({"without_blame": CLASSES_WITHOUT_BLAME} if system.table.fabric.traffic_classes else {}),
        **({"limits": [str(limit) for limit in system.limits]} if system.limits else {}),
        **({"assumed_host": text} if (text := system.assumed_host) else {}),
        **({"gpus": host.gpu.text} if (host := system.table.host) and host.gpu else {}),
        "facts": dict(system.table.facts()),
        "measured": system.measured,
        **({"held": [asdict(of) for of in measured]} if (measured := measured_slowdowns(system.name)) else {}),
        **({"not_modelled": list(missing)} if (missing := system.table.not_modelled) else {}),
    }
    if variants := machine.variants(system.name):
        described["variants"] = variants
    if system.failures or system.unusable_nodes:
        described["failed"] = {
            "links": len(system.failures.get("links", ())),
            "routers": len(system.failures.get("routers", ())),
            "unusable_nodes": list(system.unusable_nodes),
        }
    numbers = [{"key": s.key, "value": s.value, "source": s.origin, "confidence": s.confidence} for s in system.sources]
    return described | {"numbers": numbers, **_by_size(system)}


#: Costs of the host by size: key of `[host]` -> title.
BY_SIZE = {
    "by_size": "costs of the host by size of the message (CPU times; in the delay no CPU works)",
    "reduce_by_size": "rates of reductions by size of the vector",
}


def _by_size(system: System) -> dict[str, Any]:
    host = system.table.host
    tables = {} if host is None else host.model_dump(mode="json", include=set(BY_SIZE))
    return {f"host_{key}": rows for key, rows in tables.items() if rows}


def text(facts: dict[str, Any]) -> str:
    """The facts as text."""
    rows = [
        ("topology", facts["topology"]),
        ("nodes", f"{facts['nodes']:,}"),
        ("routers", f"{facts['routers']:,}"),
        (facts["group_name"] + "s", f"{facts['groups']:,}"),
        ("links", ", ".join(f"{count:,} {name}" for name, count in facts["links"].items())),
        ("router", facts["router"]),
        *((("nic", facts["nic"]),) if "nic" in facts else ()),
        *((("congestion control", facts["congestion_control"]),) if "congestion_control" in facts else ()),
        *((("traffic classes", facts["traffic_classes"]),) if "traffic_classes" in facts else ()),
        *((("GPUs of a node", facts["gpus"]),) if "gpus" in facts else ()),
        *facts["facts"].items(),
    ]
    rows.append(("held against measurements", facts["measured"] or "not stated"))
    if "variants" in facts:
        rows.append(("variants", ", ".join(facts["variants"])))
    if "failed" in facts:
        rows.append(("failed", _failed(facts["failed"]) + "; the rows above are of the machine without failures"))
    title = f": {facts['title']}" if facts["title"] else ""
    lines = [f"{facts['name']}{title}", "", *aligned(rows, indent="  ", width=terminal_width())]
    if "held" in facts:
        cells = [list(HEAD), *(MeasuredSlowdown(**of).cells() for of in facts["held"])]
        lines += ["", "measured slowdowns that it was held against; of others the error is not known"]
        lines += aligned(cells, indent="  ", width=terminal_width())
    if "not_modelled" in facts:
        lines += ["", "what the model leaves out", *(f"  {sentence}" for sentence in facts["not_modelled"])]
    if said := [*facts.get("limits", ()), *filter(None, [facts.get("without_blame"), facts.get("assumed_host")])]:
        lines += ["", "to know before a run", *(line for sentence in said for line in _paragraph(sentence))]
    lines += ["", "numbers and their sources (any of them can be overridden in [system])"]
    table = [[n["key"], n["value"], n["confidence"] or "", n["source"]] for n in facts["numbers"]]
    if any(row[2] for row in table):
        lines[-1] = "numbers, their confidence and their sources (any of them can be overridden in [system])"
    else:
        table = [[row[0], row[1], row[3]] for row in table]
    lines += aligned(table, indent="  ", width=terminal_width())
    for key, title in BY_SIZE.items():
        if sizes := facts.get(f"host_{key}"):
            cells = [list(sizes[0]), *(list(size.values()) for size in sizes)]
            lines += ["", title, *aligned(cells, indent="  ", width=terminal_width())]
    return "\n".join(lines)


def _paragraph(sentence: str) -> list[str]:
    """A sentence in lines that fit the terminal."""
    width = terminal_width()
    indent = "  "
    return (
        [indent + sentence]
        if width is None
        else textwrap.wrap(
            sentence,
            width,
            initial_indent=indent,
            subsequent_indent=2 * indent,
            break_long_words=False,
            break_on_hyphens=False,
        )
    )


def _failed(failed: dict[str, Any]) -> str:
    parts = [_count(failed["links"], "cable"), _count(failed["routers"], "router")]
    nodes = _count(len(failed["unusable_nodes"]), "node")
    lost = ", ".join(part for part in parts if part)
    return "; ".join(part for part in (lost, f"{nodes} cannot be used" if nodes else "") if part)


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}" if number else ""
