"""The offered load of a pattern, from which its interval follows."""

import re

import pytest

import odonata as od
from odonata.errors import InputError

KANG = """\
system = "kang2019"
routing = "fpar"

[[job]]
name = "target"
nodes = 3456
place = "contiguous"
app = {{ pattern = "{pattern}", message = "4096 B", messages = 2, {more} }}

[run]
seed = 1
"""


def interval(tmp_path, more, pattern="uniform-random"):
    path = tmp_path / "load.toml"
    path.write_text(KANG.format(pattern=pattern, more=more))
    return od.load(path).resolve().spec["jobs"][0]["traffic"]["interval_ps"]


# A node's link has 16 GiB/s: 4,096 B take 238.42 ns.
@pytest.mark.parametrize(
    ("pattern", "load", "expected"),
    [
        ("uniform-random", '"100 %"', 238_419),
        ("uniform-random", '"50 %"', 476_837),
        ("tornado", "0.5", 476_837),
        ("group-shift", '"200 %"', 119_209),
        ("stencil-3d", '"100 %"', 6 * 238_419),
    ],
)
def test_load_of_a_nodes_link(tmp_path, pattern, load, expected):
    assert interval(tmp_path, f"load = {load}", pattern) == pytest.approx(expected, abs=3)


def test_load_of_the_global_links_of_a_group(tmp_path):
    # All 384 nodes of a group share its 384 global links of 4.37 GiB/s (Kang 2019, section 3.1).
    assert interval(tmp_path, 'load = 1.0, load_of = "global-links"', "group-shift") == pytest.approx(872_928, abs=3)
    assert interval(tmp_path, 'load = 1.0, load_of = "global-links"', "tornado") == pytest.approx(872_928, abs=3)
    # Of 3,455 other ranks, 3,072 are in other groups.
    uniform = interval(tmp_path, 'load = 1.0, load_of = "global-links"')
    assert uniform == pytest.approx(872_928 * 3072 / 3455, abs=2)


@pytest.mark.parametrize(
    ("pattern", "more", "message"),
    [
        ("uniform-random", 'load = "60 %", interval = "1 us"', "`interval` and `load` exclude each other"),
        ("uniform-random", 'jitter = "1 ns"', "missing key `interval` or `load`"),
        ("uniform-random", "load = 60", "a load of `60` is more than 20 (2,000 %)"),
        ("uniform-random", "load = 0", "would send nothing"),
        ("uniform-random", 'interval = "1 us", load_of = "global-links"', "`load_of` is used with `load` only"),
        ("stencil-3d", 'load = 0.5, load_of = "global-links"', "not defined for stencil-3d"),
        ("uniform-random", "load = 1e-15", "needs an interval of"),
        ("broadcast", "load = 0.5", "`load`"),
        ("broadcast", 'jitter = "1 ns"', "missing key `interval`"),
    ],
)
def test_wrong_loads_are_errors_with_their_line(tmp_path, pattern, more, message):
    with pytest.raises(InputError, match=re.escape(message)) as problem:
        interval(tmp_path, more, pattern)
    assert problem.value.line is not None
