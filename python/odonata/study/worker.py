"""A worker process of the local pool: takes points over a pipe, and returns the outcomes of their runs.

`local.py` starts it as a new process, not as a fork. So it holds no locks of its parent, and a script that sweeps needs
no `if __name__ == "__main__"`. It ends within a second after its parent, even during a long run. It ignores Ctrl-C and
SIGTERM, which the parent handles.
"""

from __future__ import annotations

import os
import pickle
import signal
import sys
import time
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Any

from odonata.study import task

if TYPE_CHECKING:
    from collections.abc import Mapping

    from odonata.scenario import Resolved
    from odonata.study.plan import Plan

SEND_S = 0.1
"""Wall time for which outcomes of short runs are gathered before they are sent."""


def main(descriptor: int, parent: int) -> None:
    """Serves until the pipe is closed. Messages are described in `local.py`."""
    # Terminals and queues send these signals to all processes. The parent writes the results, then ends the workers.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    pipe = Connection(descriptor)
    with suppress(EOFError, BrokenPipeError, ConnectionResetError, task.StopRun):
        try:
            Worker(pipe, parent).serve()
        except Exception as problem:
            pipe.send(("broken", f"{type(problem).__name__}: {problem}"))
            raise
    # Nothing needs to be cleaned up, so threads of libraries are not joined.
    sys.stderr.flush()
    os._exit(0)


class Worker:
    """One worker and its pipe."""

    def __init__(self, pipe: Connection, parent: int) -> None:
        self._pipe = pipe
        self._parent = parent
        self._plan: Plan = pickle.loads(pipe.recv())
        self._resolved: dict[int, tuple[Resolved, float]] = {}

    def serve(self) -> None:
        """Answers messages until the pipe is closed."""
        self._pipe.send(("ready", None))
        while True:
            what, items = self._pipe.recv()
            if what == "resolve":
                self._resolve(items)
            else:
                self._run(items)

    def _resolve(self, numbers: list[int]) -> None:
        resolutions = []
        self._resolved = {}
        for number in numbers:
            self._pipe.send(("at", number))
            resolution, resolved = task.resolve(self._plan, number)
            resolutions.append(resolution)
            if resolved is not None:
                self._resolved[number] = (resolved, resolution.spent_s)
        self._pipe.send(("resolved", resolutions))

    def _run(self, granted: list[task.Granted]) -> None:
        outcomes: list[task.Outcome] = []
        sent = time.monotonic()
        for point in granted:
            self._pipe.send(("at", point[0]))
            resolved, before_s = self._resolved.pop(point[0])
            outcomes += task.run(self._plan, point, resolved, self._watch, before_s)
            if time.monotonic() - sent > SEND_S:
                self._send(outcomes)
                outcomes, sent = [], time.monotonic()
        self._send(outcomes)
        self._pipe.send(("free", None))

    def _send(self, outcomes: list[task.Outcome]) -> None:
        if outcomes:
            self._pipe.send(("outcomes", task.handed_in(outcomes)))

    def _watch(self, _: Mapping[str, Any]) -> None:
        if os.getppid() != self._parent:
            raise task.StopRun
