"""A fabric of no known kind as a graph machine: its switches, hosts and cables as they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from odonata import graphs, machine, units
from odonata.graphs.fabric import count
from odonata.graphs.wired import Speed
from odonata.recognition.recognise import LIKE, OPTIONAL, Recognised, as_in, checked, facts_of, filled

if TYPE_CHECKING:
    from odonata.errors import InputError
    from odonata.graphs.fabric import Fabric

#: What is said of a fabric that is refused, where this is the remedy.
OFFER = "--graph imports it as a graph machine, with its switches, hosts and cables as they are"


def offered(error: InputError, fabric: Fabric) -> InputError:
    """A refusal of a fabric of no known kind, with the offer to take it as a graph if that could be."""
    if not fabric.nics or not fabric.links:
        return error
    return error.but(hint=f"{error.hint}; {OFFER}" if error.hint else OFFER)


def graph_of(fabric: Fabric, file: str, like: str | None = None) -> Recognised:
    """The machine of a fabric as a graph. Raises InputError for hosts that differ, or links of too many kinds."""
    base = machine.load(like or LIKE["fat-tree"])
    usual = base.table.fabric.links
    between = next((name for name in base.table.own_classes if name != "node"), "node")
    speeds = {name: Speed(usual[of].bandwidth, usual[of].latency) for name, of in (("node", "node"), ("link", between))}
    wired = graphs.wire(fabric, speeds)
    origin = f"in {file} (confidence: high)"
    stated = {
        "node": [(nic.bandwidth, nic.latency) for nic in fabric.nics],
        "link": [(link.bandwidth, link.latency) for link in fabric.links],
    }
    numbers = base.document()["fabric"]
    numbers = {key: value for key, value in numbers.items() if key not in ("links", "channels", *OPTIONAL)}
    numbers["links"] = {}
    if wired.rails == 1:
        numbers.get("nic", {}).pop("rail", None)
    fabric_table, sources = filled("fabric", numbers, (), base)
    for name, speed in wired.speeds.items():
        of = "node" if name == "node" else "link"
        fabric_table["links"][name] = {}
        for at, (key, text) in enumerate((("bandwidth", units.format_bandwidth), ("latency", units.format_time))):
            fabric_table["links"][name][key] = text(speed[at] or 0)
            given = all(values[at] is not None for values in stated[of])
            of_class = f"its class `{'node' if of == 'node' else between}`"
            sources[f"fabric.links.{name}.{key}"] = origin if given else as_in(base.name, of_class)
    table: dict[str, Any] = {
        "kind": "graph",
        "title": f"imported from {file}",
        "links": wired.links,
        "nics": wired.nics,
    }
    table |= {"rails": wired.rails} if wired.rails > 1 else {}
    table |= {"router_names": wired.routers, "node_names": wired.nodes, "fabric": fabric_table}
    # One switch has no links to others.
    sources |= dict.fromkeys((key for key in table if table[key] and key not in ("kind", "title", "fabric")), origin)
    failed = {"links": wired.failed_links, "routers": wired.failed_routers}
    if any(failed.values()):
        table["failed"] = {key: values for key, values in failed.items() if values}
        sources |= {f"failed.{key}": origin for key in table["failed"]}
    table["host"], of_host = filled("host", dict(base.document()["host"]), (), base)
    how = "no groups, shortest paths, without a check whether it is of a known kind"
    notes = [f"the fabric is taken as a graph (--graph): {how}"]
    notes += fabric.notes
    if fabric.unnamed:
        notes.append(f"{count(len(fabric.unnamed), 'link')} to hosts without a name: left out")
    result = Recognised(
        file, fabric.format, table, sources | of_host, [], notes, list(wired.nodes), list(wired.routers)
    )  # fmt: skip
    checked(result)
    result.facts = facts_of(result, "none: a graph is one group")
    return result
