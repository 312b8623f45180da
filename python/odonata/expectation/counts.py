"""What a job sends over the network, counted without a simulation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from odonata.machine import core
from odonata.memory import messages_of_pattern
from odonata.scenario.warnings import messages_per_interval, steps_of_pair

if TYPE_CHECKING:
    from collections.abc import Mapping

    from odonata.expectation.distances import Distances
    from odonata.scenario import Resolved

MOST_RANKS = 2_048
"""Most ranks whose messages are counted one by one: 2 s of a processor if each sends to each. Measured."""
MOST_COUNTED = 2**20
"""Most messages of collectives of pairs that are counted one by one: 0.5 s of a processor. Measured."""
CONTROL = 2
"""Control messages of a rendezvous: an RTS, and a CTS or a FIN (docs/model.md, section 10)."""


@dataclass(frozen=True)
class JobCount:
    """What a job sends over the network in all, or in a time if it has no end."""

    name: str
    ends: bool
    """Whether the run waits for it."""
    messages: int
    packets: int
    hops: float
    """Mean route decisions of a packet."""
    per_ps: float | None = None
    """Packets in a picosecond of a job without end; None if it has one."""
    unknown: bool = False
    """Whether it sends more than is counted."""
    iterations: int = 1
    program: bool = False
    pairs: bool = False
    """Whether each rank sends to each other rank."""

    @property
    def packet_hops(self) -> float:
        """Its route decisions."""
        return self.packets * self.hops


def counted(resolved: Resolved, index: int, distances: Distances) -> JobCount:
    job, stop = resolved.spec["jobs"][index], resolved.spec["stop"]
    ends = index in stop["jobs"]
    return (_of_pattern if "traffic" in job else _of_program)(resolved, job, distances, ends)


def _of_pattern(resolved: Resolved, job: Mapping[str, Any], distances: Distances, ends: bool) -> JobCount:
    traffic, fabric = job["traffic"], resolved.spec["fabric"]
    packets, hops = _packets(traffic["message_bytes"], fabric), distances.mean(job["nodes"])
    messages = messages_of_pattern(resolved, job)
    iterations = traffic["intervals"] or 1
    if messages is not None and (ends or resolved.spec["stop"]["at_ps"] is not None):
        unknown = messages == 0
        return JobCount(job["name"], ends, messages, messages * packets, hops, unknown=unknown, iterations=iterations)
    each = messages_per_interval(resolved, job) * len(job["nodes"])
    per_ps = each * packets / traffic["interval_ps"]
    return JobCount(job["name"], ends, 0, 0, hops, per_ps=per_ps, unknown=not each)


def _of_program(resolved: Resolved, job: Mapping[str, Any], distances: Distances, ends: bool) -> JobCount:
    program, nodes, fabric = job["program"], job["nodes"], resolved.spec["fabric"]
    iterations = program["iterations"]
    if iterations is None or not ends:
        return JobCount(job["name"], ends, 0, 0, 0.0, unknown=True, program=True)
    where = np.asarray(nodes)
    phases = _pairwise(program["body"])
    listed = sum(steps for _, steps in phases) * len(nodes) * (len(nodes) - 1)
    if listed > MOST_COUNTED or (listed and len(nodes) > MOST_RANKS):
        return _of_pairs(resolved, job, distances, phases)
    if len(nodes) > MOST_RANKS:
        return JobCount(job["name"], ends, 0, 0, 0.0, unknown=True, program=True)
    sources, targets, sizes, counts = core.traffic(program["body"], len(nodes))
    apart = where[sources] != where[targets]
    sources, targets, sizes, counts = sources[apart], targets[apart], sizes[apart], counts[apart]
    known, place = np.unique(-(-sizes // np.maximum(counts, 1)), return_inverse=True)
    of_size = np.array([_packets_of(int(size), program, fabric) for size in known], dtype=np.int64)
    packets = of_size[place] * counts
    hops = distances.of_pairs(where[sources], where[targets], packets)
    total, sent = int(counts.sum()) * iterations, int(packets.sum()) * iterations
    return JobCount(job["name"], ends, total, sent, hops, iterations=iterations, program=True, pairs=bool(listed))


def _of_pairs(
    resolved: Resolved, job: Mapping[str, Any], distances: Distances, phases: list[tuple[Mapping[str, Any], int]]
) -> JobCount:
    """A program of collectives of pairs, without a list of them."""
    program, nodes, fabric = job["program"], job["nodes"], resolved.spec["fabric"]
    where = np.asarray(nodes)
    messages, packets, hops = 0, 0, 0.0
    for phase, steps in phases:
        if phase["what"].get("algorithm") == "ring":  # to the next rank, as often as there are others
            following = np.roll(where, -1)
            apart = (where != following).astype(np.int64)
            count = int(apart.sum()) * (len(nodes) - 1)
            mean = distances.of_pairs(where, following, apart)
        else:
            count = len(nodes) ** 2 - int((np.unique(where, return_counts=True)[1] ** 2).sum())
            mean = distances.mean(nodes)
        of_phase = steps * count * _packets_of(_bytes(phase, len(nodes)), program, fabric)
        messages, packets, hops = messages + steps * count, packets + of_phase, hops + of_phase * mean
    everything = program["body"]["phases"]
    unknown = len(phases) + sum(map(_is_silent, everything)) < len(everything)
    iterations, mean = program["iterations"], hops / packets if packets else 1.0
    return JobCount(
        job["name"], True, messages * iterations, packets * iterations, mean, unknown=unknown, iterations=iterations,
        program=True, pairs=True,
    )  # fmt: skip


def _pairwise(body: Mapping[str, Any]) -> list[tuple[Mapping[str, Any], int]]:
    """The phases in which each rank has messages for every other rank, and how many for each."""
    return [(phase, steps) for phase in body.get("phases", ()) if (steps := steps_of_pair(phase))]


def _is_silent(phase: Mapping[str, Any]) -> bool:
    """Whether a phase sends nothing, or next to nothing beside a collective of pairs."""
    return phase["what"]["name"] in ("compute", "barrier")


def _bytes(phase: Mapping[str, Any], ranks: int) -> int:
    """The bytes of a message of a collective of pairs."""
    size = int(phase["what"].get("bytes") or 0)
    return -(-size // ranks) if phase["what"]["name"] in ("allreduce", "reduce-scatter") else size


def _packets(size: int, fabric: Mapping[str, Any]) -> int:
    return max(1, -(-size // int(fabric["packet_bytes"])))


def _packets_of(size: int, program: Mapping[str, Any], fabric: Mapping[str, Any]) -> int:
    """The packets of a message of a program, with those of the control messages of a rendezvous."""
    return _packets(size, fabric) + (CONTROL if size > program["costs"]["eager_bytes"] else 0)
