"""Adapters of ibnetdiscover: which host is whose, those without the name of a host, and the places that leaves have."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import pytest
from tests.recognition import fabrics

from odonata.cli.main import main
from odonata.errors import InputError
from odonata.recognition import ibnetdiscover
from odonata.recognition.recognise import Recognised, recognise

if TYPE_CHECKING:
    from pathlib import Path

CHIP = "MT4129 ConnectX7   Mellanox Technologies"


@pytest.mark.parametrize(
    "text",
    [
        CHIP,
        "MT4123 ConnectX6   Mellanox Technologies",
        "MT25408 ConnectX Mellanox Technologies",
        "MT42822 BlueField-2 Mellanox Technologies",
        "MT23108 InfiniHost Mellanox Technologies",
        "MT4129 ConnectX7",
        "ConnectX-6 Dx",
        "Mellanox HCA",
        "Mellanox HCA-1",
        "Voltaire HCA410LP",
        "QLogic Infiniband HCA",
        "NVIDIA ConnectX-8",
        "HCA-1",
        "HCA 1",
        "mlx5_0",
        "hfi1_0",
        "localhost HCA-1",
        "localhost.localdomain mlx5_2",
        "(none) HCA-1",
        "",
    ],
)
def test_a_description_without_a_host(text):
    assert ibnetdiscover.host_of(text) is None


@pytest.mark.parametrize(
    ("text", "host"),
    [
        ("a06-p1-dgx-02-c02 HCA-1", "a06-p1-dgx-02-c02"),
        ("lrdn0001 mlx5_3", "lrdn0001"),
        ("node17 mlx5_bond_0", "node17"),
        ("n1 hfi1_0", "n1"),
        ("n1 ibp65s0", "n1"),
        ("ib01 HCA-2", "ib01"),
        ("ib01", "ib01"),
        ("gateway", "gateway"),
        ("mt1234-login mlx4_0", "mt1234-login"),
        ("node_12", "node_12"),
    ],
)
def test_the_host_stands_before_its_adapter(text, host):
    assert ibnetdiscover.host_of(text) == host


def rails(named, leaves=4, hosts=8, spines=2) -> str:
    """Rail-optimised: NIC k of every host on leaf k; `named` gives the description of NIC k of host n."""
    cables = [(f"leaf{a}", f"spine{b}") for a, b in product(range(leaves), range(spines)) for _ in range(4)]
    nics = [(f"{n}-{k}", f"leaf{k}") for n, k in product(range(hosts), range(leaves))]
    text = fabrics.ibnetdiscover(cables, nics)
    for n, k in product(range(hosts), range(leaves)):
        text = text.replace(f'"{n}-{k}"', f'"{named(n, k)}"')
    return text


def read(text: str, names: dict[int, str] | None = None) -> Recognised:
    return recognise(ibnetdiscover.read(text, names), "file")


def usable(recognised: Recognised) -> int:
    system = recognised.system()
    return system.shape.nodes - len(system.unusable_nodes)


@pytest.mark.parametrize("description", [CHIP, "HCA-1", "localhost mlx5_0", "Mellanox HCA"])
def test_adapters_without_a_host_do_not_vote_on_the_number_of_nics(description):
    """They were nodes of one NIC, and all other hosts had more NICs than most."""
    recognised = read(rails(lambda n, k: description if n in (2, 5) else f"n{n} HCA-{k + 1}"))
    assert (recognised.table["rails"], recognised.table["rails_on"]) == (4, "different-leaves")
    assert recognised.nodes == ["n0", "n1", None, "n3", "n4", None, "n6", "n7"]
    assert (recognised.system().shape.nodes, usable(recognised)) == (8, 6)
    [note] = recognised.notes
    assert note.startswith(f"8 adapters without the name of a host, such as `{description}`: left out; --node-name-map")


def test_a_few_named_hosts_are_enough_and_none_is_refused():
    recognised = read(rails(lambda n, k: f"n{n} HCA-{k + 1}" if n < 2 else CHIP))
    assert (recognised.system().shape.nodes, usable(recognised)) == (8, 2)
    with pytest.raises(InputError, match="no adapter says its host: 32 adapters without the name of a host") as told:
        read(rails(lambda *_: CHIP))
    assert "--node-name-map FILE names them by their GUIDs" in (told.value.hint or "")


def test_the_map_of_names_names_them():
    text = rails(lambda n, k: f"n{n} HCA-{k + 1}" if n < 2 else CHIP)
    guids = {0x10000 + 4 * n + k: f"n{n} HCA-{k + 1}" for n, k in product(range(8), range(4))}
    recognised = read(text, guids)
    assert recognised.nodes == [f"n{n}" for n in range(8)]
    assert recognised.notes == []


def test_hosts_that_lack_nics_take_no_more_places_than_leaves_have_cables():
    """Eight cables down on each leaf and eight up: hosts with one NIC each do not make it a tapered tree."""

    def named(n: int, k: int) -> str:
        return f"part{n}{k} HCA-1" if n == 2 else f"n{n} HCA-{k + 1}"

    recognised = read(rails(named))
    assert recognised.table["nodes_per_leaf"] == 8
    assert usable(recognised) == 7
    assert sorted(host for host in recognised.nodes if host)[:7] == ["n0", "n1", "n3", "n4", "n5", "n6", "n7"]
    assert "3 hosts that lack a NIC find no place beside the others: left out" in recognised.notes
    assert dict(recognised.system().table.facts())["out of a leaf"].startswith("200 GB/s, 100%")


def test_what_is_left_out_is_said_in_plain_words(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    sharp = "Mellanox Technologies Aggregation Node"
    hosts = [(f"n{n}", f"leaf{n // 2}") for n in range(4)] + [("sharp0", "spine0"), ("sharp1", "leaf0")]
    text = fabrics.ibnetdiscover([(f"leaf{a}", f"spine{b}") for a, b in product(range(2), range(2))], hosts)
    text = text.replace('"sharp0"', f'"{sharp}"').replace('"sharp1"', '"localhost HCA-1"')
    file = tmp_path / "fabric"
    file.write_text(text)
    assert main(["cluster", "import", str(file), "-o", str(tmp_path / "a.toml")]) == 0
    out = capsys.readouterr().out
    assert "  aggregation nodes of switches: 1, left out\n" in out
    assert "1 adapter without the name of a host, such as `localhost HCA-1`: left out" in out
    assert main(["show", str(tmp_path / "a.toml")]) == 0
    assert "failed                     2 nodes cannot be used; the rows above" in capsys.readouterr().out
