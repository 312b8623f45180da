"""Examples of programs run to their end in a few seconds."""

from __future__ import annotations

from pathlib import Path

import pytest

from odonata import scenario
from odonata.runner import run

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.parametrize("name", ["training", "pretraining", "trace"])
def test_a_program_of_the_examples_ends(name: str) -> None:
    done = run(scenario.load(EXAMPLES / f"{name}.toml")).summary["jobs"][0]
    assert done["time_ps"] > 0
    assert done["messages_delivered"] == done["messages_sent"] > 0
