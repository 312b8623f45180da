"""`odonata cluster`: a real Slurm queue in, background utilisation and a list of nodes out."""

from __future__ import annotations

import json as json_module
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import App, Parameter, validators

from odonata.errors import InputError

if TYPE_CHECKING:
    from odonata.allocation.selection import Selection
    from odonata.allocation.submission import Submission
    from odonata.background.history import History
    from odonata.background.utilisation import Background
    from odonata.background.watch import Sample

cluster = App(
    "cluster",
    help="Work on a real cluster: how busy its network is, nodes for a job, latencies and how they vary, its machine.",
)
cluster.command(
    "odonata.cli.cluster_allocations:allocations",
    name="allocations",
    help="Say where the running jobs are: switches and groups, links that they share, and how far from a policy.",
)
cluster.command(
    "odonata.cli.cluster_analyse:analyse",
    name="analyse",
    help="Analyse times of iterations: spread, tail, peaks, distribution, correlation with another column.",
)
cluster.command(
    "odonata.cli.cluster_import:import_", name="import", help="Make a system file of the network of a real cluster."
)
cluster.command(
    "odonata.cli.cluster_probe:probe",
    name="probe",
    help="Measure the latency of MPI operations, and the background utilisation before and after.",
)
cluster.command(
    "odonata.cli.cluster_train:train",
    name="train",
    help="Learn from records of runs how likely a run is to fall into the long tail, and check it on later runs.",
)
cluster.command(
    "odonata.cli.cluster_predict:predict",
    name="predict",
    help="Predict at submission whether a run falls into the long tail of its job, and how long it takes.",
)
cluster.command(
    "odonata.cli.cluster_when:when",
    name="when",
    help="Say whether a run should start now or when jobs of the queue have ended, and what waiting costs.",
)
cluster.command(
    "odonata.cli.cluster_snapshot:snapshot",
    name="snapshot",
    help="Make a scenario of the jobs that run: on their own nodes, with traffic from a traffic book.",
)
cluster.command(
    "odonata.cli.cluster_snapshot:holds",
    name="holds",
    help="Say what holds for all assumptions about the traffic, from the study of `snapshot --vary traffic`.",
)

_Flag = Parameter(negative=())
_Positive = Parameter(validator=validators.Number(gt=0))
_FromOne = Parameter(validator=validators.Number(gte=1))


@cluster.command
def background(
    *,
    queue: Path | None = None,
    nodes_total: Annotated[int | None, _FromOne] = None,
    nodes_file: Path | None = None,
    queue_format: str | None = None,
    nodes_format: str | None = None,
    cluster_: Annotated[str | None, Parameter(name="--cluster")] = None,
    drained: Literal["count", "leave-out"] = "count",
    least_nodes: Annotated[int, Parameter(validator=validators.Number(gte=2))] = 2,
    watch: Annotated[float | None, _Positive] = None,
    count: Annotated[int | None, _FromOne] = None,
    history: Path | None = None,
    every: Annotated[float, _Positive] = 600,
    cores_per_node: Annotated[int | None, _FromOne] = None,
    out: Annotated[Path | None, Parameter(name=["--out", "-o"])] = None,
    json: Annotated[bool, _Flag] = False,
    force: Annotated[bool, _Flag] = False,
) -> int:
    """Compute the background utilisation b: the share of the machine whose nodes run jobs of two nodes or more.

    b1 = Ne/Nt is equation 1 and b = (Ne/Nt)(N'e/Na) equation 2 of Salimi Beni 2022. Without files, Slurm is queried.

    Parameters
    ----------
    queue
        A file instead of the queue of Slurm: what `squeue --json`, `squeue` or `scontrol show job` prints.
    nodes_total
        Number of nodes of the machine.
    nodes_file
        A file that lists the nodes of the machine: what `sinfo --json`, `sinfo` or `scontrol show node` prints.
    queue_format
        With --queue: the format of its text, where the header is missing, as in `--queue-format '%i|%T|%N'`.
    nodes_format
        With --nodes-file: the format of its text, where the header is missing, as in `--nodes-format '%P|%T|%N'`.
    cluster_
        Which cluster, where a file lists several, as `squeue -M all` and `sacct -L` do.
    drained
        Whether nodes that are drained or down count as nodes of the machine.
    least_nodes
        Fewest nodes of a job that communicates; 3 is the reading "more than two nodes".
    watch
        Record b every so many seconds, in the folder --out, until Ctrl-C.
    count
        With --watch: stop after so many samples.
    history
        Compute b over the past from a file: `sacct --parsable2`, `sacct --json`, a trace in SWF, a PM100 job table.
    every
        With --history: seconds between two samples.
    cores_per_node
        With --history: processors of a node, for SWF whose header does not say it.
    out
        With --watch the folder of the recording (default: `background`), with --history a table (.parquet or .csv).
    json
        Print one JSON object; with --watch one for each sample.
    force
        With --history: overwrite a table with different contents.
    """
    from odonata.background.utilisation import background as measure
    from odonata.queue.listing import listings

    files_cluster = None if history is not None else cluster_
    queue_listing, nodes_listing = listings(queue, queue_format, nodes_file, nodes_format, files_cluster)
    if history is not None:
        if queue is not None or nodes_file is not None or watch is not None or drained != "count":
            raise InputError(
                "--history goes with --nodes-total, --least-nodes, --every, --cores-per-node, --cluster, --out and "
                "--force only"
            )
        return _history(history, nodes_total, every, least_nodes, cores_per_node, cluster_, out, json, force=force)
    if force:
        raise InputError("--force goes with --history")
    if watch is None:
        for name, given in (("--out", out), ("--count", count)):
            if given is not None:
                raise InputError(f"{name} goes with --watch{' or --history' if name == '--out' else ''}")

    def sample() -> Background:
        return measure(
            queue_listing, nodes_total=nodes_total, nodes=nodes_listing, drained=drained, least_nodes=least_nodes
        )

    if watch is not None:
        return _watch(watch, sample, count, out or Path("background"), json)
    busy = sample()
    if json:
        print(json_module.dumps(_as_json(busy)))
    else:
        print(_text(busy, least_nodes))
    return 0


