"""The probe: background utilisation before, the times of collectives, background utilisation after, and a file.

Source: Salimi Beni and Cosenza 2022, sections 3.1 and 3.2, and De Sensi 2019 for configurations
that alternate.
"""

from __future__ import annotations

import os
import shlex
import tempfile
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from odonata import files
from odonata.background.utilisation import LEAST_NODES, background
from odonata.errors import InputError, OdonataError, RunError
from odonata.probe.build import build
from odonata.probe.configurations import GAP_S, ITERATIONS, OPERATIONS, SIZES, WARMUP, configurations
from odonata.probe.launch import launch
from odonata.queue.slurm import commands
from odonata.queue.topology import parse_topology, read_topology

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import polars as pl

    from odonata.background.utilisation import Background, Drained
    from odonata.probe.launch import Times
    from odonata.queue.listing import File
    from odonata.queue.topology import Topology

#: Largest change of b from before to after at which a run is kept. Source: Salimi Beni 2022, section 4.2: "less than 5
#: %", which we read as percentage points; `relative` is the other reading.
MOST_CHANGE = 0.05

Outcome = Literal["kept", "discarded", "incomplete"]

COLUMNS = {
    "run": ("String", "", "when the run began (UTC) and a number: one value for each run of the probe"),
    "started": ("Datetime", "", "when the iteration began, on the wall clock of rank 0 (UTC)"),
    "collective": ("String", "", "operation; ping-pong goes from the first rank to the last and back"),
    "bytes": ("Int64", "B", "bytes of the vector of a rank; alltoall: for each other rank; barrier: 0"),
    "iteration": ("Int32", "", "number of the iteration, from 0"),
    "rank": ("Int32", "", "rank that measured the time"),
    "node": ("String", "", "node of the rank"),
    "time_ns": ("Int64", "ns", "how long the call took on this rank, by its own clock"),
    "nodes": ("Int32", "", "nodes of the job"),
    "ranks": ("Int32", "", "ranks of the job"),
    "leaves": ("Int32", "", "leaf switches with a node of the job; null if the switches are not known"),
    "groups": ("Int32", "", "groups with a node of the job; null if the switches are not known"),
    "b": (
        "Float64",
        "1",
        "background utilisation by equation 2, without the job of the probe: mean of before and after",
    ),
    "b_before": ("Float64", "1", "b before the run; null if it was not measured"),
    "b_after": ("Float64", "1", "b after the run; null if it was not measured"),
    "b1": ("Float64", "1", "background utilisation by equation 1, before the run"),
}
"""Columns of a record: type, unit, meaning."""


@dataclass(frozen=True)
class Probe:
    """A run of the probe."""

    file: Path
    """Where its times are."""
    outcome: Outcome
    """`kept`; `discarded`, because the background changed; `incomplete`, because the launcher failed."""
    why: str
    """Why it is not kept; empty if it is."""
    before: Background | None
    """The background before the run; `None` without measurement of it."""
    after: Background | None
    """The background after the run."""
    table: pl.DataFrame
    """The times: a row for each iteration, configuration and rank."""

    def summary(self) -> pl.DataFrame:
        """Median, 99 % quantile and maximum of the slowest rank for each configuration, in nanoseconds.

        Returns
        -------
        polars.DataFrame
        """
        import polars as pl

        time = pl.col("time_ns")
        return (
            self.table.group_by("collective", "bytes", "iteration", maintain_order=True)
            .agg(time.max())
            .group_by("collective", "bytes", maintain_order=True)
            .agg(
                time.count().alias("iterations"),
                time.median().alias("median_ns"),
                time.quantile(0.99).alias("p99_ns"),
                time.max().alias("max_ns"),
            )
            .sort(pl.col("collective").cast(pl.Enum(OPERATIONS)), "bytes")
        )


