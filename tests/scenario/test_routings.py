"""Routings: which is for which machine, what each option becomes, how many channels each needs."""

import inspect
import re
from types import SimpleNamespace

import pytest

from odonata import _core
from odonata.document import validate
from odonata.errors import InputError
from odonata.machine.kinds import KINDS
from odonata.scenario import Scenario
from odonata.scenario.routings import BUILT_IN, DEFAULTS, OPTIONS, ROUTINGS, check_channels, on_system, routings_of
from odonata.scenario.routings.choice import read_routing

from .topologies import TOPOLOGIES

DIRECT = ["dragonfly", "cascade"]
TWO_WAYS = {
    "via": "group",
    "minimal_candidates": 1,
    "other_candidates": 1,
    "factor_milli": 2000,
    "bias_bytes": 0,
}


def system(kind, rows=2, columns=3, channels=8):
    """As much of a machine as a routing looks at; 64,000 B behind a link between groups."""
    between = {"cascade": "optical"}.get(kind, "global")
    grid = {"rows": rows, "columns": columns} if kind == "cascade" else {}
    return SimpleNamespace(
        table=SimpleNamespace(kind=kind, between_groups=between),
        topology={**TOPOLOGIES[kind], **grid},
        fabric={"channels": channels, "links": {between: {"buffer_bytes": 64_000}}},
    )


def decided(kind, name, compat=None, **options):
    return on_system(read_routing({"name": name, **options}), system(kind), compat)


def test_which_routing_is_for_which_machine():
    everywhere = ["minimal", "valiant"]
    direct = ["ugal-l", "ugal-g", "par", "adaptive-local"]
    modes = ["adaptive-0", "adaptive-1", "adaptive-2", "adaptive-3", "min-hash", "nmin-hash", "in-order"]
    assert routings_of("dragonfly-plus") == [*everywhere, "prog-adaptive", "fpar"]
    for kind in DIRECT:
        assert routings_of(kind) == [*everywhere, *direct, *modes, "application-aware"]
    assert routings_of("fat-tree") == ["up-down"]
    assert routings_of("hyperx") == [*everywhere, "dimension-order", "omni-war"]
    assert {kind for routing in ROUTINGS.values() for kind in routing.kinds} == set(DEFAULTS) - set(OPTIONS)
    assert set(KINDS) <= set(DEFAULTS)
    assert all(DEFAULTS[kind] in routings_of(kind) for kind in DEFAULTS.keys() - OPTIONS)


def test_every_routing_of_the_core_has_a_name_in_a_scenario():
    assert {routing.core for routing in ROUTINGS.values()} == {info["name"] for info in _core.routings()}


@pytest.mark.parametrize("name", BUILT_IN)
def test_a_routing_says_what_the_core_wants_to_know(name):
    """Catches an option that the core has and a scenario cannot name."""
    info = next(info for info in _core.routings() if info["name"] == ROUTINGS[name].core)
    for kind in ROUTINGS[name].kinds:
        told = set(decided(kind, name).spec())
        options = {option["name"] for option in info["options"]}
        required = {option["name"] for option in info["options"] if not option["optional"]}
        assert required <= told - {"name"} <= options


@pytest.mark.parametrize("name", ROUTINGS)
def test_what_is_printed_about_a_routing_says_its_machines(name):
    """`odonata show` prints the docstring."""
    said = re.search(r"^Machines: (.*)\.$", inspect.cleandoc(ROUTINGS[name].__doc__), re.MULTILINE)
    assert tuple(said[1].split(", ")) == ROUTINGS[name].kinds


