"""Which run each point of a study is, kept so that a point whose inputs are unchanged is not resolved again.

A resolution depends on the engine, on the data files of the package, on the scenario and the values of the point, and
on the files that the scenario names. All of them are compared, by SHA-256. Nothing is kept if a point may depend on
anything else: a scenario that a function makes, or a placement policy of another distribution. Without the file, or
with a damaged one, all points are resolved.
"""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import astuple
from pathlib import Path
from typing import TYPE_CHECKING, Any

from odonata import files, reading
from odonata.errors import InputError
from odonata.scenario import Scenario
from odonata.store.engine import SOURCES, fingerprint
from odonata.store.manifest import is_intact, sealed_text

if TYPE_CHECKING:
    from odonata.study.ledger import Ledger
    from odonata.study.plan import Plan
    from odonata.study.task import Resolution

FILE = "points.json"
"""Its name in the folder of a study."""

_MOST_BYTES = 1 << 30
"""Most bytes of the file. Assumed: those of ten million points, the most that a study has."""


def is_repeatable(plan: Plan, scenario: Scenario) -> bool:
    """Whether the resolution of a point depends on nothing but what is compared."""
    from odonata import placement

    foreign = any(placement.get(job.place["policy"]).provider for job in scenario.table.job)
    return isinstance(plan.base, Scenario) and not foreign


def recalled(plan: Plan, folder: Path) -> tuple[dict[int, Resolution], dict[str, str]]:
    """The points of a plan whose resolution is known, and the files on which these depend."""
    from odonata.study.task import AloneRun, Resolution

    kept = _kept(plan, folder)
    if kept is None:
        return {}, {}
    alone = {run: tuple(AloneRun(*each) for each in runs) for run, runs in kept["alone"].items()}
    points = {}
    for number, point in enumerate(plan.points()):
        run = kept["points"].get(_key(point))
        if run is not None:
            points[number] = Resolution(number, run, alone=alone.get(run, ()), read={})
    return points, kept["read"]


def _kept(plan: Plan, folder: Path) -> dict[str, Any] | None:
    """What the folder of a study keeps; `None` if there is nothing, it is damaged, or an input has changed."""
    if not isinstance(plan.base, Scenario):
        return None
    try:
        kept = json.loads(reading.read_text(folder / FILE, _MOST_BYTES))
        if not is_intact(kept) or kept["of"] != _inputs(plan, folder):
            return None
        read = {os.path.normpath(folder.absolute() / name): digest for name, digest in kept["read"].items()}
    except (OSError, ValueError, RecursionError, AttributeError, InputError):
        return None
    return {**kept, "read": read} if reading.unchanged(read) else None


def write(ledger: Ledger, folder: Path) -> None:
    """Keeps which run each point is. Raises RunError if that cannot be written."""
    plan = ledger.plan
    if ledger.read is None or not isinstance(plan.base, Scenario):
        (folder / FILE).unlink(missing_ok=True)
        return
    at = folder.absolute()
    facts = {
        "of": _inputs(plan, folder),
        "read": {os.path.relpath(name, at): digest for name, digest in sorted(ledger.read.items())},
        "points": {_key(plan.point(number)): run for number, run in sorted(ledger.ids.items())},
        "alone": {run: [astuple(each) for each in runs] for run, runs in sorted(ledger.alone.items())},
    }
    files.write(folder / FILE, sealed_text(facts))


def _inputs(plan: Plan, folder: Path) -> str:
    """A digest of what decides the resolutions of all points: engine, data, scenario, and where its files are."""
    assert isinstance(plan.base, Scenario)
    place = os.path.relpath(plan.base.path.parent, folder)
    return _digest([fingerprint(), _data(), plan.base.data, place, plan.alone])


def _data() -> str:
    """A digest of the package's data files (machines, layouts)."""
    root = Path(__file__).parents[1]
    folders = [root / source for source in SOURCES if (root / source).is_dir()]
    data = (file for folder in folders for file in folder.rglob("*") if file.is_file() and ".py" not in file.suffix)
    return _digest([(file.name, hashlib.sha256(file.read_bytes()).hexdigest()) for file in sorted(data)])


def _key(point: tuple[tuple[str, Any], ...]) -> str:
    return _digest(point)[:16]


def _digest(content: Any) -> str:
    """Of anything that TOML can express. The order of keys counts."""
    return hashlib.sha256(json.dumps(content, default=str).encode("utf-8", "surrogatepass")).hexdigest()
