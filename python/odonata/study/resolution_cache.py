"""The cache of resolutions of a study: the run of each point, so that an unchanged point is not resolved again.

`odonata.store.inputs` lists what a resolution depends on. The values of the point are added here. Scenarios that a
function makes are not cached. If the file is missing or damaged, all points are resolved.
"""

from __future__ import annotations

import json
from dataclasses import astuple
from typing import TYPE_CHECKING, Any

from odonata import files, reading
from odonata.errors import InputError
from odonata.scenario import Scenario
from odonata.store import inputs
from odonata.store.manifest import is_intact, sealed_text
from odonata.study.folder import RESULTS, read_manifest

if TYPE_CHECKING:
    from pathlib import Path

    from odonata.study.ledger import Ledger
    from odonata.study.plan import Plan
    from odonata.study.task import Resolution

FILE = "points.json"
"""Its name in the folder of a study."""

_MOST_BYTES = 1 << 30
"""Size limit of the file. Assumed: the size for ten million points, the limit of a study."""


def is_repeatable(plan: Plan, scenario: Scenario) -> bool:
    """Whether the resolution of a point depends only on inputs that the cache compares."""
    return isinstance(plan.base, Scenario) and inputs.is_repeatable(scenario)


def cached_resolutions(plan: Plan, folder: Path) -> tuple[dict[int, Resolution], dict[str, str]]:
    """The points of a plan whose resolutions are in the cache, and the files on which these depend."""
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


def is_finished(plan: Plan, folder: Path) -> bool:
    """Whether the tables in the folder belong to this plan, every run is done, and no input has changed since."""
    from odonata.study.results import are_intact

    kept = _kept(plan, folder)
    unchanged = kept is not None and kept.get("tables") == _tables(plan, folder)
    return unchanged and _all_done(folder) and are_intact(folder)


def _all_done(folder: Path) -> bool:
    try:
        manifest = read_manifest(folder, ())
    except (OSError, InputError):
        return False
    return bool(manifest["settled"] == manifest["points"] and not manifest["failed"])


def _kept(plan: Plan, folder: Path) -> dict[str, Any] | None:
    """The cache in the folder of a study; `None` if it is missing or damaged, or if an input has changed."""
    if not isinstance(plan.base, Scenario):
        return None
    try:
        kept = json.loads(reading.read_text(folder / FILE, _MOST_BYTES))
        if not is_intact(kept) or kept["of"] != _inputs(plan, folder):
            return None
        read = inputs.in_folder(kept["read"], folder)
    except (OSError, ValueError, RecursionError, AttributeError, InputError):
        return None
    return {**kept, "read": read} if reading.unchanged(read) else None


def write(ledger: Ledger, folder: Path) -> None:
    """Writes the cache. Raises RunError if it cannot be written."""
    plan = ledger.plan
    if ledger.read is None or not isinstance(plan.base, Scenario):
        (folder / FILE).unlink(missing_ok=True)
        return
    facts = {
        "of": _inputs(plan, folder),
        "tables": None if ledger.results.stale(plan.mark) else _tables(plan, folder),
        "read": inputs.from_folder(ledger.read, folder),
        "points": {_key(plan.point(number)): run for number, run in sorted(ledger.ids.items())},
        "alone": {run: [astuple(each) for each in runs] for run, runs in sorted(ledger.alone.items())},
    }
    files.write(folder / FILE, sealed_text(facts))


def _inputs(plan: Plan, folder: Path) -> str:
    """A digest of the inputs of all resolutions."""
    assert isinstance(plan.base, Scenario)
    return inputs.digest([inputs.decided_by(plan.base, folder), plan.alone])


def _tables(plan: Plan, folder: Path) -> str:
    """A digest of the inputs of the tables, for resolved points: the study, and the names of its result files, which
    contain hashes of the contents.
    """
    results = folder / RESULTS
    parts = sorted(path.name for path in results.iterdir()) if results.is_dir() else []
    return inputs.digest([plan.name, plan.as_text(), plan.mark, [axis.rows for axis in plan.axes], parts])


def _key(point: tuple[tuple[str, Any], ...]) -> str:
    return inputs.digest(point)[:16]
