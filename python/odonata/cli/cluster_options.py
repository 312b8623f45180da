"""Options that several commands of `odonata cluster` share: a dataclass for each subject, whose fields are options.

A command takes one as a parameter, as in `source: QueueSource = QueueSource()`. Its docstring can say something else
about a field, by the name `source.queue`.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter, validators

if TYPE_CHECKING:
    from odonata.queue.listing import File

Flag = Annotated[bool, Parameter(negative=())]
"""An option without a value."""
Json = Annotated[bool, Parameter(negative=(), help="Print one JSON object.")]
Several = Annotated[list[str] | None, Parameter(negative=())]
"""An option that may be repeated."""
FromZero = Annotated[int, Parameter(validator=validators.Number(gte=0))]
FromOne = Annotated[int, Parameter(validator=validators.Number(gte=1))]
Nodes = Annotated[int, Parameter(name=["--nodes", "-N"], validator=validators.Number(gte=1))]
Out = Annotated[Path | None, Parameter(name=["--out", "-o"])]
Partition = Annotated[str | None, Parameter(name=["--partition", "-p"])]
PolicyOptions = Annotated[list[str] | None, Parameter(name=["--set", "-s"], negative=())]
Quiet = Annotated[bool, Parameter(name=["--quiet", "-q"], negative=())]


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class QueueSource:
    """Where the queue is read from.

    Parameters
    ----------
    queue
        A file instead of the queue of Slurm: what `squeue --json`, `squeue` or `scontrol show job` prints; of PBS
        `qstat -f -F json`, of Flux `flux jobs -A --json`, of LSF `bjobs -u all -json -o "jobid stat exec_host ..."`.
    queue_format
        With --queue: the format of its text, where the header is missing, as in `--queue-format '%i|%T|%N'`.
    cluster
        Which cluster, where a file lists several, as `squeue -M all` and `sacct -L` do.
    """

    queue: Path | None = None
    queue_format: str | None = None
    cluster: str | None = None


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class NodesSource:
    """Where the nodes of the machine are read from.

    Parameters
    ----------
    nodes_file
        A file that lists the nodes of the machine: what `sinfo --json`, `sinfo` or `scontrol show node` prints; of PBS
        `pbsnodes -a -F json`, of Flux `flux resource R`, of LSF `bhosts -json -o "host_name status njobs"`.
    nodes_format
        With --nodes-file: the format of its text, where the header is missing, as in `--nodes-format '%P|%T|%N'`.
    """

    nodes_file: Path | None = None
    nodes_format: str | None = None


def listings_of(source: QueueSource, nodes: NodesSource | None = None) -> tuple["File | None", "File | None"]:
    """The files of the queue and of the nodes; None where Slurm is asked. Raises InputError as `listings`."""
    from odonata.queue.listing import listings

    nodes = nodes or NodesSource()
    return listings(source.queue, source.queue_format, nodes.nodes_file, nodes.nodes_format, source.cluster)


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Counting:
    """Which nodes and jobs the background utilisation counts.

    Parameters
    ----------
    nodes_total
        Number of nodes of the machine.
    drained
        Whether nodes that are drained or down count as nodes of the machine.
    least_nodes
        Fewest nodes of a job that communicates; 3 is the reading "more than two nodes".
    """

    nodes_total: FromOne | None = None
    drained: Literal["count", "leave-out"] = "count"
    least_nodes: Annotated[int, Parameter(validator=validators.Number(gte=2))] = 2


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class OfRun:
    """What is said of a run whose time is predicted: how it spreads over the machine, and what it sends.

    Parameters
    ----------
    place
        The placement policy of the run, which chooses among the idle nodes as `odonata cluster select` does.
    set_
        An option of the policy, as in `-s groups=0-3`.
    groups
        Groups that the run touches, in place of --place.
    leaves
        Leaf switches that the run touches, in place of --place.
    neighbours
        Nodes of other jobs that send through these leaf switches (mean of the nodes of the run), in place of --place.
    topology
        With --place: `topology.conf`, `topology.yaml`, or what `scontrol show topology` prints.
    partition
        With --place: only nodes of this partition.
    pattern
        Its pattern or collective, as the records name it.
    bytes_
        Its message size, such as `1 MiB`.
    job
        Its job, as the records name it.
    """

    place: str | None = None
    set_: PolicyOptions = None
    groups: FromOne | None = None
    leaves: FromOne | None = None
    neighbours: Annotated[float | None, Parameter(validator=validators.Number(gte=0))] = None
    topology: Path | None = None
    partition: Partition = None
    pattern: str | None = None
    bytes_: Annotated[str | None, Parameter(name="--bytes")] = None
    job: str | None = None

    def known(self, nodes: int | None) -> dict[str, Any]:
        """What was said, by quantity. Raises InputError for a wrong size, and for options that exclude --place."""
        from odonata.cli.arguments import check_place, known_of_run

        spread = {"groups": self.groups, "leaves": self.leaves, "neighbours": self.neighbours}
        needs_place = {"set": self.set_, "topology": self.topology, "partition": self.partition}
        check_place(self.place, spread, needs_place)
        return known_of_run({"nodes": nodes, **spread, "pattern": self.pattern, "job": self.job}, self.bytes_)

    def options(self) -> dict[str, Any]:
        """The options of the policy. Raises InputError for a text that is none."""
        from odonata.cli.arguments import policy_options

        return policy_options(self.set_ or [], None, None)
