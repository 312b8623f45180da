"""`odonata run --warm-up auto` as typed."""

from __future__ import annotations

import json
from pathlib import Path

STEADY = """\
system = "tiny"
[[job]]
name = "all"
nodes = 16
app = { pattern = "uniform-random", message = "16 KB", load = 0.2, messages = 150 }
"""


def scenario(load: float) -> None:
    Path("a.toml").write_text(STEADY.replace("0.2", str(load)))


def test_the_warm_up_is_stated_in_text_and_manifest_and_found_again(odonata) -> None:
    scenario(0.25)
    status, _, err = odonata("run", "a.toml", "--warm-up", "auto", "-o", "out")
    assert status == 0
    resolved = json.loads(Path("out/resolved.json").read_text())
    told = next(source for source in resolved["sources"] if source["key"] == "measure.warm_up")
    assert told["source"].startswith("MSER-5 in a trial run without a warm-up: all is steady from ")
    assert told["source"] in err
    found = resolved["spec"]["measure"]["from_ps"]
    jobs = json.loads(odonata("run", "a.toml", "--warm-up", "auto", "-o", "out", "--json")[1])["jobs"]
    assert odonata("run", "a.toml", "--warm-up", "auto", "-o", "out")[2].endswith("(--force simulates again)\n")
    plain = json.loads(odonata("run", "a.toml", "-s", f"measure.warm_up={found} ps", "-o", "same", "--json")[1])["jobs"]
    assert plain == jobs


def test_a_run_that_never_becomes_steady_is_named(odonata) -> None:
    scenario(0.9)
    status, _, err = odonata("run", "a.toml", "--warm-up", "auto", "-o", "out")
    assert status == 0
    assert "warm-up: none was found; all: it never becomes steady" in err
    resolved = json.loads(Path("out/resolved.json").read_text())
    assert resolved["spec"]["measure"]["from_ps"] == 0
    assert any("no steady state" in source["source"] for source in resolved["sources"])


def test_the_trial_skips_no_iterations(odonata) -> None:
    """400 iterations are enough observations; of the 24 that `run.steady` would simulate there would be too few."""
    Path("a.toml").write_text(
        'system = "tiny"\n[run]\nsteady = { error = "2 %" }\n[[job]]\nname = "ring"\nnodes = 8\niterations = 400\n'
        'app = { collective = "allreduce", algorithm = "ring", message = "10 KB" }\n'
    )
    status, _, err = odonata("run", "a.toml", "--warm-up", "auto", "-o", "out")
    assert status == 0
    assert "(400 iterations)" in err


def test_only_auto_is_a_value(odonata) -> None:
    scenario(0.25)
    assert "Choose from" in odonata("run", "a.toml", "--warm-up", "1 us")[2]
