"""`odonata sweep`: all runs of a study, each once."""

import json as json_module
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter, validators

if TYPE_CHECKING:
    from odonata.study.ledger import Ledger
    from odonata.study.plan import Plan
    from odonata.study.study import Study
    from odonata.study.sweep import Backend

SHOWN_ERRORS = 5
"""Different errors of failed points that are printed."""


def sweep(
    file: Path,
    /,
    *,
    set_: Annotated[list[str] | None, Parameter(name=["--set", "-s"], negative=())] = None,
    workers: Annotated[
        int | None, Parameter(name=["--workers", "-j"], validator=validators.Number(gte=1, lte=1024))
    ] = None,
    out: Path | None = None,
    on: Literal["local", "dask", "slurm"] = "local",
    scheduler: str | None = None,
    force: Annotated[bool, Parameter(negative=())] = False,
    retry_failed: Annotated[bool, Parameter(negative=())] = False,
    json: Annotated[bool, Parameter(negative=())] = False,
    quiet: Annotated[bool, Parameter(name=["--quiet", "-q"], negative=())] = False,
) -> int:
    """Run a scenario along many axes, every run once; what is done is never repeated.

    The same command goes on where an interrupted sweep was, and after the study has been changed it runs what is new.

    Parameters
    ----------
    file
        The study (TOML): `base = "scenario.toml"`, and axes under [sweep], [zip] or [random].
    set_
        Override a value of its scenario, as in `-s job.target.app.messages=10`.
    workers
        Simulations at once: one for each processor without it. With `--on slurm`, jobs of the queue.
    out
        Folder for the results; `studies/NAME` without it.
    on
        Who simulates: processes on this machine, the workers of a Dask scheduler, or Slurm jobs.
    scheduler
        Address of the Dask scheduler, such as `tcp://host:8786`.
    force
        Simulate again what is there already.
    retry_failed
        Simulate again what has failed.
    json
        Print one JSON object instead of the table.
    quiet
        No progress on standard error.
    """
    from odonata.cli.sweep_progress import SweepProgress
    from odonata.study import read
    from odonata.study import sweep as sweeping

    plan = read.load(file, set_ or ())
    folder = out if out is not None else Path("studies") / plan.name
    sweeping.check_place(folder, plan, force=force)
    backend = _backend(on, workers, scheduler, plan)
    progress = SweepProgress(plan, backend, quiet=quiet)
    with progress:
        study = sweeping.sweep(
            plan, folder, backend, force=force, retry_failed=retry_failed, report=progress.report
        )  # fmt: skip
    progress.close(folder)
    if json:
        print(json_module.dumps(_facts(study, folder, progress.ledger)))
    else:
        _print(study)
    return 1 if study.failed.height else 0


def _backend(on: str, workers: int | None, scheduler: str | None, plan: "Plan") -> "Backend":
    from odonata.errors import InputError

    if scheduler is not None and on != "dask":
        raise InputError("`--scheduler` is for `--on dask`", hint="--on dask --scheduler tcp://host:8786")
    if on == "dask":
        from odonata.study.dask_pool import DaskPool

        if scheduler is None:
            hint = "start one with `dask scheduler`, workers with `dask worker ADDRESS`"
            raise InputError("`--on dask` needs `--scheduler ADDRESS`", hint=hint)
        if workers is not None:
            raise InputError("`-j` does nothing for `--on dask`: the scheduler has the workers that it has")
        return DaskPool(scheduler)
    if on == "slurm":
        from odonata.study.slurm import SlurmPool, cluster_options

        cluster_options(plan.cluster)
        jobs = workers if workers is not None else plan.cluster.get("jobs", 1)
        return SlurmPool(plan.cluster, jobs)
    from odonata.study.local import LocalPool, processors

    return LocalPool(workers if workers is not None else processors())


def _facts(study: "Study", folder: Path, ledger: "Ledger | None") -> dict[str, Any]:
    manifest = study.manifest
    facts = {key: manifest[key] for key in ("name", "version", "points", "settled", "failed", "axes")}
    failed = study.failed.select("point", "id", "error").to_dicts()
    counts = {"simulated": ledger.simulated if ledger else 0, "kept": ledger.kept if ledger else 0}
    return {**facts, **counts, "errors": failed, "out": str(folder)}


def _print(study: "Study") -> None:
    from odonata.study.summary import as_text, summarise

    if study.jobs.height:
        print(as_text(summarise(study)))
    failed = study.failed
    if not failed.height:
        return
    print(f"{failed.height} of {study.runs.height} points failed:", file=sys.stderr)
    errors = dict.fromkeys(failed["error"].to_list())
    for error in list(errors)[:SHOWN_ERRORS]:
        points = failed.filter(failed["error"] == error)["point"].to_list()
        more = f" and {len(points) - 3} more" if len(points) > 3 else ""
        print(f"  points {', '.join(map(str, points[:3]))}{more}: {error}", file=sys.stderr)
    if len(errors) > SHOWN_ERRORS:
        print(f"  and {len(errors) - SHOWN_ERRORS} other errors; see runs.parquet", file=sys.stderr)
