"""Results of the study as curves: outcomes by traffic, routing and offered load."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from odonata.reproduce.latency_load.load_outcome import LoadOutcome

    LoadResults = Mapping[tuple[str, str], Mapping[int, LoadOutcome]]
    """(routing, name of the case) -> number of messages -> outcome."""

    Curves = Mapping[str, Mapping[str, Mapping[float, LoadOutcome]]]
    """Traffic -> routing -> offered load in percent -> outcome."""

SATURATED = 0.95
"""A network that accepts less than this fraction of what is offered is saturated: its latencies grow without end."""


def curves(results: LoadResults) -> Curves:
    """The results in the order in which they come, those with other buffers left out."""
    found: dict[str, dict[str, dict[float, LoadOutcome]]] = {}
    for (model, name), by_messages in results.items():
        traffic, load, *buffer = name.split("/")
        if buffer:
            continue
        (outcome,) = by_messages.values()
        found.setdefault(traffic, {}).setdefault(model, {})[float(load.removesuffix("%"))] = outcome
    return found


def by_buffer(results: LoadResults) -> Mapping[str, LoadOutcome]:
    """The results with other buffers than the machine's, by their size."""
    names = {name.split("/")[2]: one for (_, name), one in results.items() if name.count("/") == 2}
    return {buffer: next(iter(one.values())) for buffer, one in names.items()}


def throughput(curve: Mapping[float, LoadOutcome]) -> float:
    """Accepted at the greatest offered load, in percent of what the nodes can inject."""
    return curve[max(curve)].accepted * 100


def stable(outcome: LoadOutcome) -> bool:
    """Whether what was offered was accepted."""
    return outcome.accepted >= SATURATED * outcome.offered
