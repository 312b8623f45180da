"""`odonata explain`: who slows whom, where and why."""

import json as json_module
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter, validators


def explain(
    run: Path,
    /,
    *,
    victim: str | None = None,
    counterfactual: Annotated[bool, Parameter(negative=())] = False,
    shapley: Annotated[bool, Parameter(negative=())] = False,
    workers: Annotated[
        int | None, Parameter(name=["--workers", "-j"], validator=validators.Number(gte=1, lte=1024))
    ] = None,
    alone: bool = True,
    json: Annotated[bool, Parameter(negative=())] = False,
    quiet: Annotated[bool, Parameter(name=["--quiet", "-q"], negative=())] = False,
    verify: bool = True,
) -> int:
    """Explain who makes whom wait in a run, where, and what for.

    Every picosecond that a packet waits is attributed to the job whose packets it waits for (docs/model.md, section 9).
    For a job with a program, it also says what its ranks wait for, and what is on its critical path. A run that has not
    recorded all this (`blame`, `operations` and every message) is simulated again; its results are the same.

    Parameters
    ----------
    run
        The folder of a run.
    victim
        Explain only this job. Default: all jobs that are not background.
    counterfactual
        Also simulate the scenario without each job, and compare.
    shapley
        Also divide what the other jobs cost each job among them (Shapley values). It simulates all coalitions of at
        most six jobs: up to 2, 6, 14, 30 or 62 runs for 2 to 6 jobs. Includes `--counterfactual`.
    workers
        Runs at once for these two. Default: one for each processor.
    alone
        Simulate each job that is not background alone too, say how much longer it takes beside the others, and divide
        the difference. With `--no-alone`, the slowdown is given if the run holds it.
    json
        Print one JSON object instead of the text.
    quiet
        No progress on standard error.
    verify
        Compare the files of the run with their checksums.
    """
    from odonata.blame import explain as find
    from odonata.blame.explanation import missing
    from odonata.blame.sentences import as_text
    from odonata.cli.progress import ProgressLine
    from odonata.scenario.domain import outside
    from odonata.store import open_run
    from odonata.store.summary import larger_packets, skipped
    from odonata.text import terminal_width

    opened = open_run(run, verify=verify)
    progress = ProgressLine(quiet=quiet)
    lacking = missing(opened)
    if lacking:
        progress.say(f"the run is simulated again, because it has not recorded {' and '.join(lacking)}")
    with progress:
        explanation = find(
            opened,
            victim,
            alone=alone,
            counterfactual=counterfactual,
            shapley=shapley,
            workers=workers,
            progress=progress.report,
        )
    unmeasured = outside(opened.resolved["scenario"])
    facts = {key: opened.manifest[key] for key in ("steady", "packets") if key in opened.manifest}
    if json:
        print(json_module.dumps({**explanation.as_dict(), "outside": unmeasured, **facts}))
    else:
        print(as_text(explanation, terminal_width()))
        summary = opened.summary
        notes = [*skipped(summary), *larger_packets(summary), *([] if unmeasured is None else [unmeasured])]
        for number, note in enumerate(notes):
            print(f"{'' if number else chr(10)}note: {note}")
    return 0
