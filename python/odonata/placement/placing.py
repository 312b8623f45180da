"""Selects nodes by a policy, and checks the result."""

from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from pathlib import Path
from typing import Any

from odonata.document.plain import plain
from odonata.errors import InputError, OdonataError, RunError, nearest, unknown
from odonata.machine import Shape, System
from odonata.machine import load as _load_system
from odonata.placement.free import Free
from odonata.placement.ids import format_ids, parse_ids
from odonata.placement.policy import COUNT, Freedom, Placement, Policy, Request
from odonata.placement.table import POLICIES


def read_options(policy: Policy, options: Mapping[str, Any]) -> dict[str, Any]:
    """The options as the policy uses them.

    Raises InputError for an unknown, wrong or missing option; its `path` is the option's name.
    """
    values = read_given(policy, options)
    for option in policy.options:
        if option.default is None and option.name not in values:
            raise InputError(f"`{policy.name}` needs `{option.name}`", hint=option.doc)
    return values


def read_given(policy: Policy, options: Mapping[str, Any]) -> dict[str, Any]:
    """As `read_options`, but options may be missing."""
    known = {option.name: option for option in policy.options}
    values = {}
    for name, value in options.items():
        if name not in known:
            error = unknown(f"option of `{policy.name}`", name, known)
            if nearest(name, [*known, "policy"]) == "policy":
                error.hint = "did you mean `policy`?"
            raise InputError(error.message, hint=error.hint, path=(name,))
        try:
            values[name] = known[name].read(plain(value))
        except InputError as e:
            message = f"`{name}`: {e.message}"
            raise InputError(message, file=e.file, line=e.line, hint=e.hint, path=(name,)) from None
    return values


class Placer:
    """A machine on which jobs are placed one after the other: each sees the nodes of earlier jobs as busy.

    The time for a job does not grow with the number of earlier jobs, except for policies that look at all of them.
    `release` makes the nodes of a job free again.

    Parameters
    ----------
    system
        The machine: a name, a table `[system]`, or loaded.
    busy
        Nodes that are taken, such as `"0-15,40"`.
    owners
        The job that holds a busy node, if known; jobs in the order of their placement.
    unusable
        Further nodes that no job can use, such as those that are down.

    Raises
    ------
    InputError
        For an unknown machine, and for a node that it does not have.
    """

    def __init__(
        self,
        system: str | Mapping[str, Any] | System | Shape,
        busy: Iterable[int] | str = (),
        owners: Mapping[int, str] | None = None,
        unusable: Iterable[int] = (),
    ) -> None:
        if not isinstance(system, Shape | System):
            system = _load_system(system)
        self._shape = shape = system if isinstance(system, Shape) else system.shape
        self._system = None if isinstance(system, Shape) else system
        self._failed = failed = frozenset(unusable).union(() if isinstance(system, Shape) else system.unusable_nodes)
        if not isinstance(busy, str):
            busy = list(busy)
            busy = busy if set(map(type, busy)) <= {int} else plain(busy)
        taken = set(parse_ids(busy, "busy nodes"))
        for node in (min(taken), max(taken)) if taken else ():
            shape.check_node(node)
        self._owners = dict(owners or {})
        self._busy = taken - failed
        idle = [node for node in range(shape.nodes) if node not in taken]
        self._free = Free(shape, [node for node in idle if node not in failed] if failed else idle)
        # A policy that names its nodes also sees failed ones, so that it can report them. Other policies avoid them.
        self._idle = Free(shape, idle) if failed else self._free

    def place(
        self,
        policy: str,
        nodes: int | None = None,
        options: Mapping[str, Any] | None = None,
        *,
        folder: str | Path = ".",
        owner: str | None = None,
    ) -> Placement:
        """Place a job; its nodes are busy from now on.

        Parameters
        ----------
        policy
            Name or alias of the policy.
        nodes
            Number of nodes; not needed by policies that name them.
        options
            The policy's own options, as in a scenario.
        folder
            The folder that files among the options are relative to.
        owner
            The name of the job, for policies and errors that name the owner of a busy node.

        Raises
        ------
        InputError
            For an unknown policy or option, and if there are not enough nodes. The machine does not change.
        RunError
            If the policy itself fails or returns invalid nodes.
        """
        chosen = POLICIES.find(policy)
        count: Any = plain(nodes)
        if count is not None and (isinstance(count, bool) or not isinstance(count, int) or count < 1):
            raise InputError(f"expected a number of nodes from 1 on, found `{nodes!r}`", path=COUNT)
        values = read_options(chosen, options or {})
        free = self._idle if chosen.freedom(values) is Freedom.NONE else self._free
        request = Request(
            self._shape, count, free.nodes, values, Path(folder), self._owners, self._busy, self._system, free
        )
        if chosen.provider:  # the policy may change its arguments
            request = replace(
                request, free=list(free.nodes), owners=dict(self._owners), busy=frozenset(self._busy), cut=None
            )
        placement = _ask(chosen, request)
        lost = sorted(self._failed.intersection(placement.nodes))
        if lost:
            what = f"node {lost[0]} cannot be used" if len(lost) == 1 else f"nodes {_short(lost)} cannot be used"
            raise InputError(f"{what}: {'its router has' if len(lost) == 1 else 'their routers have'} failed")
        placement = replace(placement, nodes=list(placement.nodes))
        self._take(placement.nodes, owner)
        return placement

    def release(self, nodes: Sequence[int]) -> None:
        """Release the nodes of a job; they are free from now on.

        Parameters
        ----------
        nodes
            Nodes that a job got from this placer.
        """
        self._free.give(nodes)
        if self._idle is not self._free:
            self._idle.give(nodes)
        self._busy.difference_update(nodes)
        for node in nodes:
            self._owners.pop(node, None)

    def copy(self) -> "Placer":
        """Another placer for the same machine in the same state."""
        other = copy(self)
        other._owners, other._busy, other._free = {**self._owners}, {*self._busy}, self._free.copy()
        other._idle = other._free if self._idle is self._free else self._idle.copy()
        return other

    def _take(self, nodes: list[int], owner: str | None) -> None:
        self._free.take(nodes)
        if self._idle is not self._free:
            self._idle.take(nodes)
        self._busy.update(nodes)
        if owner is not None:
            self._owners |= dict.fromkeys(nodes, owner)


