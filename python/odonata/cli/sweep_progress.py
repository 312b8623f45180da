"""Progress of a sweep: a bar on a terminal, plain lines elsewhere; always on standard error.

The time left is estimated from the times of finished runs, weighted by the values of the axes
(`odonata.study.estimate`). The text gives the number of runs behind the estimate.
"""

from __future__ import annotations

import time
from contextlib import ExitStack
from typing import TYPE_CHECKING, Self

from odonata.cli.progress import Screen, again, ticking
from odonata.text.numbers import duration

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from types import TracebackType

    from rich.progress import ProgressColumn

    from odonata.study.axis import Axis
    from odonata.study.ledger import Ledger
    from odonata.study.plan import Plan
    from odonata.study.sweep import Backend

ESTIMATE_EVERY_S = 1.0
"""Wall time between two estimates."""


class SweepProgress(Screen):
    """Shows what a ledger reports; use it as a context and pass its `report`."""

    def __init__(self, plan: Plan, backend: Backend, *, quiet: bool, continues: bool = True) -> None:
        super().__init__(quiet=quiet)
        self._continues = "; the same command continues from there" if continues else ""
        self._plan = plan
        self._backend = backend
        self._estimated, self._left = 0.0, ""
        self._ticks = ExitStack()
        self.ledger: Ledger | None = None
        """The ledger as last reported."""

    def _columns(self) -> list[ProgressColumn]:
        from rich.progress import BarColumn, TextColumn

        return [BarColumn(), TextColumn("{task.description}", markup=False)]

    def __enter__(self) -> Self:
        many = self._backend.workers
        on = f", {many} worker{'s' if many > 1 else ''}" if many else ""
        points = len(self._plan)
        self.say(f"{self._plan.name}: {points:,} point{'' if points == 1 else 's'} ({described(self._plan.axes)}){on}")
        super().__enter__()
        if self._bar is not None:
            self._task = self._bar.add_task("starting", total=len(self._plan))
        elif not self._quiet:
            self._ticks.enter_context(ticking(self._tick))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, where: TracebackType | None
    ) -> None:
        self._ticks.close()
        super().__exit__(kind, problem, where)
        if problem is not None and self.ledger is not None:
            done, of = self.ledger.settled, len(self._plan)
            self.say(f"{done:,} of {of:,} points are done and kept{again(problem, self._continues)}")

    def report(self, ledger: Ledger) -> None:
        """Shows the progress."""
        self.ledger = ledger
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, completed=ledger.settled, description=self._state(ledger))
        elif self._line_is_due():
            self.say(self._state(ledger))

    def _tick(self) -> None:
        """Another line while a long run reports nothing; with the estimate as it was last."""
        if self._line_is_due():
            done = self._counts(self.ledger) if self.ledger else f"0 of {len(self._plan):,} points done"
            self.say(done + self._left)

    def close(self, folder: Path) -> None:
        """Prints a summary."""
        ledger, points = self.ledger, f"{len(self._plan):,}"
        # Without a ledger, all was there.
        counts = f"{points} of {points} points done ({points} kept)" if ledger is None else self._counts(ledger)
        simulated = 0 if ledger is None else ledger.simulated
        took = time.monotonic() - self._began
        runs = f"{simulated:,} run{'' if simulated == 1 else 's'} simulated"
        self.say(f"{counts}; {runs} in {took:.1f} s; results in {folder}")

    def _state(self, ledger: Ledger) -> str:
        if time.monotonic() - self._estimated >= ESTIMATE_EVERY_S:
            self._estimated = time.monotonic()
            left = ledger.left_s(self._backend.workers)
            runs = ledger.estimate.runs
            of = f"{runs:,} finished run{'' if runs == 1 else 's'}"
            self._left = "" if left is None else f"; about {duration(left)} left, going by {of}"
        return self._counts(ledger) + self._left

    def _counts(self, ledger: Ledger) -> str:
        parts = [f"{ledger.kept:,} kept"] if ledger.kept else []
        failed = ledger.failed
        parts += [f"{failed:,} failed"] if failed else []
        more = f" ({', '.join(parts)})" if parts else ""
        return f"{ledger.settled:,} of {len(self._plan):,} points done{more}"


def described(axes: Sequence[Axis]) -> str:
    """The axes with the number of their values; of more than three keys that go together, the first and how many."""
    return " x ".join(f"{len(axis)} {_keys(axis.keys)}" for axis in axes)


def _keys(keys: tuple[str, ...]) -> str:
    return " with ".join(keys) if len(keys) <= 3 else f"{keys[0]} with {len(keys) - 1} other keys"
