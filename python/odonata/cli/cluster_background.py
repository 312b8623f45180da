"""`odonata cluster background`: how busy the network is, now, over time, and in the past."""

from __future__ import annotations

import json as json_module
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter, validators

from odonata.cli.cluster_options import Counting, Flag, FromOne, NodesSource, Out, QueueSource, listings_of
from odonata.errors import InputError

if TYPE_CHECKING:
    from odonata.background.history import History
    from odonata.background.utilisation import Background
    from odonata.background.watch import Sample

_Positive = Parameter(validator=validators.Number(gt=0))


def background(
    *,
    source: QueueSource = QueueSource(),
    machine: NodesSource = NodesSource(),
    counting: Counting = Counting(),
    watch: Annotated[float | None, _Positive] = None,
    count: FromOne | None = None,
    history: Path | None = None,
    every: Annotated[float, _Positive] = 600,
    cores_per_node: FromOne | None = None,
    out: Out = None,
    json: Flag = False,
    force: Flag = False,
) -> int:
    """Compute the background utilisation b: the share of the machine whose nodes run jobs of two nodes or more.

    b1 = Ne/Nt is equation 1 and b = (Ne/Nt)(N'e/Na) equation 2 of Salimi Beni 2022. Without files, Slurm is queried.

    Parameters
    ----------
    watch
        Record b every so many seconds, in the folder --out, until Ctrl-C.
    count
        With --watch: stop after so many samples.
    history
        Compute b over the past from a file: `sacct --parsable2`, `sacct --json`, an accounting log of PBS, a trace in
        SWF, a PM100 job table.
    every
        With --history: seconds between two samples.
    cores_per_node
        With --history: processors of a node, for SWF whose header does not say it.
    out
        With --watch the folder of the recording (default: `background`), with --history a table (.parquet or .csv).
    json
        Print one JSON object; with --watch one for each sample.
    force
        With --history: overwrite a table with different contents.
    """
    from odonata.background.utilisation import background as measure

    # With --history, --cluster is about its file.
    queue, nodes = listings_of(source if history is None else replace(source, cluster=None), machine)
    if history is not None:
        if queue is not None or nodes is not None or watch is not None or counting.drained != "count":
            raise InputError(
                "--history goes with --nodes-total, --least-nodes, --every, --cores-per-node, --cluster, --out and "
                "--force only"
            )
        return _history(history, counting, every, cores_per_node, source.cluster, out, json, force=force)
    if force:
        raise InputError("--force goes with --history")
    if watch is None:
        for name, given in (("--out", out), ("--count", count)):
            if given is not None:
                raise InputError(f"{name} goes with --watch{' or --history' if name == '--out' else ''}")

    def sample() -> Background:
        return measure(queue, nodes=nodes, **vars(counting))

    if watch is not None:
        return _watch(watch, sample, count, out or Path("background"), json)
    busy = sample()
    if json:
        print(json_module.dumps(_as_json(busy)))
    else:
        print(_text(busy, counting.least_nodes))
    return 0


def _as_json(busy: Background) -> dict[str, Any]:
    names = ("b1", "b", "nodes_communicating", "nodes_total", "listings_communicating", "listings_running")
    facts = {name: getattr(busy, name) for name in (*names, "jobs_counted", "jobs_excluded")}
    return facts | ({"unknown_states": dict(busy.unknown_states)} if busy.unknown_states else {})


def _text(busy: Background, least_nodes: int) -> str:
    from odonata.queue.records import not_known

    unknown = f"\nassumed: {not_known(dict(busy.unknown_states))}" if busy.unknown_states else ""
    return (
        f"background utilisation b = {busy.b:.4f} (equation 2), b1 = {busy.b1:.4f} (equation 1)\n"
        f"{busy.nodes_communicating:,} of {busy.nodes_total:,} nodes run jobs of {least_nodes} nodes or more; "
        f"these jobs hold {busy.listings_communicating:,} of {busy.listings_running:,} allocated nodes, "
        "each counted once for each of its jobs\n"
        f"{busy.jobs_counted:,} jobs counted, {busy.jobs_excluded:,} left out (waiting, ending, or on fewer nodes)"
        f"{unknown}"
    )


