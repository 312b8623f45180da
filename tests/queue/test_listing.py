"""Text of `squeue` and `sinfo` without its header: the format that a user states takes its place."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from tests.cluster import shapes

from odonata import cluster
from odonata.cli.main import main
from odonata.errors import InputError
from odonata.queue.listing import header

if TYPE_CHECKING:
    from pathlib import Path

#: Format -> the queue of `shapes` as `squeue --noheader` prints it.
QUEUES = {
    "%i|%j|%T|%N": shapes.TABLES["signs"].partition("\n")[2],
    "%i,%T,%D,%N": shapes.TABLES["commas"].partition("\n")[2],
    "%i %t %N": shapes.TABLES["blanks"].partition("\n")[2],
    "%.18i %.9P %.8j %.8u %.2t %.10M %.6D %R": shapes.DEFAULT.partition("\n")[2],
    "%20i%20j%20T%20N": shapes.TABLES["wide"].partition("\n")[2],
    "%i\\t%T\\t%N": "1\tRUNNING\tn[01-03]\n2\tR\tn[03-04]\n3\tR\tn05\n4\tPD\t\n5\tCG\tn[08-09]\n",
}


def facts(jobs: list[cluster.Job]) -> dict[str, tuple[bool, tuple[str, ...]]]:
    return {job.id: (job.running, job.nodes if job.running else ()) for job in jobs}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "queue").write_text(QUEUES["%i|%j|%T|%N"])
    (tmp_path / "nodes").write_text(shapes.NODE_TABLES["signs"].partition("\n")[2])
    (tmp_path / "topology").write_text(shapes.TOPOLOGY)
    (tmp_path / "names").write_text("what,number,name\n" + "".join(f"node,{n},n{n + 1:02}\n" for n in range(10)))
    return tmp_path


@pytest.mark.parametrize("form", QUEUES)
def test_a_queue_without_header(form: str, tmp_path: Path) -> None:
    (tmp_path / "with").write_text(shapes.DEFAULT)
    (tmp_path / "without").write_text(QUEUES[form])
    expected = facts(cluster.read_queue(tmp_path / "with"))
    assert facts(cluster.read_queue(cluster.Listing(tmp_path / "without", form))) == expected


def test_a_header_may_be_there_all_the_same(tmp_path: Path) -> None:
    (tmp_path / "with").write_text(shapes.TABLES["signs"])
    queue = cluster.read_queue(cluster.Listing(tmp_path / "with", "%i|%j|%T|%N"))
    assert facts(queue) == facts(cluster.read_queue(tmp_path / "with"))


def test_lines_are_counted_from_the_first(tmp_path: Path) -> None:
    (tmp_path / "given").write_text("1|RUNNING|n1\n2|RUNNING|n[1-\n")
    with pytest.raises(InputError, match=r"given:2: .*the list is cut"):
        cluster.read_queue(cluster.Listing(tmp_path / "given", "%i|%T|%N"))


def test_nodes_without_header(folder: Path) -> None:
    (folder / "with").write_text(shapes.NODE_TABLES["signs"])
    assert cluster.read_nodes(cluster.Listing("nodes", "%n|%T|%P")) == cluster.read_nodes("with")


QUEUE = ("--queue", "queue", "--queue-format", "%i|%j|%T|%N")
NODES = ("nodes", "--nodes-format", "%n|%T|%P")
COMMANDS = {
    "background": ("background", *QUEUE, "--nodes-file", *NODES),
    "select": ("select", "-N", "2", *QUEUE, "--topology", "topology", "--nodes-file", *NODES),
    "snapshot": ("snapshot", "--system", "tiny", "--names", "names", *QUEUE, "--nodes-file", *NODES),
    "allocations": ("allocations", "--topology", "topology", *QUEUE),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_commands_take_the_formats(name: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = COMMANDS[name]
    assert main(["cluster", *words]) == 0
    said = capsys.readouterr().out
    for file, option, table in (
        ("queue", "--queue-format", shapes.TABLES["signs"]),
        ("nodes", "--nodes-format", shapes.NODE_TABLES["signs"]),
    ):
        if option not in words:
            continue
        at = words.index(option)
        without = ["cluster", *words[:at], *words[at + 2 :]]
        assert main(without) == 2
        error = capsys.readouterr().err
        assert f"error: {file}:1: expected the header of `" in error
        assert f"say how it was printed, as in {option} " in error
        (folder / file).write_text(table)
        assert main(without) == 0
        assert capsys.readouterr().out == said, "as with the header"
        (folder / file).write_text(table.partition("\n")[2])


def test_predict_and_probe_take_the_formats(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = shapes.__file__.replace("shapes.py", "predictor.json")
    words = ["cluster", "predict", model, "--groups", "2", "--job", "job0", *QUEUE, "--nodes-file", *NODES]
    assert main([*words, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["known"]["b"] == pytest.approx(0.4 * 5 / 6)
    assert main(["cluster", "probe", "--queue-format", "%i"]) == 2
    assert "error: --queue-format says how a file was printed, and no file is given" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("form", "message"),
    [
        ("", "expected a format as of `squeue -o`, such as `%i|%T|%N`, found ``"),
        ("JobID,State,NodeList", "expected a format as of `squeue -o`"),
        ("%i%T%N", "between all columns"),
        ("%i|%T;%N", "between all columns"),
        ("%20i%5T%20N", "between all columns"),
        ("%i::%T::%N", "between all columns"),
        ("job %i|%T|%N", "between all columns"),
        ("%i|%j|%u", "with `STATE` and `NODELIST`, found `JOBID|NAME|USER`"),
        ("%" + "9" * 5000 + "i", "expected a format"),
    ],
)
def test_formats_that_cannot_be_read(form: str, message: str, folder: Path) -> None:
    with pytest.raises(InputError) as caught:
        cluster.read_queue(cluster.Listing("queue", form))
    assert message in str(caught.value)
    assert caught.value.file == "queue"


def test_headers_are_those_of_slurm() -> None:
    default = "%.18i %.9P %.8j %.8u %.2t %.10M %.6D %R"
    assert header(default, "squeue").split()[:5] == ["JOBID", "PARTITION", "NAME", "USER", "ST"]
    assert header(default, "squeue").startswith("             JOBID PARTITION     NAME     USER ST ")
    assert header("%P|%a|%t|%N", "sinfo") == "PARTITION|AVAIL|STATE|NODELIST"
