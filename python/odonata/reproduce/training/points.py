"""What is simulated of each published step of training: its points and their scenarios."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from odonata.reproduce.training.cases import GPUS_OF_A_NODE, STAGE_NODES, STATED, Case, cases
from odonata.scenario import Scenario

if TYPE_CHECKING:
    from collections.abc import Mapping

    from odonata.reproduce.reproduction import Points, Runs

TOLERANCE = "10 %"
"""Stated before the first run."""
PRESET = "superpod-h100-gpu"
PACKET, BUFFER = "65000 B", "1 MiB"
"""Packets that stand for bursts, and buffers that hold some (docs/training.md, "How large a step may be")."""
EXPERIMENTS: dict[str, dict[str, dict[str, Any]]] = {
    "7.5B": {
        "twice the replicas": {"stage_nodes": 2 * STAGE_NODES},
        "packets of 16 KiB": {"packet": "16 KiB"},
        "collectives of all layers at once": {"train": {"merge": 36}},
        "microbatches of 1 sequence": {"train": {"microbatch": 1, "microbatches": 16}},
        "gradients of 4 B": {"train": {"gradient": 4}},
        "gradients behind the backward passes": {"train": {"overlap": False}},
    },
    "145.6B": {
        "twice the replicas": {"replicas": 2},
        "a third of the microbatches": {"fewer": (8, 16)},
        "microbatches of 1 sequence": {"train": {"microbatch": 1, "microbatches": 96}},
    },
    "529.6B": {
        "one chunk of layers a stage": {"train": {"interleave": 1, "merge": 3}},
    },
    "8,192 GPUs": {
        "four chunks of layers a stage": {"train": {"interleave": 4, "merge": 2}},
        "two chunks of layers a stage": {"train": {"interleave": 2, "merge": 4}},
        "one chunk of layers a stage": {"train": {"interleave": 1, "merge": 8}},
        "4 stages, 16 microbatches": {"fewer": (4, 16)},
        "4 stages, 16 microbatches, twice the replicas": {"fewer": (4, 16), "replicas": 2},
        "4 stages, 16 microbatches, twice the replicas, gradients reduced in each": {
            "fewer": (4, 16),
            "replicas": 2,
            "train": {"zero": 2},
        },
    },
}
"""Case -> what is also simulated in another way -> its settings."""
REDUCED = ("1.7B", "3.6B")
"""Cases of the reduced form."""


def points(reduced: bool) -> Points:
    """All cases with each model of their papers and the experiments, or the smallest cases."""
    named = [cases()[name] for name in REDUCED] if reduced else [*cases().values()]
    made: Points = [{"case": of.name, "model": model} for of in named for model in of.models]
    if not reduced:
        made += [{"case": name, "model": said} for name, settings in EXPERIMENTS.items() for said in settings]
    return made


def settings(point: Mapping[str, Any]) -> dict[str, Any]:
    """What an experiment changes; nothing for a model of a row."""
    return EXPERIMENTS.get(point["case"], {}).get(point["model"], {})


def extent(point: Mapping[str, Any]) -> tuple[int, int, int]:
    """Stages, microbatches and chunks of a stage of the simulation."""
    of, changed = cases()[point["case"]], settings(point)
    stages, microbatches = changed.get("fewer", of.fewer)
    train = changed.get("train", {})
    return stages, train.get("microbatches", microbatches), train.get("interleave", of.interleave)


def whole(point: Mapping[str, Any], seconds: float) -> float:
    """The time of all microbatches and stages, of the time of those that are simulated: m microbatches on p stages of v
    chunks take `m + (p - 1) / v` times that of one (docs/training.md)."""
    of, (stages, microbatches, chunks) = cases()[point["case"]], extent(point)
    of_one: int = settings(point).get("train", {}).get("microbatch", of.microbatch)
    everything: float = of.microbatches * of.microbatch // of_one + (of.pipeline - 1) / chunks
    passes: float = microbatches + (stages - 1) / chunks
    return seconds * everything / passes


def _split(of: Case, stages: int, chunks: int) -> list[int]:
    """Layers of each chunk: equally many, but one less at each end of Llama (Llama Team 2024, section 3.3.2)."""
    layers = -(-of.layers // (of.pipeline * chunks))
    each = [layers] * (stages * chunks)
    if of.paper == "llama2024":
        each[0] -= 1
        each[-1] -= 1
    return each


def replicas(point: Mapping[str, Any]) -> int:
    """Replicas of the simulation."""
    changed = settings(point)
    return int(changed.get("replicas", cases()[point["case"]].simulated(changed.get("stage_nodes", STAGE_NODES))))


def nodes(point: Mapping[str, Any]) -> int:
    """Nodes of the simulation."""
    of = cases()[point["case"]]
    return replicas(point) * of.tensor * of.context * extent(point)[0] // GPUS_OF_A_NODE


def make(point: Mapping[str, Any]) -> Scenario:
    """The scenario of a point."""
    of, changed = cases()[point["case"]], settings(point)
    paper, (stages, microbatches, chunks) = of.of, extent(point)
    split = _split(of, stages, chunks)
    train = {
        "model": {**paper.model, "layers": sum(split), "hidden": of.hidden, "heads": of.heads, "sequence": of.sequence},
        "tensor": of.tensor,
        "context": of.context,
        "pipeline": stages,
        "microbatch": of.microbatch,
        "microbatches": microbatches,
        "interleave": chunks,
        "split": split,
        "merge": of.merge,
        "sequence_parallel": bool(of.scatter),
        "overlap": stages == 1 or paper.train["zero"] > 0,
        **paper.train,
        "peak": f"{paper.tflops} Tflop/s",
        "efficiency": of.efficiency(point["model"] if point["model"] in paper.efficiency else STATED),
        **changed.get("train", {}),
    }
    link = {"buffer": BUFFER} if paper.nic is None else {"buffer": BUFFER, "bandwidth": paper.nic}
    document = {
        "system": {
            "preset": PRESET,
            "fabric": {"packet": changed.get("packet", PACKET), "links": dict.fromkeys(("node", "leaf"), link)},
            **({"host": {"gpu": paper.gpu}} if paper.gpu else {}),
        },
        "job": [
            {
                "name": "step",
                "nodes": nodes(point),
                "ranks_per_node": GPUS_OF_A_NODE,
                "place": "contiguous",
                "app": {"train": train},
            }
        ],
        "run": {"seed": 1},
    }
    return Scenario.of(document)


def rates(runs: Runs) -> dict[tuple[str, str], float]:
    """Case and model, or experiment -> what is compared, of all stages and microbatches."""
    made = {}
    for run in runs:
        of = cases()[run["case"]]
        made[of.name, run["model"]] = of.ours(whole(run, run["time_ps"] * 1e-12))
    return made


def gains() -> list[tuple[str, str, str]]:
    """What, the case that is faster, and the one that is slower by it."""
    made = []
    for name, of in cases().items():
        if of.where == "figure 12" and of.interleave == 1:
            made.append((f"interleaved stages, batch of {of.batch}", f"{name}, interleaved", name))
        if of.where == "figure 18":
            faster = name.replace("whole tensors", "interleaved")
            made.append((f"divided tensors, batch of {of.batch}", faster, name))
    return made
