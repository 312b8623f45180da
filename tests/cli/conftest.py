"""Whole commands: what was typed, the exit status, and both streams, with all that varies filtered out."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from odonata.cli.main import main

SCENARIO = """\
system = "tiny"
routing = "fpar"

[[job]]
name = "target"
place = { policy = "per-leaf", per_leaf = 1 }
app = { pattern = "uniform-random", message = "4 KB", interval = "1 us", messages = 20 }

[[job]]
name = "noise"
nodes = 6
place = "contiguous"
app = { pattern = "uniform-random", message = "40 KB", interval = "5 us" }
background = true

[run]
until = "target"
seed = 1

[measure]
latency = "every-message"
links = { every = "5 us" }
"""

_FILTERS = [
    (re.compile(r"(?<!\.)\b[0-9a-f]{16}\b"), "<id>"),
    (re.compile(r"in \d+\.\d\d s \(\d+\.\d M/s, \d+ MB\)"), "in <time> s (<speed> M/s, <memory> MB)"),
    (re.compile(r'("(?:wall_s|packet_hops_per_s|peak_rss_bytes|version|events)"): [^,}]+'), r"\1: <varies>"),
]


def filtered(text: str) -> str:
    """Without ids, times, speeds and memory."""
    for pattern, instead in _FILTERS:
        text = pattern.sub(instead, text)
    return text


Command = Callable[..., tuple[int, str, str]]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty current directory with a scenario in it."""
    monkeypatch.chdir(tmp_path)
    Path("tiny.toml").write_text(SCENARIO)
    return tmp_path


@pytest.fixture
def odonata(here: Path, capsys: pytest.CaptureFixture[str]) -> Command:
    """Runs a command line: exit status, standard output, standard error."""

    def command(*arguments: str) -> tuple[int, str, str]:
        status = main(arguments)
        streams = capsys.readouterr()
        return status, streams.out, streams.err

    return command


@pytest.fixture
def transcript(odonata: Command) -> Callable[..., str]:
    """Runs a command line and writes down everything about it, for a snapshot."""

    def write(*arguments: str) -> str:
        status, out, err = odonata(*arguments)
        shown = f"$ odonata {' '.join(arguments)}\nexit status {status}\n--- output\n{out}--- error\n{err}"
        return filtered(shown)

    return write
