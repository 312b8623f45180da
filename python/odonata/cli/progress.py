"""Progress of a run: a bar on a terminal, plain lines elsewhere; always on standard error."""

from __future__ import annotations

import sys
import threading
import time
from abc import ABC, abstractmethod
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Self

from odonata.text.numbers import duration
from odonata.units import format_time

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from types import TracebackType

    from rich.progress import Progress, ProgressColumn, TaskID

LINE_EVERY_S = 30.0
"""Wall time between two plain lines."""
FIRST_LINE_S = 3.0
"""Wall time before the first plain line of a run: a short run has none."""


@contextmanager
def ticking(tell: Callable[[], object]) -> Iterator[None]:
    """Calls `tell` every `LINE_EVERY_S` in a thread of its own, also while nothing is reported."""
    done = threading.Event()

    def loop() -> None:
        while not done.wait(LINE_EVERY_S):
            tell()

    thread = threading.Thread(target=loop, daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def again(problem: BaseException, text: str) -> str:
    """A text that promises that the same command continues, after an interruption; an error would come again."""
    return text if isinstance(problem, KeyboardInterrupt) else ""


def left(share: float, elapsed_s: float) -> str:
    """How long it still takes if it goes on as fast as before; `share` of it is done."""
    if share <= 0 or elapsed_s <= 0:
        return "no estimate yet"
    return f"about {duration(elapsed_s * (1 - share) / share)} left"


class Screen(ABC):
    """A bar on a terminal, plain lines elsewhere; use it as a context. Derived classes define its content."""

    def __init__(self, *, quiet: bool) -> None:
        self._quiet = quiet
        self._bar: Progress | None = None
        self._task: TaskID | None = None
        self._began = self._last = time.monotonic()

    @abstractmethod
    def _columns(self) -> list[ProgressColumn]:
        """The contents of the line of the bar."""

    def __enter__(self) -> Self:
        if not self._quiet and sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import Progress

            self._bar = Progress(*self._columns(), console=Console(stderr=True), transient=True)
            self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, where: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()
            self._bar = self._task = None

    def say(self, text: str) -> None:
        """A plain line, above the bar if there is one."""
        if self._quiet:
            return
        if self._bar is None:
            print(text, file=sys.stderr, flush=True)
        else:
            self._bar.console.print(text, markup=False, highlight=False)

    def show_warning(self, message: Warning | str, *_: object, **__: object) -> None:
        """In the place of `warnings.showwarning`: above the bar if there is one, and also with `quiet`."""
        if self._bar is None:
            print(f"warning: {message}", file=sys.stderr, flush=True)
        else:
            self._bar.console.print(f"warning: {message}", markup=False, highlight=False)

    def _line_is_due(self) -> bool:
        """Whether it is time for another plain line."""
        due = time.monotonic() - self._last >= LINE_EVERY_S
        if due:
            self._last = time.monotonic()
        return due


class ProgressLine(Screen):
    """Shows the states that a run reports; use it as a context and pass its `report`."""

    def __init__(self, *, quiet: bool) -> None:
        super().__init__(quiet=quiet)
        self._last += FIRST_LINE_S - LINE_EVERY_S
        self._stage: str | None = None

    def _columns(self) -> list[ProgressColumn]:
        from rich.progress import BarColumn, TaskProgressColumn, TextColumn

        state, estimate = TextColumn("{task.fields[state]}"), TextColumn("{task.fields[left]}")
        return [TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), state, estimate]

    def report(self, state: Mapping[str, Any]) -> None:
        """Show one state of a run (see `odonata.runner.Progress`)."""
        if self._quiet:
            return
        stage = str(state["stage"])
        if stage != self._stage:
            self._stage, self._began = stage, time.monotonic()
            if self._bar is not None:
                if self._task is not None:
                    self._bar.remove_task(self._task)
                total = state["expected"] or None
                self._task = self._bar.add_task(stage or "simulating", total=total, state="", left="")
        if self._bar is not None and self._task is not None:
            estimate = self._left(state) if state["expected"] else ""
            self._bar.update(self._task, completed=state["delivered"], state=self._state(state), left=estimate)
        elif self._line_is_due():
            share = f"{state['delivered'] / state['expected']:.0%} done, " if state["expected"] else ""
            estimate = f"; {self._left(state)}" if state["expected"] else ""
            self.say(f"{stage or 'simulating'}: {share.replace('%', ' %')}{self._state(state)}{estimate}")

    def _left(self, state: Mapping[str, Any]) -> str:
        return left(state["delivered"] / state["expected"], time.monotonic() - self._began)

    def _state(self, state: Mapping[str, Any]) -> str:
        elapsed = time.monotonic() - self._began
        speed = f", {state['packet_hops'] / elapsed / 1e6:.1f} M packet-hops/s" if elapsed > 0.1 else ""
        return f"{format_time(state['now_ps'], 3)} simulated{speed}"
