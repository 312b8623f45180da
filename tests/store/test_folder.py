"""A run folder is complete or absent, and says what is wrong with it."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from odonata import files
from odonata.errors import InputError, RunError
from odonata.files import partial_folder
from odonata.store import TABLES, columns_of, open_run
from odonata.store import write as write_module
from odonata.store.manifest import VOLATILE, sealed_text
from odonata.store.summary import jobs_of
from odonata.store.write import write_run

if TYPE_CHECKING:
    from odonata.store.result import Run

FILES = sorted(["scenario.toml", "resolved.json", "manifest.json", *(f"{table}.parquet" for table in TABLES)])


@pytest.fixture
def folder(tmp_path: Path, run_in_memory: Run) -> Path:
    write_run(run_in_memory, tmp_path / "run", channels=2)
    return tmp_path / "run"


def test_what_was_written_is_read_back(folder: Path, run_in_memory: Run) -> None:
    assert sorted(path.name for path in folder.iterdir()) == FILES
    run = open_run(folder)
    assert run.path == folder
    for table in TABLES:
        assert getattr(run, table).equals(getattr(run_in_memory, table)), table
        assert run.scan(table).collect().equals(getattr(run, table))
    assert run.summary == run_in_memory.summary
    assert run.scenario == run_in_memory.scenario
    assert run.resolved == run_in_memory.resolved
    assert (run.id, run.seed) == ("0123456789abcdef", 7)


def test_the_summary_is_that_of_the_table(folder: Path, run_in_memory: Run) -> None:
    run = open_run(folder)
    assert run.manifest["jobs"] == jobs_of(run.manifest, run.jobs, run.flow_times)
    assert run.summary == run_in_memory.summary


def test_nothing_else_is_left_in_the_directory(folder: Path) -> None:
    assert [path.name for path in folder.parent.iterdir()] == ["run"]


def test_units_are_in_the_metadata_of_the_files(folder: Path) -> None:
    for table in TABLES:
        told = json.loads(pl.read_parquet_metadata(folder / f"{table}.parquet")["odonata.columns"])
        assert told == {
            column.name: {"unit": column.unit, "meaning": column.meaning} for column in columns_of(table, channels=2)
        }


def test_equal_runs_give_equal_bytes(folder: Path, run_in_memory: Run, tmp_path: Path) -> None:
    run_in_memory._manifest["wall"]["wall_s"] = 99.0
    write_run(run_in_memory, tmp_path / "again", channels=2)
    for name in FILES:
        if name != "manifest.json":
            assert (folder / name).read_bytes() == (tmp_path / "again" / name).read_bytes(), name
    first, second = (json.loads((at / "manifest.json").read_text()) for at in (folder, tmp_path / "again"))
    assert first != second
    for volatile in VOLATILE:
        del first[volatile], second[volatile]
    assert first == second


@pytest.mark.parametrize("name", FILES)
def test_a_missing_file_is_named(folder: Path, name: str) -> None:
    (folder / name).unlink()
    with pytest.raises(InputError, match=name):
        open_run(folder)


@pytest.mark.parametrize("name", FILES)
def test_a_truncated_file_is_named(folder: Path, name: str) -> None:
    whole = (folder / name).read_bytes()
    (folder / name).write_bytes(whole[: len(whole) // 2])
    with pytest.raises(InputError, match="cut off") as caught:
        open_run(folder)
    assert caught.value.file == str(folder / name)


@pytest.mark.parametrize("name", [name for name in FILES if name.endswith("parquet")])
def test_bytes_that_are_not_parquet_are_refused(folder: Path, name: str) -> None:
    size = (folder / name).stat().st_size
    (folder / name).write_bytes(b"\xa5" * size)
    table = name.removesuffix(".parquet")
    for verify, message in ((True, "the file is damaged"), (False, "not a whole Parquet file")):
        with pytest.raises(InputError, match=message) as caught:
            getattr(open_run(folder, verify=verify), table)
        assert caught.value.file == str(folder / name)


def test_damaged_data_behind_a_good_footer_is_an_input_error(folder: Path) -> None:
    file = folder / "links.parquet"
    data = bytearray(file.read_bytes())
    data[4:400] = b"\xa5" * 396
    file.write_bytes(bytes(data))
    for verify in (True, False):
        with pytest.raises(InputError, match="damaged"):
            _ = open_run(folder, verify=verify).links


def changed_manifest(folder: Path, **changes: Any) -> None:
    """A manifest with other values, as a program and not as a defect of the disk would write it."""
    manifest = json.loads((folder / "manifest.json").read_text())
    del manifest["checksum"]
    (folder / "manifest.json").write_text(sealed_text({**manifest, **changes}))


def test_a_table_without_a_column_is_named(folder: Path) -> None:
    file = folder / "jobs.parquet"
    pl.read_parquet(file).drop("hops_mean").write_parquet(file)
    known = json.loads((folder / "manifest.json").read_text())["files"]
    changed_manifest(folder, files={**known, "jobs.parquet": files.size_and_digest_of(file)})
    with pytest.raises(InputError, match="no column `hops_mean`") as caught:
        _ = open_run(folder).jobs
    assert caught.value.file == str(file)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[]", "expected a JSON object"),
        ("{}", "no `format`"),
        ('{"format": 2}', "the folder has format 2, this version reads format 1"),
        ('{"format": 0}', "the folder has format 0, this version reads format 1"),
        ('{"format": 1}', "`id` is missing"),
        ("[" * 100_000, "not JSON"),
        ('{"format": 1', "not JSON"),
        ("\x00", "not JSON"),
    ],
)
def test_a_foreign_manifest_is_refused(folder: Path, text: str, says: str) -> None:
    (folder / "manifest.json").write_text(text)
    with pytest.raises(InputError, match=says) as caught:
        open_run(folder)
    assert caught.value.file == str(folder / "manifest.json")


def test_what_is_no_run_folder_says_so(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no run folder"):
        open_run(tmp_path / "absent")
    with pytest.raises(InputError, match="has no manifest") as caught:
        open_run(tmp_path)
    assert caught.value.hint == f"did you mean `{folder}`?"
    with pytest.raises(InputError, match="is a file") as caught:
        open_run(folder / "jobs.parquet")
    assert caught.value.hint == f"did you mean `{folder}`?"


def test_a_full_disk_leaves_nothing(tmp_path: Path, run_in_memory: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    # The device takes no byte, so the full disk is met half-way through the folder.
    written = write_module._write_table
    full = {"links": Path("/dev/full")}

    def write_table(path: Path, frame: pl.DataFrame, table: str, channels: int) -> None:
        written(full.get(table, path), frame, table, channels)

    monkeypatch.setattr(write_module, "_write_table", write_table)
    with pytest.raises(RunError, match="No space left on device"):
        write_run(run_in_memory, tmp_path / "run", channels=2)
    assert list(tmp_path.iterdir()) == []


def test_ctrl_c_while_writing_leaves_nothing(
    tmp_path: Path, run_in_memory: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(write_module, "_rename", lambda *_, **__: interrupt())
    with pytest.raises(KeyboardInterrupt):
        write_run(run_in_memory, tmp_path / "run", channels=2)
    assert list(tmp_path.iterdir()) == []


def test_a_place_that_cannot_be_written_is_a_run_error(tmp_path: Path, run_in_memory: Run) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RunError, match="cannot write the run folder"):
        write_run(run_in_memory, tmp_path / "file" / "run", channels=2)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_replacing_takes_the_place_of_a_run_only(folder: Path, run_in_memory: Run, tmp_path: Path) -> None:
    write_run(run_in_memory, folder, channels=2, replace=True)
    assert sorted(path.name for path in folder.iterdir()) == FILES
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "thesis.tex").write_text("years of work")
    with pytest.raises(InputError, match="not a run folder"):
        write_run(run_in_memory, precious, channels=2, replace=True)
    assert (precious / "thesis.tex").read_text() == "years of work"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["precious", "run"]


@pytest.mark.parametrize("text", [None, "", "{}", '{"format": 1}'])
def test_a_run_without_a_good_manifest_can_be_replaced(folder: Path, run_in_memory: Run, text: str | None) -> None:
    file = folder / "manifest.json"
    file.unlink()
    if text is not None:
        file.write_text(text)
    with pytest.raises(InputError) as caught:
        open_run(folder)
    assert caught.value.hint == "run the scenario again with --force"
    write_run(run_in_memory, folder, channels=2, replace=True)
    assert open_run(folder).summary == run_in_memory.summary


def test_what_a_killed_process_left_is_removed_and_what_is_written_is_not(tmp_path: Path, run_in_memory: Run) -> None:
    names = (".run.partial-00000000", ".other.partial-00000000", ".run.partial")
    for name in names:
        (tmp_path / name).mkdir()
        (tmp_path / name / "scenario.toml").write_text("")
    with partial_folder(tmp_path / "run") as writing:
        write_run(run_in_memory, tmp_path / "run", channels=2)
        assert writing.is_dir()
        assert {path.name for path in tmp_path.iterdir()} == {"run", writing.name, *names[1:]}
    assert not writing.exists()


def test_a_folder_that_appears_meanwhile_is_not_overwritten(folder: Path, run_in_memory: Run) -> None:
    before = (folder / "manifest.json").read_bytes()
    with pytest.raises(RunError, match=r"appeared while .*\n  hint: if it is the same scenario"):
        write_run(run_in_memory, folder, channels=2)
    assert (folder / "manifest.json").read_bytes() == before
    assert [path.name for path in folder.parent.iterdir()] == ["run"]


def test_a_run_cannot_be_changed(run_in_memory: Run) -> None:
    for name in ("jobs", "id", "messages", "anything"):
        with pytest.raises(AttributeError):
            setattr(run_in_memory, name, None)
    assert run_in_memory.jobs.height == 2


def test_a_run_can_be_sent_to_another_process(folder: Path) -> None:
    run = open_run(folder)
    assert pickle.loads(pickle.dumps(run)).jobs.equals(run.jobs)


def test_a_run_prints_usefully(run_in_memory: Run) -> None:
    text = str(run_in_memory)
    assert "latencies in ns" in text
    assert "target      2         4  1.000*" in text
    assert "target: mean latency 1.575* ns (median 1.500* ns, 99 % within 2.000* ns)" in text
    assert ">1.575*</td>" in run_in_memory._repr_html_()
    assert repr(run_in_memory) == "<Run 0123456789abcdef: target, noise; in memory>"
