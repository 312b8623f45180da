"""Lines of keys: the scanner sees exactly the keys that the TOML library sees."""

import tomllib

import pytest
import tomlkit
from hypothesis import given
from hypothesis import strategies as st

from odonata.document.positions import lines

KEYS = st.text("abcdefgh_-.'\" #[]{}=,\n\\é", min_size=1, max_size=6)
SCALARS = st.one_of(
    st.text("ab\"'\\#[]{}=,\n é", max_size=8),
    st.integers(-(2**40), 2**40),
    st.booleans(),
    st.floats(allow_nan=False, allow_infinity=False),
)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3), max_leaves=8
)


def paths(value, prefix=()):
    """All paths of a value, tables and list elements included."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield (*prefix, key)
            yield from paths(inner, (*prefix, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield (*prefix, index)
            yield from paths(inner, (*prefix, index))


@given(st.dictionaries(KEYS, VALUES, max_size=5))
def test_every_key_has_a_line_and_nothing_else_has(data):
    text = tomlkit.dumps(data)
    assert set(lines(text)) == set(paths(tomllib.loads(text)))


TEXT = '''\
# a comment with [brackets] and = signs
a = 1
"b.c" = [ # more
  1,
  { d = 2, e.f = "x" },
]
long = """
[not.a.table]
\\""" not the end"""
path = 'C:\\'

[[job]]
name = "one"
app = { p = "x", q = [1, 2] }
[job.place]
z = 1979-05-27 07:32:00

[[job]]
name = "two"
[[job.part]]
[[job.part]]
k = 1
[x . "y z"]
k = 2
'''


@pytest.mark.parametrize(
    ("path", "line"),
    [
        (("a",), 2),
        (("b.c",), 3),
        (("b.c", 0), 4),
        (("b.c", 1, "e", "f"), 5),
        (("long",), 7),
        (("path",), 10),
        (("job", 0), 12),
        (("job", 0, "name"), 13),
        (("job", 0, "app", "q", 1), 14),
        (("job", 0, "place", "z"), 16),
        (("job", 1, "name"), 19),
        (("job", 1, "part", 1, "k"), 22),
        (("x", "y z", "k"), 24),
    ],
)
def test_lines_by_hand(path, line):
    assert lines(TEXT)[path] == line


def test_lines_with_the_line_ends_of_another_system():
    assert lines(TEXT.replace("\n", "\r\n")) == lines(TEXT)


def test_the_example_by_hand_is_complete():
    assert set(lines(TEXT)) == set(paths(tomllib.loads(TEXT)))
