"""`odonata advise`: which change of a scenario makes a job faster."""

import json as json_module
import sys
import warnings
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter, validators

if TYPE_CHECKING:
    from odonata.advice.search import Search
    from odonata.cli.sweep_progress import SweepProgress
    from odonata.study.plan import Plan
    from odonata.study.sweep import Backend


def advise(
    scenario: Path,
    /,
    *,
    set_: Annotated[list[str] | None, Parameter(name=["--set", "-s"], negative=())] = None,
    victim: str | None = None,
    allow: Annotated[list[str] | None, Parameter(negative=())] = None,
    jobs: Annotated[list[str] | None, Parameter(negative=())] = None,
    move: Annotated[list[str] | None, Parameter(negative=())] = None,
    value: str | None = None,
    seeds: int | None = None,
    finalists: int | None = None,
    under: Annotated[Path | None, Parameter(metavar="STUDY")] = None,
    drawn: Annotated[int | None, Parameter(validator=validators.Number(gte=8, lte=10_000))] = None,
    policies: Annotated[list[str] | None, Parameter(negative=())] = None,
    budget: str | None = None,
    write: Path | None = None,
    force: Annotated[bool, Parameter(negative=())] = False,
    workers: Annotated[
        int | None, Parameter(name=["--workers", "-j"], validator=validators.Number(gte=1, lte=1024))
    ] = None,
    out: Annotated[Path | None, Parameter(name=["--out", "-o"])] = None,
    on: Literal["local", "dask"] = "local",
    scheduler: str | None = None,
    listen: str | None = None,
    tls_ca_file: Path | None = None,
    tls_cert: Path | None = None,
    tls_key: Path | None = None,
    json: Annotated[bool, Parameter(negative=())] = False,
    quiet: Annotated[bool, Parameter(name=["--quiet", "-q"], negative=())] = False,
) -> int:
    """Search for changes of a scenario that make a job faster, and say what they do to the other jobs.

    Many remedies are simulated with one seed, the better ones with more. The best are compared with the scenario as it
    is, with seeds that the search has not seen. The best so far is told after the first few remedies and after each
    round. After an interruption the same command continues. The options have their defaults in the table [advise] of
    the scenario.

    Parameters
    ----------
    scenario
        The scenario (TOML).
    set_
        Override a value of the scenario, as in `-s job.target.app.messages=10`.
    victim
        The job that is to become faster. Default: the one that the others slow down most.
    allow
        Kinds of remedies: `placement`, `routing`, `mapping`, `start`, separated by commas. Default: all.
    jobs
        Jobs that may be changed, separated by commas. Default: all jobs of the file.
    move
        Jobs that may get other nodes although a list of nodes fixes theirs. Default: none.
    value
        The column of `jobs` by which the victim is judged. Default: `time_ps` of a program, else `latency_mean_ps`.
    seeds
        Seeds of the final comparison, at least 8. Default: 8.
    finalists
        Remedies that reach it, besides their combinations. Default: 3.
    under
        A study of the scenario whose points are other assumptions, as `odonata cluster snapshot --vary traffic` writes
        it. The final comparison is repeated under each of them; the best remedy is one that helps under all.
    drawn
        Do not search: simulate the victim over this many drawn queues under each of some placement policies, and say
        which gives it the best nodes in expectation, and how likely it beats another one. A draw has jobs like the
        others of the scenario, on as many nodes. From 8 on.
    policies
        With `--drawn`: the placement policies, separated by commas, beside `random-nodes`, the null model. Default:
        contiguous, level-spread, contention-aware, random-groups and round-robin-routers.
    budget
        Wall time for the search, such as `5min` or `90 s`. When it is used up, the best so far is printed; the same
        command continues. Default: as long as it takes.
    write
        Write the scenario with the best remedy to this file. Files that the scenario names are relative to it.
    force
        Replace this file if it exists.
    workers
        Number of simulations at once. Default: one for each processor. With `--on dask`: number of workers on this
        machine for the scheduler that the command starts (default: none).
    out
        Folder for the results. Default: `studies/NAME-advice`.
    on
        Where to simulate: processes on this machine, or the workers of a Dask scheduler.
    scheduler
        Address of a Dask scheduler that is already running, such as `tls://host:8786`.
    listen
        Where the scheduler of this command listens, as for `odonata sweep`.
    tls_ca_file
        Certificate of the CA (PEM), as for `odonata sweep`.
    tls_cert
        Client certificate (PEM).
    tls_key
        Its private key (PEM).
    json
        Print one JSON object instead of the text.
    quiet
        No progress on standard error.
    """
    from odonata import files
    from odonata.advice.advising import end_of, find
    from odonata.advice.alternatives import read_alternatives
    from odonata.advice.sentences import as_text, so_far
    from odonata.cli.sweep import backend_of
    from odonata.errors import InputError, visible
    from odonata.scenario import load
    from odonata.scenario.domain import outside
    from odonata.text import terminal_width

    if drawn is not None:
        from odonata.cli.advise_drawn import over_drawn

        options = {
            "--allow": allow, "--jobs": jobs, "--move": move, "--seeds": seeds, "--finalists": finalists,
            "--under": under, "--budget": budget, "--write": write, "--force": force or None,
        }  # fmt: skip
        useless = [option for option, given in options.items() if given is not None]
        if useless:
            raise InputError(f"`{useless[0]}` does nothing with `--drawn`")
        backend = backend_of(on, workers, scheduler, listen, (tls_ca_file, tls_cert, tls_key), {})
        folder = out if out is not None else Path("studies") / f"{scenario.stem}-drawn"
        asked_for = (victim, _names(policies), drawn, value)
        return over_drawn(load(scenario, set_ or ()), asked_for, backend, folder, json=json, quiet=quiet)
    if policies is not None:
        raise InputError("`--policies` goes with `--drawn`")
    asked = {
        "victim": victim,
        "allow": _names(allow),
        "jobs": _names(jobs),
        "move": _names(move),
        "value": value,
        "seeds": seeds,
        "finalists": finalists,
    }
    until = end_of(budget)
    overrides = [*(set_ or ()), *((f"advise.{key}", told) for key, told in asked.items() if told is not None)]
    loaded = load(scenario, overrides)
    if write is not None and write.exists() and not force:
        raise InputError(f"`{write}` already exists", hint="write to another file, or use --force")
    alternatives = () if under is None else read_alternatives(under, loaded)
    backend = backend_of(on, workers, scheduler, listen, (tls_ca_file, tls_cert, tls_key), {})
    folder = out if out is not None else Path("studies") / f"{scenario.stem}-advice"

    def tell(search: "Search") -> None:
        if not quiet:
            print(visible(so_far(search)), file=sys.stderr)

    def shown(plan: "Plan") -> "AbstractContextManager[SweepProgress]":
        return _shown(plan, backend, quiet=quiet)

    with _said_how_to_continue(folder):
        advice = find(loaded, backend, folder, shown, alternatives, until=until, tell=tell)
    lacking = outside(loaded.resolve(check=False).document["scenario"])
    if json:
        print(json_module.dumps({**advice.as_dict(), "outside": lacking}))
    else:
        print(as_text(advice, terminal_width()))
        if lacking is not None:
            print(f"\nnote: {lacking}")
    if write is not None:
        if advice.changed is None:
            everywhere = " under all assumptions" if under is not None else ""
            why = f"no remedy helps{everywhere}" if advice.complete else "the search is not complete"
            print(f"{why}, so `{write}` is not written", file=sys.stderr)
        else:
            files.write_new(write, advice.changed.text.encode(), force=force)
    return 0


def _names(given: list[str] | None) -> list[str] | None:
    """Names that are given one by one or separated by commas."""
    return None if given is None else [name.strip() for text in given for name in text.split(",") if name.strip()]


@contextmanager
def _said_how_to_continue(folder: Path) -> "Iterator[None]":
    """After Ctrl-C or SIGTERM, the way to continue is said, also with `--quiet`."""
    from odonata.errors import visible

    try:
        yield
    except KeyboardInterrupt:
        print(visible(f"finished runs are kept in {folder}; the same command continues"), file=sys.stderr)
        raise


@contextmanager
def _shown(plan: "Plan", backend: "Backend", *, quiet: bool) -> Iterator["SweepProgress"]:
    """The progress of one round of the search; warnings about results of another engine stand in it."""
    from odonata.cli.sweep_progress import SweepProgress
    from odonata.errors import StaleWarning

    with SweepProgress(plan, backend, quiet=quiet, continues=False) as progress, warnings.catch_warnings():
        warnings.simplefilter("always", StaleWarning)
        warnings.showwarning = progress.show_warning
        yield progress
