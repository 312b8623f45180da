"""Workers of Dask, on any number of machines.

Results come back to this process, which writes them, so workers need no common file system; a dead scheduler loses what
is under way and nothing else. Dask gives what a dead worker had to others; a batch that is with too many workers when
they die is taken apart, and a single run with that fate has failed. A task costs Dask about 5 ms, so a batch of short
runs is worth a second.
"""

from __future__ import annotations

import logging
import queue
import time
from concurrent.futures import CancelledError
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from odonata.errors import InputError, OdonataError, RunError
from odonata.machine import core
from odonata.study import remote
from odonata.study.ledger import FLUSH_S

if TYPE_CHECKING:
    from odonata.study.ledger import Ledger

BATCH_S = 1.0
"""Wall time that a batch should take."""
MOST = 256
"""Points of a batch at most."""
CONNECT_S = 20.0
"""Wall time after which a scheduler that does not answer is given up."""
FETCH_S = 60.0
"""Wall time in which a finished batch must have come here."""
COUNT_EVERY_S = 2.0
"""Wall time between two looks at how many workers there are."""

_MISSING = "Dask is not installed"
_INSTALL = 'pip install "odonata[cluster]"'


class DaskPool:
    """The workers of a Dask client, or of the scheduler at an address."""

    def __init__(self, scheduler: Any) -> None:
        self._scheduler = scheduler
        self._batches: dict[Any, tuple[str, list[int]]] = {}
        self._done: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._threads, self._counted = 0, 0.0

    @property
    def workers(self) -> int:
        """Threads of all workers when they were last counted."""
        return self._threads

    def run(self, ledger: Ledger) -> None:
        """Settles every point. Raises RunError if there is no scheduler or it is lost, or workers are of no use."""
        client, ours = connected(self._scheduler)
        payload, version = remote.payload_of(ledger.plan), core.version()

        def submit(what: str, numbers: list[int]) -> None:
            function = remote.resolve_batch if what == "resolve" else remote.run_batch
            future = client.submit(function, payload, version, numbers, pure=False)
            self._batches[future] = (what, numbers)
            future.add_done_callback(self._done.put)

        try:
            while not ledger.complete:
                while len(self._batches) < 2 * self._count(client) and (numbers := ledger.take(MOST, BATCH_S)):
                    submit("resolve", numbers)
                with suppress(queue.Empty):
                    self._finished(self._done.get(timeout=FLUSH_S), ledger, submit)
                if client.status not in ("running", "connecting"):
                    raise RunError(
                        "the Dask scheduler is gone\n  hint: finished runs are kept; start it and sweep again"
                    )
                ledger.flush(FLUSH_S if self._batches else 0.0)
        finally:
            with suppress(Exception):
                client.cancel(list(self._batches), force=True)
            self._batches = {}
            if ours:
                client.close(timeout=1)

    def _finished(self, future: Any, ledger: Ledger, submit: Any) -> None:
        what, numbers = self._batches.pop(future)
        found, problem = _outcome(future)
        if found is not None:
            if what == "resolve":
                granted = ledger.grant(found)
                if granted:
                    submit("run", granted)
            else:
                rows, spent, refused = found
                ledger.hand_in(rows, spent)
                for resolution in refused:
                    ledger.lose(resolution.number, resolution.error or "?")
            return
        if type(problem).__name__ == "KilledWorker":
            if len(numbers) == 1:
                ledger.lose(numbers[0], "its workers died, again and again")
            else:
                for number in numbers:
                    submit(what, [number])
        elif problem is None:  # cancelled, or lost with its scheduler or its worker
            ledger.put_back(numbers)
        elif isinstance(problem, OdonataError):
            raise problem
        else:
            hint = "Odonata must be installed where the workers run, with the same version"
            raise RunError(f"a Dask worker failed: {type(problem).__name__}: {problem}\n  hint: {hint}")

    def _count(self, client: Any) -> int:
        """Threads of all workers, at least one: the first ones may be on their way."""
        if time.monotonic() - self._counted > COUNT_EVERY_S or not self._threads:
            self._counted = time.monotonic()
            self._threads = sum(client.nthreads().values())
        return max(1, self._threads)


def _outcome(future: Any) -> tuple[Any, BaseException | None]:
    """What a batch gave, or what was wrong with it; neither if that is lost."""
    try:
        if future.status == "finished":
            return future.result(timeout=FETCH_S), None
        return None, future.exception(timeout=FETCH_S) if future.status == "error" else None
    except (TimeoutError, CancelledError):
        # Its worker died before it had handed over what it had finished, and another may take long to repeat it.
        return None, None
    except Exception as problem:
        return None, problem


def connected(scheduler: Any) -> tuple[Any, bool]:
    """A client for a scheduler, given by its address, by a cluster or as a client, and whether it is ours to close.

    Raises InputError if Dask is not installed or the address is none, RunError if nobody answers there.
    """
    try:
        from distributed import Client
    except ImportError:
        raise InputError(_MISSING, hint=_INSTALL) from None
    # Workers that come and go are part of the plan.
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    if isinstance(scheduler, Client):
        return scheduler, False
    try:
        return Client(scheduler, timeout=CONNECT_S, set_as_default=False), True
    except ValueError as problem:
        hint = "such as tcp://host:8786"
        raise InputError(f"`{scheduler}` is not the address of a scheduler: {problem}", hint=hint) from None
    except (OSError, TimeoutError) as problem:
        said = str(problem).splitlines()[0] if str(problem) else type(problem).__name__
        raise RunError(f"no Dask scheduler answers at `{scheduler}`: {said}") from None
