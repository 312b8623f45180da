"""`odonata cluster when`: whether a run should start now, or when jobs of the queue have ended."""

import json as json_module
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter, validators

from odonata.errors import InputError

_Flag = Parameter(negative=())
_FromOne = Parameter(validator=validators.Number(gte=1))
_FromZero = Parameter(validator=validators.Number(gte=0))
_Share = Parameter(validator=validators.Number(gte=0, lte=1))


def when(
    model: Path,
    /,
    *,
    nodes: Annotated[int, Parameter(name=["--nodes", "-N"], validator=validators.Number(gte=1))],
    place: str | None = None,
    set_: Annotated[list[str] | None, Parameter(name=["--set", "-s"], negative=())] = None,
    groups: Annotated[int | None, _FromOne] = None,
    leaves: Annotated[int | None, _FromOne] = None,
    neighbours: Annotated[float | None, _FromZero] = None,
    pattern: str | None = None,
    bytes_: Annotated[str | None, Parameter(name="--bytes")] = None,
    job: str | None = None,
    run: str | None = None,
    communicates: Annotated[float, _Share] = 1.0,
    risk: Annotated[float | None, _Share] = None,
    within: str = "24:00:00",
    queue: Path | None = None,
    nodes_total: Annotated[int | None, _FromOne] = None,
    nodes_file: Path | None = None,
    queue_format: str | None = None,
    nodes_format: str | None = None,
    cluster: str | None = None,
    topology: Path | None = None,
    partition: Annotated[str | None, Parameter(name=["--partition", "-p"])] = None,
    json: Annotated[bool, _Flag] = False,
) -> int:
    """Say whether a run should start now or wait until jobs of the queue have ended, and what waiting costs.

    Running jobs end at their time limits. At each end b and the idle nodes change, and `odonata cluster predict`
    predicts the run. Two cases limit what starts meanwhile: no job, and waiting jobs as soon as their nodes are idle.
    The start is advised whose run is expected to end first if waiting jobs start.

    Parameters
    ----------
    model
        A predictor that `odonata cluster train` wrote.
    nodes
        Nodes of the run.
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
    pattern
        Its pattern or collective, as the records name it.
    bytes_
        Its message size, such as `1 MiB`.
    job
        Its job, as the records name it.
    run
        How long the run usually takes, as Slurm writes times: `90` minutes, `02:00:00`. Without it, the median of its
        history: right if the records are times of whole runs.
    communicates
        Share of the run that varies as the predicted times do: 1 if the records are times of whole runs.
    risk
        Advise the first start whose probability of the tail is at most this in both cases.
    within
        How far ahead starts are looked for, as `run`.
    queue
        A file instead of the queue of Slurm, which says when jobs end: `squeue -o '%i|%T|%D|%L|%l|%N'`,
        `squeue --json` of Slurm 23.02 or newer, or `scontrol show job`.
    nodes_total
        Number of nodes of the machine.
    nodes_file
        A file that lists the nodes of the machine: what `sinfo --json`, `sinfo` or `scontrol show node` prints.
    queue_format
        With --queue: the format of its text, where the header is missing, as in `--queue-format '%i|%T|%L|%N'`.
    nodes_format
        With --nodes-file: the format of its text, where the header is missing, as in `--nodes-format '%P|%T|%N'`.
    cluster
        Which cluster, where a file lists several, as `squeue -M all` and `sacct -L` do.
    topology
        With --place: `topology.conf`, or what `scontrol show topology` prints.
    partition
        With --place: only nodes of this partition.
    json
        Print one JSON object.
    """
    from odonata.allocation.selection import Cluster, choose, observe
    from odonata.background.utilisation import machine_nodes
    from odonata.cli.arguments import check_known, check_place, known_of_run, policy_options
    from odonata.prediction.predictor import read_predictor
    from odonata.prediction.when import when as advise
    from odonata.queue.listing import listings
    from odonata.queue.snapshot import read_queue

    queue_listing, nodes_listing = listings(queue, queue_format, nodes_file, nodes_format, cluster)
    predictor = read_predictor(model)
    spread = {"groups": groups, "leaves": leaves, "neighbours": neighbours}
    check_place(place, spread, {"set": set_, "topology": topology, "partition": partition})
    known = known_of_run({"nodes": nodes, **spread, "pattern": pattern, "job": job}, bytes_)
    check_known(predictor, known, chooses=place is not None)
    run_s = None if run is None else _seconds(run, "--run")
    idle, usable, spread_then = None, None, None
    if place is not None:
        seen = observe(queue=queue_listing, nodes_file=nodes_listing, topology=topology, partition=partition)
        options = policy_options(set_ or [], None, None)
        jobs, idle, usable = seen.jobs or read_queue(queue_listing), seen.idle, seen.nodes
        if partition is not None:
            jobs = [job for job in jobs if job.running or not job.partition or partition in job.partition.split(",")]

        def spread_then(free: frozenset[str], still: Any) -> dict[str, float]:
            then = Cluster(seen.topology, seen.idle | free, list(still), seen.nodes)
            chosen = choose(then, nodes, place, options)
            return {"groups": len(chosen.groups), "leaves": chosen.leaves, "neighbours": chosen.neighbours}

    else:
        jobs = read_queue(queue_listing)
    total = machine_nodes(queue_listing, nodes_listing, jobs) if nodes_total is None else nodes_total
    advice = advise(
        predictor,
        known,
        jobs,
        total,
        nodes=nodes,
        idle=idle,
        usable=usable,
        spread=spread_then,
        run_s=run_s,
        communicates=communicates,
        risk=risk,
        within_s=_seconds(within, "--within"),
    )
    print(json_module.dumps(advice.as_dict()) if json else advice.text())
    return 0


def _seconds(text: str, option: str) -> float:
    """Seconds of a time as Slurm writes it. Raises InputError for another text, and for no time at all."""
    from odonata.queue.durations import duration_s

    try:
        seconds = duration_s(text, "a time")
    except InputError as e:
        raise e.at(option) from None
    if not seconds:
        raise InputError(f"expected a time such as 02:00:00, found `{text}`").at(option)
    return seconds
