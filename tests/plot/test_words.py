"""Keys and columns as words: never a path with points or underscores."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from odonata.plot.words import column_words, key_words
from odonata.store.columns import columns_of

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.parametrize(
    ("key", "words"),
    [
        ("job.all.app.load", "offered load of all jobs"),
        ("job.target.place", "placement of target"),
        ("job.target.app.message", "size of a message of target"),
        ("routing", "routing"),
        ("run.seed", "seed"),
        ("fabric.links.global.bandwidth", "bandwidth of global links"),
        ("fabric.nic.window", "window of NIC"),
        ("measure.warm_up", "warm-up"),
    ],
)
def test_keys_in_words(key: str, words: str) -> None:
    assert key_words(key) == words


def test_every_axis_of_the_examples_has_words() -> None:
    keys = set()
    for file in EXAMPLES.glob("*.toml"):
        given = tomllib.loads(file.read_text())
        for table in ("sweep", "zip", "random"):
            keys |= {key for key, values in given.get(table, {}).items() if not isinstance(values, int)}
    assert len(keys) > 5
    for key in keys:
        assert not set("._") & set(key_words(key)), key


def test_every_column_has_words() -> None:
    for column in columns_of("jobs"):
        assert not set("._") & set(column_words(column.name).replace("99.9 %", "")), column.name
    assert column_words("latency_p99_ps") == "99 % quantile of the latency"
