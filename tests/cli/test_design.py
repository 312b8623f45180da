"""`odonata design`: its table, its files, and what it refuses."""

from __future__ import annotations

import json

import pytest


def test_the_table(odonata, snapshot):
    status, out, err = odonata("design", "1056", "--radix", "15")
    assert (status, err) == (0, "")
    assert out == snapshot  # a fat tree and a HyperX have fewer NICs at most


def test_json(odonata):
    status, out, err = odonata("design", "2048", "--radix", "64", "--nics-per-node", "8", "--json")
    assert (status, err) == (0, "")
    facts = json.loads(out)
    tree = facts["machines"][0]
    assert (tree["kind"], tree["nodes"], tree["nics"], tree["switches"], tree["bisection"]) == (
        "fat-tree",
        256,
        2048,
        96,
        1.0,
    )
    assert tree["cables"] == {"node": 2048, "leaf": 2048}
    assert facts["without"] == []


def test_its_files_are_machines_and_a_study(odonata, here):
    status, _, err = odonata("design", "48", "--radix", "12", "--bandwidth", "100 Gbit/s", "-o", "designs")
    assert (status, err) == (0, "")
    systems = [path for path in sorted((here / "designs").glob("*.toml")) if not path.stem.endswith("-compare")]
    assert [path.stem for path in systems] == ["dragonfly-plus", "dragonfly", "fat-tree", "hyperx"]
    for path in systems:
        status, out, _ = odonata("show", str(path))
        assert status == 0
        assert "taper 1:1" in out
    text = (here / "designs" / "designs-compare.toml").read_text()
    (here / "designs" / "designs-compare.toml").write_text(text.replace("to = 6", "to = 1"))
    status, out, err = odonata("sweep", "designs/designs-compare.toml", "-j", "1")
    assert status == 0, err
    assert "4 of 4 points done" in err + out
    assert "slowdown" in out
    assert out.count(".toml") >= len(systems)


def test_nodes_with_several_nics_have_a_rank_for_each(odonata, here):
    assert odonata("design", "96", "--radix", "12", "--nics-per-node", "4", "-o", "four")[0] == 0
    text = (here / "four" / "four-compare.toml").read_text()
    assert "ranks_per_node = 4 " in text
    assert "dragonfly ugal-l" in text
    assert 'rail = "by-rank"' in (here / "four" / "fat-tree.toml").read_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["30", "--radix", "64"], "one switch of 64 ports has room for 30 NICs"),
        (["100", "--radix", "16", "--taper", "1:3"], "expected at least 1:1, found `1:3`"),
        (["100", "--radix", "16", "--taper", "two"], "expected a ratio such as 2:1, found `two`"),
        (["100", "--radix", "16", "--taper", "2:0"], "expected a ratio such as 2:1"),
        (["100", "--radix", "16", "--bandwidth", "400"], "has no unit"),
        (["100", "--radix", "16", "--nics-per-node", "8"], "not a whole number of nodes"),
        (["100", "--radix", "16", "--kind", "torus"], "torus"),
        (["0", "--radix", "16"], "Must be >= 1"),
        (["1056", "--radix", "15", "--kind", "fat-tree"], "no machine of kind fat-tree has 1,056 NICs"),
        (["100", "--radix", "16", "-o", "."], "`.` exists already"),
    ],
)
def test_what_it_refuses(odonata, arguments, message):
    status, out, err = odonata("design", *arguments)
    assert (status, out) == (2, "")
    assert message in err
