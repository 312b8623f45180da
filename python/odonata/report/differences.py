"""What differs between the scenarios of two runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from odonata.store import Run

FEW = 3
"""Differences that a title names."""


def title_of(first: Run, second: Run) -> str:
    """What differs between two runs, for a title: keys with the two values."""
    changed = differences(first, second)
    if not changed:
        same = first.id == second.id
        return "the same scenario, seed and version" if same else "the same scenario of two versions"
    parts = [f"{key} {value} or {other}" for key, value, other in changed[:FEW]]
    parts += [f"{len(changed) - FEW} more"] * (len(changed) > FEW)
    return ", ".join(parts)


def differences(first: Run, second: Run) -> list[tuple[str, str, str]]:
    """Keys of the scenarios whose values differ, with both values; `none` where one is missing.

    Jobs are compared by their names. Of a table whose `name` differs, only the name is given, because its other keys
    follow from it. What is measured changes no result, so it is left out. A job without a routing has that of the run.
    """
    ours, other = (_flat(run.resolved.get("scenario", {})) for run in (first, second))
    keys = [key for key in dict.fromkeys([*ours, *other]) if ours.get(key) != other.get(key)]
    tables = tuple(key.removesuffix("name") for key in keys if key.endswith(".name"))
    kept = [key for key in keys if key.endswith(".name") or not key.startswith(tables)]
    changed = []
    for key in kept:
        values = [
            side.get(key, side.get("routing.name") if key.endswith(".routing.name") else None) for side in (ours, other)
        ]
        if values[0] != values[1]:
            changed.append((key.removesuffix(".name"), _text(values[0]), _text(values[1])))
    return changed


def _flat(scenario: Mapping[str, Any]) -> dict[str, Any]:
    leaves = dict(_leaves({key: value for key, value in scenario.items() if key != "measure"}))
    return {key: value for key, value in leaves.items() if not key.endswith(".placed")}


def _leaves(table: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in table.items():
        path = f"{before}{key}"
        if isinstance(value, dict):
            yield from _leaves(value, f"{path}.")
        elif isinstance(value, list) and value and all(isinstance(item, dict) and "name" in item for item in value):
            for item in value:
                inner = {name: inner_value for name, inner_value in item.items() if name != "name"}
                yield from _leaves(inner, f"{path}.{item['name']}.")
        elif not isinstance(value, list):  # lists of nodes follow from the placement
            yield path, value


def _text(value: Any) -> str:
    shown = "none" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
    return shown if len(shown) <= 40 else f"{shown[:37]}..."
