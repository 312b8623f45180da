"""`training`: steps of training GPT on Selene (DGX A100), by published rates and times.

- Narayanan 2021, table 1: Tflop/s of a GPU for models of 1.7 to 530 billion parameters.
- Smith 2022, section 2.4: seconds of a step of MT-NLG (530 billion) on 280, 350 and 420 nodes.

How fast a GPU computes is no result of a network: `EFFICIENCY` makes one row of each paper agree, which is then
`fitted`, and the other rows follow. A simulation has fewer replicas than the machine (`STAGE_NODES`).
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import tomlkit

from odonata import scenario
from odonata.reproduce.markdown import bold, counted, counts, reasons_by_model, table
from odonata.reproduce.page import Page
from odonata.reproduce.reproduction import Reproduction
from odonata.reproduce.rows import statement

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from odonata.reproduce.page import Texts
    from odonata.reproduce.reproduction import Points, Runs
    from odonata.reproduce.rows import Row
    from odonata.scenario import Scenario

TOLERANCE = "10 %"
"""Stated before the first run."""
PRESET = "superpod-h100-gpu"
A100, HDR = "240 GB/s", "200 Gbit/s"
"""A port of a GPU, as on the page `nccl`, and a NIC of a DGX A100."""
GPUS_OF_A_NODE = 8
PEAK, PEAK_TFLOPS = "312 Tflop/s", 312
"""BF16 without sparsity (data sheet of NVIDIA's A100)."""
SEQUENCE, VOCABULARY = 2_048, 51_200
"""Tokens of a sequence and of the vocabulary (Narayanan 2021, section 5.1; Smith 2022, section 2.3)."""
EFFICIENCY = {"narayanan2021": 0.58, "smith2022": 0.51}
"""Share of the peak that computing alone reaches: so that the row of `FITTED` has its published value."""
FITTED = {"narayanan2021": "18.4B", "smith2022": "280 nodes"}
"""The smallest row of each paper with `tensor` = 8, where each GPU of a node has a gradient group of its own."""
STAGE_NODES = 4
"""Most nodes of a stage that are simulated: the replicas are as many as they hold."""
FEW_STAGES = 4
"""With longer pipelines a single replica is simulated, and the collectives of a stage's layers are done as one."""
PACKET, BUFFER = "65000 B", "1 MiB"
"""Packets that stand for bursts, and buffers that hold some (docs/training.md, "How large a step may be")."""
STATED = "stated"
"""The model whose rows are compared."""
VARIED = "7.5B"
"""The case that is also simulated in other ways:"""
VARIANTS: dict[str, dict[str, Any]] = {
    "twice the replicas": {"stage_nodes": 2 * STAGE_NODES},
    "packets of 16 KiB": {"packet": "16 KiB"},
    "collectives of all layers at once": {"merge": 36},
}
WHAT = {"narayanan2021": "rate of a GPU", "smith2022": "step of MT-NLG"}
UNITS = {"narayanan2021": "Tflop/s", "smith2022": "s"}
WHERE = {"narayanan2021": "Narayanan 2021, table 1", "smith2022": "Smith 2022, section 2.4"}
REDUCED = ("1.7B",)
"""Cases of the reduced form."""


@dataclass(frozen=True)
class Case:
    """A published step."""

    paper: str
    layers: int
    hidden: int
    heads: int
    tensor: int
    pipeline: int
    gpus: int
    batch: int
    value: float

    @property
    def replicas(self) -> int:
        """Of the machine."""
        return self.gpus // (self.tensor * self.pipeline)

    @property
    def microbatches(self) -> int:
        """Of a replica, of one sequence each."""
        return self.batch // self.replicas

    def simulated(self, stage_nodes: int = STAGE_NODES) -> int:
        """Replicas that are simulated."""
        if self.pipeline > FEW_STAGES:
            return 1
        return min(self.replicas, stage_nodes * GPUS_OF_A_NODE // self.tensor)

    def nodes(self, stage_nodes: int = STAGE_NODES) -> int:
        """Nodes that are simulated."""
        return self.simulated(stage_nodes) * self.tensor * self.pipeline // GPUS_OF_A_NODE

    @property
    def merge(self) -> int:
        """Layers whose collectives are done as one: those of a stage of a long pipeline."""
        return self.layers // self.pipeline if self.pipeline > FEW_STAGES else 1

    @property
    def operations(self) -> float:
        """Floating-point operations of a step of the machine, with the recomputed forward pass (equation 3)."""
        tokens, h, depth = self.batch * SEQUENCE, self.hidden, self.layers
        return 96 * tokens * depth * h**2 * (1 + SEQUENCE / (6 * h) + VOCABULARY / (16 * depth * h))

    def ours(self, seconds: float) -> float:
        """What is compared: seconds, or Tflop/s of a GPU."""
        return seconds if self.paper == "smith2022" else self.operations / seconds / self.gpus / 1e12


@lru_cache
def cases() -> dict[str, Case]:
    """Name -> case, as published."""
    text = (files("odonata.reproduce.training") / "published.csv").read_text("utf-8")
    made = {}
    for row in csv.DictReader(text.splitlines()):
        paper, name, value = row.pop("paper"), row.pop("case"), float(row.pop("value"))
        made[name] = Case(paper=paper, value=value, **{key: int(number) for key, number in row.items()})
    return made


def points(reduced: bool) -> Points:
    """All cases and the variants of one, or the smallest case."""
    named = REDUCED if reduced else (*cases(),)
    variants = () if reduced else (*VARIANTS,)
    return [{"case": name, "model": STATED} for name in named] + [
        {"case": VARIED, "model": variant} for variant in variants
    ]


def make(point: Mapping[str, Any]) -> Scenario:
    """The scenario of a point."""
    of, varied = cases()[point["case"]], VARIANTS.get(point["model"], {})
    links = {name: {"bandwidth": HDR, "buffer": BUFFER} for name in ("node", "leaf")}
    model = {"layers": of.layers, "hidden": of.hidden, "heads": of.heads, "gated": False, "tied": True, "biases": True}
    train = {
        "model": {**model, "vocabulary": VOCABULARY, "sequence": SEQUENCE},
        "tensor": of.tensor,
        "pipeline": of.pipeline,
        "microbatches": of.microbatches,
        "merge": varied.get("merge", of.merge),
        "zero": 0,
        "overlap": False,
        "sequence_parallel": False,
        "recompute": "full",
        "peak": PEAK,
        "efficiency": EFFICIENCY[of.paper],
    }
    document = {
        "system": {
            "preset": PRESET,
            "fabric": {"packet": varied.get("packet", PACKET), "links": links},
            "host": {"gpu": {"bandwidth": A100, "generation": "ampere", "cpu": "amd"}},
        },
        "job": [
            {
                "name": "step",
                "nodes": of.nodes(varied.get("stage_nodes", STAGE_NODES)),
                "ranks_per_node": GPUS_OF_A_NODE,
                "place": "contiguous",
                "app": {"train": train},
            }
        ],
        "run": {"seed": 1},
    }
    return scenario.parse(tomlkit.dumps(document), "training.toml")


def rows(runs: Runs) -> list[Row]:
    """Ours over theirs for every case."""
    statements = []
    for run in runs:
        of, name = cases()[run["case"]], run["case"]
        if run["model"] != STATED:
            continue
        what = f"{WHAT[of.paper]}, {name}"
        kind = "F" if FITTED[of.paper] == name else "R"
        ours, unit = of.ours(run["time_ps"] * 1e-12), UNITS[of.paper]
        statements.append(
            statement("TR1", what, ours, of.value, unit, TOLERANCE, WHERE[of.paper], model=STATED, kind=kind)
        )
    return statements


def _layout(name: str) -> list[str]:
    """How a case is divided, on the machine and here."""
    of = cases()[name]
    numbers = (of.tensor, of.pipeline, of.replicas, of.microbatches, of.gpus, of.simulated(), of.nodes())
    return [name, *(f"{number:,}" for number in numbers)]


def _of_runs(_rows: Sequence[Row], runs: Runs) -> dict[str, str]:
    """What a simulation on another scale gives for one case."""
    of = cases()[VARIED]
    ours = {run["model"]: of.ours(run["time_ps"] * 1e-12) for run in runs if run["case"] == VARIED}
    base = ours.get(STATED)
    lines = [
        [variant, f"{value:.1f}", "" if base is None else f"{100 * (value / base - 1):+.1f} %"]
        for variant, value in ours.items()
    ]
    return {"variants": table(["simulated", "Tflop/s of a GPU", "difference"], lines, "lrr")}


def _of_rows(rows: Sequence[Row], _: Texts) -> dict[str, str]:
    """Verdicts, and the settings in the text."""
    return {
        "counts": counts(rows, STATED),
        "tolerance": TOLERANCE,
        "preset": PRESET,
        "port": A100,
        "nic": HDR,
        "packet": PACKET,
        "peak": PEAK,
        "efficiency": " and ".join(
            f"{100 * EFFICIENCY[paper]:.1f} % for {WHAT[paper]} ({FITTED[paper]})" for paper in EFFICIENCY
        ),
        "stage_nodes": str(STAGE_NODES),
        "few_stages": str(FEW_STAGES),
        "varied": VARIED,
        "layouts": table(
            ["case", "tensor", "pipeline", "data", "microbatches", "GPUs", "replicas simulated", "nodes simulated"],
            [_layout(name) for name in cases()],
            "lrrrrrrr",
        ),
        "rows": table(
            ["what", "ours", "published", "unit", "ours / published", "verdict"],
            [
                [
                    row.what,
                    f"{row.ours:.1f}",
                    f"{row.theirs:.1f}",
                    row.unit,
                    f"{row.ours / row.theirs:.2f}",
                    bold(counted(row)),
                ]
                for row in rows
            ],
            "lrrlrl",
        ),
        "reasons": reasons_by_model(rows),
    }


REPRODUCTION = Reproduction(
    name="training",
    title="Steps of training GPT on Selene (DGX A100): published rates and times",
    points=points,
    make=make,
    rows=rows,
    text=Page(lambda: (files("odonata.reproduce.training") / "steps.md").read_text("utf-8"), _of_rows, _of_runs),
)
