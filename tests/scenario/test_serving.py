"""Inference with prefill and decode apart: bytes against published sizes, the order of work, and what is refused."""

import pytest
import tomlkit

from odonata.errors import InputError
from odonata.machine import core
from odonata.runner import run
from odonata.scenario import parse
from odonata.scenario.apps.choice import read_app

SMALL = {"layers": 8, "hidden": 64, "heads": 4, "kv_heads": 2, "vocabulary": 128, "sequence": 64}
MOE = {**SMALL, "ffn": 128, "experts": 8, "active": 2, "shared_experts": 1}
REQUEST = {"prompt": 32, "output": 3}


def scenario(ranks, **keys):
    serve = {"model": SMALL, **REQUEST, **keys}
    job = {"name": "s", "nodes": 8, "ranks_per_node": ranks // 8, "app": {"serve": serve}, "overhead": "none"}
    return parse(tomlkit.dumps({"system": "tiny", "routing": "minimal", "job": [job]}))


def body(ranks, **keys):
    return scenario(ranks, **keys).resolve().spec["jobs"][0]["program"]["body"]


def sent(ranks, **keys):
    """Bytes inside the prefill half, from it to the decode half, and inside the decode half."""
    halves = {"prefill": 0, "transfer": 0, "decode": 0}
    for source, target, size in zip(*core.traffic(body(ranks, **keys), ranks).tolist()[:3], strict=True):
        here, there = source // (ranks // 2), target // (ranks // 2)
        assert (here, there) != (1, 0), "nothing comes back"
        if here != there:
            assert target - source == ranks // 2, "keys and values go to the rank with the same number"
        halves[("prefill", "decode")[here] if here == there else "transfer"] += size
    return halves


@pytest.mark.parametrize(
    ("model", "published"),
    [("deepseek-v3", 70_272), ("llama-3-405b", 516_096)],  # DeepSeek-AI 2025, Insights into DeepSeek-V3, table 1
)
def test_keys_and_values_of_a_token_have_their_published_size(model, published):
    app = read_app({"serve": {"model": model, "prompt": 64, "output": 1}}).decided(2)
    made = app.body(2, None)
    transfers = [node["what"]["bytes"] for node in made["stages"][0] if node["what"]["name"] == "send"]
    assert sum(transfers) == 64 * published


def test_bytes_of_requests_are_the_closed_forms():
    tensor, replicas, requests, batch = 4, 2, 6, 3
    found = sent(16, tensor=tensor, replicas=replicas, requests=requests, batch=batch)
    layers, h, e, prompt, output = 8, 64, 2, 32, 3
    # A gather and a scatter around both parts of a layer; decoding, an all-reduce behind each.
    assert found["prefill"] == replicas * requests * layers * 4 * (tensor - 1) * prompt * h * e
    steps = requests // batch * output
    assert found["decode"] == replicas * steps * layers * 2 * 2 * (tensor - 1) * batch * h * e
    keys = 2 * 1 * 16  # a head of keys and one of values of 16 numbers on each tensor rank; two ranks share a head
    assert found["transfer"] == replicas * tensor * requests * layers * prompt * keys * e


def test_experts_exchange_in_both_halves():
    found = sent(16, model=MOE, expert=4, replicas=8, requests=2)
    layers, h, e, active = 8, 64, 2, 2
    once = 8 * layers * active * h * e * 2 * 3 // 4
    assert found["prefill"] == 2 * 32 * once
    assert found["decode"] == 3 * 2 * once


def test_decoding_takes_the_time_to_read_the_model():
    """With slow memory a step takes its parameters, keys and values over the bandwidth; prefill does not change."""
    keys = {"requests": 1, "peak": "1000 Tflop/s"}

    def time(**more):
        return run(scenario(8, **keys, **more)).summary["jobs"][0]["time_ps"]

    shapes = read_app({"serve": {"model": SMALL, **REQUEST}}).serve.model
    kv = 2 * 2 * 16
    layer = shapes.attention_weights() + shapes.feed_forward_weights(shapes.inner) + 32 * kv
    read = 2 * (8 * layer + shapes.hidden * shapes.vocabulary)
    slow, slower = (time(memory=f"{rate} MB/s") for rate in (20, 10))
    outputs = 2 * shapes.hidden * shapes.vocabulary  # prefill reads the last matrix as well
    assert slower - slow == pytest.approx((3 * read + outputs) * 1e12 / 20e6, rel=1e-4)


def test_a_batch_waits_for_its_own_keys_and_values_only():
    nodes = body(8, requests=4, batch=2)["stages"][1]
    receives = [number for number, node in enumerate(nodes) if node["what"]["name"] == "receive"]
    computing = [number for number, node in enumerate(nodes) if node["what"]["name"] == "compute"]
    waits = [set(nodes[number]["after"]) & set(receives) for number in computing]
    assert [len(some) for some in waits if some] == [2 * 8, 2 * 8], "twice two requests of eight layers"
    assert len(receives) == len(set().union(*waits))


@pytest.mark.parametrize(
    ("keys", "words", "path"),
    [
        ({"tensor": 3}, "8 ranks are not a multiple", ("tensor",)),
        ({"replicas": 3}, "half of the ranks", ("replicas",)),
        ({"requests": 3, "batch": 2}, "3 requests cannot be divided into batches of 2", ("batch",)),
        ({"expert": 2}, "this one is dense", ("expert",)),
        ({"model": "mixtral"}, "unknown model `mixtral`", ("model",)),
        ({"efficiency": 0}, "an efficiency is above 0", ("efficiency",)),
        ({"prompts": 3}, "unknown key `prompts`", ("prompts",)),
        ({"algorithm": {"reduce-scatter": "ring"}}, "never runs `reduce-scatter`", ("algorithm", "reduce-scatter")),
        ({"algorithm": {"broadcast": "binary"}}, "never runs `broadcast`", ("algorithm", "broadcast")),
        ({"tensor": 2, "algorithm": {"alltoall": "bruck"}}, "never runs `alltoall`", ("algorithm", "alltoall")),
    ],
)
def test_what_cannot_be_divided_is_refused(keys, words, path):
    with pytest.raises(InputError) as caught:
        scenario(16, **keys).resolve()
    assert words in caught.value.message
    assert caught.value.path[-len(path) :] == path
    assert caught.value.line is not None


def test_algorithms_of_collectives_that_run_are_accepted():
    names = {"allreduce": "ring", "allgather": "ring", "reduce-scatter": "ring"}
    scenario(16, tensor=2, algorithm=names).resolve()
