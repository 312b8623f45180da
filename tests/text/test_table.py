"""Tables as text: aligned, never cut off, safe for a terminal; turned where that is narrower; as HTML."""

from __future__ import annotations

import io
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from odonata.text import Column, Table, aligned, columns

NAMES = ["name", "nodes", "latency"]


def table(*rows: list[str]) -> Table:
    return Table(columns(NAMES), rows, "jobs")


def test_names_stand_on_the_left_and_numbers_on_the_right() -> None:
    assert table(["target", "4", "1.234"], ["noise", "1,024", "-"]).lines() == [
        "jobs",
        "",
        "name    nodes  latency",
        "----------------------",
        "target      4    1.234",
        "noise   1,024        -",
    ]


def test_a_unit_follows_the_name() -> None:
    assert Table([Column("time", unit="us")], [["1.5"]]).lines() == ["time (us)", "---------", "      1.5"]


WORDS = st.text(st.characters(codec="ascii", exclude_categories=["Cc"]), max_size=300).map(str.strip)


@given(st.lists(st.tuples(WORDS, WORDS, WORDS), min_size=1, max_size=5))
def test_columns_are_as_wide_as_their_longest_cell(rows: list[tuple[str, str, str]]) -> None:
    """Text that rich could read as markup or an emoji is unchanged, and nothing is cut off at any width."""
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    expected = [f"{a:{widths[0]}}  {b:>{widths[1]}}  {c:>{widths[2]}}".rstrip() for a, b, c in rows]
    assert aligned(rows, [False, True, True]) == expected


def test_control_characters_are_escaped_and_a_cell_has_one_line() -> None:
    (line,) = aligned([["a\x1b[2Jb", "c\nd\te\rf", "[red]g[/] :smile:"]])
    assert line == r"a\x1b[2Jb  c\nd\te\rf  [red]g[/] :smile:"


def test_wide_characters_keep_columns_aligned() -> None:
    assert aligned([["算", "x"], ["abc", "y"]]) == ["算   x", "abc  y"]


def test_a_table_that_is_too_wide_is_turned() -> None:
    assert table(["target", "4", "1.234"]).lines(20) == [
        "jobs",
        "",
        "name     target",
        "---------------",
        "nodes         4",
        "latency   1.234",
    ]


def test_a_table_is_not_turned_where_that_is_wider_still() -> None:
    rows = [[f"job-{number}", "4", "1.234"] for number in range(9)]
    lines = table(*rows).lines(20)
    assert lines[2] == "name   nodes"
    assert lines[14] == "name   latency"
    assert lines[-1] == "job-8    1.234"


def table_of_words() -> Table:
    """Too wide for 80 characters as it is and turned, but not wider than its longest words."""
    names = ["remedy", "target", "worst other job", "nodes moved", "verdict"]
    place = 'job.halo.place = { policy = "contiguous", groups = "4,7,10,15" }'
    row = [place, "-12.3 % (-13.0 % to -9.9 %)", "halo +127.6 % (+123.2 % to +133.8 %)", "1,024", "helps, slows halo"]
    return Table([Column(name, right=False) for name in names], [row] * 3)


def test_no_word_of_a_cell_is_broken_at_80_columns() -> None:
    lines = table_of_words().lines(80)
    assert max(map(len, lines)) <= 80
    words = set(" ".join(lines).split())
    for row in table_of_words().rows:
        for cell in row:
            assert set(cell.split()) <= words
    assert not any(line.rstrip().endswith(("-12.3", "+127.6")) for line in lines)  # a number and its unit are one word


def test_columns_whose_words_do_not_fit_side_by_side_become_several_tables() -> None:
    names = [f"a-very-long-heading-of-column-{number}" for number in range(5)]
    rows = [[f"cell-{row}-{number}" for number in range(5)] for row in range(6)]
    lines = Table(columns(names), rows).lines(80)
    assert max(map(len, lines)) <= 80
    words = " ".join(lines).split()
    assert set(names) <= set(words)
    assert words.count("cell-3-0") == 4  # the first column stands in each
    assert [words.count(f"cell-3-{number}") for number in range(1, 5)] == [1] * 4


def test_rows_without_headings_are_wrapped_too() -> None:
    text = "Dragonfly of Zhang 2018: 33 groups of 8 routers, with the routers of its authors' simulator"
    lines = aligned([["zhang2018-1056-as-published", text]], indent="  ", width=60)
    assert len(lines) > 1
    assert max(map(len, lines)) <= 60
    assert " ".join(" ".join(lines).split()) == f"zhang2018-1056-as-published {text}"


def test_html_is_escaped_and_aligned() -> None:
    html = table(["<b>\x1b", "4", "1.234"]).html()
    assert '<th style="text-align: left">name</th>' in html
    assert '<td style="text-align: left">&lt;b&gt;\\x1b</td><td style="text-align: right">4</td>' in html


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("on_terminal", [True, False])
def test_colours_and_wrapping_are_for_terminals(on_terminal: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    stream = Terminal() if on_terminal else io.StringIO()
    monkeypatch.setattr(sys, "stdout", stream)
    for name, value in {"COLUMNS": "30", "TERM": "xterm-256color", "FORCE_COLOR": "1"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("NO_COLOR", raising=False)
    verdict = Column("verdict", right=False, styles={"match": "green"})
    Table([Column("what", right=False), verdict], [["a long sentence " * 8, "match"]]).show()
    said = stream.getvalue()
    assert ("\x1b[32mmatch" in said) == on_terminal
    assert (max(map(len, said.splitlines())) > 100) != on_terminal


def test_rich_is_imported_when_a_table_is_drawn() -> None:
    code = "import sys, odonata.text; print([name for name in sys.modules if name.partition('.')[0] == 'rich'])"
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert process.stdout == "[]\n"
