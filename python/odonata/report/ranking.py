"""Who suffers most: the jobs of a run in the order in which a report shows them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from odonata.scenario.words import application

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from odonata.blame import JobCauses
    from odonata.store import Run

FRONT = 10
"""Jobs that have a colour and a row of their own; the others are drawn together. `web/src/colours.ts` has as many."""
_CAUSES = 3
"""Jobs that are named as causes at most."""
_LEAST = 0.0005
"""Share of a job's waiting below which a cause is not named: it would be shown as 0.0 %."""


def ranking_of(run: Run, causes: Sequence[JobCauses]) -> list[dict[str, Any]]:
    """All jobs, those first that suffer most from the others.

    First come the jobs whose time alone is known, by their slowdown. Then the others follow, by the part of their
    packets' time that is waiting for packets of other jobs, and after these by their nodes. `causes` is empty if the
    run has not recorded who makes whom wait.
    """
    described = run.resolved.get("scenario", {}).get("job") or [{}] * run.jobs.height
    waits = {of.job: of for of in causes}
    rows = []
    jobs = zip(run.jobs.select("name", "nodes", "background", "slowdown").iter_rows(named=True), described, strict=True)
    for number, (job, given) in enumerate(jobs):
        of = waits.get(job["name"])
        others = [cause for cause in of.causes if cause.cause != of.job] if of else []
        rows.append(
            {
                "job": number,
                "about": given.get("about"),
                "application": application(given.get("app") or {}),
                "slowdown": job["slowdown"],
                "waits": of.waiting_share if of else None,
                "for_others": sum(cause.share for cause in others) * of.waiting_share if of else None,
                "by": [[cause.cause, cause.share] for cause in others[:_CAUSES] if cause.share >= _LEAST],
            }
        )
    nodes = run.jobs["nodes"].to_list()
    background = run.jobs["background"].to_list()
    order = (
        lambda row: row["slowdown"] is None,
        lambda row: -(row["slowdown"] or 0.0),
        lambda row: background[row["job"]],
        lambda row: -(row["for_others"] or 0.0),
        lambda row: -nodes[row["job"]],
        lambda row: row["job"],
    )
    return sorted(rows, key=lambda row: tuple(of(row) for of in order))


def subjects(run: Run, ranking: Sequence[Mapping[str, Any]]) -> list[str]:
    """What the jobs are that the run waits for: who runs them, which application, on how many nodes."""
    jobs = run.jobs.select("name", "nodes", "background").rows(named=True)
    shown = [row for row in ranking if not jobs[row["job"]]["background"]]
    if len(shown) > _CAUSES or not (len(jobs) > FRONT or any(row["about"] for row in shown)):
        return []
    others = len(jobs) - len(shown)
    machine = run.resolved.get("scenario", {}).get("system", {}).get("name", "")
    beside = f"; {others} other job{'' if others == 1 else 's'} on {machine}" if others and machine else ""
    return [_subject(jobs[row["job"]], row) + beside for row in shown]


def _subject(job: Mapping[str, Any], row: Mapping[str, Any]) -> str:
    nodes = f"{job['nodes']:,} node{'' if job['nodes'] == 1 else 's'}"
    told = [text for text in (row["about"], " on ".join(filter(None, (row["application"], nodes)))) if text]
    return f"`{job['name']}`: {'; '.join(told)}"
