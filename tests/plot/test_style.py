"""Pictures are written whole, reproducibly, and in a format that the name says."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from odonata.errors import InputError, RunError
from odonata.plot.pgf import escaped
from odonata.plot.style import FORMATS, figure, plain, relabel, save, time_unit

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
    assert caught.value.hint == "end the name in .png, .pdf, .svg, .pgf"
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


def test_pgf_has_texts_for_latex_without_latex(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Special characters are escaped, a heat map is a file beside it, and nothing names this machine."""
    monkeypatch.setenv("PATH", "")
    made = figure(3, 2)
    axes = made.subplots()
    axes.imshow([[0, 1]])
    axes.set_title(plain("a_b & 5 % #1 {x} $5"))
    save(made, tmp_path / "a.pgf")
    text = (tmp_path / "a.pgf").read_text()
    assert r"a\_b \& 5 % \#1 \{x\} \$5" in text
    assert r"{a-img0.png}" in text
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a-img0.png", "a.pgf"]
    assert "/" not in text.replace(r"\input{<filename>.pgf}", "").replace("<path to file>", "").split("begingroup")[1]
    assert "Path=" not in text
    assert escaped("$10^{-1}$ of a_b") == r"\(\displaystyle 10^{-1}\) of a\_b"


@pytest.mark.parametrize("size", [(8, 4), (5, 4)])
def test_long_titles_stay_in_the_picture(tmp_path: Path, size: tuple[float, float]) -> None:
    made = figure(6, 4)
    left, right = made.subplots(1, 2)
    for axes in (left, right):
        axes.set_title("a long title of the axes that says much about what is drawn here", loc="left")
        axes.set_xlabel("a label below the axes that is much longer than they are wide")
        axes.set_ylabel("a label beside the axes that is longer than they are high")
    relabel(made, title="title " * 40, x_label=None, y_label=None, size=size)
    save(made, tmp_path / "a.png")
    made.draw_without_rendering()
    texts = [made._suptitle, *(text for axes in (left, right) for text in (axes._left_title, axes.xaxis.label))]
    for text in texts:
        box = text.get_window_extent()
        assert box.x0 >= -1, text.get_text()
        assert box.x1 <= made.bbox.width + 1, text.get_text()
    box = left.yaxis.label.get_window_extent()
    assert box.y1 - box.y0 <= made.bbox.height
