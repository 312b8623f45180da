"""`odonata cluster import`: the network of a real cluster becomes a system file."""

import json as json_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from odonata.cli.cluster_options import Flag, FromOne, Json, Out
from odonata.cli.completion import systems
from odonata.errors import InputError
from odonata.text import aligned

if TYPE_CHECKING:
    from odonata.recognition.recognise import Recognised


def import_(
    file: Path,
    /,
    *,
    out: Out = None,
    names: Path | None = None,
    node_name_map: Path | None = None,
    like: Annotated[str | None, Parameter(completer=systems, metavar="SYSTEM")] = None,
    rails: FromOne | None = None,
    graph: Flag = False,
    force: Flag = False,
    json: Json = False,
) -> int:
    """Make a system file of the network of a real cluster.

    Dragonfly+, dragonfly and cascade are recognised with the cabling that is there: what is missing has failed, and
    cables that follow no rule are listed. Other topologies are refused, unless `--graph` takes them as graphs. The
    command prints what it recognised, and what the file does not say and so is assumed.

    Parameters
    ----------
    file
        What describes the network, recognised by its content: the output of `ibnetdiscover`, `scontrol show topology`
        or `rtr --interconnect`, `topology.conf` or `topology.yaml`, a point-to-point file of Slingshot, a map of nodes
        (CSV), or GraphML.
    out
        The system file to write (`.toml`). Without it, nothing is written.
    names
        Also write which host is which node, and which switch which router, as CSV.
    node_name_map
        With the output of `ibnetdiscover`: a file with the names of GUIDs, as its option of this name takes it.
    like
        The system that gives what the file does not (default: a preset of the same kind). A file without cables takes
        the kind and the cables from it.
    rails
        NICs of a node, in place of those of --like, for a file without cables.
    graph
        Import the fabric as a graph machine, with its switches, hosts and cables as they are, whatever kind it is.
    force
        Overwrite files that say something else.
    """
    from odonata import files
    from odonata.recognition import import_fabric, system_file

    if out is not None and out.suffix != ".toml":
        raise InputError(f"`{out}`: expected a file name that ends in .toml")
    for path in (out, names):
        if path is not None and not path.parent.is_dir():
            raise InputError(f"there is no folder `{path.parent}`")
    recognised = import_fabric(file, node_name_map=node_name_map, like=like, rails=rails, graph=graph)
    if out is not None:
        files.write_new(out, system_file.toml(recognised).encode(), force=force)
    if names is not None:
        files.write_new(names, system_file.names(recognised).encode(errors="replace"), force=force)
    if json:
        print(json_module.dumps(_as_json(recognised)))
        return 0
    print(_text(recognised))
    if out is None:
        print("\nnothing is written; -o FILE.toml writes the system file")
    else:
        print(f"\n{out} written; `odonata show {out}` prints it")
    return 0


def _as_json(recognised: "Recognised") -> dict[str, Any]:
    system = recognised.system()
    wired = system.describe()
    failed = recognised.table.get("failed", {})
    return {
        "file": recognised.file,
        "format": recognised.format,
        "topology": recognised.table["kind"],
        "nodes": wired["nodes"],
        "hosts": sum(name is not None for name in recognised.nodes),
        "routers": wired["routers"],
        "groups": wired["groups"],
        "links": wired["links"],
        "arrangement": recognised.table.get("arrangement"),
        "failed": {key: failed.get(key, []) for key in ("links", "routers", "nodes")},
        "assumed": [{"key": key, "value": value, "source": source} for key, value, source in recognised.assumed],
        "notes": recognised.notes,
        "system": recognised.table,
    }


def _text(recognised: "Recognised") -> str:
    lines = [f"{recognised.file} ({recognised.format})", "", *aligned(recognised.facts, indent="  ")]
    if recognised.notes:
        lines += ["", "notes", *(f"  {note}" for note in recognised.notes)]
    if recognised.assumed:
        lines += ["", "not in the file, so assumed (the system file can be changed)"]
        lines += aligned(
            [(key, value, text.removeprefix("assumed: ")) for key, value, text in recognised.assumed], indent="  "
        )
    return "\n".join(lines)
