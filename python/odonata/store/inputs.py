"""The inputs of a resolution. They are stored with results, so that an unchanged scenario is not resolved again.

A resolution depends on the engine, on the data files of the package, on the scenario, and on the files that it names.
All of them are compared by SHA-256. No inputs are stored for a scenario that may depend on anything else, which is one
with a placement policy of another distribution.
"""

from __future__ import annotations

import hashlib
import json
import os
from functools import cache
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from odonata import reading
from odonata.store.engine import SOURCES, fingerprint

if TYPE_CHECKING:
    from collections.abc import Mapping

    from odonata.scenario import Scenario

KEY = "inputs"
"""Their key in the manifest of a run."""


def is_repeatable(scenario: Scenario) -> bool:
    """Whether the resolution of a scenario depends only on inputs that are compared."""
    from odonata import placement

    return not any(placement.get(job.place["policy"]).provider for job in scenario.table.job)


def decided_by(scenario: Scenario, folder: Path) -> str:
    """A digest of the inputs of a resolution without the files that the scenario names: engine, data files, scenario,
    and its place relative to the folder of the results. For a scenario with an absolute path, its own place counts,
    because a copy of the folder still names the same file.
    """
    content = json.dumps(scenario.data, default=str)
    at = os.path.realpath(folder)
    where = at if f'"{os.sep}' in content else ""
    place = os.path.relpath(os.path.realpath(scenario.path.parent), at)
    return digest([fingerprint(), _data(), content, place, where])


def of_run(scenario: Scenario, folder: Path) -> dict[str, Any] | None:
    """The inputs of the run of a scenario, for the manifest in its folder; `None` if it may depend on more."""
    if not is_repeatable(scenario):
        return None
    return {"of": decided_by(scenario, folder), "read": from_folder(scenario.read, folder)}


def from_folder(read: Mapping[str, str], folder: Path) -> dict[str, str]:
    """The result of `reading.recorded`, with paths relative to the folder.

    Only the leading `..` are computed, from a folder without symbolic links. The rest of a path is kept as written, so
    that the system follows its links and its own `..` again.
    """
    at = Path(os.path.realpath(folder)).parts
    return {_from(at, Path(name).parts): read[name] for name in sorted(read)}


def _from(at: tuple[str, ...], name: tuple[str, ...]) -> str:
    common = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(at, name, strict=False)))
    return str(Path(*[os.pardir] * (len(at) - common), *name[common:]))


def in_folder(read: Mapping[str, str], folder: Path) -> dict[str, str]:
    """Paths that lead to the same files as those from which `from_folder` made these."""
    at = Path(os.path.realpath(folder))
    return {str(_below(at, Path(name).parts)): digest for name, digest in read.items()}


def _below(at: Path, name: tuple[str, ...]) -> Path:
    ups = next((count for count, part in enumerate(name) if part != os.pardir), len(name))
    return Path(*at.parts[: max(1, len(at.parts) - ups)], *name[ups:])


def is_of(manifest: Mapping[str, Any], decided: str, folder: Path) -> bool:
    """Whether a run with this manifest has these inputs (`decided_by`), and its input files exist unchanged."""
    kept: Mapping[str, Any] | None = manifest.get(KEY)
    return kept is not None and kept["of"] == decided and reading.unchanged(in_folder(kept["read"], folder))


@cache
def _data() -> str:
    """A digest of the package's data files (machines, layouts)."""
    root = Path(__file__).parents[1]
    folders = [root / source for source in SOURCES if (root / source).is_dir()]
    data = (file for folder in folders for file in folder.rglob("*") if file.is_file() and ".py" not in file.suffix)
    return digest([(file.name, hashlib.sha256(file.read_bytes()).hexdigest()) for file in sorted(data)])


def digest(content: Any) -> str:
    """A digest of anything that TOML can express. The order of keys counts."""
    return hashlib.sha256(json.dumps(content, default=str).encode("utf-8", "surrogatepass")).hexdigest()
