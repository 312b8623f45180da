"""Training that cannot be divided is refused, with what was expected."""

from pathlib import Path

import pytest
import tomlkit

from odonata.errors import InputError
from odonata.scenario import parse
from odonata.scenario.apps.choice import read_app

SMALL = {"layers": 8, "hidden": 64, "heads": 4, "vocabulary": 128, "sequence": 64}
MOE = {**SMALL, "ffn": 128, "experts": 8, "active": 2, "shared_experts": 1, "dense_layers": 1}


def refused(ranks, **train):
    job = {"name": "t", "nodes": 8, "ranks_per_node": ranks // 8, "app": {"train": {"model": SMALL, **train}}}
    with pytest.raises(InputError) as caught:
        parse(tomlkit.dumps({"system": "tiny", "routing": "minimal", "job": [job]})).resolve()
    return caught.value


@pytest.mark.parametrize(
    ("train", "words", "path"),
    [
        ({"model": "llama-3-70"}, "unknown model `llama-3-70`", ("model",)),
        ({"tensor": 3}, "are not a multiple of tensor x context x pipeline = 3 x 1 x 1", ("tensor",)),
        ({"data": 4}, "are 4, but there are 16 ranks", ("data",)),
        ({"tensor": 8}, "4 attention heads cannot be divided among 8 tensor ranks", ("tensor",)),
        ({"pipeline": 16}, "8 layers cannot be divided into 16 stages", ("pipeline",)),
        ({"pipeline": 2, "split": [8, 1]}, "whose sum is 8; found 2 with the sum 9", ("split",)),
        ({"context": 16, "sequence": 8}, "8 tokens cannot be divided among context x tensor = 16 x 1", ("context",)),
        ({"expert": 2}, "this one is dense", ("expert",)),
        ({"model": MOE, "expert": 16}, "8 experts cannot be divided among 16 ranks", ("expert",)),
        ({"model": MOE, "expert": 3}, "cannot be divided into groups of 3 expert ranks", ("expert",)),
        ({"model": MOE, "skew": 1.5}, "`skew` needs several expert ranks", ("skew",)),
        ({"skew": 3}, "1 to 2 times the mean", ("skew",)),
        ({"efficiency": 2}, "an efficiency is above 0 and at most 1", ("efficiency",)),
        ({"pipeline": 2, "interleave": 2, "microbatches": 3}, "whole groups of 2 microbatches", ("microbatches",)),
        ({"interleave": 2}, "`interleave` needs a pipeline", ("interleave",)),
        ({"model": {**SMALL, "heads": 5}}, "cannot be divided among 5 heads", ("model", "heads")),
        ({"model": {**SMALL, "active": 1}}, "`active` is used only with `experts`", ("model", "active")),
        ({"microbatches": 2**16}, "524,288 passes through layers are more than 2^18", ("microbatches",)),
        ({"peak": "1 flop/s"}, "would compute for longer than 2^54 ps", ("train",)),
        ({"tensr": 2}, "unknown key `tensr`", ("tensr",)),
        ({"algorithm": {"allreduce": "rings"}}, "unknown algorithm `rings`", ("algorithm", "allreduce")),
    ],
)
def test_what_cannot_be_divided_is_refused(train, words, path):
    error = refused(16, **train)
    assert words in error.message
    assert error.path[-len(path) :] == path
    assert error.line is not None


def test_an_unknown_model_has_a_near_name():
    assert refused(16, model="llama-3-70").hint == "did you mean `llama-3-70b`?"


BINARY, PAIRWISE = {"broadcast": "binary"}, {"alltoall": "pairwise"}


@pytest.mark.parametrize(
    ("train", "algorithm", "hint"),
    [
        ({}, BINARY, "it runs `allgather`, `reduce-scatter`"),
        ({}, {"reduce": "binomial"}, "it runs `allgather`, `reduce-scatter`"),
        ({}, {"barrier": "dissemination"}, "it runs `allgather`, `reduce-scatter`"),
        ({}, PAIRWISE, "it runs `allgather`, `reduce-scatter`"),  # it is dense
        ({}, {"allreduce": "ring"}, "it runs `allgather`, `reduce-scatter`"),
        ({"zero": 0}, {"allgather": "ring"}, "it runs `allreduce`"),
        ({"zero": 0, "tensor": 2, "sequence_parallel": False}, {"allgather": "ring"}, "it runs `allreduce`"),
        ({"model": MOE}, PAIRWISE, "it runs `allgather`, `reduce-scatter`"),  # each rank has all experts
        ({"model": MOE, "expert": 2}, BINARY, "it runs `allgather`, `reduce-scatter`, `alltoall`"),
    ],
)
def test_algorithms_of_collectives_that_never_run_are_refused(train, algorithm, hint):
    """Catches options that are read and have no effect."""
    error = refused(16, algorithm={**algorithm}, **train)
    (name,) = algorithm
    assert (error.message, error.hint) == (f"this training never runs `{name}`", hint)
    assert error.path[-3:] == ("train", "algorithm", name)
    assert error.line is not None


def test_tokens_of_unequal_experts_have_no_other_algorithm():
    error = refused(16, model=MOE, expert=4, skew=1.5, algorithm=PAIRWISE)
    assert error.message.startswith("all-to-alls by `pairwise` have blocks of one size")


@pytest.mark.parametrize(
    ("train", "names"),
    [
        ({}, ("allgather", "reduce-scatter")),
        ({"zero": 0}, ("allreduce",)),
        ({"zero": 0, "tensor": 2}, ("allreduce", "allgather", "reduce-scatter")),
        ({"zero": 0, "tensor": 16, "model": {**SMALL, "heads": 16}}, ("allreduce", "allgather", "reduce-scatter")),
        ({"model": MOE, "expert": 2}, ("allgather", "reduce-scatter", "alltoall")),
    ],
)
def test_algorithms_of_collectives_that_run_are_accepted(train, names):
    """Also for gradients of a single replica, which more ranks would have."""
    usual = {"allreduce": "ring", "allgather": "ring", "reduce-scatter": "ring", "alltoall": "pairwise"}
    table = {"model": SMALL, **train, "algorithm": {name: usual[name] for name in names}}
    read_app({"train": table}).decided(16).body(16, Path())
