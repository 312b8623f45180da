"""Host lists: read, folded, refused."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from odonata.cluster import expand, fold
from odonata.errors import InputError
from odonata.queue.hosts import expand_field


@pytest.mark.parametrize(
    ("text", "hosts"),
    [
        ("", []),
        ("login", ["login"]),
        ("node[001-003,9]", ["node001", "node002", "node003", "node9"]),
        ("n[08-11]", ["n08", "n09", "n10", "n11"]),
        ("n[8-11]", ["n8", "n9", "n10", "n11"]),
        ("r[1-2]n[0-1]", ["r1n0", "r1n1", "r2n0", "r2n1"]),
        ("a[1-2]-ib,b3", ["a1-ib", "a2-ib", "b3"]),
        ("n[098-101]", ["n098", "n099", "n100", "n101"]),
        ("lrdn[4239,4245,4248-4249]", ["lrdn4239", "lrdn4245", "lrdn4248", "lrdn4249"]),
        ("10.140.71.103,10.140.88.115", ["10.140.71.103", "10.140.88.115"]),
        ("n1, n[2 , 3]", ["n1", "n2", "n3"]),
        ("n1,n1", ["n1", "n1"]),
    ],
)
def test_lists(text: str, hosts: list[str]) -> None:
    assert expand(text) == hosts


@pytest.mark.parametrize(
    ("hosts", "text"),
    [
        (["n3", "n1", "n2", "n7"], "n[1-3,7]"),
        (["n08", "n09", "n10", "n11"], "n[08-11]"),
        (["n8", "n9", "n10"], "n[8-10]"),
        (["n099", "n100", "n1000"], "n[099-100],n1000"),
        (["n1"], "n1"),
        (["login", "n1-ib", "n2-ib"], "login,n[1-2]-ib"),
        (["r1n0", "r1n1", "r2n0"], "r1n[0-1],r2n0"),
        ([], ""),
    ],
)
def test_folded(hosts: list[str], text: str) -> None:
    assert fold(hosts) == text


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("n[1-", "is cut: a bracket is not closed"),
        ("n1,", "is cut: nothing comes after the last comma"),
        ("n[5-3]", "the range `5-3` ends before it begins"),
        ("n[1-3", "is cut"),
        ("n1-3]", "`]` without `[`"),
        ("n[1[2]]", "a bracket inside a bracket"),
        ("n[]", "expected a number or a range, found ``"),
        ("n[a-b]", "found `a-b`"),
        ("n[1-2-3]", "found `1-2-3`"),
        (",n1", "a comma without a host before it"),
        ("n1,,n2", "a comma without a host before it"),
        ("n[1-9999999]", "more than 1,000,000 hosts"),
        ("n[1-999]m[1-999]k[1-999]", "more than 1,000,000 hosts"),
        ("n[1-" + "9" * 400 + "]", "too many digits"),
        ("n1 n2", "a blank inside"),
    ],
)
def test_refused(text: str, problem: str) -> None:
    with pytest.raises(InputError) as raised:
        expand(text)
    assert problem in raised.value.message
    assert "host list `" in raised.value.message


def test_the_position_is_said() -> None:
    with pytest.raises(InputError, match=r"host list `a1,n\[5-3\]`, character 6: "):
        expand("a1,n[5-3]")


names = st.from_regex(r"[a-z]{1,3}[0-9]{0,4}(-?[a-z]{1,2}[0-9]{0,3})?(\.ib)?", fullmatch=True)


@given(st.lists(names, max_size=60))
def test_folding_and_reading_gives_the_same_hosts(hosts: list[str]) -> None:
    folded = fold(hosts)
    assert sorted(expand(folded)) == sorted(set(hosts))
    assert fold(expand(folded)) == folded


@given(st.integers(0, 10**6), st.integers(0, 400), st.integers(1, 8))
def test_ranges_count_up_by_one_with_their_zeros(first: int, more: int, width: int) -> None:
    names = expand(f"n[{first:0{width}}-{first + more:0{width}}]")
    assert [int(name[1:]) for name in names] == list(range(first, first + more + 1))
    assert all(len(name) == 1 + max(width, len(str(number))) for number, name in enumerate(names, first))


@given(st.text("n[]0129-,", max_size=20))
def test_any_text_is_read_or_refused(text: str) -> None:
    with contextlib.suppress(InputError):
        assert all("[" not in host and "," not in host for host in expand(text))


@pytest.mark.parametrize("text", ["", " ", "(null)", "None", "None assigned", "N/A", "n/a", "Unknown", "(Resources)"])
def test_a_field_without_hosts_is_empty(text: str) -> None:
    """Catches a word of Slurm for "no nodes" that becomes the name of a node."""
    assert expand_field(text) == ()


def test_a_field_names_each_host_once() -> None:
    assert expand_field(" n[1-2],n1,none3 ") == ("n1", "n2", "none3")