def place(
    policy: str,
    system: str | Mapping[str, Any] | System | Shape,
    nodes: int | str | Sequence[int] | None = None,
    busy: Iterable[int] | str = (),
    folder: str | Path = ".",
    owners: Mapping[int, str] | None = None,
    **options: Any,
) -> Placement:
    """Select nodes of a machine by a placement policy.

    Parameters
    ----------
    policy
        Name of the policy, or an alias such as `RDG` (`odonata.placements` lists them).
    system
        The machine: a name, a table `[system]`, or loaded (`odonata.systems`).
    nodes
        Number of nodes. It may be left out for policies that name their nodes (`per-leaf`, layouts). For `explicit`,
        the nodes themselves: ids such as `"0-15,40"`, a list of them, or a file that holds them.
    busy
        Ids of nodes that are taken: numbers, or a text such as `"0-15,40"`.
    folder
        The folder that files among the options are relative to.
    owners
        Name of the job that holds a busy node, by the node's id; jobs in the order in which they were placed. Policies
        that look at other jobs use it (`contention-aware`, `start = "after-last"`).
    **options
        The policy's own options, as in a scenario (`odonata show POLICY`).

    Returns
    -------
    Placement
        Distinct free nodes in the order of the ranks, and the reason. Nodes on failed routers are never selected.

    Raises
    ------
    InputError
        For an unknown policy, machine or option, and if there are not enough nodes.
    RunError
        If a policy of another distribution fails or returns invalid nodes.

    Examples
    --------
    >>> import odonata as od
    >>> od.place("level-spread", system="zhang2018-272", nodes=6, busy=range(4))
    Placement(16,20,24,28,17,21: 6 nodes in group 1, ...)
    >>> od.place("explicit", system="tiny", nodes=[5, 0, 1]).nodes
    [5, 0, 1]
    """
    count: Any = plain(nodes)
    if count is not None and not isinstance(count, int | float):
        if any(option.name == "nodes" for option in POLICIES.find(policy).options):
            options, count = {"nodes": count, **options}, None
        elif isinstance(count, str | list):
            hint = "`explicit` takes a list of nodes"
            raise InputError(f"expected a number of nodes from 1 on, found `{nodes!r}`", hint=hint, path=COUNT)
    return Placer(system, busy, owners).place(policy, count, options, folder=folder)


def _ask(policy: Policy, request: Request) -> Placement:
    """The result of the policy, checked for the right number of distinct free nodes."""
    try:
        placement = policy.place(request)
    except OdonataError:
        raise
    except Exception as e:
        if not policy.provider:
            raise
        raise RunError(f"{_name(policy)} failed: {type(e).__name__}: {e}") from e
    broken = _broken_promise(placement, request)
    if broken:
        raise RunError(f"{_name(policy)} gave {broken}")
    return placement


def _broken_promise(answer: Any, request: Request) -> str | None:
    if not isinstance(answer, Placement) or not isinstance(answer.nodes, list):
        return "no placement"
    if not set(map(type, answer.nodes)) <= {int}:
        return "nodes that are not integers"
    nodes = set(answer.nodes)
    if len(nodes) != len(answer.nodes):
        return "some nodes twice"
    taken = sorted(node for node in nodes if not request.is_free(node))
    if taken:
        return f"nodes that are not free: {_short(taken)}"
    if request.count is not None and len(nodes) != request.count:
        return f"{len(nodes):,} nodes instead of {request.count:,}"
    return None if nodes else "no nodes"


def _name(policy: Policy) -> str:
    whose = f" of {policy.provider}" if policy.provider else ""
    return f"the placement policy `{policy.name}`{whose}"


def _short(nodes: list[int]) -> str:
    ids = format_ids(nodes)
    return ids if len(ids) <= 60 else f"{ids[:57].rpartition(',')[0]}, ..."
