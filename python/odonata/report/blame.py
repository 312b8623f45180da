"""Who makes whom wait, if the run has recorded it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from odonata.blame import Explanation, causes_of
from odonata.blame.programs import is_recorded, program_times
from odonata.blame.sentences import sentences

if TYPE_CHECKING:
    from odonata.store import Run


def blame_of(run: Run) -> dict[str, Any] | None:
    """Sentences on the jobs that are not background, with their critical paths if the run has recorded what they need;
    causes and places of all jobs. `None` if nothing was recorded."""
    if run.blame.is_empty():
        return None
    jobs = causes_of(run, run.blame)
    causes = [cause for job in jobs for cause in job.causes]
    places = [(cause, place) for cause in causes for place in cause.places]
    waiting = {job.job: job.waiting_ps for job in jobs}
    shown = [number for number, job in enumerate(jobs) if not job.background]
    programs = [n for n in shown if "program" in run.resolved["spec"]["jobs"][n] and is_recorded(run, n)]
    times, _ = program_times(run, programs, run.operations, run.messages)
    return {
        "sentences": sentences(Explanation(run.id, tuple(jobs[n] for n in shown), (), times)),
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
