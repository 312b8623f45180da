"""Recognises the folder of a study, without reading its tables."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from odonata import files
from odonata.errors import InputError
from odonata.store.manifest import MANIFEST, is_intact
from odonata.store.read import check_format

if TYPE_CHECKING:
    from pathlib import Path

AGAIN = "run `odonata sweep` again with the same --out: finished runs are not repeated"
RESULTS = "results"
"""Folder of the finished runs."""


def is_study_folder(path: Path) -> bool:
    """Whether this is the folder of a study, finished or not.

    If the manifest was lost, the folder `results` identifies a study. A folder of the user with that name contains
    other files, or is empty beside other files.
    """
    data = _manifest(path)
    if data is None:
        return (path / RESULTS).is_dir() and not (path / "resolved.json").exists() and _is_ours(path)
    return data.get("kind") == "study"


def study_in(path: Path) -> tuple[str, set[str]] | None:
    """The name of the study in a folder and the keys of its axes; `None` if they are not known."""
    data = _manifest(path)
    if data is None or not is_intact(data):
        return None
    try:
        return str(data["name"]), {key for axis in data["axes"] for key in axis["keys"]}
    except (KeyError, TypeError):
        return None


def _manifest(path: Path) -> dict[str, Any] | None:
    try:
        data = json.loads((path / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    return data if isinstance(data, dict) else {}


def _is_ours(path: Path) -> bool:
    kept = list((path / RESULTS).iterdir())
    if not kept:
        return all(child.name == RESULTS for child in path.iterdir())
    return all(file.name.startswith("part-") or files.is_partial(file.name) for file in kept)


def read_manifest(path: Path, names: tuple[str, ...], *, verify: bool = True) -> dict[str, Any]:
    """The manifest of a study; `names` are the files that it must list.

    Raises InputError if it is damaged, of another format, or of a sweep that has not written its tables.
    """
    file = path / MANIFEST
    try:
        data = json.loads(file.read_text(encoding="utf-8"))
    except (ValueError, RecursionError):
        raise InputError("the file is damaged or cut off: it is not JSON", file=file, hint=AGAIN) from None
    if not isinstance(data, dict):
        raise InputError("the file is damaged: expected a JSON object", file=file, hint=AGAIN)
    if isinstance(data.get("format"), int):
        check_format(data["format"], file)
        if "files" not in data and "settled" not in data and is_intact(data):
            raise unfinished(path)
    wanted = {"format": int, "name": str, "version": str, "points": int, "settled": int, "failed": int}
    for key, kind in {**wanted, "axes": list, "show": dict, "files": dict}.items():
        if not isinstance(data.get(key), kind):
            message = f"the manifest is damaged: `{key}` is missing or not of type {kind.__name__}"
            raise InputError(message, file=file, hint=AGAIN)
    for name in names:
        known = data["files"].get(name)
        if not isinstance(known, dict) or not isinstance(known.get("sha256"), str):
            raise InputError(f"the manifest is damaged: `{name}` is missing", file=file, hint=AGAIN)
    if verify and not is_intact(data):
        raise InputError("the manifest was changed: its checksum does not match", file=file, hint=AGAIN)
    return data


def unfinished(path: Path) -> InputError:
    """The error for the folder of a sweep that was killed."""
    return InputError(f"the sweep in `{path}` was interrupted before its tables were written", hint=AGAIN)
