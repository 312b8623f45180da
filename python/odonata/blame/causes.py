"""The causes of the waiting of each job, ranked, with the places where it waits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from odonata.machine.terms import group_name

if TYPE_CHECKING:
    from collections.abc import Collection

    from odonata.store import Run

PLACES = 5
"""Most places that are listed for a cause."""
ROOM = "room"
"""The kind of wait that has a root: waiting for room in a buffer."""
MOST = 0.8
"""The named groups explain at least this share of the waiting (assumed)."""


@dataclass(frozen=True, slots=True)
class Place:
    """A place: links of one class, between two groups or inside one, where packets of a job wait for those of
    another."""

    class_: str
    """Class of the links."""
    from_group: int | None
    """Group of their senders; None for routers that belong to none, such as the cores of a fat tree."""
    to_group: int | None
    """Group of their receivers, likewise."""
    links: int
    """Number of links at which packets wait."""
    worst: str
    """The two ends of the link with the longest waiting."""
    ps: int
    """Waiting of the victim's packets for the cause at this place, in picoseconds."""
    group_name: str = "group"
    """The name of a group on this machine, such as `pod`."""

    @property
    def name(self) -> str:
        """The links in words."""
        if self.from_group != self.to_group:
            return f"{self.name_of(self.from_group)} to {self.name_of(self.to_group)}"
        return f"in {self.name_of(self.from_group)}"

    def name_of(self, group: int | None) -> str:
        """A group of this machine in words."""
        if group is not None:
            return f"{self.group_name} {group}"
        return "cores" if self.group_name == "pod" else "routers outside groups"


@dataclass(frozen=True, slots=True)
class Cause:
    """The waiting of one job for another."""

    victim: str
    """The job that waits."""
    cause: str
    """The job that it waits for, which may be the victim itself."""
    ps: int
    """Time, summed over the packets of the victim, in picoseconds."""
    share: float
    """Share of the victim's waiting."""
    by_class: dict[str, int]
    """The time by class of link, in picoseconds, longest first."""
    by_wait: dict[str, int]
    """The time by kind of waiting (the kinds of docs/model.md, section 9), in picoseconds, longest first."""
    groups: tuple[int, ...]
    """The smallest set of groups whose links explain 4/5 of the time between routers; empty without such time."""
    all_groups: int
    """Number of groups of the machine."""
    places: tuple[Place, ...]
    """The places with the longest waiting, longest first."""


@dataclass(frozen=True, slots=True)
class JobCauses:
    """The time of a job's packets, by cause."""

    job: str
    """Name of the job."""
    background: bool
    """Whether it runs only until the other jobs are done."""
    waiting_ps: int
    """Waiting of all its packets, in picoseconds."""
    service_ps: int
    """Time of its packets without waiting, in picoseconds."""
    causes: tuple[Cause, ...]
    """The jobs that its packets wait for, longest first, with the job itself."""
    roots: tuple[Cause, ...] = ()
    """The roots of the chains of full buffers that its packets wait for, by the job that occupies the links there,
    longest first. Shares are of the waiting for room. Empty if roots were not recorded."""
    congestion_control: str | None = None
    """The congestion control of the run (`fabric.congestion_control.kind`); `None` without one."""

    @property
    def waiting_share(self) -> float:
        """Share of the packets' time that is waiting."""
        whole = self.waiting_ps + self.service_ps
        return self.waiting_ps / whole if whole else 0.0


def causes_of(
    run: Run, blame: pl.DataFrame, roots: pl.DataFrame | None = None, *, jobs: Collection[int] | None = None
) -> list[JobCauses]:
    """Rank the causes of the waiting of jobs.

    Parameters
    ----------
    run
        The run.
    blame
        Its table `blame`.
    roots
        Its table `roots`, if it has one.
    jobs
        The indices of these jobs; by default all.

    Returns
    -------
    list of JobCauses
        In the order of the scenario.
    """
    names = run.jobs["name"].to_list()
    ends = run.links.select("link", *_ENDS)
    rows = blame.join(ends, on="link", how="left")
    chains = (run.roots if roots is None else roots).join(ends, on="link", how="left").with_columns(wait=pl.lit(ROOM))
    groups = 1 + max(int(run.links["from_group"].max() or 0), int(run.links["to_group"].max() or 0))  # type: ignore[arg-type]
    word = group_name(run.resolved["spec"]["topology"]["kind"])
    control = law_of(run.resolved["spec"]["fabric"])
    causes = []
    for number, (name, background) in enumerate(run.jobs.select("name", "background").iter_rows()):
        if jobs is not None and number not in jobs:
            continue
        own = rows.filter(pl.col("victim") == number)
        waits = own.filter(pl.col("wait") != "service")
        waiting = int(waits["time_ps"].sum())
        service = int(own.filter(pl.col("wait") == "service")["time_ps"].sum())
        ends_of = chains.filter(pl.col("victim") == number)
        causes.append(
            JobCauses(
                name,
                background,
                waiting,
                service,
                _ranked(waits, name, names, groups, word),
                _ranked(ends_of, name, names, groups, word),
                control,
            )
        )
    return causes


