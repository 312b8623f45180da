"""What a rank computes and communicates in the layers of a block."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from odonata.scenario.apps.train.shapes import picoseconds

if TYPE_CHECKING:
    from odonata.scenario.apps.train.collectives import CollectiveTable
    from odonata.scenario.apps.train.layout import Block, Layout


@dataclass(frozen=True)
class Work:
    """Computing, or a collective."""

    ps: int = 0
    collective: int | None = None


class BlockWork:
    """The work of blocks, one after the other as it is done."""

    def __init__(self, layout: Layout, table: CollectiveTable) -> None:
        self._layout, self._table, self._train = layout, table, layout.train
        self._shapes = layout.train.shapes
        self.tokens = layout.train.microbatch * self._shapes.sequence // layout.context
        """Tokens of a microbatch on a rank, before they are divided among a tensor group."""
        self._memory: dict[tuple[Block, bool], list[Work]] = {}

    @property
    def activation_bytes(self) -> int:
        """Bytes from a rank to its peer in the next stage for a microbatch."""
        whole = self.tokens * self._shapes.hidden * self._train.element
        return whole // self._layout.tensor if self._train.sequence_parallel else whole

    def forward(self, block: Block) -> list[Work]:
        """A forward pass through a block."""
        return self._known(block, False)

    def backward(self, block: Block) -> list[Work]:
        """A backward pass; with `recompute` after a forward one."""
        return self._known(block, True)

    def _known(self, block: Block, backward: bool) -> list[Work]:
        key = (block, backward)
        if key not in self._memory:
            parts = [self._attention(block, backward), self._feed_forward(block, backward)]
            work = [step for part in (reversed(parts) if backward else parts) for step in part]
            if backward and self._train.recompute == "full":
                work = self.forward(block) + work
            self._memory[key] = work
        return self._memory[key]

    def _attention(self, block: Block, backward: bool) -> list[Work]:
        keys = self._keys_and_values(block, backward)
        computing = [self._computing(block.layers * self._shapes.attention_flops(), backward)]
        # Keys and values are gathered before the attention, and their gradients scattered behind it.
        return self._in_tensor_group(block, computing + keys if backward else keys + computing)

    def _feed_forward(self, block: Block, backward: bool) -> list[Work]:
        always, routed = self._shapes.feed_forward_flops(block.first)
        if not block.moe:
            return self._in_tensor_group(block, [self._computing(block.layers * always, backward)])
        train, active = self._train, self._shapes.active or 0
        # All ranks wait for the busiest expert rank, so all take its time.
        inside = [self._computing(block.layers * train.skew * routed, backward)]
        if self._layout.tensor > 1:
            inside = self._gathered(block, inside, active)
        # Tokens go to their experts and come back; their gradients go the same ways.
        to, back = (train.element, train.element) if backward else (train.dispatch or train.element, train.element)
        routed_work = [*self._exchange(block, to, False), *inside, *self._exchange(block, back, True)]
        shared = self._computing(block.layers * always, backward)
        if self._shapes.shared_experts:
            return [*self._in_tensor_group(block, [shared]), *routed_work]
        return [shared, *routed_work]

    def _computing(self, flops: Fraction | int, backward: bool) -> Work:
        """Operations of a token on all tensor ranks, for the tokens of a microbatch; twice as many backward."""
        train = self._train
        all_flops = Fraction(flops) * self.tokens * (2 if backward else 1) / self._layout.tensor
        return Work(picoseconds(all_flops, train.peak, train.efficiency))

    def _in_tensor_group(self, block: Block, inside: list[Work]) -> list[Work]:
        """Work with what a tensor group exchanges around it (Narayanan 2021, section 2.3; Korthikanti 2022)."""
        if self._layout.tensor == 1:
            return inside
        if self._train.sequence_parallel:
            return self._gathered(block, inside, 1)
        size = block.layers * self.tokens * self._shapes.hidden * self._train.element
        return [*inside, self._collective("allreduce", size)]

    def _gathered(self, block: Block, inside: list[Work], copies: int) -> list[Work]:
        """Work between a gather of activations and a scatter of results."""
        size = copies * block.layers * self.tokens * self._shapes.hidden * self._train.element
        gather = self._collective("allgather", size // self._layout.tensor)
        return [gather, *inside, self._collective("reduce-scatter", size)]

    def _collective(self, name: str, size: int) -> Work:
        return Work(collective=self._table.number(name, self._layout.tensor_group, size))

    def _keys_and_values(self, block: Block, backward: bool) -> list[Work]:
        """What a context group exchanges: keys and values of all heads of a tensor rank (Llama 3 report, 3.3.2)."""
        if self._layout.context == 1:
            return []
        size = block.layers * self.tokens * self.kv_numbers * self._train.element
        name, size = ("reduce-scatter", size * self._layout.context) if backward else ("allgather", size)
        return [Work(collective=self._table.number(name, self._layout.context_group, size))]

    @property
    def kv_numbers(self) -> int:
        """Numbers of a token that a context group exchanges, of a tensor rank."""
        shapes = self._shapes
        if shapes.kv_rank is not None:
            return shapes.kv_rank + shapes.rope
        return 2 * -(-shapes.kv // self._layout.tensor) * shapes.head_size

    def _exchange(self, block: Block, element: int, back: bool) -> list[Work]:
        """The all-to-all of the tokens of a rank to their experts, or back."""
        layout, train, ranks = self._layout, self._train, self._train.expert
        if ranks == 1:
            return []
        size = block.layers * self.tokens * (self._shapes.active or 0) * self._shapes.hidden * element // layout.tensor
        if train.skew == 1:
            return [Work(collective=self._table.number("alltoall", layout.expert_group, -(-size // ranks)))]
        to = [size * share for share in shares(ranks, train.skew, block.first)]
        row = [-(-part.numerator // part.denominator) for part in to]
        sizes = [[row[source]] * ranks for source in range(ranks)] if back else [row] * ranks
        return [Work(collective=self._table.exchange(layout.expert_group, sizes))]


def shares(ranks: int, skew: Fraction, layer: int) -> list[Fraction]:
    """The share of the tokens of each expert rank; the busiest has `skew` times the mean, and the others fall evenly.

    The busiest is another one in each layer. That shares fall evenly is assumed.
    """
    steps = [skew - 2 * (skew - 1) * Fraction(number, ranks - 1) for number in range(ranks)]
    return [steps[(rank + layer) % ranks] / ranks for rank in range(ranks)]
