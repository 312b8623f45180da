"""Progress of a schedule: a bar on a terminal, plain lines elsewhere; always on standard error."""

from __future__ import annotations

import time
from contextlib import ExitStack
from typing import TYPE_CHECKING, Self

from odonata.cli.progress import Screen, again, left, ticking
from odonata.scheduler.scheduling import Progress

if TYPE_CHECKING:
    from types import TracebackType

    from rich.progress import ProgressColumn


class ScheduleProgress(Screen):
    """Shows what a schedule reports; use it as a context and pass its `report`."""

    def __init__(self, *, quiet: bool) -> None:
        super().__init__(quiet=quiet)
        self._now = Progress()
        self._ticks = ExitStack()

    def _columns(self) -> list[ProgressColumn]:
        from rich.progress import BarColumn, TextColumn

        return [BarColumn(), TextColumn("{task.description}", markup=False)]

    def __enter__(self) -> Self:
        super().__enter__()
        if self._bar is None and not self._quiet:
            self._ticks.enter_context(ticking(self._tick))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, where: TracebackType | None
    ) -> None:
        self._ticks.close()
        super().__exit__(kind, problem, where)
        if problem is not None and self._now.jobs:
            self.say(f"{self._state()}; the windows are kept{again(problem, ', and the same command continues')}")

    def report(self, now: Progress) -> None:
        """Shows the progress."""
        if not self._now.jobs:
            for warning in now.warnings:
                self.say(f"warning: {warning}")
            self._now = now
            if self._bar is None:
                self.say(self._state())
            else:
                self._task = self._bar.add_task(self._state(), total=now.jobs)
        self._now = now
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, completed=now.ended, description=self._state())

    def _tick(self) -> None:
        if self._now.jobs:
            self.say(self._state())

    def _state(self) -> str:
        now = self._now
        windows = "window" if now.simulated == 1 else "windows"
        counts = f"{now.ended:,} of {now.jobs:,} jobs ended, {now.simulated:,} {windows} simulated"
        return f"{counts}; {left(now.ended / now.jobs, time.monotonic() - self._began)}"
