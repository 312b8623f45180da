"""Where the jobs of a real cluster are: the switches and groups that they touch, and with whom they share links.

Only nodes and switches count; what jobs send does not. Two jobs share *global links* if both have nodes in the same two
groups: the minimal paths inside both jobs then cross the same links between these groups.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import asdict, dataclass
from itertools import combinations
from statistics import fmean
from typing import TYPE_CHECKING, Any

from odonata.errors import InputError
from odonata.queue.hosts import fold
from odonata.queue.records import unknown_states
from odonata.queue.snapshot import read_queue
from odonata.queue.topology import read_topology
from odonata.text import Column, Table

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from odonata.queue.listing import File
    from odonata.queue.records import Job
    from odonata.queue.topology import Topology


FEWEST = 2
"""Nodes of the smallest job that uses the network."""


@dataclass(frozen=True)
class Spread:
    """How far nodes are spread over the machine."""

    leaves: int
    """Leaf switches with nodes of the job."""
    groups: int
    """Groups with nodes of the job."""
    pairs: int
    """Pairs of these groups."""
    crossing: float
    """Part of the pairs of nodes that are in different groups: what an all-to-all sends over global links on minimal
    paths."""


@dataclass(frozen=True)
class Allocation:
    """The nodes of a job."""

    job: str
    """Its id."""
    nodes: int
    """Number of its nodes."""
    spread: Spread
    """Where they are."""
    chosen: Spread
    """Where the policy would put so many nodes on the empty machine."""
    beside_leaves: tuple[str, ...]
    """Jobs that share a leaf switch with it."""
    beside_links: tuple[str, ...]
    """Jobs that share global links with it."""


@dataclass(frozen=True)
class Allocations:
    """The jobs of a cluster on its switches."""

    policy: str
    """The policy that they are compared with."""
    jobs: tuple[Allocation, ...]
    """In the order of the file."""
    left_out: dict[str, int]
    """Why jobs were left out -> how many."""
    overlapping: int
    """Jobs with a node in common with another of these."""
    queue: str
    """The jobs as `squeue` lists them: what `odonata cluster snapshot --queue` reads."""

    def as_dict(self) -> dict[str, Any]:
        """The object that `odonata cluster allocations --json` prints.

        Returns
        -------
        dict
            Strings, numbers, lists and dictionaries.
        """
        return {
            "policy": self.policy,
            "jobs": [asdict(job) for job in self.jobs],
            "left_out": self.left_out,
            "overlapping": self.overlapping,
        }

    def __str__(self) -> str:
        from odonata.allocation.allocated import as_text

        return as_text(self)


def allocations(
    topology: str | Path,
    *,
    queue: File | None = None,
    place: str = "level-spread",
    together: bool = False,
) -> Allocations:
    """Say where the running jobs of a cluster are, and with whom they share switches and links.

    Parameters
    ----------
    topology
        `topology.conf`, or what `scontrol show topology` prints.
    queue
        A file (see `odonata.cluster.read_queue`). Default: the queue of Slurm.
    place
        The placement policy that the jobs are compared with, each alone on the empty machine.
    together
        Of jobs that have a node in common, keep only the first: for a list of jobs of different times. The others could
        run at the same time, which need not mean that they did.

    Returns
    -------
    Allocations
        Of the running jobs of two nodes or more. Jobs with nodes that the topology lacks are left out.

    Raises
    ------
    InputError
        For files that cannot be read or do not fit together, and for an unknown policy.
    RunError
        If Slurm cannot be asked.
    """
    switches = read_topology(topology)
    jobs_running, left_out = _running(read_queue(queue), switches, together=together)
    if not jobs_running:
        raise InputError(
            "no running job of two nodes or more has all of its nodes in the topology",
            hint=f"the topology has nodes such as `{switches.nodes[0]}`",
        )
    chosen = _Chosen(switches, place)
    spreads = {job.id: spread_of(switches, job.nodes) for job in jobs_running}
    by_leaf, by_links = _sharing(switches, jobs_running)
    made = tuple(
        Allocation(
            job.id,
            len(set(job.nodes)),
            spreads[job.id],
            chosen.spread(len(set(job.nodes))),
            by_leaf[job.id],
            by_links[job.id],
        )
        for job in jobs_running
    )
    holders = Counter(node for job in jobs_running for node in set(job.nodes))
    overlapping = sum(any(holders[node] > 1 for node in job.nodes) for job in jobs_running)
    return Allocations(chosen.policy, made, left_out, overlapping, _as_queue(jobs_running))


def _as_queue(jobs: Sequence[Job]) -> str:
    columns = ("JOBID", "PARTITION", "NAME", "USER", "ACCOUNT", "STATE", "NODES", "NODELIST")
    rows = [
        (job.id, job.partition, job.name, job.user, job.account, "RUNNING", str(len(set(job.nodes))), fold(job.nodes))
        for job in jobs
    ]
    return "".join("|".join(row) + "\n" for row in (columns, *rows))


def _running(jobs: Iterable[Job], switches: Topology, *, together: bool) -> tuple[list[Job], dict[str, int]]:
    kept: list[Job] = []
    taken, left_out = set[str](), Counter[str]()
    for job in jobs:
        if states := unknown_states([job]):
            left_out[f"in a state that is not known here: {', '.join(states)}"] += 1
        elif not job.running:
            left_out["not running"] += 1
        elif len(set(job.nodes)) < FEWEST:
            left_out["on one node"] += 1
        elif not set(job.nodes) <= switches.ids.keys():
            left_out["with nodes that the topology lacks"] += 1
        elif together and not taken.isdisjoint(job.nodes):
            left_out["with a node of a job before"] += 1
        else:
            taken.update(job.nodes)
            kept.append(job)
    return kept, dict(left_out)


def spread_of(switches: Topology, nodes: Sequence[str]) -> Spread:
    """How far nodes are spread.

    Parameters
    ----------
    switches
        The switches.
    nodes
        Names of nodes.

    Returns
    -------
    Spread
    """
    return _spread(switches, [switches.ids[node] for node in set(nodes)])


def _spread(switches: Topology, nodes: Sequence[int]) -> Spread:
    shape = switches.shape
    groups = Counter(map(shape.group_of, nodes))
    inside = sum(count * (count - 1) for count in groups.values())
    whole = len(nodes) * (len(nodes) - 1)
    return Spread(
        leaves=len(set(map(shape.router_of, nodes))),
        groups=len(groups),
        pairs=len(groups) * (len(groups) - 1) // 2,
        crossing=1 - inside / whole if whole else 0.0,
    )


class _Chosen:
    """Where a policy puts jobs on the empty machine."""

    def __init__(self, switches: Topology, place: str) -> None:
        from odonata import placement
        from odonata.allocation.selection import choosing

        self._switches, self._known = switches, dict[int, Spread]()
        self.policy = choosing(place)
        self._parts = sorted(switches.parts, key=len, reverse=True)
        self._placer = placement.Placer

    def spread(self, nodes: int) -> Spread:
        """The spread in the largest fabric; of a job that is larger, on all of them."""
        if nodes not in self._known:
            every = range(self._switches.shape.nodes)
            there = self._parts[0] if nodes <= len(self._parts[0]) else frozenset().union(*self._parts)
            placer = self._placer(self._switches.shape, [], {}, [node for node in every if node not in there])
            self._known[nodes] = _spread(self._switches, placer.place(self.policy, nodes, None).nodes)
        return self._known[nodes]


def _sharing(switches: Topology, jobs: Sequence[Job]) -> tuple[dict[str, tuple[str, ...]], dict[str, tuple[str, ...]]]:
    """The jobs that share leaf switches and global links with each job, in the order of the queue."""
    shape, order = switches.shape, {job.id: number for number, job in enumerate(jobs)}
    on_leaf, on_pair = defaultdict[int, list[str]](list), defaultdict[tuple[int, int], list[str]](list)
    for job in jobs:
        numbers = [switches.ids[node] for node in job.nodes]
        for leaf in set(map(shape.router_of, numbers)):
            on_leaf[leaf].append(job.id)
        for pair in combinations(sorted(set(map(shape.group_of, numbers))), 2):
            on_pair[pair].append(job.id)

    def beside(places: Iterable[list[str]]) -> dict[str, tuple[str, ...]]:
        others: dict[str, set[str]] = {job.id: set() for job in jobs}
        for there in places:
            for job in there:
                others[job].update(there)
        return {job: tuple(sorted(neighbours - {job}, key=order.__getitem__)) for job, neighbours in others.items()}

    return beside(on_leaf.values()), beside(on_pair.values())


def as_text(allocations: Allocations, width: int | None = None) -> str:
    """Who shares what, and a table by the size of the jobs."""
    lines = [_sharing_text(allocations)]
    if allocations.overlapping:
        lines.append(
            f"{allocations.overlapping:,} jobs have a node in common with another: they share nodes, or the list is of "
            "several times.\n--together keeps those that can run at the same time."
        )
    lines += [
        f"left out: {count:,} job{'' if count == 1 else 's'} {why}" for why, count in allocations.left_out.items()
    ]
    policy = allocations.policy
    columns = [Column("nodes"), Column("jobs"), Column("leaves"), Column(policy), Column("groups"), Column(policy)]
    columns += [Column("pairs of groups"), Column(policy), Column("crossing"), Column(policy)]
    columns += [Column("share leaves"), Column("share links")]
    rows = [_row(name, jobs) for name, jobs in _by_size(allocations.jobs)]
    title = f"means over jobs, beside those of {policy} on the empty machine"
    return "\n".join([*lines, "", *Table(columns, rows, title).lines(width)])


def _sharing_text(allocations: Allocations) -> str:
    jobs = allocations.jobs
    leaves = sum(bool(job.beside_leaves) for job in jobs)
    links = sum(bool(job.beside_links) for job in jobs)
    spread = sum(job.spread.groups > 1 for job in jobs)
    more = sum(job.spread.groups > job.chosen.groups for job in jobs)
    return (
        f"{len(jobs):,} jobs of two nodes or more: {leaves:,} share a leaf switch with another job, {links:,} share "
        f"global links;\n{spread:,} are in several groups, {more:,} in more groups than with {allocations.policy}."
    )


def _by_size(jobs: Sequence[Allocation]) -> list[tuple[str, list[Allocation]]]:
    """Jobs by powers of two of their nodes."""
    by_nodes: dict[int, list[Allocation]] = {}
    for job in jobs:
        by_nodes.setdefault((job.nodes - 1).bit_length(), []).append(job)
    return [(_size(power), by_nodes[power]) for power in sorted(by_nodes)]


def _size(power: int) -> str:
    low, high = 2 ** (power - 1) + 1, 2**power
    return f"{high:,}" if low >= high else f"{low:,} to {high:,}"


def _row(name: str, jobs: Sequence[Allocation]) -> list[str]:
    both = [(job.spread, job.chosen) for job in jobs]
    cells = [name, f"{len(jobs):,}"]
    for key in ("leaves", "groups", "pairs"):
        cells += [f"{fmean(getattr(pair[side], key) for pair in both):.1f}" for side in (0, 1)]
    cells += [f"{100 * fmean(pair[side].crossing for pair in both):.0f} %" for side in (0, 1)]
    shared = (sum(bool(job.beside_leaves) for job in jobs), sum(bool(job.beside_links) for job in jobs))
    return cells + [f"{100 * count / len(jobs):.0f} %" for count in shared]
