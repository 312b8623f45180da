"""Draws the diagrams of ARCHITECTURE.md and docs/model.md as SVG that follows the reader's light or dark theme.

python scripts/diagrams.py            writes docs/diagrams/*.svg
python scripts/diagrams.py --check    fails if a committed one is not what this script draws
"""

from __future__ import annotations

import sys
from pathlib import Path
from xml.etree import ElementTree as Xml

FOLDER = Path(__file__).parents[1] / "docs" / "diagrams"
STYLE = """
text { font: 14px system-ui, sans-serif; fill: #1b2430; text-anchor: middle; }
.small { font-size: 12px; fill: #566272; }
.left { text-anchor: start; }
.title { font-weight: 600; text-anchor: start; }
rect, circle { fill: #ffffff; stroke: #566272; }
.python { fill: #e8f0f9; } .rust { fill: #fbeee0; } .busy { fill: #0b5cad; stroke: none; }
.free { fill: none; } .mark { fill: #d3226b; stroke: none; }
path { fill: none; stroke: #1b2430; stroke-width: 1.5; marker-end: url(#tip); }
.credit { stroke: #d3226b; stroke-dasharray: 5 4; } .plain { marker-end: none; stroke: #566272; stroke-dasharray: 3 3; }
#tip path { fill: #1b2430; stroke: none; marker-end: none; }
@media (prefers-color-scheme: dark) {
  text { fill: #e4e9f0; } .small { fill: #9aa7b8; } rect, circle { fill: #12161d; stroke: #9aa7b8; }
  .python { fill: #15293f; } .rust { fill: #3a2a15; } .busy { fill: #6db1f2; } .free { fill: none; }
  path { stroke: #e4e9f0; } .credit { stroke: #ff6da3; } .mark { fill: #ff6da3; } .plain { stroke: #9aa7b8; }
  #tip path { fill: #e4e9f0; }
}
"""


class Drawing:
    """An SVG picture of so many pixels."""

    def __init__(self, width: int, height: int, told: str) -> None:
        view = f"0 0 {width} {height}"
        self.root = Xml.Element("svg", xmlns="http://www.w3.org/2000/svg", viewBox=view, role="img")
        Xml.SubElement(self.root, "title").text = told
        Xml.SubElement(self.root, "style").text = STYLE
        shape = {"id": "tip", "viewBox": "0 0 8 8", "refX": "7", "refY": "4", "markerWidth": "8", "orient": "auto"}
        tip = Xml.SubElement(Xml.SubElement(self.root, "defs"), "marker", shape)
        Xml.SubElement(tip, "path", d="M0 0 8 4 0 8Z")

    def box(self, x: float, y: float, width: float, height: float, text: str = "", kind: str = "") -> None:
        """A rectangle with a text of one or more lines in its middle."""
        at = {"x": f"{x:g}", "y": f"{y:g}", "width": f"{width:g}", "height": f"{height:g}", "rx": "4", "class": kind}
        Xml.SubElement(self.root, "rect", at)
        lines = text.split("\n") if text else []
        for number, line in enumerate(lines):
            middle = y + height / 2 + 5 + 17 * (number - (len(lines) - 1) / 2)
            self.text(x + width / 2, middle, line, "small" if number else "")

    def text(self, x: float, y: float, text: str, kind: str = "") -> None:
        """A line of text."""
        Xml.SubElement(self.root, "text", {"x": f"{x:g}", "y": f"{y:g}", "class": kind}).text = text

    def line(self, points: str, kind: str = "") -> None:
        """A path with an arrow at its end."""
        Xml.SubElement(self.root, "path", {"d": points, "class": kind})

    def dot(self, x: float, y: float, kind: str) -> None:
        """A small circle."""
        Xml.SubElement(self.root, "circle", {"cx": f"{x:g}", "cy": f"{y:g}", "r": "4.5", "class": kind})

    def written(self) -> str:
        """The file."""
        Xml.indent(self.root)
        return Xml.tostring(self.root, encoding="unicode") + "\n"


def layers() -> Drawing:
    """From the scenario to the picture, and the rooms of the simulator."""
    made = Drawing(960, 330, "From a scenario to tables and pictures: Python around the simulator in Rust")
    made.box(10, 30, 940, 110, kind="python")
    made.text(20, 22, "Python: names, units, defaults, errors; statistics, pictures, commands", "title")
    steps = ["scenario\nTOML, units", "placement\nnodes of jobs", "machine\npresets, failures", "store\nParquet"]
    places = [25, 165, 305, 545]
    for text, x in zip([*steps, "analysis\nstatistics", "plot, report\npictures"], [*places, 680, 815], strict=True):
        made.box(x, 55, 120, 60, text)
    for x in (145, 285, 665, 800):
        made.line(f"M{x} 85h18")
    made.line("M365 115V186")
    made.text(372, 160, "specification: JSON, all defaults", "small left")
    made.line("M605 186V117")
    made.text(612, 178, "columns", "small left")
    made.box(10, 190, 940, 130, kind="rust")
    made.text(20, 210, "Rust: what happens on the wire. A room uses only those to its left", "title")
    rooms = (
        "engine\ntime, events|fabric\nlinks, credits|observe\nblame, series|commit\npacket to link|routing\nfamilies"
    )
    rooms += "|switch\nrouters|endpoint\nNICs, control|nodes\njobs, issue|simulation\nthreads, end"
    for number, room in enumerate(rooms.split("|")):
        made.box(22 + 103 * number, 232, 92, 64, room)
    return made


