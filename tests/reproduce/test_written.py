"""Tables as TOML."""

import tomllib

import pytest

from odonata.reproduce import find
from odonata.reproduce.written import toml


def test_a_table_is_read_as_it_was_written():
    table = {
        "system": {"preset": "tiny", "fabric": {"links": {"global": {"bandwidth": "1 GB/s"}}}, "none": {}},
        "a key": ['"quoted" \\ \n', "µs 𝄞", True, -3, 1e-7, 2.5e30, [], [[1, 2], (3,)]],
        "a.b": 2**60,
    }
    assert tomllib.loads(toml(table)) == {**table, "a key": [*table["a key"][:-1], [[1, 2], [3]]]}


@pytest.mark.parametrize("name", ["zhang2018-fig11", "salimi-beni2022"])
def test_scenarios_are_one_line_for_each_key(name):
    study = find(name)
    made = study.make(study.points(True)[0])
    assert tomllib.loads(made.text) == made.data
    assert len(made.text.splitlines()) == len(made.data)
