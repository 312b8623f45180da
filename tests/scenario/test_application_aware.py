"""Application-aware routing: from a scenario to the core's document and to the tables of a run."""

from types import SimpleNamespace

import polars as pl
import pytest

import odonata as od
from odonata.document import validate
from odonata.errors import InputError
from odonata.scenario import parse
from odonata.scenario.routings import ROUTINGS, on_system

from .topologies import TOPOLOGIES

SYSTEM = SimpleNamespace(
    table=SimpleNamespace(kind="cascade", between_groups="optical"),
    topology=TOPOLOGIES["cascade"],
    fabric={"channels": 8, "links": {"optical": {"buffer_bytes": 64_000}}},
)
TOLD = {
    "name": "application-aware",
    "policy": "app-aware",
    "bias_high_bytes": 32_000,
    "threshold_bytes": 4096,
    "sample_age": 64,
    "latency_ratio_ppm": 800_000,
    "stall_ratio_ppm": 1_300_000,
    "margin_ppm": 50_000,
    "dwell": 8,
    "gateways": "all",
}
SCENARIO = """\
system = {{ preset = "aries", groups = 3, rows = 2, columns = 3, links_per_pair = 4 }}
routing = {usual}

[fabric]
packet = "1 KiB"
{nic}

[[job]]
name = "aware"
nodes = 12
record = "every-message"
app = {{ motif = "phases", phases = [
  {{ collective = "alltoall", message = "8 KiB" }},
  {{ motif = "ping-pong", message = "64 KiB" }},
] }}
{routing}

[[job]]
name = "other"
nodes = 8
app = {{ pattern = "uniform-random", message = "16 KiB", interval = "5 us", messages = 4 }}
"""


def scenario(routing='routing = "application-aware"', usual='"adaptive-3"', nic='nic = "aries"'):
    return parse(SCENARIO.format(routing=routing, usual=usual, nic=nic))


def decided(**options):
    routing = validate(ROUTINGS["application-aware"], {"name": "application-aware", **options})
    return on_system(routing, SYSTEM, None)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({}, {}),
        ({"policy": "default"}, {"policy": "default"}),
        ({"policy": "bandit", "sample_age": 9}, {"policy": "bandit", "sample_age": 9}),
        ({"threshold": "1 KiB"}, {"threshold_bytes": 1024}),
        (
            {"policy": "app-aware-continuous", "latency_ratio": 0.5, "stall_ratio": "200 %"},
            {"policy": "app-aware-continuous", "latency_ratio_ppm": 500_000, "stall_ratio_ppm": 2_000_000},
        ),
        (
            {"policy": "app-aware-h", "margin": 0.1, "dwell": 2, "bias_high": "1 KB"},
            {"policy": "app-aware-h", "margin_ppm": 100_000, "dwell": 2, "bias_high_bytes": 1000},
        ),
        (
            {"policy": "in-turn", "turns": ["default", "app-aware-h"], "dwell": 2},
            {"policy": "default", "then": ["app-aware-h"], "dwell": 2},
        ),
    ],
)
def test_what_the_core_is_told(options, told):
    assert decided(**options).spec() == TOLD | told


def test_its_numbers_are_those_of_the_component():
    """The defaults stand in two places; a scenario must decide as `odonata.aries` does."""
    defaults = od.aries.Policy.__init__.__kwdefaults__
    told = decided().spec()
    assert told["threshold_bytes"] == defaults["threshold"]
    for name in ("sample_age", "dwell"):
        assert told[name] == defaults[name]
    for name in ("latency_ratio", "stall_ratio", "margin"):
        assert told[f"{name}_ppm"] == defaults[name] * 1e6


