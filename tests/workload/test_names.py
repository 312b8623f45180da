"""Which host is which node, where `odonata cluster import` wrote it beside the system file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from odonata.cli.main import main
from odonata.cluster import from_queue
from odonata.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

TOPOLOGY = """\
SwitchName=a Nodes=x[1-4]
SwitchName=b Nodes=y[1-4]
SwitchName=c Nodes=p[1-4]
SwitchName=d Nodes=q[1-4]
SwitchName=left Switches=a,b
SwitchName=right Switches=c,d
SwitchName=top Switches=left,right
"""
QUEUE = "JOBID|STATE|NODES|NODELIST\n1|RUNNING|2|q[1-2]\n2|RUNNING|3|y[2-4]\n"


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """The folder of a machine whose hosts have letters, so that numbers do not say which node they are."""
    (tmp_path / "topology.conf").write_text(TOPOLOGY)
    (tmp_path / "squeue.txt").write_text(QUEUE)
    command = ["cluster", "import", str(tmp_path / "topology.conf"), "--like", "tiny"]
    assert main([*command, "-o", str(tmp_path / "our.toml"), "--names", str(tmp_path / "hosts.csv")]) == 0
    return tmp_path


def nodes(machine: Path, **options: object) -> dict[str, tuple[int, ...]]:
    return dict(from_queue("our.toml", queue=machine / "squeue.txt", folder=machine, **options).nodes)  # type: ignore[arg-type]


def test_names_that_the_import_wrote_are_found_beside_the_system_file(machine: Path) -> None:
    told = nodes(machine, names=machine / "hosts.csv")
    assert nodes(machine) == told
    assert len(told["2"]) == 3
    found = from_queue("our.toml", queue=machine / "squeue.txt", folder=machine)
    assert "`hosts.csv`, which is beside the system file, says which host is which node" in found.notes


def test_names_of_another_machine_or_of_other_hosts_do_not_count(machine: Path) -> None:
    text = (machine / "hosts.csv").read_text()
    for other in (text.replace(",x", ",z").replace(",y", ",z1").replace(",q", ",z2"), text + "node,99,more\n", "what"):
        (machine / "hosts.csv").write_text(other)
        with pytest.raises(InputError, match="the machine has no such node"):
            nodes(machine)


def test_two_files_of_names_that_differ_are_refused_and_two_equal_ones_are_not(machine: Path) -> None:
    text = (machine / "hosts.csv").read_text()
    (machine / "more.csv").write_text(text)
    assert nodes(machine)
    (machine / "more.csv").write_text(text.replace("q1", "tmp").replace("q2", "q1").replace("tmp", "q2"))
    with pytest.raises(InputError, match=r"`.*hosts.csv` and `.*more.csv` both name the nodes of `our.toml`") as e:
        nodes(machine)
    assert "--names" in str(e.value.hint)
    assert nodes(machine, names=machine / "hosts.csv")


def test_other_tables_beside_the_system_file_are_not_read(machine: Path) -> None:
    (machine / "data.csv").write_bytes(b"\xff\x00 no text")
    (machine / "folder.csv").mkdir()
    (machine / "gone.csv").symlink_to(machine / "nowhere")
    assert nodes(machine)
