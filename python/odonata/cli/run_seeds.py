"""`odonata run --seeds N`: the same scenario with several seeds, which is a study."""

import json as json_module
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from odonata.scenario import Scenario


def run_seeds(
    scenario: "Scenario",
    seeds: int,
    out: Path | None,
    workers: int | None,
    *,
    json: bool,
    force: bool,
    keep_stale: bool,
    report: bool,
    quiet: bool,
) -> int:
    """Simulate a scenario with consecutive seeds from its own on, with runs alone; print slowdowns with intervals."""
    from odonata.cli.sweep import run_plan, written_report
    from odonata.processors import processors
    from odonata.study import repetitions
    from odonata.study.local import LocalPool
    from odonata.study.plan import SEED
    from odonata.study.python import plan_of

    resolved = scenario.resolve(check=False)
    first = int(resolved.spec["seed"])
    name = f"{Path(scenario.path).stem}-{resolved.id}"
    plan = plan_of(scenario, {SEED: list(range(first, first + seeds))}, name=name)
    plan = plan.with_alone()
    folder = out if out is not None else Path("studies") / name
    if not quiet:
        print(f"a study of {seeds} seeds, each job also alone: {folder}", file=sys.stderr)
    pool = LocalPool(workers if workers is not None else processors())
    study, _ = run_plan(plan, folder, pool, force=force, keep_stale=keep_stale, quiet=quiet)
    written = written_report(folder, quiet=quiet) if report and study.jobs.height else {}
    repeated = repetitions.repeated(study) if study.jobs.height else []
    if json:
        facts = {"study": name, "seeds": list(range(first, first + seeds)), "failed": study.failed.height}
        print(json_module.dumps({**facts, "jobs": [job.as_dict() for job in repeated], "out": str(folder), **written}))
    else:
        print(repetitions.as_text(repeated))
        if "skipped_ps" in study.jobs.columns and (study.jobs["skipped_ps"].fill_null(0) > 0).any():
            print("iterations were skipped (`run.steady`): times and slowdowns include extrapolated ones")
    for error in dict.fromkeys(study.failed["error"].to_list()):
        print(f"failed: {error}", file=sys.stderr)
    return 1 if study.failed.height else 0
