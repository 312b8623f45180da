"""From a scenario to a run: resolve, simulate, store.

The only module except `machine` that calls the core. polars is imported when there are results to put into
tables, so that a process which only simulates (as `odonata bench` starts) stays small.
"""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from odonata import _core, reading
from odonata.errors import InputError, RunError, StaleWarning
from odonata.machine import core
from odonata.memory import check_memory
from odonata.processors import MOST_THREADS, default_threads
from odonata.store.columns import RECORDS
from odonata.store.manifest import manifest, now, peak_rss_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from os import PathLike

    import polars as pl

    from odonata.document import Document
    from odonata.packets import Packets
    from odonata.scenario import Resolved, Scenario
    from odonata.steady.skipped import Steady
    from odonata.store import Run
    from odonata.store.tables import Alone

    Progress = Callable[[Mapping[str, Any]], object]
    """Called about every 0.2 s with `stage` ("" or "target alone"), `now_ps`, `events`, `packet_hops`, `delivered`
    and `expected` (messages of the jobs that the run waits for, of programs iterations of ranks; 0 if it ends at a
    time). What it raises ends the run."""


def run(
    scenario: Scenario | str | PathLike[str] | Mapping[str, Any],
    out: str | Path | None = None,
    *,
    alone: bool = False,
    progress: Progress | None = None,
    force: bool = False,
    keep_stale: bool = False,
    threads: int | None = None,
) -> Run:
    """Simulate a scenario.

    Parameters
    ----------
    scenario
        The scenario, the path of its file, or its data (`Scenario.of`).
    out
        The run folder to write; without it the results are in memory only. If it holds the finished run of this
        scenario, nothing is simulated and that run is returned.
    alone
        Also run each target (each job that is not background) alone on the empty system, with the same nodes and
        seed. Its latencies there and the slowdown are added to `jobs`: mean latency over mean latency alone (Kang 2019,
        figure 8); of a program, time over time alone.
    progress
        Called about every 0.2 s; see `odonata.runner.Progress`.
    force
        Simulate again and overwrite `out`, also if it holds another run. Files there that are not of a run are kept.
    keep_stale
        Return a finished run also if another engine (`odonata.store.engine`) has simulated it. Without it, a
        `StaleWarning` says so and it is simulated again.
    threads
        Most threads that share the simulation (docs/results.md, "Threads"). The results do not depend on it. Without a
        number: as many as there are idle processors, at most 8. For many runs, processes are faster: `odonata sweep`.

    Returns
    -------
    Run

    Raises
    ------
    InputError
        For a scenario that cannot be simulated, for an `out` that holds something else, and for `threads` below 1.
    RunError
        For a deadlock and for a full disk. No half-written folder is left behind.

    Examples
    --------
    >>> import odonata as od
    >>> run = od.run("examples/quick.toml", alone=True)
    >>> run.jobs["slowdown"][0] > 1
    True
    >>> app = {"pattern": "tornado", "message": "4 KB", "interval": "1 us", "messages": 5}
    >>> od.run({"system": "tiny", "job": [{"name": "one", "nodes": 8, "app": app}]}).jobs["messages_sent"][0]
    40
    """
    from odonata.scenario import as_scenario

    scenario = as_scenario(scenario)
    threads = _threads(threads)
    folder = None if out is None else Path(out)
    if folder is not None:
        resolved = scenario.resolve(check=False)
        done = finished(folder, resolved, alone=alone, force=force, keep_stale=keep_stale)
        if done is not None:
            return done
    resolved = scenario.resolve()
    there = folder is not None and (folder / "manifest.json").exists()
    result = _simulate(scenario, resolved, alone=alone, progress=progress, threads=threads)
    if folder is None:
        return result
    from odonata.store import inputs
    from odonata.store.read import open_run

    # Without `force`, a run that was there before is the same one without `alone`; one that has come since is not ours.
    from odonata.store.tables import channels_of
    from odonata.store.write import write_run

    kept = inputs.of_run(scenario, folder)
    write_run(result, folder, channels=channels_of(resolved.spec), replace=force or there, inputs=kept)
    return open_run(folder)


