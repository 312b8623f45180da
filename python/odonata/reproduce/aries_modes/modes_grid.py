"""`study.toml` of the modes: the machine, what is sensed, and what is varied.

`full` and `reduced` each have a `system`, the `nodes` of the background, and two experiments. `delay` has a case for
each load (percent), delay (`multiples` of the round trip) and seed; `pairs` one for each load, distance, seed and mode
of `adaptive-0` and `adaptive-3`, and at `modes_load` for all modes with `modes_seeds` (`repeats`: messages of a pair in
place of those in `pair_job`). Their `variants` change one
thing at a time, at the load [VARIANTS][odonata.reproduce.aries_modes.modes_grid.VARIANTS]: a part of what is around
(`sensing`, `delay`, `load`, `pattern`, `message`, `packet`, `system`) or of the jobs (`target_message`; `bias_high`,
`gateways`, `pieces`).
"""

from __future__ import annotations

import json
import tomllib
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from odonata.errors import InputError, unknown
from odonata.reproduce.aries_modes.around import Around
from odonata.reproduce.aries_modes.delay_case import DelayCase
from odonata.reproduce.aries_modes.pair_case import PairCase

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

VARIANTS = 20.0
"""Load of the variants, in percent, if they do not say another."""
DELAY_SEEDS = 5
"""Seeds of a variant of the first experiment."""
DISTANCES: tuple[Any, ...] = ("intra", "inter")
ADAPTIVE, HIGH_BIAS = "adaptive-0", "adaptive-3"

_AROUND = {"sensing", "delay", "load", "pattern", "message", "packet", "system"}
_DELAY = {"target_message", "seeds"}
_PAIRS = {"bias_high", "gateways", "pieces"}


def read_modes(text: str, file: str, reduced: bool) -> list[DelayCase | PairCase]:
    """The cases of both experiments, the main ones first. Raises InputError for what is missing or means nothing."""
    study = tomllib.loads(text)
    try:
        form = study["reduced" if reduced else "full"]
        around = Around(
            system=json.dumps(form["system"]),
            round_trips=json.dumps(study["round_trips"]),
            delay=1,
            load=VARIANTS,
            nodes=form["nodes"],
            **study["around"],
        )
        return [*_delays(study, form["delay"], around), *_pairs(study, form["pairs"], around)]
    except KeyError as problem:
        raise InputError(f"{problem} is missing or not defined", file=file) from None
    except InputError as problem:
        raise InputError(problem.message, file=file, hint=problem.hint) from None


def _delays(study: Mapping[str, Any], form: Mapping[str, Any], around: Around) -> Iterator[DelayCase]:
    def case(here: Around, seed: int, **changed: Any) -> DelayCase:
        return DelayCase(around=here, seed=study["seed"] + seed, **{**study["delay_job"], **changed})

    for load in form["loads"]:
        for multiple in form["multiples"]:
            for seed in range(form["seeds"]):
                yield case(replace(around, load=load, delay=multiple), seed)
    for variant in form.get("variants", ()):
        here, rest = _around(variant, around, _DELAY)
        changed = {"message": rest["target_message"]} if "target_message" in rest else {}
        for multiple in (0, here.delay):
            for seed in range(rest.get("seeds", DELAY_SEEDS)):
                yield case(replace(here, delay=multiple), seed, variant=variant["name"], **changed)


def _pairs(study: Mapping[str, Any], form: Mapping[str, Any], around: Around) -> Iterator[PairCase]:
    def case(here: Around, model: str, where: Any, seed: int, **changed: Any) -> PairCase:
        return PairCase(around=here, model=model, where=where, seed=study["seed"] + seed, **{**told, **changed})

    told = {**study["pair_job"], **({"repeats": form["repeats"]} if "repeats" in form else {})}
    for model in study["models"]:
        compared = model in (ADAPTIVE, HIGH_BIAS)
        for load in form["loads"]:
            if not compared and load != form["modes_load"]:
                continue
            for where in DISTANCES:
                for seed in range(form["seeds"] if compared else form["modes_seeds"]):
                    yield case(replace(around, load=load), model, where, seed)
    for variant in form.get("variants", ()):
        here, rest = _around(variant, around, _PAIRS)
        bias = rest.pop("bias_high", None)
        for model in (ADAPTIVE, HIGH_BIAS):
            if bias is not None and model == HIGH_BIAS:
                rest["routing"] = json.dumps({"bias_high": bias})
            for where in DISTANCES:
                yield case(here, model, where, 0, variant=variant["name"], **rest)


def _around(variant: Mapping[str, Any], around: Around, others: set[str]) -> tuple[Around, dict[str, Any]]:
    """What a variant changes around the jobs, and what it says of the jobs."""
    told = {key: value for key, value in variant.items() if key != "name"}
    for key in told:
        if key not in _AROUND | others:
            raise unknown("key of a variant", key, sorted(_AROUND | others))
    changed = {key: told.pop(key) for key in list(told) if key in _AROUND}
    if "system" in changed:
        changed["system"] = json.dumps(changed["system"])
    return replace(around, **changed), told