def law_of(fabric: dict[str, Any]) -> str | None:
    """The congestion control of a resolved fabric; None without one."""
    law = (fabric.get("congestion_control") or {}).get("law")
    return law if law is None or isinstance(law, str) else next(iter(law))


def _ranked(rows: pl.DataFrame, victim: str, names: list[str], groups: int, word: str) -> tuple[Cause, ...]:
    """The causes of rows of a victim, longest first."""
    whole = int(rows["time_ps"].sum())
    causes = [
        _cause(rows.filter(pl.col("cause") == cause), victim, names[cause], whole, groups, word)
        for cause in rows["cause"].unique().sort()
    ]
    return tuple(sorted(causes, key=lambda cause: -cause.ps))


_ENDS = ("from_kind", "from_id", "from_port", "from_group", "to_kind", "to_id", "to_group")


def _cause(rows: pl.DataFrame, victim: str, cause: str, waiting: int, groups: int, word: str) -> Cause:
    ps = int(rows["time_ps"].sum())
    sums = rows.group_by("link", "class", *_ENDS).agg(pl.col("time_ps").sum())
    by_link = sums.sort(["time_ps", "link"], descending=[True, False])
    return Cause(
        victim,
        cause,
        ps,
        ps / waiting if waiting else 0.0,
        _sums(rows, "class"),
        _sums(rows, "wait"),
        groups_of(by_link),
        groups,
        _places(by_link, word),
    )


def _places(by_link: pl.DataFrame, word: str) -> tuple[Place, ...]:
    keys = ["class", "from_group", "to_group"]
    # Links are sorted by their time, so the first of each place is the worst.
    first = [pl.col(name).first() for name in ("from_kind", "from_id", "from_port", "to_kind", "to_id")]
    sums = by_link.group_by(keys, maintain_order=True).agg(pl.col("time_ps").sum(), pl.len().alias("links"), *first)
    longest = sums.sort(["time_ps", *keys], descending=[True, False, False, False]).head(PLACES)
    return tuple(
        Place(row["class"], row["from_group"], row["to_group"], row["links"], _name(row), row["time_ps"], word)
        for row in longest.iter_rows(named=True)
    )


def _sums(rows: pl.DataFrame, column: str) -> dict[str, int]:
    sums = rows.group_by(column).agg(pl.col("time_ps").sum()).sort(["time_ps", column], descending=[True, False])
    return {name: int(ps) for name, ps in sums.iter_rows()}


def groups_of(by_link: pl.DataFrame) -> tuple[int, ...]:
    """The smallest set of groups whose outgoing links explain most of the time `time_ps` of links between routers."""
    between = by_link.filter(
        (pl.col("from_kind") == "router") & (pl.col("to_kind") == "router") & pl.col("from_group").is_not_null()
    )
    sums = (
        between.group_by("from_group")
        .agg(pl.col("time_ps").sum())
        .sort(["time_ps", "from_group"], descending=[True, False])
    )
    groups: list[int] = []
    left = MOST * float(between["time_ps"].sum())
    for group, ps in sums.iter_rows():
        if left <= 0:
            break
        groups.append(int(group))
        left -= ps
    return tuple(sorted(groups))


def _name(row: dict[str, object]) -> str:
    sender = (
        f"node {row['from_id']}" if row["from_kind"] == "node" else f"router {row['from_id']} port {row['from_port']}"
    )
    return f"{sender} to {row['to_kind']} {row['to_id']}"
