"""The page about placement says what is so."""

import re
import shlex
from pathlib import Path

import pytest

from odonata import placement
from odonata.cli.main import main

PAGE = (Path(__file__).parents[2] / "docs/placement.md").read_text()
ROWS = dict(re.findall(r"^\| (`[^|]+?) \| (.+) \|$", PAGE.partition("## Slurm")[0], re.MULTILINE))
CONSOLE = re.findall(r"```console\n\$ (odonata .*)\n((?:.*\n)+?)```", PAGE)


def names_in_brackets(row):
    match = re.search(r"\(([^)]*)\)", row)
    return [] if match is None else [name.strip("`") for name in match[1].split(", ")]


def test_every_policy_has_a_row_with_its_aliases():
    listed = [name for row in ROWS for name in re.findall(r"`([a-z0-9-]+)`", re.sub(r"\([^)]*\)", "", row))]
    assert sorted(listed) == sorted(placement.names())
    for name in placement.names():
        row = next(row for row in ROWS if f"`{name}`" in row)
        assert names_in_brackets(row) == list(placement.get(name).aliases)


@pytest.mark.parametrize("name", placement.names())
def test_the_options_of_a_policy_are_in_its_row(name):
    row = next(text for names, text in ROWS.items() if f"`{name}`" in names)
    for option in placement.get(name).options:
        assert option.name == "groups" or f"`{option.name}`" in row


def test_there_are_examples():
    assert len(CONSOLE) == 2


@pytest.mark.parametrize(("command", "shown"), CONSOLE)
def test_examples_print_what_the_page_shows(command, shown, capsys):
    assert main(shlex.split(command)[1:]) == 0
    assert capsys.readouterr().out == shown


def test_the_python_of_the_page_runs():
    """The example of several jobs; the policy of one's own gives the last free nodes."""
    several, own = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    names = {}
    exec(several, names)
    small = names["placed"]["small"].nodes
    assert len({node // 16 for node in small}) == len(small) == 15
    exec(own, names)
    request = placement.Request(placement.LAYOUTS["kang2019-random"].shape, 3, [1, 2, 5, 7, 9], {})
    assert names["last_first"](request) == [9, 7, 5]
