"""The graph of a training step for each stage of the pipeline, as the core reads it (docs/model.md, section 10)."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from odonata.scenario.apps.train.collectives import CollectiveTable
from odonata.scenario.apps.train.layers import BlockWork, Work
from odonata.scenario.apps.train.layout import Layout
from odonata.scenario.apps.train.schedule import Pass, passes
from odonata.scenario.apps.train.shapes import picoseconds

if TYPE_CHECKING:
    from odonata.machine.host import HostTable
    from odonata.scenario.apps.train.layout import Block
    from odonata.scenario.apps.train.options import TrainTable

COMPUTE, LAYERS, PIPELINE, REDUCE, GATHER = range(5)
"""CPUs of a rank: computing, collectives inside layers, messages between stages, reductions of gradients, gathers of
parameters. Each does one thing after the other, as a stream of a GPU."""


def body(train: TrainTable, overhead: HostTable, *, channels: bool) -> dict[str, Any]:
    """One step of a decided table, as the core reads it; with `channels` where each GPU has a rank, node by node.

    Raises InputError (path into the table) for messages that are too large, and for algorithms that nothing uses.
    """
    layout = Layout(train)
    table = CollectiveTable(train.algorithm or {}, overhead, channels=channels)
    stages = [StageGraph(layout, table, stage).nodes for stage in range(layout.stages)]
    table.check_given("training")
    return table.body(stages)


class StageGraph:
    """The nodes of a stage."""

    def __init__(self, layout: Layout, table: CollectiveTable, stage: int) -> None:
        self.nodes: list[dict[str, Any]] = []
        self._layout, self._table, self._stage = layout, table, stage
        self._work = BlockWork(layout, table)
        self._train = layout.train
        self._now: list[int] = []
        """What the next node of the pass waits for."""
        self._before: list[int] = []
        """What the block before the present one waited for: where its gathers may begin."""
        self._last: dict[int, list[int]] = {REDUCE: [], GATHER: []}
        """The last node of each stream."""
        self._gathered: dict[tuple[int, int], list[int]] = {}
        self._open: list[tuple[int, bool]] = []
        """Parameters whose gradients are reduced at the end of the step, and whether they are of experts."""
        self._build()

    def _build(self) -> None:
        layout, train = self._layout, self._train
        if train.zero in (1, 2) and train.overlap:
            self._gather_all()
        for turn in passes(self._stage, layout.stages, layout.chunks, layout.microbatches):
            self._pass(turn)
        for parameters, experts in self._open:
            self._reduce(parameters, experts, self._now)
        self._tied()
        if train.zero in (1, 2) and not train.overlap:
            self._now = self._now + self._last[REDUCE]
            self._gather_all()

    def _add(self, cpu: int, what: dict[str, Any], after: list[int]) -> int:
        self.nodes.append({"cpu": cpu, "after": sorted(set(after)), "what": what})
        return len(self.nodes) - 1

    def _collective(self, cpu: int, number: int, after: list[int]) -> list[int]:
        made = self._table.nodes(cpu, number, after)
        self.nodes += made
        return list(range(len(self.nodes) - len(made), len(self.nodes)))

    def _run(self, work: list[Work]) -> None:
        """Computing and collectives of a pass, one after the other."""
        for step in work:
            if step.collective is None:
                self._now = [self._add(COMPUTE, {"name": "compute", "ps": step.ps}, self._now)]
            else:
                self._now = self._collective(LAYERS, step.collective, self._now)

    def _pass(self, turn: Pass) -> None:
        blocks = list(self._layout.blocks(self._stage, turn.chunk))
        if turn.backward:
            blocks.reverse()
        self._receive(turn)
        self._gather_edge(turn)
        if turn.backward:
            self._output(turn)
        for block in blocks:
            start = self._now
            self._wait_for_parameters(turn, block)
            self._run(self._work.backward(block) if turn.backward else self._work.forward(block))
            self._before = start
            if turn.backward:
                self._gradients(turn, block)
        if not turn.backward:
            self._output(turn)
        elif edge := self._layout.edge_parameters(self._stage, turn.chunk):
            self._finished(turn, edge, False)
        self._send(turn)

    def _output(self, turn: Pass) -> None:
        """The computing behind the last layer."""
        layout, train = self._layout, self._train
        if layout.is_last(self._stage, turn.chunk):
            flops = train.shapes.output_flops() * self._work.tokens * (2 if turn.backward else 1)
            ps = picoseconds(Fraction(flops, layout.tensor), train.peak, train.efficiency)
            self._run([Work(ps)])

    # Messages between stages.

    def _receive(self, turn: Pass) -> None:
        layout = self._layout
        ends = layout.is_last if turn.backward else layout.is_first
        if not ends(self._stage, turn.chunk):
            shift = 1 if turn.backward else -1
            node = self._message("receive", turn, shift, turn.chunk * layout.stages + self._stage, [])
            self._now = [*self._now, node]

    def _send(self, turn: Pass) -> None:
        layout = self._layout
        ends = layout.is_first if turn.backward else layout.is_last
        if not ends(self._stage, turn.chunk):
            shift = -1 if turn.backward else 1
            self._message("send", turn, shift, turn.chunk * layout.stages + self._stage + shift, self._now)

    def _message(self, name: str, turn: Pass, shift: int, receiver: int, after: list[int]) -> int:
        layout = self._layout
        number = int(turn.backward) * layout.microbatches + turn.microbatch
        tag = number * layout.stages * layout.chunks + receiver
        peer = (self._stage + shift) % layout.stages
        what = {"name": name, "stage": peer, "tag": tag, "bytes": self._work.activation_bytes}
        return self._add(PIPELINE, what, after)

    # Parameters and gradients.

    def _gradients(self, turn: Pass, block: Block) -> None:
        always, experts = self._layout.parameters(block)
        self._finished(turn, always, False)
        if experts:
            self._finished(turn, experts, True)

    def _finished(self, turn: Pass, parameters: int, experts: bool) -> None:
        """A backward pass through parameters has ended."""
        sharded = self._train.zero >= 2
        if not sharded and turn.microbatch < self._layout.microbatches - 1:
            return
        if not self._train.overlap and turn.microbatch == self._layout.microbatches - 1:
            self._open.append((parameters, experts))
            return
        self._reduce(parameters, experts, self._now)
        if not self._train.overlap:
            self._now = [*self._now, *self._last[REDUCE]]

    def _reduce(self, parameters: int, experts: bool, after: list[int]) -> None:
        layout, train = self._layout, self._train
        group = layout.expert_gradient_group if experts else layout.gradient_group
        name = "reduce-scatter" if train.zero else "allreduce"
        if group.size == 1:
            self._table.single(name)
        else:
            number = self._table.number(name, group, parameters * train.gradient)
            self._last[REDUCE] = self._collective(REDUCE, number, after + self._last[REDUCE])

    def _gather(self, parameters: int, experts: bool, after: list[int]) -> list[int]:
        layout, train = self._layout, self._train
        group = layout.expert_gradient_group if experts else layout.gradient_group
        if group.size == 1:
            self._table.single("allgather")
            return []
        number = self._table.number("allgather", group, -(-parameters * train.element // group.size))
        self._last[GATHER] = self._collective(GATHER, number, after + self._last[GATHER])
        return self._last[GATHER]

    def _gather_block(self, block: Block, after: list[int]) -> list[int]:
        always, experts = self._layout.parameters(block)
        nodes = self._gather(always, False, after)
        return (self._gather(experts, True, after) or nodes) if experts else nodes

    def _gather_all(self) -> None:
        """All parameters of the stage, in the order in which forward passes need them."""
        for chunk in range(self._layout.chunks):
            edge = self._layout.edge_parameters(self._stage, chunk)
            if edge:
                self._gather(edge, False, self._now)
            for block in self._layout.blocks(self._stage, chunk):
                if nodes := self._gather_block(block, self._now):
                    self._gathered[chunk, block.first] = nodes

    def _wait_for_parameters(self, turn: Pass, block: Block) -> None:
        if self._train.zero == 3:
            # With overlap a gather may begin with the computing of the block before.
            self._now = [*self._now, *self._gather_block(block, self._before if self._train.overlap else self._now)]
            return
        if not turn.backward and turn.microbatch == 0:
            self._now = [*self._now, *self._gathered.get((turn.chunk, block.first), [])]

    def _gather_edge(self, turn: Pass) -> None:
        """Parameters before the first layer or behind the last, if they are divided as well."""
        edge = self._layout.edge_parameters(self._stage, turn.chunk)
        if self._train.zero == 3 and edge:
            nodes = self._gather(edge, False, self._before if self._train.overlap else self._now)
            self._now = [*self._now, *nodes]

    def _tied(self) -> None:
        """The two copies of a shared embedding exchange their gradients."""
        layout, train = self._layout, self._train
        if not train.shapes.tied or layout.stages == 1 or self._stage not in (0, layout.stages - 1):
            return
        peer = layout.stages - 1 - self._stage
        size = -(-train.shapes.hidden * train.shapes.vocabulary // layout.tensor) * train.gradient
        first = 2 * layout.microbatches * layout.stages * layout.chunks
        after = self._now + self._last[REDUCE]
        for name, tag in (("receive", first + peer), ("send", first + self._stage)):
            what = {"name": name, "stage": peer, "tag": tag, "bytes": size}
            self._add(REDUCE, what, after if name == "send" else [])
