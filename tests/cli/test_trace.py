"""`odonata trace`: programs as traces, which run like the programs."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from odonata import run, scenario

if TYPE_CHECKING:
    from pathlib import Path

Command = Callable[..., tuple[int, str, str]]

TEXT = """\
system = "tiny"
[[job]]
name = "a"
nodes = 6
app = { motif = "halo3d26", message = "20 KB" }
iterations = 2
[[job]]
name = "noise"
nodes = 4
app = { pattern = "uniform-random", message = "1 KB", interval = "1 us" }
background = true
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s.toml").write_text(TEXT)
    return tmp_path


@pytest.mark.parametrize("ending", ["goal", "bin", "csv"])
def test_a_written_trace_sends_what_the_program_sends(odonata: Command, here: Path, ending: str) -> None:
    status, out, err = odonata("trace", "s.toml", "-o", f"a.{ending}")
    assert (status, out, err) == (0, f"a.{ending}: one iteration of a, 6 ranks\n", "")
    (here / "t.toml").write_text(TEXT.replace('motif = "halo3d26", message = "20 KB"', f'trace = "a.{ending}"'))
    first, second = (run(scenario.load(name)).summary["jobs"][0] for name in ("s.toml", "t.toml"))
    for total in ("messages_sent", "messages_control", "bytes", "iterations", "ranks"):
        assert first[total] == second[total], total


def test_chakra_has_a_file_for_each_rank(odonata: Command, here: Path) -> None:
    """The trace in the files is that of GOAL, with its exact times, and files that were edited are kept."""
    status, out, _ = odonata("trace", "s.toml", "-o", "a.et")
    assert (status, out) == (0, "a.*.et: one iteration of a, 6 ranks\n")
    assert sorted(file.name for file in here.glob("*.et")) == [f"a.{rank}.et" for rank in range(6)]
    odonata("trace", "s.toml", "-o", "a.goal")
    motif = 'motif = "halo3d26", message = "20 KB"'
    bodies = []
    for app in ('chakra = "a.*.et"', 'trace = "a.goal"'):
        (here / "t.toml").write_text(TEXT.replace(motif, app))
        bodies.append(scenario.load("t.toml").resolve().spec["jobs"][0]["program"]["body"])
    assert bodies[0] == bodies[1]
    (here / "a.3.et").write_bytes(b"edited")
    status, _, err = odonata("trace", "s.toml", "-o", "a.et")
    assert status == 2
    assert "a.3.et" in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("s.toml", "-o", "a.txt"), "expected a file name that ends in .goal or .bin or .csv or .et"),
        (("s.toml", "-o", "no/a.goal"), "there is no folder `no`"),
        (("s.toml", "-o", "a.goal", "--job", "b"), "unknown job `b`"),
        (("s.toml", "-o", "a.goal", "--job", "noise"), "has no program"),
        (("no.toml", "-o", "a.goal"), "no.toml: cannot read it"),
        (("s.toml", "-o", "a.goal", "-s", "job.a.app.jitter=1 us"), "random time"),
        (("s.toml", "-o", "a.goal", "-s", "job.a.app.messag=1 us"), "unknown key `messag`"),
    ],
)
def test_what_cannot_be_written(odonata: Command, here: Path, arguments: tuple[str, ...], message: str) -> None:
    status, out, err = odonata("trace", *arguments)
    assert (status, out) == (2, "")
    assert message in err
    assert not list(here.glob("*.goal"))
