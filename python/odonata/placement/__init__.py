"""Placement: which free nodes a job gets, and why.

A policy is a pure function of the shape of the machine, the free nodes, the number of nodes and its
options; it needs no simulator and draws its random numbers from its own generator, so that a layout stays
what it is. One file a policy under `policies/`, listed in `POLICIES`; the fixed layouts of papers
(`layouts/`) are used in the same way.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from odonata.errors import InputError, unknown
from odonata.machine import Shape, System
from odonata.machine import load as _load_system
from odonata.placement.ids import format_ids, parse_ids
from odonata.placement.layouts import LAYOUTS
from odonata.placement.policies import contiguous, explicit, per_leaf, random
from odonata.placement.policy import COUNT, Freedom, Option, Placement, Policy, Request

#: All policies, in the order in which they are listed, and the layouts after them.
POLICIES: dict[str, Policy] = {
    policy.name: policy
    for policy in (
        contiguous.POLICY,
        random.POLICY,
        per_leaf.POLICY,
        explicit.POLICY,
        *(layout.policy() for layout in LAYOUTS.values()),
    )
}


def names() -> list[str]:
    """Names of the policies and of the fixed layouts."""
    return list(POLICIES)


def get(name: str) -> Policy:
    """The policy of that name. Raises InputError if there is none."""
    if name not in POLICIES:
        raise unknown("placement policy", name, POLICIES)
    return POLICIES[name]


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

    `count` may be left out for policies that name their nodes (`per-leaf`, `explicit`, layouts). `options`
    are the policy's own, as in a scenario; a file among them is relative to `folder`. `owners` may say which
    job holds a busy node. The nodes come in the order of the ranks, distinct and free.

    Raises InputError for an unknown policy or option, and if the nodes cannot be had.
    """
    if isinstance(system, Shape):
        shape = system
    else:
        shape = (system if isinstance(system, System) else _load_system(system)).shape
    chosen = get(policy)
    given: Any = count
    if given is not None and (isinstance(given, bool) or not isinstance(given, int) or given < 1):
        raise InputError(f"expected a number of nodes from 1 on, found `{given!r}`", path=COUNT)
    taken = set(parse_ids(busy, "busy nodes") if isinstance(busy, str) else busy)
    for node in taken:
        shape.check_node(node)
    values = read_options(chosen, options)
    free = [node for node in range(shape.nodes) if node not in taken]
    return chosen.place(Request(shape, count, free, values, Path(folder), owners or {}))


__all__ = [
    "COUNT",
    "LAYOUTS",
    "POLICIES",
    "Freedom",
    "Option",
    "Placement",
    "Policy",
    "Request",
    "format_ids",
    "get",
    "names",
    "parse_ids",
    "place",
    "read_options",
]
