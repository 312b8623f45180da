"""`odonata run`: simulate one scenario."""

import json as json_module
import sys
import warnings
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter, validators

if TYPE_CHECKING:
    from odonata.cli.progress import ProgressLine
    from odonata.expectation import Expectation
    from odonata.scenario import Resolved
    from odonata.store import Run


def run(
    scenario: Path,
    /,
    *,
    set_: Annotated[list[str] | None, Parameter(name=["--set", "-s"], negative=())] = None,
    seed: Annotated[int | None, Parameter(validator=validators.Number(gte=0))] = None,
    seeds: Annotated[int | None, Parameter(validator=validators.Number(gte=2, lte=10_000))] = None,
    out: Annotated[Path | None, Parameter(name=["--out", "-o"])] = None,
    warm_up: Literal["auto"] | None = None,
    alone: Annotated[bool, Parameter(negative=())] = False,
    all_: Annotated[bool, Parameter(name="--all", negative=())] = False,
    json: Annotated[bool, Parameter(negative=())] = False,
    force: Annotated[bool, Parameter(negative=())] = False,
    keep_stale: Annotated[bool, Parameter(negative=())] = False,
    report: Annotated[bool, Parameter(negative=())] = False,
    workers: Annotated[
        int | None, Parameter(name=["--workers", "-j"], validator=validators.Number(gte=1, lte=1024))
    ] = None,
    threads: Annotated[int | None, Parameter(validator=validators.Number(gte=1, lte=1024))] = None,
    quiet: Annotated[bool, Parameter(name=["--quiet", "-q"], negative=())] = False,
) -> int:
    """Simulate a scenario and print the latencies of its messages.

    Parameters
    ----------
    scenario
        The scenario (TOML); `odonata new` writes one.
    set_
        Override a value of the scenario, as in `-s routing=minimal -s job.target.nodes=256`.
    seed
        Seed of all random numbers, instead of the scenario's.
    seeds
        Simulate this many seeds, each job that is not background also alone, and give slowdowns with 95 % intervals.
        This is a study, in `studies/NAME-ID`: `odonata report`, `compare` and `plot` read it.
    out
        Folder for the results. Default: `runs/NAME-ID`. A finished run is not repeated.
    warm_up
        `auto`: a trial run, which records every message, decides by MSER-5 where the warm-up ends, instead of
        `measure.warm_up`. The time and its reason are kept with the run; a run that never becomes steady is named.
    alone
        Also run each job that is not background alone on the empty system, and give the slowdown.
    all_
        Print all jobs. Without it, of the background jobs only the ten largest.
    json
        Print one JSON object instead of the table.
    force
        Simulate again, and overwrite the existing run. Other files in its folder are kept.
    keep_stale
        Keep a finished run even if another engine (other sources of Odonata) simulated it.
    report
        Also write a report, `report.html` in the folder of the results (`odonata report`).
    workers
        With `--seeds`: number of simulations at once. Default: one for each processor.
    threads
        Most threads that share the simulation; the results do not depend on it. Default: as many as there are idle
        processors, at most 8.
    quiet
        No progress on standard error.
    """
    from odonata import scenario as scenarios
    from odonata.cli.progress import ProgressLine
    from odonata.errors import StaleWarning
    from odonata.runner import finished, recalled
    from odonata.runner import run as simulate
    from odonata.store.engine import difference

    given = scenarios.read(scenario, overrides=set_ or (), seed=seed)
    progress = ProgressLine(quiet=quiet)
    if warm_up is not None:
        from odonata.cli.warm_up import with_warm_up

        given = with_warm_up(given.checked(), progress.say, threads)
    if seeds is None:
        _refuse({"--workers": workers}, "is for `--seeds`")
        done = None if force else recalled(given, _folders(out, scenario.stem), alone=alone)
        if done is not None:
            progress.say(f"already done: {done.path} (--force simulates again)")
            return _print(done, report=report, json=json, all_=all_, progress=progress)
    loaded = given.checked()
    if seeds is not None:
        from odonata.cli.run_seeds import run_seeds

        _refuse({"--all": all_ or None, "--threads": threads}, "does nothing with `--seeds`")
        options = {"json": json, "force": force, "keep_stale": keep_stale, "report": report, "quiet": quiet}
        return run_seeds(loaded, seeds, out, workers, **options)
    resolved = loaded.resolve(check=False)
    folder = out if out is not None else Path("runs") / f"{scenario.stem}-{resolved.id}"
    with warnings.catch_warnings(record=True) as stale:
        warnings.simplefilter("always", StaleWarning)
        done = finished(folder, resolved, alone=alone, force=force, keep_stale=keep_stale)
    for warning in stale:
        print(f"stale: {warning.message}", file=sys.stderr)
    if done is not None:
        other = difference(done.engine)
        by = f" by {other}" if other else ""
        progress.say(f"already done{by}: {folder} (--force simulates again)")
    else:
        resolved = loaded.resolve()
        progress.say(_opening(resolved.document["scenario"], resolved.system.name))
        for note in resolved.notes:
            progress.say(f"note: {note}")
        from odonata.scenario.domain import outside
        from odonata.scenario.warnings import warnings_of

        if (lacking := outside(resolved.document["scenario"])) is not None:
            progress.say(f"note: {lacking}")
        for text in warnings_of(resolved):
            print(f"warning: {text}", file=sys.stderr)
        for sentence in resolved.system.table.not_modelled:
            print(f"note: {sentence}", file=sys.stderr)
        if resolved.steady is None and resolved.packets is None:  # else how much is simulated is not known before
            progress.expects = partial(_expectation, resolved)
        with progress, warnings.catch_warnings(action="ignore", category=StaleWarning):  # it has been said
            done = simulate(
                loaded, folder, alone=alone, progress=progress.report, force=force, keep_stale=keep_stale,
                threads=threads,
            )  # fmt: skip
        progress.say(_closing(done.summary, folder))
    return _print(done, report=report, json=json, all_=all_, progress=progress)


