"""Inference as an application: prefill and decode on ranks of their own, and the transfer of keys and values."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import BeforeValidator, Field, PrivateAttr, SerializeAsAny

from odonata.document import Bandwidth, Count, Ratio, Table, input_error_as_problem, validate
from odonata.errors import InputError
from odonata.machine.host import NO_COSTS, HostTable
from odonata.scenario.apps.app import JobNodes, Program
from odonata.scenario.apps.learning_options import FlopRate, GroupAlgorithmTable, as_nccl_chooses, for_each_gpu
from odonata.scenario.apps.train.collectives import CollectiveTable
from odonata.scenario.apps.train.graph import COMPUTE, LAYERS, PIPELINE
from odonata.scenario.apps.train.layers import BlockWork, Work
from odonata.scenario.apps.train.layout import Block, Layout, check_passes, decided
from odonata.scenario.apps.train.options import TrainTable, efficiency_problem, model_of
from odonata.scenario.apps.train.shapes import ShapeTable, checked_time, picoseconds


class ServeTable(Table):
    """How a model answers requests."""

    model: Annotated[SerializeAsAny[ShapeTable], BeforeValidator(input_error_as_problem(model_of))] = Field(
        description="name of a model (`odonata show models`), or a table of its shapes (`odonata show shapes`)"
    )
    tensor: Count = Field(1, description="ranks of a tensor parallel group (default: 1)")
    replicas: Count | None = Field(
        None, description="pairs of a prefill and a decode instance (default: the remaining ranks)"
    )
    expert: Count = Field(
        1, description="ranks that the experts of a layer are divided among, within `replicas` (default: 1)"
    )
    requests: Count = Field(1, description="requests of a replica in an iteration (default: 1; assumed)")
    batch: Count | None = Field(
        None, description="requests that are decoded together; `requests` is a multiple (default: all; assumed)"
    )
    prompt: Count = Field(description="tokens of the prompt of a request")
    output: Count = Field(description="tokens that are decoded for a request")
    element: Count = Field(2, description="bytes of a number (default: 2, BF16)")
    peak: FlopRate = Field(
        989_400_000_000_000,
        description='floating-point operations per second of a GPU (default: "989.4 Tflop/s", as of `train`)',
    )
    efficiency: Ratio = Field(
        TrainTable.model_fields["efficiency"].default,
        description="share of `peak` that computing alone reaches (default: 0.5; assumed)",
    )
    memory: Bandwidth = Field(
        3_350_000_000_000 * 10**6,
        description='bandwidth of the memory of a GPU (default: "3.35 TB/s", data sheet of NVIDIA\'s H100 SXM)',
    )
    merge: Count = Field(1, description="layers whose collectives and transfers are done as one (default: 1)")
    algorithm: GroupAlgorithmTable | None = Field(None, description="how collectives are done (default: as of `train`)")

    def training(self) -> TrainTable:
        """The same division as that of a training job whose sequences are the prompts.

        Tensor ranks divide the heads and the tokens of a prompt. Raises InputError (path into this table).
        """
        keys = ("tensor", "expert", "element", "peak", "efficiency", "merge")
        same = {key: getattr(self, key) for key in keys}
        table = TrainTable.model_construct(
            **{**{key: field.default for key, field in TrainTable.model_fields.items()}, **same},
        )
        more = {"model": self.model, "data": self.replicas, "sequence": self.prompt, "algorithm": self.algorithm}
        return table.model_copy(update=more)


def _serve(value: Any) -> ServeTable:
    if isinstance(value, ServeTable):
        return value
    table = validate(ServeTable, value)
    efficiency_problem(table.efficiency)
    return table


class Serve(Program):
    """Requests to a model that is prefilled on one half of the ranks and decoded on the other half.

    The first half of the ranks prefills and the second half decodes: rank = tensor + T (replica + R half).
    `docs/training.md` says what a rank computes and sends. Sources: Zhong 2024 (DistServe); Patel 2024 (Splitwise).
    """

    serve: Annotated[ServeTable, BeforeValidator(input_error_as_problem(_serve))] = Field(
        description="the model and its requests: a table (`odonata show serving`)"
    )

    _channels: bool = PrivateAttr(False)
    """Whether rings may use all links and NICs of nodes with GPUs."""

    @property
    def for_each_gpu(self) -> str | None:
        """The algorithm of its all-to-alls, if it is one for nodes with GPUs."""
        return for_each_gpu(self.serve.algorithm)

    def on_nodes(self, nodes: JobNodes, overhead: HostTable) -> Self:
        """With the algorithm that NCCL takes, if it does, and with channels where each GPU has a rank."""
        try:
            algorithm = as_nccl_chooses(self.serve.algorithm, nodes.count, overhead)
        except InputError as e:
            raise e.under("serve") from None
        made = self.model_copy(update={"serve": self.serve.model_copy(update={"algorithm": algorithm})})
        made._channels = nodes.gpus_in_order
        return made

    def decided(self, ranks: int) -> Self:
        """With its groups and its batch filled in."""
        serve = self.serve
        try:
            batches = serve.requests // (serve.batch or serve.requests)
            passes = (serve.requests + batches * serve.output) * serve.model.layers // serve.merge
            check_passes(passes, "requests")
            if ranks % 2:
                raise InputError(f"prefill and decode have as many ranks each, but there are {ranks:,}")
            try:
                filled = decided(serve.training(), ranks // 2)
            except InputError as e:
                if e.path[:1] == ("data",):
                    raise InputError(f"half of the ranks: {e.message}", path=("replicas",)) from None
                if e.path[:1] == ("context",):
                    raise InputError(e.message, path=("prompt",)) from None
                raise
            batch = serve.batch or serve.requests
            if serve.requests % batch:
                message = f"{serve.requests} requests cannot be divided into batches of {batch}"
                raise InputError(message, path=("batch",))
        except InputError as e:
            raise e.under("serve") from None
        return self.model_copy(
            update={"serve": serve.model_copy(update={"replicas": filled.data, "batch": batch})},
        )

    def body(self, ranks: int, folder: Path) -> dict[str, Any]:
        """The graphs of both halves; calls and reductions take no time."""
        return self.body_with(ranks, folder, validate(HostTable, NO_COSTS))

    def body_with(self, ranks: int, folder: Path, overhead: HostTable) -> dict[str, Any]:  # noqa: ARG002
        """The same with the costs of calls of collectives and of reductions."""
        try:
            train = decided(self.serve.training(), ranks // 2)
            table = CollectiveTable(train.algorithm or {}, overhead, channels=self._channels)
            graph = _Graph(self.serve, Layout(train), table)
            stages = [graph.prefill(), graph.decode()]
            table.check_given("inference")
        except InputError as e:
            raise e.under("serve") from None
        return table.body(stages)


class _Graph:
    """The nodes of both halves."""

    def __init__(self, serve: ServeTable, layout: Layout, table: CollectiveTable) -> None:
        self._serve, self._layout, self._table = serve, layout, table
        self._blocks = layout.blocks(0, 0)
        self._prefill = BlockWork(layout, table)
        self._decode = DecodeWork(serve, layout, table)

    def prefill(self) -> list[dict[str, Any]]:
        """Requests one after the other; keys and values of a block leave when it is done, the last with the token."""
        nodes: list[dict[str, Any]] = []
        now: list[int] = []
        for request in range(self._serve.requests):
            for number, block in enumerate(self._blocks):
                now = _run(self._table, nodes, self._prefill.forward(block), now)
                if block is self._blocks[-1]:
                    now = _run(self._table, nodes, [self._output(1)], now)
                nodes.append({"cpu": PIPELINE, "after": now, "what": self._transfer("send", request, number, block)})
        return nodes

    def decode(self) -> list[dict[str, Any]]:
        """Batches one after the other, each when its keys and values are there."""
        nodes: list[dict[str, Any]] = []
        now: list[int] = []
        batch = self._serve.batch or 1
        for first in range(0, self._serve.requests, batch):
            for request in range(first, first + batch):
                for number, block in enumerate(self._blocks):
                    now = [*now, len(nodes)]
                    what = self._transfer("receive", request, number, block)
                    nodes.append({"cpu": PIPELINE, "after": [], "what": what})
            for _ in range(self._serve.output):
                for block in self._blocks:
                    now = _run(self._table, nodes, self._decode.forward(block), now)
                now = _run(self._table, nodes, [self._output(batch)], now)
        return nodes

    def _transfer(self, name: str, request: int, number: int, block: Block) -> dict[str, Any]:
        size = block.layers * self._serve.prompt * self._prefill.kv_numbers * self._serve.element
        tag = request * len(self._blocks) + number
        return {"name": name, "stage": int(name == "send"), "tag": tag, "bytes": size}

    def _output(self, tokens: int) -> Work:
        """The next token of so many requests."""
        serve, shapes = self._serve, self._serve.model
        read = shapes.hidden * shapes.vocabulary // serve.tensor * serve.element
        ps = picoseconds(tokens * shapes.output_flops() // serve.tensor, serve.peak, serve.efficiency)
        return Work(max(ps, checked_time(-(-read * 10**18 // serve.memory))))


class DecodeWork(BlockWork):
    """A decode step of a block: computing takes at least the time to read parameters, keys and values."""

    def __init__(self, serve: ServeTable, layout: Layout, table: CollectiveTable) -> None:
        super().__init__(layout, table)
        self._serve = serve
        self.tokens = serve.batch or serve.requests
        # A step has a token of each request, which a tensor group does not divide.
        self._train = self._train.model_copy(update={"sequence_parallel": False})

    def forward(self, block: Block) -> list[Work]:
        """The work of a step; the reads of its computing are those of attention, shared parts and experts."""
        reads = iter(self._reads(block))
        work = super().forward(block)
        return [step if step.collective is not None else self._at_least(step, next(reads)) for step in work]

    def _at_least(self, step: Work, numbers: int) -> Work:
        read = numbers * self._serve.element
        return replace(step, ps=max(step.ps, checked_time(-(-read * 10**18 // self._serve.memory))))

    def _reads(self, block: Block) -> list[int]:
        """Numbers that a rank reads."""
        shapes, tensor = self._shapes, self._layout.tensor
        keys = self.tokens * self._serve.prompt * self.kv_numbers
        attention = block.layers * (-(-shapes.attention_weights() // tensor) + keys)
        if not block.moe:
            return [attention, block.layers * -(-shapes.feed_forward_weights(shapes.inner) // tensor)]
        held = (shapes.experts or 0) // self._train.expert
        experts = min(held, self.tokens * (shapes.active or 0)) * shapes.expert_weights()
        shared = shapes.shared_experts * shapes.expert_weights() + shapes.hidden * (shapes.experts or 0)
        return [attention, block.layers * -(-shared // tensor), block.layers * -(-experts // tensor)]


def _run(table: CollectiveTable, nodes: list[dict[str, Any]], work: list[Work], now: list[int]) -> list[int]:
    """Appends computing and collectives, one after the other; returns what the next node waits for."""
    for step in work:
        if step.collective is None:
            nodes.append({"cpu": COMPUTE, "after": now, "what": {"name": "compute", "ps": step.ps}})
            now = [len(nodes) - 1]
        else:
            made = table.nodes(LAYERS, step.collective, now)
            now = list(range(len(nodes), len(nodes) + len(made)))
            nodes += made
    return now
