"""Training: a step of training a large language model on a grid of ranks."""

from typing import Any, Literal, Self

from pydantic import Field

from odonata.document import Count
from odonata.errors import InputError
from odonata.scenario.apps.app import Motif
from odonata.scenario.apps.grid import by
from odonata.scenario.apps.values import MAX_MESSAGE_BYTES, Duration, MessageSize

#: The keys from which the sizes follow; all of them or none.
MODEL_KEYS = ("hidden", "layers", "sequence", "microbatch")
#: The keys that may be given instead.
BYTE_KEYS = ("tensor_bytes", "activation_bytes", "gradient_bytes")
#: All-reduces of a transformer layer over the tensor group in each direction (Narayanan 2021, section 2.3).
REDUCTIONS_PER_LAYER = 2
#: Bytes of a number in half precision.
HALF = 2


class Training(Motif):
    """A step of training a large language model with tensor, data and pipeline parallelism.

    The ranks are a grid of tensor x data x pipeline, tensor fastest, so that `ranks_per_node = tensor` keeps tensor
    groups on nodes. Messages inside a node take the costs of its host, and the network between its GPUs if its system
    has them. A stage of the pipeline alternates forward and backward passes of microbatches (1F1B). Its results are
    all-reduced over its tensor group and go to the next stage. At the end all gradients are all-reduced over the data
    group. Sizes are given (`tensor_bytes`, `activation_bytes`, `gradient_bytes`), or follow from a transformer of
    hidden size h, l layers, sequence length s, microbatches of b sequences, and e bytes of an element, on t tensor
    ranks and p stages:

        tensor      s b h e bytes, twice per layer and direction (none if t = 1)
        activation  s b h e / t bytes from each rank to the one of the next stage (scattered and gathered)
        gradient    (12 h^2 + 13 h) (l / p) / t elements; embeddings are left out

    each rounded up. A group of one rank sends nothing. Sources: Narayanan 2021, sections 2.2 to 2.4, 3.2, 4.1 and
    equation 2; Korthikanti 2022, section 4.
    """

    motif: Literal["training"]
    tensor: Count = Field(1, description="ranks of a tensor parallel group")
    pipeline: Count = Field(1, description="stages of the pipeline")
    data: Count | None = Field(None, description="ranks of a data parallel group (default: the remaining ranks)")
    microbatches: Count | None = Field(
        None,
        description="microbatches of a step (default: one per stage, the minimum that fills the pipeline; assumed)",
    )
    hidden: Count | None = Field(None, description="hidden size h")
    layers: Count | None = Field(None, description="layers l, a multiple of `pipeline`")
    sequence: Count | None = Field(None, description="tokens of a sequence, s")
    microbatch: Count | None = Field(None, description="sequences of a microbatch, b")
    element: Count | None = Field(None, description="bytes of an element, e (default: 2, half precision)")
    tensor_bytes: MessageSize | None = Field(None, description="bytes of an all-reduce over a tensor group")
    tensor_reductions: int | None = Field(
        None,
        description="all-reduces of a stage, a microbatch and a direction (default: 2 per layer, 2 without a model)",
    )
    activation_bytes: MessageSize | None = Field(
        None, description="bytes from a rank to the corresponding rank of the next stage"
    )
    gradient_bytes: MessageSize | None = Field(None, description="bytes of gradients that a rank all-reduces")
    forward: Duration = Field(
        0, description="computing time of a stage for the forward pass of a microbatch (default: none)"
    )
    backward: Duration | None = Field(
        None, description="the same for the backward pass (default: twice `forward`; Narayanan 2021, section 2.2)"
    )
    jitter: Duration = Field(0, description="mean of an additional exponential time for each pass (default: none)")

    def decided(self, ranks: int) -> Self:
        """With its grid and all sizes filled in."""
        data = self._data(ranks)
        filled: dict[str, Any] = {"data": data}
        filled["microbatches"] = self.microbatches or self.pipeline
        filled |= self._sizes(data)
        filled["backward"] = 2 * self.forward if self.backward is None else self.backward
        return self.model_copy(update=filled)

    def _data(self, ranks: int) -> int:
        others = self.tensor * self.pipeline
        if self.data is None and ranks % others:
            message = f"{ranks:,} ranks are not a multiple of tensor x pipeline = {self.tensor} x {self.pipeline}"
            raise InputError(message, path=("tensor",))
        data = self.data or ranks // others
        if data * others != ranks:
            grid = by((self.tensor, data, self.pipeline))
            hint = f"data = {ranks // others} would fit" if ranks % others == 0 else None
            message = f"tensor x data x pipeline = {grid} are {data * others:,}, but there are {ranks:,} ranks"
            raise InputError(message, hint=hint, path=("data",))
        return data

    def _sizes(self, data: int) -> dict[str, Any]:
        """Sizes and numbers of the messages. Raises InputError (path into the app's table)."""
        reductions = self.tensor_reductions
        if reductions is not None and not 0 <= reductions < 2**31:
            raise InputError(f"`tensor_reductions` must be 0 or more, found {reductions}", path=("tensor_reductions",))
        given = [key for key in MODEL_KEYS if getattr(self, key) is not None]
        if not given:
            for key, needed in zip(BYTE_KEYS, (self.tensor > 1, self.pipeline > 1, data > 1), strict=True):
                if needed and getattr(self, key) is None:
                    hint = f"or give the model: {', '.join(MODEL_KEYS)}"
                    raise InputError(f"the size of messages is missing: give `{key}`", hint=hint)
            if self.element is not None:
                raise InputError("`element` is used only with a model", path=("element",))
            return {"tensor_reductions": REDUCTIONS_PER_LAYER if reductions is None else reductions}
        for key in MODEL_KEYS:
            if getattr(self, key) is None:
                raise InputError(
                    f"the model has no `{key}`", hint=f"a model needs {', '.join(MODEL_KEYS)}", path=(given[0],)
                )
        return self._of_model(reductions)

    def _of_model(self, reductions: int | None) -> dict[str, Any]:
        hidden, layers, element = self.hidden or 0, self.layers or 0, self.element or HALF
        if layers % self.pipeline:
            message = f"{layers} layers cannot be divided into {self.pipeline} stages"
            raise InputError(message, path=("layers",))
        tokens = (self.sequence or 0) * (self.microbatch or 0)
        weights = (12 * hidden**2 + 13 * hidden) * (layers // self.pipeline)
        sizes = {
            "tensor_bytes": tokens * hidden * element,
            "activation_bytes": -(-tokens * hidden * element // self.tensor),
            "gradient_bytes": -(-weights * element // self.tensor),
        }
        for key in BYTE_KEYS:
            sizes[key] = getattr(self, key) or sizes[key]
            if sizes[key] > MAX_MESSAGE_BYTES:
                message = f"`{key}` would be {sizes[key]:,} B by this model, more than 2^40 B"
                raise InputError(message, path=("hidden",))
        usual = REDUCTIONS_PER_LAYER * layers // self.pipeline
        return {**sizes, "element": element, "tensor_reductions": usual if reductions is None else reductions}

    def phases(self, ranks: int) -> list[dict[str, Any]]:  # noqa: ARG002
        """A single phase."""
        groups = {"tensor_bytes": self.tensor, "activation_bytes": self.pipeline, "gradient_bytes": self.data or 1}
        training = {
            "name": "training",
            "tensor": self.tensor,
            "data": self.data,
            "pipeline": self.pipeline,
            "microbatches": self.microbatches,
            "tensor_reductions": self.tensor_reductions if self.tensor > 1 else 0,
            **{key: (getattr(self, key) or 0) if size > 1 else 0 for key, size in groups.items()},
            "forward_ps": self.forward,
            "backward_ps": self.backward,
            "jitter_ps": self.jitter,
        }
        return [{"what": training}]
