"""The tables and the values of the page `training`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from odonata.reproduce.markdown import number, reasons_by_model, side_by_side, table
from odonata.reproduce.training.cases import (
    A100_MEMORY,
    A100_PORT,
    ATTENTION,
    FEW_STAGES,
    HDR,
    MEMORY,
    OF_ATTENTION,
    PAPERS,
    STAGE_NODES,
    STATED,
    cases,
)
from odonata.reproduce.training.points import (
    EXPERIMENTS,
    PACKET,
    PRESET,
    TOLERANCE,
    gains,
    nodes,
    rates,
    replicas,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from odonata.reproduce.page import Texts
    from odonata.reproduce.reproduction import Runs
    from odonata.reproduce.rows import Row


def _layout(name: str) -> list[str]:
    """How a case is divided, on the machine and here."""
    of = cases()[name]
    point = {"case": name, "model": STATED}
    numbers = (of.tensor, of.context, of.pipeline, of.replicas, of.microbatches, of.microbatch, of.interleave, of.gpus)
    stages, microbatches = of.fewer
    here = (replicas(point), stages, microbatches, nodes(point))
    return [name, f"{of.of.source}, {of.where}", *(f"{value:,}" for value in (*numbers, *here))]


def _experiments(ours: dict[tuple[str, str], float]) -> str:
    """What a simulation of a case with another setting gives."""
    lines = []
    for case, settings in EXPERIMENTS.items():
        base = ours.get((case, STATED))
        for said in (STATED, *settings):
            value = ours.get((case, said))
            if value is not None:
                change = "" if base is None or said == STATED else f"{100 * (value / base - 1):+.1f} %"
                lines.append([case, said, number(value, cases()[case].of.unit), change])
    return table(["case", "simulated", "Tflop/s of a GPU", "difference"], lines, "llrr")


def _gains(ours: dict[tuple[str, str], float]) -> str:
    """The gain by interleaved stages and by divided tensors, published and ours."""
    lines = []
    for what, faster, slower in gains():
        theirs = 100 * (cases()[faster].value / cases()[slower].value - 1)
        fast, slow = (ours.get((name, MEMORY)) for name in (faster, slower))
        said = "" if fast is None or slow is None else f"{100 * (fast / slow - 1):.1f} %"
        lines.append([what, f"{theirs:.1f} %", said])
    return table(["gain by", "published", "ours"], lines, "lrr")


def of_runs(_rows: Sequence[Row], runs: Runs) -> dict[str, str]:
    """Tables of experiments and of gains."""
    ours = rates(runs)
    return {"experiments": _experiments(ours), "gains": _gains(ours)}


def of_rows(rows: Sequence[Row], _: Texts) -> dict[str, str]:
    """Verdicts, and the settings in the text."""
    shares = {(paper, model): share for paper, of in PAPERS.items() for model, share in of.efficiency.items()}
    return {
        "tolerance": TOLERANCE,
        "preset": PRESET,
        "port": A100_PORT,
        "nic": HDR,
        "packet": PACKET,
        "peak": f"{PAPERS['narayanan2021'].tflops:.0f} Tflop/s",
        "later_peak": f"{PAPERS['llama2024'].tflops:.1f} Tflop/s",
        "efficiency": ", ".join(
            f"{100 * share:.1f} % for {PAPERS[paper].fitted}"
            for (paper, model), share in shares.items()
            if model == STATED
        ),
        "memory_share": f"{100 * shares['narayanan2021', MEMORY]:.1f} %",
        "attention_share": f"{100 * OF_ATTENTION:.0f} %",
        "others_share": f"{100 * shares['llama2024', ATTENTION]:.1f} %",
        "memory_rate": f"{A100_MEMORY / 1e9:,.0f} GB/s",
        "smallest": f"{100 * cases()['1.7B'].efficiency(MEMORY):.1f} %",
        "largest": f"{100 * cases()['1008B'].efficiency(MEMORY):.1f} %",
        "stage_nodes": str(STAGE_NODES),
        "few_stages": str(FEW_STAGES),
        "layouts": table(
            [
                *("case", "source", "tensor", "context", "pipeline", "data", "microbatches", "sequences of one"),
                *("chunks", "GPUs", "replicas here", "stages here", "microbatches here", "nodes here"),
            ],
            [_layout(name) for name in cases()],
            "llrrrrrrrrrrrr",
        ),
        "rows": side_by_side([row for row in rows if row.id in ("TR1", "TR3")], (STATED, MEMORY, ATTENTION)),
        "figures": side_by_side([row for row in rows if row.id == "TR2"], (MEMORY,)),
        "reasons": reasons_by_model(rows),
    }
