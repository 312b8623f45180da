"""Pictures as PGF, the drawing commands of LaTeX: texts are set in the fonts of the document that inputs the file.

Matplotlib measures texts with LaTeX while it lays out a picture. Here they are measured in its own font instead: no
LaTeX is needed, and every machine writes the same bytes.
"""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

from matplotlib.backends import backend_pgf
from matplotlib.backends.backend_agg import RendererAgg

if TYPE_CHECKING:
    from collections.abc import Iterator

_POINTS = 72.0
_SPECIAL = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "&": r"\&", "#": r"\#", "_": r"\_", "~": r"\textasciitilde{}",
    "\N{MINUS SIGN}": r"\ensuremath{-}", "\N{MULTIPLICATION SIGN}": r"\ensuremath{\times}",
}  # fmt: skip
_MATHS = re.compile(r"(?<!\\)\$(.*?)(?<!\\)\$")


def escaped(text: str) -> str:
    r"""A label as LaTeX sets it: special characters as such, formulas between `$` unchanged. `\$` is a dollar.

    The backend itself escapes `%` and `^`.
    """
    parts = _MATHS.split(text)
    return "".join(
        f"\\(\\displaystyle {part.replace(chr(0x2212), '-')}\\)" if at % 2 else _escaped(part)
        for at, part in enumerate(parts)
    )


def _escaped(text: str) -> str:
    return "".join(
        part if part == r"\$" else re.sub(r"[\\{}&#_~\u2212\u00d7]", lambda special: _SPECIAL[special[0]], part)
        for part in re.split(r"(\\\$)", text)
    )


@contextmanager
def without_latex() -> Iterator[None]:
    """Within it, the backend measures texts in the font of Matplotlib."""
    agg: Any = RendererAgg
    drawn = agg(1, 1, _POINTS)

    def measured(renderer: Any, text: str, prop: Any, ismath: Any) -> tuple[float, float, float]:
        width, height, descent = drawn.get_text_width_height_descent(text, prop, ismath)
        scale = renderer.dpi / _POINTS
        return width * scale, height * scale, descent * scale

    draw: Any = backend_pgf.RendererPgf.draw_text

    def drawn_as_text(
        renderer: Any,
        gc: Any,
        x: float,
        y: float,
        text: str,
        prop: Any,
        angle: float,
        ismath: Any = False,
        mtext: Any = None,
    ) -> None:
        # In a label without formulas Matplotlib has made `\\$` a plain dollar.
        draw(renderer, gc, x, y, text if ismath else text.replace("$", r"\$"), prop, angle, ismath, mtext=mtext)

    with (
        patch.object(backend_pgf.RendererPgf, "draw_text", drawn_as_text),
        patch.object(backend_pgf.RendererPgf, "get_text_width_height_descent", measured),
        patch.object(backend_pgf, "_tex_escape", escaped),
        patch.object(backend_pgf, "_get_image_inclusion_command", lambda: r"\includegraphics"),
    ):
        yield
