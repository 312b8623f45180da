"""Asking a policy for nodes, and holding it to its promises."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from odonata.errors import InputError, OdonataError, RunError, unknown
from odonata.machine import Shape, System
from odonata.machine import load as _load_system
from odonata.placement.ids import format_ids, parse_ids
from odonata.placement.policy import COUNT, Freedom, Placement, Policy, Request
from odonata.placement.table import POLICIES


def read_options(policy: Policy, options: Mapping[str, Any]) -> dict[str, Any]:
    """The options as the policy uses them.

    Raises InputError for an unknown, wrong or missing option; its `path` is the option's name.
    """
    known = {option.name: option for option in policy.options}
    values = {}
    for name, value in options.items():
        if name not in known:
            error = unknown(f"option of `{policy.name}`", name, known)
            raise InputError(error.message, hint=error.hint, path=(name,))
        try:
            values[name] = known[name].read(value)
        except InputError as e:
            message = f"`{name}`: {e.message}"
            raise InputError(message, file=e.file, line=e.line, hint=e.hint, path=(name,)) from None
    for option in policy.options:
        if option.default is None and option.name not in values:
            raise InputError(f"`{policy.name}` needs `{option.name}`", hint=option.doc)
    return values


def place(
    policy: str,
    system: str | Mapping[str, Any] | System | Shape,
    count: int | None = None,
    busy: Iterable[int] | str = (),
    folder: str | Path = ".",
    owners: Mapping[int, str] | None = None,
    **options: Any,
) -> Placement:
    """Asks a policy for `count` nodes of a machine, of which the `busy` ones are taken.

    `policy` may be an alias (`RDG`). `count` may be left out for policies that name their nodes (`per-leaf`,
    `explicit`, layouts). `options` are the policy's own, as in a scenario; a file among them is relative to `folder`.
    `owners` may say which job holds a busy node, jobs in the order in which they were placed. The nodes come in the
    order of the ranks, distinct and free; those whose router has failed are never given.

    Raises InputError for an unknown policy or option, and if the nodes cannot be had; RunError if the policy itself
    fails or breaks its promises.
    """
    if not isinstance(system, Shape | System):
        system = _load_system(system)
    shape = system if isinstance(system, Shape) else system.shape
    failed = frozenset(() if isinstance(system, Shape) else system.unusable_nodes)
    chosen = POLICIES.find(policy)
    given: Any = count
    if given is not None and (isinstance(given, bool) or not isinstance(given, int) or given < 1):
        raise InputError(f"expected a number of nodes from 1 on, found `{given!r}`", path=COUNT)
    taken = set(parse_ids(busy, "busy nodes") if isinstance(busy, str) else busy)
    for node in taken:
        shape.check_node(node)
    values = read_options(chosen, options)
    # A policy that names its nodes is told which of them have failed; others go round them.
    gone = taken if chosen.freedom(values) is Freedom.NONE else taken | failed
    free = [node for node in range(shape.nodes) if node not in gone] if gone else list(range(shape.nodes))
    request = Request(shape, count, free, values, Path(folder), owners or {}, frozenset(taken - failed))
    found = _ask(chosen, request)
    lost = sorted(failed.intersection(found.nodes))
    if lost:
        what = f"node {lost[0]} cannot be used" if len(lost) == 1 else f"nodes {_short(lost)} cannot be used"
        raise InputError(f"{what}: {'its router has' if len(lost) == 1 else 'their routers have'} failed")
    return found


def _ask(policy: Policy, request: Request) -> Placement:
    """What the policy answers, if it is distinct free nodes of the right number."""
    try:
        found = policy.place(request)
    except OdonataError:
        raise
    except Exception as e:
        if not policy.provider:
            raise
        raise RunError(f"{_name(policy)} failed: {type(e).__name__}: {e}") from e
    broken = _broken_promise(found, request)
    if broken:
        raise RunError(f"{_name(policy)} gave {broken}")
    return found


def _broken_promise(found: Any, request: Request) -> str | None:
    if not isinstance(found, Placement) or not isinstance(found.nodes, list):
        return "no placement"
    if not set(map(type, found.nodes)) <= {int}:
        return "nodes that are no integers"
    nodes = set(found.nodes)
    if len(nodes) != len(found.nodes):
        return "some nodes twice"
    if not nodes.issubset(request.free):
        return f"nodes that are not free: {_short(sorted(nodes.difference(request.free)))}"
    if request.count is not None and len(nodes) != request.count:
        return f"{len(nodes):,} nodes instead of {request.count:,}"
    return None if nodes else "no nodes"


def _name(policy: Policy) -> str:
    whose = f" of {policy.provider}" if policy.provider else ""
    return f"the placement policy `{policy.name}`{whose}"


def _short(nodes: list[int]) -> str:
    ids = format_ids(nodes)
    return ids if len(ids) <= 60 else f"{ids[:57].rpartition(',')[0]}, ..."
