"""Telling the folder of a study from others, without reading it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def is_study_folder(path: Path) -> bool:
    """Whether this is the folder of a study, finished or not."""
    try:
        data = json.loads((path / "manifest.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return (path / "results").is_dir() and not (path / "resolved.json").exists()
    return isinstance(data, dict) and data.get("kind") == "study"
