"""Makes the pictures of docs/gallery.md with the commands of that page.

python scripts/gallery.py            writes docs/gallery/*.png (some minutes)
"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from PIL import Image

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "gallery.md"
FOLDER = ROOT / "docs" / "gallery"
WIDTH, COLOURS = 1200, 256
_SECTION = re.compile(r"^!\[[^\]]+\]\((?P<picture>[^)]+)\)\n\n```sh\n(?P<commands>.*?)```$", re.MULTILINE | re.DOTALL)


class Picture(NamedTuple):
    """A picture of the page: its file, relative to the page, and the commands that make it."""

    file: str
    commands: list[list[str]]


def pictures(page: Path = PAGE) -> list[Picture]:
    """The pictures of the page."""
    return [
        Picture(found["picture"], [shlex.split(line) for line in found["commands"].splitlines()])
        for found in _SECTION.finditer(page.read_text())
    ]


def main() -> None:
    """Run all commands in one folder, so that no run is repeated, and keep the pictures."""
    FOLDER.mkdir(exist_ok=True)
    done = set()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "examples").symlink_to(ROOT / "examples")
        for picture in pictures():
            for command in picture.commands:
                if tuple(command) in done:
                    continue
                print(*command, flush=True)
                subprocess.run([sys.executable, "-m", *command], cwd=folder, check=True, stdout=subprocess.DEVNULL)
                done.add(tuple(command))
            keep(folder / Path(picture.file).name, PAGE.parent / picture.file)


def keep(made: Path, kept: Path) -> None:
    """Keep a picture with fewer colours and at most `WIDTH` pixels wide: a page of twelve loads fast."""
    with Image.open(made) as image:
        small = image.convert("RGB")
    small.thumbnail((WIDTH, WIDTH), Image.Resampling.LANCZOS)
    small.quantize(COLOURS, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE).save(kept, optimize=True)


if __name__ == "__main__":
    main()
