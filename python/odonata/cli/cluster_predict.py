"""`odonata cluster predict`: how likely a run is to fall into the tail, by what `odonata cluster train` learnt."""

import json as json_module
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter, validators

_Flag = Parameter(negative=())
_FromOne = Parameter(validator=validators.Number(gte=1))
_FromZero = Parameter(validator=validators.Number(gte=0))


def predict(
    model: Path,
    /,
    *,
    nodes: Annotated[int | None, Parameter(name=["--nodes", "-N"], validator=validators.Number(gte=1))] = None,
    background: Annotated[float | None, Parameter(validator=validators.Number(gte=0, lte=1))] = None,
    place: str | None = None,
    set_: Annotated[list[str] | None, Parameter(name=["--set", "-s"], negative=())] = None,
    groups: Annotated[int | None, _FromOne] = None,
    leaves: Annotated[int | None, _FromOne] = None,
    neighbours: Annotated[float | None, _FromZero] = None,
    pattern: str | None = None,
    bytes_: Annotated[str | None, Parameter(name="--bytes")] = None,
    job: str | None = None,
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
    """Predict at submission whether a run falls into the long tail of its job, and how long it takes.

    `odonata cluster train` writes the predictor. b comes from the queue of Slurm or from --background, the spread from
    the nodes that the placement policy chooses now (`--nodes 64 --place level-spread`), or from --groups and --leaves.

    Parameters
    ----------
    model
        A predictor that `odonata cluster train` wrote.
    nodes
        Nodes of the run.
    background
        The background utilisation b, from 0 to 1. Without it, it is that of the queue.
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
    queue
        A file instead of the queue of Slurm.
    nodes_total
        Number of nodes of the machine.
    nodes_file
        A file that lists the nodes of the machine: what `sinfo --json`, `sinfo` or `scontrol show node` prints.
    queue_format
        With --queue: the format of its text, where the header is missing, as in `--queue-format '%i|%T|%N'`.
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
    from odonata.cli.arguments import check_known, check_place, known_of_run, policy_options
    from odonata.prediction import text
    from odonata.prediction.predictor import read_predictor
    from odonata.queue.listing import listings

    queue_listing, nodes_listing = listings(queue, queue_format, nodes_file, nodes_format, cluster)
    predictor = read_predictor(model)
    spread = {"groups": groups, "leaves": leaves, "neighbours": neighbours}
    check_place(place, spread, {"set": set_, "topology": topology, "partition": partition})
    known = known_of_run({"nodes": nodes, **spread, "pattern": pattern, "job": job}, bytes_)
    if place is not None:
        from odonata.allocation.selection import select

        chosen = select(
            nodes,
            place,
            queue=queue_listing,
            nodes_file=nodes_listing,
            topology=topology,
            partition=partition,
            options=policy_options(set_ or [], None, None),
        )
        known |= {
            "nodes": len(chosen.nodes),
            "groups": len(chosen.groups),
            "leaves": chosen.leaves,
            "neighbours": chosen.neighbours,
        }
    if background is None:
        from odonata.background.utilisation import background as measure

        background = measure(
            queue_listing, nodes_total=nodes_total, nodes=nodes_listing if nodes_total is None else None
        ).utilisation
    known["b"] = float(background)
    check_known(predictor, known)
    prediction = predictor.predict(known)
    if json:
        print(json_module.dumps({"known": known, **prediction.as_dict()}))
    else:
        print(text.of_prediction(prediction, known, predictor.report))
    return 0
