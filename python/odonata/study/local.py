"""Workers on this machine: processes, each with a pipe. After the death of a worker its run is repeated.

The pools of the standard library lose their whole queue when a worker is killed (for example by the kernel, when memory
runs out). Here the worker is replaced, its points are put back, and the run during which it died is tried once more.
Messages:

| to the worker | answer |
|---|---|
| `resolve`, points | `resolved`: the run of each point |
| `run`, the granted ones of these points and their runs | `outcomes`, as runs end, then `free` |

Before each point a worker sends `at`, so the parent knows during which point it died. A worker that fails sends
`broken` if it can. A batch of short runs takes about a quarter of a second, which keeps messages and result files few.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from typing import TYPE_CHECKING, Any

from odonata.errors import RunError
from odonata.study.ledger import FLUSH_S

if TYPE_CHECKING:
    from odonata.study.ledger import Ledger
    from odonata.study.task import Granted

BATCH_S = 0.25
"""Wall time that a batch should take."""
MOST = 64
"""The largest number of points in a batch, and so of resolved scenarios that a worker holds."""
STILLBORN = 3
"""Number of consecutive workers that may die before their first answer. After that the sweep stops."""

_MAIN = "import sys; sys.path[:] = {path!r}; from odonata.study.worker import main; main({descriptor}, {parent})"


class LocalPool:
    """A pool of worker processes."""

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self._stillborn = 0

    def run(self, ledger: Ledger) -> None:
        """Settles every point of the ledger. Raises RunError if workers cannot start. Ctrl-C ends all workers."""
        crew: list[_Member] = []
        try:
            while not ledger.complete:
                wanted = min(self.workers, sum(member.busy for member in crew) + ledger.untaken)
                crew += [_Member(ledger) for _ in range(len(crew), wanted)]
                pipes = {member.pipe: member for member in crew}
                for ready in wait(list(pipes), timeout=FLUSH_S):
                    member = pipes[ready]  # type: ignore[index]
                    if not self._heard(member, ledger):
                        crew.remove(member)
                for member in crew:
                    if member.idle and (numbers := ledger.take(self._most(ledger), BATCH_S)):
                        member.resolve(numbers)
                ledger.flush(FLUSH_S if any(member.busy for member in crew) else 0.0)
        finally:
            for member in crew:
                member.kill()

    def _heard(self, member: _Member, ledger: Ledger) -> bool:
        """Handles the messages of a worker; returns whether it is alive."""
        try:
            while member.pipe.poll():
                what, said = member.pipe.recv()
                if what != "broken":  # which it also says of what it cannot begin with
                    self._stillborn = 0
                if what == "at":
                    member.at = said
                elif what == "resolved":
                    member.granted(ledger.grant(said))
                elif what == "outcomes":
                    rows, spent = said
                    member.numbers = [n for n in member.numbers if n not in {number for number, _ in spent}]
                    ledger.hand_in(rows, spent)
                elif what == "broken":
                    member.last_words = said
                else:
                    member.free()
        except (EOFError, OSError):
            self._died(member, ledger)
            return False
        return True

    def _died(self, member: _Member, ledger: Ledger) -> None:
        why = member.kill(after_s=1.0)
        why = f"{member.last_words}; a bug in odonata" if member.last_words else why
        lost = [number for number in member.numbers if number != member.at]
        ledger.put_back(lost)
        if member.at in member.numbers:
            ledger.strike(member.at, why)
        elif not member.started:
            self._stillborn += 1
            if self._stillborn >= STILLBORN:
                hint = "ODONATA_TRACEBACK=1 shows their output"
                raise RunError(f"worker processes do not start ({why})\n  hint: {hint}")

    def _most(self, ledger: Ledger) -> int:
        """The largest number of points in the next batch.

        Batches become small near the end, so that workers end together.
        """
        return max(1, min(-(-ledger.untaken // (2 * self.workers)), MOST))


class _Member:
    """A worker as the parent sees it."""

    def __init__(self, ledger: Ledger) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            code = _MAIN.format(path=sys.path, descriptor=theirs.fileno(), parent=os.getpid())
            # One thread for each: the number of workers already uses all processors.
            environment = {"POLARS_MAX_THREADS": "1", **os.environ}
            shown = None if os.environ.get("ODONATA_TRACEBACK") else subprocess.DEVNULL
            self.process = subprocess.Popen(
                [sys.executable, "-c", code],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=shown,
                env=environment,
            )
        self.pipe = Connection(ours.detach())
        self.numbers: list[int] = []
        """The points that it has taken."""
        self.at: int | None = None
        """The point that it simulates now."""
        self.last_words = ""
        """Why it ended, if it could report that."""
        self.started = self.idle = False
        with suppress(OSError):
            self.pipe.send(ledger.plan.packed())

    @property
    def busy(self) -> bool:
        """Whether it has points."""
        return bool(self.numbers)

    def resolve(self, numbers: list[int]) -> None:
        """Lets it resolve these points."""
        self._ask("resolve", numbers, numbers)

    def granted(self, granted: list[Granted]) -> None:
        """Lets it simulate these of its points."""
        if granted:
            self._ask("run", granted, [number for number, _ in granted])
        else:
            self.free()

    def _ask(self, what: str, items: list[Any], numbers: list[int]) -> None:
        """Gives it work. The next read from its pipe shows whether it is dead."""
        self.numbers, self.idle, self.at = numbers, False, None
        with suppress(OSError):
            self.pipe.send((what, items))

    def free(self) -> None:
        """Marks it as idle."""
        self.numbers, self.at, self.idle, self.started = [], None, True, True

    def kill(self, after_s: float = 0.0) -> str:
        """Ends it if it still runs; returns how it ended."""
        try:
            status = self.process.wait(after_s)
        except subprocess.TimeoutExpired:
            self.process.kill()
            status = self.process.wait()
        self.pipe.close()
        return _ended(status)


def _ended(status: int) -> str:
    if status >= 0:
        return f"exit status {status}"
    names: Any = {number.value: number.name for number in signal.Signals}
    hint = ", perhaps because memory ran out" if status == -signal.SIGKILL else ""
    return f"{names.get(-status, f'signal {-status}')}{hint}"
