"""Policies of other distributions: real entry points of distributions on the path."""

import subprocess
import sys
import textwrap

import pytest

from odonata import placement
from odonata.errors import InputError, RunError
from odonata.machine import Shape
from odonata.placement import plugins, table

SHAPE = Shape(2, 2, 4)


@pytest.fixture
def offer(tmp_path, monkeypatch):
    """Makes a distribution of the given name with modules and entry points."""
    monkeypatch.syspath_prepend(tmp_path)
    fresh = table.Registry(table.POLICIES._own.values())
    monkeypatch.setattr("odonata.placement.placing.POLICIES", fresh)
    monkeypatch.setattr("odonata.placement.POLICIES", fresh)
    monkeypatch.setattr("odonata.placement.table.POLICIES", fresh)
    modules = []

    def make(distribution, points, **sources):
        info = tmp_path / f"{distribution.replace('-', '_')}-1.2.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 1.2\n")
        lines = [f"{name} = {value}" for name, value in points.items()]
        (info / "entry_points.txt").write_text("\n".join(["[odonata.placement]", *lines]))
        for module, source in sources.items():
            (tmp_path / f"{module}.py").write_text(textwrap.dedent(source))
            modules.append(module)
        plugins.offered.cache_clear()

    yield make
    plugins.offered.cache_clear()
    for module in modules:
        sys.modules.pop(module, None)


def test_a_function_is_a_policy(offer):
    offer(
        "dist-a",
        {"last-first": "mod_a:last_first"},
        mod_a='''
        def last_first(request):
            """The last free nodes. And more."""
            return request.free[: -request.wanted() - 1 : -1]
        ''',
    )
    assert placement.names()[-1] == "last-first"
    assert "mod_a" not in sys.modules, "nothing is imported before it is used"
    placed = placement.place("last-first", SHAPE, 3, busy="14")
    assert placed.nodes == [15, 13, 12]
    assert placement.get("last-first").summary == "The last free nodes. And more"
    with pytest.raises(InputError, match="unknown option of `last-first` `seed`"):
        placement.place("last-first", SHAPE, 3, seed=1)


def test_a_policy_with_options(offer):
    offer(
        "dist-a",
        {"every": "mod_a:POLICY"},
        mod_a="""
        from odonata.placement import Freedom, Option, Placement, Policy

        POLICY = Policy(
            "whatever", "every so many", "ascending", (Option("step", "how many", int, "1"),),
            lambda r: Placement(r.free[:: r.options.get("step", 1)][: r.wanted()], "every so many"),
            lambda _: Freedom.ANYWHERE,
        )
        """,
    )
    assert placement.place("every", SHAPE, 3, step=4).nodes == [0, 4, 8]
    assert placement.get("every").provider == "dist-a 1.2"


BROKEN = """
    def twice(request): return [3, 3]
    def taken(request): return [0, 1]
    def beyond(request): return [15, 16]
    def few(request): return [5]
    def nothing(request): return None
    def half(request): return [1.5, 2]
    def fails(request): raise KeyError("no such switch")
    def refuses(request):
        from odonata.errors import InputError
        raise InputError("not on Sundays")
    number = 7
"""


@pytest.mark.parametrize(
    ("name", "error", "message"),
    [
        ("twice", RunError, "the placement policy `twice` of dist-b 1.2 gave some nodes twice"),
        ("taken", RunError, "`taken` of dist-b 1.2 gave nodes that are not free: 0"),
        ("beyond", RunError, "`beyond` of dist-b 1.2 gave nodes that are not free: 16"),
        ("few", RunError, "`few` of dist-b 1.2 gave 1 nodes instead of 2"),
        ("nothing", RunError, "`nothing` of dist-b 1.2 failed: TypeError: 'NoneType' object is not iterable"),
        (
            "half",
            RunError,
            "`half` of dist-b 1.2 failed: TypeError: 'float' object cannot be interpreted as an integer",
        ),
        ("fails", RunError, "`fails` of dist-b 1.2 failed: KeyError: 'no such switch'"),
        ("refuses", InputError, "not on Sundays"),
        (
            "number",
            InputError,
            "`number` of dist-b 1.2 cannot be used: mod_b:number is neither a Policy nor a function",
        ),
        ("missing", InputError, "`missing` of dist-b 1.2 cannot be used: mod_b:missing cannot be imported: Attribute"),
        ("no-module", InputError, "of dist-b 1.2 cannot be used: mod_none:x cannot be imported: ModuleNotFoundError"),
    ],
)
def test_errors_of_broken_policies_name_policy_and_distribution(offer, name, error, message):
    points = {n: f"mod_b:{n}" for n in ("twice", "taken", "beyond", "few", "nothing", "half", "fails", "refuses")}
    offer(
        "dist-b",
        {**points, "number": "mod_b:number", "missing": "mod_b:missing", "no-module": "mod_none:x"},
        mod_b=BROKEN,
    )
    with pytest.raises(error, match=message):
        placement.place(name, SHAPE, 2, busy=[0])


def test_a_broken_policy_does_not_spoil_the_list(offer):
    offer("dist-b", {"gone": "mod_none:x"})
    listed = {name: policy.summary for name, policy in placement.POLICIES.items()}
    assert listed["gone"].startswith("cannot be used: mod_none:x cannot be imported")
    assert "(dist-b 1.2)" in listed["gone"]


def test_two_distributions_and_one_name(offer):
    offer("dist-a", {"same": "mod_a:x"}, mod_a="def x(request): return request.free[: request.wanted()]")
    offer("dist-b", {"same": "mod_a:x"})
    with pytest.raises(InputError, match=r"`same` of dist-a 1.2 and dist-b 1.2 cannot be used: more than one"):
        placement.place("same", SHAPE, 2)


def test_a_name_of_odonata_cannot_be_taken(offer):
    offer("dist-a", {"simple": "mod_a:x"}, mod_a="def x(request): return [9]")
    assert placement.place("simple", SHAPE, 1).nodes == [0]
    assert "simple@foreign" in placement.names()
    with pytest.raises(InputError, match=r"`simple` of dist-a 1.2 cannot be used: Odonata has a policy of that name"):
        placement.place("simple@foreign", SHAPE, 1)


def test_unknown_names():
    for name in ("nobody@foreign", "simple@foreign", "nobody"):
        with pytest.raises(InputError, match=f"unknown placement policy `{name}`"):
            placement.get(name)


def test_invalid_nodes_of_an_own_policy_are_an_error_too(monkeypatch):
    """The checks are the same for all."""
    policy = placement.get("simple")
    monkeypatch.setitem(policy.__dict__, "place", lambda _: placement.Placement([1, 1], "wrong"))
    with pytest.raises(RunError, match="the placement policy `simple` gave some nodes twice"):
        placement.place("simple", SHAPE, 2)


def test_placement_needs_neither_frames_nor_pictures():
    code = """
        import sys
        from odonata.machine import Shape
        from odonata.placement import place
        place("level-spread", Shape(9, 24, 16), 100)
        print(*sys.modules)
    """
    ran = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=True)
    loaded = set(ran.stdout.split())
    assert "odonata.placement.table" in loaded
    assert not {"polars", "matplotlib"} & loaded
