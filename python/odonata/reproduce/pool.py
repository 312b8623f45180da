"""Runs the cases of a study, several at once, and keeps each result as soon as it is there.

The simulator works without the interpreter lock, so threads are enough. Results are kept by the run's id (a hash of the
resolved scenario and the core's version, not of the core's build); what is there already is not simulated again, so an
interruption loses at most the runs that were under way.
"""

from __future__ import annotations

import json
import threading
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

from odonata.errors import OdonataError, RunError
from odonata.reproduce.simulated import Measured, Simulated
from odonata.runner import simulate

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from odonata.scenario import Resolved

    Done = Callable[[Simulated[Any], int, int, bool], object]
    """Called after each case: the case, how many are done, of how many, and whether its result was there already."""


M = TypeVar("M", bound=Measured)


class _StoppedError(Exception):
    """Raised inside a simulation to end it."""


def run_cases(
    cases: Sequence[Simulated[M]], cache: Path, *, workers: int = 2, done: Done | None = None
) -> dict[Simulated[M], M]:
    """The outcome of every case, in the order given.

    Raises what the first failing case raises (RunError for a deadlock, InputError for a case that cannot be
    simulated) and KeyboardInterrupt on Ctrl-C, within a second; finished cases stay in `cache`.
    """
    stop = threading.Event()
    found: dict[Simulated[M], M] = {}
    pool = ThreadPoolExecutor(max_workers=workers, thread_name_prefix="case")
    try:
        waiting = {pool.submit(_one, case, cache, stop): case for case in cases}
        for number, future in enumerate(as_completed(waiting), 1):
            case = waiting[future]
            found[case], kept = future.result()
            if done is not None:
                done(case, number, len(cases), kept)
    finally:
        stop.set()
        pool.shutdown(cancel_futures=True)
    return {case: found[case] for case in cases}


def _one(case: Simulated[M], cache: Path, stop: threading.Event) -> tuple[M, bool]:
    resolved = case.scenario().resolve()
    file = cache / f"{resolved.id}.json"
    kept = _read(file, case)
    if kept is not None:
        return kept, True

    def watch(_: Mapping[str, Any]) -> None:
        if stop.is_set():
            raise _StoppedError

    if stop.is_set():
        raise _StoppedError
    try:
        made = case.measure(simulate(resolved.spec, watch), resolved)
    except (OdonataError, ValueError) as problem:
        raise RunError(f"{case.name} ({case.model}, {case.messages} messages): {problem}") from problem
    _write(file, case, resolved, made)
    return made, False


def _read(file: Path, case: Simulated[M]) -> M | None:
    """What is kept; None if there is nothing, or nothing of use."""
    with suppress(OSError, ValueError, TypeError, KeyError):
        kept = json.loads(file.read_text(encoding="utf-8"))
        if kept["format"] == case.format:
            return case.kept(kept["outcome"])
    return None


def _write(file: Path, case: Simulated[M], resolved: Resolved, made: M) -> None:
    kept = {
        "format": case.format,
        "id": resolved.id,
        "case": case.name,
        "model": case.model,
        "messages": case.messages,
        "outcome": made.as_json(),
    }
    # Two cases may be the same run, and be under way at the same time.
    partial = file.with_suffix(f".{threading.get_ident()}.partial")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        partial.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
        partial.replace(file)
    except OSError as problem:
        raise RunError(f"cannot keep a result in `{file}`: {problem.strerror or problem}") from problem
