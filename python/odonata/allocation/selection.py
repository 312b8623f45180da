"""Nodes for a job on a real cluster: the idle nodes, the switches, and a placement policy that chooses among them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from odonata import placement
from odonata.allocation.neighbours import neighbours
from odonata.errors import InputError, nearest, shortened, unknown
from odonata.placement.policy import COUNT
from odonata.queue.hosts import fold
from odonata.queue.slurm import commands
from odonata.queue.snapshot import read_nodes, read_queue
from odonata.queue.topology import flat, parse_topology, read_topology

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path
    from typing import Any

    from odonata.queue.listing import File
    from odonata.queue.records import Job, Node
    from odonata.queue.topology import Topology


@dataclass(frozen=True)
class Selection:
    """The nodes that a policy chose, and why."""

    nodes: list[str]
    """In the order of the ranks."""
    reason: str
    policy: str
    idle: int
    """Idle nodes of the cluster (of the partition), these among them."""
    groups: list[str]
    """Groups of leaf switches that the job is on."""
    leaves: int
    """Leaf switches that the job is on."""
    neighbours: float
    """Nodes of other jobs that send through these leaf switches: mean of the nodes of the job."""

    @property
    def nodelist(self) -> str:
        """The nodes as `sbatch -w` takes them, ascending."""
        return fold(self.nodes)

    def hostfile(self, ranks_per_node: int = 1) -> str:
        """The nodes for `SLURM_HOSTFILE`.

        Parameters
        ----------
        ranks_per_node
            Ranks on each node, next to each other.

        Returns
        -------
        str
            A line for each rank, in the order of the ranks.
        """
        return "".join(f"{node}\n" * ranks_per_node for node in self.nodes)


@dataclass(frozen=True)
class Cluster:
    """What a selection needs to know of a cluster."""

    topology: Topology
    idle: frozenset[str]
    jobs: list[Job]
    nodes: frozenset[str]
    """Nodes that a job may get once they are idle: without those that are drained or down."""


def policies() -> list[str]:
    """The policies that can choose nodes on a real cluster.

    Left out are those that name their nodes themselves, the layouts of one machine, and those that look at links.
    """
    named = {"explicit", *placement.LAYOUTS, "nearest", "least-cut"}
    return [name for name in placement.names() if name not in named]


def select(
    nodes: int | None = None,
    place: str = "level-spread",
    *,
    queue: File | None = None,
    nodes_file: File | None = None,
    topology: str | Path | None = None,
    partition: str | None = None,
    options: Mapping[str, Any] | None = None,
) -> Selection:
    """Select idle nodes for a job by a placement policy.

    Without any file, Slurm is queried. With `queue` or `nodes_file`, nodes come from the files alone: without
    `nodes_file`, those nodes of the topology are idle that no job in the queue holds.

    Parameters
    ----------
    nodes
        How many nodes; not needed by policies that count themselves (`per-leaf`).
    place
        The policy (`odonata.placements`).
    queue
        A file (see `odonata.cluster.read_queue`).
    nodes_file
        A file with the nodes (see `odonata.cluster.read_nodes`).
    topology
        `topology.conf`, or what `scontrol show topology` prints.
    partition
        Only nodes of this partition.
    options
        Options of the policy, as in a scenario.

    Returns
    -------
    Selection

    Raises
    ------
    InputError
        For files that cannot be read or do not fit together, an unknown policy, and if too few nodes are idle.
    RunError
        If a command of Slurm fails.
    """
    return choose(
        observe(queue=queue, nodes_file=nodes_file, topology=topology, partition=partition), nodes, place, options
    )


def observe(
    *,
    queue: File | None = None,
    nodes_file: File | None = None,
    topology: str | Path | None = None,
    partition: str | None = None,
) -> Cluster:
    """The cluster as it is now, or as the files say. Parameters and errors as for `select`."""
    from_files = queue is not None or nodes_file is not None
    if from_files and topology is None and nodes_file is None:
        raise InputError(
            "a queue alone does not say which nodes there are", hint="give --topology FILE or --nodes-file FILE too"
        )
    switches: Topology | None
    if topology is not None:
        switches = read_topology(topology)
    else:
        text = "" if from_files else commands.topology()
        # A cluster without switches prints nothing, or that there are none.
        switches = parse_topology(text) if "Name=" in text else None
    listed = read_nodes(nodes_file) if nodes_file is not None or not from_files else None
    jobs = read_queue(queue) if queue is not None or not from_files else []
    if listed is None:
        assert switches is not None  # there is a file, see above
        if partition is not None:
            raise InputError("the partitions of the nodes are not known", hint="give --nodes-file FILE too")
        occupied = {name for job in jobs for name in job.nodes}
        nodes = frozenset(switches.nodes)
        _check_names(occupied, nodes)
        return Cluster(switches, nodes - occupied, jobs, nodes)
    if partition is not None:
        listed = _in_partition(listed, partition)
    # A file of the queue may be newer than that of the nodes.
    occupied = {name for job in jobs for name in job.nodes} if from_files else set()
    _check_names(occupied, frozenset(node.name for node in listed))
    idle = frozenset(node.name for node in listed if node.idle and node.name not in occupied)
    if switches is None:
        switches = flat(node.name for node in listed)
    elif not any(node.name in switches.ids for node in listed):
        raise InputError(
            f"the topology has none of the nodes of the cluster, such as `{listed[0].name}`; it has nodes such as "
            f"`{switches.nodes[0]}`"
        )
    return Cluster(switches, idle, jobs, frozenset(node.name for node in listed if not node.drained))


def _check_names(occupied: set[str], nodes: frozenset[str]) -> None:
    """Raises InputError if jobs run, and on no node that is known: names with and without a domain, for example."""
    if occupied and nodes and not occupied & nodes:
        example = min(occupied)
        near = nearest(example, nodes) or min(nodes)
        raise InputError(
            f"no node of the queue, such as `{shortened(example, 60)}`, is among the nodes of the cluster, such as "
            f"`{shortened(near, 60)}`",
            hint="both files must name nodes in the same way",
        )


def choosing(place: str) -> str:
    """The name of a policy that can choose nodes on a real cluster. Raises InputError for any other."""
    policy = placement.get(place)
    if policy.name not in policies():
        error = unknown("policy for a real cluster", policy.name, policies())
        raise InputError(
            f"`{policy.name}` names nodes by number; a cluster needs a policy that chooses", hint=error.hint
        )
    return policy.name


def choose(cluster: Cluster, nodes: int | None, place: str, options: Mapping[str, Any] | None = None) -> Selection:
    """Nodes of a cluster by a policy. Raises InputError as `select`."""
    policy = choosing(place)
    topology = cluster.topology
    ids = topology.ids
    owners = {ids[name]: job.id for job in cluster.jobs if job.running for name in job.nodes if name in ids}
    idle = {ids[name] for name in cluster.idle if name in ids}
    unusable = [node for node in range(topology.shape.nodes) if node not in idle and node not in owners]
    busy = [node for node in owners if node not in idle]

    def place_in(part: frozenset[int]) -> placement.Placement:
        outside = [node for node in range(topology.shape.nodes) if node not in part]
        mine = {node: job for node, job in owners.items() if node in part}
        placer = placement.Placer(topology.shape, [n for n in busy if n in part], mine, [*unusable, *outside])
        return placer.place(policy, nodes, options)

    answer = _in_one_fabric(topology, idle, nodes, place_in)
    names = {number: name for name, number in ids.items()}
    shape = topology.shape
    groups = Counter(map(shape.group_of, answer.nodes))
    return Selection(
        nodes=[names[number] for number in answer.nodes],
        reason=f"{answer.reason}; {_room(topology, groups, Counter(map(shape.group_of, idle)))}",
        policy=policy,
        idle=len(idle),
        groups=[topology.group_name(group) for group in sorted(groups)],
        leaves=len(set(map(shape.router_of, answer.nodes))),
        neighbours=neighbours(
            answer.nodes,
            ([ids[name] for name in job.nodes if name in ids] for job in cluster.jobs if job.running),
            shape.router_of,
        ),
    )


def _in_one_fabric(
    topology: Topology, idle: set[int], nodes: int | None, place_in: Callable[[frozenset[int]], placement.Placement]
) -> placement.Placement:
    """Nodes of one fabric, of that with the most idle nodes in which the policy finds some."""
    parts = sorted(topology.parts, key=lambda part: -len(part & idle))
    most = len(parts[0] & idle)
    if nodes is not None and nodes > most and len(parts) > 1:
        raise InputError(
            f"{nodes:,} nodes do not fit: no fabric has more than {most:,} idle",
            hint=f"no switch joins the {len(parts)} fabrics of the topology, and Slurm starts no job on several",
        )
    refused: InputError | None = None
    for part in parts:
        if nodes is not None and nodes > len(part & idle) and refused is not None:
            break
        try:
            return place_in(part)
        except InputError as e:
            if e.path == COUNT and nodes is not None and nodes > len(part & idle):
                e = InputError(f"{nodes:,} nodes do not fit: only {len(part & idle):,} are idle", hint=e.hint)
            refused = refused or e
    assert refused is not None
    raise refused from None


def _room(topology: Topology, taken: Mapping[int, int], idle: Mapping[int, int]) -> str:
    """How many idle nodes the groups of the job have."""
    if len(taken) > 1:
        return f"{len(taken)} of {len(topology.groups)} groups, which have {sum(idle[g] for g in taken):,} idle nodes"
    [group] = taken
    most = "" if len(topology.groups) == 1 or idle[group] < max(idle.values()) else ", the most"
    return f"group {group} (`{topology.group_name(group)}`) has {idle[group]:,} idle nodes{most}"


def _in_partition(nodes: Iterable[Node], partition: str) -> list[Node]:
    nodes = list(nodes)
    members = [node for node in nodes if partition in node.partitions]
    if not members:
        known = {name for node in nodes for name in node.partitions}
        if not known:
            raise InputError("the file of the nodes does not say their partitions")
        raise unknown("partition", partition, known)
    return members