def packet() -> Drawing:
    """A packet on its way through a dragonfly."""
    made = Drawing(960, 330, "A packet on its way through a dragonfly: route decisions, buffers, credits")
    made.box(195, 26, 330, 200, kind="free")
    made.text(205, 20, "group 0", "small left")
    made.box(610, 26, 175, 200, kind="free")
    made.text(620, 20, "group 1", "small left")
    for x, name in ((215, "router 0"), (385, "router 3"), (630, "router 9")):
        made.box(x, 60, 130, 120)
        made.text(x + 65, 52, name)
        for channel in (0, 1):
            y = 80 + 46 * channel
            made.box(x + 8, y, 46, 28)
            made.text(x + 31, y + 19, f"ch {channel}", "small")
            made.box(x + 78, y, 44, 28)
            made.text(x + 100, y + 19, "FIFO", "small")
            made.line(f"M{x + 56} {y + 14}h20")
    made.box(20, 90, 110, 60, "NIC\ncuts packets", "python")
    made.box(840, 90, 100, 60, "NIC\nreceives", "python")
    made.line("M130 112C160 112 190 94 221 94")
    made.line("M337 94C360 94 370 94 391 94")
    made.line("M507 94C550 94 590 140 636 140")
    made.line("M752 140C790 140 810 118 838 118")
    for x, target in ((390, 340), (635, 510)):
        made.line(f"M{x} 200C{x - 20} 216 {target + 20} 216 {target} 200", "credit")
    made.text(365, 244, "credit", "small")
    made.text(572, 244, "credit", "small")
    made.text(175, 88, "injection", "small")
    made.text(572, 80, "global link", "small")
    steps = (
        "1 The NIC sends as long as the router's buffer has room.",
        "2 At its decision time the packet gets a port and a channel.",
        "3 It is committed when the far buffer has room: then the times of the hop are known.",
        "4 Else it waits in the FIFO, and keeps its buffer.",
        "5 When it has left, a credit gives the room back, after the latency of the wire.",
        "Channels rise along the path, so packets never wait in a cycle.",
    )
    for number, step in enumerate(steps):
        made.text(20 + 530 * (number % 2), 272 + 22 * (number // 2), step, "small left")
    return made


def threads() -> Drawing:
    """A run on two threads."""
    made = Drawing(960, 245, "A run on two threads: windows of one lookahead, exchange at their ends")
    for row, name in enumerate(("thread 0\nrouters 0 to 215", "thread 1\nrouters 216 to 431")):
        y = 40 + 90 * row
        made.box(10, y, 140, 54, name, "rust")
        for window in range(4):
            x = 165 + 195 * window
            made.box(x, y, 180, 54)
            events = ((12, 55, 80, 140), (30, 95), (20, 60, 118, 150, 165), (44, 70, 132))[(window + row) % 4]
            for at in events:
                made.dot(x + at, y + 27, "busy")
    for window in range(1, 4):
        x = 165 + 195 * window - 8
        made.line(f"M{x} 26V198", "plain")
        made.line(f"M{x - 26} 94C{x - 8} 108 {x + 8} 114 {x + 24} 129")
        made.line(f"M{x - 26} 130C{x - 8} 116 {x + 8} 110 {x + 24} 95")
    made.line("M165 212h176")
    made.text(253, 230, "a window: one lookahead", "small")
    made.text(
        660,
        216,
        "Within a window no router reaches another. At its end the threads exchange events and credits,",
        "small",
    )
    made.text(660, 234, "which are sorted when the next window opens: so the bytes are those of one thread.", "small")
    return made


DRAWINGS = {"layers": layers, "packet": packet, "threads": threads}


def main() -> int:
    """Writes the files, or compares them."""
    FOLDER.mkdir(exist_ok=True)
    stale = []
    for name, draw in DRAWINGS.items():
        file, text = FOLDER / f"{name}.svg", draw().written()
        if "--check" not in sys.argv:
            file.write_text(text, encoding="utf-8")
        elif not file.exists() or file.read_text("utf-8") != text:
            stale.append(file.name)
    if stale:
        print(f"error: {', '.join(stale)}: not what scripts/diagrams.py draws", file=sys.stderr)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
