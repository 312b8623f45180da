"""What each command must not load: libraries and models that it does not need take most of a short command's time.

Times are in benches/README.md. Here the modules are counted, which does not depend on the machine.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from odonata.cli.main import main

PICTURES = {"matplotlib", "scipy"}
MODELS = {"pydantic", "odonata.scenario.tables", "odonata.machine.loading"}
"""The models of scenarios and machines."""
TABLES = {"polars", "numpy"}
OTHERS = {
    "odonata.machine.kinds.cascade",
    "odonata.scenario.apps.collectives",
    "odonata.scenario.apps.matrix",
    "odonata.scenario.apps.motifs",
    "odonata.scenario.apps.train.options",
    "odonata.scenario.routings.aries",
}
"""What a scenario can name, and these scenarios do not."""
REMOTE = {"ssl", "distributed", "odonata.study.dask_pool"}

STUDY = 'base = "tiny.toml"\n[sweep]\n"run.seed" = [1, 2]\n'

COMMANDS: dict[str, tuple[tuple[str, ...], set[str]]] = {
    "version": (("--version",), {"cyclopts", "odonata.scenario", *PICTURES, *MODELS, *TABLES}),
    "help": (("run", "--help"), {"odonata.scenario", *PICTURES, *MODELS, *TABLES}),
    "run": (("run", "tiny.toml", "-q", "--force"), {"tomlkit", "tomli_w", "multiprocessing", *OTHERS, *PICTURES}),
    "run, finished": (("run", "tiny.toml", "-q"), {"tomlkit", "tomli_w", *PICTURES, *MODELS, *TABLES}),
    "show": (("show",), {"tomlkit", "tomli_w", "odonata.store.read", *PICTURES, *TABLES}),
    "show a system": (
        ("show", "kang2019"),
        {"tomlkit", "tomli_w", "odonata.scenario.apps.patterns", "polars", *OTHERS, *PICTURES},
    ),
    "report": (
        ("report", "run"),
        {"tomlkit", "tomli_w", "odonata.study.study", "odonata.scenario.scenario", *PICTURES, *MODELS},
    ),
    "explain": (
        ("explain", "run", "-q"),
        {"tomlkit", "tomli_w", "multiprocessing", "odonata.scenario.scenario", *PICTURES, *MODELS},
    ),
    "sweep, finished": (("sweep", "study.toml", "-q"), {"tomlkit", "tomli_w", *REMOTE, *PICTURES, *MODELS}),
}


@pytest.fixture
def folder(here: Path) -> Path:
    """With a finished run in `run` and of `tiny.toml`, and a finished study."""
    Path("study.toml").write_text(STUDY)
    for command in (["run", "tiny.toml", "-q"], ["run", "tiny.toml", "-q", "-o", "run"]):
        assert main(command) == 0
    assert main(["sweep", "study.toml", "-q", "-j", "1"]) == 0
    return here


def loaded(arguments: tuple[str, ...], folder: Path) -> set[str]:
    """The modules that a process has loaded after a command."""
    code = (
        f"import sys\nfrom odonata.cli.main import main\nstatus = main({list(arguments)!r})\n"
        "print(status, *sys.modules, file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=folder)
    status, *modules = done.stderr.split()
    assert (status, bool(done.stdout)) == ("0", True)
    return set(modules)


def test_commands_load_only_what_they_need(folder: Path) -> None:
    too_much = {name: sorted(needless & loaded(arguments, folder)) for name, (arguments, needless) in COMMANDS.items()}
    assert too_much == {name: [] for name in COMMANDS}


def test_the_names_of_these_modules_exist() -> None:
    """Catches a list that keeps nothing out because a module has another name now."""
    from importlib.util import find_spec

    listed = {name for _, needless in COMMANDS.values() for name in needless}
    assert [name for name in sorted(listed) if find_spec(name) is None] == []
