"""Without a terminal there is a line now and then, also while nothing is reported."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from odonata.cli import progress

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
