"""The published steps of training, how each is divided, and how much of it is simulated."""

from __future__ import annotations

import csv
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.resources import files
from typing import Any

from odonata.scenario.apps.train.models import MODELS

A100_PORT, HDR = "240 GB/s", "200 Gbit/s"
"""A port of a GPU, as on the page `nccl`, and a NIC of a DGX A100."""
GPUS_OF_A_NODE = 8
A100_TFLOPS, H100_TFLOPS = 312.0, 989.4
"""BF16 without sparsity, in Tflop/s (data sheets of NVIDIA's A100 and H100 SXM)."""
A100_MEMORY = 2.039e12
"""Bytes per second of the memory of an A100 of 80 GB (its data sheet)."""
STATED, MEMORY, ATTENTION = "stated", "memory", "attention"
"""Models: computing reaches the same share of the peak in all cases, or less of it where more passes through memory, or
where more of it is attention."""
OF_ATTENTION = 0.35
"""Share of the peak of an H100 that FlashAttention-2 reaches (Shah 2024, FlashAttention-3, abstract)."""
STAGE_NODES = 4
"""Most nodes of a stage that are simulated: the replicas are as many as they hold."""
FEW_STAGES = 4
"""With longer pipelines a single replica is simulated, and the collectives of a chunk's layers are done as one."""
FEWER = {
    "529.6B": (35, 70),
    "1008B": (64, 64),
    **dict.fromkeys(("280 nodes", "350 nodes", "420 nodes"), (35, 70)),
    "16,384 GPUs, sequences of 131,072": (2, 8),
}
"""Case -> stages and microbatches that are simulated where all are too many."""


@dataclass(frozen=True)
class Paper:
    """What the cases of a paper have in common."""

    what: str
    unit: str
    source: str
    fitted: str
    """The case that gives the share of the peak."""
    efficiency: dict[str, float]
    """Model -> share of the peak that computing alone reaches: so that the fitted case has its published value."""
    tflops: float
    """Peak of a GPU."""
    sequence: int
    """Tokens of a sequence, of a context rank."""
    model: dict[str, Any]
    """Shapes that are not of the case."""
    train: dict[str, Any]
    """Keys of `train` that are not of the case."""
    gpu: dict[str, Any] = field(default_factory=dict)
    """What differs from the GPUs of the preset."""
    nic: str | None = None
    """Bandwidth of a NIC, if it differs from that of the preset."""


_GPT = {"gated": False, "tied": True, "biases": True, "vocabulary": 51_200}
"""Narayanan 2021, section 5.1; Smith 2022, section 2.3."""
_SELENE = {"bandwidth": A100_PORT, "generation": "ampere", "cpu": "amd"}
_LLAMA = {key: MODELS["llama-3-405b"].shapes[key] for key in ("ffn", "kv_heads", "vocabulary")}
PAPERS = {
    "narayanan2021": Paper(
        what="rate of a GPU",
        unit="Tflop/s",
        source="Narayanan 2021",
        fitted="18.4B",
        efficiency={STATED: 0.514, MEMORY: 0.632},
        tflops=A100_TFLOPS,
        sequence=2_048,
        model=_GPT,
        train={"zero": 0, "recompute": "full", "gradient": 2},
        gpu=_SELENE,
        nic=HDR,
    ),
    "smith2022": Paper(
        what="step of MT-NLG",
        unit="s",
        source="Smith 2022",
        fitted="280 nodes",
        efficiency={STATED: 0.51},
        tflops=A100_TFLOPS,
        sequence=2_048,
        model=_GPT,
        train={"zero": 0, "recompute": "full"},
        gpu=_SELENE,
        nic=HDR,
    ),
    "llama2024": Paper(
        what="rate of a GPU, Llama 3 405B",
        unit="Tflop/s",
        source="Llama Team 2024",
        fitted="8,192 GPUs",
        efficiency={STATED: 0.529, ATTENTION: 0.5525},
        tflops=H100_TFLOPS,
        sequence=8_192,
        model=_LLAMA,
        train={"zero": 1},
    ),
}


