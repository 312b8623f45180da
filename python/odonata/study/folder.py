"""Telling the folder of a study from others, without reading its tables."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from odonata.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

AGAIN = "`odonata sweep` with the same --out mends it: finished runs are not repeated"
MANIFEST = "manifest.json"
RESULTS = "results"
"""Folder of the finished runs."""


def is_study_folder(path: Path) -> bool:
    """Whether this is the folder of a study, finished or not.

    Without a manifest (the sweep was killed) its `results` say so. Somebody else's folder of that name does not: it has
    other files in it, or nothing and other files beside it.
    """
    try:
        data = json.loads((path / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return (path / RESULTS).is_dir() and not (path / "resolved.json").exists() and _is_ours(path)
    return isinstance(data, dict) and data.get("kind") == "study"


def _is_ours(path: Path) -> bool:
    kept = list((path / RESULTS).iterdir())
    if not kept:
        return all(child.name == RESULTS for child in path.iterdir())
    return all(file.name.startswith(("part-", ".part-")) for file in kept)


def read_manifest(path: Path, names: tuple[str, ...]) -> dict[str, Any]:
    """The manifest of a study; `names` are the files that it must know. Raises InputError if it is damaged."""
    file = path / MANIFEST
    try:
        data = json.loads(file.read_text(encoding="utf-8"))
    except (ValueError, RecursionError):
        raise InputError("the file is damaged or cut off: it is not JSON", file=file, hint=AGAIN) from None
    wanted = {"format": int, "name": str, "version": str, "points": int, "settled": int, "failed": int}
    if not isinstance(data, dict):
        raise InputError("the file is damaged: expected a JSON object", file=file, hint=AGAIN)
    for key, kind in {**wanted, "axes": list, "show": dict, "files": dict}.items():
        if not isinstance(data.get(key), kind):
            message = f"the manifest is damaged: `{key}` is missing or no {kind.__name__}"
            raise InputError(message, file=file, hint=AGAIN)
    for name in names:
        known = data["files"].get(name)
        if not isinstance(known, dict) or not isinstance(known.get("sha256"), str):
            raise InputError(f"the manifest is damaged: it does not know `{name}`", file=file, hint=AGAIN)
    return data
