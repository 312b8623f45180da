"""Who makes whom wait, if the run has recorded it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from odonata.blame import Explanation, causes_of
from odonata.blame.sentences import sentences

if TYPE_CHECKING:
    from odonata.store import Run


def blame_of(run: Run) -> dict[str, Any] | None:
    """Sentences on the jobs that are not background; causes and places of all jobs. `None` if nothing was recorded."""
    if run.blame.is_empty():
        return None
    jobs = causes_of(run, run.blame)
    causes = [cause for job in jobs for cause in job.causes]
    places = [(cause, place) for cause in causes for place in cause.places]
    waiting = {job.job: job.waiting_ps for job in jobs}
    return {
        "sentences": sentences(Explanation(run.id, tuple(job for job in jobs if not job.background), ())),
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
