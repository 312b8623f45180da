"""`odonata show SYSTEM --cost`: what a machine needs, as a table and as JSON."""

import json

import pytest
from tests.machine.test_cost import FAT_TREE


def test_the_table(odonata, here, snapshot):
    (here / "own.toml").write_text(FAT_TREE)
    status, out, err = odonata("show", "own.toml", "--cost")
    assert (status, err) == (0, "")
    assert out == snapshot


def test_json(odonata):
    status, out, err = odonata("show", "superpod-h100", "--cost", "--json")
    assert (status, err) == (0, "")
    facts = json.loads(out)
    assert facts["switches"][0] == {"kind": "leaf", "count": 32, "fewest_ports": 64, "most_ports": 64}
    assert facts["cables"][1] == {"class": "leaf", "count": 1024, "bandwidth": 50e9}
    assert facts["per_node"] == {"switches": 48 / 128, "cables": 16.0, "ports": 24.0}
    assert facts["bisection"] == {"bandwidth": 25.6e12, "between": "64 of 128 nodes and the rest", "share_of_nics": 1.0}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--cost"], "`--cost` needs a system"),
        (["fpar", "--cost"], "unknown system `fpar`"),
        (["tinny", "--cost"], "did you mean `tiny`"),
        (["tiny", "--cost", "--routes", "0", "5"], "two questions"),
        (["tiny", "--cost", "--limit", "5"], "`--limit` belongs to `--routes`"),
    ],
)
def test_questions_without_an_answer(odonata, arguments, message):
    status, out, err = odonata("show", *arguments)
    assert (status, out) == (2, "")
    assert message in err
