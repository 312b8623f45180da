"""Congestion control: from the table of a system to a run."""

import polars as pl
import pytest

import odonata as od
from odonata.core_options import CONGESTION_LAWS
from odonata.errors import InputError
from odonata.scenario import parse

SCENARIO = """
[system]
preset = "tiny"
fabric = {{ {fabric} }}

[[job]]
name = "victim"
nodes = 4
place = {{ policy = "explicit", nodes = [1, 5, 9, 13] }}
app = {{ collective = "alltoall", message = "1 KiB" }}
iterations = 20

[[job]]
name = "incast"
nodes = 12
app = {{ motif = "incast", message = "64 KiB" }}
background = true

[run]
seed = 1
until = "victim"

[measure]
blame = true
"""

SLOW_NODES = 'links = { node = { bandwidth = "4 GiB/s" } }'


def scenario(fabric, tmp_path):
    path = tmp_path / "controlled.toml"
    path.write_text(SCENARIO.format(fabric=fabric))
    return od.load(path)


def control(given, tmp_path):
    return scenario(f"congestion_control = {given}", tmp_path).resolve().spec["fabric"].get("congestion_control")


def test_a_kind_takes_the_defaults(tmp_path):
    """Catches a kind that is parsed and ignored, and numbers of another law."""
    assert control('"slingshot"', tmp_path) == {
        "law": "slingshot",
        "window_bytes": 65_536,
        "mark_above_bytes": 65_536,
    }
    nscc = control('{ kind = "nscc", target = "3 us", mark_above = "8 KiB" }', tmp_path)
    assert nscc == {"law": {"nscc": {"target_ps": 3_000_000}}, "window_bytes": 65_536, "mark_above_bytes": 8_192}
    credit = control('{ kind = "receiver-credit", window = "32 KiB" }', tmp_path)
    assert credit == {"law": {"receiver-credit": {"ahead_bytes": 65_536}}, "window_bytes": 32_768}
    assert control('"none"', tmp_path) is None


@pytest.mark.parametrize(
    ("fabric", "message"),
    [
        ('congestion_control = "slingshott"', "did you mean `slingshot`"),
        ('congestion_control = { kind = "slingshot", target = "1 us" }', "`slingshot` has no `target`"),
        ('congestion_control = { kind = "none", window = "64 KiB" }', "`none` has no `window`"),
        ('congestion_control = { kind = "nscc", window = "1 B" }', "`window` must be between 2 KiB, a full packet,"),
        ('congestion_control = { kind = "nscc", target = "1 s" }', "`target` must be between 1 ps and 1 ms"),
        ('congestion_control = { kind = "nscc", mark_above = "2 GiB" }', "`mark_above` must be between 0 B and 1 GiB"),
        (
            'congestion_control = { kind = "receiver-credit", mark_above = "1 B" }',
            "`receiver-credit` has no `mark_above`",
        ),
        (
            'congestion_control = { kind = "receiver-credit", ahead = "1 B" }',
            "`ahead` must be between 2 KiB",
        ),
        ('congestion_control = { kind = "nscc", ahead = "64 KiB" }', "`nscc` has no `ahead`"),
        ('congestion_control = { window = "64 KiB" }', "`kind`"),
        ('congestion_control = "nscc", nic = { window = "64 KiB" }', "has windows of its own, and NICs are `windowed`"),
        ('congestion_control = "nscc", nic = "aries"', "has windows of its own, and NICs are `aries`"),
    ],
)
def test_control_that_no_machine_has(fabric, message, tmp_path):
    with pytest.raises(InputError, match="(?s)" + message) as caught:
        scenario(fabric, tmp_path).resolve()
    assert "controlled.toml" in str(caught.value)


def test_a_preset_of_slingshot_has_its_control_and_another_kind_has_its_own_numbers():
    """Catches a preset whose numbers stay when the kind changes."""
    text = '[system]\npreset = "lumi"\n{}[[job]]\nname = "a"\nnodes = 2\napp = {{ motif = "incast", message = "1 B" }}'
    of = lambda change: parse(text.format(change)).resolve().spec["fabric"].get("congestion_control")  # noqa: E731
    assert of("")["law"] == "slingshot"
    assert of('fabric = { congestion_control = "none" }\n') is None
    assert of('fabric = { congestion_control = { window = "1 MiB" } }\n')["window_bytes"] == 1 << 20
    assert of('fabric = { congestion_control = { kind = "nscc", window = "8 KiB" } }\n') == {
        "law": {"nscc": {"target_ps": 3_186_720}},
        "window_bytes": 8_192,
        "mark_above_bytes": 38 * 2_048,
    }


@pytest.mark.parametrize("law", CONGESTION_LAWS)
def test_an_incast_waits_at_its_nics_and_no_longer_in_the_way_of_a_neighbour(law, tmp_path):
    """Catches a law that never reacts, or that holds back pairs which fill no queue."""
    of = {}
    above = ", ahead = '32 KiB', window = '4 KiB'" if law == "receiver-credit" else ", mark_above = '8 KiB'"
    for kind in ("none", law):
        # The link of a node is the slowest, so that the queue is at the port to the root.
        fabric = f'congestion_control = {{ kind = "{kind}"{above if kind != "none" else ""} }}, {SLOW_NODES}'
        run = od.run(scenario(fabric, tmp_path), out=tmp_path / kind)
        waits = run.blame.group_by("victim", "wait").agg(pl.col("time_ps").sum())
        of[kind] = {(job, wait): ps for job, wait, ps in waits.iter_rows()} | {
            "time": run.jobs.filter(pl.col("name") == "victim")["time_ps"][0],
            "bytes": run.jobs.filter(pl.col("name") == "incast")["bytes"][0],
        }
    free, held = of["none"], of[law]
    assert held["time"] < 0.2 * free["time"]
    assert held[1, "window"] > 0
    assert held.get((0, "window"), 0) < held[1, "window"] / 100
    # The root of the incast stays busy: it takes as many bytes in a time as before.
    assert held["bytes"] / held["time"] > 0.8 * free["bytes"] / free["time"]


def test_show_names_it(capsys):
    from odonata.cli.main import main

    assert main(["show", "frontier"]) == 0
    said = capsys.readouterr().out
    assert "slingshot (windows up to 114 KiB, marks around 76 KiB)" in said
    assert main(["show", "leonardo"]) == 0
    assert "congestion control" not in capsys.readouterr().out