def _expectation(resolved: "Resolved") -> "Expectation":
    from odonata.expectation import expectation

    return expectation(resolved)


def _folders(out: Path | None, name: str) -> list[Path]:
    """Where the run of a scenario of this name can be: the folder that is asked for, or those named after it."""
    if out is not None:
        return [out]
    with suppress(OSError):
        return sorted(folder for folder in Path("runs").iterdir() if folder.name.rpartition("-")[0] == name)
    return []


def _print(run: "Run", *, report: bool, json: bool, all_: bool, progress: "ProgressLine") -> int:
    from odonata.store.summary import as_text
    from odonata.text import terminal_width

    folder = run.path
    assert folder is not None
    files = {"out": str(folder)}
    if report:
        from odonata.report import report_in

        files["report"] = str(report_in(folder))
        progress.say(f"report in {files['report']}")
    if json:
        print(json_module.dumps({**run.summary, **files}))
    else:
        print(as_text(run.summary, terminal_width(), every=all_, hint="--all prints them"))
    return 0


def _refuse(given: dict[str, Any], why: str) -> None:
    from odonata.errors import InputError

    for option, value in given.items():
        if value is not None:
            raise InputError(f"`{option}` {why}")


def _opening(scenario: dict[str, Any], system: str) -> str:
    from odonata.scenario.words import routing

    jobs = " + ".join(_job(job) for job in scenario["job"])
    return f"{jobs} on {system}, routing {routing(scenario['routing'])}, seed {scenario['run']['seed']}"


def _job(job: dict[str, Any]) -> str:
    from odonata.scenario.words import routing

    own, ranks = job.get("routing"), job.get("ranks", job["nodes"])
    parts = [
        f"{job['nodes']:,} nodes",
        f"{ranks:,} ranks" if ranks != job["nodes"] else "",
        own and f"routing {routing(own)}",
    ]
    return f"{job['name']} ({', '.join(filter(None, parts))})"


def _closing(summary: dict[str, Any], folder: Path) -> str:
    speed, memory = summary["packet_hops_per_s"] or 0.0, summary["peak_rss_bytes"] / 1e6
    on = f" on {summary['threads']} threads" if summary["threads"] > 1 else ""
    return (
        f"{summary['packet_hops']:,} packet-hops in {summary['wall_s']:.2f} s{on} "
        f"({speed / 1e6:.1f} M/s, {memory:.0f} MB); results in {folder}"
    )
