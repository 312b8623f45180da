"""`odonata sweep`: all runs of a study, each once."""

import json as json_module
import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter, validators

if TYPE_CHECKING:
    from collections.abc import Mapping

    from odonata.study.ledger import Ledger
    from odonata.study.plan import Plan
    from odonata.study.study import Study
    from odonata.study.sweep import Backend

SHOWN_ERRORS = 5
"""Different errors of failed points that are printed."""


def sweep(
    study: Path,
    /,
    *,
    set_: Annotated[list[str] | None, Parameter(name=["--set", "-s"], negative=())] = None,
    workers: Annotated[
        int | None, Parameter(name=["--workers", "-j"], validator=validators.Number(gte=1, lte=1024))
    ] = None,
    out: Annotated[Path | None, Parameter(name=["--out", "-o"])] = None,
    on: Literal["local", "dask", "slurm"] = "local",
    scheduler: str | None = None,
    listen: str | None = None,
    tls_ca_file: Path | None = None,
    tls_cert: Path | None = None,
    tls_key: Path | None = None,
    alone: Annotated[bool, Parameter(negative=())] = False,
    force: Annotated[bool, Parameter(negative=())] = False,
    retry_failed: Annotated[bool, Parameter(negative=())] = False,
    keep_stale: Annotated[bool, Parameter(negative=())] = False,
    include_incomplete: Annotated[bool, Parameter(negative=())] = False,
    report: Annotated[bool, Parameter(negative=())] = False,
    json: Annotated[bool, Parameter(negative=())] = False,
    quiet: Annotated[bool, Parameter(name=["--quiet", "-q"], negative=())] = False,
) -> int:
    """Run a scenario along many axes, each run once.

    After an interruption the same command continues the sweep. After a change of the study it simulates only the new
    runs.

    Parameters
    ----------
    study
        The study (TOML): `base = "scenario.toml"`, and axes under [sweep], [zip] or [random].
    set_
        Override a value of its scenario, as in `-s job.target.app.messages=10`.
    workers
        Number of simulations at once. Default: one for each processor. With `--on slurm`: number of Slurm jobs. With
        `--on dask`: number of workers on this machine for the scheduler that the sweep starts (default: none).
    out
        Folder for the results. Default: `studies/NAME`.
    on
        Where to simulate: processes on this machine, the workers of a Dask scheduler, or Slurm jobs.
    scheduler
        Address of a Dask scheduler that is already running, such as `tls://host:8786`. Without it, `--on dask` starts
        one.
    listen
        Where the scheduler of the sweep listens: an address, with or without a port, or a network interface. Default:
        only this machine with `--on dask`, every interface with `--on slurm`.
    tls_ca_file
        Certificate of the CA (PEM), for a scheduler at `tls://`. Default: that of Dask's configuration. The scheduler
        that the sweep starts makes temporary certificates instead.
    tls_cert
        Client certificate (PEM).
    tls_key
        Its private key (PEM).
    alone
        Also run each job that is not background alone on the empty system, and give slowdowns. Points share these
        runs. The same as `alone = true` in the study.
    force
        Simulate finished runs again.
    retry_failed
        Simulate failed runs again.
    keep_stale
        Keep finished runs even if another engine (other sources of Odonata) simulated them.
    include_incomplete
        In the table, include latencies, times and slowdowns of runs that are cut off. They cover only the messages that
        arrived.
    report
        Also write a report, `report.html` in the folder of the results (`odonata report`).
    json
        Print one JSON object instead of the table.
    quiet
        No progress on standard error.
    """
    from odonata.errors import visible
    from odonata.study import read
    from odonata.study import sweep as sweeping
    from odonata.study.keep import without_rows
    from odonata.study.resolution_cache import is_finished

    folder = out if out is not None else Path("studies") / study.stem
    plan = read.load(study, set_ or (), folder)
    if alone and not plan.alone:
        plan = plan.with_alone()
    sweeping.check_place(folder, plan, force=force)
    backend = backend_of(on, workers, scheduler, listen, (tls_ca_file, tls_cert, tls_key), plan.cluster)
    if force or not is_finished(plan, folder):
        _print_warnings(plan, quiet=quiet)
    swept, ledger = run_plan(
        plan, folder, backend, force=force, retry_failed=retry_failed, keep_stale=keep_stale, quiet=quiet
    )
    written = written_report(folder, quiet=quiet) if report and swept.jobs.height else {}
    if json:
        print(json_module.dumps({**_facts(swept, folder, ledger), **written}))
    else:
        _print(swept, include_incomplete=include_incomplete)
    for warning in without_rows(plan.keep, swept.runs):
        _say(visible(f"warning: {warning}"))
    return 1 if swept.failed.height else 0


def run_plan(
    plan: "Plan",
    folder: Path,
    backend: "Backend",
    *,
    force: bool = False,
    retry_failed: bool = False,
    keep_stale: bool = False,
    quiet: bool = False,
) -> "tuple[Study, Ledger | None]":
    """Sweep a plan into a folder, with its progress on standard error."""
    from odonata.cli.sweep_progress import SweepProgress
    from odonata.errors import StaleWarning
    from odonata.study import sweep as sweeping

    progress = SweepProgress(plan, backend, quiet=quiet)
    with progress, warnings.catch_warnings():
        warnings.simplefilter("always", StaleWarning)
        warnings.showwarning = progress.show_warning
        study = sweeping.sweep(
            plan, folder, backend, force=force, retry_failed=retry_failed, keep_stale=keep_stale, report=progress.report
        )
    progress.close(folder)
    return study, progress.ledger


