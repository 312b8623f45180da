"""The examples are scenarios, and those of programs run in a few seconds."""

from __future__ import annotations

from pathlib import Path

import pytest

from odonata import scenario
from odonata.run import run

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.toml"))


@pytest.mark.parametrize(
    "file", [file for file in EXAMPLES if "[[job]]" in file.read_text()], ids=lambda file: file.stem
)
def test_an_example_resolves(file: Path) -> None:
    assert scenario.load(file).resolve().targets


@pytest.mark.parametrize("name", ["training", "trace"])
def test_a_program_of_the_examples_ends(name: str) -> None:
    file = next(file for file in EXAMPLES if file.stem == name)
    found = run(scenario.load(file)).summary["jobs"][0]
    assert found["time_ps"] > 0
    assert found["messages_delivered"] == found["messages_sent"] > 0
