"""From a setup, a policy and a seed to the specification: what a scenario would give, without reading one each time.

Jobs are listed small ones first, so with that order the scenario is: every job with `place` the policy,
`ranks_per_node = 2`, `mapping = "random-nodes"` and its motif, `run.seed` the seed, `record = "nothing"`. Tests compare
the two. The seeds of job n are explicit and follow from `seed + n`, so that the validation pages keep their numbers
whatever seeds a scenario gives its jobs.
"""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path
from typing import Any

import tomlkit

from odonata import placement, scenario
from odonata.document import validate
from odonata.placement import Job
from odonata.placement.splitmix import SplitMix64
from odonata.reproduce.zhang2018.setup import RANKS_PER_NODE, JobClass, Setup
from odonata.scenario import Resolved
from odonata.scenario.apps.mapping import MappingTable
from odonata.scenario.apps.motifs import MOTIFS

_MAPPING = int.from_bytes(b"mapping")
"""Keeps the shuffles of a mapping apart from those of a placement with the same seed."""
_GLOBAL = {"0.25": "2 Gbit/s", "1": "8 Gbit/s", "4": "32 Gbit/s"}
"""Ratio -> bandwidth of global links (L3)."""

CODED = "jokanovic-coded"
_OPTIONS: dict[str, tuple[str, dict[str, Any]]] = {CODED: ("jokanovic", {"fall_through": True})}
"""What the studies call a policy with options -> the policy, and those (L12)."""


def system(setup: Setup) -> str | dict[str, Any]:
    """`system` of the scenario."""
    preset = f"zhang2018-{setup.nodes}"
    if setup.ratio == "1":
        return preset
    return {"preset": preset, "fabric": {"links": {"global": {"bandwidth": _GLOBAL[setup.ratio]}}}}


def prepare(setup: Setup, policy: str, seed: int) -> Resolved:
    """The run. Raises InputError for what no scenario could say."""
    base = _base(setup.nodes, setup.ratio, setup.settings)
    listed = [(f"{one.name}-{number}", one) for one in setup.classes for number in range(one.count)]
    chosen, options = _OPTIONS.get(policy, (policy, {}))
    asked = [
        Job(name, chosen, one.nodes, options | _seed_of_place(chosen, seed + number))
        for number, (name, one) in enumerate(listed)
    ]
    placed = placement.place_all(asked, base.system, setup.order)
    template = base.spec["jobs"][0]
    jobs = []
    for number, (name, one) in enumerate(listed):
        mapping = MappingTable(**_mapping(seed + number))
        ranks = one.nodes * RANKS_PER_NODE
        nodes = mapping.nodes(placed[name].nodes, ranks, RANKS_PER_NODE, Path())
        body = _body(one.motif, one.message, ranks)
        program = {**template["program"], "iterations": one.iterations, "body": body}
        jobs.append({**template, "name": name, "nodes": nodes, "program": program})
    stop = {"jobs": list(range(len(jobs))), "at_ps": None}
    spec = {**base.spec, "seed": seed, "jobs": jobs, "stop": stop}
    return Resolved(spec, base.system, tuple(name for name, _ in listed), lambda: {"spec": spec})


def _seed_of_place(policy: str, seed: int) -> dict[str, int]:
    return {"seed": seed} if placement.get(policy).seeded else {}


def _mapping(seed: int) -> dict[str, Any]:
    return {"name": "random-nodes", "seed": SplitMix64(seed ^ _MAPPING).word()}


@lru_cache(maxsize=64)
def _base(nodes: int, ratio: str, settings: tuple[tuple[str, str], ...]) -> Resolved:
    """A run of one small job, of which everything but the jobs is used, and of the job what all jobs share."""
    setup = Setup(nodes, ratio, (JobClass("small", 1, 2, "broadcast"),), settings=settings)
    return as_scenario(setup, "simple", 1).resolve()


def as_scenario(setup: Setup, policy: str, seed: int) -> scenario.Scenario:
    """The scenario, which places jobs in the order in which they are listed: the same run if that is the setup's."""
    listed = [(f"{one.name}-{number}", one) for one in setup.classes for number in range(one.count)]
    jobs = [
        {
            "name": name,
            "nodes": one.nodes,
            "place": {"policy": policy, **_seed_of_place(policy, seed + number)},
            "ranks_per_node": RANKS_PER_NODE,
            "mapping": _mapping(seed + number),
            "iterations": one.iterations,
            "record": "nothing",
            "app": {"motif": one.motif, "message": one.message},
        }
        for number, (name, one) in enumerate(listed)
    ]
    table = {"system": system(setup), "routing": "adaptive-local", "job": jobs, "run": {"seed": seed}}
    made = scenario.parse(tomlkit.dumps(table), "zhang2018.toml")
    for key, value in setup.settings:
        made = made.set(key, json.loads(value))
    return made


@lru_cache(maxsize=4096)
def _body(motif: str, message: str, ranks: int) -> dict[str, Any]:
    app = validate(MOTIFS[motif], {"motif": motif, "message": message}).decided(ranks)
    return app.body(ranks, Path())
