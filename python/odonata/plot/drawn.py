"""What a picture shows, as numbers: its axes, and the data that is drawn in them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np
from matplotlib.patches import StepPatch

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_BOXES: WeakKeyDictionary[Axes, list[dict[str, Any]]] = WeakKeyDictionary()
_PARTS: WeakKeyDictionary[Artist, bool] = WeakKeyDictionary()
"""Lines that are parts of boxes."""


def draw_box(
    axes: Axes, at: float, width: float, stats: Mapping[str, Any], named: Mapping[str, str], **looks: Any
) -> None:
    """Draws a box from its quartiles and ends (as `Axes.bxp` takes them), and remembers it for `drawn`.

    `named` says what it is of: its `group` below the axis, its `series`.
    """
    parts = axes.bxp(
        [{**stats, "fliers": []}], positions=[at], widths=width, manage_ticks=False, patch_artist=True,
        showfliers=False, **looks,
    )  # fmt: skip
    _PARTS.update((artist, True) for artists in parts.values() for artist in artists)
    names = {"min": "whislo", "p25": "q1", "p50": "med", "p75": "q3", "max": "whishi", "mean": "mean"}
    values = {name: _number(stats[key]) for name, key in names.items() if key in stats}
    _BOXES.setdefault(axes, []).append({**named, **values})


def drawn(figure: Figure) -> list[dict[str, Any]]:
    """The axes of a picture from the upper left to the lower right, with labels, scales and data.

    `boxes` have quantiles, `lines` and `steps` their points (a step is a height between two edges), `images` their rows
    from the top. All are in the units of the labels.
    """
    return [_axes(axes) for axes in figure.axes if axes.get_label() != "<colorbar>"]


def _axes(axes: Axes) -> dict[str, Any]:
    lines = [line for line in axes.lines if line not in _PARTS and line.get_transform() == axes.transData]
    titles = (axes.get_title(), axes.get_title(loc="left"))
    limits = {
        "boxes": _BOXES.get(axes, []),
        "lines": [
            {"label": _label(line), "x": _list(line.get_xdata()), "y": _list(line.get_ydata())} for line in lines
        ],
        "steps": [_step(patch) for patch in axes.patches if isinstance(patch, StepPatch)],
        "images": [_list(image.get_array()) for image in axes.images],
    }
    return {
        "title": next((_text(title) for title in titles if title), None),
        "x": {"label": _text(axes.get_xlabel()), "scale": axes.get_xscale(), "limits": _list(axes.get_xlim())},
        "y": {"label": _text(axes.get_ylabel()), "scale": axes.get_yscale(), "limits": _list(axes.get_ylim())},
        **{kind: drawings for kind, drawings in limits.items() if drawings},
    }


def _step(patch: StepPatch) -> dict[str, Any]:
    values, edges, _ = patch.get_data()
    return {"label": _label(patch), "edges": _list(edges), "heights": _list(values)}


def _label(artist: Artist) -> str | None:
    """The name of a line in the legend; those of Matplotlib's own begin with an underscore."""
    label = str(artist.get_label())
    return None if not label or label.startswith("_") else _text(label)


def _text(label: str) -> str:
    return label.replace(r"\$", "$")


def _list(values: Any) -> Any:
    """Numbers as JSON has them: null for none."""
    if isinstance(values, np.ma.MaskedArray):
        values = np.ma.filled(values.astype(np.float64), np.nan)
    return [_list(value) if np.ndim(value) else _number(value) for value in np.asarray(values)]


def _number(value: Any) -> float | None:
    return float(value) if math.isfinite(value) else None