@pytest.mark.parametrize(
    ("options", "path", "message"),
    [
        ({"policy": "app-awar"}, "policy", "found `app-awar`"),
        ({"policy": "default", "threshold": "1 KiB"}, "threshold", "the policy `default` does not use `threshold`"),
        ({"margin": 0.1}, "margin", "the policy `app-aware` does not use `margin`"),
        ({"policy": "bandit", "latency_ratio": 2}, "latency_ratio", "the policy `bandit` does not use"),
        ({"latency_ratio": 2}, "latency_ratio", "the policy `app-aware` does not use `latency_ratio`"),
        ({"sample_age": 2}, "sample_age", "the policy `app-aware` does not use `sample_age`"),
        (
            {"policy": "app-aware-h", "latency_ratio": 0},
            "latency_ratio",
            "`latency_ratio` must be between 0.001 and 1000, found 0",
        ),
        ({"policy": "app-aware-h", "margin": 1}, "margin", "`margin` must be between 0 and 0.999999, found 1"),
        ({"policy": "app-aware-h", "stall_ratio": 0.12345678}, "stall_ratio", "more than six decimals"),
        ({"policy": "bandit", "sample_age": 0}, "sample_age", "`sample_age`"),
        ({"policy": "in-turn"}, "policy", "the policy `in-turn` needs `turns`"),
        ({"turns": ["default", "bandit"]}, "turns", "the policy `app-aware` does not use `turns`"),
        ({"policy": "in-turn", "turns": ["default"]}, "turns", "at least two policies, found 1"),
        ({"policy": "in-turn", "turns": ["default", "bandit"], "dwell": 2}, "dwell", "none of `turns` uses `dwell`"),
        ({"threshold": "2 GB"}, "threshold", "`threshold` must be at most 1,000,000,000, found 2,000,000,000"),
    ],
)
def test_what_means_nothing_is_refused(options, path, message):
    with pytest.raises(InputError) as caught:
        decided(**options)
    assert message in caught.value.message
    assert caught.value.path == (path,)


def test_nics_that_count_nothing_are_refused_with_the_line():
    with pytest.raises(InputError) as caught:
        scenario(nic="").resolve()
    assert "application-aware routing reads the counters of the NICs" in str(caught.value)
    assert caught.value.hint == 'fabric = { nic = "aries" }'
    assert caught.value.line == SCENARIO[: SCENARIO.index("{routing}")].count("\n") + 1


IN_TURN = 'routing = { name = "application-aware", policy = "in-turn", turns = ["default", "bandit", "high-bias"] }\n'


@pytest.mark.parametrize(
    ("app", "message", "hint"),
    [
        ('{ motif = "ping-pong", message = "4 KB", iterations = 2 }', "has 2 iterations", "at least 3 `iterations`"),
        ('{ motif = "ping-pong", message = "4 KB" }', "has 1 iteration,", "at least 3 `iterations`"),
        (
            '{ pattern = "uniform-random", message = "4 KB", interval = "1 us", messages = 2 }',
            "2 intervals",
            "3 `messages`",
        ),
    ],
)
@pytest.mark.parametrize("of_the_run", [True, False])
def test_a_job_that_ends_before_every_policy_had_its_turn_is_refused(app, message, hint, of_the_run):
    text = f'system = "aries"\nfabric = {{ nic = "aries" }}\n{IN_TURN if of_the_run else ""}'
    text += f'[[job]]\nname = "a"\nnodes = 2\napp = {app}\n{"" if of_the_run else IN_TURN}'
    with pytest.raises(InputError) as caught:
        parse(text).resolve()
    assert "job `a` " in caught.value.message
    assert message in caught.value.message
    assert "`turns` has 3 policies: " in caught.value.message
    assert caught.value.message.endswith("`high-bias` would not be used")
    assert hint in str(caught.value.hint)
    assert caught.value.line == text[: text.index("turns")].count("\n") + 1


@pytest.mark.parametrize(
    "app",
    [
        '{ motif = "ping-pong", message = "4 KB", iterations = 3 }',
        '{ motif = "ping-pong", message = "4 KB" }\nbackground = true',
        '{ pattern = "uniform-random", message = "4 KB", interval = "1 us" }',
    ],
)
def test_a_job_with_a_turn_for_every_policy_is_accepted(app):
    """Jobs without an end have one for each; the run may still end before."""
    head = f'system = "aries"\nfabric = {{ nic = "aries" }}\n{IN_TURN}[run]\nuntil = "1 ms"\n'
    parse(f'{head}[[job]]\nname = "a"\nnodes = 2\napp = {app}\n').resolve()