def _threads(given: object) -> int:
    if given is None:
        return default_threads()
    if not isinstance(given, int) or not 1 <= given <= MOST_THREADS:
        raise InputError(f"`threads` is a number from 1 to {MOST_THREADS:,}, found `{given!r}`")
    return given


def _check_place(folder: Path) -> None:
    """Refuse, before anything is simulated, results that could not be written or replaced afterwards."""
    from odonata import files
    from odonata.store.read import is_run_folder, names_in
    from odonata.store.write import NAMES

    files.check_folder(folder)
    if not folder.exists() or not any(folder.iterdir()):
        return
    if not is_run_folder(folder):
        raise InputError(f"`{folder}` exists and is not a run folder", hint="choose another with --out")
    for name in sorted(NAMES - names_in(folder)):
        if (folder / name).exists():
            raise InputError(
                f"`{folder / name}` is not part of the run in `{folder}`, and would be overwritten",
                hint="move it, or choose another folder with --out",
            )


def recalled(scenario: Scenario, folders: Iterable[Path], *, alone: bool) -> Run | None:
    """The finished run of a scenario in one of these folders, if what decides it is unchanged; nothing is resolved.

    It is a run by this engine, and all its files are compared with their checksums. `None` also if one is damaged:
    `finished` says what is wrong.
    """
    from odonata.store import inputs
    from odonata.store.manifest import MANIFEST
    from odonata.store.read import check_all, open_run

    for folder in folders:
        decided = inputs.decided_by(scenario, folder)
        try:
            if decided not in reading.read_text(folder / MANIFEST):
                continue
            run = open_run(folder)
            check_all(run)
        except (OSError, InputError):
            continue
        targets = {job["name"] for job in run.summary["jobs"] if not job["background"]}
        if inputs.is_of(run.manifest, decided, folder) and (not alone or targets <= set(run.manifest["alone"])):
            return run
    return None


def finished(
    folder: Path, resolved: Resolved, *, alone: bool, force: bool = False, keep_stale: bool = False
) -> Run | None:
    """The run in `folder` if it is the requested one; `None` if the run must be computed and can be written there.

    A run by another engine is not the requested one, except with `keep_stale`: a `StaleWarning` says so. All
    files of the run are compared with their checksums.

    Raises `InputError` if something else is there that is not to be overwritten: what is no run folder never is,
    another run or a damaged one only with `force`.
    """
    from odonata.store.engine import difference
    from odonata.store.read import check_all, lacks_manifest, open_run

    _check_place(folder)
    if not force and lacks_manifest(folder):
        open_run(folder)  # says what is wrong
    if force or not (folder / "manifest.json").is_file():
        return None
    try:
        run = open_run(folder)
        check_all(run)
    except InputError as problem:
        hint = "--force simulates again and overwrites the folder"
        raise InputError(problem.message, file=problem.file, line=problem.line, hint=hint) from None
    if run.id != resolved.id:
        raise InputError(
            f"`{folder}` contains another run ({run.id}; this one is {resolved.id})",
            hint="choose another folder with --out, or overwrite it with --force",
        )
    other = difference(run.engine)
    if other is not None and not keep_stale:
        hint = "--keep-stale keeps it"
        warnings.warn(f"`{folder}` is simulated again: its results are from {other}\n  hint: {hint}", StaleWarning, 3)
        return None
    if alone and not set(resolved.targets) <= set(run.manifest["alone"]):
        return None
    return run


