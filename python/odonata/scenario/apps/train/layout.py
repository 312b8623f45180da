"""How the ranks, the layers and the parameters of a training job are divided."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

from odonata.errors import InputError
from odonata.scenario.apps.grid import by
from odonata.scenario.apps.train.options import MOST_PASSES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from odonata.scenario.apps.train.options import TrainTable


@dataclass(frozen=True)
class Block:
    """Layers of a chunk whose collectives are done as one."""

    first: int
    """The first layer, from 0."""
    layers: int
    moe: bool


@dataclass(frozen=True)
class Group:
    """Ranks of a stage that do a collective together: those along an axis of a grid."""

    grid: tuple[int, ...]
    axis: int

    @property
    def size(self) -> int:
        """Ranks of a group."""
        return self.grid[self.axis]

    @property
    def stride(self) -> int:
        """The distance of its ranks in the ranks of the job."""
        return prod(self.grid[: self.axis])


def decided(train: TrainTable, ranks: int) -> TrainTable:
    """The table with what depends on the number of ranks.

    Raises InputError (path into the table) for groups that are not all ranks, and for what cannot be divided.
    """
    others = train.tensor * train.context * train.pipeline
    grid = f"tensor x context x pipeline = {by((train.tensor, train.context, train.pipeline))}"
    if train.data is None and ranks % others:
        raise InputError(f"{ranks:,} ranks are not a multiple of {grid} = {others:,}", path=("tensor",))
    data = train.data or ranks // others
    if data * others != ranks:
        whole = by((train.tensor, train.context, data, train.pipeline))
        hint = f"data = {ranks // others} would fit" if ranks % others == 0 else None
        message = f"tensor x context x data x pipeline = {whole} are {data * others:,}, but there are {ranks:,} ranks"
        raise InputError(message, hint=hint, path=("data",))
    check_passes((train.microbatches or train.pipeline) * train.model.layers // train.merge, "microbatches")
    filled = train.model_copy(
        update={
            "data": data,
            "microbatches": train.microbatches or train.pipeline,
            "sequence": train.shapes.sequence,
            "dispatch": train.dispatch or train.element,
            "split": _split(train),
        }
    )
    _check_schedule(filled)
    _check_division(filled)
    return filled


def check_passes(passes: int, key: str) -> None:
    """Raises InputError (path `key`) for more passes through layers than fit into memory."""
    if passes > MOST_PASSES:
        message = f"{passes:,} passes through layers are more than 2^18"
        raise InputError(message, hint="`merge` makes one of several layers", path=(key,))


def _split(train: TrainTable) -> tuple[int, ...]:
    chunks, layers = train.pipeline * train.interleave, train.model.layers
    name = "stages" if train.interleave == 1 else "chunks (pipeline x interleave)"
    if train.split is None:
        if layers % chunks:
            hint = f"divide them with `split`, a list of {chunks} numbers whose sum is {layers}"
            raise InputError(f"{layers} layers cannot be divided into {chunks} {name}", hint=hint, path=("pipeline",))
        return (layers // chunks,) * chunks
    if len(train.split) != chunks or sum(train.split) != layers:
        message = (
            f"expected {chunks} numbers, one for each of the {name}, whose sum is {layers}; "
            f"found {len(train.split)} with the sum {sum(train.split)}"
        )
        raise InputError(message, path=("split",))
    return train.split


def _check_schedule(train: TrainTable) -> None:
    if train.interleave == 1:
        return
    if train.pipeline == 1:
        raise InputError("`interleave` needs a pipeline of several stages", path=("interleave",))
    if (train.microbatches or 0) % train.pipeline:
        message = f"interleaved stages need whole groups of {train.pipeline} microbatches, found {train.microbatches}"
        raise InputError(message, hint="microbatches are a multiple of `pipeline`", path=("microbatches",))


def _check_division(train: TrainTable) -> None:
    shapes, tensor = train.shapes, train.tensor
    for key, number, what in (
        ("tensor", shapes.heads, "attention heads"),
        ("tensor", shapes.inner, "numbers inside a feed-forward part"),
    ):
        if number % tensor:
            message = f"{number:,} {what} cannot be divided among {tensor} tensor ranks"
            raise InputError(message, path=(key,))
    if shapes.sequence % (train.context * tensor):
        message = f"{shapes.sequence:,} tokens cannot be divided among context x tensor = {train.context} x {tensor}"
        raise InputError(message, path=("context",) if train.context > 1 else ("tensor",))
    replicas = train.context * (train.data or 1)
    if train.expert > 1 and shapes.experts is None:
        raise InputError("`expert` is for models with experts, and this one is dense", path=("expert",))
    if replicas % train.expert:
        message = f"context x data = {replicas} ranks cannot be divided into groups of {train.expert} expert ranks"
        raise InputError(message, path=("expert",))
    if shapes.experts is not None and shapes.experts % train.expert:
        message = f"{shapes.experts} experts cannot be divided among {train.expert} ranks"
        raise InputError(message, path=("expert",))
    if shapes.experts is not None and tensor > 1 and not train.sequence_parallel:
        message = "experts on several tensor ranks need `sequence_parallel`, as in Megatron-LM"
        raise InputError(message, path=("sequence_parallel",))
    if train.skew != 1 and train.expert == 1:
        raise InputError("`skew` needs several expert ranks: `expert`", path=("skew",))


class Layout:
    """The division of a decided table: rank = tensor + T (context + C (data + D stage))."""

    def __init__(self, train: TrainTable) -> None:
        self.train = train
        self.tensor, self.context, self.data = train.tensor, train.context, train.data or 1
        self.stages, self.chunks = train.pipeline, train.interleave
        self.microbatches = train.microbatches or 1
        self.replicas = self.context * self.data
        self.width = self.tensor * self.replicas
        split = train.split or ()
        starts = [sum(split[:chunk]) for chunk in range(len(split))]
        self._blocks = [_blocks(train, first, count) for first, count in zip(starts, split, strict=True)]

    @property
    def tensor_group(self) -> Group:
        """The ranks that share each layer."""
        return Group((self.tensor, self.replicas), 0)

    @property
    def context_group(self) -> Group:
        """The ranks that share each sequence."""
        return Group((self.tensor, self.context, self.data), 1)

    @property
    def expert_group(self) -> Group:
        """The ranks that the experts are divided among."""
        return Group((self.tensor, self.train.expert, self.replicas // self.train.expert), 1)

    @property
    def gradient_group(self) -> Group:
        """The ranks with the same parameters outside experts."""
        return Group((self.tensor, self.replicas), 1)

    @property
    def expert_gradient_group(self) -> Group:
        """The ranks with the same experts."""
        return Group((self.tensor * self.train.expert, self.replicas // self.train.expert), 1)

    def blocks(self, stage: int, chunk: int) -> Sequence[Block]:
        """The layers of a chunk of a stage."""
        return self._blocks[chunk * self.stages + stage]

    def is_first(self, stage: int, chunk: int) -> bool:
        """Whether a microbatch begins in this chunk."""
        return stage == chunk == 0

    def is_last(self, stage: int, chunk: int) -> bool:
        """Whether a microbatch ends in this chunk."""
        return (stage, chunk) == (self.stages - 1, self.chunks - 1)

    def parameters(self, block: Block) -> tuple[int, int]:
        """Parameters of a rank in a block: outside routed experts, and of its experts; each rounded up."""
        layers = range(block.first, block.first + block.layers)
        of_layers = [self.train.shapes.layer_parameters(layer) for layer in layers]
        always, experts = (sum(numbers) for numbers in zip(*of_layers, strict=True))
        return -(-always // self.tensor), -(-experts // (self.tensor * self.train.expert))

    def edge_parameters(self, stage: int, chunk: int) -> int:
        """Parameters of a rank before the first layer and behind the last one, as far as the chunk has them."""
        shapes, total = self.train.shapes, 0
        if self.is_first(stage, chunk):
            total += shapes.input_parameters()
        if self.is_last(stage, chunk):
            total += shapes.output_parameters()
            if shapes.tied and self.stages > 1:
                total += shapes.hidden * shapes.vocabulary  # a copy of the embedding of the first stage
        return -(-total // self.tensor)


def _blocks(train: TrainTable, first: int, count: int) -> list[Block]:
    """Up to `merge` layers of one kind each."""
    blocks: list[Block] = []
    for layer in range(first, first + count):
        moe = train.shapes.is_moe(layer)
        if blocks and blocks[-1].moe == moe and blocks[-1].layers < train.merge:
            blocks[-1] = Block(blocks[-1].first, blocks[-1].layers + 1, moe)
        else:
            blocks.append(Block(layer, 1, moe))
    return blocks
