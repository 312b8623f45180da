"""Bytes that the ranks of a training job send in a step, by dimension: closed forms."""

from __future__ import annotations

from typing import TYPE_CHECKING

from odonata.scenario.apps.train.layout import Layout, decided

if TYPE_CHECKING:
    from odonata.scenario.apps.train.options import TrainTable


def step_bytes(train: TrainTable, ranks: int) -> dict[str, int]:
    """Bytes that all ranks together send in a step, by dimension, without regard to algorithms.

    They are what rings send, and direct all-to-alls. Each is exact if all vectors can be divided among their groups;
    else it differs by less than a byte for each message. With `skew` the bytes of `expert` depend on the layer: this is
    their mean.

    Parameters
    ----------
    train
        The table, decided or not.
    ranks
        Ranks of the job.

    Returns
    -------
    dict of str to int
        Bytes of `tensor`, `context`, `pipeline`, `expert`, and `data` (gradients and parameters).

    Raises
    ------
    InputError
        As the scenario.

    Notes
    -----
    Sources: Narayanan 2021, section 3.2 and 3.3 (tensor: `8 b s h (t - 1) / t` numbers of a rank, a layer and a
    microbatch; pipeline: `b s h`); Rajbhandari 2020 (ZeRO), section 7 (twice the parameters; with stage 3 three times);
    the DeepSeek-V3 report, section 3.2 (experts).
    """
    layout = Layout(decided(train, ranks))
    train, shapes = layout.train, layout.train.shapes
    steps = layout.microbatches * layout.data * layout.context  # microbatches of all replicas, on their ranks
    tokens = train.microbatch * shapes.sequence // layout.context
    activation = tokens * shapes.hidden * train.element
    dense = sum(not shapes.is_moe(layer) for layer in range(shapes.layers))
    moe = shapes.layers - dense
    active = shapes.active or 0
    runs = 3 if train.recompute == "full" else 2
    # Around attention, and around a feed-forward part: a gather and a scatter, of (t - 1) vectors each.
    vectors = 2 * dense + moe * (1 + (1 if shapes.shared_experts else 0) + active)
    heads = shapes.kv_rank + shapes.rope if shapes.kv_rank else 2 * -(-shapes.kv // layout.tensor) * shapes.head_size
    passed = layout.stages * layout.chunks - 1
    hop = activation if train.sequence_parallel else activation * layout.tensor
    gone = tokens * active * shapes.hidden * (train.expert - 1)
    sent = (runs - 1) * ((train.dispatch or 0) + train.element) + 2 * train.element
    return {
        "tensor": runs * steps * 2 * (layout.tensor - 1) * vectors * activation,
        "context": runs * steps * (layout.context - 1) * shapes.layers * tokens * heads * train.element * layout.tensor,
        "pipeline": 2 * steps * passed * hop,
        "expert": steps * moe * gone * sent // train.expert,
        "data": _data(layout),
    }


def _data(layout: Layout) -> int:
    """Gradients and parameters of all stages; and of the embedding that the first and the last share."""
    train, total = layout.train, 0
    for stage in range(layout.stages):
        for chunk in range(layout.chunks):
            numbers = [(layout.edge_parameters(stage, chunk), 0), *map(layout.parameters, layout.blocks(stage, chunk))]
            for always, experts in numbers:
                total += _replicated(layout, always, layout.gradient_group.size)
                total += _replicated(layout, experts, layout.expert_gradient_group.size)
    if train.shapes.tied and layout.stages > 1:
        total += 2 * layout.width * -(-train.shapes.hidden * train.shapes.vocabulary // layout.tensor) * train.gradient
    return total


def _replicated(layout: Layout, parameters: int, group: int) -> int:
    """Bytes of all ranks of a stage for parameters of a rank that a group of ranks has."""
    train = layout.train
    gradients, gathered = parameters * train.gradient, parameters * train.element
    reduced = layout.microbatches if train.zero >= 2 else 1
    gathers = {0: 0, 1: 1, 2: 1, 3: 2 * layout.microbatches}[train.zero]
    vectors = (2 if train.zero == 0 else reduced) * gradients + gathers * gathered
    return layout.width // group * (group - 1) * vectors
