"""What presets were held against: the errors are those of rows, and every preset is one that is compared."""

import csv
from pathlib import Path

import pytest

from odonata import machine
from odonata.machine.measured_slowdowns import CHANGED, _read, measured_slowdowns
from odonata.units import size_bytes

CASES = [(name, of) for name, cells in _read().items() for of in cells]


@pytest.mark.parametrize(("name", "of"), CASES, ids=lambda of: str(of)[:60])
def test_an_error_is_that_of_a_row(name, of):
    """Catches an error that stayed when the page was made again."""
    rows = csv.DictReader(Path(f"validation/{of.page}.csv").read_text(encoding="utf-8").splitlines())
    mine = [row for row in rows if row["what"] == of.row and row["unit"] == "x"]
    assert f"{float(mine[0]['ours']):.2f}" == f"{of.error:.2f}"
    assert size_bytes(of.messages[0]) <= size_bytes(of.messages[1])
    assert of.nodes[0] <= of.nodes[1]


def test_presets_are_known_and_changed_ones_are_found():
    assert {*_read()} <= {*machine.names()}
    assert measured_slowdowns("leonardo") == measured_slowdowns("leonardo" + CHANGED) != ()
    assert measured_slowdowns("frontier") == ()
