"""Motifs that are named after a collective say which algorithm they run, in the first lines of a run and its folder."""

import json

import pytest

from odonata.cli.main import main
from odonata.errors import InputError
from odonata.scenario import parse
from odonata.scenario.apps.listed import COLLECTIVES, MOTIFS

NAMES = sorted(set(COLLECTIVES) & set(MOTIFS))
TEXT = 'system = {{ preset = "tiny", fabric.links.node.buffer = "16 KiB" }}\n[[job]]\nname = "a"\nnodes = 8\napp = {}\n'


def app(kind, name, more=""):
    sized = "" if name == "barrier" else ', message = "64 KiB"'
    return f'{{ {kind} = "{name}"{sized}{more} }}'


def algorithms(resolved):
    """Of the application as `resolved.json` has it, and of what the core runs."""
    job = resolved.spec["jobs"][0]
    phases = [phase["what"] for phase in job["program"]["body"]["phases"] if phase["what"]["name"] != "compute"]
    return resolved.document["scenario"]["job"][0]["app"]["algorithm"], phases[0]["algorithm"]


def test_the_five_are_found():
    assert NAMES == ["allreduce", "alltoall", "barrier", "broadcast", "reduce"]


@pytest.mark.parametrize("name", NAMES)
def test_a_run_says_which_algorithm_it_is(name, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s.toml").write_text(TEXT.format(app("motif", name)))
    motif, collective = (parse(TEXT.format(app(kind, name))).resolve() for kind in ("motif", "collective"))
    stated, run = algorithms(motif)
    other = algorithms(collective)[0]
    assert stated == run != other
    assert main(["run", "s.toml", "--out", "r"]) == 0
    lines = capsys.readouterr().err.splitlines()
    expected = (
        f'`a`: `motif = "{name}"` runs the algorithm `{run}`, as SST for Zhang 2018; '
        f'`collective = "{name}"` would run `{other}`, its default here'
    )
    assert f"note: {expected}" in lines[:4]
    assert json.loads((tmp_path / "r" / "resolved.json").read_text())["notes"] == [expected]
    assert not collective.notes


def test_phases_say_it_once_and_jobs_together():
    phases = (
        app("motif", "reduce"),
        app("motif", "reduce"),
        app("motif", "barrier", ", along = { grid = [4, 2], axis = 0 }"),
    )
    body = f'{{ motif = "phases", phases = [{", ".join(phases)}] }}'
    second = TEXT[TEXT.index("[[job]]") :].replace('"a"', '"b"').format(app("motif", "reduce"))
    notes = parse(TEXT.format(body) + second).resolve().notes
    assert [note.split(" runs")[0] for note in notes] == ['`a`, `b`: `motif = "reduce"`', '`a`: `motif = "barrier"`']


@pytest.mark.parametrize("name", NAMES)
def test_another_algorithm_is_refused(name):
    with pytest.raises(InputError, match="`pairwise`"):
        parse(TEXT.format(app("motif", name, ', algorithm = "pairwise"'))).resolve()
