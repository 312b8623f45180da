"""Any contents of a scenario are resolved, or give an error for the user."""

import copy
import datetime
import json

import tomlkit
from hypothesis import given
from hypothesis import strategies as st

from odonata import _core
from odonata.errors import InputError
from odonata.scenario import parse

FULL = {
    "system": {
        "preset": "tiny",
        "groups": 3,
        "fabric": {"packet": "1 KiB", "nic": {"order": "round-robin"}, "links": {"local": {"buffer": "9 KiB"}}},
    },
    "routing": {"name": "fpar", "threshold": 0.5, "candidates": "one-group"},
    "sensing": {"kind": "credits", "delay": {"global": "150 ns"}, "levels": 16},
    "fabric": {"channels": 3, "links": {"global": {"latency": "10 ns", "credit_delay": "1 ns"}}},
    "job": [
        {
            "name": "a",
            "nodes": 4,
            "place": {"policy": "random", "groups": "0-1", "seed": 3},
            "routing": {"name": "valiant", "via": "leaf", "select": "hash"},
            "app": {"pattern": "stencil-3d", "grid": [1, 2, 2], "message": "1 KB", "interval": "1 us", "messages": 2},
        },
        {
            "name": "b",
            "place": {"policy": "per-leaf", "per_leaf": 1},
            "app": {
                "pattern": "group-peers",
                "tgll": 0.5,
                "interval": "2 us",
                "arrival": "staggered",
                "jitter": "1 ns",
            },
            "background": True,
        },
        {
            "name": "c",
            "place": {"nodes": [11, "9"]},
            "app": {"pattern": "broadcast", "root": 1, "message": "1 KiB", "interval": "1 us", "messages": 1},
            "record": "histogram",
        },
    ],
    "run": {"until": ["a", "1 ms"], "seed": 5, "horizon": "2 ms"},
    "measure": {"latency": "histogram", "links": {"every": "1 us"}, "warm_up": "0 s", "window": "3 us"},
}

PROGRAMS = {
    "system": "tiny",
    "job": [
        {
            "name": "a",
            "nodes": 4,
            "ranks_per_node": 2,
            "mapping": {"name": "random-ranks", "seed": 3},
            "iterations": 2,
            "gap": "1 us",
            "start": "1 us",
            "overhead": {"send": "1 ns", "copy": "1 GB/s", "eager": "1 KB", "control": "64 B"},
            "app": {"collective": "broadcast", "algorithm": "flat", "message": "1 KB", "root": 1},
        },
        {
            "name": "b",
            "nodes": 4,
            "app": {
                "motif": "phases",
                "iterations": 3,
                "mapping": "round-robin",
                "phases": [
                    {"compute": "1 us", "jitter": "1 ns"},
                    {"collective": "alltoall", "message": "1 KB", "along": {"grid": [2, 2], "axis": 1}},
                    {"motif": "halo3d26", "cells": [2, 3, 4], "fields": 2, "grid": [2, 2, 1], "periodic": True},
                    {"motif": "sweep3d", "cells": [2, 3, 4], "planes": 2, "sweeps": 4},
                    {"motif": "fft3d", "cells": [8, 8, 8], "width": 8},
                ],
            },
            "background": True,
        },
        {
            "name": "c",
            "nodes": 4,
            "app": {
                "motif": "training",
                "tensor": 2,
                "pipeline": 2,
                "hidden": 64,
                "layers": 4,
                "sequence": 8,
                "microbatch": 1,
                "microbatches": 2,
                "forward": "1 us",
            },
        },
        {
            "name": "e",
            "nodes": 1,
            "ranks_per_node": 8,
            "app": {
                "train": {
                    "model": {
                        "layers": 4,
                        "hidden": 16,
                        "heads": 2,
                        "ffn": 32,
                        "vocabulary": 8,
                        "sequence": 8,
                        "experts": 4,
                        "active": 2,
                        "shared_experts": 1,
                        "dense_layers": 1,
                        "kv_rank": 8,
                        "rope": 2,
                    },
                    "tensor": 2,
                    "pipeline": 2,
                    "data": 2,
                    "expert": 2,
                    "microbatches": 2,
                    "interleave": 2,
                    "split": [1, 1, 1, 1],
                    "zero": 2,
                    "skew": 1.5,
                    "peak": "1 Tflop/s",
                    "efficiency": 0.5,
                    "gradient": 4,
                    "dispatch": 1,
                    "merge": 1,
                    "algorithm": {"allgather": "ring"},
                }
            },
        },
        {
            "name": "f",
            "nodes": 1,
            "ranks_per_node": 4,
            "app": {
                "serve": {
                    "model": "llama-3-8b",
                    "tensor": 2,
                    "requests": 2,
                    "batch": 1,
                    "prompt": 16,
                    "output": 2,
                    "memory": "1 TB/s",
                    "merge": 8,
                }
            },
        },
        {"name": "d", "nodes": 2, "app": {"motif": "ping-pong", "message": "1 KB", "stride": 1, "rounds": 2}},
    ],
    "run": {"seed": 5, "horizon": "2 ms"},
}

