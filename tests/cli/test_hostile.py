"""Hostile files: for any contents of a file, a command ends with an ordinary error, and its output is escaped."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from odonata.cli.main import main

if TYPE_CHECKING:
    from pathlib import Path

Command = Callable[..., tuple[int, str, str]]

SOUND = """\
system = "tiny"
[[job]]
name = "a"
nodes = 4
app = { pattern = "uniform-random", message = "1 KB", interval = "1 us", messages = 2 }
[run]
seed = 1
"""
ESC = "\x1b[2J\x1b[31m"

#: What is put in place of a line, or after the text; and the line of the error if it is certain.
TEXTS = {
    "deep lists": (SOUND + "x = " + "[" * 5000 + "]" * 5000, 8),
    "deep tables": (SOUND + "x = " + "{a = " * 2000 + "1" + "}" * 2000, 8),
    "lists beyond the limit": (SOUND + "x = " + "[" * 40 + "]" * 40, 8),
    "a deep key": (SOUND + ".".join("a" * 3000) + " = 1", 8),
    "a deep header": (SOUND + "[" + ".".join("a" * 3000) + "]", 8),
    "thousands of digits": (SOUND.replace("seed = 1", "seed = " + "9" * 5000), 7),
    "hundreds of digits": (SOUND.replace("seed = 1", "seed = " + "9" * 500), 7),
    "digits of a quantity": (SOUND.replace('"1 us"', '"' + "9" * 5000 + ' us"'), 5),
    "a huge exponent": (SOUND.replace('"1 us"', '"1e999999999 us"'), 5),
    "a tiny exponent": (SOUND.replace('"1 us"', '"1e-999999999 us"'), 5),
    "an endless float": (SOUND.replace("seed = 1", "seed = 1e999999999"), 7),
    "an escape in a name": (SOUND.replace('"a"', '"a\\u001b[31m"'), 3),
    "a long name": (SOUND.replace('"a"', f'"{"a" * 65}"'), 3),
    "a very long name": (SOUND.replace('"a"', f'"{"a" * 100_000}"'), 3),
    "a name in other letters": (SOUND.replace('"a"', '"größe"'), 3),
    "an escape in a key": (SOUND + '"\\u001b[2J" = 1', 8),
    "an escape in a system": (SOUND.replace('"tiny"', '"\\u001b[2J"'), 1),
    "an escape in a quantity": (SOUND.replace('"1 us"', '"1 \\u001b[2Jus"'), 5),
    "a raw escape": (SOUND + f"# {ESC}\n", 8),
    "zero bytes": ("\0" * 1000, 1),
    "one long line": ("x" * 1_000_000, 1),
    "half a surrogate": (SOUND.replace('"a"', '"\\ud800"'), 3),
    "nothing": ("", None),
}


def check(status: int, out: str, err: str) -> None:
    """What holds for every answer."""
    assert status in (0, 1, 2), err
    assert not re.search("bug in odonata|Traceback|panicked", err), err
    for text in (out, err):
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f]", text), repr(text[:500])
    assert len(err) < 10_000


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sound.toml").write_text(SOUND)
    return tmp_path


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run."""
    place = tmp_path_factory.mktemp("finished")
    (place / "sound.toml").write_text(SOUND)
    assert main(["run", str(place / "sound.toml"), "--out", str(place / "run"), "--quiet"]) == 0
    return place / "run"


COMMANDS = {
    "run": ("run", "FILE", "--quiet", "--force"),
    "sweep": ("sweep", "FILE", "--quiet", "-j", "1"),
    "advise": ("advise", "FILE", "--quiet", "-j", "1"),
    "compare": ("compare", "FILE", "--by", "run.seed"),
    "plot": ("plot", "FILE"),
    "report": ("report", "FILE"),
    "show": ("show", "FILE"),
    "export": ("export", "FILE", "-o", "x.json"),
    "place": ("place", "--system", "FILE", "--policy", "random", "--nodes", "2"),
    "trace": ("trace", "FILE", "-o", "x.goal"),
    "reproduce": ("reproduce", "FILE"),
    "train": ("cluster", "train", "FILE"),
    "predict": ("cluster", "predict", "FILE", "--background", "0.5"),
    "week": ("cluster", "week", "FILE"),
}


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_answers_hostile_files(odonata: Command, folder: Path, command: str) -> None:
    # `run` reads all of them below; the others some.
    for name in (
        "deep lists",
        "a deep key",
        "thousands of digits",
        "an escape in a name",
        "an escape in a key",
        "zero bytes",
    ):
        (folder / "s.toml").write_text(TEXTS[name][0])
        status, out, err = odonata(*(word.replace("FILE", "s.toml") for word in COMMANDS[command]))
        check(status, out, err)
        assert status != 0, (name, out)
    for content in (b"\xff\xfe", b"\xef\xbb\xbf", b"[" * 100_000, b"{" * 100_000):
        (folder / "s.toml").write_bytes(content)
        check(*odonata(*(word.replace("FILE", "s.toml") for word in COMMANDS[command])))
    (folder / f"{ESC}.toml").write_text("x")
    check(*odonata(*(word.replace("FILE", f"{ESC}.toml") for word in COMMANDS[command])))
    check(*odonata(*(word.replace("FILE", "/dev/zero") for word in COMMANDS[command])))
    check(*odonata(*(word.replace("FILE", "a\0b") for word in COMMANDS[command])))
    check(*odonata(*(word.replace("FILE", "a" * 5000) for word in COMMANDS[command])))
    os.mkfifo(folder / "pipe.toml")
    check(*odonata(*(word.replace("FILE", "pipe.toml") for word in COMMANDS[command])))


