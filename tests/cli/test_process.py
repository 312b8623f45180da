"""What only a process of its own shows: imports, signals, pipes, terminals."""

from __future__ import annotations

import json
import os
import pty
import resource
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

COMMAND = [sys.executable, "-m", "odonata.cli.main"]
HEAVY = ("polars", "matplotlib", "scipy", "pydantic", "numpy")


def _run(*arguments: str, **more: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*COMMAND, *arguments], capture_output=True, text=True, check=False, **more)  # type: ignore[call-overload,no-any-return]


@pytest.mark.parametrize("arguments", [["--help"], ["run", "--help"], ["plot", "--help"], ["bench", "--help"]], ids=str)
def test_help_imports_nothing_heavy(arguments: list[str]) -> None:
    code = (
        "import sys\nfrom odonata.cli.main import main\n"
        f"status = main({arguments!r})\n"
        f"print('loaded', sorted(set({HEAVY!r}) & set(sys.modules)), status, file=sys.stderr)"
    )
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert process.stderr == "loaded [] 0\n"
    assert "Usage: odonata" in process.stdout


def test_a_finished_run_is_printed_without_its_tables_and_its_machine(here: Path) -> None:
    """polars and NumPy take longer to load than all else that the command does then."""
    code = (
        "import sys\nfrom odonata.cli.main import main\n"
        "status = main(['run', 'tiny.toml', '--out', 'there', '-q'])\n"
        "print('loaded', sorted({'polars', 'numpy'} & set(sys.modules)), status, file=sys.stderr)"
    )
    first, again = (
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=here) for _ in "ab"
    )
    assert (first.stderr, again.stderr) == ("loaded ['numpy', 'polars'] 0\n", "loaded [] 0\n")
    assert first.stdout == again.stdout != ""


def test_the_commands_are_all_there() -> None:
    shown = _run("--help")
    assert shown.returncode == 0
    for name in ("new", "run", "plot", "show", "place", "bench"):
        assert f" {name} " in shown.stdout
        assert _run(name, "--help").returncode == 0, name


def test_ctrl_c_ends_soon_and_leaves_nothing(here: Path) -> None:
    endless = [
        "run",
        "tiny.toml",
        "-s",
        "job.target.app.messages=100000000",
        "-s",
        "measure.latency=histogram",
        "-s",
        "measure.links.every=1 ms",
    ]
    process = subprocess.Popen([*COMMAND, *endless], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    assert "on tiny" in process.stderr.readline()  # the simulation begins
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)  # within a second on a machine with nothing else to do
    assert process.returncode == 130, err
    *notes, last = err.splitlines()  # notes that came with the first line have been read with it
    # A busy machine may print its progress as well.
    told = ("note: class `node` carries at most ", "setting up: ", "expected: ", "simulating: ")
    assert all(note.startswith(told) for note in notes), notes
    assert (out, last) == ("", "error: interrupted")
    assert [path.name for path in here.iterdir()] == ["tiny.toml"]


def test_sigterm_ends_as_ctrl_c_does(here: Path) -> None:
    """Catches a run that a queue's time limit ends without a word, and a cursor that stays hidden."""
    endless = [
        "run",
        "tiny.toml",
        "-s",
        "job.target.app.messages=100000000",
        "-s",
        "measure.latency=histogram",
        "-s",
        "measure.links.every=1 ms",
    ]
    master, slave = pty.openpty()
    process = subprocess.Popen([*COMMAND, *endless], stdout=subprocess.DEVNULL, stderr=slave)
    os.close(slave)
    shown = b""
    while b"simulated" not in shown:
        shown += os.read(master, 65536)
    process.send_signal(signal.SIGTERM)
    with suppress(OSError):  # Linux's way to say that the other end is closed
        while piece := os.read(master, 65536):
            shown += piece
    os.close(master)
    assert process.wait(timeout=20) == 143
    assert b"error: terminated" in shown
    assert shown.rindex(b"\x1b[?25h") > shown.rindex(b"\x1b[?25l")  # the cursor is hidden, then shown
    assert [path.name for path in here.iterdir()] == ["tiny.toml"]


