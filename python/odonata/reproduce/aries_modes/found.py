"""Results of the study by what was varied."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from odonata.reproduce.aries_modes.delay_outcome import DelayOutcome

if TYPE_CHECKING:
    from collections.abc import Mapping

    from odonata.reproduce.aries_modes.pair_outcome import PairOutcome

    ModesResults = Mapping[tuple[str, str], Mapping[int, DelayOutcome | PairOutcome]]
    """(mode, name of the case) -> number of messages -> outcome."""


@dataclass(frozen=True)
class Found:
    """Outcomes by seed, in the order in which they were simulated. The variant is "" in the main runs."""

    delays: dict[tuple[str, float, int], dict[str, DelayOutcome]] = field(default_factory=dict)
    """(variant, load, delay) -> seed -> outcome."""
    pairs: dict[tuple[str, float, str, str], dict[str, PairOutcome]] = field(default_factory=dict)
    """(variant, load, intra or inter, mode) -> seed -> outcome."""

    def delay_loads(self) -> list[float]:
        """Loads of the main runs of the first experiment."""
        return list(dict.fromkeys(load for variant, load, _ in self.delays if not variant))

    def multiples(self) -> list[int]:
        """Its delays but for 0, in round trips."""
        return list(dict.fromkeys(delay for variant, _, delay in self.delays if not variant and delay))

    def pair_loads(self) -> list[float]:
        """Loads of the main runs of the second experiment."""
        return list(dict.fromkeys(load for variant, load, *_ in self.pairs if not variant))

    def modes_load(self) -> float:
        """The load at which most modes were simulated."""
        modes = {load: len({key[3] for key in self.pairs if key[:2] == ("", load)}) for load in self.pair_loads()}
        return max(modes, key=lambda load: modes[load])


def found(results: ModesResults) -> Found:
    """From the names of the cases."""
    made = Found()
    for (model, name), by_messages in results.items():
        (outcome,) = by_messages.values()
        what, load, *rest = name.split("/", 4 if name.startswith("delay/") else 3)
        percent = float(load.removesuffix("%"))
        if isinstance(outcome, DelayOutcome):
            delay, seed, *variant = rest
            key = ("".join(variant), percent, int(delay.removeprefix("x")))
            made.delays.setdefault(key, {})[seed] = outcome
        else:
            seed, *variant = rest
            made.pairs.setdefault(("".join(variant), percent, what, model), {})[seed] = outcome
    return made
