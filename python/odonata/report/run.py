"""The report of a run, as one document for `payload.pack`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from odonata.blame import Explanation, causes_of
from odonata.blame.alone import recorded
from odonata.blame.programs import is_recorded, program_times
from odonata.blame.sentences import sentences
from odonata.machine.terms import not_modelled
from odonata.report.machine import machine_of
from odonata.report.ranking import ranking_of, subjects
from odonata.report.series import routes_of, series_of
from odonata.report.times import distributions, iterations_of, messages_of, traffic_of
from odonata.report.verdict import verdict
from odonata.store import columns_of
from odonata.store.summary import larger_packets, skipped
from odonata.units import format_time

if TYPE_CHECKING:
    from collections.abc import Sequence

    from odonata.blame import JobCauses
    from odonata.store import Run


_LISTS = ("bin_lower_ps", "bin_upper_ps", "bin_count")

IDEAL = "The switch inside a router is ideal: packets compete for links and buffers, and not for a crossbar."
"""The note of a report about ideal routers."""

NOT_MODELLED = (
    "A node accepts everything that arrives: no limit on its memory, and no flow control between processes.",
    "Links do not lose or repeat packets, and have one class of service.",
    "Computation takes the time that the scenario states. Operating system noise and file systems are left out.",
    "Numbers marked as assumed are not published. The results depend on them.",
)
"""What docs/model.md leaves out, in the words of a report."""

NO_SERIES = (
    "The load of links and the paths of packets are not recorded by job and by time. They are with `series = true` "
    'under `[measure]`; traffic between groups alone is with `links = { every = "5 us" }`.',
)
"""Results that a run folder does not have without a series."""


def run_document(run: Run) -> dict[str, Any]:
    """All that the report shows of a run.

    Raises InputError if a file of the run is damaged.
    """
    left_out: list[str] = []
    scenario = run.resolved.get("scenario", {})
    jobs = run.jobs
    rows = jobs.drop(_LISTS).to_dicts()
    described = scenario.get("job", [{}] * len(rows))
    machine = machine_of(run, left_out)
    causes = [] if run.blame.is_empty() else causes_of(run, run.blame)
    ranking = ranking_of(run, causes)
    for row, job in zip(rows, described, strict=True):
        row["app"], row["placed"], row["routing"] = job.get("app"), job.get("placed"), job.get("routing")
    return {
        "name": str(run.resolved.get("name") or (run.path.name if run.path else "run")),
        "title": str(scenario.get("title") or ""),
        "subjects": subjects(run, ranking),
        "ranking": ranking,
        "id": run.id,
        "seed": run.seed,
        "version": str(run.manifest["version"]),
        "engine": run.engine,
        "sim_time_ps": run.manifest["sim_time_ps"],
        "verdict": verdict(run),
        "facts": _facts(run),
        "command": "odonata run scenario.toml" + (" --alone" if run.manifest["alone"] else ""),
        "scenario": run.scenario,
        "sources": [dict(source) for source in run.resolved.get("sources", ())],
        "not_modelled": (*_ideal(run), *_of_network(run), *NOT_MODELLED),
        "not_recorded": NO_SERIES[: run.series.is_empty()],
        "meanings": {
            column.name: column.meaning
            for column in columns_of("jobs", collective=True, reordering=True)
            if column.name not in _LISTS
        },
        "link_classes": list(run.manifest.get("link_classes", ())),
        "jobs": rows,
        "flows": [
            {"job": job["name"], "by_size": job["flows"]["by_size"]} for job in run.summary["jobs"] if job.get("flows")
        ],
        "distributions": distributions(jobs),
        "messages": messages_of(run, left_out),
        "traffic": traffic_of(run, left_out),
        "iterations": iterations_of(run, left_out),
        "blame": blame_of(run, causes),
        "machine": machine,
        "series": series_of(run, machine["links"], left_out),
        "routes": routes_of(run),
        "left_out": left_out,
    }


def _facts(run: Run) -> list[tuple[str, str]]:
    scenario = run.resolved.get("scenario", {})
    system, routing = scenario.get("system", {}), scenario.get("routing", {})
    options = ", ".join(f"{key} {value}" for key, value in routing.items() if key != "name")
    facts = [
        ("system", " ".join(filter(None, (str(system.get("name", "")), _bracketed(str(system.get("title", ""))))))),
        ("routing", str(routing.get("name", "")) + (f" ({options})" if options else "")),
        ("seed", str(run.seed)),
        ("simulated time", format_time(int(run.manifest["sim_time_ps"]), 4)),
        ("packet-hops", f"{run.manifest['packet_hops']:,}"),
        *(("note", text) for text in [*skipped(run.summary), *larger_packets(run.summary)]),
        ("run", run.id),
        ("version", f"{run.manifest['version']}, engine {run.engine}"),
        *(("note", str(note)) for note in run.resolved.get("notes", ())),
    ]
    return [(name, value) for name, value in facts if value]


def _ideal(run: Run) -> list[str]:
    router = run.resolved["spec"].get("fabric", {}).get("router", {})
    return [] if router.get("kind", "ideal") != "ideal" else [IDEAL]


def _of_network(run: Run) -> tuple[str, ...]:
    """What the real network has and the model has not."""
    system = run.resolved.get("scenario", {}).get("system", {})
    control = run.resolved["spec"].get("fabric", {}).get("congestion_control", {}).get("law")
    return not_modelled(system.get("interconnect"), control if isinstance(control, str) else None)


def _bracketed(text: str) -> str:
    return f"({text})" if text else ""


def blame_of(run: Run, jobs: Sequence[JobCauses]) -> dict[str, Any] | None:
    """Sentences on the jobs that are not background, with their critical paths if the run has recorded what they need;
    causes and places of all jobs. `None` if nothing was recorded."""
    if run.blame.is_empty():
        return None
    causes = [cause for job in jobs for cause in job.causes]
    places = [(cause, place) for cause in causes for place in cause.places]
    waiting = {job.job: job.waiting_ps for job in jobs}
    shown = [number for number, job in enumerate(jobs) if not job.background]
    programs = [n for n in shown if "program" in run.resolved["spec"]["jobs"][n] and is_recorded(run, n)]
    times, _ = program_times(run, programs, run.operations, run.messages)
    front = tuple(jobs[n] for n in shown)
    return {
        "sentences": sentences(Explanation(run.id, front, (), times, beside=recorded(run, front))),
        "classes": list(dict.fromkeys(class_ for cause in causes for class_ in sorted(cause.by_class))),
        "causes": [
            {"victim": of.victim, "cause": of.cause, "share": of.share, "ps": of.ps, "by_class": of.by_class}
            for of in causes
        ],
        "places": [
            {
                "victim": cause.victim,
                "cause": cause.cause,
                "class": place.class_,
                "where": place.name,
                "share": place.ps / waiting[cause.victim],
                "links": place.links,
                "worst": place.worst,
            }
            for cause, place in places
        ],
    }
