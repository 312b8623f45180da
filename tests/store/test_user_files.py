"""Files that Odonata did not write are kept, wherever a run is written, and places are tried before a run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import odonata as od
from odonata import files
from odonata.errors import InputError, RunError
from odonata.store import open_run, write
from odonata.store.manifest import sealed_text
from odonata.store.read import lacks_manifest
from odonata.store.write import write_run

if TYPE_CHECKING:
    from odonata.store.result import Run


@pytest.fixture
def folder(tmp_path: Path, run_in_memory: Run) -> Path:
    write_run(run_in_memory, tmp_path / "run", channels=2)
    return tmp_path / "run"


def test_notes_and_pictures_beside_the_files_of_a_run_are_kept(folder: Path, run_in_memory: Run) -> None:
    """Catches a run folder that is removed as a whole when it is replaced."""
    (folder / "notes.txt").write_text("what I think of it")
    (folder / "pictures").mkdir()
    (folder / "pictures" / "mine.png").write_bytes(b"drawn by hand")
    (folder / "link").symlink_to("notes.txt")
    before = {path.name: path.stat().st_ino for path in folder.iterdir()}
    write_run(run_in_memory, folder, channels=2, replace=True)
    after = {path.name: path.stat().st_ino for path in folder.iterdir()}
    assert set(after) == set(before)
    assert {name for name in before if before[name] == after[name]} == {"notes.txt", "pictures", "link"}
    assert (folder / "pictures" / "mine.png").read_bytes() == b"drawn by hand"
    assert [path.name for path in folder.parent.iterdir()] == ["run"]
    assert open_run(folder).summary == run_in_memory.summary


def test_files_of_the_old_run_that_the_new_one_has_not_are_removed(folder: Path, run_in_memory: Run) -> None:
    (folder / "old.parquet").write_bytes(b"a table of another version")
    manifest = json.loads((folder / "manifest.json").read_text())
    del manifest["checksum"]
    manifest["files"]["old.parquet"] = files.size_and_digest_of(folder / "old.parquet")
    (folder / "manifest.json").write_text(sealed_text(manifest))
    write_run(run_in_memory, folder, channels=2, replace=True)
    assert not (folder / "old.parquet").exists()


@pytest.mark.parametrize("name", ["../outside", "/etc/hostname", ".."])
def test_a_manifest_cannot_have_other_files_removed(folder: Path, run_in_memory: Run, name: str) -> None:
    (folder.parent / "outside").write_text("precious")
    manifest = json.loads((folder / "manifest.json").read_text())
    del manifest["checksum"]
    manifest["files"][name] = {"bytes": 8, "sha256": ""}
    (folder / "manifest.json").write_text(sealed_text(manifest))
    with pytest.raises(InputError, match="the manifest is damaged at"):
        open_run(folder)
    write_run(run_in_memory, folder, channels=2, replace=True)
    assert (folder.parent / "outside").read_text() == "precious"


_KILLED = """
import os, sys
from pathlib import Path
from odonata.store import TABLES, open_run
from odonata.store.write import write_run

folder, name, calls = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
run = open_run(folder)
for table in TABLES:
    getattr(run, table)
plain = getattr(Path, name)

def dying(*arguments, **more):
    global calls
    calls -= 1
    if not calls:
        os.kill(os.getpid(), 9)
    return plain(*arguments, **more)

setattr(Path, name, dying)
write_run(run, folder, channels=2, replace=True)
"""


@pytest.mark.parametrize(("name", "calls"), [("write_bytes", 3), ("replace", 4)])
def test_a_kill_while_a_run_is_replaced_leaves_nothing_that_stays(
    folder: Path, run_in_memory: Run, name: str, calls: int
) -> None:
    """The process is killed while it writes the new folder next to the old run, and while it replaces the old files."""
    (folder / "notes.txt").write_text("mine")
    killed = subprocess.run([sys.executable, "-c", _KILLED, str(folder), name, str(calls)], check=False)
    assert killed.returncode == -9
    assert len(list(folder.parent.iterdir())) == 2
    assert (folder / "notes.txt").read_text() == "mine"
    if name == "write_bytes":
        assert open_run(folder).jobs.equals(run_in_memory.jobs)
    else:
        assert lacks_manifest(folder)
    write_run(run_in_memory, folder, channels=2, replace=True)
    assert [path.name for path in folder.parent.iterdir()] == ["run"]
    assert open_run(folder).jobs.equals(run_in_memory.jobs)
    assert (folder / "notes.txt").read_text() == "mine"


SCENARIO = """\
system = "tiny"

