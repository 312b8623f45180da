"""`training`: steps of training GPT on Selene (DGX A100) and Llama 3 405B on H100, by published rates and times.

- Narayanan 2021: Tflop/s of a GPU for models of 1.7 billion to a trillion parameters (table 1), and for GPT-3 with and
  without interleaved stages (figure 12) and with whole tensors between stages (figure 18).
- Smith 2022, section 2.4: seconds of a step of MT-NLG (530 billion) on 280, 350 and 420 nodes.
- Llama Team 2024, table 4: Tflop/s of a GPU on 8,192 and 16,384 GPUs.

How fast a GPU computes is no result of a network: one row of each paper gives the share of the peak that computing
alone reaches; it is then `fitted`, and the other rows follow.
"""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING

from odonata.reproduce.page import Page
from odonata.reproduce.reproduction import Reproduction
from odonata.reproduce.rows import explained_by_model, statement
from odonata.reproduce.training.cases import ATTENTION, MEMORY, STATED, cases
from odonata.reproduce.training.points import TOLERANCE, gains, make, points, rates
from odonata.reproduce.training.text import of_rows, of_runs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from odonata.reproduce.reproduction import Runs
    from odonata.reproduce.rows import Row

IDS = {"table 1": "TR1", "section 2.4": "TR1", "figure 12": "TR2", "figure 18": "TR2", "table 4": "TR3"}
CAUSES = {
    MEMORY: "all matrices reach the same share of the peak in this model, and activations take no time",
    ATTENTION: "attention reaches the same share of the peak as other matrices in this model",
}
"""Model that gives what *stated* misses -> what the two differ in."""


def rows(runs: Runs) -> list[Row]:
    """Ours over theirs for every case and model, and whether what the paper gains by a setting is gained here."""
    ours, statements = rates(runs), []
    for (name, model), value in ours.items():
        of = cases()[name]
        if model not in of.models:
            continue
        statements.append(
            statement(
                *(IDS[of.where], f"{of.of.what}, {name}", value, of.value, of.of.unit, TOLERANCE),
                f"{of.of.source}, {of.where}",
                model=model,
                kind="F" if of.of.fitted == name else "R",
            )
        )
    for what, faster, slower in gains():
        fast, slow = (ours.get((name, MEMORY)) for name in (faster, slower))
        if fast is not None and slow is not None:
            theirs, where = cases()[faster].value / cases()[slower].value, f"Narayanan 2021, {cases()[slower].where}"
            statements.append(statement("TR4", f"gain by {what}", fast / slow, theirs, "x", "> 1", where, model=MEMORY))
    return statements


def explained(rows: Sequence[Row]) -> list[Row]:
    """What *stated* misses and a model with one more cost of computing gives has this cost as its cause."""
    made = [*rows]
    for model, why in CAUSES.items():
        made = explained_by_model(made, model, [STATED], why, f"the same row of the model *{model}*")
    return made


REPRODUCTION = Reproduction(
    name="training",
    title="Steps of training GPT on Selene (DGX A100) and Llama 3 405B on H100: published rates and times",
    points=points,
    make=make,
    rows=rows,
    explain=explained,
    text=Page(lambda: (files("odonata.reproduce.training") / "steps.md").read_text("utf-8"), of_rows, of_runs),
)
