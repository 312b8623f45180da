"""Who makes each job wait most, and at which links."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from odonata.blame.causes import Place
from odonata.machine.terms import group_name

if TYPE_CHECKING:
    from collections.abc import Mapping

    from odonata.store import Run
    from odonata.workload.names import Names

_ENDS = ("from_kind", "from_id", "from_group", "to_kind", "to_id", "to_group")


@dataclass(frozen=True)
class Neighbour:
    """The job that makes another one wait most."""

    job: str
    share: float
    """Part of the time for which its packets wait; they also wait for packets of their own job."""
    share_of_others: float
    """Part of the time for which they wait for packets of other jobs."""
    place: Place
    """Where they wait most for it."""
    link: str
    """The link there at which they wait most, with the names of its ends."""
    named: bool
    """Whether the name of one of them is known."""

    @property
    def where(self) -> str:
        """The link by its names, or else the groups."""
        if self.named:
            return f"{self.link} ({self.place.class_})"
        between = self.place.from_group != self.place.to_group
        return f"links {'from ' if between else ''}{self.place.name} ({self.place.class_})"


def neighbours(run: Run, names: Names | None) -> dict[int, Neighbour]:
    """The worst neighbour of each job that waits for another, by the number of the job."""
    jobs = run.jobs["name"].to_list()
    word = group_name(run.resolved["spec"]["topology"]["kind"])
    waits = run.blame.filter(pl.col("wait") != "service")
    whole = dict(waits.group_by("victim").agg(pl.col("time_ps").sum()).iter_rows())
    others = waits.filter(pl.col("victim") != pl.col("cause"))
    for_others = dict(others.group_by("victim").agg(pl.col("time_ps").sum()).iter_rows())
    sums = others.group_by("victim", "cause").agg(pl.col("time_ps").sum())
    ordered = sums.sort(["victim", "time_ps", "cause"], descending=[False, True, False])
    worst = ordered.group_by("victim", maintain_order=True).first()
    ends = run.links.select("link", *_ENDS)
    hosts = {} if names is None else {number: name for name, number in names.nodes.items()}
    switches = {} if names is None else names.routers
    worst_of = {}
    for victim, cause, ps in worst.iter_rows():
        rows = others.filter((pl.col("victim") == victim) & (pl.col("cause") == cause)).join(ends, on="link")
        links = rows.group_by("link", "class", *_ENDS).agg(pl.col("time_ps").sum())
        by_link = links.sort(["time_ps", "link"], descending=[True, False])
        keys = ["class", "from_group", "to_group"]
        first = [pl.col(name).first() for name in ("from_kind", "from_id", "to_kind", "to_id")]
        places = by_link.group_by(keys, maintain_order=True).agg(
            pl.col("time_ps").sum(), pl.len().alias("many"), *first
        )
        row = places.sort(["time_ps", *keys], descending=[True, False, False, False]).row(0, named=True)
        link, named = _link(row, hosts, switches)
        place = Place(row["class"], row["from_group"], row["to_group"], row["many"], link, int(row["time_ps"]), word)
        worst_of[int(victim)] = Neighbour(jobs[cause], ps / whole[victim], ps / for_others[victim], place, link, named)
    return worst_of


def _link(row: Mapping[str, Any], hosts: Mapping[int, str], switches: Mapping[int, str]) -> tuple[str, bool]:
    """The ends of a link, and whether the name of one of them is known."""
    ends, named = [], False
    for end in ("from", "to"):
        kind, number = row[f"{end}_kind"], row[f"{end}_id"]
        name = (hosts if kind == "node" else switches).get(number)
        ends.append(name or f"{kind} {number}")
        named |= name is not None
    return " to ".join(ends), named