@pytest.mark.parametrize("name", TEXTS)
def test_the_error_names_file_and_line(odonata: Command, folder: Path, name: str) -> None:
    text, line = TEXTS[name]
    (folder / "s.toml").write_text(text)
    status, out, err = odonata("run", "s.toml", "--quiet")
    check(status, out, err)
    if line is None:
        assert (status, name) in ((2, "nothing"),)
    else:
        assert status == 2
        assert err.startswith(f"error: s.toml:{line}: "), err[:300]


@pytest.mark.parametrize("content", ["[" * 100_000 + "]" * 100_000, "[" + "9" * 5000 + "]", "9" * 5000, f"[\n{ESC}"])
def test_lists_of_nodes(odonata: Command, folder: Path, content: str) -> None:
    (folder / "n.json").write_text(content)
    (folder / "s.toml").write_text(SOUND.replace("nodes = 4", 'place = { nodes = "n.json" }'))
    status, out, err = odonata("run", "s.toml", "--quiet")
    check(status, out, err)
    assert (status, err[:13]) == (2, "error: n.json"), err


def test_values_on_the_command_line(odonata: Command, folder: Path) -> None:
    for value in ("[" * 5000, "9" * 5000, "{a=" * 5000, '"' + "a" * 5000, ESC, "1e99999999"):
        check(*odonata("run", "sound.toml", "--quiet", "-s", f"run.seed={value}"))
        check(*odonata("run", "sound.toml", "--quiet", "-s", f"{value}=1"))
        check(*odonata("run", "sound.toml", "--quiet", "-s", ".".join("a" * 3000) + "=1"))
        check(*odonata("show", value))
        check(*odonata(value))


@pytest.mark.parametrize("file", ["manifest.json", "resolved.json", "scenario.toml"])
@pytest.mark.parametrize("how", ["deep", "digits", "escape", "short"])
def test_folders_of_others(odonata: Command, folder: Path, finished: Path, file: str, how: str) -> None:
    shutil.copytree(finished, folder / "run")
    path = folder / "run" / file
    text = path.read_text()
    changed = {
        "deep": '{"a": ' + "[" * 100_000 + "]" * 100_000 + "}",
        "digits": re.sub(r"\d+", "9" * 5000, text, count=1),
        "escape": text.replace('"a"', '"a\\u001b[2J"'),
        "short": text[: len(text) // 2],
    }
    path.write_text(changed[how])
    for command in (("show", "run"), ("plot", "run"), ("compare", "run", "--by", "run.seed")):
        check(*odonata(*command))


def test_values_with_formulas_and_escapes_are_drawn(odonata: Command, folder: Path) -> None:
    """A lone `$` begins a formula in a picture."""
    for name in ("n$o$d{es.txt", f"{ESC}.txt"):
        (folder / name).write_text("0-3")
    values = '["n$o$d{es.txt", "\\u001b[2J\\u001b[31m.txt"]'
    (folder / "m.toml").write_text(
        f'base = "sound.toml"\n[sweep]\n"job.a.place.nodes" = {values}\n"run.seed" = [1, 2]\n'
    )
    for command in (
        ("sweep", "m.toml", "--quiet", "-j", "1", "--out", "m"),
        ("plot", "m", "--out", "x.png"),
        ("compare", "m", "--by", "job.a.place.nodes"),
    ):
        status, out, err = odonata(*command)
        check(status, out, err)
        assert status == 0, (command, err)


PIECES = [
    "[",
    "]",
    "{",
    "}",
    '"',
    "'",
    "\\u001b[2J",
    ESC,
    "\0",
    "=",
    ".",
    "\n",
    "9" * 400,
    "1e999999",
    "#",
    "µ",
    "\ufeff",
    "$",
    "-",
]


def test_a_sound_file_with_something_changed(odonata: Command, folder: Path) -> None:
    """Mutants of a scenario and of a study; each is answered, or runs."""
    draw = random.Random(1)
    study = 'base = "sound.toml"\n[sweep]\n"run.seed" = [1, 2]\n"job.a.nodes" = { from = 2, to = 4 }\n'
    for number in range(60):
        text = list(SOUND if number % 2 else study)
        for _ in range(draw.randint(1, 4)):
            at = draw.randrange(len(text))
            text[at : at + draw.randint(0, 3)] = draw.choice(PIECES)
        (folder / "m.toml").write_text("".join(text), errors="replace")
        command = ("trace", "m.toml", "-o", "m.goal") if number % 2 else ("sweep", "m.toml", "--dry-run")
        check(*odonata(*command))


def test_a_locale_without_unicode(folder: Path) -> None:
    """Names, and our own words (µ), are written as escapes where a stream cannot write them."""
    (folder / "größe.toml").write_text(SOUND)
    environment = {**os.environ, "LC_ALL": "C", "PYTHONIOENCODING": "ascii"}
    lines = ["run größe.toml --out größe --quiet", "run no-größe.toml", "show theta", "show größe"]
    script = "import sys; from odonata.cli.main import main; [main(line.split()) for line in sys.argv[1:]]"
    done = subprocess.run(
        [sys.executable, "-c", script, *lines], cwd=folder, env=environment, capture_output=True, check=False
    )
    said = done.stderr.decode("ascii") + done.stdout.decode("ascii")
    assert not re.search("bug in odonata|Traceback|panicked", said), said
    assert done.returncode == 0
    assert "gr\\xf6\\xdfe" in said
    assert json.loads((folder / "größe" / "manifest.json").read_text())["format"]
