"""The simulation of all jobs, as a process of its own: what happens to it does not end the watching, and its memory is
free again when it ends.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING

from odonata import reading
from odonata.errors import InputError
from odonata.monitor.state import Judgement

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

REST = 3.0
"""Shortest rest after a simulation, as a multiple of how long it took, so that simulations use a quarter of a processor
at most (assumed).
"""
_NICE = 19
_MOST_BYTES = 1 << 26
_SHOWN = 400


@dataclass
class Judging:
    """Runs `odonata cluster impact` from time to time, one at a time."""

    arguments: Sequence[str]
    """Those of the command, without --out and --json."""
    folder: Path
    every_s: float
    limit_s: float
    clock: Callable[[], float]
    now: Callable[[], float]
    error: str | None = None
    """Why the last one failed."""
    _due: float = field(default=0.0)
    _begin: float = field(default=0.0)
    _process: subprocess.Popen[bytes] | None = None
    _said: IO[bytes] | None = None

    def poll(self) -> Judgement | None:
        """Starts a simulation if one is due, and says what one that has ended found; None while nothing is new.

        `error` says why, if one has failed.
        """
        self.error = None
        if self._process is None:
            if self.clock() >= self._due:
                self._start()
            return None
        took = self.clock() - self._begin
        if self._process.poll() is None:
            if took > self.limit_s:
                self.stop()
                self._rest(took)
                self.error = f"the simulation of all jobs took more than {self.limit_s:g} s"
            return None
        status, said = self._process.returncode, self._words()
        self._process = None
        self._rest(took)
        if status != 0:
            self.error = f"the simulation of all jobs failed with status {status}: {said}"
            return None
        return self._read(took)

    def stop(self) -> None:
        """Ends a simulation that goes on."""
        if self._process is not None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
            self._process = None
        if self._said is not None:
            self._said.close()

    def _start(self) -> None:
        self._begin = self.clock()
        self._said = tempfile.TemporaryFile()  # noqa: SIM115 - read when the process has ended
        command = [sys.executable, "-m", "odonata", "cluster", "impact", *self.arguments]
        command += ["--out", str(self.folder), "--json", "--quiet"]
        try:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=self._said,
                start_new_session=True,
            )
            os.setpriority(os.PRIO_PROCESS, self._process.pid, _NICE)
        except OSError as problem:
            self._rest(0.0)
            self.error = f"the simulation of all jobs cannot start: {problem.strerror or problem}"

    def _rest(self, took: float) -> None:
        self._due = max(self._begin + self.every_s, self.clock() + REST * took)

    def _words(self) -> str:
        if self._said is None:
            return ""
        with self._said as said:
            said.seek(0)
            return " ".join(said.read(1 << 16).decode(errors="replace").split())[:_SHOWN]

    def _read(self, took: float) -> Judgement | None:
        path = self.folder / "impact.json"
        try:
            return Judgement.of(json.loads(reading.read_bytes(path, _MOST_BYTES, pipes=False)), self.now(), took)
        except (OSError, InputError, LookupError, TypeError, ValueError, AttributeError) as problem:
            self.error = f"`{path}` cannot be read: {problem}"
            return None
