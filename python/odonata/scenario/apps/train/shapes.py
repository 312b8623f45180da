"""The shapes of a transformer: its parameters, and the operations that a token takes."""

from fractions import Fraction

from pydantic import Field

from odonata.document import Count, Table
from odonata.errors import InputError
from odonata.scenario.apps.values import MAX_DURATION_PS


class ShapeTable(Table):
    """A transformer, as a table of shapes.

    Every layer has attention and a feed-forward part, which is dense or a mixture of experts. With `kv_rank` the
    attention is multi-head latent attention (DeepSeek-V2, section 2.1). Sources: Narayanan 2021, equation 2; the
    Llama 3 report, section 3.2; the DeepSeek-V3 report, section 2.1.
    """

    layers: Count = Field(description="layers")
    hidden: Count = Field(description="hidden size: numbers of a token between layers")
    heads: Count = Field(description="attention heads")
    kv_heads: Count | None = Field(None, description="heads of keys and values (default: `heads`)")
    head: Count | None = Field(None, description="size of a head (default: `hidden` / `heads`)")
    ffn: Count | None = Field(
        None, description="inner size of a dense feed-forward part (default: 4 x `hidden`; Narayanan 2021, section 2.3)"
    )
    gated: bool = Field(
        True, description="whether the feed-forward part has three matrices (SwiGLU) or two (default: true, as Llama 3)"
    )
    vocabulary: Count = Field(description="tokens of the vocabulary")
    tied: bool = Field(
        False, description="whether the input and the output use the same embedding (default: false, as Llama 3)"
    )
    biases: bool = Field(
        False,
        description="whether there are biases, LayerNorm and learned positions, as in GPT-3 (default: false, as "
        "Llama 3, which has RMSNorm only)",
    )
    sequence: Count = Field(description="tokens of a sequence")
    experts: Count | None = Field(None, description="routed experts of a layer (default: the model is dense)")
    active: Count | None = Field(None, description="with `experts`: experts that a token is routed to")
    expert_ffn: Count | None = Field(None, description="with `experts`: inner size of an expert (default: `ffn`)")
    shared_experts: int = Field(0, ge=0, description="with `experts`: experts that every token visits (default: 0)")
    dense_layers: int = Field(0, ge=0, description="with `experts`: first layers that are dense (default: 0)")
    query_rank: Count | None = Field(
        None, description="with `kv_rank`: rank of compressed queries (default: not compressed)"
    )
    kv_rank: Count | None = Field(None, description="rank of compressed keys and values (default: not compressed)")
    rope: int = Field(0, ge=0, description="with `kv_rank`: additional size of a head for positions (default: 0)")

    def checked(self) -> None:
        """Raises InputError (path into this table) for shapes that do not fit together."""
        if self.head is None and self.hidden % self.heads:
            message = f"a hidden size of {self.hidden:,} cannot be divided among {self.heads} heads"
            raise InputError(message, hint="give the size of a head, `head`", path=("heads",))
        if self.heads % (self.kv_heads or self.heads):
            message = f"{self.heads} heads cannot share {self.kv_heads} heads of keys and values equally"
            raise InputError(message, path=("kv_heads",))
        if self.experts is None:
            for key in ("active", "expert_ffn", "shared_experts", "dense_layers"):
                if getattr(self, key):
                    raise InputError(f"`{key}` is used only with `experts`", path=(key,))
        elif self.active is None:
            raise InputError("with `experts`, say how many a token is routed to: `active`", path=("experts",))
        elif self.active > self.experts:
            message = f"a token cannot be routed to {self.active} of {self.experts} experts"
            raise InputError(message, path=("active",))
        if self.dense_layers > self.layers:
            message = f"{self.dense_layers} dense layers are more than all {self.layers}"
            raise InputError(message, path=("dense_layers",))
        if self.kv_rank is None:
            for key in ("query_rank", "rope"):
                if getattr(self, key):
                    raise InputError(f"`{key}` is used only with `kv_rank`", path=(key,))

    @property
    def head_size(self) -> int:
        """Size of a head."""
        return self.head or self.hidden // self.heads

    @property
    def kv(self) -> int:
        """Heads of keys and values."""
        return self.kv_heads or self.heads

    @property
    def inner(self) -> int:
        """Inner size of a dense feed-forward part."""
        return self.ffn or 4 * self.hidden

    def is_moe(self, layer: int) -> bool:
        """Whether a layer, from 0, has experts."""
        return self.experts is not None and layer >= self.dense_layers

    def attention_weights(self) -> int:
        """Numbers in the matrices of the attention of a layer."""
        wide = self.heads * self.head_size
        if self.kv_rank is None:
            return 2 * self.hidden * wide + 2 * self.hidden * self.kv * self.head_size
        queries = self.heads * (self.head_size + self.rope)
        down = self.hidden * (self.kv_rank + self.rope) + self.kv_rank * 2 * wide + wide * self.hidden
        if self.query_rank is None:
            return down + self.hidden * queries
        return down + self.hidden * self.query_rank + self.query_rank * queries

    def feed_forward_weights(self, inner: int) -> int:
        """Numbers in the matrices of a dense feed-forward part or of an expert."""
        return (3 if self.gated else 2) * self.hidden * inner

    def expert_weights(self) -> int:
        """Numbers of one expert."""
        return self.feed_forward_weights(self.expert_ffn or self.inner)

    def layer_parameters(self, layer: int) -> tuple[int, int]:
        """Parameters of a layer: those outside routed experts, and those of all routed experts."""
        small = 13 * self.hidden if self.biases else 2 * self.hidden
        if not self.is_moe(layer):
            return self.attention_weights() + self.feed_forward_weights(self.inner) + small, 0
        experts = self.experts or 0
        router = self.hidden * experts
        always = self.attention_weights() + self.shared_experts * self.expert_weights() + router + small
        return always, experts * self.expert_weights()

    def input_parameters(self) -> int:
        """Parameters before the first layer."""
        return self.hidden * (self.vocabulary + (self.sequence if self.biases else 0))

    def output_parameters(self) -> int:
        """Parameters behind the last layer, without those that it shares with the input."""
        return (0 if self.tied else self.hidden * self.vocabulary) + (0 if self.biases else self.hidden)

    def parameters(self) -> int:
        """All parameters."""
        layers = sum(sum(self.layer_parameters(layer)) for layer in range(self.layers))
        return self.input_parameters() + layers + self.output_parameters()

    def active_parameters(self) -> int:
        """Parameters that a token uses."""
        unused = 0
        if self.experts is not None:
            moe = sum(map(self.is_moe, range(self.layers)))
            unused = moe * (self.experts - (self.active or 0)) * self.expert_weights()
        return self.parameters() - unused

    def attention_flops(self) -> int:
        """Operations of a token in the attention of a layer, forward: all pairs of tokens count (Narayanan 2021)."""
        width = 2 * self.head_size + self.rope
        return 2 * self.attention_weights() + 2 * self.sequence * self.heads * width

    def feed_forward_flops(self, layer: int) -> tuple[int, int]:
        """The same in the feed-forward part of a layer: outside routed experts, and in routed experts."""
        if not self.is_moe(layer):
            return 2 * self.feed_forward_weights(self.inner), 0
        router = self.hidden * (self.experts or 0)
        always = router + self.shared_experts * self.expert_weights()
        return 2 * always, 2 * (self.active or 0) * self.expert_weights()

    def output_flops(self) -> int:
        """The same behind the last layer."""
        return 2 * self.hidden * self.vocabulary

    def step_flops(self, tokens: int, *, recompute: bool = False) -> int:
        """Operations of a training step over so many tokens: backward passes take twice the forward ones.

        With `recompute` the layers run forward twice (Narayanan 2021, section 3.5: equation 3).
        """
        layers = self.layers * self.attention_flops() + sum(
            sum(self.feed_forward_flops(layer)) for layer in range(self.layers)
        )
        return tokens * ((4 if recompute else 3) * layers + 3 * self.output_flops())


def picoseconds(flops: Fraction | int, rate: int, efficiency: Fraction) -> int:
    """Time of operations at a share of a peak rate (1/s), in picoseconds, rounded up.

    Raises InputError if it is longer than the core allows.
    """
    exact = Fraction(flops) * 10**12 / (rate * efficiency)
    return checked_time(-(-exact.numerator // exact.denominator))


def checked_time(ps: int) -> int:
    """A time of computing in picoseconds, if it is one of the core; else InputError."""
    if ps > MAX_DURATION_PS:
        hint = "a higher `peak`, more ranks or a shorter sequence make it shorter"
        raise InputError("the layers of a rank would compute for longer than 2^54 ps (5 hours)", hint=hint)
    return ps
