"""Scheduler and workers of Dask without the HTTP server that each of them starts by default.

That server is unencrypted even with certificates. It shows what runs, and anyone can close workers through it.
"""

from __future__ import annotations

from distributed import Scheduler as DaskScheduler
from distributed import Worker as DaskWorker


class Scheduler(DaskScheduler):  # type: ignore[misc]
    """A scheduler that listens for workers and clients only."""

    def start_http_server(self, *_: object, **__: object) -> None:
        """Starts nothing."""


class Worker(DaskWorker):  # type: ignore[misc]
    """A worker that listens for the scheduler and other workers only."""

    def start_http_server(self, *_: object, **__: object) -> None:
        """Starts nothing."""
