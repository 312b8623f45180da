"""A result knows what made it, and a result of another engine is not taken for one of this engine."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import odonata as od
from odonata import _core
from odonata.cli.main import main
from odonata.errors import StaleWarning
from odonata.plot.style import check_free, figure, save
from odonata.store import engine, open_run

if TYPE_CHECKING:
    from collections.abc import Iterator

SCENARIO = """\
system = "tiny"

[[job]]
name = "all"
nodes = 4
app = { pattern = "uniform-random", message = "4 KB", interval = "1 us", messages = 2 }
"""

NOT_COUNTED = {
    "odonata": "names what is public",
    "odonata._core": "the core has a fingerprint of its own",
    "odonata.errors": "texts",
    "odonata.foreign": "texts",
    "odonata.memory": "refuses runs, and changes none",
    "odonata.lazy": "when modules are imported",
    "odonata.messages": "texts",
    "odonata.files": "how files are written",
    "odonata.processors": "how many threads share a run",
    "odonata.reading": "what it refuses to read is an error, not another result",
    "odonata.store": "names what is public",
    "odonata.store.columns": "names and meanings of columns, which must agree with the tables",
    "odonata.store.engine": "this",
    "odonata.store.manifest": "what is told beside the results",
}
"""Modules between a scenario and its tables that do not decide the contents of the tables."""


@pytest.fixture(autouse=True)
def forgotten() -> Iterator[None]:
    yield
    engine.fingerprint.cache_clear()


@pytest.fixture
def scenario(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s.toml").write_text(SCENARIO)
    return tmp_path / "s.toml"


def other_core(monkeypatch: pytest.MonkeyPatch) -> str:
    """Another build of the core, from now on."""
    monkeypatch.setattr(_core, "__fingerprint__", "0123456789abcdef")
    engine.fingerprint.cache_clear()
    return engine.fingerprint()


def test_it_has_a_part_for_the_core_and_one_for_the_package() -> None:
    assert re.fullmatch(r"[0-9a-f]{16}-[0-9a-f]{16}", engine.fingerprint())
    assert engine.fingerprint().startswith(_core.__fingerprint__)
    assert engine.difference(engine.fingerprint()) is None


@pytest.mark.parametrize(
    ("source", "counts"),
    [("scenario/resolve.py", True), ("store/tables.py", True), ("units.py", True), ("plot/run.py", False)],
)
def test_sources_that_decide_results_count_and_others_do_not(tmp_path: Path, source: str, counts: bool) -> None:
    """In a copy of the package elsewhere, as a wheel installs it."""
    package = Path(engine.__file__).parents[1]
    for name in [*engine.SOURCES, "plot/run.py"]:
        for file in (package / name).rglob("*.py") if (package / name).is_dir() else [package / name]:
            copy = tmp_path / file.relative_to(package)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(file.read_bytes())
    assert engine.of_package(tmp_path) == engine.of_package(package)
    with (tmp_path / source).open("a") as file:
        file.write("# another line\n")
    assert (engine.of_package(tmp_path) != engine.of_package(package)) is counts


def test_every_module_between_scenario_and_tables_is_counted_or_known_not_to_be() -> None:
    """Catches a new module that decides results and is forgotten in the list."""
    code = (
        "import sys, odonata.scenario.resolve, odonata.runner, odonata.store.tables, odonata.placement.placing\n"
        "print(*(name for name in sys.modules if name.split('.')[0] == 'odonata'))"
    )
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    counted = tuple(f"odonata.{source.removesuffix('.py').replace('/', '.')}" for source in engine.SOURCES)
    left = {name for name in loaded if not any(name == of or name.startswith(f"{of}.") for of in counted)}
    assert left <= set(NOT_COUNTED), "add it to engine.SOURCES, or to NOT_COUNTED with the reason"


def test_the_fingerprint_of_the_core_is_that_of_its_sources() -> None:
    """The build script worked out again: catches a forgotten crate, and a fingerprint that is not updated."""
    from hashlib import sha256

    root = Path(__file__).parents[2]
    digest = sha256()
    crates = [
        f"crates/{name}/src" for name in ("codes2019", "decision", "error", "programs", "python", "sim", "topology")
    ]
    for source in ["Cargo.lock", *crates]:
        for file in _files(root / source):
            data = file.read_bytes()
            digest.update(f"{file.relative_to(root)}\n{len(data)}\n".encode() + data)
    assert _core.__fingerprint__ == digest.hexdigest()[:16]


def _files(path: Path) -> list[Path]:
    return [path] if path.is_file() else [file for entry in sorted(path.iterdir()) for file in _files(entry)]


def test_a_run_by_another_engine_is_simulated_again(scenario: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches results of a defective engine that count as those of the fixed one."""
    first = od.run(scenario, "out")
    assert first.engine == engine.fingerprint() == json.loads(Path("out/manifest.json").read_text())["engine"]
    new = other_core(monkeypatch)
    with pytest.warns(
        StaleWarning, match=rf"`out` is simulated again: its results are from another engine \({first.engine}"
    ):
        again = od.run(scenario, "out")
    assert (again.engine, again.id) == (new, first.id)
    assert od.run(scenario, "out").manifest == again.manifest