def _watch(every: float, sample: Any, count: int | None, folder: Path, json: bool) -> int:
    from odonata.background.watch import Recorder, watch

    recorder: Recorder | None = None
    for reading in watch(every, sample, count=count):
        if recorder is None:
            recorder = Recorder(folder, process=reading.time)
        recorder.add(reading)
        print(json_module.dumps(_sample(reading)) if json else _line(reading), flush=True)
        if reading.clock_back_s:
            print(f"warning: the clock went back by {reading.clock_back_s:,.1f} s; the sample is kept", file=sys.stderr)
        if reading.error is not None:
            print(f"warning: no sample: {reading.error}", file=sys.stderr)
    return 0


def _sample(reading: Sample) -> dict[str, Any]:
    facts = {} if reading.background is None else _as_json(reading.background)
    return {"time": reading.time.isoformat(), "clock_back_s": reading.clock_back_s, "error": reading.error, **facts}


def _line(reading: Sample) -> str:
    moment = reading.time.strftime("%Y-%m-%d %H:%M:%SZ")
    if reading.background is None:
        return f"{moment}  no sample"
    return f"{moment}  b {reading.background.b:.4f}  b1 {reading.background.b1:.4f}"


def _history(
    file: Path,
    counting: Counting,
    every: float,
    cores_per_node: int | None,
    cluster: str | None,
    out: Path | None,
    json: bool,
    *,
    force: bool,
) -> int:
    from odonata.background.history import read_history

    if out is not None and out.suffix not in (".parquet", ".csv"):
        raise InputError(f"expected a file that ends in .parquet or .csv, found `{out}`")
    history = read_history(
        file,
        nodes_total=counting.nodes_total,
        every_s=every,
        least_nodes=counting.least_nodes,
        cores_per_node=cores_per_node,
        cluster=cluster,
    )
    if out is not None:
        import io

        from odonata import files

        buffer = io.BytesIO()
        table = history.frame()
        table.write_parquet(buffer) if out.suffix == ".parquet" else table.write_csv(buffer)
        files.write_new(out, buffer.getvalue(), force=force)
    if json:
        print(json_module.dumps(_series(history)))
    else:
        print(_past(history))
        if out is not None:
            print(f"{len(history.times):,} samples in {out}")
    return 0


def _series(history: History) -> dict[str, Any]:
    return {
        "mean_b": history.mean_b,
        "mean_b1": history.mean_b1,
        "runs": history.runs,
        "skipped": history.skipped,
        **({"unknown_states": dict(history.unknown_states)} if history.unknown_states else {}),
        "time": [_moment(at) for at in history.times],
        "b1": [sample.b1 for sample in history.samples],
        "b": [sample.b for sample in history.samples],
        "nodes_communicating": [sample.nodes_communicating for sample in history.samples],
        "nodes_total": history.samples[0].nodes_total,
        "jobs_counted": [sample.jobs_counted for sample in history.samples],
    }


def _past(history: History) -> str:
    from odonata.queue.records import not_known

    ascending = sorted(sample.b for sample in history.samples)
    low, middle, high = (ascending[int(q * (len(ascending) - 1))] for q in (0.05, 0.5, 0.95))
    highest = max(range(len(history.times)), key=lambda at: history.samples[at].b)
    lines = [
        f"{history.runs:,} jobs that ran, {_moment(history.times[0])} to {_moment(history.times[-1])}, "
        f"{len(history.times):,} samples",
        f"b: mean {history.mean_b:.4f} (b1 {history.mean_b1:.4f}), median {middle:.4f}, "
        f"5 % to 95 %: {low:.4f} to {high:.4f}, "
        f"highest {history.samples[highest].b:.4f} at {_moment(history.times[highest])}",
    ]
    if history.skipped:
        lines.append(f"{history.skipped:,} jobs left out: they end before they start, so the clock was set back")
    if history.unknown_states:
        lines.append(f"assumed: {not_known(dict(history.unknown_states))}")
    return "\n".join(lines)


def _moment(seconds: float) -> str:
    from datetime import UTC, datetime

    return datetime.fromtimestamp(seconds, UTC).replace(tzinfo=None).isoformat(timespec="seconds")
