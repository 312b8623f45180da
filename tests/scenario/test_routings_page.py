"""The table in `docs/routings.md` is that of the code."""

from pathlib import Path
from types import SimpleNamespace

from odonata.document import validate
from odonata.machine.kinds import KINDS
from odonata.scenario.routings import DEFAULTS, ROUTINGS, on_system

from .topologies import TOPOLOGIES

PAGE = (Path(__file__).parents[2] / "docs" / "routings.md").read_text(encoding="utf-8")

SYSTEMS = {
    kind: SimpleNamespace(
        table=SimpleNamespace(kind=kind, between_groups="global"),
        topology=TOPOLOGIES[kind],
        fabric={"channels": 8, "links": {"global": {"buffer_bytes": 65_536}}},
    )
    for kind in KINDS
}


#: Their functions come from files, which say how many they need.
OF_FILES = {"custom": "`hops` on any machine", "q-adaptive": "5 on a dragonfly"}


def channels(name, **options):
    if name in OF_FILES:
        return OF_FILES[name]
    lines = []
    for kind in KINDS:
        if kind in ROUTINGS[name].kinds and not (kind == "dragonfly-plus" and options):
            routing = on_system(validate(ROUTINGS[name], {"name": name, **options}), SYSTEMS[kind], None)
            lines.append(f"{routing.channels_needed(SYSTEMS[kind])} on a {kind}")
    return ", ".join(lines)


def lines():
    for name, routing in ROUTINGS.items():
        about = routing.__doc__.splitlines()[0].rstrip(".")
        yield f"| `{name}` | {channels(name)} | {about} |"
        if "via" in routing.model_fields:
            yield f"| `{name}`, via router | {channels(name, via='router')} |  |"


def test_the_table_of_routings():
    table = PAGE[PAGE.index("|---|---|---|") :].split("\n\n")[0].splitlines()[1:]
    assert table == list(lines())


def test_the_table_of_defaults():
    for kind, name in DEFAULTS.items():
        assert f"| {kind} | `{name}`" in PAGE
