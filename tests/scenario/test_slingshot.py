"""Slingshot machines: their default routing, and what is said about what the model leaves out."""

import pytest

from odonata import machine
from odonata.cli.main import main
from odonata.report.run import run_document
from odonata.scenario import parse
from odonata.store import open_run

MACHINES = [
    *("alps", "alps-gpu", "archer2", "aurora", "frontier", "frontier-gpu"),
    *("lumi", "perlmutter", "perlmutter-gpu", "polaris"),
]
JOB = """
[[job]]
name = "a"
nodes = 4
app = { pattern = "uniform-random", message = "4 KiB", interval = "1 us", messages = 2 }
"""


def routing(head):
    return parse(head + JOB).resolve().document["scenario"]["routing"]


@pytest.mark.parametrize("name", MACHINES)
def test_packets_choose_among_two_paths_of_each_kind_with_a_bias(name):
    expected = {"name": "ugal-l", "inside": "router", "minimal_candidates": 2, "other_candidates": 2, "bias": "8 KiB"}
    assert expected.items() <= routing(f'system = "{name}"').items()


def test_options_without_a_name_change_this_routing():
    options = routing('system = "lumi"\nrouting = { bias = "16 KiB" }')
    assert (options["minimal_candidates"], options["bias"]) == (2, "16 KiB")


def test_a_routing_that_is_named_has_its_own_defaults():
    options = routing('system = "lumi"\nrouting = "ugal-l"')
    assert (options["minimal_candidates"], options["other_candidates"]) == (1, 1)


def test_only_slingshot_machines_state_this_interconnect():
    stated = [n for n in machine.names() if getattr(machine.load(n).table, "interconnect", None) == "slingshot"]
    assert stated == MACHINES


def test_a_run_and_its_report_say_what_is_missing(tmp_path, capsys):
    (tmp_path / "s.toml").write_text('system = "lumi"' + JOB)
    assert main(["run", str(tmp_path / "s.toml"), "--out", str(tmp_path / "run")]) == 0
    said = capsys.readouterr().err
    assert said.count("note: The congestion control of Slingshot is modelled as far as it is public") == 1
    missing = run_document(open_run(tmp_path / "run"))["not_modelled"]
    assert any("congestion control of Slingshot" in sentence for sentence in missing)
    assert any("default routing of Slingshot machines is assumed" in sentence for sentence in missing)


def test_show_says_what_is_missing(capsys):
    assert main(["show", "frontier"]) == 0
    assert "its law and numbers are assumed" in capsys.readouterr().out