@dataclass(frozen=True)
class Case:
    """A published step."""

    name: str
    paper: str
    where: str
    """Table or figure."""
    layers: int
    hidden: int
    heads: int
    tensor: int
    context: int
    pipeline: int
    gpus: int
    batch: int
    microbatch: int
    interleave: int
    scatter: int
    """1 if a tensor group divides what goes to the next stage, 0 if each of its ranks sends all of it."""
    value: float

    @property
    def of(self) -> Paper:
        """What it has in common with others."""
        return PAPERS[self.paper]

    @property
    def replicas(self) -> int:
        """Of the machine."""
        return self.gpus // (self.tensor * self.context * self.pipeline)

    @property
    def microbatches(self) -> int:
        """Of a replica."""
        return self.batch // (self.replicas * self.microbatch)

    @property
    def sequence(self) -> int:
        """Tokens of a sequence."""
        return self.of.sequence * self.context

    @property
    def models(self) -> tuple[str, ...]:
        """The models that simulate it: of figures the one that knows how their sizes of a layer compute."""
        return (MEMORY,) if self.where.startswith("figure") else tuple(self.of.efficiency)

    @property
    def fewer(self) -> tuple[int, int]:
        """Stages and microbatches that are simulated."""
        return FEWER.get(self.name, (self.pipeline, self.microbatches))

    def simulated(self, stage_nodes: int = STAGE_NODES) -> int:
        """Replicas that are simulated."""
        if self.pipeline > FEW_STAGES:
            return 1
        return min(self.replicas, stage_nodes * GPUS_OF_A_NODE // self.tensor)

    @property
    def merge(self) -> int:
        """Layers whose collectives are done as one: those of a chunk of a long pipeline."""
        return -(-self.layers // (self.pipeline * self.interleave)) if self.pipeline > FEW_STAGES else 1

    @property
    def operations(self) -> float:
        """Floating-point operations of a step of the machine, as the paper counts them.

        GPT: with the recomputed forward pass (Narayanan 2021, equation 3). Llama: without (Chowdhery 2023, appendix B:
        6 N + 12 L H Q T for a token).
        """
        tokens, h, depth = self.batch * self.sequence, self.hidden, self.layers
        if self.paper == "llama2024":
            shapes = MODELS["llama-3-405b"].table().model_copy(update={"sequence": self.sequence})
            return float(shapes.step_flops(tokens))
        s, vocabulary = self.sequence, _GPT["vocabulary"]
        return 96 * tokens * depth * h**2 * (1 + s / (6 * h) + vocabulary / (16 * depth * h))

    def ours(self, seconds: float) -> float:
        """What is compared: seconds, or Tflop/s of a GPU."""
        return seconds if self.of.unit == "s" else self.operations / seconds / self.gpus / 1e12

    def efficiency(self, model: str) -> float:
        """Share of the peak that computing alone reaches.

        With `MEMORY` a layer also writes and reads its activations, `h (10 + 24 / t + 5 a s / (h t))` bytes of a token
        (Korthikanti 2022, equation 2), once each (assumed), beside `(24 h^2 + 4 s h) / t` operations. With `ATTENTION`
        the `4 s h` operations of a token and layer that all pairs of tokens take reach `OF_ATTENTION`.
        """
        share, h, s, t = self.of.efficiency[model], self.hidden, self.sequence, self.tensor
        if model == MEMORY:
            bytes_ = h * (10 + 24 / t) + 5 * self.heads * s / t
            computing = (24 * h**2 + 4 * s * h) / t / (self.of.tflops * 1e12)
            return round(1 / (1 / share + 2 * bytes_ / A100_MEMORY / computing), 4)
        if model == ATTENTION:
            part = 12 * self.layers * s * h * self.batch * s / self.operations
            return round(1 / ((1 - part) / share + part / OF_ATTENTION), 4)
        return share


@lru_cache
def cases() -> dict[str, Case]:
    """Name -> case, as published."""
    text = (files("odonata.reproduce.training") / "published.csv").read_text("utf-8")
    made = {}
    for row in csv.DictReader(text.splitlines()):
        name, paper, where, value = row.pop("case"), row.pop("paper"), row.pop("where"), float(row.pop("value"))
        numbers = {key: int(number) for key, number in row.items()}
        made[name] = Case(name=name, paper=paper, where=where, value=value, **numbers)
    return made