def written_report(folder: Path, *, quiet: bool) -> dict[str, str]:
    """Write the report of a study into its folder; its path by the key of `--json`."""
    from odonata.report import report_in

    target = report_in(folder)
    if not quiet:
        print(f"report in {target}", file=sys.stderr)
    return {"report": str(target)}


def _print_warnings(plan: "Plan", *, quiet: bool) -> None:
    """Warnings of `odonata run` on standard error, for the first and the last point; its notes if not `quiet`."""
    from odonata.errors import InputError, visible
    from odonata.scenario.warnings import warnings_of

    said: set[str] = set()
    for number in dict.fromkeys((0, len(plan) - 1)):
        try:
            resolved = plan.scenario(number).resolve()
            texts = warnings_of(resolved)
        except InputError:
            continue  # the run of the point says it
        for sentence in (*(() if quiet else resolved.notes), *resolved.system.table.not_modelled):
            if sentence not in said:
                said.add(sentence)
                _say(f"note: {sentence}")
        for text in texts:
            if text not in said:
                said.add(text)
                _say(visible(f"warning: point {number} ({plan.described(number)}): {text}"))


def say_engines(study: "Study") -> None:
    """A note on standard error if several engines, or another engine, made the runs of a study."""
    from odonata.store.engine import fingerprint

    if len(study.engines) > 1:
        of = ", ".join(study.engines)
        print(f"note: {len(study.engines)} engines made the runs of this study: {of}", file=sys.stderr)
    elif study.engines and study.engines != (fingerprint(),):
        print(f"note: another engine made the runs of this study: {study.engines[0]}", file=sys.stderr)


def backend_of(
    on: str,
    workers: int | None,
    scheduler: str | None,
    listen: str | None,
    tls: tuple[Path | None, Path | None, Path | None],
    cluster: "Mapping[str, Any]",
) -> "Backend":
    """Where to simulate, from the options of a command; `cluster` are those of the queue (`[cluster]` of a study)."""
    from odonata.errors import InputError

    if scheduler is not None and on != "dask":
        raise InputError("`--scheduler` is for `--on dask`", hint="--on dask --scheduler tls://host:8786")
    if on == "local":
        if listen is not None or any(tls):
            option = "--listen" if listen is not None else "--tls-..."
            raise InputError(f"`{option}` is for `--on dask` and `--on slurm`: nothing listens otherwise")
        from odonata.processors import processors
        from odonata.study.local import LocalPool

        return LocalPool(workers if workers is not None else processors())
    from odonata.study.certificates import Certificates, warning_of

    files = Certificates(*tls)
    if on == "slurm":
        from odonata.study.slurm import SlurmPool, cluster_options

        cluster_options(cluster)
        jobs = workers if workers is not None else cluster.get("jobs", 1)
        return SlurmPool(cluster, jobs, listen, files)
    from odonata.study.dask_pool import DaskPool, OwnScheduler

    if scheduler is None:
        return OwnScheduler(listen, workers or 0, files, say=_say)
    if listen is not None:
        raise InputError(
            "`--listen` is for a scheduler that the sweep starts, `--scheduler` for one that is already running"
        )
    if workers is not None:
        raise InputError("`-j` does not apply to `--scheduler`: the scheduler already has its workers")
    warning = warning_of(scheduler)
    if warning is not None:
        _say(f"warning: {warning}")
    return DaskPool(scheduler, files)


def _say(text: str) -> None:
    print(text, file=sys.stderr)


def _facts(study: "Study", folder: Path, ledger: "Ledger | None") -> dict[str, Any]:
    manifest = study.manifest
    facts = {key: manifest[key] for key in ("name", "version", "points", "settled", "failed", "axes")}
    failed = study.failed.select("point", "id", "error").to_dicts()
    # Without a ledger, all was there.
    counts = {"simulated": ledger.simulated if ledger else 0, "kept": ledger.kept if ledger else manifest["points"]}
    return {**facts, **counts, "engines": list(study.engines), "errors": failed, "out": str(folder)}


def _print(study: "Study", *, include_incomplete: bool) -> None:
    from odonata.errors import visible
    from odonata.study.summary import as_text, summarise
    from odonata.text import terminal_width

    if study.jobs.height:
        print(as_text(summarise(study, include_incomplete=include_incomplete), width=terminal_width()))
    say_engines(study)
    failed = study.failed
    if not failed.height:
        return
    print(f"{failed.height} of {study.runs.height} points failed:", file=sys.stderr)
    errors = dict.fromkeys(failed["error"].to_list())
    for error in list(errors)[:SHOWN_ERRORS]:
        points = failed.filter(failed["error"] == error)["point"].to_list()
        more = f" and {len(points) - 3} more" if len(points) > 3 else ""
        _say(visible(f"  points {', '.join(map(str, points[:3]))}{more}: {error}"))
    if len(errors) > SHOWN_ERRORS:
        print(f"  and {len(errors) - SHOWN_ERRORS} other errors; see runs.parquet", file=sys.stderr)
