"""`odonata place` and `odonata show` with the policies of the table."""

import json

import pytest

from odonata import placement
from odonata.cli.main import main


@pytest.fixture
def place(capsys):
    """Runs `odonata place` on zhang2018-272 and gives back what `--json` says."""

    def run(*arguments):
        assert main(["place", "--system", "zhang2018-272", *arguments, "--json"]) == 0
        return json.loads(capsys.readouterr().out)

    return run


def test_output_in_addition_to_the_nodes(place):
    shown = place("--policy", "level-spread", "--nodes", "8", "--busy", "0-3,20")
    assert shown["nodes"] == [32, 36, 40, 44, 33, 37, 41, 45]
    assert (shown["routers"], shown["groups"]) == (4, 1)
    assert shown["left"] == {
        "free": 259,
        "idle_routers": 62,
        "idle_groups": 14,
        "largest_router": 4,
        "largest_group": 16,
        "scattered": pytest.approx(11 / 259),
    }


def test_an_acronym_is_answered_with_the_name(place):
    shown = place("--policy", "rdg", "--nodes", "20", "--seed", "3")
    assert shown["policy"] == "random-groups"
    assert shown["nodes"] == placement.place("random-groups", "zhang2018-272", 20, seed=3).nodes


def test_options_that_are_tables(place):
    job = '[{ nodes = "0-31", intensity = 9 }, "32-63"]'
    shown = place("--policy", "contention-aware", "--nodes", "100", "--busy", "0-63", "-s", f"running={job}")
    assert len(shown["nodes"]) == 100
    assert "of 2 running jobs:" in shown["reason"]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["-s", "seed=3", "--seed", "4"], "`seed` is given twice: `-s seed=...` and `--seed`"),
        (["-s", "seed=3", "-s", "seed = 4"], "`-s seed` is given twice"),
    ],
)
def test_an_option_is_given_once(given, message, capsys):
    assert main(["place", "--system", "tiny", "--policy", "random", "--nodes", "2", *given]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("name", placement.names())
def test_every_policy_is_shown_with_its_options(name, capsys):
    assert main(["show", name]) == 0
    shown = capsys.readouterr().out
    assert "Ranks are in this order" in shown
    for option in placement.get(name).options:
        assert f"  {option.name} " in shown


def test_an_acronym_is_shown_as_the_policy_that_it_means(capsys):
    assert main(["show", "random-groups"]) == 0
    named = capsys.readouterr().out
    for acronym in ("RDG", "rdg"):
        assert main(["show", acronym]) == 0
        assert capsys.readouterr().out == named
    assert main(["show", "RDX"]) == 2
    assert "did you mean `RDR`?" in capsys.readouterr().err
