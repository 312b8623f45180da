"""Files that no fabric can have: an error with file and line, exit status 2, and never a traceback."""

from __future__ import annotations

import random
import re
from typing import TYPE_CHECKING

import pytest
from tests.recognition import fabrics

from odonata import machine
from odonata.cli.main import main
from odonata.errors import InputError
from odonata.recognition import WRITTEN, import_fabric

if TYPE_CHECKING:
    from pathlib import Path

GRAPH = "".join(f"{line}\n" for line in WRITTEN["graphml"].lines(machine.load("tiny")))
FABRIC = fabrics.ibnetdiscover(
    [("a1", "s1"), ("a2", "s1"), ("b1", "s2"), ("b2", "s2"), ("s1", "s2")],
    [("n1", "a1"), ("n2", "a2"), ("n3", "b1"), ("n4", "b2")],
)
TREE = "SwitchName=a Nodes=n[1-2]\nSwitchName=b Nodes=n[3-4]\nSwitchName=c Switches=a,b\n"
MAP = "node,cell,switch\nn1,1,a\nn2,2,b\n"
RTR = "c0-0c0s0a0l00 green -> c0-0c0s1a0l00\nc0-0c0s1a0l00 green -> c0-0c0s0a0l00\n"
P2P = "cable_id,src_conn_a,src_conn_b,dst_conn_a,dst_conn_b,src_group,dst_group\n"
SHORT = '<graphml><key id="t" for="node" attr.name="type"/><graph edgedefault="undirected">{}</graph></graphml>'


def line_of(text: str, words: str, nth: int = 0) -> int:
    """The line of the nth appearance of some words, from 1."""
    return [at for at, row in enumerate(text.splitlines(), 1) if words in row][nth]


