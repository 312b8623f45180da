"""The keys of `train`: how a model is trained on the ranks of a job."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, SerializeAsAny

from odonata.document import Count, Ratio, Table, input_error_as_problem, validate
from odonata.errors import InputError, unknown
from odonata.scenario.apps.learning_options import FlopRate, GroupAlgorithmTable
from odonata.scenario.apps.train.models import MODELS
from odonata.scenario.apps.train.shapes import ShapeTable

#: Most passes of microbatches through layers (assumed: some hundred megabytes of nodes).
MOST_PASSES = 2**18


def model_of(value: Any) -> ShapeTable:
    """A model by its name or by a table of its shapes. Raises InputError (path into the table)."""
    if isinstance(value, ShapeTable):
        return value
    if isinstance(value, str):
        if value not in MODELS:
            raise unknown("model", value, MODELS)
        return MODELS[value].table()
    if not isinstance(value, Mapping):
        raise InputError(f"expected the name of a model or a table of its shapes, found `{value!r}`")
    table = validate(ShapeTable, value)
    table.checked()
    return table


def _split(value: Any) -> tuple[int, ...]:
    if not isinstance(value, list | tuple) or not value or not all(type(n) is int and 0 <= n < 2**31 for n in value):
        raise InputError(f"expected numbers of layers, such as [15, 16, 16, 14], found `{value!r}`")
    return tuple(value)


def efficiency_problem(value: Fraction) -> None:
    """Raises InputError (path `efficiency`) for an efficiency that cannot be."""
    if not 0 < value <= 1:
        raise InputError(f"an efficiency is above 0 and at most 1, found {float(value):g}", path=("efficiency",))


class TrainTable(Table):
    """How a model is trained."""

    model: Annotated[SerializeAsAny[ShapeTable], BeforeValidator(input_error_as_problem(model_of))] = Field(
        description="name of a model (`odonata show models`), or a table of its shapes (`odonata show shapes`)"
    )
    tensor: Count = Field(1, description="ranks of a tensor parallel group (default: 1)")
    context: Count = Field(1, description="ranks that share each sequence (default: 1)")
    data: Count | None = Field(None, description="replicas of the model (default: the remaining ranks)")
    pipeline: Count = Field(1, description="stages of the pipeline (default: 1)")
    expert: Count = Field(
        1,
        description="ranks that the experts of a layer are divided among, within context x data (default: 1)",
    )
    microbatches: Count | None = Field(
        None, description="microbatches of a replica in a step (default: one per stage; assumed)"
    )
    microbatch: Count = Field(1, description="sequences of a microbatch (default: 1; assumed)")
    sequence: Count | None = Field(None, description="tokens of a sequence (default: those of the model)")
    interleave: Count = Field(
        1, description="chunks of layers of each stage, for interleaved 1F1B (default: 1; Narayanan 2021, section 2.2)"
    )
    split: Annotated[tuple[int, ...], BeforeValidator(input_error_as_problem(_split))] | None = Field(
        None,
        description="layers of each chunk in the order in which a microbatch passes them (default: equally many)",
    )
    zero: Literal[0, 1, 2, 3] = Field(
        1,
        description="what the replicas divide (ZeRO): 0 nothing, 1 states of the optimiser, 2 also gradients, 3 also "
        "parameters (default: 1, as DeepSeek-V3)",
    )
    overlap: bool = Field(
        True,
        description="whether gradients are reduced beside the backward passes, and parameters gathered beside the "
        "forward ones (default: true, as Llama 3)",
    )
    sequence_parallel: bool = Field(
        True,
        description="whether tensor parallel groups also divide the activations between their matrices (default: "
        "true; Korthikanti 2022)",
    )
    recompute: Literal["none", "full"] = Field(
        "none", description="what a backward pass computes again (default: none, as Llama 3)"
    )
    element: Count = Field(2, description="bytes of a number of activations and parameters (default: 2, BF16)")
    gradient: Count = Field(
        4, description="bytes of a number of gradients when they are reduced (default: 4, FP32, as Llama 3)"
    )
    dispatch: Count | None = Field(
        None, description="bytes of a number on its way to an expert (default: `element`; 1 with FP8, as DeepSeek-V3)"
    )
    skew: Ratio = Field(
        Fraction(1),
        description="tokens of the busiest expert rank over their mean, 1 to 2; the others fall evenly from it "
        "(default: 1; assumed)",
    )
    peak: FlopRate = Field(
        989_400_000_000_000,
        description='floating-point operations per second of a GPU (default: "989.4 Tflop/s", BF16 without sparsity, '
        "data sheet of NVIDIA's H100 SXM; also the GPU of GH200)",
    )
    efficiency: Ratio = Field(
        Fraction(1, 2), description="share of `peak` that computing alone reaches (default: 0.5; assumed)"
    )
    merge: Count = Field(
        1,
        description="layers whose collectives are done as one, with the same bytes: a simulation with fewer messages "
        "(default: 1)",
    )
    algorithm: GroupAlgorithmTable | None = Field(
        None,
        description='how collectives are done, such as { allreduce = "rabenseifner" } (default: rings, as NCCL for '
        'large messages; all-to-alls `scattered`, as NCCL groups them; by rails with { alltoall = "pxn" })',
    )

    def checked(self) -> None:
        """Raises InputError (path into this table) for numbers outside their ranges."""
        efficiency_problem(self.efficiency)
        if not 1 <= self.skew <= 2:
            message = f"the busiest expert rank has 1 to 2 times the mean, found {float(self.skew):g}"
            raise InputError(message, path=("skew",))

    @property
    def shapes(self) -> ShapeTable:
        """The model, with the sequence of this table."""
        return self.model if self.sequence is None else self.model.model_copy(update={"sequence": self.sequence})