@pytest.mark.parametrize(
    ("kind", "name", "options", "told"),
    [
        ("dragonfly-plus", "minimal", {}, {"name": "minimal", "select": "random"}),
        ("dragonfly-plus", "minimal", {"select": "hash"}, {"name": "minimal", "select": "hash"}),
        ("dragonfly-plus", "valiant", {"select": "hash"}, {"name": "valiant", "via": "spine", "select": "hash"}),
        ("dragonfly", "minimal", {}, {"name": "minimal", "select": "random", "gateways": "nearest"}),
        ("cascade", "minimal", {}, {"name": "minimal", "select": "random", "gateways": "all"}),
        (
            "cascade",
            "minimal",
            {"gateways": "nearest", "select": "least-loaded"},
            {"name": "minimal", "select": "least-loaded", "gateways": "nearest"},
        ),
        (
            "dragonfly",
            "valiant",
            {},
            {"name": "valiant", "via": "group", "select": "random", "gateways": "nearest"},
        ),
        (
            "cascade",
            "valiant",
            {"via": "router", "select": "hash"},
            {"name": "valiant", "via": "router", "select": "hash", "gateways": "all"},
        ),
        ("dragonfly", "ugal-l", {}, {"name": "ugal", "knowledge": "local", **TWO_WAYS, "gateways": "nearest"}),
        ("cascade", "ugal-g", {}, {"name": "ugal", "knowledge": "global", **TWO_WAYS, "gateways": "all"}),
        ("fat-tree", "up-down", {}, {"name": "up-down", "spread": "least-loaded"}),
        ("fat-tree", "up-down", {"spread": "d-mod-k"}, {"name": "up-down", "spread": "d-mod-k"}),
        ("hyperx", "minimal", {"select": "least-loaded"}, {"name": "minimal", "select": "least-loaded"}),
        ("hyperx", "dimension-order", {"select": "hash"}, {"name": "dimension-order", "select": "hash"}),
        ("hyperx", "valiant", {}, {"name": "valiant", "via": "router", "select": "random"}),
        ("hyperx", "omni-war", {}, {"name": "omni-war", "deroutes": 3}),
        ("hyperx", "omni-war", {"deroutes": 0}, {"name": "omni-war", "deroutes": 0}),
        ("dragonfly", "par", {}, {"name": "par", **TWO_WAYS, "gateways": "nearest"}),
        (
            "dragonfly",
            "ugal-l",
            {
                "via": "router",
                "minimal_candidates": 2,
                "other_candidates": 2,
                "factor": 1.5,
                "bias": "2 KiB",
                "gateways": "all",
            },
            {
                "name": "ugal",
                "knowledge": "local",
                "via": "router",
                "minimal_candidates": 2,
                "other_candidates": 2,
                "factor_milli": 1500,
                "bias_bytes": 2048,
                "gateways": "all",
            },
        ),
        (
            "dragonfly",
            "adaptive-local",
            {},
            {"name": "adaptive-local", "factor_milli": 2000, "inside": "router", "gateways": "nearest"},
        ),
        (
            "dragonfly",
            "valiant",
            {"inside": "router"},
            {"name": "valiant", "via": "group", "select": "random", "inside": "router", "gateways": "nearest"},
        ),
        (
            "dragonfly",
            "valiant",
            {"via": "router", "inside": "router"},
            {"name": "valiant", "via": "router", "select": "random", "gateways": "nearest"},
        ),
        (
            "cascade",
            "adaptive-local",
            {"factor": "150 %", "inside": "minimal"},
            {"name": "adaptive-local", "factor_milli": 1500, "gateways": "all"},
        ),
    ],
)
def test_every_option_reaches_the_core(kind, name, options, told):
    assert decided(kind, name, **options).spec() == told


@pytest.mark.parametrize(
    ("mode", "options", "low", "high"),
    [
        ("adaptive-0", {}, 0, 0),
        ("adaptive-1", {}, 0, 32_000),
        ("adaptive-1", {"bias_high": "1 KB"}, 0, 1_000),
        ("adaptive-2", {}, 8_000, 0),
        ("adaptive-2", {"bias_low": "1 KB"}, 1_000, 0),
        ("adaptive-2", {"bias_low": "0 B"}, 0, 0),
        ("adaptive-3", {}, 0, 32_000),
        ("adaptive-3", {"bias_high": "1 KB", "gateways": "nearest"}, 0, 1_000),
        ("min-hash", {}, 0, 0),
        ("nmin-hash", {}, 0, 0),
        ("in-order", {}, 0, 0),
    ],
)
def test_the_modes_of_aries_and_their_short_forms(mode, options, low, high):
    """Biases are 1/8 and 1/2 of the buffer of the links between groups where a mode has one."""
    told = {
        "name": "aries",
        "mode": mode,
        "bias_low_bytes": low,
        "bias_high_bytes": high,
        "gateways": options.get("gateways", "all"),
    }
    assert decided("cascade", mode, **options).spec() == told
    assert decided("cascade", "aries", mode=mode, **options) == decided("cascade", mode, **options)


def test_aries_is_another_name_of_its_default_mode():
    """In every place of a scenario where a routing stands, and resolved files have its name."""
    system = {"preset": "aries", "groups": 2}
    job = {"name": "a", "nodes": 16, "app": {"collective": "barrier"}}

    def resolved(of_machine=None, of_job=None, **more):
        machine = system if of_machine is None else {**system, "routing": of_machine}
        jobs = [job if of_job is None else {**job, "routing": of_job}]
        return Scenario.of({"system": machine, "job": jobs, **more}).resolve()

    third = {"name": "aries", "mode": "adaptive-3"}
    for given, name in (("aries", "adaptive-0"), (third, "adaptive-3"), ({"mode": "adaptive-3"}, "adaptive-3")):
        plain = resolved(routing=name)
        assert plain.document["scenario"]["routing"]["name"] == name
        for same in (resolved(routing=given), resolved(given)):
            assert same.id == plain.id
            assert same.document["scenario"]["routing"] == plain.document["scenario"]["routing"]
        of_job = resolved(of_job=given, routing="adaptive-1")
        assert of_job.document["scenario"]["job"][0]["routing"]["name"] == name
    assert resolved().document["scenario"]["routing"]["name"] == "adaptive-0"
    assert resolved(third, routing={"mode": "in-order"}).document["scenario"]["routing"]["name"] == "in-order"


