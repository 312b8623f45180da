"""Training of a model as an application: parallelism as people write it."""

from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import BeforeValidator, Field, PrivateAttr

from odonata.document import input_error_as_problem, validate
from odonata.errors import InputError
from odonata.machine.host import NO_COSTS, HostTable
from odonata.scenario.apps.app import JobNodes, Program
from odonata.scenario.apps.learning_options import as_nccl_chooses, for_each_gpu
from odonata.scenario.apps.train import graph, layout
from odonata.scenario.apps.train.options import TrainTable


def _train(value: Any) -> TrainTable:
    if isinstance(value, TrainTable):
        return value
    table = validate(TrainTable, value)
    table.checked()
    return table


class Train(Program):
    """A step of training a model that is named or given by its shapes, with every kind of parallelism.

    The ranks are a grid of tensor x context x data x pipeline, tensor fastest. `docs/training.md` says what a rank
    computes and sends, and where the bytes come from.
    """

    train: Annotated[TrainTable, BeforeValidator(input_error_as_problem(_train))] = Field(
        description="the model and how it is divided: a table (`odonata show parallelism`)"
    )

    _channels: bool = PrivateAttr(False)
    """Whether rings may use all links and NICs of nodes with GPUs."""

    @property
    def for_each_gpu(self) -> str | None:
        """The algorithm of its all-to-alls, if it is one for nodes with GPUs."""
        return for_each_gpu(self.train.algorithm)

    def on_nodes(self, nodes: JobNodes, overhead: HostTable) -> Self:
        """With the algorithm that NCCL takes, if it does, and with channels where each GPU has a rank."""
        try:
            algorithm = as_nccl_chooses(self.train.algorithm, nodes.count, overhead)
        except InputError as e:
            raise e.under("train") from None
        made = self.model_copy(update={"train": self.train.model_copy(update={"algorithm": algorithm})})
        made._channels = nodes.gpus_in_order
        return made

    def decided(self, ranks: int) -> Self:
        """With its groups filled in, and the number of microbatches."""
        try:
            return self.model_copy(update={"train": layout.decided(self.train, ranks)})
        except InputError as e:
            raise e.under("train") from None

    def body(self, ranks: int, folder: Path) -> dict[str, Any]:
        """The graph of each stage; calls and reductions take no time."""
        return self.body_with(ranks, folder, validate(HostTable, NO_COSTS))

    def body_with(self, ranks: int, folder: Path, overhead: HostTable) -> dict[str, Any]:  # noqa: ARG002
        """The same with the costs of calls of collectives and of reductions."""
        try:
            return graph.body(self.train, overhead, channels=self._channels)
        except InputError as e:
            raise e.under("train") from None