def test_three_modes_count_as_three_routings():
    """The modes of two policies are the same three; another bias makes two more."""
    other = SCENARIO + 'routing = {{ name = "application-aware", policy = "bandit"{more} }}\n'
    for more, usual in (("", '"adaptive-3"'), (', bias_high = "1 KB"', '"minimal"')):
        text = other.format(routing='routing = "application-aware"', usual=usual, nic='nic = "aries"', more=more)
        parse(text).resolve()
    third = text + (
        '\n[[job]]\nname = "third"\nnodes = 2\nrouting = { name = "application-aware", bias_high = "2 KB" }\n'
        'app = { pattern = "uniform-random", message = "1 KiB", interval = "1 us", messages = 1 }\n'
        '\n[[job]]\nname = "fourth"\nnodes = 2\nrouting = { name = "adaptive-2" }\n'
        'app = { pattern = "uniform-random", message = "1 KiB", interval = "1 us", messages = 1 }\n'
    )
    parse(third).resolve()
    fourth = third.replace('{ name = "adaptive-2" }', '{ name = "application-aware", bias_high = "3 KB" }')
    with pytest.raises(InputError, match="9 different routings in one run; at most 8 are possible"):
        parse(fourth).resolve()


ALL_MODES = 'routing = { name = "application-aware", policy = "app-aware-continuous" }'
"""A policy that uses all three modes here."""


@pytest.fixture(scope="module")
def run():
    return od.run(scenario(ALL_MODES))


def test_the_shares_of_a_job_are_those_of_its_messages(run):
    aware, other = run.jobs.iter_rows(named=True)
    messages = run.nic_messages.filter(pl.col("job") == 0)
    for number in (0, 1, 3):
        assert aware[f"messages_adaptive_{number}"] == messages.filter(pl.col("mode") == f"adaptive-{number}").height
    assert aware["messages_adaptive_0"] > 0
    assert aware["messages_adaptive_1"] > 0, "the all-to-all"
    sizes = [aware[f"bytes_adaptive_{number}"] for number in (0, 1, 3)]
    assert sum(sizes) == 12 * 11 * 8192 + 12 * 65_536
    assert aware["default_fraction"] == pytest.approx((sizes[0] + sizes[1]) / sum(sizes))
    assert other["messages_adaptive_3"] is None
    assert set(run.nic_messages.filter(pl.col("job") == 1)["mode"]) == {"adaptive-3"}


def test_the_summary_says_what_was_sent_in_each_mode(run):
    job = run.summary["jobs"][0]
    assert {mode: sent["messages"] for mode, sent in job["modes"].items()} == {
        f"adaptive-{number}": run.jobs[f"messages_adaptive_{number}"][0] for number in (0, 1, 3)
    }
    assert job["default_fraction"] == run.jobs["default_fraction"][0]
    assert "modes" not in run.summary["jobs"][1]
    line = next(line for line in str(run).splitlines() if line.startswith("aware: ") and "by adaptive-0" in line)
    assert f"{job['default_fraction']:.1%}"[:2] in line or "by adaptive-1" in line


def test_the_same_scenario_selects_the_same_modes(run):
    assert od.run(scenario(ALL_MODES)).nic_messages.equals(run.nic_messages)


PING_PONG = """\
system = {{ preset = "aries", groups = 3, rows = 2, columns = 3, links_per_pair = 4 }}
fabric = {{ nic = "aries", packet = "1 KiB" }}

[[job]]
name = "alone"
place = {{ policy = "explicit", nodes = [0, 40] }}
record = "every-message"
app = {{ motif = "ping-pong", message = "8 KiB", iterations = 6 }}
routing = {{ name = "application-aware", {routing} }}
"""


def of_rank_0(routing):
    """The modes of the messages of rank 0, by iteration, of a ping-pong on an otherwise idle machine."""
    run = od.run(parse(PING_PONG.format(routing=routing)))
    return run.nic_messages.filter(pl.col("source") == 0).sort("interval")["mode"].to_list()


def test_iterations_take_the_policies_in_turn():
    modes = of_rank_0('policy = "in-turn", turns = ["high-bias", "default", "default"]')
    assert modes == ["adaptive-3", "adaptive-0", "adaptive-0"] * 2


