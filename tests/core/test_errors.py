"""Errors of the core are data: every code can be provoked, and has one message with exactly its parameters."""

import pickle
from pathlib import Path

import pytest

from odonata import _core
from odonata.errors import InputError, RunError
from odonata.machine.core import as_error, read_trace
from odonata.messages import MESSAGES, error_of
from odonata.scenario.refusals import keys_of_path

from .errors import IN_RUST, PROVOKED

CODES = _core.error_codes()


def test_every_code_has_one_message_and_no_message_is_left_over():
    assert MESSAGES.keys() == CODES.keys()


@pytest.mark.parametrize("code", CODES)
def test_a_message_needs_exactly_the_parameters_of_its_code(code):
    assert MESSAGES[code].parameters() == CODES[code].keys()


def test_every_code_can_be_provoked_here_or_in_rust():
    assert not PROVOKED.keys() & IN_RUST.keys()
    assert PROVOKED.keys() | IN_RUST.keys() == CODES.keys()


@pytest.mark.parametrize("code", PROVOKED)
def test_the_core_says_what_is_wrong_as_data(code):
    with pytest.raises(_core.CoreError) as caught:
        PROVOKED[code]()
    assert caught.value.code == code, caught.value
    assert caught.value.parameters.keys() == CODES[code].keys()
    types = {"integer": int, "text": str, "list": list, "record": dict}
    for name, value in caught.value.parameters.items():
        assert value is None or isinstance(value, types[CODES[code][name]]), name


def test_what_users_read(snapshot):
    """The only place with the texts: a reworded message changes this snapshot and nothing else."""
    told = {}
    for code in sorted(CODES):
        if code in PROVOKED:
            with pytest.raises(_core.CoreError) as caught:
                PROVOKED[code]()
            error = as_error(caught.value, keys_of_path(caught.value.path))
        else:
            error = error_of(code, (), IN_RUST[code], keys=("key",))
        place = ".".join(str(part) for part in getattr(error, "path", ()))
        told[code] = f"{type(error).__name__} at `{place}`\n{error}"
    assert "\n\n".join(f"{code}: {text}" for code, text in told.items()) == snapshot


@pytest.mark.parametrize("kind", [InputError, RunError])
def test_the_code_survives_the_way_between_processes(kind):
    error = kind("it is wrong", code="some-code")
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again), again.code) == (kind, "it is wrong", "some-code")


@pytest.mark.parametrize(
    ("path", "keys"),
    [
        (("jobs", 0, "traffic", "message_bytes"), ("job", 0, "app", "message")),
        (("jobs", 0, "traffic", "interval_ps"), ("job", 0, "app", "interval")),
        (("jobs", 3, "traffic", "pattern", "offset"), ("job", 3, "app", "offset")),
        (("jobs", 3, "traffic", "pattern"), ("job", 3, "app")),
        (("jobs", 0, "traffic", "arrival", "jitter_ps"), ("job", 0, "app", "arrival")),
        (("jobs", 0, "nodes"), ("job", 0, "place")),
        (("jobs", 0, "routing", "name"), ("job", 0, "routing")),
        (("jobs", 0, "program", "start_ps"), ("job", 0, "start")),
        (("jobs", 0, "program", "iterations"), ("job", 0, "iterations")),
        (("jobs", 0, "program", "costs", "eager_bytes"), ("job", 0, "overhead", "eager")),
        (("jobs", 0, "program", "body", "phases", 2, "bytes"), ("job", 0, "app", "message")),
        (("jobs", 0, "program", "body", "goal"), ("job", 0, "app", "trace")),
        (("fabric", "links", "global", "buffer_bytes"), ("fabric", "links", "global", "buffer")),
        (("fabric", "nic", "overhead_ps"), ("fabric", "nic", "overhead")),
        (("fabric", "packet_bytes"), ("fabric", "packet")),
        (("routing", "threshold_ppm"), ("routing", "threshold")),
        (("topology", "pair_links", 1), ("system", "pair_links", 1)),
        (("failures", "links", 0), ("system", "failed")),
        (("sensing", "delay_ps", "global"), ("sensing", "delay", "global")),
        (("sensing", "levels"), ("sensing", "levels")),
        (("stop", "at_ps"), ("run", "horizon")),
        (("stop", "jobs"), ("run", "until")),
        (("measure", "until_ps"), ("measure", "window")),
        (("measure", "roots"), ("measure", "roots")),
        (("measure", "arrivals_every_ps"), ("measure", "links", "every")),
        (("seed",), ("run", "seed")),
        (("compat",), ("compat",)),
        ((), ()),
    ],
)
def test_a_path_of_the_specification_leads_to_keys_of_the_scenario(path, keys):
    assert keys_of_path(path) == keys


_TRACES = (Path(__file__).parents[2] / "docs/traces.md").read_text()


@pytest.mark.parametrize(
    ("block", "form", "around"),
    [
        ("goal-errors", "goal", "num_ranks 2\nrank 0 {{\n{}\n}}\nrank 1 {{\n}}\n"),
        ("csv-errors", "csv", "rank,operation,peer,bytes,tag,time\n0,compute,,,,1ns\n1,compute,,,,1ns\n{}\n"),
    ],
)
def test_the_page_on_traces_shows_the_errors(block, form, around):
    lines = _TRACES.partition(f"```{block}\n")[2].partition("```")[0].splitlines()
    assert len(lines) > 10
    for text, told in zip(lines[::2], lines[1::2], strict=True):
        with pytest.raises(InputError) as caught:
            read_trace(around.format(text.replace(" | ", "\n")).encode(), form)
        error = caught.value
        message = error.message.partition(": ")[2] + ("" if error.hint is None else f"; {error.hint}")
        assert f"    {message}" == told, text
