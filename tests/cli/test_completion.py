"""Shell completion, as bash sees it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import pytest

from odonata import machine, placement
from odonata.cli.main import main

BASH = shutil.which("bash")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_script_for_each_shell_knows_commands_and_options(shell, tmp_path, capsys):
    file = tmp_path / "script"
    assert main(["--install-completion", "--shell", shell, "--out", str(file)]) == 0
    assert capsys.readouterr().out == f"completion for {shell} is in {file}; a new shell uses it\n"
    text = file.read_text()
    for word in ("sweep", "compare", "retry-failed", "policy"):
        assert word in text


def test_it_is_installed_where_the_shell_looks(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("HOME", str(tmp_path))
    assert main(["--install-completion", "--shell", "bash"]) == 0
    assert (tmp_path / ".local/share/bash-completion/completions/odonata").is_file()
    assert "odonata" in (tmp_path / ".bashrc").read_text()


@pytest.mark.skipif(BASH is None, reason="no bash")
@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["sw"], {"sweep"}),
        (["sweep", "--retry"], {"--retry-failed"}),
        (["sweep", "--on", ""], {"local", "dask", "slurm"}),
        (["place", "--system", ""], set(machine.names())),
        (["place", "--policy", "level"], {name for name in placement.names() if name.startswith("level")}),
        (["show", "zhang2018-27"], {"zhang2018-272", "zhang2018-272-as-published"}),
    ],
)
def test_bash_completes(words, expected, tmp_path, capfd):
    file = tmp_path / "script"
    main(["--install-completion", "--shell", "bash", "--out", str(file)])
    odonata = tmp_path / "odonata"
    odonata.write_text(f'#!/bin/sh\nexec {sys.executable} -m odonata.cli.main "$@"\n')
    odonata.chmod(0o755)
    given = " ".join(f"'{word}'" for word in ["odonata", *words])
    asked = (
        f'source {file}; COMP_WORDS=({given}); COMP_CWORD={len(words)}; _odonata; printf "%s\\n" "${{COMPREPLY[@]}}"'
    )
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    done = subprocess.run([str(BASH), "-c", asked], capture_output=True, text=True, check=False, env=environment)
    assert {line.strip() for line in done.stdout.splitlines()} == expected, done.stderr


def test_a_shell_that_is_unknown(monkeypatch, capsys):
    from cyclopts.completion import detect

    def unknown() -> str:
        raise detect.ShellDetectionError("?")

    monkeypatch.setattr(detect, "detect_shell", unknown)
    assert main(["--install-completion"]) == 2
    assert "hint: name it: --shell bash, zsh or fish" in capsys.readouterr().err
