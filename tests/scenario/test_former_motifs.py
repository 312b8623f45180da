"""Five collectives were motifs too, with the algorithms of the simulator of Zhang 2018: refused, with the new words."""

from pathlib import Path

import pytest

import odonata as od
from odonata.cli.main import main
from odonata.errors import InputError
from odonata.scenario import COLLECTIVES, MOTIFS
from odonata.scenario.apps.listed import FORMER_MOTIFS

#: Picoseconds of two iterations of 16 KiB on 128 nodes of `kang2019` with `place = "random"` and seed 1, as the motifs
#: took them: without computing, and with `compute = "3 us", jitter = "1 us"`.
TIMES = {
    "allreduce": (262_754_915, 271_503_797),
    "alltoall": (2_362_009_130, 2_481_105_824),
    "barrier": (55_760_292, 64_241_647),
    "broadcast": (64_004_935, 74_123_565),
    "reduce": (92_133_015, 100_135_304),
}
ALGORITHMS = dict.fromkeys(TIMES, "binary") | {"alltoall": "linear-shift"}
SIZED = {name: {} if name == "barrier" else {"message": "16 KiB"} for name in TIMES}
GPU = {
    "allreduce": ("hierarchical", "ring-channels", "double-binary-tree", "nccl"),
    "allgather": ("ring-channels", "nccl"),
    "reduce-scatter": ("ring-channels", "nccl"),
    "alltoall": ("pxn", "nccl", "scattered"),
}
"""Algorithms that depend on the GPUs of a node."""


def data(app, **job):
    job = {"name": "a", "nodes": 128, "place": "random", "iterations": 2, "app": app, **job}
    return {"system": "kang2019", "job": [job], "run": {"seed": 1}}


def new(name):
    return {"collective": name, "algorithm": ALGORITHMS[name], **SIZED[name]}


def test_these_five_are_collectives_only():
    assert FORMER_MOTIFS == ALGORITHMS
    assert not set(COLLECTIVES) & set(MOTIFS)
    assert set(TIMES) <= set(COLLECTIVES)


@pytest.mark.parametrize("name", TIMES)
def test_they_take_as_long_as_before(name):
    computing = {"compute": "3 us", "jitter": "1 us"}
    times = [od.run(data(new(name) | more)).jobs["time_ps"][0] for more in ({}, computing)]
    assert tuple(times) == TIMES[name]


@pytest.mark.parametrize("name", TIMES)
def test_the_old_words_are_refused_with_the_new_ones(name, tmp_path, monkeypatch, capsys):
    """From data, phases, an axis of a study, a changed scenario, and a file."""
    old = {"motif": name, **SIZED[name], "compute": "1 us"}
    words = f'collective = "{name}", algorithm = "{ALGORITHMS[name]}"'
    phases = {"motif": "phases", "phases": [{"compute": "1 us"}, old]}
    study = {"base": data(new(name)), "sweep": {"job.a.app": [new(name), old]}}
    for ask in (
        lambda: od.load(data(old)).resolve(),
        lambda: od.Scenario.of(data(old)).resolve(),
        lambda: od.run(data(phases)),
        lambda: od.sweep(study, out=tmp_path / "study"),
        lambda: od.load(data(new(name))).set("job.a.app", old).resolve(),
    ):
        with pytest.raises(InputError, match=f"`{name}` is a collective, not a motif") as caught:
            ask()
        assert words in caught.value.hint
    monkeypatch.chdir(tmp_path)
    table = ", ".join(f'{key} = "{value}"' for key, value in old.items())
    Path("s.toml").write_text(f'system = "kang2019"\n[[job]]\nname = "a"\nnodes = 8\napp = {{ {table} }}\n')
    assert main(["run", "s.toml"]) == 2
    error = capsys.readouterr().err
    assert "s.toml:5: " in error
    assert words in " ".join(error.split())


def test_the_new_words_are_taken():
    """What the hint says is a scenario, with the other keys of the motif."""
    for name in TIMES:
        od.load(data(new(name) | {"compute": "1 us", "jitter": "1 ns"})).resolve()


def test_a_misspelt_motif_is_not_called_a_collective():
    with pytest.raises(InputError, match="unknown motif `allredce`"):
        od.load(data({"motif": "allredce", "message": "1 KB"})).resolve()


PLAIN = [(name, algorithm) for name, model in COLLECTIVES.items() for algorithm in model.algorithms]


def time(app, **job):
    return od.run(data(app, iterations=1, nodes=16, **job)).jobs["time_ps"][0]


@pytest.mark.parametrize(("name", "algorithm"), PLAIN)
def test_every_algorithm_begins_after_computing(name, algorithm):
    """All ranks compute for the same time, so the job takes that much longer, to the picosecond."""
    app = {"collective": name, "algorithm": algorithm, **({} if name == "barrier" else {"message": "4 KiB"})}
    assert time(app | {"compute": "7 us"}) == time(app) + 7_000_000
    assert time(app | {"compute": "7 us", "jitter": "5 us"}) > time(app) + 7_000_000


OF_GPUS = [("superpod-h100-gpu", name, algorithm) for name in GPU for algorithm in GPU[name]]
OF_GPUS += [("alps-gpu", "allreduce", algorithm) for algorithm in GPU["allreduce"]]


@pytest.mark.parametrize(("system", "name", "algorithm"), OF_GPUS)
def test_algorithms_for_gpus_begin_after_computing(system, name, algorithm):
    count = 4 if system == "alps-gpu" else 8

    def of_gpus(**more):
        app = {"collective": name, "algorithm": algorithm, "message": "1 MiB", **more}
        job = {"name": "a", "nodes": 4, "ranks_per_node": count, "app": app}
        return od.run({"system": system, "job": [job]}).jobs["time_ps"][0]

    assert of_gpus(compute="7 us") == of_gpus() + 7_000_000
    if name == "alltoall":
        assert of_gpus(compute="7 us", jitter="5 us") > of_gpus() + 7_000_000
    elif (system, algorithm) != ("superpod-h100-gpu", "hierarchical"):  # one ring in a node: a program of phases
        with pytest.raises(InputError, match="has no random times"):
            of_gpus(jitter="5 us")


def test_a_phase_may_compute_before_its_collective():
    inside = {"collective": "barrier", "compute": "7 us"}
    apart = [{"compute": "7 us"}, {"collective": "barrier"}]
    times = [time({"motif": "phases", "phases": phases}) for phases in ([inside], apart)]
    assert times[0] == times[1]
