"""`study.toml`: the cases of each figure.

`[models]` are the policies; every `[[figN]]` block is a product of `policies` (default: all but Jokanovic's), `nodes`,
`ratios`, `workloads`, `motifs` (default: all six), `messages` (of small and large jobs; default 1 KB) and as many seeds
as `repetitions`, perhaps with `settings` of the scenario as a `variant`; or the first `random` lines of `workloads.csv`
under an `order`, all with each of some `variants`. `reduced` replaces keys in the
reduced form; blocks without it are no part of it.
"""

from __future__ import annotations

import itertools
import json
import tomllib
from typing import TYPE_CHECKING, Any

from odonata.errors import InputError
from odonata.reproduce.zhang2018.comm_case import CommCase
from odonata.reproduce.zhang2018.setup import JobClass, Setup
from odonata.reproduce.zhang2018.workloads import MOTIFS, read

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

SEED_STEP = 10_000
"""Between two repetitions: job n of a run draws with the run's seed + n."""

_KEYS = {
    "policies", "nodes", "ratios", "workloads", "motifs", "messages", "iterations", "utilisation", "repetitions",
    "variant", "settings", "random", "order", "alone", "variants", "reduced",
}  # fmt: skip


def read_figure(figure: str, text: str, file: str, reduced: bool) -> list[CommCase]:
    """The cases of a figure in the order of the file, each once.

    Raises InputError for a key that means nothing and for one that is missing.
    """
    study = tomllib.loads(text)
    found: dict[CommCase, None] = {}
    for block in study.get(figure, ()):
        if reduced and "reduced" not in block:
            continue
        chosen = {**block, **block["reduced"]} if reduced else block
        unknown = sorted(set(chosen) - _KEYS)
        if unknown:
            raise InputError(f"{figure}: unknown key `{unknown[0]}`", file=file, hint=", ".join(sorted(_KEYS)))
        policies = chosen.get("policies", [name for name in study["models"] if not name.startswith("jokanovic")])
        try:
            setups = list(_random(chosen) if "random" in chosen else _regular(chosen))
        except KeyError as problem:
            raise InputError(f"{figure}: {problem} is missing or not defined", file=file) from None
        found |= {CommCase(setup, policy, seed): None for setup, seed in setups for policy in policies}
    return list(found)


def _random(block: Mapping[str, Any]) -> Iterator[tuple[Setup, int]]:
    """Setups and seeds of random workloads."""
    workloads, count = read(), block["random"]
    for label, settings in block.get("variants", {"": {}}).items():
        known = dict(settings)
        own = {key: known.pop(key) for key in ("message", "iterations") if key in known}
        for number, motif in enumerate(MOTIFS if block.get("alone") else ("",)):
            for one in workloads[100 * number : 100 * number + count]:
                setup = one.setup(block["order"], motif=motif)
                yield _varied(setup, label, _written(known), own), SEED_STEP * one.number


def _varied(setup: Setup, label: str, settings: tuple[tuple[str, str], ...], own: Mapping[str, Any]) -> Setup:
    classes = tuple(JobClass(**{**vars(one), **own}) for one in setup.classes)
    return Setup(setup.nodes, setup.ratio, classes, setup.order, label, settings)


def _written(settings: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    return tuple((key, json.dumps(value)) for key, value in settings.items())


def _regular(block: Mapping[str, Any]) -> Iterator[tuple[Setup, int]]:
    """Setups and seeds of homogeneous and heterogeneous workloads."""
    for nodes, ratio, workload, motif, messages, repetition in itertools.product(
        block["nodes"],
        block["ratios"],
        block["workloads"],
        block.get("motifs", MOTIFS),
        block.get("messages", [["1 KB", "1 KB"]]),
        range(1, block["repetitions"] + 1),
    ):
        counted = _counted(workload, nodes, block.get("utilisation", 90))
        classes = tuple(
            JobClass(name, count, size, motif, messages[name == "large"], block.get("iterations", 1))
            for name, count, size in counted
        )
        variant, settings = block.get("variant", ""), _written(block.get("settings", {}))
        yield Setup(nodes, ratio, classes, variant=variant, settings=settings), SEED_STEP * repetition


def _counted(workload: str, nodes: int, utilisation: int) -> Sequence[tuple[str, int, int]]:
    """Class, number and size of the jobs (L14, L15)."""
    busy = nodes * utilisation // 100
    return {
        "full-16": [("small", nodes // 16, 16)],
        "16": [("small", busy // 16, 16)],
        "64": [("large", busy // 64, 64)],
        "quarter": [("large", 4, nodes // 4)],
        "both": [("small", busy // 80, 16), ("large", busy // 80, 64)],
    }[workload]
