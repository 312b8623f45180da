"""`odonata schedule`: a stream of jobs over days, in which contention makes jobs slower."""

import json as json_module
import sys
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter, validators


def schedule(
    schedule: Path,
    /,
    *,
    set_: Annotated[list[str] | None, Parameter(name=["--set", "-s"], negative=())] = None,
    column: Annotated[list[str] | None, Parameter(negative=())] = None,
    out: Annotated[Path | None, Parameter(name=["--out", "-o"])] = None,
    html: Path | None = None,
    watts: Annotated[float | None, Parameter(validator=validators.Number(gt=0, lt=1e9))] = None,
    workers: Annotated[
        int | None, Parameter(name=["--workers", "-j"], validator=validators.Number(gte=1, lte=1024))
    ] = None,
    on: Literal["local", "dask"] = "local",
    scheduler: str | None = None,
    tls_ca_file: Path | None = None,
    tls_cert: Path | None = None,
    tls_key: Path | None = None,
    force: Annotated[bool, Parameter(negative=())] = False,
    json: Annotated[bool, Parameter(negative=())] = False,
    quiet: Annotated[bool, Parameter(name=["--quiet", "-q"], negative=())] = False,
) -> int:
    """Simulate a stream of jobs over days: who waits, who runs where, and how much jobs slow each other down.

    A scheduler with backfilling starts the jobs of a trace or of a model on nodes that a placement policy chooses.
    Whenever the set of running jobs changes, a packet-level window of all of them gives each its rate of progress.
    After an interruption the same command continues.

    Parameters
    ----------
    schedule
        The schedule (TOML).
    set_
        Override a value of the schedule, as in `-s backfill=none`.
    column
        What a column of the trace is, for any table, as in `--column start=begin`; may be repeated. The same as
        `-s stream.columns.start=begin`.
    out
        Folder for the results. Default: `schedules/NAME`.
    html
        Also write a page to this file (`.html`): jobs over nodes and time, utilisation, waiting times, what is saved.
    watts
        Power of a node that runs a job, for the energy that a case saves.
    workers
        Number of windows at once. Default: one for each processor. A Dask scheduler already has its workers.
    on
        Where to simulate: processes on this machine, or the workers of a Dask scheduler.
    scheduler
        Address of the Dask scheduler, such as `tls://host:8786`.
    tls_ca_file
        Certificate of the CA (PEM), for a scheduler at `tls://`. Default: that of Dask's configuration.
    tls_cert
        Client certificate (PEM).
    tls_key
        Its private key (PEM).
    force
        Use the folder of another schedule; its windows are kept. Overwrite a page with different contents.
    json
        Print one JSON object instead of the text.
    quiet
        No progress on standard error.
    """
    from odonata import files
    from odonata.cli.arguments import pairs
    from odonata.cli.schedule_progress import ScheduleProgress
    from odonata.errors import InputError
    from odonata.scheduler.python import schedule as simulate
    from odonata.scheduler.savings import savings
    from odonata.scheduler.sentences import as_text, saved_table
    from odonata.text import terminal_width

    if html is not None and html.suffix.lower() not in (".html", ".htm"):
        raise InputError(f"--html: expected a file that ends in `.html`, found `{html}`")
    folder = out if out is not None else Path("schedules") / schedule.stem
    if html is not None:
        files.check_new(html, "--html")
        # With results, it may be the page of the same schedule: what that is now is known after the simulation.
        if html.is_file() and not force and not (folder / "jobs.parquet").is_file():
            raise InputError(f"--html: `{html}` exists", hint="choose another name, or add --force")
    columns = pairs(column or [], "--column start=begin")
    changes = [*(set_ or ()), *(f"stream.columns.{name}={json_module.dumps(of)}" for name, of in columns.items())]
    client = _client(on, scheduler, (tls_ca_file, tls_cert, tls_key), workers)
    progress = ScheduleProgress(quiet=quiet)
    try:
        with progress:
            outcome = simulate(
                schedule, changes, out=folder, workers=workers, client=client, force=force, report=progress.report
            )
    finally:
        if client is not None:
            client.close(timeout=1)
    saved = savings(outcome.jobs, watts)
    if html is not None:
        from odonata.scheduler.page import as_page

        files.write_new(html, as_page(outcome, outcome.nodes, saved, watts), force=force)
    if json:
        print(json_module.dumps(outcome.as_dict(watts)))
    else:
        print(as_text(outcome, terminal_width()))
        if watts is not None and saved:
            print(f"\nsaved against {outcome.cases[0].case}, over the same jobs (95 % interval):")
            print("\n".join(saved_table(saved).lines(terminal_width())))
    if not json and not quiet:
        print(f"results in {folder}" + ("" if html is None else f", {html} written"), file=sys.stderr)
    return 0


def _client(
    on: str, scheduler: str | None, tls: tuple[Path | None, Path | None, Path | None], workers: int | None
) -> Any:
    """A client of the Dask scheduler that the options name; None without one."""
    from odonata.errors import InputError
    from odonata.study.certificates import Certificates, warning_of

    files = Certificates(*tls)
    if (on == "dask") != (scheduler is not None):
        raise InputError("`--on dask` and `--scheduler ADDRESS` belong together")
    if scheduler is None:
        if files.given:
            raise InputError("`--tls-...` is for `--on dask`", hint="--on dask --scheduler tls://host:8786")
        return None
    if workers is not None:
        raise InputError("`-j` does not apply to `--scheduler`: the scheduler already has its workers")
    from odonata.study.dask_pool import connected

    warning = warning_of(scheduler)
    if warning is not None:
        print(f"warning: {warning}", file=sys.stderr)
    return connected(scheduler, files)[0]
