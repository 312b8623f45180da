"""Tables of Parquet that others made: each is read with limits, and what is no table has an ordinary error."""

from __future__ import annotations

import hashlib
import os
import threading
from pathlib import Path

import polars as pl
import pytest

import odonata as od
from odonata import reading
from odonata.calibration import measurements
from odonata.errors import InputError
from odonata.iterations.table import read_iterations
from odonata.store.read import scan
from odonata.study.results import DIGITS, Results

from .conftest import STUDY, Write

ROWS = "expected a table of at most 0 rows"
COLUMNS = "expected a table of at most 1 columns"


def part(folder: Path, data: bytes) -> Path:
    """A file of results with this content, and the checksum of it in its name."""
    (folder / "results").mkdir(exist_ok=True)
    file = folder / "results" / f"part-000001-{hashlib.sha256(data).hexdigest()[:DIGITS]}.parquet"
    file.write_bytes(data)
    return file


def test_tables_of_studies_have_limits(study: Write, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    study(STUDY)
    od.sweep("study.toml", workers=1, out="out")
    for name, message in (("PARQUET_ROWS", ROWS), ("TABLE_COLUMNS", COLUMNS)):
        with monkeypatch.context() as limited:
            limited.setattr(reading, name, 0 if name == "PARQUET_ROWS" else 1)
            with pytest.raises(InputError, match=message) as caught:
                od.open("out")
            assert (caught.value.file or "").endswith(".parquet")
            with pytest.raises(InputError, match=message):
                Results(Path("out")).statuses()


def test_results_that_are_no_tables(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    file = part(tmp_path, b"PAR1" + b"\xa5" * 100)
    with pytest.raises(InputError, match="not a whole Parquet file") as caught:
        Results(tmp_path).statuses()
    assert (caught.value.file, capfd.readouterr().err) == (str(file), "")
    file.unlink()
    os.mkfifo(file)
    with pytest.raises(InputError, match="expected a regular file, found a pipe"):
        Results(tmp_path).statuses()


@pytest.mark.parametrize("kind", ["pipe", "folder", "device"])
def test_a_table_of_a_run_is_a_regular_file(tmp_path: Path, kind: str) -> None:
    file = tmp_path / "messages.parquet"
    {"pipe": lambda: os.mkfifo(file), "folder": file.mkdir, "device": lambda: file.symlink_to("/dev/zero")}[kind]()
    with pytest.raises(InputError, match=f"expected a regular file, found a {kind}"):
        scan(file, "messages")


def test_tables_in_csv_have_limits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "t.csv"
    file.write_text("time_us,a\n1,2\n")
    for name, message in (("PARQUET_ROWS", ROWS), ("TABLE_COLUMNS", COLUMNS)):
        with monkeypatch.context() as limited:
            limited.setattr(reading, name, 0 if name == "PARQUET_ROWS" else 1)
            with pytest.raises(InputError, match=message):
                read_iterations(file)


@pytest.mark.parametrize("form", ["csv", "semicolons", "parquet"])
def test_medians_are_found_in_every_form(tmp_path: Path, form: str) -> None:
    table = pl.DataFrame({"collective": "allreduce", "bytes": 8, "nodes": 4, "max_us": 9.0, "median_us": [2.0]})
    file = tmp_path / "t"
    if form == "parquet":
        table.write_parquet(file)
    else:
        table.write_csv(file, separator="," if form == "csv" else ";")
    assert [row.time_ps for row in measurements.read(file).rows] == [2e6]


def test_a_pipe_is_read_once(tmp_path: Path) -> None:
    """Also for the message, which must not wait for another writer."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    writer = os.open(pipe, os.O_WRONLY)
    os.write(writer, b"collective,bytes,nodes,median_us\nallreduce,8,4,-1\n")
    late = threading.Timer(0.3, os.close, [writer])
    late.start()
    try:
        with pytest.raises(InputError, match=r"pipe:2: a time cannot be negative"):
            measurements.read(pipe)
    finally:
        late.join()
        os.close(reader)
