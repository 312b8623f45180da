"""Common code of all pictures: a figure without a window, colours, units, saving."""

from __future__ import annotations

import io
import math
import tempfile
import textwrap
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import matplotlib as mpl
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from odonata import files
from odonata.errors import InputError, visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from contextlib import AbstractContextManager

    from matplotlib.axes import Axes
    from matplotlib.legend import Legend
    from matplotlib.text import Text

SERIES = ("#8db4d9", "#f0a35e", "#7fbf7b", "#c78fc4", "#d9c75f", "#9a9a9a")
"""Fills of boxes side by side: light enough for the black median line."""

LINES = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#555555", "#8c564b", "#b8b800", "#7030a0")
"""Colours of lines (Okabe and Ito's, distinguishable by the colour-blind, and four more)."""

MOST_LINES = 6
"""Most lines of a picture that can be distinguished; the rest is drawn as one band."""

MEAN = "#7030a0"
"""Purple, as Kang 2019 marks the mean."""

HEAT = "YlGnBu"
"""Colour map of loads: light is idle, and it stays readable in grey."""

FORMATS = ("png", "pdf", "svg", "pgf")

FITTED = 3
"""How often texts are fitted: more lines make axes smaller, and their titles may move."""

MOST_GROWTH = 8.0
"""How much larger a picture is tried, to say which size is enough."""

EDGE = 2.0
"""Pixels by which texts may differ from their room."""

_ABOVE: WeakKeyDictionary[Axes, dict[str, Any]] = WeakKeyDictionary()
"""What the legends above axes are made of."""

MARK = "drawn by odonata"
"""The mark in the metadata of our pictures, by which they are recognised and may be overwritten."""

_UNITS = (("s", 1e12), ("ms", 1e9), ("µs", 1e6), ("ns", 1e3), ("ps", 1.0))

_SETTINGS: Any = {
    "font.size": 9,
    "axes.titlesize": 9.5,
    "axes.labelsize": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "xtick.labelsize": 8.5,
    "ytick.labelsize": 8.5,
    "legend.fontsize": 8,
    "legend.frameon": False,
    "svg.hashsalt": "odonata",
    "svg.fonttype": "none",
    "pdf.fonttype": 42,
    "pgf.rcfonts": False,
}


def plain(text: str) -> str:
    """A text of a user as a label: no formulas (a lone `$` would be an error), and control characters as escapes."""
    return visible(text).replace("$", r"\$")


MARKERS = "os^Dv<>P"
"""Markers of lines, so that lines differ in black and white too."""


class Picture(Figure):
    """A figure that a notebook shows by itself."""

    def _repr_png_(self) -> bytes:
        drawn = io.BytesIO()
        with settings():
            self.savefig(drawn, format="png", dpi=110)
        return drawn.getvalue()


def figure(width: float, height: float) -> Picture:
    """An empty figure of that many inches, drawn without a display and without pyplot's global state."""
    with mpl.rc_context(_SETTINGS):
        made = Picture(figsize=(width, height), layout="constrained")
        FigureCanvasAgg(made)
    return made


def legend_above(axes: Axes, *, handles: list[Any], ncols: int, **looks: Any) -> None:
    """Puts a legend above the axes. `save` gives it fewer columns if it is wider than the picture."""
    _ABOVE[axes] = {"handles": handles, "ncols": ncols, **looks}
    axes.legend(
        handles=handles, ncols=ncols, loc="lower left", bbox_to_anchor=(0, 1.0), borderaxespad=0.2, **looks
    )  # fmt: skip


def relabel(
    made: Figure, *, title: str | None, x_label: str | None, y_label: str | None, size: tuple[float, float] | None
) -> None:
    """Replaces the title of a picture, the labels of its first axes, and its size in inches, where they are given."""
    with settings():
        if title is not None:
            made.suptitle(plain(title), x=0.01, ha="left", fontsize=8.5)
        axes = made.axes[0]
        if x_label is not None:
            axes.set_xlabel(plain(x_label))
        if y_label is not None:
            axes.set_ylabel(plain(y_label))
        if size is not None:
            made.set_size_inches(*size)


def settings() -> AbstractContextManager[None]:
    """The context in which Axes are to be made and saved."""
    return mpl.rc_context(_SETTINGS)


def time_unit(values_ps: Iterable[float]) -> tuple[str, float]:
    """The unit in which the least of these times is at least 1, and its picoseconds; `ps` if there are none."""
    least = min((value for value in values_ps if value > 0), default=0.0)
    return next(((unit, factor) for unit, factor in _UNITS if least >= factor), _UNITS[-1])


def percent(share: float, _position: float = 0.0) -> str:
    """A share as a label: without decimals, unless the numbers of the axis are parts of a percent."""
    return f"{round(100 * share, 6):g} %"


def checked_format(path: Path, formats: Sequence[str] = FORMATS) -> str:
    """The format of a file's ending; `InputError` if it is not supported."""
    kind = path.suffix.lower().removeprefix(".")
    if kind not in formats:
        ending = f"`{path.suffix}`" if kind else "no ending"
        hint = f"end the name in {', '.join(f'.{name}' for name in formats)}"
        raise InputError(f"cannot draw `{path}`: {ending} is not a picture format", hint=hint)
    return kind


def check_target(path: Path, formats: Sequence[str] = FORMATS) -> None:
    """Raises `InputError` if no picture can go there: the name ends in no format, or there is no such folder."""
    checked_format(path, formats)
    if not path.parent.exists():
        raise InputError(
            f"cannot draw `{path}`: there is no folder `{path.parent}`", hint="create it, or choose another"
        )


