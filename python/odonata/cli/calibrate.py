"""`odonata calibrate`: the costs of a system's host from measured times of collectives."""

import json as json_module
import sys
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter, validators

from odonata.cli.completion import systems
from odonata.errors import InputError

if TYPE_CHECKING:
    from odonata.calibration import Calibration


#: Reasons for rows that are left out that the text gives; `--json` has all.
SHOWN = 4


def calibrate(
    file: Path,
    /,
    *,
    system: Annotated[str, Parameter(completer=systems, metavar="SYSTEM")],
    value: str | None = None,
    where: Annotated[list[str] | None, Parameter(negative=())] = None,
    bytes_are: Literal["per-rank", "whole"] = "per-rank",
    largest: str = "4 MiB",
    fit_nodes: Annotated[int | None, Parameter(validator=validators.Number(gte=1))] = None,
    seed: Annotated[int, Parameter(validator=validators.Number(gte=0))] = 1,
    workers: Annotated[
        int | None, Parameter(name=["--workers", "-j"], validator=validators.Number(gte=1, lte=1024))
    ] = None,
    out: Annotated[Path | None, Parameter(name=["--out", "-o"])] = None,
    predictions: Path | None = None,
    force: Annotated[bool, Parameter(negative=())] = False,
    json: Annotated[bool, Parameter(negative=())] = False,
    quiet: Annotated[bool, Parameter(name=["--quiet", "-q"], negative=())] = False,
) -> int:
    """Fit the costs of a system's host to measured medians of collectives.

    Every measured collective is simulated on the empty system. Fitted are the times to send and to receive a message
    and to set up a large one, the bandwidths of copies and reductions, the eager limit, and the time at the start of a
    collective. A scenario uses the result with `system = { preset = "lumi", host = "FILE.toml" }`.

    Parameters
    ----------
    file
        A table (CSV or Parquet) with `collective`, `bytes`, `nodes`, the time (`median_us`), and if there are several,
        `algorithm` and `ranks_per_node`; or a folder of `odonata cluster probe`.
    system
        The machine: a name (`odonata show systems`) or its TOML file.
    value
        Column of the times (default: `median_us` or the like, else the one whose name ends in a unit of time).
    where
        Only rows with this value, as in `--where machine=lumi`; may be repeated.
    bytes_are
        What the bytes of an allgather or an all-to-all count: what a rank has for another (as in the OSU benchmarks),
        or the whole vector.
    largest
        Leave out larger sizes: they take long to simulate.
    fit_nodes
        Most nodes of what is fitted; larger runs are held out, to show the error of prediction. Default: the runs with
        the most nodes are held out, or a quarter of the rows if all have as many.
    seed
        Of the bootstrap, which makes the intervals.
    workers
        Threads that simulate: one for each processor without it. The result does not depend on it.
    out
        The file to write (`.toml`), with sources.
    predictions
        Also write a row for each measurement to a table (.parquet or .csv).
    force
        Overwrite a file with different contents.
    json
        Print one JSON object.
    quiet
        No progress on standard error.
    """
    from odonata import files, units
    from odonata.calibration import calibrate as run
    from odonata.cli.arguments import pairs, write_table
    from odonata.processors import processors

    if out is not None and out.suffix != ".toml":
        raise InputError(f"`{out}`: expected a file name that ends in .toml")
    if predictions is not None and predictions.suffix not in (".parquet", ".csv"):
        raise InputError(f"expected a file that ends in .parquet or .csv, found `{predictions}`")
    for path in (out, predictions):
        if path is not None and not path.parent.is_dir():
            raise InputError(f"there is no folder `{path.parent}`")
    calibration = run(
        file,
        system,
        value=value,
        where=pairs(where or []),
        bytes_are=bytes_are,
        largest=units.size_bytes(largest),
        fit_nodes=fit_nodes,
        seed=seed,
        workers=workers or processors(),
        report=None if quiet else lambda line: print(line, file=sys.stderr, flush=True),
    )
    if out is not None:
        files.write_new(out, calibration.toml().encode(), force=force)
    if predictions is not None:
        write_table(calibration.frame(), predictions)
    if json:
        print(json_module.dumps(_as_json(calibration)))
        return 0
    _show(calibration)
    if out is not None:
        print(f'\n{out} written; a scenario uses it with system = {{ preset = "{system}", host = "{out}" }}')
    return 0


def _as_json(calibration: "Calibration") -> dict[str, Any]:
    return {
        "system": calibration.system,
        "host": calibration.host.document(),
        "intervals": calibration.fitted.intervals,
        "undetermined": calibration.fitted.undetermined,
        "inseparable": [{"costs": [a, b], "correlation": r} for a, b, r in calibration.fitted.inseparable],
        "error": {part: calibration.error(part) for part in ("fitted", "held out")},
        "error_before": calibration.before,
        "rows": calibration.frame().to_dicts(),
        "left_out": calibration.left_out,
    }


def _show(calibration: "Calibration") -> None:
    from odonata.calibration.fit import NAMES
    from odonata.text import Table, columns
    from odonata.text.numbers import fixed

    host = calibration.host.document()
    rows = [[key, host[key], calibration.interval(key)] for key in NAMES]
    rows.insert(3, ["eager", host["eager"], "best of " + str(len(calibration.fitted.eager))])
    Table(columns(["cost", "fitted", "95 %"]), rows).show()
    print()
    kinds: dict[tuple[str, str, int], list[float]] = {}
    for row in calibration.rows:
        of = row.configuration
        kinds.setdefault((row.part, of.label, of.nodes), []).append(row.error)
    lines = [
        [
            label,
            part,
            f"{nodes:,}",
            str(len(errors)),
            fixed(median(map(abs, errors)), ".1%"),
            fixed(median(errors), "+.1%"),
        ]
        for (part, label, nodes), errors in sorted(kinds.items(), key=lambda item: (item[0][0], item[0][1:]))
    ]
    Table(columns(["collective", "part", "nodes", "n", "median |error|", "median error"]), lines).show()
    print()
    for part in ("fitted", "held out"):
        if (error := calibration.error(part)) is not None:
            within = [abs(row.error) <= 0.25 for row in calibration.rows if row.part == part]
            before = fixed(calibration.before[part], ".1%")
            print(
                f"{part}: median absolute error {fixed(error, '.1%')} ({before} with the costs that "
                f"{calibration.system} has); {sum(within)} of {len(within)} within 25 %"
            )
    for name in calibration.fitted.undetermined:
        print(f"warning: the measurements hardly determine `{name}`", file=sys.stderr)
    for a, b, r in calibration.fitted.inseparable:
        print(
            f"warning: the measurements do not tell `{a}` and `{b}` apart (correlation {r:.2f}): what one of them is "
            "too low, the other is too high",
            file=sys.stderr,
        )
    if calibration.left_out:
        count = sum(calibration.left_out.values())
        print(
            f"left out: {count:,} rows: "
            + "; ".join(f"{why} ({n:,})" for why, n in list(calibration.left_out.items())[:SHOWN])
        )