def test_a_policy_learns_only_from_the_iterations_of_its_turn():
    """Algorithm 1 begins with the default; on an idle machine its first observation sends it to high bias."""
    assert of_rank_0('policy = "app-aware-continuous"')[:2] == ["adaptive-0", "adaptive-3"]
    twice = of_rank_0('policy = "in-turn", turns = ["app-aware-continuous", "app-aware-continuous"]')
    assert twice[:4] == ["adaptive-0"] * 2 + ["adaptive-3"] * 2
    after = of_rank_0('policy = "in-turn", turns = ["high-bias", "app-aware-continuous"]')
    assert after[:4] == ["adaptive-3", "adaptive-0", "adaptive-3", "adaptive-3"]


def test_the_library_of_the_authors_reads_before_the_message_is_sent():
    """Its first reading, with message 0, is where counting begins. The second tells of message 0: message 2 knows."""
    modes = of_rank_0('policy = "app-aware"')
    assert modes[:3] == ["adaptive-0", "adaptive-0", "adaptive-3"]


def test_traffic_takes_turns_by_interval():
    text = SCENARIO.format(usual='"adaptive-2"', routing="", nic='nic = "aries"')
    other = 'routing = { name = "application-aware", policy = "in-turn", turns = ["default", "high-bias"] }\n'
    rows = od.run(parse(text + other + 'record = "every-message"\n')).nic_messages.filter(pl.col("job") == 1)
    assert rows.height == 8 * 4
    for interval, mode in rows.select("interval", "mode").iter_rows():
        assert mode == ("adaptive-3" if interval % 2 else "adaptive-0")


def test_a_mode_that_no_policy_selects_has_no_name():
    run = od.run(scenario(routing='routing = "min-hash"', usual='{ name = "application-aware", policy = "high-bias" }'))
    names = run.nic_messages.group_by("job").agg(pl.col("mode").unique()).sort("job")["mode"].to_list()
    assert names == [[None], ["adaptive-3"]]
    assert run.jobs["default_fraction"].to_list() == [None, 0.0]


STREAMS = """\
system = {{ preset = "aries", groups = 3, rows = 2, columns = 4, links_per_pair = 4 }}
routing = {{ name = "application-aware", policy = "{policy}" }}
fabric = {{ nic = "aries", packet = "1 KiB" }}

[[job]]
name = "streams"
nodes = 16
place = "random-nodes"
app = {{ pattern = "uniform-random", message = "64 KiB", interval = "40 us", messages = 300 }}
"""


CONTINUOUS = "app-aware-continuous"


@pytest.fixture(scope="module")
def streams():
    """Policy -> a run of constant streams that are all alike: only the decisions change what the NICs count."""
    return {name: od.run(parse(STREAMS.format(policy=name))) for name in ("high-bias", CONTINUOUS, "app-aware-h")}


def changes(run):
    """How often ranks have changed the mode, in the first 50 of their 300 messages and in the others."""
    modes = run.nic_messages.sort("source", "interval").with_columns(before=pl.col("mode").shift().over("source"))
    changed = modes.filter(pl.col("mode") != pl.col("before"))
    first = changed.filter(pl.col("interval") < 50).height
    return first, changed.height - first


def settled(run):
    """Mean latency of the last 250 messages of each rank."""
    return run.messages.filter(pl.col("interval") >= 50)["latency_ps"].mean()


def test_the_published_algorithm_oscillates_and_the_one_with_hysteresis_settles(streams):
    """D27: 16 ranks."""
    first, later = changes(streams[CONTINUOUS])
    assert first > 40
    assert later > 100, "it does not stop"
    first, later = changes(streams["app-aware-h"])
    assert 0 < first <= 2 * 16
    assert later <= 4


def test_without_oscillation_messages_are_as_fast_as_with_the_better_mode(streams):
    """D27: what the oscillation costs, and hysteresis saves."""
    best = settled(streams["high-bias"])
    assert settled(streams["app-aware-h"]) < 1.01 * best
    assert settled(streams[CONTINUOUS]) > 1.03 * best
