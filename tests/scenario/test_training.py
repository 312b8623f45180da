"""Training with every kind of parallelism: parameters, bytes and times against published counts and closed forms."""

from fractions import Fraction
from pathlib import Path

import pytest
import tomlkit

from odonata.document import validate
from odonata.machine import core
from odonata.runner import run
from odonata.scenario import parse
from odonata.scenario.apps.choice import read_app
from odonata.scenario.apps.train import MODELS, ShapeTable, step_bytes
from odonata.scenario.apps.train.graph import COMPUTE, GATHER
from odonata.scenario.apps.train.layers import shares
from odonata.scenario.apps.train.layout import Layout, decided

SMALL = {"layers": 8, "hidden": 64, "heads": 4, "vocabulary": 128, "sequence": 64}
MOE = {**SMALL, "ffn": 128, "experts": 8, "active": 2, "shared_experts": 1, "dense_layers": 1}


def table(**keys):
    return read_app({"train": {"model": SMALL, **keys}}).train


def scenario(ranks, train, **job):
    app = {"train": {"model": SMALL, **train}}
    jobs = [{"name": "t", "nodes": ranks, "app": app, "overhead": "none", **job}]
    return parse(tomlkit.dumps({"system": "tiny", "routing": "minimal", "job": jobs}))


def body(ranks, **train):
    job = scenario(ranks, train, nodes=8, ranks_per_node=ranks // 8)
    return job.resolve().spec["jobs"][0]["program"]["body"]


def sent(ranks, **train):
    """Bytes that each rank sends to each other in a step, as the core counts them."""
    sources, targets, sizes, _ = core.traffic(body(ranks, **train), ranks)
    return list(zip(sources.tolist(), targets.tolist(), sizes.tolist(), strict=True))


# Models.


PUBLISHED = [
    ("llama-3-8b", 8.03e9, None),  # model card of Llama 3: 8.03 and 70.6 billion
    ("llama-3-70b", 70.6e9, None),
    ("llama-3-405b", 405e9, None),
    ("gpt-3-175b", 174.6e9, None),  # Narayanan 2021, table 2
    ("gpt-530b", 529.6e9, None),  # Narayanan 2021, table 1
    ("gpt-1t", 1008.0e9, None),
    ("mixtral-8x7b", 46.7e9, 12.9e9),  # Mistral AI, announcement of Mixtral
    ("deepseek-v3", 671e9, 37e9),  # DeepSeek-V3 report, section 4.2
]
"""Model, its parameters, and those that a token uses, as published."""


@pytest.mark.parametrize(("name", "published", "active"), PUBLISHED)
def test_parameters_are_those_published(name, published, active):
    shapes = MODELS[name].table()
    shapes.checked()
    assert shapes.parameters() == pytest.approx(published, rel=0.003)
    assert shapes.active_parameters() == pytest.approx(active or published, rel=0.02 if active else 0.003)
    assert MODELS[name].source


def test_every_model_is_compared_with_its_publication():
    assert {name for name, *_ in PUBLISHED} == set(MODELS)


def test_parameters_and_operations_of_gpt_are_equations_2_and_3_of_narayanan_2021():
    shapes = MODELS["gpt-1t"].table()
    layers, h, s, v = 128, 25_600, 2_048, 51_200
    assert shapes.parameters() == 12 * layers * h**2 + 13 * layers * h + (v + s) * h
    tokens = 3_072 * s
    equation = 96 * tokens * layers * h**2 * (1 + Fraction(s, 6 * h) + Fraction(v, 16 * layers * h))
    assert shapes.step_flops(tokens, recompute=True) == equation
    # Table 1: 3,072 GPUs, 163 Tflop/s each; section 5.1: 450 billion tokens would take 84 days.
    step = float(equation) / (3_072 * 163e12)
    assert step * 450e9 / tokens / 86_400 == pytest.approx(84, rel=0.02)


def test_an_active_expert_is_a_part_of_all():
    shapes = validate(ShapeTable, MOE)
    expert = 3 * 64 * 128
    assert shapes.expert_weights() == expert
    assert shapes.parameters() - shapes.active_parameters() == 7 * 6 * expert


# Bytes.

DIVISIONS = [
    {"data": 8},
    {"data": 16, "zero": 0},
    {"data": 8, "zero": 2, "microbatches": 3},
    {"data": 8, "zero": 3, "microbatches": 3},
    {"data": 8, "zero": 3, "microbatches": 2, "overlap": False},
    {"tensor": 4, "data": 2, "microbatches": 2},
    {"tensor": 4, "data": 4, "sequence_parallel": False, "pipeline": 2, "recompute": "full"},
    {"context": 4, "data": 2, "tensor": 2, "recompute": "full"},
    {"pipeline": 4, "data": 4, "microbatches": 8, "interleave": 2, "overlap": False},
    {"pipeline": 2, "tensor": 2, "context": 2, "data": 2, "merge": 3, "microbatch": 2, "split": [5, 3]},
    {"model": {**SMALL, "tied": True}, "pipeline": 4, "data": 2, "tensor": 2},
    {"model": MOE, "expert": 4, "data": 8, "dispatch": 1},
    {"model": MOE, "expert": 2, "data": 2, "tensor": 2, "pipeline": 2, "recompute": "full", "dispatch": 1},
    {"model": {**MOE, "kv_rank": 32, "rope": 8, "query_rank": 16}, "expert": 8, "context": 4, "data": 4, "zero": 3},
]


@pytest.mark.parametrize("train", DIVISIONS, ids=str)
def test_bytes_of_a_step_are_the_closed_forms(train):
    ranks = 16 if "split" in train or train.get("zero") == 0 else None
    ranks = ranks or train.get("tensor", 1) * train.get("context", 1) * train["data"] * train.get("pipeline", 1)
    expected = step_bytes(table(**train), ranks)
    assert sum(size for _, _, size in sent(ranks, **train)) == sum(expected.values())
    assert (expected["tensor"] > 0) == ("tensor" in train)
    assert (expected["expert"] > 0) == ("expert" in train)


def test_each_dimension_sends_its_bytes_to_its_neighbours():
    train = {"tensor": 2, "context": 2, "data": 2, "pipeline": 2, "microbatches": 3}
    expected = step_bytes(table(**train), 16)
    found = dict.fromkeys(expected, 0)
    for source, target, size in sent(16, **train):
        place = [(rank % 2, rank // 2 % 2, rank // 4 % 2, rank // 8) for rank in (source, target)]
        differ = [axis for axis in range(4) if place[0][axis] != place[1][axis]]
        found[["tensor", "context", "data", "pipeline"][differ[-1]]] += size
    assert (found["tensor"], found["pipeline"]) == (expected["tensor"], expected["pipeline"])
    # A ring over context x data crosses from one sequence to the next, so neighbours share its bytes with `context`.
    assert found["context"] + found["data"] == expected["context"] + expected["data"]


def test_tensor_and_pipeline_bytes_are_those_of_narayanan_2021():
    """Section 3.2: 8 b s h (t - 1) / t numbers of a GPU for each layer and microbatch; b s h between stages."""
    b, s, h, t, m = 2, 64, 64, 4, 3
    train = {"tensor": t, "pipeline": 2, "data": 2, "microbatches": m, "microbatch": b, "sequence_parallel": False}
    found = step_bytes(table(**train), 16)
    layers_of_a_gpu = 4
    assert Fraction(found["tensor"], 16) == 2 * m * layers_of_a_gpu * Fraction(8 * b * s * h * (t - 1), t)
    assert found["pipeline"] == 2 * b * s * h * (2 * m) * 8  # both ways, between 8 pairs of GPUs


@pytest.mark.parametrize(("zero", "factor"), [(0, 2), (1, 2), (2, 2), (3, 3)])
def test_zero_moves_twice_or_three_times_the_parameters(zero, factor):
    """Rajbhandari 2020, section 7: 2 psi, and 3 psi with divided parameters; here with gradients of 2 B."""
    train = {"data": 8, "zero": zero, "gradient": 2, "microbatches": 1}
    parameters = validate(ShapeTable, SMALL).parameters()
    assert sum(size for _, _, size in sent(8, **train)) == factor * 7 * 2 * parameters


def test_gradients_of_experts_are_reduced_among_ranks_with_the_same_experts():
    train = {"model": MOE, "expert": 4, "data": 8, "zero": 0, "gradient": 2, "microbatches": 1}
    tokens = step_bytes(table(**train), 8)["expert"]
    shapes = validate(ShapeTable, MOE)
    experts = 7 * 8 * shapes.expert_weights()
    everywhere = shapes.parameters() - experts
    # All-reduces: 8 ranks with the same numbers outside experts; 2 ranks, four apart, with a quarter of the experts.
    reduced = 2 * 2 * (7 * everywhere + 4 * experts // 4)
    found = sent(8, **train)
    assert sum(size for _, _, size in found) == tokens + reduced
    apart = sum(size for source, target, size in found if abs(source - target) == 4)
    assert apart == 2 * 2 * experts


def test_experts_move_what_deepseek_v3_says():
    """A token of 7,168 numbers goes to 8 experts in FP8 and comes back in BF16 (report, section 3.2)."""
    train = read_app({"train": {"model": "deepseek-v3", "expert": 64, "pipeline": 1, "dispatch": 1}}).train
    found = step_bytes(train, 64)["expert"]
    forward = 4_096 * 8 * 7_168 * (1 + 2) * Fraction(63, 64) * 58
    assert found == 64 * (forward + forward * Fraction(4, 3))


def test_skewed_experts_get_more_and_the_sum_stays():
    even, skewed = ({"model": MOE, "expert": 8, "data": 8, "skew": skew} for skew in (1, 1.5))
    received = dict.fromkeys(range(8), 0)
    first_layer = dict(enumerate(shares(8, Fraction(3, 2), 0)))
    assert (max(first_layer.values()), sum(first_layer.values())) == (Fraction(3, 16), 1)
    for _, target, size in sent(8, **skewed):
        received[target] += size
    flat = sum(size for _, _, size in sent(8, **even))
    assert sum(received.values()) == pytest.approx(flat, rel=0.01)
    assert max(received.values()) > min(received.values())


def test_sizes_are_those_of_the_motif_training():
    model = "hidden = 64, layers = 8, sequence = 64, microbatch = 1"
    motif = f'{{ motif = "training", tensor = 2, pipeline = 2, microbatches = 3, {model} }}'
    text = f'system = "tiny"\n[[job]]\nname = "m"\nnodes = 16\napp = {motif}\n'
    old = core.traffic(parse(text).resolve().spec["jobs"][0]["program"]["body"], 16)
    shapes = {**SMALL, "gated": False, "biases": True}
    train = {"model": shapes, "tensor": 2, "pipeline": 2, "microbatches": 3, "zero": 0, "gradient": 2}
    new = sent(16, **train)
    neighbours = {(a, b): size for a, b, size in new}
    for a, b, size in zip(*(column.tolist() for column in old[:3]), strict=True):
        if a // 2 == b // 2 or a // 8 != b // 8:
            assert neighbours[a, b] == size  # the motif leaves embeddings out of the gradients


# Times.

SLOW = {"peak": "1 Gflop/s", "efficiency": 1}


def step_ps(ranks, **train):
    result = run(scenario(ranks, {**SLOW, **train}))
    return result.summary["jobs"][0]["time_ps"]


def computing_ps(**train):
    """Computing of all stages for one microbatch, forward and backward, without the output."""
    shapes = table(**train).shapes
    return shapes.step_flops(64) * 10**12 // 10**9


@pytest.mark.parametrize(("stages", "chunks", "microbatches"), [(4, 1, 8), (4, 1, 2), (2, 2, 4), (4, 2, 8), (2, 4, 2)])
def test_the_bubble_is_that_of_narayanan_2021(stages, chunks, microbatches):
    """Section 2.2: (p - 1) / m of the time without a bubble, divided by the chunks of a stage."""
    shapes = {**SMALL, "vocabulary": 1, "hidden": 64}
    train = {"model": shapes, "pipeline": stages, "interleave": chunks, "microbatches": microbatches, "data": 1}
    ideal = microbatches * computing_ps(model=shapes) / stages
    found = step_ps(stages, **train) / ideal - 1
    assert found == pytest.approx((stages - 1) / microbatches / chunks, rel=0.02)


def test_computing_takes_operations_over_peak_and_efficiency():
    alone = step_ps(2, data=2, efficiency=0.5, zero=0)
    assert alone == pytest.approx(2 * computing_ps(), rel=0.02)
    assert step_ps(2, data=2, efficiency=0.5, zero=0, recompute="full") == pytest.approx(
        2 * validate(ShapeTable, SMALL).step_flops(64, recompute=True) * 1000, rel=0.02
    )


def test_gradients_are_reduced_beside_the_backward_pass():
    """With networks about as slow as computing, overlap saves time, and ZeRO-3 waits for less than everything."""
    keys = {"data": 8, "microbatches": 2, "peak": "200 Gflop/s"}
    for zero in (0, 1, 3):
        hidden, exposed = (step_ps(8, **{**keys, "zero": zero, "overlap": overlap}) for overlap in (True, False))
        assert hidden < 0.95 * exposed, zero


def test_no_layer_is_computed_before_its_parameters_are_there():
    for zero in (1, 2, 3):
        (nodes,) = body(8, data=8, zero=zero)["stages"]
        awaited = {before for node in nodes for before in node["after"]}
        gathers = [number for number, node in enumerate(nodes) if node["cpu"] == GATHER]
        waited = [
            number for number in gathers if any(number in node["after"] for node in nodes if node["cpu"] == COMPUTE)
        ]
        assert len(waited) >= 8, "a gather for each layer"
        assert awaited.issuperset(gathers)


def test_the_same_scenario_gives_the_same_step():
    train = {"tensor": 2, "pipeline": 2, "data": 4, "microbatches": 4}
    assert len({step_ps(16, **train) for _ in range(2)}) == 1


def test_merged_layers_send_the_same_bytes_in_fewer_messages():
    one, four = (body(16, tensor=2, pipeline=2, data=4, merge=merge) for merge in (1, 4))
    counts = [core.traffic(made, 16) for made in (one, four)]
    assert counts[0][2].sum() == counts[1][2].sum()
    assert counts[1][3].sum() < counts[0][3].sum() / 2


def test_a_split_layout_keeps_every_layer():
    train = decided(table(pipeline=2, interleave=2, split=[1, 3, 2, 2], merge=2, microbatches=2), 8)
    layout = Layout(train)
    layers = [
        layer
        for chunk in range(2)
        for stage in range(2)
        for block in layout.blocks(stage, chunk)
        for layer in range(block.first, block.first + block.layers)
    ]
    assert layers == list(range(8))


# The page.

PAGE = (Path(__file__).parents[2] / "docs" / "training.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "text", [text.split("```")[0] for text in PAGE.split("```toml\n")[1:]], ids=["name", "shapes", "serve"]
)
def test_an_example_of_the_page_resolves(text):
    text = text if text.startswith("[[job]]") else f'[[job]]\nname = "a"\nnodes = 8\n{text}'
    job = parse(f'system = "theta"\n{text}').resolve().spec["jobs"][0]
    assert job["program"]["body"]["name"] == "stages"
