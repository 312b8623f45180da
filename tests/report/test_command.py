"""`odonata report`, as a user types it."""

from __future__ import annotations

import json
import webbrowser
from pathlib import Path

import pytest

from odonata.cli.main import main
from odonata.report.page import MARK


@pytest.fixture
def folder(plus, tmp_path, monkeypatch):
    """The run folder as `run` in an empty directory."""
    monkeypatch.chdir(tmp_path)
    Path("run").symlink_to(plus.path)
    yield Path("run")
    (plus.path / "report.html").unlink(missing_ok=True)


def test_it_is_written_and_its_path_and_size_are_printed(folder, capsys):
    assert main(["report", "run", "-o", "out.html", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"path": "out.html", "bytes": Path("out.html").stat().st_size}
    assert main(["report", "run"]) == 0
    assert capsys.readouterr().out == "run/report.html\n"
    assert Path("run/report.html").read_bytes() == Path("out.html").read_bytes()
    assert sorted(path.name for path in Path().iterdir()) == ["out.html", "run"]


def test_two_runs(folder, capsys):
    assert main(["report", "run", "run", "-o", "both.html"]) == 0
    assert Path("both.html").stat().st_size > 100_000


def test_a_report_is_written_anew_and_another_file_is_kept(folder, capsys):
    Path("mine.html").write_text("<p>holidays")
    assert main(["report", "run", "-o", "mine.html"]) == 2
    assert capsys.readouterr().err == (
        "error: `mine.html` exists and is not a report\n  hint: choose another name, or add --force\n"
    )
    assert Path("mine.html").read_text() == "<p>holidays"
    for arguments in (["--force"], []):
        assert main(["report", "run", "-o", "mine.html", *arguments]) == 0
    assert MARK in Path("mine.html").read_text()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("nothing", "error: there is no run folder `nothing`"),
        ("run/jobs.parquet", "error: `run/jobs.parquet` is a file, expected a run folder"),
        ("run run/jobs.parquet", "error: `run/jobs.parquet` is a file, expected a run folder"),
    ],
)
def test_what_is_no_run_is_an_error(folder, capsys, given, said):
    assert main(["report", *given.split()]) == 2
    assert capsys.readouterr().err.startswith(said)


def test_a_place_where_nothing_can_be_written_is_an_error(folder, capsys):
    for target, said in (("no/report.html", "there is no folder `no`"), ("run", "`run` is a folder, expected a file")):
        assert main(["report", "run", "-o", target]) == 2
        assert f"error: {said}" in capsys.readouterr().err


def test_a_damaged_table_is_an_error_and_no_report(plus, tmp_path, capsys):
    copy = tmp_path / "copy"
    copy.mkdir()
    for file in plus.path.iterdir():
        (copy / file.name).write_bytes(file.read_bytes())
    data = bytearray((copy / "links.parquet").read_bytes())
    data[40] ^= 1
    (copy / "links.parquet").write_bytes(data)
    assert main(["report", str(copy)]) == 2
    assert "links.parquet: the file is damaged" in capsys.readouterr().err
    assert not (copy / "report.html").exists()


def test_open_shows_the_report_or_says_where_the_file_is(folder, capsys, monkeypatch, tmp_path):
    opened = []
    monkeypatch.setattr(webbrowser, "open", lambda address: opened.append(address) or True)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("BROWSER", "some")
    assert main(["report", "run", "--open"]) == 0
    path = Path(capsys.readouterr().out.strip())
    assert opened == [path.as_uri()]
    assert MARK in path.read_text()
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("sys.platform", "linux")
    assert main(["report", "run", "--open"]) == 0
    streams = capsys.readouterr()
    assert Path(streams.out.strip()).is_file()
    assert streams.err == "no browser was found: open the file in one\n"
    assert len(opened) == 1
    assert Path(streams.out.strip()) == path, "kept once for each run"
    assert not Path("run/report.html").exists()


def test_run_and_sweep_write_a_report_if_asked(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("a.toml").write_text(
        'system = "tiny"\n[[job]]\nname = "a"\nnodes = 4\n'
        'app = { pattern = "uniform-random", message = "1 KB", interval = "1 us", messages = 2 }\n'
    )
    Path("s.toml").write_text('base = "a.toml"\n[sweep]\n"run.seed" = [1, 2]\n')
    assert main(["run", "a.toml", "--out", "run", "--report", "--json"]) == 0
    streams = capsys.readouterr()
    assert json.loads(streams.out)["report"] == "run/report.html"
    assert "report in run/report.html" in streams.err
    assert main(["sweep", "s.toml", "--out", "study", "--report", "-j", "1", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["report"] == "study/report.html"
    for folder in ("run", "study"):
        text = Path(folder, "report.html").read_text()
        assert MARK in text
        assert main(["report", folder, "--json"]) == 0
        assert Path(folder, "report.html").read_text() == text
        assert json.loads(capsys.readouterr().out)["bytes"] == len(text.encode())
    assert main(["report", "run", "study"]) == 2
    assert "`study` is the folder of a study; only two runs can be shown side by side" in capsys.readouterr().err


def test_a_deadlocked_program_leaves_neither_a_run_nor_a_report(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    first = "a: recv 8b from {0} tag {1}\n b: send 8b to {0} tag {2}\n b requires a"
    ranks = "".join(f"rank {rank} {{\n {first.format(1 - rank, 1 + rank, 2 - rank)}\n}}\n" for rank in (0, 1))
    Path("dead.goal").write_text(f"num_ranks 2\n{ranks}")
    Path("dead.toml").write_text('system = "tiny"\n[[job]]\nname = "dead"\nnodes = 2\napp = { trace = "dead.goal" }\n')
    assert main(["run", "dead.toml", "--out", "run", "--report"]) == 1
    assert "the program of job `dead` is deadlocked: 2 of its ranks wait" in capsys.readouterr().err
    assert not Path("run").exists()
