"""`odonata cluster train`: learns from records of runs how likely a run is to fall into the tail."""

import sys
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter, validators

from odonata.cli.cluster_options import Flag, FromOne, FromZero, Out, Several
from odonata.errors import InputError


def train(
    records: Path,
    /,
    *,
    out: Out = None,
    recorded: Path | None = None,
    column: Several = None,
    value: str | None = None,
    unit: str | None = None,
    where: Several = None,
    history_of: Several = None,
    nodes_total: FromOne | None = None,
    tail: Annotated[float | None, Parameter(validator=validators.Number(gte=0.5, lte=0.99))] = None,
    held_out: Annotated[float | None, Parameter(validator=validators.Number(gte=0.05, lte=0.5))] = None,
    flag_from: Annotated[float | None, Parameter(validator=validators.Number(gt=0, lt=1))] = None,
    seed: FromZero = 1,
    force: Flag = False,
    json: Flag = False,
) -> int:
    """Learn from records of runs to predict the long tail of a job, and check it on the latest of them.

    `odonata cluster train runs.csv -o model.json` writes a predictor for `odonata cluster predict`, and prints how well
    one that learnt from the earlier runs alone predicts the latest.

    Parameters
    ----------
    records
        A table with a row for each run (CSV, Parquet) with its time, `started`, `b`, and some of `nodes`, `groups`,
        `leaves`, `pattern`, `bytes`, `job`; a folder of `odonata cluster probe`; or the folder of a study.
    out
        The predictor to write, a JSON file.
    recorded
        Take b from a folder of `odonata cluster background --watch`.
    column
        What a column with another name is, as in `--column b=utilisation`; may be repeated.
    value
        Column of the times; without it the one whose name ends in a unit of time, such as `time_s`.
    unit
        Unit of the times (ps, ns, us, ms, s), where the name of the column does not say it.
    where
        Only rows with this value, as in `--where pattern=alltoall`; may be repeated.
    history_of
        What makes the history of a job, of `job`, `pattern`, `bytes`, `nodes`; may be repeated. Without it `job`, or
        the other three as far as they are known.
    nodes_total
        Number of nodes of the system of a study.
    tail
        Quantile of its history above which a run is in the tail (default: 0.85).
    held_out
        Share of the runs, the latest, on which the predictor is checked (default: 0.25).
    flag_from
        Probability from which a run is flagged (default: where the F1 score was largest in training).
    seed
        Of the bootstrap intervals.
    force
        Overwrite a file that says something else.
    json
        Print the predictor as one JSON object.
    """
    from odonata.cli.arguments import pairs
    from odonata.prediction import text
    from odonata.prediction.runs import Reading
    from odonata.prediction.train import HELD_OUT, TAIL
    from odonata.prediction.train import train as learn

    if out is not None and out.suffix != ".json":
        raise InputError(f"expected a file that ends in .json, found `{out}`")
    made = learn(
        records,
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
