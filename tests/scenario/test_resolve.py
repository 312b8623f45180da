"""From a scenario to the specification: the example of the contract, every default, every order."""

import json
import pickle

import pytest

from odonata import _core, machine
from odonata.errors import InputError
from odonata.placement import place, seed_of_job
from odonata.scenario import load, parse

EXAMPLE = """\
system = "kang2019"                  # or a table: [system] preset = "kang2019", groups = 12, ...
routing = "fpar"                     # or { name = "fpar", threshold = 0.5 }

[[job]]
name = "target"
nodes = 2304
place = "contiguous"
app   = { pattern = "uniform-random", message = "4 KB", interval = "1 us", messages = 200 }

[[job]]
name = "background"
place = { policy = "per-leaf", groups = "0-2", per_leaf = 2 }
app   = { pattern = "group-peers", tgll = 1.30, interval = "1 us" }   # message size solved from TGLL
background = true                    # runs until the others are done; not recorded per message by default

[run]
until = "target"
seed  = 1

[measure]
latency = "every-message"            # or "histogram"
links   = { every = "10 us" }
"""

TINY = """\
system = "tiny"
[[job]]
name = "a"
nodes = 8
app = { pattern = "uniform-random", message = "4 KB", interval = "1 us", messages = 5 }
"""


def spec(text, *changes):
    scenario = parse(text)
    for key, value in changes:
        scenario = scenario.set(key, value)
    return scenario.resolve().spec


def test_the_example_of_the_contract():
    resolved = parse(EXAMPLE).resolve()
    target, background = resolved.spec["jobs"]
    assert resolved.spec["topology"]["groups"] == 9
    assert resolved.spec["routing"] == {
        "name": "fpar",
        "threshold_ppm": 500_000,
        "compare": "below",
        "candidates": "all-groups",
        "channel_switch": "intermediate",
    }
    assert target["traffic"] == {
        "pattern": {"name": "uniform-random"},
        "message_bytes": 4_000,
        "interval_ps": 1_000_000,
        "intervals": 200,
        "arrival": {"name": "constant", "jitter_ps": 1_000},
        "first": "after-interval",
    }
    assert target["record"] == "every-message"
    assert background["traffic"]["message_bytes"] == 6_084
    assert background["traffic"]["intervals"] is None
    assert background["record"] == "histogram"
    assert len(background["nodes"]) == 144
    assert resolved.spec["stop"] == {"jobs": [0], "at_ps": None}
    assert resolved.spec["measure"] == {"from_ps": 0, "until_ps": None, "arrivals_every_ps": 10_000_000}
    assert (resolved.spec["seed"], resolved.spec["version"], resolved.spec["compat"]) == (1, 1, None)
    assert resolved.targets == ("target",)
    _core.check(json.dumps(resolved.spec))


@pytest.mark.parametrize(
    ("tgll", "interval", "size"),
    [
        (0.5, "1 us", 2_340),
        (0.9, "1 us", 4_212),
        (1.3, "1 us", 6_084),
        (0.5, "10 us", 23_400),
        (0.9, "10 us", 42_120),
        (1.3, "10 us", 60_840),
        (0.5, "100 us", 234_000),
        (0.9, "100 us", 421_200),
        ("130 %", "100 us", 608_400),
    ],
)
def test_table_1_of_kang_2019(tgll, interval, size):
    """K12, by equation 4 (K10)."""
    told = spec(EXAMPLE, ("job.background.app.tgll", tgll), ("job.background.app.interval", interval))
    assert told["jobs"][1]["traffic"]["message_bytes"] == size


@pytest.mark.parametrize(("per_leaf", "tgll"), [(2, 1.3), (4, 2.6), (6, 3.9), (8, 5.2)])
def test_more_background_nodes_carry_more_load_with_the_same_messages(per_leaf, tgll):
    """K13: 260, 390 and 520 % by 96, 144 and 192 nodes per group, each with the message of 130 %."""
    told = spec(EXAMPLE, ("job.background.place.per_leaf", per_leaf), ("job.background.app.tgll", tgll))
    assert told["jobs"][1]["traffic"]["message_bytes"] == 6_084
    assert len(told["jobs"][1]["nodes"]) == 3 * 24 * per_leaf


