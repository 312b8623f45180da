"""Workers of Dask, on any number of machines.

Workers return results to this process, which writes them, so they need no common file system. If a scheduler dies, only
the batches under way are lost. Dask gives the batches of a dead worker to other workers. If too many workers die during
a batch, the batch is split; if it is a single run, the run has failed. Dask needs about 5 ms for a task, so a batch of
short runs should take about a second.

A scheduler executes what its clients send. `OwnScheduler`, and that of `slurm.py`, speak TLS with certificates that
only their own workers and this process hold (`certificates.py`), and listen for nothing else (`dask_servers.py`).
"""

from __future__ import annotations

import logging
import queue
import time
from concurrent.futures import CancelledError
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from odonata.errors import InputError, OdonataError, RunError
from odonata.store.engine import fingerprint
from odonata.study import certificates, remote
from odonata.study.certificates import INSTALL, Certificates
from odonata.study.ledger import FLUSH_S

if TYPE_CHECKING:
    from collections.abc import Callable

    from odonata.study.ledger import Ledger

BATCH_S = 1.0
"""Wall time that a batch should take."""
MOST = 256
"""The largest number of points in a batch."""
CONNECT_S = 10.0
"""Time limit for an answer of a scheduler that accepts connections."""
FETCH_S = 60.0
"""Time limit for the transfer of a finished batch, in wall time."""
COUNT_EVERY_S = 2.0
"""Wall time between two counts of the workers."""

LOGGERS = ("distributed", "distributed.client", "distributed.utils", "tornado.application")
"""Loggers, each with its own level, that report workers and schedulers that come and go. Our errors report this."""

WORKER = "odonata.study.dask_servers.Worker"
"""The class of our own workers."""


class DaskPool:
    """The workers of a Dask client, of a cluster, or of the scheduler at an address.

    `files` are the certificates for an address that begins with `tls://`.
    """

    def __init__(self, scheduler: Any, files: Certificates | None = None) -> None:
        self._scheduler = scheduler
        self._files = files or Certificates()
        self._batches: dict[Any, tuple[str, list[Any]]] = {}
        self._done: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._threads, self._counted = 0, 0.0

    @property
    def workers(self) -> int:
        """Threads of all workers when they were last counted."""
        return self._threads

    def run(self, ledger: Ledger) -> None:
        """Settles every point. Raises RunError without a scheduler, if it is lost, and if no worker can be used."""
        client, ours = connected(self._scheduler, self._files)
        payload, engine = remote.payload_of(ledger.plan), fingerprint()

        def submit(what: str, items: list[Any]) -> None:
            function = remote.resolve_batch if what == "resolve" else remote.run_batch
            future = client.submit(function, payload, engine, items, pure=False)
            self._batches[future] = (what, items)
            future.add_done_callback(self._done.put)

        try:
            while not ledger.complete:
                while len(self._batches) < 2 * self._count(client) and (numbers := ledger.take(MOST, BATCH_S)):
                    submit("resolve", numbers)
                with suppress(queue.Empty):
                    self._finished(self._done.get(timeout=FLUSH_S), ledger, submit)
                if client.status not in ("running", "connecting"):
                    raise RunError(
                        "the connection to the Dask scheduler is lost\n  hint: finished runs are kept; start it and "
                        "sweep again"
                    )
                ledger.flush(FLUSH_S if self._batches else 0.0)
        finally:
            with suppress(Exception):
                client.cancel(list(self._batches), force=True)
            self._batches = {}
            if ours:
                client.close(timeout=1)

    def _finished(self, future: Any, ledger: Ledger, submit: Any) -> None:
        what, items = self._batches.pop(future)
        numbers = items if what == "resolve" else [number for number, _ in items]
        outcome, problem = _outcome(future)
        if outcome is not None:
            if what == "resolve":
                granted = ledger.grant(outcome)
                if granted:
                    submit("run", granted)
            else:
                rows, spent, refused = outcome
                ledger.hand_in(rows, spent)
                for resolution in refused:
                    ledger.lose(resolution.number, resolution.error or "?")
            return
        if type(problem).__name__ == "KilledWorker":
            if len(numbers) == 1:
                ledger.lose(numbers[0], "its workers died repeatedly")
            else:
                for item in items:
                    submit(what, [item])
        elif problem is None:  # cancelled, or lost with its scheduler or its worker
            ledger.put_back(numbers)
        elif isinstance(problem, OdonataError):
            raise problem
        else:
            hint = "install Odonata on the workers, from the same sources"
            raise RunError(f"a Dask worker failed: {type(problem).__name__}: {problem}\n  hint: {hint}")

    def _count(self, client: Any) -> int:
        """Threads of all workers, and at least 1, because the first workers may still be starting."""
        if time.monotonic() - self._counted > COUNT_EVERY_S or not self._threads:
            self._counted = time.monotonic()
            self._threads = sum(client.nthreads().values())
        return max(1, self._threads)


