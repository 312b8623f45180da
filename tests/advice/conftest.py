"""Small scenarios whose remedy is known, and workers that need no process of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from odonata import scenario
from odonata.study import task

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from odonata.scenario import Scenario
    from odonata.study.ledger import Ledger

#: Kang 2019 in small: a target over all groups, and a background that overloads the links between two of them.
INTERFERENCE = """\
system = "tiny"
routing = "fpar"

[[job]]
name  = "target"
nodes = 8
place = { nodes = "1,3,5,7,9,11,13,15" }
app   = { pattern = "uniform-random", message = "4 KB", interval = "4 us", messages = 20 }

[[job]]
name  = "background"
place = { policy = "per-leaf", groups = "0-1", per_leaf = 1 }
app   = { pattern = "group-peers", tgll = 1.30, interval = "4 us" }
background = true

[advise]
allow = ["placement"]
move = ["target"]
"""

#: Nobody is slowed down: a ping-pong of two neighbours, alone on the machine, with one route between them.
NOTHING = """\
system = "tiny"
routing = "minimal"

[[job]]
name  = "pair"
nodes = 2
app   = { motif = "ping-pong", message = "4 KB" }
iterations = 3

[[job]]
name  = "other"
nodes = 2
place = { policy = "contiguous", from_group = 2 }
app   = { motif = "ping-pong", message = "4 KB" }
iterations = 3
"""


class Inline:
    """Workers of a sweep in this process."""

    workers = 1

    def __init__(self, stop_after: int | None = None) -> None:
        self.simulated = 0
        self.stop_after = stop_after

    def run(self, ledger: Ledger) -> None:
        while not ledger.complete:
            for number in ledger.take(64, 1.0):
                resolution, resolved = task.resolve(ledger.plan, number)
                for granted in ledger.grant([resolution]):
                    if self.stop_after is not None and self.simulated >= self.stop_after:
                        raise KeyboardInterrupt
                    assert resolved is not None
                    ledger.hand_in(*task.handed_in(task.run(ledger.plan, granted, resolved)))
                    self.simulated += 1
            ledger.flush()


@pytest.fixture
def written(tmp_path: Path) -> Callable[[str], Scenario]:
    def write(text: str) -> Scenario:
        path = tmp_path / "case.toml"
        path.write_text(text)
        return scenario.load(path)

    return write
