"""`odonata cluster when`: whether a run should start now, or when jobs of the queue have ended."""

import json as json_module
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter, validators

from odonata.cli.cluster_options import FromOne, Json, Nodes, NodesSource, OfRun, QueueSource, listings_of
from odonata.errors import InputError

_Share = Parameter(validator=validators.Number(gte=0, lte=1))


def when(
    model: Path,
    /,
    *,
    nodes: Nodes,
    of: OfRun = OfRun(),
    run: str | None = None,
    communicates: Annotated[float, _Share] = 1.0,
    risk: Annotated[float | None, _Share] = None,
    within: str = "24:00:00",
    source: QueueSource = QueueSource(),
    nodes_total: FromOne | None = None,
    machine: NodesSource = NodesSource(),
    json: Json = False,
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
    run
        How long the run usually takes, as Slurm writes times: `90` minutes, `02:00:00`. Without it, the median of its
        history: right if the records are times of whole runs.
    communicates
        Share of the run that varies as the predicted times do: 1 if the records are times of whole runs.
    risk
        Advise the first start whose probability of the tail is at most this in both cases.
    within
        How far ahead starts are looked for, as `run`.
    source.queue
        A file instead of the queue of Slurm, which says when jobs end: `squeue -o '%i|%T|%D|%L|%l|%N'`,
        `squeue --json` of Slurm 23.02 or newer, or `scontrol show job`; or a file of PBS, Flux or LSF.
    nodes_total
        Number of nodes of the machine.
    source.queue_format
        With --queue: the format of its text, where the header is missing, as in `--queue-format '%i|%T|%L|%N'`.
    """
    from odonata.allocation.selection import Cluster, choose, observe
    from odonata.background.utilisation import machine_nodes
    from odonata.cli.arguments import check_known
    from odonata.prediction.predictor import read_predictor
    from odonata.prediction.when import when as advise
    from odonata.queue.snapshot import read_queue

    queue, nodes_file = listings_of(source, machine)
    predictor = read_predictor(model)
    known = of.known(nodes)
    place, partition = of.place, of.partition
    check_known(predictor, known, chooses=place is not None)
    run_s = None if run is None else _seconds(run, "--run")
    idle, usable, spread_then = None, None, None
    if place is not None:
        seen = observe(queue=queue, nodes_file=nodes_file, topology=of.topology, partition=partition)
        options = of.options()
        jobs, idle, usable = seen.jobs or read_queue(queue), seen.idle, seen.nodes
        if partition is not None:
            jobs = [job for job in jobs if job.running or not job.partition or partition in job.partition.split(",")]

        def spread_then(free: frozenset[str], still: Any) -> dict[str, float]:
            then = Cluster(seen.topology, seen.idle | free, list(still), seen.nodes)
            chosen = choose(then, nodes, place, options)
            return {"groups": len(chosen.groups), "leaves": chosen.leaves, "neighbours": chosen.neighbours}

    else:
        jobs = read_queue(queue)
    total = machine_nodes(queue, nodes_file, jobs) if nodes_total is None else nodes_total
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
