"""Any byte of a run folder that changes is found when it could change an answer, and the file is named."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from odonata.errors import InputError
from odonata.store import TABLES, open_run
from odonata.store.read import check_all
from odonata.store.write import write_run

if TYPE_CHECKING:
    from pathlib import Path

    from odonata.store.result import Run

FILES = ["scenario.toml", "resolved.json", "manifest.json", *(f"{table}.parquet" for table in TABLES)]


@pytest.fixture
def folder(tmp_path: Path, run_in_memory: Run) -> Path:
    write_run(run_in_memory, tmp_path / "run", channels=2)
    return tmp_path / "run"


def everything(folder: Path) -> dict[str, Any]:
    """Everything that a run provides."""
    run = open_run(folder)
    told = {name: value for name, value in run.manifest.items() if name != "checksum"}
    tables = {table: getattr(run, table).to_dicts() for table in TABLES}
    return {"manifest": told, "resolved": run.resolved, "scenario": run.scenario, **tables}


def flips(size: int) -> list[int]:
    """Positions at both ends of a file, where formats keep their lengths, and evenly between."""
    return sorted({*range(min(size, 3)), *range(0, size, max(1, size // 12)), *range(max(0, size - 9), size)})


@pytest.mark.parametrize("name", FILES)
def test_a_flipped_bit_is_an_error_that_names_the_file_or_changes_nothing(folder: Path, name: str) -> None:
    """Catches a table that opens with other values, and a manifest whose seed or time is another."""
    whole, file = everything(folder), folder / name
    data = file.read_bytes()
    noticed = harmless = tried = 0
    for position in flips(len(data)):
        for bit in (1, 32):
            flipped = bytearray(data)
            flipped[position] ^= bit
            file.write_bytes(flipped)
            try:
                told = everything(folder)
            except InputError as problem:
                noticed += problem.file == str(file) or name in problem.message
            else:
                assert told == whole, position
                harmless += 1
            tried += 1
    assert noticed + harmless == tried
    assert harmless < 4
    file.write_bytes(data)
    assert everything(folder) == whole


def test_a_table_is_checked_when_it_is_used_and_only_then(folder: Path) -> None:
    file = folder / "messages.parquet"
    data = bytearray(file.read_bytes())
    data[10] ^= 1
    file.write_bytes(data)
    run = open_run(folder)
    assert run.jobs.height == 2
    for read in (lambda: run.messages, lambda: run.scan("messages"), lambda: check_all(run)):
        with pytest.raises(InputError, match=r"messages.parquet: the file is damaged: its checksum"):
            read()


def test_without_verification_what_can_be_read_is_read(folder: Path) -> None:
    file = folder / "scenario.toml"
    file.write_text(file.read_text().replace("a", "b", 1))
    with pytest.raises(InputError, match=r"scenario.toml: the file is damaged"):
        open_run(folder)
    assert open_run(folder, verify=False).jobs.height == 2


def test_a_table_that_was_replaced_after_the_run_was_opened_is_not_read(folder: Path, run_in_memory: Run) -> None:
    """Catches tables of two runs behind one manifest."""
    run = open_run(folder)
    jobs = run_in_memory.jobs.with_columns(bytes=run_in_memory.jobs["bytes"] + 1)
    other = type(run)(run.manifest, run.resolved, run.scenario, {**dict(run._tables), "jobs": jobs})
    write_run(other, folder, channels=2, replace=True)
    with pytest.raises(InputError, match=r"jobs.parquet: the file is damaged"):
        _ = run.jobs
    assert open_run(folder).jobs["bytes"].to_list() == jobs["bytes"].to_list()
