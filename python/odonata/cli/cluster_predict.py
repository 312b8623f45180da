"""`odonata cluster predict`: learns from records of runs, and says how likely a run is to fall into the tail."""

import json as json_module
import sys
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter, validators

from odonata.errors import InputError

_Flag = Parameter(negative=())
_FromOne = Parameter(validator=validators.Number(gte=1))
_Several = Parameter(negative=())


def predict(
    *,
    train: Path | None = None,
    out: Annotated[Path | None, Parameter(name=["--out", "-o"])] = None,
    recorded: Path | None = None,
    column: Annotated[list[str] | None, _Several] = None,
    value: str | None = None,
    unit: str | None = None,
    where: Annotated[list[str] | None, _Several] = None,
    history_of: Annotated[list[str] | None, _Several] = None,
    tail: Annotated[float | None, Parameter(validator=validators.Number(gte=0.5, lte=0.99))] = None,
    held_out: Annotated[float | None, Parameter(validator=validators.Number(gte=0.05, lte=0.5))] = None,
    flag_from: Annotated[float | None, Parameter(validator=validators.Number(gt=0, lt=1))] = None,
    seed: Annotated[int, Parameter(validator=validators.Number(gte=0))] = 1,
    force: Annotated[bool, _Flag] = False,
    model: Path | None = None,
    nodes: Annotated[int | None, Parameter(name=["--nodes", "-N"], validator=validators.Number(gte=1))] = None,
    background: Annotated[float | None, Parameter(validator=validators.Number(gte=0, lte=1))] = None,
    place: str | None = None,
    set_: Annotated[list[str] | None, Parameter(name=["--set", "-s"], negative=())] = None,
    groups: Annotated[int | None, _FromOne] = None,
    leaves: Annotated[int | None, _FromOne] = None,
    pattern: str | None = None,
    bytes_: Annotated[str | None, Parameter(name="--bytes")] = None,
    job: str | None = None,
    queue: Path | None = None,
    nodes_total: Annotated[int | None, _FromOne] = None,
    nodes_file: Path | None = None,
    queue_format: str | None = None,
    nodes_format: str | None = None,
    topology: Path | None = None,
    partition: Annotated[str | None, Parameter(name=["--partition", "-p"])] = None,
    json: Annotated[bool, _Flag] = False,
) -> int:
    """Predict at submission whether a run falls into the long tail of its job, and how long it takes.

    `--train RECORDS -o MODEL.json` learns from earlier runs and prints how well that predicts the latest of them.
    `--model MODEL.json --nodes 64 --place level-spread` predicts a run: b comes from the queue of Slurm or from
    --background, the spread from the nodes that the placement policy chooses now, or from --groups and --leaves.

    Parameters
    ----------
    train
        Records: a table with a row for each run (CSV, Parquet) with its time, `started`, `b`, and some of `nodes`,
        `groups`, `leaves`, `pattern`, `bytes`, `job`; a folder of `odonata cluster probe`; or the folder of a study.
    out
        With --train: the predictor to write, a JSON file.
    recorded
        With --train: take b from a folder of `odonata cluster background --watch`.
    column
        With --train: what a column with another name is, as in `--column b=utilisation`; may be repeated.
    value
        With --train: column of the times; without it the one whose name ends in a unit of time, such as `time_s`.
    unit
        With --train: unit of the times (ps, ns, us, ms, s), where the name of the column does not say it.
    where
        With --train: only rows with this value, as in `--where pattern=alltoall`; may be repeated.
    history_of
        With --train: what makes the history of a job, of `job`, `pattern`, `bytes`, `nodes`; may be repeated. Without
        it `job`, or the other three as far as they are known.
    tail
        With --train: quantile of its history above which a run is in the tail (default: 0.85).
    held_out
        With --train: share of the runs, the latest, on which the predictor is checked (default: 0.25).
    flag_from
        With --train: probability from which a run is flagged (default: where the F1 score was largest in training).
    seed
        With --train: of the bootstrap intervals.
    force
        With --train: overwrite a file that says something else.
    model
        A predictor that --train wrote.
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
    pattern
        Its pattern or collective, as the records name it.
    bytes_
        Its message size, such as `1 MiB`.
    job
        Its job, as the records name it.
    queue
        A file instead of the queue of Slurm.
    nodes_total
        Number of nodes of the machine; with --train, of the system of a study.
    nodes_file
        A file that lists the nodes of the machine: what `sinfo --json`, `sinfo` or `scontrol show node` prints.
    queue_format
        With --queue: the format of its text, where the header is missing, as in `--queue-format '%i|%T|%N'`.
    nodes_format
        With --nodes-file: the format of its text, where the header is missing, as in `--nodes-format '%P|%T|%N'`.
    topology
        With --place: `topology.conf`, or what `scontrol show topology` prints.
    partition
        With --place: only nodes of this partition.
    json
        Print one JSON object.
    """
    if (train is None) == (model is None):
        raise InputError("give either --train RECORDS or --model MODEL.json")
    of_training = {
        "--out": out,
        "--recorded": recorded,
        "--column": column,
        "--value": value,
        "--unit": unit,
        "--where": where,
        "--history-of": history_of,
        "--tail": tail,
        "--held-out": held_out,
        "--flag-from": flag_from,
        "--force": force or None,
    }
    of_run = {
        "--nodes": nodes,
        "--background": background,
        "--place": place,
        "--set": set_,
        "--groups": groups,
        "--leaves": leaves,
        "--pattern": pattern,
        "--bytes": bytes_,
        "--job": job,
        "--queue": queue,
        "--nodes-file": nodes_file,
        "--queue-format": queue_format,
        "--nodes-format": nodes_format,
        "--topology": topology,
        "--partition": partition,
    }
    for name, given in (of_run if train is not None else of_training).items():
        if given is not None:
            raise InputError(f"{name} goes with {'--model' if train is not None else '--train'}")
    if train is not None:
        from odonata.cli.cluster_analyse import pairs
        from odonata.cluster.prediction import text
        from odonata.cluster.prediction.runs import Reading
        from odonata.cluster.prediction.train import HELD_OUT, TAIL
        from odonata.cluster.prediction.train import train as learn

        if out is not None and out.suffix != ".json":
            raise InputError(f"expected a file that ends in .json, found `{out}`")
        made = learn(
            train,
            Reading(
                recorded=recorded,
                columns=pairs(column or [], "--column b=utilisation"),
                value=value,
                unit=unit,
                where=pairs(where or []),
                history_of=history_of,
                nodes_total=nodes_total,
            ),
            tail=TAIL if tail is None else tail,
            held_out=HELD_OUT if held_out is None else held_out,
            flag_from=flag_from,
            seed=seed,
        )
        if out is not None:
            made.write(out, force=force)
        print(made.model_dump_json() if json else text.of_predictor(made))
        if out is None:
            print("\nnothing is written; -o MODEL.json writes the predictor", file=sys.stderr)
        elif not json:
            print(f"\n{out} written")
        return 0
    assert model is not None
    from odonata.cluster.listing import listing
    from odonata.cluster.prediction import text
    from odonata.cluster.prediction.predictor import read_predictor

    queue_listing = listing(queue, queue_format, "--queue-format")
    nodes_listing = listing(nodes_file, nodes_format, "--nodes-format")
    predictor = read_predictor(model)
    known: dict[str, Any] = {"nodes": nodes, "groups": groups, "leaves": leaves, "pattern": pattern, "job": job}
    known["bytes"] = None if bytes_ is None else _bytes(bytes_)
    if place is not None:
        if groups is not None or leaves is not None:
            raise InputError("--place and --groups or --leaves exclude each other")
        from odonata.cli.place import _options
        from odonata.cluster.selection import select

        chosen = select(
            nodes,
            place,
            queue=queue_listing,
            nodes_file=nodes_listing,
            topology=topology,
            partition=partition,
            options=_options(set_ or [], None, None),
        )
        known |= {"nodes": len(chosen.nodes), "groups": len(chosen.groups), "leaves": chosen.leaves}
    else:
        for name, other in (("--set", set_), ("--topology", topology), ("--partition", partition)):
            if other is not None:
                raise InputError(f"{name} goes with --place")
    if background is None:
        from odonata.cluster.utilisation import background as measure

        background = measure(
            queue_listing, nodes_total=nodes_total, nodes=nodes_listing if nodes_total is None else None
        ).utilisation
    known["b"] = float(background)
    said = {name: value for name, value in known.items() if value is not None}
    for name in ("groups", "leaves"):
        if name in predictor.used and name not in said:
            raise InputError(
                f"the predictor needs the {name} that the run touches", hint=f"give --place POLICY, or --{name} N"
            )
    for name in ("nodes", "pattern", "bytes", "job"):
        if (name in predictor.used or name in predictor.history_of) and name not in said:
            raise InputError(f"the predictor needs --{name} of the run")
    found = predictor.predict(said)
    if json:
        print(json_module.dumps({"known": said, **found.as_dict()}))
    else:
        print(text.of_prediction(found, said, predictor.report))
    return 0


def _bytes(text: str) -> int:
    from odonata import units

    try:
        return int(text)
    except ValueError:
        return units.size_bytes(text)
