"""What of a run was never measured on its machine, in one sentence."""

import json

import pytest

from odonata import scenario
from odonata.cli.main import main
from odonata.scenario.domain import outside

CHANGED = '{ preset = "leonardo", fabric = { packet = "2 KiB" } }'


def said(system='"leonardo"', victim="alltoall", message="4 KiB", nodes=16, other='motif = "incast"', extra=""):
    text = f"""
system = {system}
[[job]]
name = "a"
nodes = {nodes}
app = {{ collective = "{victim}", message = "{message}" }}
[[job]]
name = "b"
nodes = 16
app = {{ {other}, message = "8 KiB" }}
{extra}
"""
    return outside(scenario.parse(text, "a.toml").resolve().document["scenario"])


def test_what_was_measured_has_no_sentence():
    assert said() is None
    assert said(other='collective = "alltoall"', victim="allgather") is None
    assert said('"lumi"', message="32 KiB", nodes=16) is None


@pytest.mark.parametrize(
    ("changed", "lacks"),
    [
        ({"nodes": 64}, "has `alltoall` beside `incast` on more than 64 nodes"),
        ({"message": "32 MiB"}, "has `alltoall` beside `incast` with messages above 16 MiB"),
        ({"message": "8 B"}, "has `alltoall` beside `incast` with messages below 512 B"),
        ({"victim": "allreduce"}, "has `allreduce` beside `incast`,"),
        ({"other": 'motif = "halo2d"'}, "has `alltoall` beside `halo2d`,"),
        (
            {"system": '{ preset = "leonardo", fabric = { packet = "2 KiB" } }'},
            "say nothing about it with these changes",
        ),
        ({"system": '"frontier"'}, "no slowdown on `frontier` was ever compared with a measured one"),
        ({"system": '"marconi100"'}, "no slowdown on `marconi100` was ever compared with a measured one"),
    ],
)
def test_what_lies_outside_is_named(changed, lacks):
    assert lacks in said(**changed)


def test_machines_that_cannot_be_measured_and_single_jobs_have_no_sentence():
    assert said('"kang2019"') is None
    text = 'system = "leonardo"\n[[job]]\nname = "a"\nnodes = 200\napp = { collective = "barrier" }\n'
    assert outside(scenario.parse(text, "a.toml").resolve().document["scenario"]) is None


def test_run_explain_and_show_say_it(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.toml").write_text("""
system = "leonardo"
[[job]]
name = "a"
nodes = 4
app = { collective = "allreduce", message = "4 KiB" }
[[job]]
name = "b"
nodes = 4
app = { motif = "incast", message = "8 KiB" }
""")
    lacks = "no measurement of `leonardo` has `allreduce` beside `incast`"
    assert main(["run", "a.toml", "-o", "out"]) == 0
    assert f"note: {lacks}" in capsys.readouterr().err
    assert main(["explain", "out", "--no-alone"]) == 0
    assert f"note: {lacks}" in capsys.readouterr().out
    assert main(["explain", "out", "--no-alone", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["outside"].startswith(lacks)
    assert main(["show", "leonardo"]) == 0
    assert "measured slowdowns that it was held against" in capsys.readouterr().out
