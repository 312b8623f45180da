"""Pictures are written whole, reproducibly, and in a format that the name says."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from odonata.errors import InputError, RunError
from odonata.plot.style import FORMATS, figure, save, time_unit

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("kind", FORMATS)
def test_the_same_picture_has_the_same_bytes(tmp_path: Path, kind: str) -> None:
    written = []
    for name in ("first", "second"):
        made = figure(2, 2)
        made.subplots().plot([1, 2], label="a")
        save(made, tmp_path / f"{name}.{kind}")
        written.append((tmp_path / f"{name}.{kind}").read_bytes())
    assert written[0] == written[1]
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"first.{kind}", f"second.{kind}"]


@pytest.mark.parametrize("name", ["picture", "picture.jpeg", "picture.xlsx"])
def test_another_format_is_refused_before_anything_is_drawn(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match="is not a picture format") as caught:
        save(figure(1, 1), tmp_path / name)
    assert caught.value.hint == "end the name in .png, .pdf, .svg"
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no folder"):
        save(figure(1, 1), tmp_path / "nope" / "a.png")
    assert list(tmp_path.iterdir()) == []


def test_a_place_that_cannot_be_written_is_a_run_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RunError, match="cannot write"):
        save(figure(1, 1), tmp_path / "file" / "a.png")


@pytest.mark.parametrize(
    ("values", "unit"), [([], "ps"), ([0.0], "ps"), ([999.0], "ps"), ([2e6, 5e9], "µs"), ([3e9], "ms"), ([1e13], "s")]
)
def test_the_unit_suits_the_least_value(values: list[float], unit: str) -> None:
    assert time_unit(values)[0] == unit