[[job]]
name = "all"
nodes = 4
app = { pattern = "uniform-random", message = "4 KB", interval = "1 us", messages = 2 }
"""


@pytest.fixture
def scenario(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s.toml").write_text(SCENARIO)
    return tmp_path / "s.toml"


@pytest.fixture
def never(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("odonata.machine.core.run", lambda *_: pytest.fail("simulated for nothing"))


@pytest.mark.usefixtures("never")
@pytest.mark.parametrize(
    ("out", "says"),
    [
        ("dangling", "`dangling` is a link to `nowhere`, which does not exist"),
        ("circle", "`circle` is a link to `circle`, which does not exist"),
        ("s.toml", "`s.toml` is a file, expected a folder"),
        ("s.toml/out", "cannot write to `s.toml/out`: Not a directory"),
        ("n" * 240, "File name too long"),
        ("n" * 300, "File name too long"),
        (f"a/{'n' * 300}/b", "File name too long"),
        ("/proc/out", "cannot write to `/proc/out`: "),
        ("/proc/self", "cannot write to `/proc/self`: "),
    ],
    ids=range(9),
)
def test_a_place_that_cannot_be_written_is_found_before_the_run(scenario: Path, out: str, says: str) -> None:
    Path("dangling").symlink_to("nowhere")
    Path("circle").symlink_to("circle")
    before = sorted(Path().iterdir())
    for force in (False, True):
        with pytest.raises(InputError) as caught:
            od.run(scenario, out, force=force)
        assert says in str(caught.value)
        assert "--out" in str(caught.value.hint)
    assert sorted(Path().iterdir()) == before


@pytest.mark.usefixtures("never")
@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may write everywhere")
def test_a_read_only_place_is_found_before_the_run(scenario: Path) -> None:
    Path("locked").mkdir(mode=0o555)
    with pytest.raises(InputError, match="cannot write to `locked/out`: Permission denied"):
        od.run(scenario, "locked/out")


def test_a_link_to_a_folder_is_that_folder(scenario: Path) -> None:
    Path("scratch").mkdir()
    Path("out").symlink_to("scratch")
    assert od.run(scenario, "out").path == Path("out")
    assert Path("out").is_symlink()
    assert open_run("scratch").jobs.height == 1
    od.run(scenario, "out", force=True)
    Path("elsewhere").symlink_to("not-yet-there/run")
    assert Path("out").is_symlink()
    assert sorted(path.name for path in Path("scratch").iterdir())[0] == "blame.parquet"


@pytest.mark.usefixtures("never")
def test_a_file_with_the_name_of_a_table_stops_the_run(
    scenario: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a table that the run there, of an older version, did not have."""
    monkeypatch.setattr(write, "NAMES", write.NAMES | {"weather.parquet"})
    (folder / "weather.parquet").write_bytes(b"my own")
    with pytest.raises(InputError, match=r"weather.parquet` is not part of the run"):
        od.run(scenario, folder, force=True)
    assert (folder / "weather.parquet").read_bytes() == b"my own"


def test_what_is_written_to_a_link_goes_where_it_leads(tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "a").write_text("old")
    (tmp_path / "link").symlink_to("kept/a")
    files.write(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "kept" / "a").read_text() == "new"


def test_a_pipe_gets_what_is_written_and_stays_a_pipe(tmp_path: Path) -> None:
    """Catches a command of the superuser that replaces /dev/stdout or /dev/null by a file."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        files.write_new(pipe, b"a picture", force=False)
        assert os.read(reader, 100) == b"a picture"
    finally:
        os.close(reader)
    assert pipe.is_fifo()
    assert [path.name for path in tmp_path.iterdir()] == ["pipe"]


@pytest.mark.parametrize("into", ["a pipe", "a file"])
def test_standard_output_has_what_is_written_between_what_is_printed(tmp_path: Path, into: str) -> None:
    code = (
        "from pathlib import Path\nfrom odonata import files\nprint('before')\n"
        "files.write_new(Path('/dev/stdout'), b'data\\n', force=False)\nprint('after')"
    )
    with (tmp_path / "out").open("w+b") as file:
        stdout = subprocess.PIPE if into == "a pipe" else file
        process = subprocess.run([sys.executable, "-c", code], stdout=stdout, check=True)
        file.seek(0)
        assert (process.stdout or file.read()) == b"before\ndata\nafter\n"


def test_a_full_device_is_said(tmp_path: Path) -> None:
    (tmp_path / "full").symlink_to("/dev/full")
    with pytest.raises(RunError, match="No space left"):
        files.write(tmp_path / "full", b"data")
    assert (tmp_path / "full").is_char_device()
