"""`odonata.schedule`: the whole simulation of a stream of jobs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from odonata import files
from odonata.errors import InputError
from odonata.processors import processors
from odonata.scheduler.cache import FILE, Cache
from odonata.scheduler.outcome import outcome
from odonata.scheduler.plan import load
from odonata.scheduler.scheduling import simulate

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from concurrent.futures import Future
    from os import PathLike

    from odonata.scheduler.outcome import Outcome
    from odonata.scheduler.scheduling import Progress
    from odonata.scheduler.window import Window

TEXT = "schedule.toml"
NAMES = (FILE, TEXT, "jobs.parquet", "schedule.json")
"""Files of the folder of a schedule."""


class _OfDask:
    """The workers of a Dask client, as an executor."""

    def __init__(self, client: Any) -> None:
        self._client, self._executor = client, client.get_executor(pure=False)

    def submit(self, function: Callable[[Window], Any], window: Window, /) -> Future[Any]:
        """Lets a worker simulate a window."""
        future: Future[Any] = self._executor.submit(function, window)
        return future

    @property
    def lost(self) -> bool:
        """Whether its scheduler cannot be reached any more."""
        return self._client.status not in ("running", "connecting")


def schedule(
    file: str | PathLike[str] | Mapping[str, Any],
    overrides: Sequence[str] = (),
    *,
    out: str | Path | None = None,
    workers: int | None = None,
    client: Any = None,
    force: bool = False,
    report: Callable[[Progress], object] | None = None,
) -> Outcome:
    """Simulate a stream of jobs on a machine, in which contention makes jobs slower.

    A scheduler starts the jobs (first come first served, with backfilling) on nodes that a placement policy chooses.
    Whenever the set of running jobs changes, a packet-level window of all of them gives each its rate of progress.

    Parameters
    ----------
    file
        The file of the schedule (TOML), or its data; `docs/schedule.md` describes it.
    overrides
        Changes of its values, such as `"backfill=none"`.
    out
        The folder for the results. After an interruption the same call continues from it. Without it, the results are
        in memory only.
    workers
        Windows that are simulated at once; by default one for each processor.
    client
        A `distributed.Client`, whose workers simulate the windows instead.
    force
        Use the folder of another schedule. Its windows are kept.
    report
        Called with a `Progress` after each window.

    Returns
    -------
    Outcome
        The same with any number of workers.

    Raises
    ------
    InputError
        With file and line, for a schedule that cannot be simulated, and for an `out` with other contents.
    RunError
        If a window cannot be simulated, or nothing can be written.

    Examples
    --------
    >>> import odonata as od
    >>> file = folder / "stream.toml"
    >>> _ = file.write_text(
    ...     'system = "tiny"\\nplace = ["contiguous", "random"]\\nwindow.contention = false\\n'
    ...     '[stream.synthetic]\\njobs = 40\\nload = "90 %"\\n'
    ... )
    >>> found = od.schedule(file)
    >>> [case.network_slowdown for case in found.cases]  # without contention
    [1.0, 1.0]
    """
    plan = load(file, overrides)
    many = processors() if workers is None else workers
    if many < 1:
        raise InputError(f"expected a number of workers from 1 on, found {many}")
    executor = None if client is None else _OfDask(client)
    if client is not None:
        many = max(1, sum(client.nthreads().values()))
    if out is None:
        cache = Cache(None)
        return outcome(plan, simulate(plan, cache, many, executor, report), cache)
    folder = Path(out)
    _check_place(folder, plan.document.text, force=force)
    with files.alone_in(folder, "command"):
        files.write(folder / TEXT, plan.document.text)
        cache = Cache(folder)
        result = outcome(plan, simulate(plan, cache, many, executor, report), cache)
        _write(result, folder)
    return result


def _check_place(folder: Path, text: str, *, force: bool) -> None:
    """Raises InputError if the folder holds something else, or another schedule without `force`."""
    files.check_folder(folder)
    if not folder.exists() or not any(folder.iterdir()):
        return
    if not (folder / TEXT).is_file():
        raise InputError(f"`{folder}` exists and is not the folder of a schedule", hint="choose another with --out")
    # As bytes: the text may have line ends of Windows, and another program may have left anything here.
    if not force and (folder / TEXT).read_bytes() != text.encode():
        hint = "choose another folder with --out, or overwrite its results with --force (its windows are kept)"
        raise InputError(f"`{folder}` is the folder of another schedule", hint=hint)


def _write(outcome: Outcome, folder: Path) -> None:
    import io

    data = io.BytesIO()
    outcome.jobs.write_parquet(data)
    files.write(folder / "jobs.parquet", data.getvalue())
    files.write(folder / "schedule.json", json.dumps(outcome.as_dict(), indent=1) + "\n")