def _simulate(scenario: Scenario, resolved: Resolved, *, alone: bool, progress: Progress | None, threads: int) -> Run:
    spec, started = resolved.spec, now()
    # A job that cannot run alone is refused before anything is simulated.
    each = list(zip(spec["jobs"], resolved.background, strict=True)) if alone else []
    specs_alone = {job: resolved.alone(what["name"]) for job, (what, background) in enumerate(each) if not background}
    try:
        check_memory(resolved)
    except InputError as problem:
        raise scenario.located(problem) from None
    try:
        others = {only["jobs"][0]["name"]: only for only in specs_alone.values() if only != spec}
        packets, trials_s = _packets(resolved, {"": spec, **others}, progress, threads)
        given = spec if packets is None else packets.applied(spec)
        result, spec, steady = _played(given, resolved.steady, progress, "", threads)
    except InputError as problem:
        raise scenario.located(problem) from problem.__cause__
    result = {**result, "wall_s": result["wall_s"] + trials_s}
    peak = peak_rss_bytes()
    whole, resolved = resolved.spec, resolved.simulating(spec)
    alone_wall_s = 0.0
    by_itself: dict[int, Alone] = {}
    for job, only in specs_alone.items():
        there, of_it = result, steady
        if only == whole:
            only = spec
        else:
            # Of a run alone, only the job's own totals are kept.
            measure = {key: value for key, value in only["measure"].items() if key not in RECORDS}
            stage = f"{only['jobs'][0]['name']} alone"
            only = only if packets is None else packets.applied(only)
            there, only, of_it = _played({**only, "measure": measure}, resolved.steady, progress, stage, threads)
            alone_wall_s += there["wall_s"]
        from odonata.store.tables import alone_of

        by_itself[job] = alone_of(there, only, of_it)

    from odonata.store.tables import job_rows

    rows = job_rows(result, spec, resolved.background, by_itself, steady, resolved.volumes)
    wall = {
        "started": started,
        "wall_s": result["wall_s"],
        "threads": result["threads"],
        "alone_wall_s": alone_wall_s,
        "packet_hops_per_s": result["packet_hops"] / result["wall_s"] if result["wall_s"] else None,
        "peak_rss_bytes": peak,
    }
    names = [spec["jobs"][job]["name"] for job in by_itself]
    tables = dict(_tables(resolved, result, rows))
    return _as_run(scenario.document, resolved, result, tables, wall, names, steady, packets)


def _packets(
    resolved: Resolved, specs: Mapping[str, Mapping[str, Any]], progress: Progress | None, threads: int
) -> tuple[Packets | None, float]:
    """What is chosen for `run.packets`, and the wall time of the trials; none without the key. The first specification
    is that of the run. Raises InputError if it makes no sense for the run."""
    if resolved.packets is None:
        return None, 0.0
    from odonata.packets import check, choose, share_of_part

    check(next(iter(specs.values())), resolved.targets)
    share = share_of_part(resolved, specs)
    walls = [0.0]

    def simulate_trial(trial: Mapping[str, Any], stage: str) -> dict[str, Any]:
        made = simulate(trial, progress, stage=stage, threads=threads)
        walls.append(made["wall_s"])
        return made

    return choose(specs, resolved.packets, simulate_trial, share), sum(walls)


def _played(
    spec: dict[str, Any], bound: float | None, progress: Progress | None, stage: str, threads: int
) -> tuple[dict[str, Any], dict[str, Any], Steady | None]:
    """The result of a specification, the specification that was simulated, and what this one has skipped.

    Without a bound (`run.steady`), the given one is simulated. The wall time is that of all trials.
    """
    if bound is None:
        return simulate(spec, progress, stage=stage, threads=threads), spec, None
    from odonata.steady.search import search

    walls = [0.0]

    def simulate_trial(trial: Mapping[str, Any], number: int) -> dict[str, Any]:
        shown = " ".join(filter(None, (stage, f"(steady iterations, trial {number})")))
        made = simulate(trial, progress, stage=shown, threads=threads)
        walls.append(walls[-1] + made["wall_s"])
        return made

    result, short, steady = search(spec, bound, simulate_trial)
    return {**result, "wall_s": walls[-1]}, short, steady


def _tables(resolved: Resolved, result: Mapping[str, Any], rows: list[dict[str, Any]]) -> Mapping[str, pl.DataFrame]:
    """The tables of a run, made when they are first used; `rows` are those of `jobs`."""
    from odonata.store import tables as frames

    spec, system = resolved.spec, resolved.system.describe()
    lists = [number for number, job in enumerate(spec["jobs"]) if job["name"] in resolved.flow_lists]
    return frames.Made(
        {
            "jobs": lambda: frames.jobs_table(rows),
            "messages": lambda: frames.messages_frame(result),
            "links": lambda: frames.links_frame(result, spec, system),
            "iterations": lambda: frames.iterations_frame(result, spec),
            "ranks": lambda: frames.ranks_frame(result, spec),
            "counters": lambda: frames.counters_frame(result),
            "nics": lambda: frames.nics_frame(result, spec, system),
            "nic_messages": lambda: frames.nic_messages_frame(result, spec),
            "blame": lambda: frames.blame_frame(result, system),
            "roots": lambda: frames.roots_frame(result, system),
            "series": lambda: frames.series_frame(result, system),
            "routes": lambda: frames.routes_frame(result),
            "operations": lambda: frames.operations_frame(result),
            "flow_times": lambda: frames.flows_frame(result, spec, system, lists),
        }
    )