def _outcome(future: Any) -> tuple[Any, BaseException | None]:
    """The outcome of a batch, or its error; neither if both are lost."""
    try:
        if future.status == "finished":
            return future.result(timeout=FETCH_S), None
        return None, future.exception(timeout=FETCH_S) if future.status == "error" else None
    except (TimeoutError, CancelledError):
        # The worker died before it handed over the finished batch, and repeating the batch may take long.
        return None, None
    except Exception as problem:
        return None, problem


def connected(scheduler: Any, files: Certificates) -> tuple[Any, bool]:
    """A Dask client for a scheduler (given as an address, a cluster or a client), and whether the caller must close it.

    Raises InputError if Dask is not installed, the address is invalid or certificates are missing, and RunError if no
    scheduler there accepts the connection.
    """
    require_dask()
    from distributed import Client

    for name in LOGGERS:
        logging.getLogger(name).setLevel(logging.CRITICAL)
    if isinstance(scheduler, Client):
        return scheduler, False
    security = None
    if isinstance(scheduler, str):
        protocol, host, port = certificates.address_of(scheduler)
        if protocol == "tls":
            security = files.security(f"`{scheduler}`")
        elif files.given:
            raise InputError("certificates are for a scheduler with TLS", hint=f"tls://{host}:{port}")
        certificates.reach(scheduler, security)
    try:
        return Client(scheduler, timeout=CONNECT_S, set_as_default=False, security=security), True
    except (OSError, TimeoutError) as problem:
        said = str(problem).splitlines()[0] if str(problem) else type(problem).__name__
        raise RunError(f"no Dask scheduler answers at `{scheduler}`: {said}") from None


def require_dask() -> None:
    """Raises InputError if Dask is not installed."""
    try:
        import distributed  # noqa: F401
    except ImportError:
        raise InputError("Dask is not installed", hint=INSTALL) from None


@dataclass
class OwnScheduler:
    """A scheduler in this process, for workers that the user starts and, if wanted, workers on this machine.

    It speaks TLS with `files`, or with temporary certificates, which are written for the workers to a folder in
    `folder` that only the user can read, and are removed at the end. `say` is called with the command that starts a
    worker.
    """

    listen: str | None = None
    """Where it listens: an address with or without a port, or a network interface. Default: this machine only."""
    here: int = 0
    """Workers on this machine."""
    files: Certificates = field(default_factory=Certificates)
    folder: Path = field(default_factory=Path)
    say: Callable[[str], object] = lambda _: None
    _pool: DaskPool | None = None

    @property
    def workers(self) -> int:
        """Workers that have connected."""
        return self.here if self._pool is None else self._pool.workers

    def run(self, ledger: Ledger) -> None:
        """Settles every point. Raises InputError for an address of another machine and for wrong certificates."""
        require_dask()
        from distributed import Nanny, SpecCluster

        from odonata.study.dask_servers import Scheduler, Worker

        logging.getLogger("distributed").setLevel(logging.CRITICAL)
        security = self.files.security("the scheduler") if self.files.given else certificates.temporary()
        options = certificates.listening(self.listen, "127.0.0.1")
        common = {"security": security, "protocol": "tls://"}
        nanny = {"nthreads": 1, "worker_class": Worker, "dashboard": False, "host": "127.0.0.1", **common}
        crew = {number: {"cls": Nanny, "options": nanny} for number in range(self.here)}
        scheduler = {"cls": Scheduler, "options": {**options, **common, "dashboard": False}}
        with (
            certificates.written(security, self.folder) as files,
            SpecCluster(crew, scheduler, security=security, silence_logs=logging.CRITICAL) as cluster,
        ):
            command = certificates.worker_command(cluster.scheduler_address, files, WORKER)
            self.say(f"a scheduler listens at {cluster.scheduler_address}; a worker is started by\n  {command}")
            self._pool = DaskPool(cluster)
            self._pool.run(ledger)