def test_two_processes_write_the_same_bytes(here: Path) -> None:
    for name, hash_seed in (("first", "1"), ("second", "2")):
        environment = {**os.environ, "PYTHONHASHSEED": hash_seed, "POLARS_MAX_THREADS": hash_seed}
        assert _run("run", "tiny.toml", "--alone", "--out", name, env=environment).returncode == 0
    for path in sorted((here / "first").iterdir()):
        if path.name != "manifest.json":
            assert path.read_bytes() == (here / "second" / path.name).read_bytes(), path.name


def test_a_file_that_cannot_grow_ends_the_run_and_leaves_nothing(here: Path) -> None:
    # As on a full disk, but of the system's own making: no file may have more than 4,096 bytes.
    done = _run("run", "tiny.toml", "-q", preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096)))
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("error: cannot write the run folder `runs/tiny-")
    assert done.stderr.endswith("`: File too large\n")
    assert sorted(str(path.relative_to(here)) for path in here.rglob("*")) == ["runs", "tiny.toml"]


def test_a_reader_that_goes_away_is_no_traceback(here: Path) -> None:
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run([*COMMAND, "run", "tiny.toml"], stdout=write, stderr=subprocess.PIPE, text=True, check=False)
    os.close(write)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "Broken" not in done.stderr


def test_a_narrow_terminal_gets_the_table_on_its_side(here: Path) -> None:
    out = _on_terminal(["run", "tiny.toml", "--alone"], columns=60)
    lines = out.splitlines()
    assert max(map(len, lines)) <= 80
    assert any(line.split() == ["p50", *line.split()[1:]] and len(line.split()) == 3 for line in lines)
    wide = _on_terminal(["run", "tiny.toml", "--alone"], columns=200)
    assert "name    nodes  messages" in wide


def _on_terminal(arguments: list[str], columns: int) -> str:
    """Standard output of a command that writes to a terminal so wide."""
    master, slave = pty.openpty()
    environment = {**os.environ, "COLUMNS": str(columns), "LINES": "40"}
    process = subprocess.Popen([*COMMAND, *arguments], stdout=slave, stderr=subprocess.DEVNULL, env=environment)
    os.close(slave)
    out = b""
    while True:
        try:
            piece = os.read(master, 65536)
        except OSError:  # Linux's way to say that the other end is closed
            break
        if not piece:
            break
        out += piece
    os.close(master)
    assert process.wait() == 0
    return out.decode().replace("\r\n", "\n")


@pytest.mark.parametrize("name", ["systems", "placements", "scenario", "tiny", "training"])
def test_show_breaks_no_word_at_80_columns(name: str) -> None:
    plain = _run("show", name).stdout
    shown = _on_terminal(["show", name], 80)
    assert set(plain.split()) <= set(shown.split())
    assert max(map(len, shown.splitlines())) <= 80


def test_a_sweep_breaks_no_word_at_80_columns(here: Path) -> None:
    axes = "\"job.noise.place\" = ['contiguous', { policy = 'contiguous', groups = '0-3' }]\n"
    (here / "study.toml").write_text(f'base = "tiny.toml"\n[sweep]\n{axes}"run.seed" = [1]\n')
    plain = _run("sweep", "study.toml", "--quiet", "-j", "1").stdout
    shown = _on_terminal(["sweep", "study.toml", "--quiet", "-j", "1"], 80)
    assert set(plain.split()) - {"-" * len(line) for line in plain.splitlines()} <= set(shown.split())
    assert max(map(len, shown.splitlines())) <= 80


