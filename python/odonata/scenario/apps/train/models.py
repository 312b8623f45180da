"""The models that a scenario can name, with the sources of their shapes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from odonata.scenario.apps.train.shapes import ShapeTable


@dataclass(frozen=True)
class Model:
    """A model with published shapes."""

    about: str
    source: str
    shapes: dict[str, Any]

    def table(self) -> ShapeTable:
        """Its shapes as a table of a scenario has them."""
        from odonata.document import validate
        from odonata.scenario.apps.train.shapes import ShapeTable

        return validate(ShapeTable, self.shapes)


_LLAMA = "Llama Team 2024, The Llama 3 Herd of Models, table 3 and section 3.2; vocabulary: the released models"
_NARAYANAN = "Narayanan 2021, table 1 and section 5.1 (vocabulary 51,200, sequences of 2,048)"


def _llama(layers: int, hidden: int, ffn: int, heads: int) -> dict[str, Any]:
    sizes = {"layers": layers, "hidden": hidden, "ffn": ffn, "heads": heads}
    return {**sizes, "kv_heads": 8, "vocabulary": 128_256, "sequence": 8_192}


def _gpt(layers: int, hidden: int, heads: int) -> dict[str, Any]:
    sizes = {"layers": layers, "hidden": hidden, "heads": heads, "vocabulary": 51_200, "sequence": 2_048}
    return {**sizes, "gated": False, "tied": True, "biases": True}


MODELS: dict[str, Model] = {
    "llama-3-8b": Model("Llama 3 with 8 billion parameters", _LLAMA, _llama(32, 4_096, 14_336, 32)),
    "llama-3-70b": Model("Llama 3 with 70 billion parameters", _LLAMA, _llama(80, 8_192, 28_672, 64)),
    "llama-3-405b": Model("Llama 3 with 405 billion parameters", _LLAMA, _llama(126, 16_384, 53_248, 128)),
    "gpt-3-175b": Model(
        "GPT-3 with 175 billion parameters",
        "Brown 2020, Language Models are Few-Shot Learners, table 2.1; vocabulary: Narayanan 2021, section 5.1",
        _gpt(96, 12_288, 96),
    ),
    "gpt-530b": Model("GPT with 530 billion parameters", _NARAYANAN, _gpt(105, 20_480, 128)),
    "gpt-1t": Model("GPT with a trillion parameters", _NARAYANAN, _gpt(128, 25_600, 160)),
    "mixtral-8x7b": Model(
        "Mixtral, a mixture of 8 experts",
        "Jiang 2024, Mixtral of Experts, table 1",
        {
            "layers": 32,
            "hidden": 4_096,
            "heads": 32,
            "kv_heads": 8,
            "head": 128,
            "ffn": 14_336,
            "vocabulary": 32_000,
            "sequence": 32_768,
            "experts": 8,
            "active": 2,
        },
    ),
    "deepseek-v3": Model(
        "DeepSeek-V3, a mixture of 256 experts with latent attention",
        "DeepSeek-AI 2024, DeepSeek-V3 Technical Report, section 4.2; vocabulary: the released model. Without its "
        "module for the prediction of several tokens",
        {
            "layers": 61,
            "hidden": 7_168,
            "heads": 128,
            "head": 128,
            "ffn": 18_432,
            "vocabulary": 129_280,
            "sequence": 4_096,
            "query_rank": 1_536,
            "kv_rank": 512,
            "rope": 64,
            "experts": 256,
            "active": 8,
            "expert_ffn": 2_048,
            "shared_experts": 1,
            "dense_layers": 3,
        },
    ),
}
"""Model -> its shapes and their source."""