def test_a_stale_run_can_be_kept(scenario: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = od.run(scenario, "out")
    other_core(monkeypatch)
    assert od.run(scenario, "out", keep_stale=True).manifest == first.manifest
    assert open_run("out").engine == first.engine


def test_the_command_says_what_is_stale(
    scenario: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    first = od.run(scenario, "out")
    new = other_core(monkeypatch)
    assert main(["run", "s.toml", "--out", "out", "--keep-stale"]) == 0
    said = capsys.readouterr().err
    assert f"already done by another engine ({first.engine}, this one is {new}): out" in said
    assert main(["run", "s.toml", "--out", "out", "-q"]) == 0
    assert capsys.readouterr().err == (
        f"stale: `out` is simulated again: its results are from another engine ({first.engine}, this one is {new})\n"
        "  hint: --keep-stale keeps it\n"
    )
    assert open_run("out").engine == new
    assert main(["run", "s.toml", "--out", "out"]) == 0
    assert capsys.readouterr().err == "already done: out (--force simulates again)\n"


def test_a_damaged_table_is_not_done_already(scenario: Path) -> None:
    od.run(scenario, "out")
    file = Path("out/messages.parquet")
    data = bytearray(file.read_bytes())
    data[20] ^= 4
    file.write_bytes(data)
    with pytest.raises(od.InputError, match=r"messages.parquet: the file is damaged") as caught:
        od.run(scenario, "out")
    assert caught.value.hint == "--force simulates again and overwrites the folder"
    assert od.run(scenario, "out", force=True).messages.height == 8


def test_a_picture_is_drawn_anew_and_a_file_that_is_none_is_kept(
    scenario: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    od.run(scenario, "out")
    for name in ("a.png", "a.pdf", "a.svg"):
        save(figure(1, 1), Path(name))
        check_free(Path(name), force=False)
    mine = Path("mine.png")
    mine.write_bytes(b"holidays")
    assert main(["plot", "out", "-o", "mine.png"]) == 2
    assert "error: `mine.png` exists and was not drawn by odonata" in capsys.readouterr().err
    assert mine.read_bytes() == b"holidays"
    check_free(mine, force=True)


@pytest.mark.parametrize(
    ("command", "name"), [(["export", "tiny"], "mine.json"), (["trace", "p.toml"], "mine.goal")], ids=str
)
def test_what_is_exported_does_not_overwrite_what_says_something_else(
    scenario: Path, capsys: pytest.CaptureFixture[str], command: list[str], name: str
) -> None:
    """Catches a trace that was changed by hand and is lost."""
    Path("p.toml").write_text(SCENARIO.split("app")[0] + 'app = { collective = "barrier" }\n')
    for _ in range(2):  # the same again is no loss
        assert main([*command, "-o", name]) == 0, capsys.readouterr().err
    whole = Path(name).read_text()
    Path(name).write_text("changed by hand")
    assert main([*command, "-o", name]) == 2
    assert f"error: `{name}` exists with different contents" in capsys.readouterr().err
    assert Path(name).read_text() == "changed by hand"
    assert main([*command, "-o", name, "--force"]) == 0
    assert Path(name).read_text() == whole
    assert not [path for path in os.listdir() if path.startswith(".")]  # noqa: PTH208