def check_free(path: Path, *, force: bool) -> None:
    """Raises `InputError` if a file is there that is not a picture of ours, unless `force` says to overwrite it."""
    if path.is_file() and not force and MARK.encode() not in path.read_bytes():
        raise InputError(f"`{path}` exists and was not drawn by odonata", hint="choose another name, or add --force")


def save(made: Figure, path: Path, *, about: str = "") -> None:
    """Write the picture, the same bytes for the same data; `about` says in its metadata what made it.

    Raises `InputError` for a target that `check_target` refuses and `RunError` if the file cannot be written.
    """
    check_target(path)
    kind = checked_format(path)
    with settings():
        fit_texts(made)
    if kind == "pgf":
        _save_pgf(made, path)
        return
    of_formats: dict[str, dict[str, str | None]] = {
        "png": {"Software": MARK, "Description": about},
        "pdf": {"CreationDate": None, "Creator": MARK, "Subject": about},
        "svg": {"Date": None, "Creator": MARK, "Description": about},
    }
    drawn = io.BytesIO()
    with settings():
        made.savefig(
            drawn, format=kind, dpi=200, metadata={key: text for key, text in of_formats[kind].items() if text != ""}
        )
    files.write(path, drawn.getbuffer())


def _save_pgf(made: Figure, path: Path) -> None:
    """Writes the picture, and beside it a PNG for each heat map, which it names."""
    from odonata.plot.pgf import without_latex

    with tempfile.TemporaryDirectory() as folder, settings(), without_latex():
        made.savefig(Path(folder) / path.name, format="pgf")
        for written in sorted(Path(folder).iterdir(), reverse=True):
            mark = f"%% {MARK}\n".encode() if written.name == path.name else b""
            files.write(path.parent / written.name, mark + written.read_bytes())


def fit_texts(made: Figure) -> None:
    """Breaks titles and labels of axes into lines, and legends into columns, that fit into the picture.

    Raises `InputError` if the axes have no room beside them, with the size that is enough.
    """
    if _fit(made):
        return
    width, height = made.get_size_inches()
    growth = 1.0
    while growth < MOST_GROWTH:
        growth *= 1.1
        made.set_size_inches(width * growth, height * growth)
        if _fit(made):
            break
    wide, high = (math.ceil(inches * 10) / 10 for inches in made.get_size_inches())
    raise InputError(
        f"the picture is too small at {width:g} x {height:g} inches: its axes have no room beside their texts",
        hint=f"{wide:g} x {high:g} inches are enough: --size {wide:g}x{high:g}",
    )


def _fit(made: Figure) -> bool:
    """Whether the axes and their legends have room, after texts are broken."""
    for _ in range(FITTED):
        _lay_out(made)
        for axes in made.axes:
            _narrow_legend(axes, made.bbox.width)
        for label, needs, room in _texts(made):
            _break(label, needs, room)
    return _lay_out(made) and not any(_is_cut(axes.get_legend(), made) for axes in made.axes)


def _lay_out(made: Figure) -> bool:
    """Whether the axes have room. Matplotlib only warns if they have none."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        made.draw_without_rendering()
    return not any("collapsed to zero" in str(warning.message) for warning in told)


def _narrow_legend(axes: Axes, width: float) -> None:
    """Gives a legend above its axes fewer columns until it ends within the picture."""
    while axes in _ABOVE and _ABOVE[axes]["ncols"] > 1:
        legend = axes.get_legend()
        assert legend is not None
        box = legend.get_window_extent()
        if box.width <= width - max(box.x0, 0) - EDGE:
            return
        legend_above(axes, **{**_ABOVE[axes], "ncols": _ABOVE[axes]["ncols"] - 1})
        _lay_out(axes.figure)  # type: ignore[arg-type]


def _is_cut(legend: Legend | None, made: Figure) -> bool:
    if legend is None:
        return False
    box = legend.get_window_extent()
    return bool(box.x1 > made.bbox.x1 + EDGE or box.y1 > made.bbox.y1 + EDGE)


def _texts(made: Figure) -> Iterator[tuple[Text, float, float]]:
    """Titles and labels, the room that each needs, and what it has."""
    width, height = made.bbox.width, made.bbox.height
    suptitle: Text | None = getattr(made, "_suptitle", None)
    if suptitle is not None:
        yield suptitle, suptitle.get_window_extent().width, width * (1 - suptitle.get_position()[0])
    top = height if suptitle is None else float(suptitle.get_window_extent().y0)
    for axes in made.axes:
        box = axes.get_window_extent()
        x, y = (box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2
        # A title may be wider than its axes, on both sides if it is centred, as long as the picture has room.
        left: Text = axes._left_title  # type: ignore[attr-defined]
        yield left, left.get_window_extent().width, width - box.x0
        for centred in (axes.title, axes.xaxis.label):
            yield centred, centred.get_window_extent().width, 2 * min(x, width - x)
        label = axes.yaxis.label
        yield label, label.get_window_extent().height, 2 * min(y, top - y)


def _break(label: Text, needs: float, room: float) -> None:
    """Breaks each line of a label so that it needs no more room."""
    text = label.get_text()
    if not text or needs <= room:
        return
    longest = max(len(line) for line in text.split("\n"))
    most = max(8, int(longest * room / needs) - 1)
    lines = [part for line in text.split("\n") for part in textwrap.wrap(line, most, break_on_hyphens=False) or [""]]
    label.set_text("\n".join(lines))
