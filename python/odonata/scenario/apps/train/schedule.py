"""The order of the passes of a pipeline stage: 1F1B, plain and interleaved (Narayanan 2021, sections 2.2.1, 2.2.2)."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Pass:
    """A pass of a microbatch through the layers of a chunk."""

    backward: bool
    chunk: int
    """Number of the chunk among those of the stage, from 0."""
    microbatch: int


def passes(stage: int, stages: int, chunks: int, microbatches: int) -> list[Pass]:
    """The passes of a stage in their order.

    First come forward passes, then forward and backward passes alternate, then come the remaining backward passes. With
    one chunk there are `stages - stage - 1` forward passes first, so at most `stages - stage` microbatches are between
    their two passes. With more chunks there are `2 (stages - stage - 1) + (chunks - 1) stages`, as Megatron-LM has it;
    all of them if there are only as many microbatches as stages. Microbatches then take turns in groups of `stages`.

    Parameters
    ----------
    stage
        The stage, from 0.
    stages
        Number of stages.
    chunks
        Chunks of layers of a stage; with more than 1, `microbatches` is a multiple of `stages`.
    microbatches
        Microbatches of a step.

    Returns
    -------
    list of Pass
        Two for each chunk and microbatch.
    """
    total = chunks * microbatches
    ahead = stages - stage - 1
    if chunks > 1:
        ahead = total if microbatches == stages else 2 * ahead + (chunks - 1) * stages
    ahead = min(ahead, total)
    order = [_pass(False, number, stages, chunks) for number in range(ahead)]
    for number in range(total - ahead):
        order.append(_pass(False, ahead + number, stages, chunks))
        order.append(_pass(True, number, stages, chunks))
    order += [_pass(True, number, stages, chunks) for number in range(total - ahead, total)]
    return order


def _pass(backward: bool, number: int, stages: int, chunks: int) -> Pass:
    """The pass with a number among all forward, or all backward passes of a stage."""
    if chunks == 1:
        return Pass(backward, 0, number)
    group, place = divmod(number, stages * chunks)
    chunk = place // stages
    return Pass(backward, chunks - 1 - chunk if backward else chunk, group * stages + place % stages)
