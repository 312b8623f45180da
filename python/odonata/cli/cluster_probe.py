"""`odonata cluster probe`: the latency of collectives on the nodes of a job, with the background before and after."""

import json as json_module
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter, validators

from odonata.cli.cluster_options import (
    Counting,
    Flag,
    FromOne,
    FromZero,
    Json,
    NodesSource,
    QueueSource,
    Quiet,
    Several,
    listings_of,
)
from odonata.errors import InputError

if TYPE_CHECKING:
    from odonata.probe import Probe


def probe(
    *,
    out: Annotated[Path, Parameter(name=["--out", "-o"])] = Path("probe"),
    launcher: str | None = None,
    op: Several = None,
    size: Several = None,
    iterations: FromOne = 1000,
    warmup: FromZero = 10,
    gap: str = "1 ms",
    seed: FromZero = 1,
    mpicc: str | None = None,
    no_background: Flag = False,
    source: QueueSource = QueueSource(),
    machine: NodesSource = NodesSource(),
    counting: Counting = Counting(),
    most_change: Annotated[float, Parameter(validator=validators.Number(gt=0, lte=1))] = 0.05,
    relative: Flag = False,
    topology: Path | None = None,
    json: Json = False,
    quiet: Quiet = False,
) -> int:
    """Measure the latency of MPI operations, and the background utilisation before and after.

    A small MPI program is built with the compiler of the cluster and started on the nodes of the job. Each iteration
    runs every operation with every size once, in a new random order; every rank records its own time. The run is kept
    if b changes by less than 5 percentage points (Salimi Beni 2022); otherwise its file is named so, and the exit
    status is 1. `odonata cluster analyse FOLDER` analyses all runs that were kept.

    Parameters
    ----------
    out
        Folder of the records; every run writes a new file.
    launcher
        Command that starts the ranks, as in `--launcher "mpirun -n 4"` (default: `srun` in a job of Slurm, else
        `mpirun`).
    op
        Only this operation: bcast, reduce, alltoall, allreduce, barrier or ping-pong; may be repeated.
    size
        Only this size, as in `--size "1 KiB"`; may be repeated (default: 4 B, 1 KiB, 32 KiB and 1 MiB).
    iterations
        Recorded iterations.
    warmup
        Iterations before them that are not recorded.
    gap
        Rest before each operation.
    seed
        Of the order of the operations.
    mpicc
        The MPI compiler (default: `$MPICC`, else `mpicc`).
    no_background
        Do not measure b; every complete run is kept.
    source.queue
        A file instead of the queue of Slurm; it is read before and after the run.
    most_change
        The run is kept if b changes by less than this.
    relative
        Read --most-change as a share of b before the run, not as a difference.
    topology
        `topology.conf`, `topology.yaml`, or what `scontrol show topology` prints (default: Slurm is queried).
    quiet
        No progress on standard error.
    """
    from odonata import units
    from odonata.probe import OPERATIONS, SIZES
    from odonata.probe import probe as measure

    queue, nodes = listings_of(source, machine)
    if no_background and (queue or counting.nodes_total or nodes or relative or counting.drained != "count"):
        raise InputError("--no-background measures no b, so options that say how go without it")
    result = measure(
        out,
        launcher=launcher,
        operations=op or OPERATIONS,
        sizes=[units.size_bytes(text) for text in size] if size else SIZES,
        iterations=iterations,
        warmup=warmup,
        gap_s=units.time_ps(gap) / 1e12,
        seed=seed,
        compiler=mpicc,
        measure_background=not no_background,
        queue=queue,
        nodes=nodes,
        **vars(counting),
        most_change=most_change,
        relative=relative,
        topology=topology,
        report=None if quiet else _Progress(iterations),
    )
    if json:
        print(json_module.dumps(_as_json(result)))
    else:
        _show(result)
    if result.outcome != "kept":
        print(f"error: the run is {result.outcome}: {result.why}", file=sys.stderr)
        return 1
    return 0


class _Progress:
    """How many iterations are done: one line that is written over on a terminal, four lines elsewhere."""

    def __init__(self, of: int) -> None:
        self._of = of
        self._shown = 0

    def __call__(self, done: int) -> None:
        terminal = sys.stderr.isatty()
        if done > self._shown and (terminal or done == self._of or done >= self._shown + self._of / 4):
            self._shown = done
            end = "\r" if terminal and done < self._of else "\n"
            print(f"{done:,} of {self._of:,} iterations done", file=sys.stderr, end=end, flush=True)


def _as_json(result: "Probe") -> dict[str, Any]:
    first = result.table.row(0, named=True)
    return {
        "file": str(result.file),
        "outcome": result.outcome,
        "why": result.why,
        **{
            name: first[name]
            for name in ("run", "nodes", "ranks", "leaves", "groups", "b", "b_before", "b_after", "b1")
        },
        "times": result.summary().to_dicts(),
    }


def _show(result: "Probe") -> None:
    from odonata.text import Table, columns
    from odonata.text.numbers import digits, unit_of
    from odonata.units import format_bytes

    first = result.table.row(0, named=True)
    summary = result.summary()
    unit, factor = unit_of(float(value) * 1000 for value in summary["median_ns"])
    rows = [
        [
            row["collective"],
            "-" if not row["bytes"] else format_bytes(row["bytes"]),
            f"{row['iterations']:,}",
            *(digits(row[name] * 1000, factor) for name in ("median_ns", "p99_ns", "max_ns")),
        ]
        for row in summary.iter_rows(named=True)
    ]
    spread = "" if first["leaves"] is None else f", {first['leaves']} leaf switches in {first['groups']} groups"
    on = "1 node" if first["nodes"] == 1 else f"{first['nodes']:,} nodes"
    print(f"{first['ranks']:,} ranks on {on}{spread}; slowest rank of each iteration, in {unit}\n")
    Table(columns(["operation", "size", "n", "median", "p99", "max"]), rows).show()
    if result.before is not None and result.after is not None:
        print(f"\nbackground utilisation b: {result.before.b:.4f} before, {result.after.b:.4f} after")
    print(f"\n{result.table.height:,} times in {result.file}")
