"""HDR InfiniBand: packets leave minimal paths when these are full, not at the half of Kang 2019."""

import pytest

from odonata import machine
from odonata.scenario import parse

JOB = """
[[job]]
name = "a"
nodes = 4
app = { pattern = "uniform-random", message = "4 KiB", interval = "1 us", messages = 2 }
"""


@pytest.mark.parametrize(
    ("head", "threshold"),
    [
        ('system = "leonardo"', 1.0),
        ('system = "leonardo"\nrouting = { candidates = "one-group" }', 1.0),
        ('system = "leonardo"\nrouting = { threshold = "75 %" }', 0.75),
        ('system = "leonardo"\nrouting = "fpar"', 0.5),
        ('system = "marconi100"', 0.5),
    ],
)
def test_threshold(head, threshold):
    routing = parse(head + JOB).resolve().document["scenario"]["routing"]
    assert (routing["name"], routing["threshold"]) == ("fpar", threshold)


def test_only_leonardo_states_this_interconnect():
    stated = {name: getattr(machine.load(name).table, "interconnect", None) for name in machine.names()}
    assert [name for name, of in stated.items() if of == "hdr-infiniband"] == ["leonardo"]