def test_another_bandwidth_in_tgll():
    told = spec(EXAMPLE, ("job.background.app.tgll_bandwidth", "1 GB/s"))
    assert told["jobs"][1]["traffic"]["message_bytes"] == 1_300
    told = spec(EXAMPLE, ("system.tgll_bandwidth", "2 GB/s"))
    assert told["jobs"][1]["traffic"]["message_bytes"] == 2_600


def test_constrained_jobs_are_placed_first():
    """The background of the example comes second in the file and still has its two nodes on each leaf."""
    target, background = spec(EXAMPLE)["jobs"]
    assert background["nodes"] == place("per-leaf", "kang2019", groups="0-2", per_leaf=2).nodes
    assert target["nodes"] == place("contiguous", "kang2019", 2304, busy=background["nodes"]).nodes


def test_jobs_with_the_same_freedom_are_placed_in_the_order_of_the_file():
    text = TINY.replace("nodes = 8", "nodes = 4") + TINY.split("\n", 1)[1].replace('"a"', '"b"')
    first, second = spec(text)["jobs"]
    assert first["nodes"] == [0, 1, 2, 3]
    assert second["nodes"] == list(range(4, 12))


def test_the_target_of_kang_2019_is_isolated_in_groups_3_to_8():
    told = spec(EXAMPLE, ("job.target.place", {"policy": "contiguous", "groups": "3-8"}))
    assert told["jobs"][0]["nodes"] == list(range(1152, 3456))


def test_the_fixed_layout_avoids_the_background():
    told = spec(EXAMPLE, ("job.target.place", "kang2019-random"))
    assert not set(told["jobs"][0]["nodes"]) & set(told["jobs"][1]["nodes"])


@pytest.mark.parametrize("policy", ["random", "random-nodes", "random-routers", "random-groups", "rdg"])
def test_random_placements_follow_the_seed_of_the_run_unless_they_have_their_own(policy):
    text = TINY.replace("nodes = 8", f'nodes = 8\nplace = "{policy}"')
    drawn = [spec(text, ("run.seed", seed))["jobs"][0]["nodes"] for seed in (1, 2, 3)]
    assert drawn == [place(policy, "tiny", 8, seed=seed_of_job(seed, 0)).nodes for seed in (1, 2, 3)]
    assert drawn != [drawn[0]] * 3
    pinned = [spec(text, ("job.a.place.seed", 5), ("run.seed", seed))["jobs"][0]["nodes"] for seed in (1, 2)]
    assert pinned == [place(policy, "tiny", 8, seed=5).nodes] * 2


def test_two_random_jobs_draw_different_numbers():
    text = TINY.replace("nodes = 8", 'nodes = 4\nplace = "random"')
    first, second = spec(text + text.split("\n", 1)[1].replace('"a"', '"b"'))["jobs"]
    assert second["nodes"] == place("random", "tiny", 4, busy=first["nodes"], seed=seed_of_job(1, 1)).nodes


def test_no_job_draws_as_its_neighbour_does_at_the_next_seed():
    """The other job has named nodes, so the one that draws sees the same free nodes as first and as second job."""
    named, drawing = (
        f'[[job]]\nname = "{name}"\n{place}\napp = {{ collective = "barrier" }}\n'
        for name, place in (("a", 'place = { nodes = "0,1" }'), ("b", 'nodes = 8\nplace = "random"'))
    )

    def drawn(number, text):
        return {tuple(spec(text, ("run.seed", seed))["jobs"][number]["nodes"]) for seed in range(30)}

    first, second = drawn(0, f'system = "tiny"\n{drawing}{named}'), drawn(1, f'system = "tiny"\n{named}{drawing}')
    assert len(first) == len(second) == 30
    assert not first & second


def test_nodes_by_list_and_by_file(tmp_path):
    (tmp_path / "mine.txt").write_text("5\n2-3\n")
    (tmp_path / "s.toml").write_text(TINY.replace("nodes = 8", 'place = { nodes = "mine.txt" }'))
    assert load(tmp_path / "s.toml").resolve().spec["jobs"][0]["nodes"] == [5, 2, 3]
    assert spec(TINY.replace("nodes = 8", 'place = { nodes = "7,0-1" }'))["jobs"][0]["nodes"] == [7, 0, 1]


