"""Fabrics for the tests of the import: tables of machines, broken machines, and topologies that must be refused."""

from __future__ import annotations

from itertools import product
from typing import Any

from hypothesis import strategies as st

from odonata.machine.kinds import KINDS

#: Every preset, the large ones with fewer groups.
PRESETS: list[Any] = [
    "tiny",
    "marconi100",
    "niagara",
    "zhang2018-272",
    "zhang2018-528",
    "zhang2018-544",
    "zhang2018-1056",
    {"preset": "kang2019", "groups": 3},
    {"preset": "leonardo", "groups": 4},
    {"preset": "aries", "groups": 2},
    {"preset": "cori", "groups": 2},
    {"preset": "edison", "groups": 2},
    {"preset": "piz-daint", "groups": 2},
    {"preset": "theta", "groups": 2},
    {"preset": "frontier", "groups": 4},
    {"preset": "lumi", "groups": 3},
    {"preset": "perlmutter", "groups": 4},
]


def fabric(kind: str) -> dict[str, Any]:
    """Links of a speed that InfiniBand has."""
    return {"links": {name: {"bandwidth": "200 Gbit/s", "buffer": "16 KiB"} for name in KINDS[kind].classes}}


@st.composite
def tables(draw: st.DrawFn) -> dict[str, Any]:
    """Small machines of all kinds, with all arrangements that follow a rule."""
    kind = draw(st.sampled_from(["dragonfly-plus", "dragonfly", "cascade"]))
    groups = draw(st.integers(4, 7))
    table: dict[str, Any] = {"kind": kind, "groups": groups, "fabric": fabric(kind)}
    spare = draw(st.integers(0, 1))
    if kind == "dragonfly-plus":
        spines = draw(st.integers(2, 4))
        links = spines * draw(st.integers(1, 2))
        arrangement = draw(st.sampled_from(["linear", "parallel"]))
        return table | {
            "leaves": draw(st.integers(2, 5)),
            "spines": spines,
            "nodes_per_leaf": draw(st.integers(2, 4)),
            "links_per_pair": links,
            "global_links_per_spine": links // spines * (groups - 1) + spare,
            "arrangement": arrangement,
        }
    if kind == "dragonfly":
        routers = draw(st.integers(4, 8))
        table |= {"routers": routers, "local_links": draw(st.integers(1, 2))}
    else:
        rows, columns = draw(st.integers(2, 4)), draw(st.integers(3, 5))
        routers = rows * columns
        table |= {"rows": rows, "columns": columns}
        table |= {"row_links": draw(st.integers(1, 2)), "column_links": draw(st.integers(1, 3))}
    links = draw(st.integers(2, 3))
    return table | {
        "nodes_per_router": draw(st.integers(1, 4)),
        "links_per_pair": links,
        "global_links_per_router": -(-links * (groups - 1) // routers) + spare,
        "arrangement": draw(st.sampled_from(["absolute", "relative", "circulant", "palmtree"])),
        "spread": draw(st.sampled_from(["consecutive", "round-robin"])),
    }


def ibnetdiscover(cables: list[tuple[str, str]], hosts: list[tuple[str, str]]) -> str:
    """Records of switches and hosts, from cables between switches and links `(host, switch)`."""
    switches = list(dict.fromkeys(name for pair in cables for name in pair))
    guid = {name: f"S-{0x100 + at:016x}" for at, name in enumerate(switches)}
    guid |= {host: f"H-{0x10000 + at:016x}" for at, (host, _) in enumerate(hosts)}
    ports: dict[str, list[tuple[str, int]]] = {name: [] for name in guid}
    for a, b in [*cables, *hosts]:
        at, to = len(ports[a]) + 1, len(ports[b]) + 1
        ports[a].append((b, to))
        ports[b].append((a, at))
    rows = []
    for name, own in ports.items():
        kind = "Switch" if name in switches else "Ca"
        rows += ["", f'{kind}\t40 "{guid[name]}"\t\t# "{name}"']
        rows += [f'[{at}]\t"{guid[far]}"[{to}]\t\t# "{far}" lid 1 4xHDR' for at, (far, to) in enumerate(own, 1)]
    return "\n".join(rows) + "\n"


def fat_tree() -> str:
    """A fat tree of two levels: leaf switches with two hosts each."""
    cables = [(f"leaf{a}", f"spine{b}") for a, b in product(range(6), range(3))]
    leaves = dict.fromkeys(a for a, _ in cables if a.startswith("leaf"))
    return ibnetdiscover(cables, [(f"n-{leaf}-{host}", leaf) for leaf in leaves for host in range(2)])


def torus(*sizes: int) -> str:
    """A torus with one host on each switch."""
    cables = []
    for at in product(*map(range, sizes)):
        for axis, size in enumerate(sizes):
            to = (*at[:axis], (at[axis] + 1) % size, *at[axis + 1 :])
            cables.append(("-".join(map(str, ("t", *at))), "-".join(map(str, ("t", *to)))))
    return ibnetdiscover(cables, [(f"n{at}", name) for at, name in enumerate(dict.fromkeys(a for a, _ in cables))])