JUNK = st.one_of(
    st.integers(-(2**70), 2**70),
    st.floats(),
    st.booleans(),
    st.text("0123456789-., abcGKiBus/%", max_size=8),
    st.sampled_from(
        [
            "1 us",
            "4 KB",
            "1 GB/s",
            "0-2",
            "a",
            "fpar",
            "ugal-l",
            "credits",
            "random",
            "linear",
            "halo2d",
            "barrier",
            "explicit",
            "tiny",
            "kang2019",
            "99999999999 B",
            "1e300 s",
        ]
    ),
    st.just(datetime.date(2019, 6, 3)),
    st.lists(st.integers(-2, 20) | st.text("0-9a", max_size=3), max_size=3),
    st.dictionaries(
        st.sampled_from(["name", "policy", "nodes", "preset", "every", "x"]), st.integers(0, 3), max_size=2
    ),
)


def places(value, path=()):
    """Every place of a value where something else could stand."""
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
        yield (*path, key)
        if isinstance(inner, dict | list):
            yield from places(inner, (*path, key))


def changes_of(scenario):
    """One or two changes of a scenario: a position, and the new value (None: nothing)."""
    return st.lists(st.tuples(st.sampled_from(list(places(scenario))), st.none() | JUNK), min_size=1, max_size=2)


@given(changes_of(FULL))
def test_nothing_but_a_result_or_an_error_for_the_user(changes):
    check(FULL, changes)


@given(changes_of(PROGRAMS))
def test_the_same_of_programs(changes):
    check(PROGRAMS, changes)


def check(scenario, changes):
    data = copy.deepcopy(scenario)
    for path, junk in changes:
        here = data
        try:
            for step in path[:-1]:
                here = here[step]
            if junk is None:
                del here[path[-1]]
            else:
                here[path[-1]] = junk
        except (KeyError, IndexError, TypeError):
            continue  # the other change took this place away
    try:
        text = tomlkit.dumps(data)
    except Exception:
        return
    try:
        resolved = parse(text, "s.toml").resolve()
    except InputError as e:
        assert "s.toml" in str(e) or "cannot read" in str(e)  # noqa: PT017
        assert "Traceback" not in str(e)  # noqa: PT017
        return
    _core.check(json.dumps(resolved.spec))
    json.dumps(resolved.document)


def test_the_scenarios_that_are_changed_are_fine():
    programs = parse(tomlkit.dumps(PROGRAMS)).resolve()
    assert [len(job["nodes"]) for job in programs.spec["jobs"]] == [8, 4, 4, 8, 4, 2]
    resolved = parse(tomlkit.dumps(FULL)).resolve()
    assert [len(job["nodes"]) for job in resolved.spec["jobs"]] == [4, 6, 2]
