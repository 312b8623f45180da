"""The committed diagrams are those that the script draws."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_diagrams_are_those_of_the_script() -> None:
    """Catches a diagram that was edited by hand, or a script whose pictures were not committed."""
    made = subprocess.run(
        [sys.executable, ROOT / "scripts" / "diagrams.py", "--check"], capture_output=True, text=True, check=False
    )
    assert (made.returncode, made.stderr) == (0, "")
