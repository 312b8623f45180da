"""What a machine lacks is left out with a reason, which `make test` says at its end."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture
def bare(tmp_path):
    """The environment of a machine without commands but those of the shell scripts, and the file of `make test`."""
    commands = tmp_path / "bin"
    commands.mkdir()
    for name in ("bash", "dirname", "mkdir", "sed", "sort"):
        found = next(Path(folder) / name for folder in ("/bin", "/usr/bin") if (Path(folder) / name).exists())
        (commands / name).symlink_to(found)
    return os.environ | {"PATH": str(commands), "LEFT_OUT": str(tmp_path / "build" / "left-out")}


def said(environment, *command):
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.splitlines()


def test_a_machine_without_commands_passes_and_says_what_was_left_out(bare):
    tests = ["tests/report/test_browser.py", "tests/network/test_c.py", "tests/cluster/fabric"]
    pytest_ = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:xdist", "--override-ini=addopts="]
    lines = said(bare, *pytest_, "--import-mode=importlib", *tests)
    assert "tests: " in lines[-2], lines[-5:]
    lines = said(bare, "scripts/lint_web.sh") + said(bare, sys.executable, "scripts/test_instructions.py")
    assert len(lines) == 2
    summary = said(bare, "scripts/left_out.sh", bare["LEFT_OUT"])
    assert summary[0].startswith("make test: left out")
    assert any(name in line for line in summary for name in ("Slurm", "slurmctld", "squeue")), summary
    for what in ("chromium", "cargo", "node", "nothing is counted"):
        assert any(what in line for line in summary[1:]), (what, summary)


def test_nothing_is_left_out(tmp_path):
    empty = tmp_path / "left-out"
    for _ in range(2):
        assert said(os.environ, "scripts/left_out.sh", empty) == ["make test: nothing was left out"]
        empty.touch()
