"""Without a terminal there is a line now and then, also while nothing is reported."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from odonata.cli import progress
from odonata.cli.sweep_progress import described
from odonata.study.axis import Axis

if TYPE_CHECKING:
    import pytest


def test_it_ticks_until_it_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "LINE_EVERY_S", 0.01)
    told, enough = [], threading.Event()

    def tell() -> None:
        told.append(1)
        if len(told) == 3:
            enough.set()

    with progress.ticking(tell):
        assert enough.wait(10)
    after = len(told)
    threading.Event().wait(0.05)
    assert len(told) == after


def test_a_line_is_due_every_30_seconds() -> None:
    assert progress.LINE_EVERY_S == 30


def test_axes_with_many_keys_are_described_in_short() -> None:
    one, many = Axis(("run.seed",), ((1,), (2,))), Axis(("a", "b", "c", "d"), ((1, 2, 3, 4),))
    assert described([one, many]) == "2 run.seed x 1 a with 3 other keys"
    assert described([Axis(("a", "b", "c"), ((1, 2, 3),))]) == "1 a with b with c"
