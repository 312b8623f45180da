"""`odonata schedule`: a stream of jobs over days, in which contention makes jobs slower."""

import json as json_module
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter, validators

if TYPE_CHECKING:
    from odonata.scheduler.scheduling import Progress


def schedule(
    file: Path,
    /,
    *,
    set_: Annotated[list[str] | None, Parameter(name=["--set", "-s"], negative=())] = None,
    out: Annotated[Path | None, Parameter(name=["--out", "-o"])] = None,
    workers: Annotated[
        int | None, Parameter(name=["--workers", "-j"], validator=validators.Number(gte=1, lte=1024))
    ] = None,
    on: Literal["local", "dask"] = "local",
    scheduler: str | None = None,
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
    file
        The schedule (TOML).
    set_
        Override a value of the schedule, as in `-s backfill=none`.
    out
        Folder for the results. Default: `schedules/NAME`.
    workers
        Number of windows at once. Default: one for each processor.
    on
        Where to simulate: processes on this machine, or the workers of a Dask scheduler.
    scheduler
        Address of the Dask scheduler, such as `tcp://host:8786`.
    force
        Use the folder of another schedule; its windows are kept.
    json
        Print one JSON object instead of the text.
    quiet
        No progress on standard error.
    """
    from odonata.errors import InputError
    from odonata.scheduler.python import schedule as simulate
    from odonata.scheduler.sentences import as_text
    from odonata.study.certificates import Certificates
    from odonata.text import terminal_width

    folder = out if out is not None else Path("schedules") / file.stem
    if (on == "dask") != (scheduler is not None):
        raise InputError("--on dask and --scheduler ADDRESS belong together")
    client, ours = None, False
    if scheduler is not None:
        from odonata.study.dask_pool import connected

        client, ours = connected(scheduler, Certificates())
    report = None if quiet else _show
    try:
        found = simulate(file, set_ or (), out=folder, workers=workers, client=client, force=force, report=report)
    finally:
        if ours and client is not None:
            client.close()
        if report is not None and sys.stderr.isatty():
            print(file=sys.stderr)
    print(json_module.dumps(found.as_dict()) if json else as_text(found, terminal_width()))
    if not json and not quiet:
        print(f"results in {folder}", file=sys.stderr)
    return 0


def _show(progress: "Progress") -> None:
    """One line that is written again on a terminal; elsewhere nothing."""
    if sys.stderr.isatty():
        text = f"{progress.ended:,} of {progress.jobs:,} jobs ended, {progress.simulated:,} windows simulated"
        print(f"\r{text}", end="", file=sys.stderr, flush=True)