@pytest.mark.parametrize(
    ("routing", "told"),
    [
        ("minimal", {"name": "minimal", "select": "random"}),
        ({"name": "minimal", "select": "least-loaded"}, {"name": "minimal", "select": "least-loaded"}),
        ("valiant", {"name": "valiant", "via": "spine", "select": "random"}),
        ({"name": "valiant", "via": "leaf"}, {"name": "valiant", "via": "leaf", "select": "random"}),
        (
            {"name": "prog-adaptive", "threshold": "2 KiB", "factor": 1.5, "candidates": "one-group"},
            {"name": "prog-adaptive", "threshold_bytes": 2048, "factor_milli": 1500, "candidates": "one-group"},
        ),
        (
            "prog-adaptive",
            {"name": "prog-adaptive", "threshold_bytes": 0, "factor_milli": 1000, "candidates": "all-groups"},
        ),
        (
            {
                "name": "fpar",
                "threshold": "12.5 %",
                "compare": "at-most",
                "candidates": "one-group",
                "channel_switch": "intermediate",
            },
            {
                "name": "fpar",
                "threshold_ppm": 125_000,
                "compare": "at-most",
                "candidates": "one-group",
                "channel_switch": "intermediate",
            },
        ),
    ],
)
def test_every_option_of_every_routing_reaches_the_core(routing, told):
    assert spec(TINY, ("routing", routing))["routing"] == told


def test_defects_of_the_published_simulator_are_repaired_by_name():
    repaired = ("compat_without", ["running-minima", "channel-priority"])
    assert spec(TINY, ("compat", "codes-2019"), repaired)["compat_without"] == ["running-minima", "channel-priority"]
    assert "compat_without" not in spec(TINY, ("compat", "codes-2019"))
    with pytest.raises(InputError, match="only a published simulator has these defects"):
        spec(TINY, repaired)


def test_a_published_simulator_keeps_the_buffers_of_its_configuration():
    """The preset's own buffer of nodes is larger; what a scenario states is kept in both."""
    kang = TINY.replace("tiny", "kang2019")
    node = lambda *given: spec(kang, *given)["fabric"]["links"]["node"]["buffer_bytes"]  # noqa: E731
    assert (node(), node(("compat", "codes-2019"))) == (16384, 8192)
    assert node(("compat", "codes-2019"), ("fabric.links.node.buffer", "32 KiB")) == 32768


def test_the_published_simulator_has_its_own_comparison():
    assert spec(TINY, ("compat", "codes-2019"))["routing"]["compare"] == "at-most"
    with pytest.raises(InputError, match="`below`, but the model `codes-2019` supports only `at-most`"):
        spec(TINY, ("compat", "codes-2019"), ("routing.compare", "below"))


def test_a_table_without_a_name_means_the_default():
    assert spec(TINY, ("routing.threshold", 0.3))["routing"]["threshold_ppm"] == 300_000
    assert spec(TINY, ("job.a.place.groups", "2-3"))["jobs"][0]["nodes"] == list(range(8, 16))


@pytest.mark.parametrize(
    ("app", "pattern"),
    [
        ({"pattern": "uniform-random"}, {"name": "uniform-random"}),
        ({"pattern": "tornado"}, {"name": "tornado", "offset": 4}),
        ({"pattern": "tornado", "offset": 3}, {"name": "tornado", "offset": 3}),
        ({"pattern": "stencil-3d"}, {"name": "stencil-3d", "grid": [2, 2, 2]}),
        ({"pattern": "stencil-3d", "grid": [1, 2, 4]}, {"name": "stencil-3d", "grid": [1, 2, 4]}),
        ({"pattern": "broadcast"}, {"name": "broadcast", "root": 0}),
        ({"pattern": "broadcast", "root": 7}, {"name": "broadcast", "root": 7}),
        ({"pattern": "group-peers"}, {"name": "group-peers"}),
        ({"pattern": "group-peers", "groups": "0-1"}, {"name": "group-peers"}),
    ],
)
def test_every_pattern_with_its_defaults(app, pattern):
    """A job of 8 nodes in groups 0 and 1 of `tiny`, whose groups have 4 nodes."""
    told = spec(TINY, ("job.a.app", {"message": "1 KB", "interval": "1 us", "messages": 1, **app}))
    assert told["jobs"][0]["traffic"]["pattern"] == pattern


