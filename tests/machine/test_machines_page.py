"""`docs/machines.md` says what is true: its table, its examples, its output."""

import re
import tomllib
from pathlib import Path

import pytest

from odonata import machine
from odonata.cli.main import main
from odonata.errors import InputError

PAGE = (Path(__file__).parents[2] / "docs" / "machines.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)


def test_the_table_of_machines():
    lines = PAGE[PAGE.index("|---|---|---:|") :].split("\n\n")[0].splitlines()[1:]
    expected = []
    for name in machine.names():
        system = machine.load(name)
        sizes = f"{system.shape.nodes:,} | {system.table.routers_in_all():,} | {system.shape.groups}"
        expected.append(f"| `{name}` | {system.table.kind} | {sizes} | {system.title} |")
    assert lines == expected


@pytest.mark.parametrize("text", [text for text in EXAMPLES if "wiring" not in text])
def test_examples_are_machines(text):
    system = machine.load(tomllib.loads(text)["system"])
    assert system.describe()["nodes"] == system.shape.nodes


def test_the_example_of_files_is_understood(tmp_path):
    (text,) = (text for text in EXAMPLES if "wiring" in text)
    with pytest.raises(InputError, match="inter-theta: cannot read it"):
        machine.load(tomllib.loads(text)["system"], folder=tmp_path)


def test_the_output_shown_is_that_of_the_command(capsys):
    command, expected = re.search(r"```console\n\$ odonata (show .*?)\n(.*?)```", PAGE, re.DOTALL).groups()
    assert main(command.split()) == 0
    assert capsys.readouterr().out == expected
