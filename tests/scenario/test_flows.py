"""Lists of flows: three formats, what is wrong in them, and completion times by hand."""

import pytest

import odonata
from odonata import scenario
from odonata.errors import InputError
from odonata.scenario.apps import flows
from odonata.scenario.apps.flow_files import Flow, read

CSV = "source,destination,bytes,start\n0,2,1 MB,0 s\n1,2,100 kB,10 us\n2,1,64,20 us\n"
HPCC = "3\n0 2 3 100 1000000 2.0\n1 2 3 100 100000 2.00001\n2 1 3 100 64 2.00002\n"
HTSIM = "Nodes 3\nConnections 3\n0->2 id 1 start 0 size 1000000\n"
HTSIM += "1->2 start 10000000 size 100000\n2->1 size 64 start 20000000\n"
FLOWS = [Flow(0, 2, 1_000_000, 0), Flow(1, 2, 100_000, 10_000_000), Flow(2, 1, 64, 20_000_000)]


@pytest.mark.parametrize("text", [CSV, CSV.split("\n", 1)[1], CSV.replace(",", ";"), HPCC, HTSIM, "# flows\n" + CSV])
def test_formats(text):
    given = read(text)
    assert (given.flows, given.ranks) == (FLOWS, 3)
    assert [text.splitlines()[line - 1].startswith(start) for line, start in zip(given.lines, "012", strict=True)]


def test_what_follows_the_flows_of_hpcc_is_not_read():
    assert read(HPCC.replace("3", "2", 1) + "\nFirst line: # of flows\n").flows == FLOWS[:2]


def test_a_list_with_spaces_and_without_starts():
    assert read("0 1 64\n1 0 2kB\n").flows == [Flow(0, 1, 64, 0), Flow(1, 0, 2_000, 0)]


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("# nothing\n", None, "it lists no flow"),
        ("source,destination,bytes\n", 1, "it lists no flow"),
        ("source,target,bytes\n0,1,5\n", 1, "`target`"),
        ("sorce,destination,bytes\n0,1,5\n", 1, "unknown column `sorce`"),
        ("bytes;Sourec;dst\n5;0;1\n", 1, "unknown column `sourec`"),
        ("src dst bytess\n0 1 5\n", 1, "unknown column `bytess`"),
        ("0,1,5\n0,1,-5\n", 2, "expected a whole number of bytes from 1 to 1,099,511,627,776, found `-5`"),
        ("0,1,1.5\n", 1, "expected a whole number of bytes from 1 to 1,099,511,627,776, found `1.5`"),
        ("0,1,1e3\n", 1, "expected a whole number of bytes from 1 to 1,099,511,627,776, found `1e3`"),
        (HPCC.replace(" 64 ", " -64 "), 4, "expected a whole number of bytes"),
        (HTSIM.replace("size 64", "size 6.4"), 5, "expected a whole number of bytes"),
        ("source,destination\n0,1\n", 1, "the column `bytes` is missing"),
        ("0,1,5\n0,1\n", 2, "found 2 fields"),
        ("0,1,5,1\n", 1, "the time `1` has no unit"),
        ("0,1,0\n", 1, "expected a flow of 1 B to 1 TiB"),
        ("0,1,many\n", 1, "many"),
        ("0,x,5\n", 1, "expected the number of a rank, found `x`"),
        ("0,1,5\n3,3,5\n", 2, "a flow from 3 to itself"),
        (HPCC.replace("3\n", "4\n", 1), 1, "counts 4 flows, but 3 follow"),
        (HPCC.replace(" 100 64", " 64"), 4, "found 5 fields"),
        (HPCC.replace("2.0\n", "soon\n"), 2, "soon"),
        (HTSIM.replace("Connections 3\n", ""), 2, "expected `Connections N`"),
        (HTSIM.replace("Connections 3", "Connections 2"), 2, "counts 2 connections, but 3 follow"),
        (HTSIM.replace("Nodes 3", "Nodes 2"), 3, "there is no node 2: the file has 2"),
        (HTSIM.replace("size 64", "trigger 5"), 5, "`trigger` of a connection is not modelled"),
        (HTSIM.replace("size 64 ", ""), 5, "a connection without `size`"),
        (HTSIM.replace("2->1", "2-1"), 5, "expected `0->1 id 1"),
    ],
)
def test_what_is_wrong_has_its_line(text, line, message):
    with pytest.raises(InputError) as caught:
        read(text)
    assert message in caught.value.message, caught.value.message
    assert caught.value.line == line


SYSTEM = {
    "kind": "graph",
    "links": {"generator": "switch", "nodes": 4},
    "host": "none",
    "fabric": {"packet": "1 kB", "links": {"node": {"bandwidth": "10 GB/s", "latency": "50 ns"}}},
}


def test_completion_times_by_hand(tmp_path):
    (tmp_path / "f.csv").write_text("0,1,10 kB,0 s\n2,3,1 kB,5 us\n3,2,2 kB,7 us\n")
    job = {"name": "a", "record": "every-message", "app": {"flows": "f.csv"}}
    made = scenario.load({"system": SYSTEM, "job": [job]}, folder=tmp_path)
    run = odonata.run(made, out=tmp_path / "run")
    # A packet of 1 kB takes 100 ns on each of two links; each has 50 ns, and the router 100 ns.
    rows = sorted(zip(run.messages["issue_ps"], run.messages["latency_ps"], strict=True))
    assert rows == [(0, 1_300_000), (5_000_000, 400_000), (7_000_000, 500_000)]


