"""Data from Python as a document: what passes, positions of errors, and the text of a file."""

from __future__ import annotations

import enum
import math
import tomllib
from collections import OrderedDict
from pathlib import Path, PurePosixPath
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from odonata.document import Data, of, writing
from odonata.document.plain import checked, key_of
from odonata.errors import InputError


class Routing(enum.StrEnum):
    MINIMAL = "minimal"


class Count(enum.IntEnum):
    TWO = 2


class Time(float):
    """A user's own number."""


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (np.int64(3), 3),
        (np.uint8(3), 3),
        (np.float32(0.25), 0.25),
        (np.float64(0.5), 0.5),
        (np.bool_(True), True),
        (np.str_("a"), "a"),
        (np.array([[1, 2], [3, 4]]), [[1, 2], [3, 4]]),
        (Routing.MINIMAL, "minimal"),
        (Count.TWO, 2),
        (Time(1.5), 1.5),
        (PurePosixPath("a/b.toml"), "a/b.toml"),
        (Path("machines") / "x.toml", str(Path("machines") / "x.toml")),
        ((1, (2,)), [1, [2]]),
        (range(3), [0, 1, 2]),
        (MappingProxyType({"a": OrderedDict(b=1)}), {"a": {"b": 1}}),
        ({"given": 1, "not": None, "in": {"not": None}}, {"given": 1, "in": {}}),
        ({Routing.MINIMAL: 1}, {"minimal": 1}),
        (-0.0, -0.0),
        (math.inf, math.inf),
    ],
)
def test_values_of_python_become_those_of_toml(value: Any, expected: Any) -> None:
    read = checked(value)
    assert read == expected
    assert repr(read) == repr(expected), "the same types all the way"


class Broken:
    def __repr__(self) -> str:
        raise ValueError("no text")


@pytest.mark.parametrize(
    ("value", "key", "message"),
    [
        ({"a": [{"b": {1, 2}}]}, "a[0].b", "expected a text, a number, a boolean, a list or a table, found `{1, 2}`"),
        ({"a": [1, None]}, "a[1]", "expected a text, a number, a boolean, a list or a table, found `None`"),
        ({"a": b"bytes"}, "a", "found `b'bytes'`"),
        ({"a": Broken()}, "a", "found `Broken`"),
        ({"a": 1j}, "a", "found `1j`"),
        ({"a": np.array([1j])}, "a[0]", "found `1j`"),
        ({"a": {"b": {3: 1}}}, "a.b", "keys are texts, found `3`"),
        ({"a": 10**500}, "a", "a number has too many digits"),
        ({"a": "\ud800"}, "a", "half of a surrogate pair"),
        ({"a": {"\ud800": 1}}, "a", "half of a surrogate pair"),
        ({"a.b": {"c d": {1}}}, '"a.b"."c d"', "found `{1}`"),
    ],
)
def test_a_value_that_toml_cannot_express_is_an_error_with_its_key(value: Any, key: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        of(value, "scenario")
    assert caught.value.key == key
    assert message in caught.value.message
    assert str(caught.value).startswith(f"{key}: ")
    assert (caught.value.file, caught.value.line) == (None, None)


def test_data_in_itself_is_an_error() -> None:
    endless: dict[str, Any] = {"a": 1}
    endless["b"] = [endless]
    with pytest.raises(InputError, match="nested too deeply; 32 levels"):
        of(endless, "scenario")
    with pytest.raises(InputError, match=r"expected the data of a scenario \(a table\), found `3`"):
        of(3, "scenario")


def test_data_is_copied() -> None:
    """Catches data that a user changes afterwards, and one list in two places."""
    nodes = [1, 2]
    document = of({"a": {"nodes": nodes}, "b": nodes}, "scenario")
    nodes.append(3)
    assert document.data == {"a": {"nodes": [1, 2]}, "b": [1, 2]}
    changed = document.set("a.nodes", [7])
    assert (document.data["a"]["nodes"], changed.data["a"]["nodes"]) == ([1, 2], [7])
    assert changed.first(0).data == document.data


def test_an_error_is_at_the_longest_path_that_is_there() -> None:
    document = of({"job": [{"name": "a", "app": {"x": 1}}], "run": {}}, "scenario")
    for path, key in (
        (("job", 0, "app", "x"), "job[0].app.x"),
        (("job", 0, "app", "y"), "job[0].app"),
        (("job", 3, "app"), "job"),
        (("job", -1), "job"),
        (("run", "seed"), "run"),
        ((), None),
    ):
        assert document.locate(InputError("wrong", path=path)).key == key
    elsewhere = InputError("wrong", file="machine.toml", path=("job",))
    assert document.locate(elsewhere) is elsewhere
    changed = document.set("job.a.app.x", 2)
    assert changed.locate(InputError("wrong", path=("job", 0, "app", "x"))).key == "job.a.app.x"
    assert document.table("run").locate(InputError("wrong", path=("seed",))).key == "run"


def test_keys_are_written_as_one_reads_them() -> None:
    assert key_of(("job", 0, "ranks_per_node")) == "job[0].ranks_per_node"
    assert key_of(("a.b", "ü", "x-y", "")) == '"a.b"."ü".x-y.""'
    assert key_of(()) == ""


_KEYS = st.text('ab-_1. é"\\\n', max_size=3)
_VALUES = st.recursive(
    st.text() | st.integers(-(2**63), 2**63 - 1) | st.floats() | st.booleans(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_KEYS, inner, max_size=3),
    max_leaves=12,
)


@given(st.dictionaries(_KEYS, _VALUES, max_size=4))
def test_the_text_of_data_means_the_data(data: dict[str, Any]) -> None:
    document = of(data, "scenario")
    assert isinstance(document, Data)
    assert repr(_sorted(tomllib.loads(document.text))) == repr(_sorted(document.data))


@given(_KEYS, _VALUES)
def test_a_line_of_a_key_and_its_value_means_them(key: str, value: Any) -> None:
    line = writing.pair(key, value)
    assert "\n" not in line
    assert repr(_sorted(tomllib.loads(line))) == repr(_sorted({key: value}))


def _sorted(value: Any) -> Any:
    """Tables without the order of their keys, which a writer may change."""
    if isinstance(value, dict):
        return sorted((key, _sorted(inner)) for key, inner in value.items())
    return list(map(_sorted, value)) if isinstance(value, list) else value
