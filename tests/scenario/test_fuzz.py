"""Whatever stands in a scenario, it is resolved or answered with an error for the user."""

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
    "sensing": {"kind": "credits", "delay": {"global": "150 ns"}},
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


@given(st.lists(st.tuples(st.sampled_from(list(places(FULL))), st.none() | JUNK), min_size=1, max_size=2))
def test_nothing_but_a_result_or_an_error_for_the_user(changes):
    data = copy.deepcopy(FULL)
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


def test_the_scenario_that_is_changed_is_fine():
    resolved = parse(tomlkit.dumps(FULL)).resolve()
    assert [len(job["nodes"]) for job in resolved.spec["jobs"]] == [4, 6, 2]
