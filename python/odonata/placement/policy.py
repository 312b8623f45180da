"""Policies, what they are asked and what they answer, and options that several of them have."""

from bisect import bisect_left
from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass, field
from enum import IntEnum
from pathlib import Path
from typing import Any

from odonata.errors import Attributes, InputError, unknown
from odonata.machine import Shape, System
from odonata.placement.free import Free, has
from odonata.placement.ids import format_ids, parse_ids

#: Path of errors about the number of nodes, which is not an option of a policy.
COUNT = ("count",)


@dataclass(frozen=True, repr=False)
class Placement(Attributes):
    """The nodes of a job, and the reason for them.

    Attributes
    ----------
    nodes
        Ids of the nodes, in the order of the ranks.
    reason
        The reason for these nodes, as text.

    Examples
    --------
    >>> import odonata as od
    >>> od.place("contiguous", system="tiny", nodes=3).nodes
    [0, 1, 2]
    """

    nodes: list[int]
    reason: str

    def __repr__(self) -> str:
        ids = format_ids(self.nodes)
        return f"Placement({ids if len(ids) <= 60 else ids[:57] + '...'}: {self.reason})"


class Freedom(IntEnum):
    """The freedom of a job's placement; jobs with less freedom are placed first."""

    NONE = 0
    """The nodes themselves are named."""
    LEAF = 1
    """A number of nodes of every leaf."""
    GROUPS = 2
    """Anywhere in some groups."""
    ANYWHERE = 3
    """Anywhere."""


@dataclass(frozen=True)
class Option:
    """An option of a policy. `read` turns the value as given into the value as used."""

    name: str
    doc: str
    read: Callable[[Any], Any]
    default: str | None = None
    """The effect of leaving it out, as text; None if it must be given."""


@dataclass(frozen=True)
class Request:
    """A request to a policy: a number of nodes, out of the free nodes (ascending)."""

    shape: Shape
    count: int | None
    free: list[int]
    options: Mapping[str, Any]
    folder: Path = field(default_factory=Path)
    owners: dict[int, str] = field(default_factory=dict)
    """The job that holds a busy node, if known; jobs in the order of their placement."""
    busy: Set[int] = frozenset()
    """Nodes that other jobs hold. A node that is neither free nor busy has failed."""
    system: System | None = None
    """The machine with its links, if it is known."""
    cut: Free | None = None
    """All free nodes by router and by group, if already computed; `room` returns it."""

    def is_free(self, node: int) -> bool:
        """Whether a node is among the free ones."""
        return has(self.free, node)

    def taken(self, node: int, where: str = "") -> InputError:
        """The error for a node that is not free."""
        owner = f" by job `{self.owners[node]}`" if node in self.owners else ""
        return InputError(f"node {node}{where} is already taken{owner}")

    def wanted(self) -> int:
        """The number of nodes. Raises InputError if none was given."""
        if self.count is None:
            raise InputError("the number of nodes is missing", path=COUNT)
        return self.count

    def enough(self, free: list[int], where: str) -> list[int]:
        """`free`, if it holds as many nodes as wanted; otherwise raises InputError."""
        if len(free) < self.wanted():
            message = f"{self.wanted():,} nodes do not fit: only {len(free):,} are free {where}"
            raise InputError(message, path=COUNT)
        return free

    def room(self) -> tuple[Free, str]:
        """The free nodes of the requested groups (option `groups`), and a text that says where they are.

        Raises InputError if they are fewer than wanted.
        """
        free, where = self.within(self.options.get("groups"))
        free = self.enough(free, where)
        return self.cut if self.cut is not None and free is self.cut.nodes else Free(self.shape, free), where

    def within(self, groups: list[int] | None) -> tuple[list[int], str]:
        """Free nodes of the groups (of the whole machine for None), and a text for it."""
        if groups is None:
            return self.free, "anywhere"
        for group in groups:
            self.shape.check_group(group)
        chosen = sorted(set(groups))
        free = []
        for group in chosen:
            nodes = self.shape.nodes_in(group)
            free += self.free[bisect_left(self.free, nodes.start) : bisect_left(self.free, nodes.stop)]
        text = format_ids(chosen)
        return free, f"in {self.shape.group_name}{'' if len(chosen) == 1 else 's'} {text}"


@dataclass(frozen=True)
class Policy:
    """A placement policy, as listed in the table of `odonata.placement`."""

    name: str
    summary: str
    rank_order: str
    options: tuple[Option, ...]
    place: Callable[[Request], Placement]
    freedom: Callable[[Mapping[str, Any]], Freedom]
    counts_itself: bool = False
    """Whether the options alone can determine the number of nodes."""
    aliases: tuple[str, ...] = ()
    """Other names, such as the literature's acronym."""
    needs_links: bool = False
    """Whether it looks at the links of the machine, and not only at its routers and groups."""
    provider: str = ""
    """The distribution that provides it; empty for Odonata's own."""

    @property
    def seeded(self) -> bool:
        """Whether it uses random numbers, so that its nodes depend on a seed."""
        return any(option.name == "seed" for option in self.options)


def groups_option(default: str | None) -> Option:
    """The option `groups`: a range of groups such as "3-8"."""
    return Option("groups", 'groups to stay in, such as "3-8" or [0, 2]', read_groups, default)


def whole_number(what: str, least: int, most: int) -> Callable[[Any], int]:
    """A reader of whole numbers in a range."""

    def read(value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, int):
            raise InputError(f"expected {what}, found `{value!r}`")
        if not least <= value <= most:
            upper = "2^64 - 1" if most == 2**64 - 1 else f"{most}"
            raise InputError(f"expected {what} from {least} to {upper}, found {value}")
        return value

    return read


def read_groups(value: Any) -> list[int]:
    """Groups, ascending, each once. Raises InputError for anything else."""
    groups = parse_ids(value, "groups")
    if not groups:
        raise InputError("no groups are named", hint='for example groups = "3-8"')
    return sorted(set(groups))


#: The seed of a draw outside a scenario.
DEFAULT_SEED = 1

#: The groups to use.
GROUPS = groups_option("the whole machine")

#: The seed of a policy that draws.
SEED = Option(
    "seed",
    "seed of the draw",
    whole_number("a seed", 0, 2**64 - 1),
    "in a scenario from the run's seed and the job's number, else 1",
)


def one_of(*words: str) -> Callable[[Any], str]:
    """A reader of one of these words."""

    def read(value: Any) -> str:
        if not isinstance(value, str):
            raise InputError(f"expected one of {', '.join(words)}, found `{value!r}`")
        if value not in words:
            raise unknown("value", value, words)
        return value

    return read


def yes_or_no(value: Any) -> bool:
    """Reads true or false."""
    if not isinstance(value, bool):
        raise InputError(f"expected true or false, found `{value!r}`")
    return value


#: The start of a round robin.
START = Option(
    "start",
    "where the round robin begins: `first` (group or router 0), or `after-last` (after the last node of "
    "the job placed before)",
    one_of("first", "after-last"),
    "first",
)


def freedom(options: Mapping[str, Any]) -> Freedom:
    """The freedom of a policy that only `groups` limits."""
    return Freedom.GROUPS if "groups" in options else Freedom.ANYWHERE