def test_what_is_decided_can_be_given_again():
    """Every default that depends on the machine is in the document of a run, and gives the same run."""
    for kind in DEFAULTS:
        for name in routings_of(kind):
            first = decided(kind, name)
            dumped = first.model_dump(mode="json", exclude_none=True)
            assert decided(kind, **dumped) == first
    assert "gateways" in decided("dragonfly", "par").model_dump(exclude_none=True)
    assert decided("cascade", "adaptive-3").model_dump(mode="json")["bias_high"] == "32 KB"


@pytest.mark.parametrize(
    ("kind", "name", "options", "path", "message", "hint"),
    [
        (
            "cascade",
            "fpar",
            {},
            "name",
            "`fpar` is for dragonfly-plus, not for a cascade",
            "routings for a cascade: minimal,",
        ),
        (
            "dragonfly-plus",
            "par",
            {},
            "name",
            "`par` is for dragonfly and cascade, not",
            "valiant, prog-adaptive, fpar",
        ),
        (
            "fat-tree",
            "minimal",
            {},
            "name",
            "is for dragonfly-plus and dragonfly and cascade and hyperx and graph, not for a fat-tree",
            "up-down",
        ),
        ("cascade", "up-down", {}, "name", "`up-down` is for fat-tree, not for a cascade", None),
        ("fat-tree", "up-down", {"spread": "random"}, "spread", "found `random`", None),
        ("dragonfly-plus", "in-order", {}, "name", "is for dragonfly and cascade, not for a dragonfly-plus", "fpar"),
        ("dragonfly-plus", "minimal", {"gateways": "all"}, "gateways", "a dragonfly-plus has no `gateways`", None),
        (
            "dragonfly-plus",
            "valiant",
            {"via": "router"},
            "via",
            "`router` is for dragonfly and cascade and hyperx and graph; a dragonfly-plus has: spine, leaf",
            None,
        ),
        (
            "dragonfly",
            "valiant",
            {"via": "spine"},
            "via",
            "`spine` is for dragonfly-plus; a dragonfly has: group, router",
            None,
        ),
        (
            "hyperx",
            "valiant",
            {"via": "group"},
            "via",
            "`group` is for dragonfly and cascade; a hyperx has: router",
            None,
        ),
        ("hyperx", "valiant", {"inside": "router"}, "inside", "inside a group are routed as all others", None),
        ("hyperx", "minimal", {"gateways": "all"}, "gateways", "a hyperx has no `gateways`", None),
        ("hyperx", "ugal-l", {}, "name", "not for a hyperx", "minimal, valiant, dimension-order, omni-war"),
        ("hyperx", "omni-war", {"deroutes": 14}, "deroutes", "expected a whole number from 0 to 13, found `14`", None),
        ("hyperx", "omni-war", {"deroutes": True}, "deroutes", "found `True`", None),
        ("hyperx", "dimension-order", {"select": "adaptive"}, "select", "found `adaptive`", None),
        ("dragonfly", "ugal-l", {"via": "spine"}, "via", "found `spine`", None),
        ("dragonfly", "ugal-l", {"minimal_candidates": 3}, "minimal_candidates", "expected 1 or 2, found `3`", None),
        ("dragonfly", "ugal-l", {"other_candidates": True}, "other_candidates", "expected 1 or 2, found `True`", None),
        ("dragonfly", "par", {"factor": 0.1234}, "factor", "more than three decimals", None),
        ("dragonfly", "par", {"factor": 1_000_001}, "factor", "`factor` must be at most 1,000,000, found 1e+06", None),
        ("dragonfly", "par", {"bias": "2 GB"}, "bias", "`bias` must be at most 1 GB, found 2 GB", None),
        ("cascade", "adaptive-3", {"bias_high": "2 GB"}, "bias_high", "`bias_high` must be at most 1 GB", None),
        ("dragonfly", "par", {"factor": -1}, "factor", "`factor`", None),
        ("dragonfly", "par", {"bias": 4}, "bias", "`bias`: the size 4 has no unit", None),
        ("dragonfly", "par", {"knowledge": "local"}, "knowledge", "unknown key `knowledge`", None),
        ("cascade", "adaptive-local", {"factor": 0.1234}, "factor", "more than three decimals", None),
        ("cascade", "aries", {"mode": "adaptive0"}, "mode", "unknown mode `adaptive0`", "`adaptive-0`"),
        (
            "cascade",
            "aries",
            {"mode": "adaptive-0", "bias_low": "1 KB"},
            "bias_low",
            "unknown key `bias_low`",
            "it is for adaptive-2",
        ),
        (
            "cascade",
            "aries",
            {"mode": "adaptive-2", "bias_high": "1 KB"},
            "bias_high",
            "unknown key `bias_high`",
            "adaptive-1 and adaptive-3",
        ),
        ("cascade", "adaptive-0", {"bias_high": "1 KB"}, "bias_high", "unknown key `bias_high`", "adaptive-1"),
        ("cascade", "adaptive-0", {"mode": "adaptive-1"}, "mode", "unknown key `mode`", "aries"),
    ],
)
def test_what_means_nothing_is_refused(kind, name, options, path, message, hint):
    with pytest.raises(InputError) as caught:
        decided(kind, name, **options)
    assert message in caught.value.message
    assert caught.value.path == (path,)
    assert hint is None or hint in caught.value.hint


