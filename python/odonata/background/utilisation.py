"""Background utilisation: how much of a machine is used by jobs that communicate.

Source: Salimi Beni and Cosenza 2022, section 3.2, equations 1 and 2. Nt is the number of nodes of
the machine, Ne the number of nodes with a job of two nodes or more, N'e the same counted once for each such job, Na the
nodes of all running jobs counted once for each job:

    b1 = Ne / Nt                  (equation 1)
    b  = (Ne / Nt) (N'e / Na)     (equation 2)
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from odonata.errors import InputError, RunError
from odonata.queue.records import unknown_states
from odonata.queue.snapshot import nodes_in_queue_file, read_nodes, read_queue

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from odonata.queue.listing import File
    from odonata.queue.records import Job, Node

#: Fewest nodes of a job that communicates. Source: Salimi Beni 2022, section 5.1: the paper says "at least two" and
#: "more than two"; two is meant.
LEAST_NODES = 2

Drained = Literal["count", "leave-out"]


@dataclass(frozen=True)
class Background:
    """The background utilisation of a cluster at one moment."""

    nodes_communicating: int
    """Ne: nodes with at least one job that communicates."""
    nodes_total: int
    """Nt: nodes of the machine."""
    listings_communicating: int
    """N'e: nodes of jobs that communicate, once for each job."""
    listings_running: int
    """Na: nodes of all running jobs, once for each job."""
    jobs_counted: int
    """Running jobs with enough nodes."""
    jobs_excluded: int
    """Jobs that wait or are otherwise not running, and jobs with too few nodes."""
    unknown_states: Mapping[str, int] = field(default_factory=dict)
    """States that are not known here -> how many jobs have them. These are taken as not running."""

    @property
    def b1(self) -> float:
        """Equation 1, between 0 and 1."""
        return self.nodes_communicating / self.nodes_total

    @property
    def b(self) -> float:
        """Equation 2, between 0 and 1."""
        return self.b1 * (self.listings_communicating / self.listings_running) if self.listings_running else 0.0

    @property
    def utilisation(self) -> float:
        """The background utilisation b, by equation 2."""
        return self.b


def of_jobs(jobs: Iterable[Job], nodes_total: int, least_nodes: int = LEAST_NODES) -> Background:
    """The background utilisation of some jobs on a machine.

    Parameters
    ----------
    jobs
        Jobs in any state; those that do not run are left out.
    nodes_total
        Nt, the number of nodes of the machine.
    least_nodes
        Fewest nodes of a job that communicates: 2, or 3 for the reading "more than two".

    Raises
    ------
    InputError
        If the jobs use more nodes than there are.
    """
    communicating: set[str] = set()
    used: set[str] = set()
    shared = running = counted = excluded = 0
    jobs = list(jobs)
    for job in jobs:
        if job.running:
            used.update(job.nodes)
            running += len(job.nodes)
        if job.running and len(job.nodes) >= least_nodes:
            communicating.update(job.nodes)
            shared += len(job.nodes)
            counted += 1
        else:
            excluded += 1
    if len(used) > nodes_total:
        raise InputError(f"the jobs run on {len(used):,} nodes, more than the {nodes_total:,} of the machine")
    return Background(len(communicating), nodes_total, shared, running, counted, excluded, unknown_states(jobs))


def background(
    queue: File | None = None,
    *,
    nodes_total: int | None = None,
    nodes: File | None = None,
    drained: Drained = "count",
    least_nodes: int = LEAST_NODES,
    without: Collection[str] = (),
) -> Background:
    """The background utilisation of a cluster, from its queue.

    Parameters
    ----------
    queue
        A file (see `odonata.cluster.read_queue`), or None for the queue of Slurm.
    nodes_total
        The number of nodes of the machine. Without it, the nodes are counted: those of `nodes`, those that the file of
        the queue lists, or those that `sinfo` lists.
    nodes
        A file with the nodes (see `odonata.cluster.read_nodes`).
    drained
        Whether nodes that are drained or down and run no job count as part of the machine (`count`, as in the paper) or
        not (`leave-out`).
    least_nodes
        Fewest nodes of a job that communicates: 2, or 3 for the reading "more than two".
    without
        Ids of jobs that are left out, such as that of the measurement.

    Returns
    -------
    Background

    Raises
    ------
    InputError
        For a file that cannot be read, and if the number of nodes is not known.
    RunError
        If a command of Slurm fails.

    Examples
    --------
    >>> import odonata as od
    >>> queue = folder / "squeue.txt"
    >>> _ = queue.write_text("JOBID|STATE|NODELIST\\n1|R|n[1-3]\\n2|R|n[3-4]\\n3|R|n5\\n4|PD|\\n")
    >>> round(od.cluster.background(queue, nodes_total=10).utilisation, 3)
    0.333
    """
    jobs = [job for job in read_queue(queue) if job.id not in without]
    return of_listing(jobs, queue, nodes, nodes_total=nodes_total, drained=drained, least_nodes=least_nodes)


def of_listing(
    jobs: list[Job],
    queue: File | None,
    nodes: File | None,
    *,
    nodes_total: int | None = None,
    drained: Drained = "count",
    least_nodes: int = LEAST_NODES,
) -> Background:
    """The background utilisation of jobs that were read from `queue`. The rest is as for `background`."""
    if nodes_total is not None and nodes_total < 1:
        raise InputError(f"expected a number of nodes from 1 on, found {nodes_total}")
    if least_nodes < 2:
        raise InputError(f"expected at least 2 nodes of a job that communicates, found {least_nodes}")
    if drained not in ("count", "leave-out"):
        raise InputError(f"expected `count` or `leave-out` for drained nodes, found `{drained}`")
    if nodes_total is not None and (nodes is not None or drained == "leave-out"):
        other = "a file of nodes" if nodes is not None else "drained nodes to leave out"
        raise InputError(f"a number of nodes and {other} exclude each other")
    if nodes_total is None:
        nodes_total = machine_nodes(queue, nodes, jobs, drained)
    return of_jobs(jobs, nodes_total, least_nodes)


def machine_nodes(queue: File | None, nodes: File | None, jobs: list[Job], drained: Drained = "count") -> int:
    """The number of nodes of the machine: those of `nodes`, of the file of the queue, or of `sinfo`.

    Raises InputError and RunError as `background`.
    """
    return _total(_nodes(queue, nodes), jobs, drained)


def _nodes(queue: File | None, nodes: File | None) -> list[Node]:
    if nodes is not None:
        return read_nodes(nodes)
    beside = None if queue is None else nodes_in_queue_file(queue)
    if beside is not None:
        return beside
    try:
        return read_nodes()
    except RunError as e:
        if queue is None:
            raise
        why = str(e).partition("\n")[0]
        raise InputError(
            f"the number of nodes of the machine is not known: the file of the queue does not say it, and {why}",
            hint="give --nodes-total N, or --nodes-file FILE with what `sinfo --json` prints",
        ) from None


def _total(nodes: list[Node], jobs: list[Job], drained: Drained) -> int:
    if not nodes:
        raise InputError("the list of nodes is empty", hint="give --nodes-total N")
    if drained == "count":
        return len(nodes)
    used = {name for job in jobs if job.running for name in job.nodes}
    left = sum(not node.drained or node.name in used for node in nodes)
    if not left:
        raise InputError("all nodes are drained or down")
    return left
