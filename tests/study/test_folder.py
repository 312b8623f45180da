"""Folders of studies are recognised, and damaged ones are named."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

import odonata as od
from odonata.errors import InputError
from odonata.store.manifest import sealed_text
from odonata.study.folder import is_study_folder
from odonata.study.sweep import check_place

from .conftest import STUDY, swept

if TYPE_CHECKING:
    from pathlib import Path

    from .conftest import Write


def test_a_folder_with_results_of_its_own_is_not_overwritten(study: Write, tmp_path: Path) -> None:
    """Catches a sweep that takes any folder with a `results` in it for an unfinished study, and replaces its files."""
    plan = study(STUDY)
    mine = tmp_path / "thesis"
    (mine / "results").mkdir(parents=True)
    assert is_study_folder(mine)  # as the first half second of a sweep leaves it
    (mine / "study.toml").write_text("mine")
    with pytest.raises(InputError, match="is not the folder of a study"):
        check_place(mine, plan)
    (mine / "results" / "part-000001.parquet").touch()
    (mine / "results" / ".part-000002.parquet.partial-00").touch()
    check_place(mine, plan)
    (mine / "results" / "measured.csv").touch()
    with pytest.raises(InputError, match="is not the folder of a study"):
        check_place(mine, plan)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{", "the file is damaged or cut off: it is not JSON"),
        ("[1]", "expected a JSON object"),
        ('{"kind": "study"}', "the manifest is damaged: `format` is missing or not of type int"),
        ('{"kind": "study", "format": 2}', "the folder has format 2, this version reads format 1"),
    ],
)
def test_a_damaged_manifest_is_said_and_mended(study: Write, here: Path, text: str, expected: str) -> None:
    study(STUDY)
    swept("study.toml", "--out", "out")
    manifest = here / "out" / "manifest.json"
    whole = manifest.read_text()
    manifest.write_text(text)
    with pytest.raises(InputError) as problem:
        od.open("out")
    assert expected in str(problem.value)
    if "damaged" in expected:
        assert swept("study.toml", "--out", "out")["kept"] == 8
        assert manifest.read_text() == whole


def test_a_table_of_the_same_length_with_other_bytes_is_not_read(study: Write, here: Path) -> None:
    study(STUDY)
    swept("study.toml", "--out", "out")
    manifest = here / "out" / "manifest.json"
    known = json.loads(manifest.read_text())
    known["files"]["runs.parquet"]["sha256"] = "0" * 64
    del known["checksum"]
    manifest.write_text(sealed_text(known))
    with pytest.raises(InputError, match=r"runs.parquet: the file was cut off or changed"):
        od.open("out")