#: What is wrong: the text, the line (None: no line), and what the error says.
BAD = {
    "empty": ("", None, "the file is empty"),
    "blank": (" \n\n", None, "the file is empty"),
    "something else": ("hello\n", None, "this is no file of a fabric that can be read"),
    "zero bytes": ("\0" * 100, None, "this is no file of a fabric that can be read"),
    "a cut record": (FABRIC[: FABRIC.rindex("[1]")], None, "which leads nowhere"),
    "a missing record": (FABRIC[: FABRIC.rindex("Ca")], None, "has no record"),
    "a cut line": (FABRIC[: FABRIC.rindex("[1]") + 6], FABRIC.count("\n"), "expected a record of ibnetdiscover"),
    "an unknown line": (FABRIC + "\nhello\n", FABRIC.count("\n") + 2, "found `hello`"),
    "a GUID twice": (FABRIC + FABRIC, FABRIC.count("\n") + 2, "is listed twice, first in line 2"),
    "one side": (FABRIC.replace('[2]\t"H-', '[3]\t"H-', 1), 4, "but that leads to port 2"),
    "another end": (
        FABRIC.replace('"S-0000000000000101"[1]', '"S-0000000000000101"[2]', 1),
        line_of(FABRIC, '"S-0000000000000101"[1]'),
        "but that leads to port",
    ),
    "a port twice": (FABRIC.replace("[2]\t", "[1]\t", 1), None, "two cables at port 1 of `a1`, the first in line 3"),
    "a port that is not there": (FABRIC.replace("[2]\t", "[99]\t", 1), None, "which has 40 ports"),
    "a port without a record": ('[1] "S-01"[1]\n' + FABRIC, 1, "a port outside a record"),
    "a comment that is no TOML": ("# odonata: a b\n" + FABRIC, 1, "a comment of Odonata is not TOML"),
    "a comment twice": ('# odonata: name = "a"\n' * 2 + FABRIC, 2, "`name` is given twice"),
    "a comment of something else": ("# odonata: groups = 3\n" + FABRIC, None, "which this file shows itself"),
    "a comment of another kind": ('# odonata: kind = "torus"\n' + FABRIC, None, "gives the kind `torus`"),
    "a comment with a wrong value": (
        '# odonata: fabric.packet = "2"\n' + FABRIC,
        None,
        "`packet`: the size `2` has no unit",
    ),
    "no XML": ("<graphml", 1, "not XML"),
    "cut XML": (GRAPH[: len(GRAPH) // 2], None, "not XML"),
    "no GraphML": ("<html/>", 1, "expected GraphML, found an element `html`"),
    "no graph": ("<graphml/>", None, "it has no graph"),
    "a document type": ('<!DOCTYPE x [<!ENTITY a "b">]><graphml/>', 1, "a document type is refused"),
    "an external entity": ('<!DOCTYPE x SYSTEM "file:///etc/passwd"><graphml/>', 1, "a document type is refused"),
    "deep elements": (SHORT.format("<a>" * 100), 1, "nested too deeply"),
    "a vertex twice": (SHORT.format('<node id="a"/>\n<node id="a"/>'), 2, "listed twice, first in line 1"),
    "a vertex without id": (SHORT.format("\n<node/>"), 2, "a vertex without `id`"),
    "an unknown vertex": (
        SHORT.format('<node id="leaf1"/>\n<edge source="leaf1" target="leaf2"/>'),
        2,
        "a cable leads to `leaf2`, which is no vertex\n  hint: did you mean `leaf1`?",
    ),
    "an undeclared key": (SHORT.format('<node id="a"><data key="x">1</data></node>'), 1, "`x` is not declared"),
    "a strange type": (SHORT.format('<node id="a"><data key="t">cow</data></node>'), 1, "is of the type `cow`"),
    "a hyperedge": (SHORT.format("<hyperedge/>"), 1, "a hyperedge"),
    "two graphs": ("<graphml><graph/>\n<graph/></graphml>", 2, "a second graph"),
    "a wrong number": (
        GRAPH.replace('<data key="e_port">2</data>', '<data key="e_port">x</data>', 1),
        line_of(GRAPH, '<data key="e_port">2</data>'),
        "`port`: expected a whole number from 0 on, found `x`",
    ),
    "an endless number": (
        GRAPH.replace('<data key="e_bandwidth">', '<data key="e_bandwidth">1e999'),
        None,
        "`bandwidth`: expected a number",
    ),
    "a port of two cables": (
        GRAPH.replace('<data key="e_port">3</data>', '<data key="e_port">2</data>', 1),
        line_of(GRAPH, '<data key="e_port">3</data>'),
        "two cables at port 2 of the switch `g0-leaf0`, the first in line",
    ),
    "a loop": (GRAPH.replace('source="r0" target="r2"', 'source="r0" target="r0"'), None, "joins the switch"),
    "a tree alone": (TREE, None, "but not how switches are joined"),
    "an unknown switch": (TREE.replace("Switches=a", "Switches=x"), 3, "joins `x`, which is not listed"),
    "a reversed range": (TREE.replace("3-4", "4-3"), 2, "ends before it begins"),
    "a node on two leaves": (TREE.replace("3-4", "2-4"), None, "the node `n2` is on `a` and on `b`"),
    "a map with a node twice": (MAP + "n1,2,b\n", 4, "the node `n1` is listed twice, first in line 2"),
    "a cut map": (MAP + "n3,2\n", 4, "2 values, expected 3"),
    "a map with a gap": (MAP + "n3,,b\n", 4, "the cell is empty"),
    "a switch in two cells": (MAP + "n3,1,b\n", 4, "the switch `b` is in the cells `2` and `1`"),
    "a map without nodes": ("node,cell,switch\n", None, "no node is listed"),
    "a cut list of tiles": (RTR + "c0-0c0s", 3, "the file may be cut"),
    "a tile twice": (
        RTR + RTR.splitlines()[0] + "\n",
        3,
        "two cables at tile 0 of the router `c0-0c0s0a0`, the first in",
    ),
    "one tile": (RTR.splitlines()[0] + "\n", 1, "has no lines"),
    "a tile without a way back": (RTR + RTR.splitlines()[0].replace("l00 g", "l01 g"), 3, "nothing leads back"),
    "a torus of Gemini": (RTR.replace("green", "X+"), 1, "cables X+, Y+ and Z+ are those of a torus (Gemini)"),
    "a jack that is none": (P2P + "1,x1c0r1,none,x1c0r2j1,none,0,0\n", 2, "expected a jack such as x1000c0r1j14"),
    "a NIC that is none": (P2P + "1,x1c0r1j1,none,x1c0s0b0n0h0,y,0,0\n", 2, "expected a NIC such as x1000c0s3b0n1h0"),
    "a cable with one end": (P2P + "1,x1c0r1j1,none,none,none,0,0\n", 2, "the cable has one end"),
    "a jack twice": (P2P + "1,x1c0r1j1,none,x1c0r2j1,none,0,0\n" * 2, 3, "two cables at port 2 of the switch `x1c0r1`"),
    "two groups": (
        P2P + "1,x1c0r1j1,none,x1c0r2j1,none,0,0\n1,x1c0r1j2,none,x1c0r2j2,none,1,0\n",
        3,
        "is in group 1 here, and in group 0 before",
    ),
    "a cut row": (P2P + "1,x1c0r1j1\n", 2, "2 values, expected 7"),
    "two hosts": (GRAPH.replace('source="r0" target="n0"', 'source="n1" target="n0"'), None, "joins two hosts"),
}


@pytest.fixture
def imports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    """Imports a text: the exit status and what is on standard error."""
    monkeypatch.chdir(tmp_path)

    def run(text: str | bytes, *options: str) -> tuple[int, str]:
        data = text if isinstance(text, bytes) else text.encode("utf-8", "surrogateescape")
        (tmp_path / "fabric").write_bytes(data)
        status = main(["cluster", "import", "fabric", *options])
        streams = capsys.readouterr()
        assert not re.search("defect|Traceback", streams.err), streams.err
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f]", streams.out + streams.err)
        assert len(streams.err) < 5000
        return status, streams.err

    return run


@pytest.mark.parametrize("name", BAD)
def test_what_is_wrong_is_said_with_its_line(name, imports):
    text, line, words = BAD[name]
    status, err = imports(text)
    assert status == 2
    assert words in err
    assert err.startswith("error: fabric:")
    if line is not None:
        assert err.startswith(f"error: fabric:{line}: "), err


def test_the_sound_files_are_read(imports):
    assert imports(GRAPH) == (0, "")
    status, err = imports(FABRIC)
    assert (status, err) == (0, "")


def test_a_billion_laughs_are_not_laughed(imports):
    entities = "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 30))
    status, err = imports(f'<!DOCTYPE x [<!ENTITY a0 "ha">{entities}]><graphml>&a29;</graphml>')
    assert (status, "a document type is refused" in err) == (2, True)


@pytest.mark.parametrize(
    "row",
    ['0x1 "a"\n0x1 "b"', "0x1", 'leaf "a"', '0x1 "a', "0x11111111111111111 a"],
)
def test_a_name_map_that_is_wrong(row, imports, tmp_path):
    (tmp_path / "map").write_text(f"# names\n{row}\n")
    status, err = imports(FABRIC, "--node-name-map", "map")
    assert status == 2
    assert err.startswith(f"error: map:{2 + row.count(chr(10))}: ")
    assert imports(GRAPH, "--node-name-map", "map")[0] == 2, "it belongs to the other format"


def test_hostile_names_do_not_reach_the_terminal(imports, tmp_path):
    hostile = FABRIC.replace('"a1"', '"a1\x1b[31m\u202e' + "9" * 6000 + '"').replace('"s1"', "\"=cmd|'/C'!A0\"")
    status, _ = imports(hostile, "-o", "m.toml", "--names", "n.csv")
    assert status == 0
    assert "\x1b" not in (tmp_path / "m.toml").read_text()
    assert machine.load(str(tmp_path / "m.toml")).shape.nodes == 4


@pytest.mark.parametrize("text", [GRAPH, FABRIC], ids=["graphml", "ibnetdiscover"])
def test_mutilated_files_end_in_an_ordinary_error_or_in_a_machine(text, imports):
    """Cut, doubled, exchanged and overwritten pieces, drawn with a fixed seed."""
    rng = random.Random(5)
    for _ in range(60):
        data = bytearray(text.encode())
        for _ in range(rng.randint(1, 3)):
            a, b = sorted(rng.randrange(len(data)) for _ in range(2))
            kind = rng.randrange(5)
            if kind == 0:
                del data[a : min(b, a + 200)]
            elif kind == 1:
                data[a:a] = data[a : min(b, a + 500)]
            elif kind == 2:
                data[a] = rng.randrange(256)
            elif kind == 3:
                data = data[: max(a, 1)]
            else:
                data[a:a] = rng.choice([b"9" * 5000, b"\xff", b"<a>", b'"', b"\n", b"[1]", b"&lt;", b"\x1b[2J"])
        assert imports(bytes(data))[0] in (0, 2)


def test_a_message_from_standard_error_is_named(tmp_path: Path) -> None:
    text = fabrics.fat_tree()
    for line, hint in (
        ("ibwarn: [4242] mad_rpc: _do_madrpc failed; dport (Lid 3)", "2>messages"),
        ("src/query_smp.c:196; umad (DR path slid 0) bad status 110; timed out", "2>messages"),
        ("Swit", "the file may be cut"),
    ):
        (tmp_path / "f.txt").write_text(text + line + "\n")
        with pytest.raises(InputError) as raised:
            import_fabric(tmp_path / "f.txt")
        assert hint in str(raised.value.hint)
