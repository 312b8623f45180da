"""Starts the MPI program of the probe and reads what it prints."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import threading
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from odonata.errors import InputError, OdonataError, RunError, shortened

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

#: Characters of the end of standard error that a message shows.
_SHOWN = 1500

#: Most ranks. Assumed: ten times those of the largest machine.
MOST_RANKS = 10_000_000

#: The first microsecond of the year 10000, which a calendar does not have.
_LAST_US = 253_402_300_800_000_000

#: Seconds for the launcher to end its ranks after an interruption. Assumed.
_GRACE_S = 5.0


@dataclass
class Times:
    """What the ranks measured: the rows that arrived, each an iteration of one configuration."""

    configurations: int
    ranks: int = 0
    hosts: list[str] = field(default_factory=list)
    """Host of each rank."""
    rows: list[tuple[int, int, int, list[int]]] = field(default_factory=list)
    """Iteration, number of the configuration, begin (microseconds since 1970, on the clock of rank 0), and the
    durations in nanoseconds, one for each rank; -1 for a rank that takes no part."""
    whole: bool = False
    """Whether the program came to its end."""

    def read(self, line: str) -> None:
        """Adds a line of the program; others are what the launcher says. Raises ValueError for one that is cut."""
        if not line.startswith("@"):
            return
        kind, *words = line.split()
        if kind == "@probe":
            if self.ranks:
                raise ValueError("several programs write")
            self.ranks = int(words[0])
            if int(words[1]) != self.configurations:
                raise ValueError("another number of configurations")
            if not 0 < self.ranks <= MOST_RANKS:
                raise ValueError(f"{words[0]} ranks")
            self.hosts = [""] * self.ranks
        elif kind == "@host":
            self.hosts[int(words[0])] = " ".join(words[1:])
        elif kind == "@t":
            iteration, configuration, begin, *times = map(int, words)
            if len(times) != self.ranks or not 0 <= configuration < self.configurations:
                raise ValueError("another number of ranks")
            if not 0 <= iteration < 1 << 31 or not 0 <= begin < _LAST_US or not all(-1 <= t < 1 << 63 for t in times):
                raise ValueError(f"a number that is no time in `{shortened(line.strip(), 80)}`")
            self.rows.append((iteration, configuration, begin, times))
        elif kind == "@end":
            self.whole = True


def launch(
    launcher: Sequence[str],
    program: Path,
    arguments: Sequence[str],
    configurations: int,
    report: Callable[[int], None] | None = None,
) -> tuple[Times, OdonataError | KeyboardInterrupt | None]:
    """Runs the program; what it measured, and why that is not all of it.

    `report` is called with the number of iterations that are done. Raises InputError if the launcher does not exist.
    """
    times = Times(configurations)
    words = [*launcher, str(program), *arguments]
    try:
        # A group of its own: Ctrl-C reaches the launcher only through `_end`, after the lines that are under way.
        running = subprocess.Popen(
            words,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            start_new_session=True,
        )
    except OSError as e:
        raise InputError(
            f"cannot start the launcher `{launcher[0]}`: {e.strerror}",
            hint='name one with --launcher, as in --launcher "mpirun -n 4" or --launcher "srun -N 4"',
        ) from None
    assert running.stdout is not None
    assert running.stderr is not None
    said: list[str] = []
    listener = threading.Thread(target=_listen, args=(running.stderr, said), daemon=True)
    listener.start()
    problem: OdonataError | KeyboardInterrupt | None = None
    try:
        for line in running.stdout:
            times.read(line)
            if report is not None and times.rows and line.startswith("@t"):
                report(len(times.rows) // configurations)
        status = running.wait()
        listener.join(_GRACE_S)  # a rank that lives on may keep it open
        if status or not times.whole:
            problem = RunError(_failure(launcher, status, times, "".join(said)))
    except (ValueError, IndexError) as e:
        _end(running)
        hint = "the launcher must start one program with several ranks, and must not change its output"
        problem = RunError(f"the output of `{shlex.join(launcher)}` cannot be read: {e}\n  hint: {hint}")
    except KeyboardInterrupt as e:
        problem = e
    finally:
        _end(running)
        running.stdout.close()
        listener.join(_GRACE_S)
    return times, problem


def _listen(stream: Any, said: list[str]) -> None:
    with stream:
        for line in stream:
            said.append(line)
            if len(said) > 1000:
                del said[:500]


def _end(running: subprocess.Popen[str]) -> None:
    """Ends the launcher and its ranks, if they still run."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        if running.poll() is not None:
            return
        with suppress(ProcessLookupError):
            os.killpg(running.pid, number)
        with suppress(subprocess.TimeoutExpired):
            running.wait(_GRACE_S)


def _failure(launcher: Sequence[str], status: int, times: Times, said: str) -> str:
    command = shlex.join(launcher)
    if status > 0:
        how = f"`{command}` failed with exit status {status}"
    elif status:
        how = f"`{command}` was ended by signal {-status}"
    else:
        how = f"`{command}` ended before the probe was done"
    if not times.ranks:
        how += ", before the ranks started"
    lines = "\n".join(f"  {line}" for line in said.strip()[-_SHOWN:].splitlines() if line.strip())
    return f"{how}:\n{lines}" if lines else how
