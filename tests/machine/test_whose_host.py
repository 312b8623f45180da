"""Whose costs ranks have on a machine of one's own: none unless it states them, and what is assumed is said."""

import json

import pytest
import tomlkit

import odonata as od
from odonata import machine, scenario
from odonata.cli.main import main
from odonata.errors import InputError
from odonata.machine.host import GPU_COSTS

TREE = {
    "kind": "fat-tree",
    "leaves": 4,
    "spines": 4,
    "nodes_per_leaf": 4,
    "fabric": {"links": {name: {"bandwidth": "400 Gbit/s", "latency": "100 ns"} for name in ("node", "leaf")}},
}
GPU = {"count": 4, "network": "switch", "bandwidth": "370.8 GB/s", "latency": "600 ns"}
EXCHANGE = {"collective": "alltoall", "message": "256 KiB"}


def made(system, *, app=EXCHANGE, nodes=16, **job):
    document = {"system": system, "job": [{"name": "a", "nodes": nodes, "app": app, **job}]}
    return scenario.parse(tomlkit.dumps(document), "own.toml")


def overhead(system, **job):
    return made(system, **job).resolve().document["scenario"]["job"][0]["overhead"]


def test_a_machine_without_a_host_costs_only_network():
    """An all-to-all is bound by its links: 15 x 256 KiB at 50 GB/s. With the costs of MPI it took thrice as long."""
    bound = 15 * 256 * 1024 / 50e9
    for system in (TREE, {**TREE, "host": "none"}):
        assert bound < od.run(made(system)).jobs["time_ps"][0] / 1e12 < 1.2 * bound
    assert od.run(made({**TREE, "host": "leonardo"})).jobs["time_ps"][0] / 1e12 > 1.5 * bound


def test_the_run_and_its_report_say_it(tmp_path, capsys):
    file = tmp_path / "own.toml"
    file.write_text(made(TREE).text)
    assert main(["run", str(file), "--out", str(tmp_path / "run")]) == 0
    assert "note: system `custom` states no host, so ranks send, receive and combine in no time" in (
        capsys.readouterr().err
    )
    kept = json.loads((tmp_path / "run" / "resolved.json").read_text())
    assert any("states no host" in note for note in kept["notes"])
    from odonata.report.run import run_document

    assert any("states no host" in value for _, value in run_document(od.open(tmp_path / "run"))["facts"])


@pytest.mark.parametrize(
    ("system", "job"),
    [
        ({**TREE, "host": "none"}, {}),
        ({**TREE, "host": "lumi"}, {}),
        ("leonardo", {}),
        (TREE, {"overhead": "none"}),
        (TREE, {"app": {"pattern": "uniform-random", "message": "4 KB", "interval": "1 us", "messages": 2}}),
    ],
)
def test_what_is_stated_is_not_said(system, job):
    assert not [note for note in made(system, **job).resolve().notes if "host" in note]


def test_costs_of_a_preset_by_its_name():
    stated = machine.load("lumi").table.host.document()
    system = machine.load({**TREE, "host": "lumi"})
    assert system.table.host.document() == stated
    sources = {row.key: row.source for row in system.sources}
    assert sources["host.send"].startswith("as in lumi: ")
    changed = machine.load({"preset": "leonardo-gpu", "host": "lumi"})
    assert changed.table.host.document() == stated, "nothing is left of the preset's own costs, and no GPUs"
    gpus = machine.load({**TREE, "rails": 8, "host": "superpod-h100-gpu"}).table.host.gpu
    assert gpus is not None
    assert gpus.count == 8
    nothing = machine.load({"preset": "leonardo", "host": "none"}).table.host
    assert (nothing.send, nothing.receive, nothing.by_size, nothing.reduce) == (0, 0, (), 0)


def test_a_system_file_names_its_host_too(tmp_path):
    (tmp_path / "own.toml").write_text(tomlkit.dumps({**TREE, "host": "lumi"}))
    assert machine.load("own.toml", folder=tmp_path).table.host == machine.load("lumi").table.host
    (tmp_path / "own.toml").write_text(tomlkit.dumps({**TREE, "host": "lumy"}))
    with pytest.raises(InputError, match=r"own\.toml:.*found `lumy`(.|\n)*did you mean `lumi`"):
        machine.load("own.toml", folder=tmp_path)


@pytest.mark.parametrize("name", ["lumy", "lumi.json", ""])
def test_a_host_that_is_none_of_these(name):
    with pytest.raises(InputError, match=r'expected a table, "none", a preset or a file that ends in \.toml') as error:
        made({**TREE, "host": name}).resolve()
    assert error.value.line is not None


def test_gpus_without_costs_have_those_of_nccl():
    """Not those of MPI on a processor, with which an all-reduce took three times as long."""
    stated = {key: value for key, value in GPU_COSTS.items() if key != "by_size"}
    own = overhead({**TREE, "host": {"gpu": GPU}}, ranks_per_node=4)
    preset = machine.load("superpod-h100-gpu").table.host.document()
    for key in stated:
        assert own[key] == preset[key], key
    assert own["by_size"] == preset["by_size"]
    said = made({**TREE, "host": {"gpu": GPU}}, ranks_per_node=4).resolve().notes
    assert any("does not state `send`" in note and "assumed as NCCL's protocol Simple" in note for note in said)
    assert overhead({"preset": "leonardo", "host": {"gpu": GPU}}, ranks_per_node=4)["eager"] == "512 KiB"
    assert overhead("leonardo", ranks_per_node=4, overhead={"gpu": GPU})["eager"] == "512 KiB"
    kept = overhead({**TREE, "host": {"gpu": GPU, "eager": "1 KiB", "send": "7 ns"}}, ranks_per_node=4)
    assert (kept["eager"], kept["send"], kept["receive"]) == ("1 KiB", "7 ns", "1.4 us")


def test_a_table_that_leaves_keys_out_says_what_is_assumed():
    system = machine.load({**TREE, "host": {"send": "1 us", "receive": "1 us"}})
    assert system.assumed_host == (
        "system `custom` does not state `copy`, `eager`, `rendezvous`, `reduce` and `call` of its host: assumed as MPI "
        "on a processor"
    )
