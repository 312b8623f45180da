"""Pages of HTML without a script: tables and drawings in SVG, one file, nothing from outside."""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_STYLE = """
:root{color-scheme:light dark;--paper:#fff;--ink:#1b2430;--soft:#566272;--line:#d5dae1;--accent:#0b5cad;--warm:#a83200;
--fill:#9dbfe3}
@media (prefers-color-scheme:dark){:root{--paper:#12161d;--ink:#e4e9f0;--soft:#9aa7b8;--line:#333d4b;--accent:#6db3ff;
--warm:#ff9c66;--fill:#2d4f78}}
*{box-sizing:border-box}body{margin:0;background:var(--paper);color:var(--ink);font:15px/1.5 system-ui,sans-serif}
main{max-width:1080px;margin:0 auto;padding:12px 20px 60px}h1{font-size:24px}h2{font-size:18px;margin-top:32px}
p{max-width:46em}.table{overflow-x:auto}table{border-collapse:collapse;font-variant-numeric:tabular-nums}
th,td{padding:3px 12px 3px 0;text-align:right;white-space:nowrap;border-bottom:1px solid var(--line)}
th{color:var(--soft);font-weight:600}th:first-child,td:first-child,.l{text-align:left}
svg{max-width:100%;height:auto;display:block}svg text{fill:var(--soft);font:12px system-ui,sans-serif}
.axis{stroke:var(--soft);stroke-width:1}.grid{stroke:var(--line);stroke-width:1}.bar{fill:var(--accent)}
.range{stroke:var(--accent);stroke-width:2}.dot{fill:var(--accent)}.line{fill:none;stroke:var(--accent);stroke-width:1.5}
.ideal{stroke:var(--warm);stroke-dasharray:4 4}.job{fill:var(--fill);stroke:var(--paper);stroke-width:.5}
.slow{fill:var(--warm);stroke:var(--paper);stroke-width:.5}.note{color:var(--soft)}
"""


def document(title: str, generator: str, policy: str, style: str, body: str) -> bytes:
    """A file of HTML whose policy lets a browser load nothing that it does not name; `generator` is a `meta`."""
    text = f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy} base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="color-scheme" content="light dark">
{generator}
<title>{escape(title)}</title>
<style>{style}</style>
</head>
<body>
{body}
</body>
</html>
"""
    return text.encode("utf-8", "backslashreplace")


def hashed(text: str) -> str:
    """What a policy says of a script or a style."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def page(title: str, body: Sequence[str]) -> bytes:
    """A page of parts that are HTML."""
    parts = "\n".join(body)
    policy = f"default-src 'none'; style-src '{hashed(_STYLE)}';"
    return document(
        title,
        '<meta name="generator" content="odonata">',
        policy,
        _STYLE,
        f"<main>\n<h1>{escape(title)}</h1>\n{parts}\n</main>",
    )


def heading(text: str) -> str:
    """A heading of a section."""
    return f"<h2>{escape(text)}</h2>"


def paragraph(text: str, *, note: bool = False) -> str:
    """Some sentences."""
    return f'<p class="note">{escape(text)}</p>' if note else f"<p>{escape(text)}</p>"


def table(names: Sequence[str], rows: Sequence[Sequence[str]], left: Sequence[int] = ()) -> str:
    """A table; columns of text, besides the first, are `left`."""

    def cells(tag: str, row: Sequence[str]) -> str:
        made = [f"<{tag}{' class=l' if at in left else ''}>{escape(cell)}</{tag}>" for at, cell in enumerate(row)]
        return "<tr>" + "".join(made) + "</tr>"

    lines = [cells("th", names), *(cells("td", row) for row in rows)]
    return '<div class="table"><table>' + "\n".join(lines) + "</table></div>"


@dataclass(frozen=True)
class Axes:
    """A drawing with axes from 0 or another value, in a box of 720 by `height`."""

    x: tuple[float, float]
    y: tuple[float, float]
    x_label: str
    y_label: str
    height: int = 260
    width: int = 720

    def at_x(self, value: float) -> float:
        """The place of a value on the horizontal axis."""
        low, high = self.x
        return 60 + (self.width - 80) * (value - low) / (high - low or 1)

    def at_y(self, value: float) -> float:
        """The place of a value on the vertical axis."""
        low, high = self.y
        return self.height - 40 - (self.height - 60) * (value - low) / (high - low or 1)

    def drawn(self, marks: Sequence[str], x_ticks: Sequence[tuple[float, str]], y_ticks: Sequence[float]) -> str:
        """The drawing with its marks, which are SVG."""
        bottom, left = self.height - 40, 60
        label = escape(f"{self.y_label} over {self.x_label}")
        parts = [f'<svg viewBox="0 0 {self.width} {self.height}" width="{self.width}" role="img" aria-label="{label}">']
        for value in y_ticks:
            y = self.at_y(value)
            parts.append(f'<line class="grid" x1="{left}" x2="{self.width - 20}" y1="{y:.1f}" y2="{y:.1f}"/>')
            parts.append(f'<text x="{left - 6}" y="{y + 4:.1f}" text-anchor="end">{value:g}</text>')
        for value, text in x_ticks:
            parts.append(
                f'<text x="{self.at_x(value):.1f}" y="{bottom + 16}" text-anchor="middle">{escape(text)}</text>'
            )
        parts += marks
        parts.append(f'<line class="axis" x1="{left}" x2="{self.width - 20}" y1="{bottom}" y2="{bottom}"/>')
        parts.append(f'<text x="{left}" y="12">{escape(self.y_label)}</text>')
        middle = (left + self.width - 20) / 2
        parts.append(f'<text x="{middle}" y="{self.height - 6}" text-anchor="middle">{escape(self.x_label)}</text>')
        return "\n".join([*parts, "</svg>"])


def ticks(low: float, high: float, about: int = 5) -> list[float]:
    """Round values between two."""
    import math

    if not high > low:
        return [low]
    raw = (high - low) / about
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= raw)
    first = math.ceil(low / step - 1e-9)
    return [round(step * k, 12) for k in range(first, math.floor(high / step + 1e-9) + 1)]
