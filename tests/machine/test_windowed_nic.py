"""NICs with a window towards each destination: from the table of a system to a run."""

import polars as pl
import pytest

import odonata as od
from odonata.errors import InputError

SCENARIO = """
[system]
preset = "tiny"
fabric = {{ nic = {nic} }}

[[job]]
name = "incast"
nodes = 8
app = {{ motif = "incast", message = "64 KiB" }}
iterations = 3

[run]
seed = 1
"""


def scenario(nic, tmp_path):
    path = tmp_path / "windowed.toml"
    path.write_text(SCENARIO.format(nic=nic))
    return od.load(path)


@pytest.mark.parametrize("nic", ['{ window = "64 KiB" }', '{ kind = "windowed", window = "65536 B" }'])
def test_a_window_in_bytes_reaches_the_core(nic, tmp_path):
    """Catches a window that is parsed and ignored, or taken for a number of packets."""
    nic = scenario(nic, tmp_path).resolve().spec["fabric"]["nic"]
    assert nic["window_bytes"] == 65_536
    assert "aries" not in nic


def test_a_number_is_a_window_of_aries(tmp_path):
    nic = scenario('{ kind = "aries", window = 512 }', tmp_path).resolve().spec["fabric"]["nic"]
    assert nic["aries"]["window"] == 512
    assert "window_bytes" not in nic


@pytest.mark.parametrize(
    ("nic", "message"),
    [
        ("{ window = 64 }", "`simple` NIC has no `window`"),
        ('{ kind = "simple", window = "64 KiB" }', "`simple` NIC has no `window`"),
        ('{ kind = "windowed" }', "is a size in bytes, found no window"),
        ('{ kind = "windowed", window = 8 }', "is a size in bytes, found 8 packets"),
        ('{ kind = "windowed", window = "64 KiB", cycle = "1 ns" }', "`windowed` NIC has no `cycle`"),
        ('{ kind = "aries", window = "64 KiB" }', "is a number of packets"),
        ('{ window = "100 B" }', "must hold at least one full packet"),
        ('{ window = "2 TiB" }', "between 1 B and"),
        ("{ window = true }", "expected a number of packets, or a size"),
    ],
)
def test_windows_that_no_nic_has(nic, message, tmp_path):
    with pytest.raises(InputError, match="(?s)" + message) as caught:
        scenario(nic, tmp_path).resolve()
    assert "windowed.toml" in str(caught.value)


def test_a_small_window_keeps_an_incast_out_of_the_network_and_blame_says_so(tmp_path):
    """Catches a window that does not hold packets back, and waits that are blamed on the buffer instead."""
    waits = {}
    for window in ("4 KiB", "1 MiB"):
        base = scenario(f'{{ window = "{window}" }}', tmp_path).set("measure.blame", True)
        run = od.run(base, out=tmp_path / window.replace(" ", ""))
        waits[window] = dict(run.blame.group_by("wait").agg(pl.col("time_ps").sum()).iter_rows())
        assert run.nics["stalled_cycles"].null_count() == len(run.nics), "a NIC without a clock counts no cycles"
    small, large = waits["4 KiB"], waits["1 MiB"]
    assert small["window"] > 0
    assert "window" not in large
    assert small.get("buffer", 0) < large["buffer"] / 2


def test_show_names_the_window():
    from odonata.scenario.scenario import system

    table = system("tiny").table.fabric
    changed = table.model_copy(update={"nic": table.nic.model_copy(update={"window": 65_536})})
    assert changed.nic_text == "windowed (64 KiB in flight to each destination)"
