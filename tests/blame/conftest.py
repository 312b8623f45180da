"""A scenario of two jobs on sixteen nodes that runs in a blink."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from odonata import scenario

if TYPE_CHECKING:
    from pathlib import Path

    from odonata.scenario import Scenario

TEXT = """\
system = "tiny"
routing = "fpar"

[[job]]
name = "target"
place = { policy = "per-leaf", per_leaf = 1 }
app = { pattern = "uniform-random", message = "4 KB", interval = "1 us", messages = 20 }

[[job]]
name = "noise"
nodes = 6
place = "contiguous"
app = { pattern = "uniform-random", message = "40 KB", interval = "5 us" }
background = true

[run]
until = "target"
seed = 1

[measure]
latency = "every-message"
links = { every = "5 us" }
"""


@pytest.fixture
def tiny(tmp_path: Path) -> Scenario:
    path = tmp_path / "tiny.toml"
    path.write_text(TEXT)
    return scenario.load(path)
