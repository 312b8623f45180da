"""`odonata cluster predict`: how likely a run is to fall into the tail, by what `odonata cluster train` learnt."""

import json as json_module
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter, validators

from odonata.cli.cluster_options import FromOne, Json, Nodes, NodesSource, OfRun, QueueSource, listings_of


def predict(
    model: Path,
    /,
    *,
    nodes: Nodes | None = None,
    background: Annotated[float | None, Parameter(validator=validators.Number(gte=0, lte=1))] = None,
    run: OfRun = OfRun(),
    source: QueueSource = QueueSource(),
    nodes_total: FromOne | None = None,
    machine: NodesSource = NodesSource(),
    json: Json = False,
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
    nodes_total
        Number of nodes of the machine.
    """
    from odonata.cli.arguments import check_known
    from odonata.prediction import text
    from odonata.prediction.predictor import read_predictor

    queue, nodes_file = listings_of(source, machine)
    predictor = read_predictor(model)
    known = run.known(nodes)
    if run.place is not None:
        from odonata.allocation.selection import select

        chosen = select(
            nodes,
            run.place,
            queue=queue,
            nodes_file=nodes_file,
            topology=run.topology,
            partition=run.partition,
            options=run.options(),
        )
        known |= {
            "nodes": len(chosen.nodes),
            "groups": len(chosen.groups),
            "leaves": chosen.leaves,
            "neighbours": chosen.neighbours,
        }
    if background is None:
        from odonata.background.utilisation import background as measure

        nodes_file = nodes_file if nodes_total is None else None
        background = measure(queue, nodes_total=nodes_total, nodes=nodes_file).utilisation
    known["b"] = float(background)
    check_known(predictor, known)
    prediction = predictor.predict(known)
    if json:
        print(json_module.dumps({"known": known, **prediction.as_dict()}))
    else:
        print(text.of_prediction(prediction, known, predictor.report))
    return 0
