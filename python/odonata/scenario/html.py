"""A scenario in a notebook: its machine, and a table of its jobs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from odonata.errors import InputError
from odonata.scenario.words import application
from odonata.scenario.words import routing as word_of
from odonata.text import Column, Table, html

if TYPE_CHECKING:
    from odonata.scenario.scenario import Scenario

MOST = 20
"""Jobs that are listed at most. Assumed: a table is still seen at a glance."""


def as_html(scenario: Scenario) -> str:
    """The machine and the jobs; of a scenario that cannot be simulated, why."""
    try:
        document = scenario.resolve().document["scenario"]
    except InputError as e:
        return html([f"This scenario cannot be simulated: {e.message}.", e.hint or ""])
    jobs = document["job"]
    system, routing = document["system"]["name"], word_of(document["routing"])
    told = [f"{document['title']}." if document.get("title") else ""]
    told.append(f"{len(jobs)} job{'' if len(jobs) == 1 else 's'} on {system}, routing {routing}.")
    names = ("job", "application", "nodes", "placed", "")
    columns = [Column(name, name == "nodes") for name in names]
    rows = [
        [
            job["name"],
            application(job["app"]),
            f"{job['nodes']:,}",
            job.get("placed") or "-",
            "background" if job.get("background") else "",
        ]
        for job in jobs[:MOST]
    ]
    more = [f"... and {len(jobs) - MOST:,} jobs more"] if len(jobs) > MOST else []
    return html([*told, *more], [Table(columns, rows)])
