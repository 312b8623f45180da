"""Warnings: scenarios that can be simulated, but probably contain a mistake."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from odonata.text.numbers import duration

if TYPE_CHECKING:
    from collections.abc import Mapping

    from odonata.scenario.resolve import Resolved

MESSAGE_S = 1e-6
"""Least time of a processor for a message. Assumed: one packet over three links (benches/README.md)."""
LONG_S = 600.0
"""Programs that take longer by that are named. Assumed."""
LOGARITHMIC = ("bruck",)
"""All-to-alls that send few, larger messages."""


def warnings_of(resolved: Resolved) -> list[str]:
    """One sentence for each background job that offers at least what the NICs of a node carry.

    Such a job overloads its own NICs on any network: messages queue at their sources without end, and links get no more
    than the NICs send. Broadcasts and programs wait for their messages, so they cannot do this.

    One for each program whose messages take long, whatever the network: an all-to-all of many ranks.

    And one for each training job with a tensor group inside a node of a system without GPUs: such nodes have links
    between their GPUs.
    """
    sentences = [
        f"tensor-parallel messages of `{job['name']}` between ranks of a node take the costs of its host, as those of "
        "an MPI library on CPUs; `gpu` in `overhead` or another system gives its nodes GPUs with links between them"
        for job in resolved.spec["jobs"]
        if _tensor_inside(job)
    ]
    for job in resolved.spec["jobs"]:
        count = _messages_of_pairs(job)
        if count * MESSAGE_S > LONG_S:
            sentences.append(
                f"`{job['name']}` sends {count:,} messages, a few for each pair of its ranks: to simulate them takes "
                f"{duration(count * MESSAGE_S)} of a processor or longer"
            )
    for job in resolved.spec["jobs"]:
        if job["name"] in resolved.targets or "traffic" not in job:
            continue
        traffic = job["traffic"]
        offered = messages_per_interval(resolved, job) * traffic["message_bytes"] / (traffic["interval_ps"] * 1e-12)
        nics = int(resolved.system.describe()["rails"]) * resolved.spec["fabric"]["links"]["node"]["bandwidth"] / 1e6
        if offered >= nics:
            sentences.append(
                f"background job `{job['name']}` offers {offered / 1e9:.3g} GB/s a node, {offered / nics * 100:.0f} % "
                f"of the bandwidth of the node's NICs ({nics / 1e9:.3g} GB/s): its messages queue at their sources"
            )
    return sentences


def _messages_of_pairs(job: Mapping[str, Any]) -> int:
    """Messages of collectives in which each rank has one or two steps for every other rank; 0 without such."""
    program = job.get("program")
    if program is None or program["iterations"] is None:
        return 0
    steps = sum(map(steps_of_pair, program["body"].get("phases", ())))
    ranks = len(job["nodes"])
    return steps * ranks * (ranks - 1) * int(program["iterations"])


def steps_of_pair(phase: Mapping[str, Any]) -> int:
    """Messages of a phase for each pair of different ranks, if it has such steps; 0 without."""
    name, algorithm = phase["what"]["name"], phase["what"].get("algorithm")
    if name == "alltoall":
        return int(algorithm not in LOGARITHMIC)
    if algorithm == "ring":
        return 2 if name == "allreduce" else int(name in ("allgather", "reduce-scatter"))
    return 0


def _tensor_inside(job: Mapping[str, Any]) -> bool:
    """Whether two ranks of a tensor group of a training job are on one node, and messages there take time."""
    if "program" not in job or "gpus" in job["program"]:
        return False
    costs, nodes, body = job["program"]["costs"], job["nodes"], job["program"]["body"]
    if not (costs["send_ps"] or costs["receive_ps"] or costs["copy"]):
        return False
    groups = [phase["what"]["tensor"] for phase in body.get("phases", ()) if phase["what"]["name"] == "training"]
    inside = [phase["along"] for made in body.get("collectives", ()) for phase in made["phases"] if "along" in phase]
    groups += sorted({along["grid"][0] for along in inside if along["axis"] == 0})
    return any(
        len(set(nodes[first : first + tensor])) < tensor for tensor in groups for first in range(0, len(nodes), tensor)
    )


def messages_per_interval(resolved: Resolved, job: Mapping[str, Any]) -> int:
    """Messages that a rank issues in an interval; 0 for a broadcast."""
    pattern, nodes = job["traffic"]["pattern"], job["nodes"]
    if pattern["name"] == "broadcast":
        return 0
    if pattern["name"] == "stencil-3d":
        return sum(2 for extent in pattern["grid"] if extent > 1)
    if pattern["name"] == "group-peers":
        return len(set(resolved.system.describe()["node_group"][nodes].tolist())) - 1
    return 1