def test_fpar_under_compat_compares_as_the_code_does():
    assert decided("dragonfly-plus", "fpar").spec()["compare"] == "below"
    assert decided("dragonfly-plus", "fpar", "codes-2019").spec()["compare"] == "at-most"
    assert decided("dragonfly-plus", "fpar", "codes-2019", compare="below").spec()["compare"] == "below"


#: docs/model.md, section 6: stages of each routing on direct machines.
STAGES = [
    ("minimal", {}, 2),
    ("valiant", {}, 3),
    ("valiant", {"via": "router"}, 4),
    ("ugal-l", {}, 3),
    ("ugal-l", {"via": "router"}, 4),
    ("ugal-g", {}, 3),
    ("ugal-g", {"via": "router"}, 4),
    ("par", {}, 4),
    ("par", {"via": "router"}, 5),
    ("adaptive-local", {}, 3),
    ("adaptive-0", {}, 4),
    ("adaptive-1", {}, 4),
    ("adaptive-2", {}, 4),
    ("adaptive-3", {}, 4),
    ("nmin-hash", {}, 3),
    ("min-hash", {}, 2),
    ("in-order", {}, 2),
]


@pytest.mark.parametrize(("name", "options", "stages"), STAGES)
def test_channels_on_direct_machines(name, options, stages):
    def needed(*machine):
        return decided(machine[0], name, **options).channels_needed(system(*machine))

    assert needed("dragonfly") == stages
    assert needed("cascade", 6, 16) == 2 * stages
    assert needed("cascade", 1, 16) == needed("cascade", 6, 1) == stages


@pytest.mark.parametrize(("name", "needed"), [("minimal", 1), ("valiant", 2), ("prog-adaptive", 2), ("fpar", 2)])
def test_channels_on_a_dragonfly_plus(name, needed):
    routing = decided("dragonfly-plus", name)
    check_channels(routing, system("dragonfly-plus", channels=needed))
    with pytest.raises(InputError, match=f"needs {needed} virtual channels, the fabric has {needed - 1}"):
        check_channels(routing, system("dragonfly-plus", channels=needed - 1))


@pytest.mark.parametrize(
    ("dimensions", "name", "options", "needed"),
    [
        ([4, 3, 2], "minimal", {}, 3),
        ([4, 3, 2], "valiant", {}, 6),
        ([4, 3, 2], "dimension-order", {}, 1),
        ([4, 3, 2], "omni-war", {}, 6),
        ([4, 3, 2], "omni-war", {"deroutes": 5}, 8),
        ([8], "valiant", {}, 2),
        ([8, 1, 8], "omni-war", {}, 4),
        ([1], "minimal", {}, 1),
    ],
)
def test_channels_on_a_hyperx(dimensions, name, options, needed):
    machine = system("hyperx")
    machine.topology = {**machine.topology, "dimensions": dimensions, "dimension_links": [1] * len(dimensions)}
    routing = on_system(validate(ROUTINGS[name], {"name": name, **options}), machine, None)
    assert routing.channels_needed(machine) == needed


def test_too_few_channels_say_how_many_are_needed():
    with pytest.raises(InputError) as caught:
        check_channels(decided("dragonfly", "ugal-l", via="router"), system("dragonfly", channels=2))
    assert str(caught.value) == (
        "the routing `ugal-l` via router needs 4 virtual channels, the fabric has 2\n"
        "  hint: set channels = 4 in [fabric]"
    )


def test_keys_that_stand_elsewhere_are_not_listed_as_known():
    with pytest.raises(InputError, match=r"unknown key `bias`\n  hint: known: gateways, name, select$"):
        validate(ROUTINGS["minimal"], {"name": "minimal", "bias": "2 KiB"})
