"""`resolved.json`: a scenario with every default filled in, and the specification."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from odonata import units
from odonata.document import edit
from odonata.machine import System
from odonata.placement import Placement
from odonata.scenario.job_routings import JobRoutings
from odonata.scenario.programs import ProgramJob
from odonata.scenario.routings import Routing
from odonata.scenario.tables import JobTable, ScenarioTable


def write_document(
    table: ScenarioTable,
    path: Path,
    system: System,
    jobs: Sequence[JobTable],
    placed: Mapping[int, Placement],
    run: Mapping[int, ProgramJob | None],
    routings: JobRoutings,
    spec: dict[str, Any],
    notes: Sequence[str],
) -> dict[str, Any]:
    """The scenario with every default filled in, its quantities with units, and the spec."""
    apart = {"advise", "fabric", "import_", "routing", "sources"}
    document = table.model_dump(mode="json", by_alias=True, exclude_none=True, exclude=apart)
    document["system"] = system.document()
    waited = [jobs[n].name for n in spec["stop"]["jobs"]]
    document["run"].pop("until", None)
    document["run"] |= {"until": waited} if waited else {}
    if spec["stop"]["at_ps"] is not None:
        document["run"]["horizon"] = units.format_time(spec["stop"]["at_ps"])
    document["routing"] = _dumped(routings.usual)
    document["job"] = []
    for index, (job, job_spec) in enumerate(zip(jobs, spec["jobs"], strict=True)):
        dumped = job.model_dump(mode="json", by_alias=True, exclude_none=True)
        if index in routings.own:
            dumped["routing"] = _dumped(routings.own[index])
        dumped["nodes"] = len(placed[index].nodes)
        dumped["record"] = job_spec["record"]
        program = run[index]
        dumped |= _traffic_document(dumped["app"], job_spec["traffic"]) if program is None else program.document()
        dumped["placed"] = placed[index].reason
        document["job"].append(dumped)
    sources = [{"key": s.key, "value": s.value, "source": s.source} for s in system.sources]
    sources += [{"key": key, "value": _value_at(document, key), "source": text} for key, text in table.sources.items()]
    return {
        "name": path.stem,
        "scenario": document,
        "sources": sources,
        **({"notes": list(notes)} if notes else {}),
        "spec": spec,
    }


def _traffic_document(app: dict[str, Any], traffic: Mapping[str, Any]) -> dict[str, Any]:
    """The app of a job with a pattern, with what was decided."""
    app = app | {k: v for k, v in traffic["pattern"].items() if k != "name"}
    app["message"] = units.format_bytes(traffic["message_bytes"])
    if "jitter_ps" in traffic["arrival"]:
        app["jitter"] = units.format_time(traffic["arrival"]["jitter_ps"])
    return {"app": app}


def _dumped(routing: Routing) -> dict[str, Any]:
    return routing.model_dump(mode="json", exclude_none=True)


def _value_at(document: dict[str, Any], key: str) -> str:
    """The value under a dotted key as text, a table as its keys and values; empty if there is none, or a long list."""
    path = edit.path_of(document, key)
    here: Any = document
    for step in path or ():
        here = here[step]
    if path is None or isinstance(here, list):
        return ""
    if isinstance(here, dict):
        return ", ".join(f"{name} {value}" for name, value in here.items() if not isinstance(value, dict | list))
    return str(here).lower() if isinstance(here, bool) else str(here)
