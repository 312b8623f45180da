"""`odonata cluster watch`: samples, records and metrics of a cluster, for weeks."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter, validators

from odonata.cli.cluster_options import (
    Counting,
    FromOne,
    NodesSource,
    Out,
    Partition,
    PolicyOptions,
    QueueSource,
    Quiet,
    listings_of,
)
from odonata.cli.completion import systems
from odonata.errors import InputError, RunError

if TYPE_CHECKING:
    from collections.abc import Callable

    from prometheus_client import CollectorRegistry

    from odonata.machine import System
    from odonata.monitor.advising import Advising
    from odonata.monitor.judging import Judging
    from odonata.monitor.state import State
    from odonata.queue.listing import File

MISSED = 5
"""How many samples may fail until the advice file is too old (assumed)."""
EVERY_S, LIMIT_S = 3600.0, 1800.0
"""Seconds between two simulations of all jobs, and of the longest one (assumed)."""
_Positive = Annotated[float, Parameter(validator=validators.Number(gt=0))]


def watch(
    *,
    every: _Positive = 60,
    source: QueueSource = QueueSource(),
    machine: NodesSource = NodesSource(),
    counting: Counting = Counting(),
    system: Annotated[str | None, Parameter(completer=systems, metavar="SYSTEM")] = None,
    names: Path | None = None,
    book: Path | None = None,
    vary: Literal["traffic", "seeds", "nothing"] | None = None,
    impact_every: _Positive | None = None,
    impact_limit: _Positive | None = None,
    predictor: Path | None = None,
    listen: str | None = None,
    textfile: Path | None = None,
    advice: Path | None = None,
    place: str | None = None,
    set_: PolicyOptions = None,
    topology: Path | None = None,
    partition: Partition = None,
    keep: Annotated[float, Parameter(validator=validators.Number(gt=0, lte=36_500))] = 400,
    count: FromOne | None = None,
    out: Out = None,
    quiet: Quiet = False,
) -> int:
    """Watch a cluster for weeks: sample the queue, keep records, and export metrics for Prometheus.

    A sample that fails is counted, and the next one follows. With --system, all jobs are simulated from time to time
    (`odonata cluster impact`), in a process of its own, which rests three times as long as it took.

    Parameters
    ----------
    every
        Seconds between two samples.
    system
        The machine, for the slowdown of each job: a preset, or the file that `odonata cluster import` writes.
    names
        With --system: which host is which node. Default: such a file beside the system file.
    book
        With --system: the traffic book. Default: a book in which every value is assumed.
    vary
        With --system: over what slowdowns range (default: traffic).
    impact_every
        With --system: seconds between two simulations of all jobs (default: 3600).
    impact_limit
        With --system: seconds after which a simulation is stopped (default: 1800).
    predictor
        What `odonata cluster train` wrote: counts running jobs by their risk of the long tail. A job is its name.
    listen
        Serve the metrics over HTTP at this address, such as `127.0.0.1:9797`. Only this machine should reach it.
    textfile
        Write the metrics to this file, which ends in `.prom`, for the textfile collector of node_exporter.
    advice
        Write what holds for jobs of each size to this file, for Slurm's scripts at submission (`packaging/submission`).
    place
        With --advice: the placement policy (default: level-spread).
    set_
        With --advice: an option of the policy, as in `-s groups=0-3`.
    topology
        With --advice: `topology.conf`, `topology.yaml`, or what `scontrol show topology` prints.
    partition
        With --advice: only nodes of this partition.
    keep
        Days that records are kept.
    count
        Stop after so many samples.
    out
        Folder of the records (`records`) and of the simulations (`impact`). Default: `watch`.
    quiet
        Print nothing but warnings.
    """
    from datetime import timedelta

    from odonata import files
    from odonata.machine import load
    from odonata.monitor import Watching
    from odonata.monitor.state import State

    if textfile is not None and textfile.suffix != ".prom":
        raise InputError(f"--textfile: expected a file that ends in `.prom`, found `{textfile}`")
    queue, nodes = listings_of(source, machine)
    folder = Path("watch") if out is None else out
    loaded = None if system is None else load(system, None, Path(), None)
    if loaded is not None:
        _check_inputs(loaded, names, book)
        counting = _counted_by(loaded, queue, nodes, counting)
    files.check_folder(folder)
    folder.mkdir(parents=True, exist_ok=True)
    state = State()
    judging = _judging(folder, source, machine, system, names, book, vary, impact_every, impact_limit)
    watching = Watching(
        folder / "records", timedelta(days=keep), queue, nodes, vars(counting), judging=judging, state=state
    )
    if predictor is not None:
        from odonata.prediction.predictor import read_predictor

        watching.predictor = read_predictor(predictor)
    watching.advising = _advising(advice, every, place, set_, topology, partition)
    with files.alone_in(folder, "watch"), ExitStack() as ending:
        if listen is not None or textfile is not None:
            metrics = _registry(state)
            if textfile is not None:
                watching.publish = _writer(textfile, metrics)
                watching.publish()
            if listen is not None:
                ending.callback(_serve(listen, metrics))
        for sample, troubles in watching.samples(every, count):
            if not quiet:
                b = "no sample" if sample.background is None else f"b {sample.background.b:.4f}"
                print(f"{sample.time:%Y-%m-%d %H:%M:%SZ}  {b}", flush=True)
            for trouble in troubles:
                print(f"warning: {trouble}", file=sys.stderr, flush=True)
    return 0


def _check_inputs(system: System, names: Path | None, book: Path | None) -> None:
    """Raises InputError for files of the simulations that cannot be read, which would fail each time."""
    from odonata.workload.book import read_book
    from odonata.workload.names import read_names

    if book is not None:
        read_book(book)
    if names is not None:
        read_names(system, names)


def _counted_by(system: System, queue: File | None, nodes: File | None, counting: Counting) -> Counting:
    """With the nodes of the machine, where no option and no file says how many there are, and Slurm is not asked."""
    from dataclasses import replace

    from odonata.queue.snapshot import nodes_in_queue_file

    said = counting.nodes_total is not None or nodes is not None or counting.drained != "count"
    if said or queue is None or nodes_in_queue_file(queue) is not None:
        return counting
    return replace(counting, nodes_total=system.shape.nodes - len(system.unusable_nodes))


def _judging(
    folder: Path,
    source: QueueSource,
    machine: NodesSource,
    system: str | None,
    names: Path | None,
    book: Path | None,
    vary: str | None,
    every: float | None,
    limit: float | None,
) -> Judging | None:
    """What simulates all jobs; None without a machine. Raises InputError for options that need one."""
    if system is None:
        options_of = {
            "--names": names,
            "--book": book,
            "--vary": vary,
            "--impact-every": every,
            "--impact-limit": limit,
        }
        for option, given in options_of.items():
            if given is not None:
                raise InputError(f"{option} goes with --system")
        return None
    import time

    from odonata.monitor.judging import Judging

    arguments = ["--system", system, "--vary", vary or "traffic", "--leave-out-unknown"]
    options = {
        "--names": names,
        "--book": book,
        "--queue": source.queue,
        "--queue-format": source.queue_format,
        "--cluster": source.cluster,
        "--nodes-file": machine.nodes_file,
        "--nodes-format": machine.nodes_format,
    }
    for option, value in options.items():
        if value is not None:
            arguments += [option, str(value)]
    return Judging(arguments, folder / "impact", every or EVERY_S, limit or LIMIT_S, time.monotonic, time.time)


def _advising(
    advice: Path | None,
    every: float,
    place: str | None,
    set_: list[str] | None,
    topology: Path | None,
    partition: str | None,
) -> Advising | None:
    """What writes the advice file; None without one. Raises InputError for options that need one."""
    if advice is None:
        for option, given in (
            ("--place", place),
            ("--set", set_),
            ("--topology", topology),
            ("--partition", partition),
        ):
            if given is not None:
                raise InputError(f"{option} goes with --advice")
        return None
    from odonata.allocation.selection import choosing
    from odonata.cli.arguments import policy_options
    from odonata.monitor.advising import Advising

    if advice.is_dir() or not advice.parent.is_dir():
        what = "a folder" if advice.is_dir() else "a file in a folder that does not exist"
        raise InputError(f"--advice: expected a file, found {what}, `{advice}`")
    options = policy_options(set_ or [], None, None)
    return Advising(advice, MISSED * every, choosing(place or "level-spread"), options, topology, partition)


def _registry(state: State) -> CollectorRegistry:
    try:
        from odonata.monitor.metrics import registry
    except ModuleNotFoundError as problem:
        if problem.name != "prometheus_client":
            raise
        raise InputError("metrics need prometheus_client", hint='pip install "odonata[monitor]"') from None
    return registry(state)


def _writer(path: Path, metrics: CollectorRegistry) -> Callable[[], None]:
    from prometheus_client.exposition import generate_latest

    from odonata import files

    first = True

    def write() -> None:
        nonlocal first
        try:
            files.write(path, generate_latest(metrics))
        except RunError as problem:
            if first:
                raise
            print(f"warning: {problem}", file=sys.stderr, flush=True)
        first = False

    return write


def _serve(address: str, metrics: CollectorRegistry) -> Callable[[], object]:
    """Serves the metrics; what ends that."""
    from prometheus_client import start_http_server

    from odonata import reading

    host, colon, port = address.rpartition(":")
    number = reading.whole(port)
    if not colon or not host or number is None or not 0 < number < 1 << 16:
        raise InputError(f"--listen: expected an address and a port such as 127.0.0.1:9797, found `{address}`")
    try:
        server, _ = start_http_server(number, host.strip("[]"), metrics)
    except OSError as problem:
        raise RunError(f"cannot listen at `{address}`: {problem.strerror or problem}") from None

    def close() -> None:
        server.shutdown()
        server.server_close()

    return close