@cluster.command
def select(
    *arguments: str,
    nodes: Annotated[int | None, Parameter(name=["--nodes", "-N"], validator=validators.Number(gte=1))] = None,
    place: str = "level-spread",
    set_: Annotated[list[str] | None, Parameter(name=["--set", "-s"], negative=())] = None,
    partition: Annotated[str | None, Parameter(name=["--partition", "-p"])] = None,
    queue: Path | None = None,
    nodes_file: Path | None = None,
    queue_format: str | None = None,
    nodes_format: str | None = None,
    cluster_: Annotated[str | None, Parameter(name="--cluster")] = None,
    topology: Path | None = None,
    hostfile: Annotated[Path | None, Parameter(name=["--hostfile", "--out", "-o"])] = None,
    ranks_per_node: Annotated[int | None, _FromOne] = None,
    submit: Annotated[bool, _Flag] = False,
    retries: Annotated[int | None, Parameter(validator=validators.Number(gte=0))] = None,
    json: Annotated[bool, _Flag] = False,
    force: Annotated[bool, _Flag] = False,
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
    queue
        A file instead of the queue of Slurm.
    nodes_file
        A file that lists the nodes with their states: what `sinfo --json`, `sinfo` or `scontrol show node` prints.
    queue_format
        With --queue: the format of its text, where the header is missing, as in `--queue-format '%i|%T|%N'`.
    nodes_format
        With --nodes-file: the format of its text, where the header is missing, as in `--nodes-format '%P|%T|%N'`.
    cluster_
        Which cluster, where a file lists several, as `squeue -M all` and `sacct -L` do.
    topology
        `topology.conf`, or what `scontrol show topology` prints.
    hostfile
        Also write the nodes in the order of the ranks, for SLURM_HOSTFILE and `srun --distribution=arbitrary`.
    ranks_per_node
        Lines for each node in that file (default: 1).
    submit
        Submit a job onto the nodes, and wait until it starts or waits for something else than nodes.
    retries
        With --submit: how often other nodes are selected when some were taken meanwhile (default: 3).
    json
        Print one JSON object.
    force
        Overwrite an existing --hostfile with different contents.
    """
    from odonata.allocation.selection import select as choose
    from odonata.allocation.submission import submit as start
    from odonata.cli.arguments import policy_options
    from odonata.queue.listing import listings

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
    if submit and not (queue is None and nodes_file is None):
        raise InputError("--submit selects from the queue as it is now", hint="leave out --queue and --nodes-file")

    queue_listing, nodes_listing = listings(queue, queue_format, nodes_file, nodes_format, cluster_)

    def chosen() -> Selection:
        return choose(
            nodes,
            place,
            queue=queue_listing,
            nodes_file=nodes_listing,
            topology=topology,
            partition=partition,
            options=options,
        )

    overwrites = force

    def write(selection: Selection) -> None:
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


def _as_json(busy: Background) -> dict[str, Any]:
    names = ("b1", "b", "nodes_communicating", "nodes_total", "listings_communicating", "listings_running")
    facts = {name: getattr(busy, name) for name in (*names, "jobs_counted", "jobs_excluded")}
    return facts | ({"unknown_states": dict(busy.unknown_states)} if busy.unknown_states else {})


def _text(busy: Background, least_nodes: int) -> str:
    from odonata.queue.records import not_known

    unknown = f"\nassumed: {not_known(dict(busy.unknown_states))}" if busy.unknown_states else ""
    return (
        f"background utilisation b = {busy.b:.4f} (equation 2), b1 = {busy.b1:.4f} (equation 1)\n"
        f"{busy.nodes_communicating:,} of {busy.nodes_total:,} nodes run jobs of {least_nodes} nodes or more; "
        f"these jobs hold {busy.listings_communicating:,} of {busy.listings_running:,} allocated nodes, "
        "each counted once for each of its jobs\n"
        f"{busy.jobs_counted:,} jobs counted, {busy.jobs_excluded:,} left out (waiting, ending, or on fewer nodes)"
        f"{unknown}"
    )


def _watch(every: float, sample: Any, count: int | None, folder: Path, json: bool) -> int:
    from odonata.background.watch import Recorder, watch

    recorder: Recorder | None = None
    for reading in watch(every, sample, count=count):
        if recorder is None:
            recorder = Recorder(folder, process=reading.time)
        recorder.add(reading)
        print(json_module.dumps(_sample(reading)) if json else _line(reading), flush=True)
        if reading.clock_back_s:
            print(f"warning: the clock went back by {reading.clock_back_s:,.1f} s; the sample is kept", file=sys.stderr)
        if reading.error is not None:
            print(f"warning: no sample: {reading.error}", file=sys.stderr)
    return 0


def _sample(reading: Sample) -> dict[str, Any]:
    facts = {} if reading.background is None else _as_json(reading.background)
    return {"time": reading.time.isoformat(), "clock_back_s": reading.clock_back_s, "error": reading.error, **facts}


def _line(reading: Sample) -> str:
    moment = reading.time.strftime("%Y-%m-%d %H:%M:%SZ")
    if reading.background is None:
        return f"{moment}  no sample"
    return f"{moment}  b {reading.background.b:.4f}  b1 {reading.background.b1:.4f}"


def _history(
    file: Path,
    nodes_total: int | None,
    every: float,
    least_nodes: int,
    cores_per_node: int | None,
    cluster_: str | None,
    out: Path | None,
    json: bool,
    *,
    force: bool,
) -> int:
    from odonata.background.history import read_history

    if out is not None and out.suffix not in (".parquet", ".csv"):
        raise InputError(f"expected a file that ends in .parquet or .csv, found `{out}`")
    history = read_history(
        file,
        nodes_total=nodes_total,
        every_s=every,
        least_nodes=least_nodes,
        cores_per_node=cores_per_node,
        cluster=cluster_,
    )
    if out is not None:
        import io

        from odonata import files

        buffer = io.BytesIO()
        table = history.frame()
        table.write_parquet(buffer) if out.suffix == ".parquet" else table.write_csv(buffer)
        files.write_new(out, buffer.getvalue(), force=force)
    if json:
        print(json_module.dumps(_series(history)))
    else:
        print(_past(history))
        if out is not None:
            print(f"{len(history.times):,} samples in {out}")
    return 0


def _series(history: History) -> dict[str, Any]:
    return {
        "mean_b": history.mean_b,
        "mean_b1": history.mean_b1,
        "runs": history.runs,
        "skipped": history.skipped,
        **({"unknown_states": dict(history.unknown_states)} if history.unknown_states else {}),
        "time": [_moment(at) for at in history.times],
        "b1": [sample.b1 for sample in history.samples],
        "b": [sample.b for sample in history.samples],
        "nodes_communicating": [sample.nodes_communicating for sample in history.samples],
        "nodes_total": history.samples[0].nodes_total,
        "jobs_counted": [sample.jobs_counted for sample in history.samples],
    }


def _past(history: History) -> str:
    from odonata.queue.records import not_known

    ascending = sorted(sample.b for sample in history.samples)
    low, middle, high = (ascending[int(q * (len(ascending) - 1))] for q in (0.05, 0.5, 0.95))
    highest = max(range(len(history.times)), key=lambda at: history.samples[at].b)
    lines = [
        f"{history.runs:,} jobs that ran, {_moment(history.times[0])} to {_moment(history.times[-1])}, "
        f"{len(history.times):,} samples",
        f"b: mean {history.mean_b:.4f} (b1 {history.mean_b1:.4f}), median {middle:.4f}, "
        f"5 % to 95 %: {low:.4f} to {high:.4f}, "
        f"highest {history.samples[highest].b:.4f} at {_moment(history.times[highest])}",
    ]
    if history.skipped:
        lines.append(f"{history.skipped:,} jobs left out: they end before they start, so the clock was set back")
    if history.unknown_states:
        lines.append(f"assumed: {not_known(dict(history.unknown_states))}")
    return "\n".join(lines)


def _moment(seconds: float) -> str:
    from datetime import UTC, datetime

    return datetime.fromtimestamp(seconds, UTC).replace(tzinfo=None).isoformat(timespec="seconds")


def _chosen(selection: Selection) -> dict[str, Any]:
    return {
        "policy": selection.policy,
        "nodes": selection.nodes,
        "nodelist": selection.nodelist,
        "reason": selection.reason,
        "groups": selection.groups,
        "leaves": selection.leaves,
        "idle": selection.idle,
    }


def _submitted(job: Submission, json: bool) -> int:
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