def test_progress_is_a_bar_on_a_terminal_and_gone_at_the_end(here: Path) -> None:
    master, slave = pty.openpty()
    busy = [
        "run",
        "tiny.toml",
        "-s",
        "job.target.app.messages=20000",
        "-s",
        "measure.latency=histogram",
        "-s",
        "measure.links.every=1 ms",
    ]
    process = subprocess.Popen([*COMMAND, *busy], stdout=subprocess.DEVNULL, stderr=slave)
    os.close(slave)
    shown = b""
    while True:
        try:
            piece = os.read(master, 65536)
        except OSError:
            break
        if not piece:
            break
        shown += piece
    os.close(master)
    assert process.wait() == 0
    text = shown.decode()
    assert "simulating" in text
    assert "simulated" in text
    assert "packet-hops in" in text.splitlines()[-1] or "packet-hops in" in text.splitlines()[-2]


def test_more_messages_than_memory_is_an_error_and_leaves_nothing(tmp_path: Path) -> None:
    """Catches an abort of the process: memory is requested as messages are issued, and a refusal is a normal error."""
    scenario = tmp_path / "many.toml"
    scenario.write_text(
        'system = "tiny"\n[[job]]\nname = "many"\nnodes = 16\n'
        'app = { pattern = "broadcast", message = "1 B", interval = "1 ps", messages = 1000000000 }\n'
        # How many broadcasts end by a time is not known, so this is not refused before it is simulated.
        '[run]\nhorizon = "1000 s"\n'
    )
    limit = 600 * 2**20
    code = (
        f"import resource, sys; resource.setrlimit(resource.RLIMIT_AS, ({limit}, {limit}));"
        "from odonata.cli.main import main; sys.exit(main())"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "run", str(scenario), "--out", str(tmp_path / "out")],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "POLARS_MAX_THREADS": "1"},
    )
    assert done.returncode == 1, done.stderr
    assert "not enough memory" in done.stderr
    assert "Traceback" not in done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["many.toml"]


def test_help_is_grouped_and_help_of_a_command_is_its_help(capsys: pytest.CaptureFixture[str]) -> None:
    from odonata.cli import COMMANDS, GROUPS
    from odonata.cli.main import main

    assert sorted(name for names in GROUPS.values() for name in names) == sorted(COMMANDS)
    assert main(["--help"]) == 0
    shown = capsys.readouterr().out
    assert [shown.index(f"─ {title} ─") for title in GROUPS] == sorted(shown.index(f"─ {title} ─") for title in GROUPS)
    assert main(["help", "run"]) == main(["run", "--help"]) == 0
    first, second = capsys.readouterr().out.split("Usage: odonata ")[1:]
    assert first == second
    assert first.startswith("run ")


def test_an_error_under_json_is_an_object(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from odonata.cli.main import main

    monkeypatch.chdir(tmp_path)
    Path("bad.toml").write_text('system = "tiny"\nroutng = "fpar"\n')
    assert main(["run", "bad.toml", "--json"]) == 2
    streams = capsys.readouterr()
    error = json.loads(streams.out)["error"]
    assert (error["file"], error["line"]) == ("bad.toml", 2)
    assert "unknown key `routng`" in error["message"]
    assert "`routing`" in error["hint"]
    assert streams.err.startswith("error: bad.toml:2: ")


def test_the_file_to_write_is_called_the_same_everywhere() -> None:
    """Catches a command whose file to write is called otherwise than in the other commands, or has no `-o`."""
    from odonata.cli.main import application

    def commands(app: Any) -> Iterator[tuple[str, Any]]:
        for name in app:
            if name not in ("--help", "-h", "--version"):
                yield name, app[name]
                yield from commands(app[name])

    writing = 0
    for name, command in commands(application()):
        if command.default_command is None:
            continue
        for argument in command.assemble_argument_collection():
            assert "--output" not in argument.names, name
            assert ("--out" in argument.names) == ("-o" in argument.names), name
            writing += "--out" in argument.names
    assert writing >= 15
