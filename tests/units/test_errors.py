"""Errors: their text, their position, and the nearest name."""

import pickle

import pytest

from odonata.errors import InputError, OdonataError, RunError, nearest, unknown


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (InputError("bad"), "bad"),
        (InputError("bad", file="a.toml"), "a.toml: bad"),
        (InputError("bad", file="a.toml", line=3), "a.toml:3: bad"),
        (InputError("bad", file="a.toml", line=3, hint="good"), "a.toml:3: bad\n  hint: good"),
    ],
)
def test_the_text_for_the_user(error, text):
    assert str(error) == text


def test_exit_statuses():
    assert InputError("x").exit_status == 2
    assert RunError("x").exit_status == 1
    assert issubclass(InputError, OdonataError)
    assert issubclass(RunError, OdonataError)


def test_a_position_is_added_once():
    error = InputError("bad", hint="good", path=("a",)).at("f", 2)
    assert (error.file, error.line, error.hint, error.path) == ("f", 2, "good", ("a",))
    assert error.at("g", 9).file == "f"


def test_an_error_inside_a_larger_table():
    assert InputError("bad", path=("x",)).under("job", 0).path == ("job", 0, "x")


def test_an_error_survives_the_way_between_processes():
    error = pickle.loads(pickle.dumps(InputError("bad", file="f", line=2, hint="h", path=("a", 1))))
    assert (str(error), error.path) == ("f:2: bad\n  hint: h", ("a", 1))


@pytest.mark.parametrize(
    ("name", "nearest_name"),
    [
        ("contigous", "contiguous"),
        ("per_leaf", "per-leaf"),
        ("RANDOM", "random"),
        ("zzz", None),
    ],
)
def test_the_nearest_name(name, nearest_name):
    assert nearest(name, ["contiguous", "random", "per-leaf"]) == nearest_name


@pytest.mark.parametrize(
    ("name", "likely"), [("ap", "app"), ("gp", "gap"), ("nam", "name"), ("on", "on"), ("ga", "gap")]
)
def test_of_names_that_are_as_like_the_nearest_begins_alike(name, likely):
    """Catches `gap` for `ap`."""
    assert nearest(name, ["app", "gap", "map", "name", "nodes", "off", "on"]) == likely


def test_an_unknown_name_lists_all_when_none_is_near():
    assert unknown("thing", "zzz", ["b", "a"]).hint == "known: a, b"
    assert unknown("thing", "aa", ["aab"]).hint == "did you mean `aab`?"