@pytest.mark.parametrize(("wrong", "right"), [("sorce", "source"), ("destinaton", "destination"), ("byte", "bytes")])
def test_the_nearest_name_of_a_column_is_the_hint(wrong, right):
    with pytest.raises(InputError) as caught:
        read("source,destination,bytes\n0,1,5\n".replace(right, wrong))
    assert (caught.value.line, caught.value.hint) == (1, f"did you mean `{right}`?")


def _resolved(folder, text, **job):
    (folder / "f.csv").write_text(text)
    job = {"name": "a", "app": {"flows": "f.csv", **job.pop("app", {})}, **job}
    return scenario.load({"system": SYSTEM, "job": [job]}, folder=folder)


@pytest.mark.parametrize("job", [{"nodes": 4}, {"place": {"nodes": [0, 1, 2, 3]}}, {"nodes": 3}, {}])
def test_ranks_may_have_no_flow(tmp_path, job):
    """More nodes than the ranks of the list change nothing."""
    run = odonata.run(_resolved(tmp_path, "0,1,10 kB\n", **job, record="every-message"), out=tmp_path / "run")
    assert list(run.messages["latency_ps"]) == [1_300_000]


def test_idle_ranks_of_several_on_a_node(tmp_path):
    made = _resolved(tmp_path, "0,2,10 kB\n", nodes=3, app={"ranks_per_node": 2})
    assert made.resolve().spec["jobs"][0]["program"]["body"]["goal"].startswith("num_ranks 6\n")
    made = _resolved(tmp_path, "0,2,10 kB\n", nodes=2, app={"ranks_per_node": 2})
    assert made.resolve().spec["jobs"][0]["program"]["body"]["goal"].startswith("num_ranks 3\n"), "as without `nodes`"


@pytest.mark.parametrize(
    ("job", "rank", "last"),
    [
        ({}, 9, 3),
        ({"nodes": 4}, 9, 3),
        ({"nodes": 2}, 3, 1),
        ({"place": {"nodes": [0, 2, 3]}}, 3, 2),
        ({"app": {"ranks_per_node": 2}}, 9, 7),
    ],
)
def test_a_flow_beyond_the_nodes_has_its_line(tmp_path, job, rank, last):
    text = "# flows\nsource,destination,bytes\n0,1,5\n" + ("1,3,5\n" if rank == 3 else "") + "1,9,5\n"
    with pytest.raises(InputError) as caught:
        _resolved(tmp_path, text, **job).resolve()
    assert (caught.value.file, caught.value.line) == (str(tmp_path / "f.csv"), 4)
    assert caught.value.message == f"a flow of rank {rank}, and ranks are 0 to {last}"
    assert " nodes" in caught.value.hint


def test_an_error_names_the_file(tmp_path):
    (tmp_path / "f.csv").write_text("0,1,10 kB\n1,1,5\n")
    with pytest.raises(InputError) as caught:
        scenario.load({"system": SYSTEM, "job": [{"name": "a", "app": {"flows": "f.csv"}}]}, folder=tmp_path).resolve()
    assert (caught.value.file, caught.value.line) == (str(tmp_path / "f.csv"), 2)


def test_more_flows_than_a_rank_can_have_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(flows, "MOST_FLOWS", 3)
    (tmp_path / "f.csv").write_text("0,1,10,0 s\n2,1,10,0 s\n3,1,10,0 s\n1,0,10,0 s\n")
    with pytest.raises(InputError, match="rank 1 sends and receives 4 flows, more than the 3"):
        flows.Flows(flows="f.csv").body(4, tmp_path)


@pytest.mark.parametrize("digits", ["²", "٣", "9" * 5_000])
@pytest.mark.parametrize(
    "text",
    [
        "{}\n0 1 3 100 64 2.0\n",
        "1\n{} 1 3 100 64 2.0\n",
        "1\n0 1 3 100 {} 2.0\n",
        "0,{},5\n",
        "Nodes {}\nConnections 1\n0->1 id 1 start 0 size 5\n",
        "Nodes 2\nConnections {}\n0->1 id 1 start 0 size 5\n",
        "Nodes 2\nConnections 1\n0->1 id 1 start {} size 5\n",
        "Nodes 2\nConnections 1\n0->1 id 1 start 0 size {}\n",
    ],
)
def test_other_digits_and_too_many_are_no_numbers(text, digits):
    with pytest.raises(InputError) as caught:
        read(text.format(digits))
    assert caught.value.line is not None


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("source,src,destination,bytes\n0,1,2,5\n", 1, "two columns for `source`: `source` and `src`"),
        ("source,destination,size,bytes\n0,1,2,5\n", 1, "two columns for `bytes`: `size` and `bytes`"),
        ("Nodes 2\nConnections 1\n0->1 size 5 size 7\n", 3, "two columns for `size`"),
    ],
)
def test_what_is_given_twice_is_refused(text, line, message):
    with pytest.raises(InputError) as caught:
        read(text)
    assert (caught.value.line, message in caught.value.message) == (line, True)
