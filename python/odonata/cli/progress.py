"""Progress of a run: a bar on a terminal, plain lines elsewhere; always on standard error."""

from __future__ import annotations

import sys
import threading
import time
from abc import ABC, abstractmethod
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any, Self

from odonata.text.numbers import duration
from odonata.units import format_time

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from types import TracebackType

    from rich.progress import Progress, ProgressColumn, TaskID

    from odonata.expectation import Expectation

LINE_EVERY_S = 30.0
"""Wall time between two plain lines."""
FIRST_LINE_S = 3.0
"""Wall time before the first plain line of a run: a short run has none."""
SETTING_UP = "setting up: machine, programs"


@contextmanager
def ticking(tell: Callable[[], object], first_s: float | None = None) -> Iterator[None]:
    """Calls `tell` every `LINE_EVERY_S` in a thread of its own, also while nothing is reported.

    `first_s` is the time before the first call, if that is another.
    """
    done = threading.Event()

    def loop() -> None:
        wait_s = LINE_EVERY_S if first_s is None else first_s
        while not done.wait(wait_s):
            tell()
            wait_s = LINE_EVERY_S

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
    """Shows the states that a run reports; use it as a context and pass its `report`.

    `expects` says what the run has to simulate, and is asked once a run takes `FIRST_LINE_S`. Then the line says it,
    how long the run takes, and what makes a long one shorter.
    """

    def __init__(self, *, quiet: bool, expects: Callable[[], Expectation] | None = None) -> None:
        super().__init__(quiet=quiet)
        self._entered = self._began
        self._stage: str | None = None
        self.expects = expects
        self._expected: Expectation | None = None
        self._hinted = False
        self._ticks = ExitStack()

    def _columns(self) -> list[ProgressColumn]:
        from rich.progress import BarColumn, TaskProgressColumn, TextColumn

        state, estimate = TextColumn("{task.fields[state]}"), TextColumn("{task.fields[left]}")
        return [TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), state, estimate]

    def __enter__(self) -> Self:
        super().__enter__()
        self._entered = self._began = time.monotonic()
        self._last = self._entered + FIRST_LINE_S - LINE_EVERY_S
        if self._bar is not None:
            self._task = self._bar.add_task(SETTING_UP, total=None, state="", left="")
        elif not self._quiet:
            self._ticks.enter_context(ticking(self._tick, FIRST_LINE_S))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, where: TracebackType | None
    ) -> None:
        self._ticks.close()
        super().__exit__(kind, problem, where)

    def _tick(self) -> None:
        """A line while nothing has been reported: the core wires the machine and makes the programs."""
        if self._stage is None:
            self.say(f"{SETTING_UP} ({duration(time.monotonic() - self._began)})")

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
                self._task = self._bar.add_task(stage or "simulating", total=None, state="", left="")
        self._ask()
        share = self._share(state)
        if self._bar is not None and self._task is not None:
            total, estimate = (1.0, self._left(share)) if share is not None else (None, "")
            self._bar.update(self._task, total=total, completed=share or 0, state=self._state(state), left=estimate)
            self._hint(share)
        elif self._line_is_due():
            done = f"{share:.0%} done, " if share is not None else ""
            estimate = f"; {self._left(share)}" if share is not None else ""
            self.say(f"{stage or 'simulating'}: {done.replace('%', ' %')}{self._state(state)}{estimate}")
            self._hint(share)

    def _ask(self) -> None:
        """Count what the run has to simulate, and say it, once it does not end at once."""
        if self.expects is None or time.monotonic() - self._entered < FIRST_LINE_S:
            return
        self._expected, self.expects = self.expects(), None
        self.say(str(self._expected))

    def _share(self, state: Mapping[str, Any]) -> float | None:
        """How much of this stage is done; None if the run does not say what it waits for."""
        known = state["delivered"] / state["expected"] if state["expected"] else None
        if self._expected is None:
            return known
        expected = self._expected
        if self._stage:
            expected = expected.alone(self._stage.removesuffix(" alone"))
        return expected.share(state) or known

    def _hint(self, share: float | None) -> None:
        """Say what makes a long run shorter, once."""
        if self._hinted or self._stage or self._expected is None or not share:
            return
        self._hinted = True
        if (hint := self._expected.hint((time.monotonic() - self._began) / share)) is not None:
            self.say(hint)

    def _left(self, share: float) -> str:
        return left(share, time.monotonic() - self._began)

    def _state(self, state: Mapping[str, Any]) -> str:
        elapsed = time.monotonic() - self._began
        speed = f", {state['packet_hops'] / elapsed / 1e6:.1f} M packet-hops/s" if elapsed > 0.1 else ""
        return f"{format_time(state['now_ps'], 3)} simulated{speed}"