def probe(
    out: str | Path = "probe",
    *,
    launcher: str | Sequence[str] | None = None,
    operations: Sequence[str] = OPERATIONS,
    sizes: Sequence[int] = SIZES,
    iterations: int = ITERATIONS,
    warmup: int = WARMUP,
    gap_s: float = GAP_S,
    seed: int = 1,
    compiler: str | None = None,
    measure_background: bool = True,
    queue: File | None = None,
    nodes_total: int | None = None,
    nodes: File | None = None,
    drained: Drained = "count",
    least_nodes: int = LEAST_NODES,
    most_change: float = MOST_CHANGE,
    relative: bool = False,
    topology: str | Path | None = None,
    report: Callable[[int], None] | None = None,
) -> Probe:
    """Measures the latency of MPI operations on the nodes of a job, and the background before and after.

    Parameters
    ----------
    out
        Folder of the records; every run writes a file of its own.
    launcher
        Command that starts a program with several ranks; without it `srun` within a job of Slurm, else `mpirun`.
    operations
        Some of `bcast`, `reduce`, `alltoall`, `allreduce`, `barrier` and `ping-pong`.
    sizes
        Bytes, multiples of 4.
    iterations
        Recorded iterations. Each runs every operation with every size once.
    warmup
        Iterations before them that are not recorded.
    gap_s
        Seconds of rest before each operation.
    seed
        Of the order of the configurations within an iteration.
    compiler
        The MPI compiler; without it `$MPICC`, else `mpicc`.
    measure_background
        Whether b is measured. Without it every complete run is kept.
    queue
        A file instead of the queue of Slurm, as for `odonata.cluster.background`; it is read before and after the run.
    nodes_total
        The number of nodes of the machine.
    nodes
        A file with the nodes.
    drained
        Whether nodes that are drained or down count as part of the machine.
    least_nodes
        Fewest nodes of a job that communicates.
    most_change
        The run is kept if b changes by less than this.
    relative
        Whether `most_change` is a share of b before the run.
    topology
        `topology.conf`, or what `scontrol show topology` prints, for the columns `leaves` and `groups`. Without it,
        Slurm is queried if b comes from Slurm.
    report
        Called with the number of finished iterations.

    Returns
    -------
    Probe
        Also for a run that is not kept: its data are in a file whose name says so.

    Raises
    ------
    InputError
        For wrong arguments, and a launcher that does not exist.
    RunError
        If the program cannot be built, b cannot be measured before the run, or nothing was measured.
    KeyboardInterrupt
        After the times that were measured are written.
    """
    folder = Path(out)
    tested = configurations(operations, sizes)
    if iterations < 1 or warmup < 0 or not 0 <= gap_s <= 3600:
        raise InputError("expected at least 1 iteration, 0 warm-up iterations and a gap from 0 s to 3600 s")
    if not 0 < most_change <= 1:
        raise InputError(f"expected a change of b above 0 and at most 1, found {most_change:g}")
    words = shlex.split(launcher) if isinstance(launcher, str) else list(launcher or _launcher())
    if not words:
        raise InputError("the launcher is empty", hint='give a command, as in --launcher "mpirun -n 4"')
    files.check_folder(folder)

    def utilisation() -> Background | None:
        if not measure_background:
            return None
        return background(
            queue,
            nodes_total=nodes_total,
            nodes=nodes,
            drained=drained,
            least_nodes=least_nodes,
            without=_own_job(),
        )

    switches = _switches(topology, query=measure_background and queue is None)
    program = build(compiler)
    try:
        before = utilisation()
    except RunError as e:
        hint = "--queue FILE reads b from a file; --no-background measures without it"
        raise RunError(f"b cannot be measured before the run: {e}\n  hint: {hint}") from None
    begin = datetime.now(UTC)
    arguments = [str(iterations), str(warmup), str(round(gap_s * 1e6)), str(seed)]
    arguments += [f"{name}:{size}" for name, size in tested]
    times, problem = launch(words, program, arguments, len(tested), report)
    if not times.rows:
        raise problem or RunError("the probe measured nothing")
    after = None
    outcome: Outcome = "incomplete" if problem else "kept"
    why = "" if problem is None else str(problem) or "it was interrupted"
    if problem is None:
        try:
            after = utilisation()
        except OdonataError as e:
            outcome, why = "discarded", f"b cannot be measured after the run: {e}"
        if before is not None and after is not None:
            change = abs(after.b - before.b)
            if change and (change / before.b if relative and before.b else change) >= most_change:
                unit = " of it" if relative else ""
                why = f"b went from {before.b:.4f} to {after.b:.4f}, by {most_change:g}{unit} or more"
                outcome = "discarded"
    stem = f"{begin:%Y%m%dT%H%M%SZ}"
    table, metadata = _table(times, tested, before, after, switches)
    file = _write(folder, stem, outcome, table, metadata)
    if isinstance(problem, KeyboardInterrupt):
        raise problem
    import polars as pl

    return Probe(file, outcome, why, before, after, table.with_columns(run=pl.lit(_run_of(file))))


def _launcher() -> list[str]:
    return ["srun"] if "SLURM_JOB_ID" in os.environ else ["mpirun"]


def _own_job() -> set[str]:
    """Ids under which Slurm may list the job that runs the probe; a task of an array has two."""
    names = ("SLURM_JOB_ID", "SLURM_ARRAY_JOB_ID", "SLURM_ARRAY_TASK_ID")
    job, array, task = (os.environ.get(name) for name in names)
    return {number for number in (job, f"{array}_{task}" if array else None) if number is not None}


