"""`odonata cluster select`: idle nodes for a job, and its submission onto them."""

import json as json_module
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from odonata.cli.cluster_options import (
    Flag,
    FromOne,
    FromZero,
    Json,
    Nodes,
    NodesSource,
    Partition,
    PolicyOptions,
    QueueSource,
    listings_of,
)
from odonata.errors import InputError

if TYPE_CHECKING:
    from odonata.allocation.selection import Selection
    from odonata.allocation.submission import Submission


def select(
    *arguments: str,
    nodes: Nodes | None = None,
    place: str = "level-spread",
    set_: PolicyOptions = None,
    partition: Partition = None,
    source: QueueSource = QueueSource(),
    machine: NodesSource = NodesSource(),
    topology: Path | None = None,
    hostfile: Annotated[Path | None, Parameter(name=["--hostfile", "--out", "-o"])] = None,
    ranks_per_node: FromOne | None = None,
    submit: Flag = False,
    retries: FromZero | None = None,
    json: Json = False,
    force: Flag = False,
) -> int:
    """Select idle nodes for a job, by a placement policy; print them for `sbatch -w`.

    Without files, Slurm is queried. With --queue or --nodes-file, Slurm is not queried. --submit starts the job:
    `odonata cluster select -N 64 --submit -- --time=1:00:00 job.sh`. If selected nodes are taken meanwhile, others are
    selected and the waiting job is moved to them.

    Parameters
    ----------
    arguments
        With --submit: what `sbatch` gets, behind `--`.
    nodes
        How many nodes; not needed by policies that count themselves.
    place
        The placement policy (`odonata show placements`).
    set_
        An option of the policy, as in `-s groups=0-3`.
    partition
        Only nodes of this partition; --submit passes it on.
    machine.nodes_file
        A file that lists the nodes with their states: what `sinfo --json`, `sinfo` or `scontrol show node` prints.
    topology
        `topology.conf`, `topology.yaml`, or what `scontrol show topology` prints.
    hostfile
        Also write the nodes in the order of the ranks, for SLURM_HOSTFILE and `srun --distribution=arbitrary`.
    ranks_per_node
        Lines for each node in that file (default: 1).
    submit
        Submit a job onto the nodes, and wait until it starts or waits for something else than nodes.
    retries
        With --submit: how often other nodes are selected when some were taken meanwhile (default: 3).
    force
        Overwrite an existing --hostfile with different contents.
    """
    from odonata.allocation.selection import select as choose
    from odonata.allocation.submission import submit as start
    from odonata.cli.arguments import policy_options

    options = policy_options(set_ or [], None, None)
    if arguments and not submit:
        raise InputError(f"unexpected argument `{arguments[0]}`", hint="--submit passes what follows `--` to sbatch")
    for name, given, needed, there in (
        ("--force", force, "--hostfile", hostfile is not None),
        ("--ranks-per-node", ranks_per_node is not None, "--hostfile", hostfile is not None),
        ("--retries", retries is not None, "--submit", submit),
    ):
        if given and not there:
            raise InputError(f"{name} goes with {needed}")
    queue, nodes_file = listings_of(source, machine)
    if submit and not (queue is None and nodes_file is None):
        raise InputError("--submit selects from the queue as it is now", hint="leave out --queue and --nodes-file")

    def chosen() -> "Selection":
        return choose(
            nodes,
            place,
            queue=queue,
            nodes_file=nodes_file,
            topology=topology,
            partition=partition,
            options=options,
        )

    overwrites = force

    def write(selection: "Selection") -> None:
        nonlocal overwrites
        if hostfile is not None:
            from odonata import files

            files.write_new(hostfile, selection.hostfile(ranks_per_node or 1).encode(), force=overwrites)
            overwrites = True  # other nodes may be selected later

    if submit:
        job = start(
            chosen,
            arguments,
            partition=partition,
            hostfile=hostfile,
            write_hostfile=write,
            retries=3 if retries is None else retries,
        )
        return _submitted(job, json)
    selection = chosen()
    write(selection)
    if json:
        print(json_module.dumps(_chosen(selection)))
    else:
        print(selection.nodelist)
        print(f"{selection.policy}: {selection.reason}", file=sys.stderr)
    return 0


def _chosen(selection: "Selection") -> dict[str, Any]:
    return {
        "policy": selection.policy,
        "nodes": selection.nodes,
        "nodelist": selection.nodelist,
        "reason": selection.reason,
        "groups": selection.groups,
        "leaves": selection.leaves,
        "idle": selection.idle,
    }


def _submitted(job: "Submission", json: bool) -> int:
    if json:
        facts = {"job": job.job, "state": job.state, "why": job.why, "races": job.races, **_chosen(job.selection)}
        print(json_module.dumps(facts))
        return 0
    for race in job.races:
        print(f"{race}; selected again", file=sys.stderr)
    why = f" ({job.why})" if job.why else ""
    print(f"job {job.job} {job.state}{why} on {job.selection.nodelist}")
    print(f"{job.selection.policy}: {job.selection.reason}", file=sys.stderr)
    return 0