def _as_run(
    scenario: Document | str,
    resolved: Resolved,
    result: dict[str, Any],
    tables: Mapping[str, pl.DataFrame],
    wall: dict[str, Any],
    alone: list[str],
    steady: Steady | None,
    packets: Packets | None,
) -> Run:
    from odonata.store.result import Run
    from odonata.store.tables import channels_of

    spec = resolved.spec
    facts = manifest(
        run_id=resolved.id,
        core_version=_core.__version__,
        seed=spec["seed"],
        channels=channels_of(spec),
        result=result,
        alone=alone,
        wall=wall,
        link_classes=resolved.system.describe()["classes"],
        steady=None if steady is None else steady.facts([job["name"] for job in spec["jobs"]]),
        packets=None if packets is None else packets.facts(),
        collective=bool(resolved.volumes),
        reordering=bool(spec["measure"].get("reordering")),
    )
    return Run(facts, resolved.document, scenario, tables)


def measure(
    resolved: Resolved,
    progress: Progress | None = None,
    keep: Callable[[Run], Any] | None = None,
    alone: str | None = None,
) -> tuple[dict[str, Any], list[dict[str, Any]], Any]:
    """Simulates and keeps what a study keeps of a run: its totals, the rows of the table `jobs`, and what `keep` gives.

    The totals are `seed`, `sim_time_ps`, `events`, `packet_hops` and `wall_s`. With `alone` it is the run of that job
    alone, and `keep` is not called. Raises as `simulate` and `keep` do.
    """
    check_memory(resolved)
    given = resolved.spec if alone is None else resolved.alone(alone)
    if resolved.packets is not None:
        from odonata.packets import of_study

        raise of_study()
    result, spec, steady = _played(given, resolved.steady, progress, "", 1)
    from odonata.store.tables import job_rows

    background = resolved.background if alone is None else [False]
    rows = job_rows(result, spec, background, {}, steady, resolved.volumes)
    facts = {"seed": spec["seed"], "sim_time_ps": result["end_ps"]}
    facts |= {name: result[name] for name in ("events", "packet_hops", "wall_s")}
    if keep is None:
        return facts, rows, None
    resolved = resolved.simulating(spec)
    run = _as_run("", resolved, result, _tables(resolved, result, rows), {"wall_s": result["wall_s"]}, [], steady, None)
    return facts, rows, keep(run)


def simulate(
    spec: Mapping[str, Any], progress: Progress | None = None, stage: str = "", threads: int = 1
) -> dict[str, Any]:
    """The result of the core for a specification, with its errors converted to ours."""
    report = None if progress is None else lambda state: progress({"stage": stage, **state})
    from odonata.scenario.refusals import keys_of_path

    try:
        return core.run(spec, report, threads)
    except _core.CoreError as problem:
        raise core.as_error(problem, keys_of_path(problem.path)) from problem
    except MemoryError as problem:
        raise RunError(str(problem) or "not enough memory for this run") from problem


def benchmark() -> None:
    """One repetition of `odonata bench`: specification on standard input, measurements on standard output as JSON.

    The only argument of the process is the number of threads.

    `messages` counts the recorded messages, `idle_rss_bytes` is the peak memory before the simulation.
    """
    import sys

    spec = sys.stdin.read()
    idle = peak_rss_bytes()
    try:
        result = _core.run(spec, None, int(sys.argv[1]))
    except KeyboardInterrupt:
        sys.exit(130)
    except _core.CoreError as problem:
        sys.exit(str(problem))
    facts = {
        name: result[name] for name in ("end_ps", "events", "packet_hops", "wall_s", "threads", "windows", "longest")
    }
    measured = {"messages": len(result["messages"]["job"]), "idle_rss_bytes": idle, "peak_rss_bytes": peak_rss_bytes()}
    print(json.dumps({**facts, **measured}))