def _switches(topology: str | Path | None, *, query: bool) -> Topology | None:
    if topology is not None:
        return read_topology(topology)
    if not query:
        return None
    try:
        text = commands.topology()
        return parse_topology(text) if "Name=" in text else None
    except OdonataError:
        return None  # the columns are null; b itself says what is wrong with Slurm


def _table(
    times: Times,
    tested: list[tuple[str, int]],
    before: Background | None,
    after: Background | None,
    switches: Topology | None,
) -> tuple[pl.DataFrame, dict[str, str]]:
    """The rows in the order of measurement, without ranks that take no part, and the metadata of the file."""
    import json

    import numpy as np
    import polars as pl

    ranks = times.ranks
    numbers = np.array([row[:3] for row in times.rows], dtype=np.int64).repeat(ranks, axis=0)
    measured = np.array([row[3] for row in times.rows], dtype=np.int64).ravel()
    rank = np.tile(np.arange(ranks, dtype=np.int32), len(times.rows))
    part = measured >= 0
    hosts = _known(times.hosts, switches)
    leaves, groups = _spread(hosts, switches)
    b = None if before is None else before.b if after is None else (before.b + after.b) / 2
    names, sizes = zip(*tested, strict=True)
    columns: dict[str, Any] = {
        "run": pl.Series([None] * int(part.sum()), dtype=pl.String),
        "started": pl.Series(numbers[part, 2]).cast(pl.Datetime("us", "UTC")),
        "collective": pl.Series(names)[numbers[part, 1]],
        "bytes": np.array(sizes, dtype=np.int64)[numbers[part, 1]],
        "iteration": numbers[part, 0].astype(np.int32),
        "rank": rank[part],
        "node": pl.Series(hosts)[rank[part]],
        "time_ns": measured[part],
    }
    constant = {
        "nodes": len(set(hosts)),
        "ranks": ranks,
        "leaves": leaves,
        "groups": groups,
        "b": b,
        "b_before": None if before is None else before.b,
        "b_after": None if after is None else after.b,
        "b1": None if before is None else before.b1,
    }
    table = pl.DataFrame(columns).with_columns(
        pl.lit(value).cast(getattr(pl, COLUMNS[name][0])).alias(name) for name, value in constant.items()
    )
    described = {name: {"unit": unit, "meaning": meaning} for name, (_, unit, meaning) in COLUMNS.items()}
    return table.select(list(COLUMNS)), {"odonata.columns": json.dumps(described)}


def _known(hosts: list[str], switches: Topology | None) -> list[str]:
    """Names of hosts as Slurm has them, which may lack the domain."""
    if switches is None:
        return hosts
    return [name if name in switches.ids else name.partition(".")[0] for name in hosts]


def _spread(hosts: list[str], switches: Topology | None) -> tuple[int | None, int | None]:
    """Leaf switches and groups of the hosts; none if one of them is not listed."""
    if switches is None or any(name not in switches.ids for name in hosts):
        return None, None
    shape, ids = switches.shape, [switches.ids[name] for name in hosts]
    return len(Counter(map(shape.router_of, ids))), len(Counter(map(shape.group_of, ids)))


def _run_of(file: Path) -> str:
    return file.stem.removeprefix("probe-").removesuffix("-discarded").removesuffix("-incomplete")


def _write(folder: Path, stem: str, outcome: Outcome, table: pl.DataFrame, metadata: dict[str, str]) -> Path:
    """Writes a file under a name that no other run has, and never over one."""
    import io

    import polars as pl

    def write(path: Path) -> Path:
        buffer = io.BytesIO()
        named = table.with_columns(run=pl.lit(_run_of(path)))
        named.write_parquet(buffer, compression="zstd", metadata=metadata)
        files.write(path, buffer.getvalue())
        return path

    ending = "" if outcome == "kept" else f"-{outcome}"
    try:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as e:
            raise RunError(f"cannot make the folder `{folder}`: {e.strerror}") from None
        with files.locked(folder):
            taken = {_run_of(path) for path in folder.glob("probe-*.parquet")}
            number = next(n for n in range(len(taken) + 1) if f"{stem}-{n:03}" not in taken)
            return write(folder / f"probe-{stem}-{number:03}{ending}.parquet")
    except RunError as e:
        # The measurement cannot be repeated under the same background.
        other = Path(tempfile.mkdtemp(prefix="odonata-probe-")) / f"probe-{stem}-000{ending}.parquet"
        raise RunError(f"{e}\n  hint: the times are in `{write(other)}` instead") from None