def test_the_grid_of_kang_2019_and_others():
    """K15: 12 x 12 x 16 for 2,304 ranks."""
    from odonata.scenario.apps.patterns import near_cubic

    assert near_cubic(2304) == (12, 12, 16)
    assert near_cubic(64) == (4, 4, 4)
    assert near_cubic(7) == (1, 1, 7)
    for ranks in range(1, 200):
        best = min(
            (x * y + y * z + x * z, (x, y, z))
            for x in range(1, ranks + 1)
            if ranks % x == 0
            for y in range(x, ranks // x + 1)
            if ranks // x % y == 0 and (z := ranks // x // y) >= y
        )
        assert near_cubic(ranks) == best[1]


@pytest.mark.parametrize(
    ("options", "arrival"),
    [
        ({}, {"name": "constant", "jitter_ps": 1_000}),
        ({"jitter": "0 ns"}, {"name": "constant", "jitter_ps": 0}),
        ({"arrival": "staggered", "jitter": "5 ns"}, {"name": "staggered", "jitter_ps": 5_000}),
        ({"arrival": "poisson"}, {"name": "poisson"}),
    ],
)
def test_arrivals(options, arrival):
    changes = [(f"job.a.app.{key}", value) for key, value in options.items()]
    assert spec(TINY, *changes)["jobs"][0]["traffic"]["arrival"] == arrival


def test_first_messages():
    assert spec(TINY, ("job.a.app.first", "at-zero"))["jobs"][0]["traffic"]["first"] == "at-zero"


@pytest.mark.parametrize(
    ("latency", "background", "record", "kept"),
    [
        ("every-message", False, None, "every-message"),
        ("histogram", False, None, "histogram"),
        ("every-message", True, None, "histogram"),
        ("every-message", True, "every-message", "every-message"),
        ("every-message", False, "nothing", "nothing"),
    ],
)
def test_what_is_kept_of_messages(latency, background, record, kept):
    changes = [("measure.latency", latency), ("job.a.background", background), ("run.until", "1 ms")]
    if record:
        changes.append(("job.a.record", record))
    assert spec(TINY, *changes)["jobs"][0]["record"] == kept


TWO = TINY + TINY.split("\n", 1)[1].replace('"a"', '"b"')


@pytest.mark.parametrize(
    ("run", "stop"),
    [
        ({}, {"jobs": [0, 1], "at_ps": None}),
        ({"until": "b"}, {"jobs": [1], "at_ps": None}),
        ({"until": ["b", "a"]}, {"jobs": [0, 1], "at_ps": None}),
        ({"until": "1 ms"}, {"jobs": [], "at_ps": 10**9}),
        ({"until": ["a", "1 ms"]}, {"jobs": [0], "at_ps": 10**9}),
        ({"until": "2 ms", "horizon": "1 ms"}, {"jobs": [], "at_ps": 10**9}),
        ({"horizon": "1 ms"}, {"jobs": [0, 1], "at_ps": 10**9}),
    ],
)
def test_when_a_run_ends(run, stop):
    assert spec(TWO, *((f"run.{key}", value) for key, value in run.items()))["stop"] == stop


def test_background_is_not_waited_for():
    assert spec(TWO, ("job.b.background", True))["stop"] == {"jobs": [0], "at_ps": None}


def test_a_job_without_end_can_run_up_to_a_horizon():
    text = TINY.replace(", messages = 5", "")
    assert spec(text, ("run.horizon", "1 ms"))["stop"] == {"jobs": [], "at_ps": 10**9}


def test_warm_up_and_window():
    told = spec(TINY, ("measure.warm_up", "10 us"), ("measure.window", "5 us"))
    assert told["measure"] == {"from_ps": 10_000_000, "until_ps": 15_000_000, "arrivals_every_ps": None}


def test_a_job_alone_has_its_nodes_and_the_seed():
    resolved = parse(TWO).set("run.seed", 9).resolve()
    alone = resolved.alone("b")
    assert alone["jobs"] == [resolved.spec["jobs"][1]]
    assert alone["stop"] == {"jobs": [0], "at_ps": None}
    assert alone["seed"] == 9
    _core.check(json.dumps(alone))
    with pytest.raises(InputError, match="there is no job `c`"):
        resolved.alone("c")


def test_a_job_without_end_cannot_run_alone():
    resolved = parse(TWO.replace(", messages = 5", "", 1)).set("run.until", "b").resolve()
    with pytest.raises(InputError, match="job `a` never ends"):
        resolved.alone("a")


def test_the_only_job_alone_is_the_run_itself():
    resolved = parse(TINY).resolve()
    assert resolved.alone("a") == resolved.spec


def test_the_identity_depends_on_what_is_simulated_and_on_nothing_else():
    resolved = parse(TINY).resolve()
    assert len(resolved.id) == 16
    assert int(resolved.id, 16) >= 0
    same = ["# a comment\n" + TINY, TINY.replace('"1 us"', '"1000 ns"')]
    assert {parse(text).resolve().id for text in same} == {resolved.id}
    other = [TINY.replace('"1 us"', '"2 us"'), TINY + "[run]\nseed = 2\n", 'routing = "minimal"\n' + TINY]
    assert len({parse(text).resolve().id for text in other} | {resolved.id}) == 4


def test_the_identity_depends_on_who_is_background_and_on_the_name_of_the_machine():
    """Catches a second run that is "already done" although its tables would say something else."""
    first = parse(TWO).set("run.until", ["a"]).set("job.a.record", "histogram").set("job.b.record", "histogram")
    other = [
        first.set("job.b.background", True),
        first.set("system", {"preset": "tiny", "name": "other"}),
        first.set("system", {"preset": "tiny", "title": "other"}),
    ]
    assert all(scenario.resolve().spec == first.resolve().spec for scenario in other)
    assert len({scenario.resolve().id for scenario in (first, *other)}) == 4


def test_scenarios_and_what_they_mean_travel_between_processes():
    scenario = parse(EXAMPLE).set("run.seed", 3)
    resolved = pickle.loads(pickle.dumps(scenario)).resolve()
    again = pickle.loads(pickle.dumps(resolved))
    assert (again.id, again.document) == (scenario.resolve().id, scenario.resolve().document)


def test_the_document_has_every_default():
    document = parse(EXAMPLE).resolve().document
    told = document["scenario"]
    assert told["routing"]["threshold"] == 0.5
    assert told["routing"]["compare"] == "below"
    assert told["system"]["fabric"]["links"]["global"]["bandwidth"] == "4.37 GiB/s"
    assert told["job"][0]["app"]["jitter"] == "1 ns"
    assert told["job"][1]["app"]["message"] == "6084 B"
    assert told["job"][1]["nodes"] == 144
    assert told["run"] == {"until": ["target"], "seed": 1}
    by_time = parse(EXAMPLE).set("run.until", "1 ms").resolve().document["scenario"]
    assert by_time["run"] == {"seed": 1, "horizon": "1 ms"}
    assert {"key", "value", "source"} == set(document["sources"][0])
    assert json.loads(json.dumps(document))["spec"] == document["spec"]


def test_a_complete_machine_in_the_scenario():
    own = machine.load("tiny").document()
    scenario = parse(TINY).set("system", own)
    assert scenario.resolve().spec == spec(TINY)


def test_the_published_simulator_has_its_own_nic_unless_the_scenario_says_otherwise():
    def overhead(*changes):
        return spec(TINY, *changes)["fabric"]["nic"]["overhead_ps"]

    assert overhead() == 0
    assert overhead(("compat", "codes-2019")) == 10_000
    assert overhead(("compat", "codes-2019"), ("fabric.nic.overhead", "3 ns")) == 3_000
    assert overhead(("compat", "codes-2019"), ("system.fabric.nic.overhead", "4 ns")) == 4_000
    resolved = parse(TINY).set("compat", "codes-2019").resolve()
    assert resolved.system.name == "tiny"
    sources = {row["key"]: row["source"] for row in resolved.document["sources"]}
    assert sources["fabric.nic.overhead"] == "the published simulator's own"
