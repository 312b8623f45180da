"""`odonata cluster traffic`: what jobs sent, by the counters of their NICs, as a table and as a traffic book."""

import json as json_module
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter, validators

from odonata.cli.cluster_options import Json, Out, Several
from odonata.errors import InputError

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

    from odonata.counters import Counters, JobTraffic
    from odonata.counters.traffic import Unmeasured


def traffic(
    *counters: str,
    jobs: Path,
    cluster: str | None = None,
    zone: str | None = None,
    column: Several = None,
    bandwidth: str | None = None,
    begin: Annotated[str | None, Parameter(name="--from")] = None,
    to: str | None = None,
    step: Annotated[float | None, Parameter(validator=validators.Number(gt=0))] = None,
    family: Literal["infiniband", "netdev"] | None = None,
    out: Out = None,
    force: Annotated[bool, Parameter(negative=())] = False,
    json: Json = False,
) -> int:
    """Say what past jobs sent and received, by the counters of their NICs, and write a traffic book of it.

    The table has means over the nodes of a job: the rate sent with its 95 % interval, the rate received, the peak, how
    long the job was active, and the size of packets. Counters do not say who talks to whom.

    Parameters
    ----------
    counters
        Files: CSV with `time`, `node`, `sent` and `received`, CSV of LDMS, an answer of Prometheus in JSON, what
        `perfquery -x` or the telemetry of Slingshot's NICs print; or the address of a Prometheus, such as
        `http://localhost:9090`.
    jobs
        Past jobs with their nodes: `sacct --parsable2`, `sacct --json`, an accounting log of PBS, a PM100 job table.
    cluster
        Which cluster, where the file of jobs lists several.
    zone
        Time zone of the file of jobs where its times have none, such as `Europe/Rome` (default: UTC).
    column
        What a column of the jobs is, for any table, as in `--column start=begin`; may be repeated.
    bandwidth
        With --out: bandwidth of all NICs of a node, such as `4 x 200 Gbit/s`.
    begin
        With an address: first time, such as `2026-05-01T12:00:00Z`.
    to
        With an address: last time.
    step
        With an address: seconds between samples (default: 15, assumed).
    family
        With an address: which counters of node_exporter (default: those of InfiniBand if there are any).
    out
        Write a traffic book (`.toml`), for `snapshot` and `impact`: a rule for each name of jobs.
    force
        Overwrite a book with different contents.
    """
    from odonata.cli.arguments import pairs
    from odonata.counters import as_book, measured
    from odonata.queue.accounting import read_runs

    if not counters:
        raise InputError("counters are missing", hint="files, or the address of a Prometheus")
    if out is not None and (bandwidth is None or out.suffix != ".toml"):
        raise InputError("a book is a file that ends in `.toml`, and needs --bandwidth of the NICs of a node")
    if bandwidth is not None and out is None:
        raise InputError("--bandwidth goes with --out")
    rate = None if bandwidth is None else _bandwidth(bandwidth)
    read = _read(counters, begin, to, step, family)
    record = read_runs(jobs, cluster=cluster, zone=zone_of(zone), columns=pairs(column or [], "--column start=begin"))
    done, others = measured(read, record.runs)
    if out is not None and rate is not None:
        from odonata import files

        files.write_new(out, as_book(done, rate, read.source).encode(), force=force)
    if json:
        print(json_module.dumps({"jobs": [_facts(job) for job in done], "not_measured": [_other(of) for of in others]}))
        return 0
    _print(done, others)
    if out is not None:
        print(f"{out} written; `odonata cluster impact --book {out}` takes it", file=sys.stderr)
    return 0


def _bandwidth(text: str) -> int:
    from odonata import reading, units

    count, times, each = text.partition(" x ")
    try:
        if times:
            nics = reading.whole(count.strip())
            if not nics:
                raise InputError(f"expected a number of NICs, found `{count}`")
            return nics * units.bandwidth_micro(each)
        return units.bandwidth_micro(text)
    except InputError as problem:
        raise InputError(f"--bandwidth: {problem.message}", hint=problem.hint) from None


def _read(
    given: tuple[str, ...], begin: str | None, to: str | None, step: float | None, family: str | None
) -> "Counters":
    from odonata.counters import ask, read_counters
    from odonata.counters.values import second_of_option

    addresses = [text for text in given if text.startswith(("http://", "https://"))]
    if not addresses:
        for option, value in (("--from", begin), ("--to", to), ("--step", step), ("--family", family)):
            if value is not None:
                raise InputError(f"{option} goes with the address of a Prometheus")
        return read_counters(given)
    if len(given) > 1:
        raise InputError("give one address, or files")
    if begin is None or to is None:
        raise InputError(
            "an address needs --from and --to", hint="--from 2026-05-01T00:00:00Z --to 2026-05-02T00:00:00Z"
        )
    return ask(addresses[0], second_of_option(begin), second_of_option(to), 15.0 if step is None else step, family)


def zone_of(name: str | None) -> "ZoneInfo | None":
    """A time zone by its name. Raises InputError for one that is not known."""
    if name is None:
        return None
    from zoneinfo import ZoneInfo

    try:
        return ZoneInfo(name)
    except (OSError, ValueError, KeyError):
        raise InputError(f"--zone: unknown time zone `{name}`", hint="such as Europe/Rome") from None


def _facts(job: "JobTraffic") -> dict[str, Any]:
    names = ("seconds", "covered", "sent", "received", "low", "high", "peak", "active", "packet", "top_sender")
    facts = {name: getattr(job, name) for name in (*names, "top_receiver", "shape")}
    return {"id": job.run.id, "name": job.run.name, "user": job.run.user, "nodes": job.run.count, **facts}


def _other(of: "Unmeasured") -> dict[str, Any]:
    return {"id": of.run.id, "name": of.run.name, "nodes": of.run.count, "why": of.why}


def _print(done: "list[JobTraffic]", others: "list[Unmeasured]") -> None:
    from odonata import units
    from odonata.text import Table, columns, terminal_width

    def rate(value: float) -> str:
        return units.format_bandwidth(round(value * 1e6), 3)

    rows = [
        [
            job.run.id,
            job.run.name,
            f"{job.run.count:,}",
            f"{job.seconds / 3600:.3g}",
            rate(job.sent),
            f"{rate(job.low)} to {rate(job.high)}",
            rate(job.received),
            rate(job.peak),
            f"{job.active:.0%}".replace("%", " %"),
            "-" if job.packet is None else f"{job.packet:,.0f} B",
            job.shape,
        ]
        for job in sorted(done, key=lambda job: -job.sent)
    ]
    names = ["job", "name", "nodes", "hours", "sent", "95 %", "received", "peak", "active", "packet", "shape"]
    for line in Table(columns(names), rows).lines(terminal_width()):
        print(line)
    for of in others:
        print(f"not measured: job {of.run.id}: {of.why}")
    print("rates are those of a node, over all its NICs; the peak is the 95 % quantile over time")
