"""`odonata place`: the nodes that a policy gives to a job."""

import json as json_module
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter, validators

from odonata.cli.arguments import policy_options
from odonata.cli.completion import policies, systems
from odonata.errors import InputError

if TYPE_CHECKING:
    from odonata.machine import System


def place(
    *,
    system: Annotated[str, Parameter(completer=systems, metavar="SYSTEM")],
    policy: Annotated[str, Parameter(completer=policies, metavar="POLICY")],
    nodes: Annotated[int | None, Parameter(name=["--nodes", "-N"])] = None,
    busy: str = "",
    set_: Annotated[list[str] | None, Parameter(name=["--set", "-s"], negative=())] = None,
    groups: str | None = None,
    seed: Annotated[int | None, Parameter(validator=validators.Number(gte=0))] = None,
    nodelist: Annotated[bool, Parameter(negative=())] = False,
    prefix: str | None = None,
    json: Annotated[bool, Parameter(negative=())] = False,
) -> int:
    """Select nodes by a placement policy.

    Parameters
    ----------
    system
        The machine: a name (`odonata show systems`), its TOML file, or the TOML file of a scenario.
    policy
        The policy or fixed layout (`odonata show placements`), or an acronym of the literature such as `RDG`.
    nodes
        Number of nodes; not needed by policies that name them.
    busy
        Nodes that are taken, such as `0-15,40`.
    set_
        An option of the policy, as in `-s per_leaf=2`.
    groups
        The policy's option `groups`, such as `3-8`.
    seed
        The policy's option `seed`.
    nodelist
        Print one line for Slurm, such as `node[0000-0015]`, ascending.
    prefix
        Prefix of the node names in that line (default: `node`).
    json
        Print one JSON object, with the number of routers and groups of the job, and the free nodes that remain.
    """
    from odonata import placement, scenario

    if prefix is not None and not (nodelist or json):
        raise InputError("--prefix goes with --nodelist or --json")
    loaded = scenario.system(system)
    options = policy_options(set_ or [], groups, seed)
    policy = placement.get(policy).name
    placed = placement.Placer(loaded, busy).place(policy, nodes, options)
    line = host_list(placed.nodes, loaded.shape.nodes, prefix or "node")
    if json:
        shape = loaded.shape
        answer = {
            "system": loaded.name,
            "policy": policy,
            "nodes": placed.nodes,
            "reason": placed.reason,
            "nodelist": line,
            "routers": len(set(map(shape.router_of, placed.nodes))),
            "groups": len(set(map(shape.group_of, placed.nodes))),
            "left": _left(loaded, busy, placed.nodes),
        }
        print(json_module.dumps(answer))
    elif nodelist:
        print(line)
    else:
        print(f"{policy}: {placed.reason}")
        print(placement.format_ids(placed.nodes))
    return 0


def _left(system: "System", busy: str, nodes: list[int]) -> dict[str, Any]:
    """The nodes that remain free, and how scattered they are."""
    from dataclasses import asdict

    from odonata.placement import fragmentation, parse_ids

    gone = {*parse_ids(busy), *nodes, *system.unusable_nodes}
    return asdict(fragmentation(system.shape, (node for node in range(system.shape.nodes) if node not in gone)))


def host_list(nodes: list[int], machine_nodes: int, prefix: str = "node") -> str:
    """Nodes as Slurm writes them, ascending: `node[0000-0015,0040]`, as wide as the largest id."""
    from odonata.placement.ids import runs

    width = len(str(machine_nodes - 1))
    parts = [f"{a:0{width}}" if a == b else f"{a:0{width}}-{b:0{width}}" for a, b in runs(sorted(nodes))]
    if len(nodes) == 1:
        return f"{prefix}{parts[0]}"
    return f"{prefix}[{','.join(parts)}]"
