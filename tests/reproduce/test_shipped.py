"""What a page calls shipped defaults is what `system = PRESET` gives a user: routing, metric, buffers, NIC, host."""

import json
from collections import Counter

import pytest

import odonata as od
from odonata.reproduce import REPRODUCTIONS, find
from odonata.reproduce.provenance import abouts
from odonata.reproduce.shipped import NO_PRESET, beyond

RATIOS = {"fabric.links.global.bandwidth": "the paper's other two ratios of bandwidths, which the rows name (L3)"}
MINIMAL = {
    f"{where}routing.{key}": "minimal paths beside the default, which the row names"
    for where in ("", "job.")
    for key in ("name", "select", "threshold_ppm", "compare", "candidates", "channel_switch")
} | {"sensing.kind": "the metric of `fpar`; minimal paths by chance read none"}
BUFFER = {
    "fabric.links.node.buffer_bytes": "an experiment on the assumed buffer of a node, which is a cause and no row"
}
NEIGHBOUR = {
    f"job.program.{key}": "an incast of MPI on processors, with the costs of `leonardo`, as measured"
    for key in (
        *("costs.send_ps", "costs.receive_ps", "costs.eager_bytes", "costs.fetches", "costs.copy", "by_size"),
        *("costs.rendezvous_ps", "costs.combine", "costs.call_ps", "gpus.nics", "body.phases"),
    )
}
ALLOWED = {
    ("kang2019-4kb", "correct"): BUFFER | MINIMAL,
    ("kang2019-512kb-4mb", "correct"): MINIMAL,
    ("kang2019-matrix", "correct"): MINIMAL,
    ("kang2019-matrix-512kb", "correct"): MINIMAL,
    ("zhang2018-fig4", "today"): RATIOS,
    ("zhang2018-fig7", "today"): RATIOS,
    ("salimi-beni2022", "*"): MINIMAL,
    ("salimi-beni2022-tapering", "100 %"): MINIMAL,
    ("placement-measured", "leonardo"): NEIGHBOUR,
}
"""Page and model -> what its study sets beyond the preset and the jobs, and why that is a part of the study."""
SHIPPED = [(name, model) for name, about in abouts().items() for model, said in about.settings.items() if not said]
SIMULATED = [(name, model) for name, model in SHIPPED if find(name).make is not None and find(name).points(True)]


def points_of(name, model):
    """Points of a model that have every value of every key between them: of keys with many values some."""
    study = find(name)
    mine = [p for p in study.points(False) if model == "*" or str(p.get(study.model_key, model)) == model]
    if name == "salimi-beni2022-tapering":
        mine = [p for p in mine if p["cables"] == max(q["cables"] for q in mine)]
    seen, chosen = Counter(), []
    for point in mine:
        pairs = [(key, json.dumps(value, default=str)) for key, value in point.items()]
        new = [pair for pair in pairs if not seen[pair] and seen[pair[0]] < 12]
        if new:
            chosen.append(point)
            seen.update(pairs)
            seen.update(key for key, _ in new)
    assert chosen
    return chosen


@pytest.mark.parametrize(("name", "model"), SIMULATED)
def test_shipped_defaults_are_what_a_user_gets(name, model):
    allowed = ALLOWED.get((name, model), {})
    study, unlisted = find(name), {}
    for point in points_of(name, model):
        differs = beyond(study.make(point))
        unlisted |= {key: (value, point) for key, value in differs.items() if key not in allowed}
    assert unlisted == {}


def test_every_page_that_says_shipped_is_looked_at():
    """A page without a simulation has no settings of its own."""
    assert {name for name, _ in SHIPPED} - {name for name, _ in SIMULATED} <= {
        *("zhang2018-fig9", "salimi-beni2022-on-leonardo"),
    }
    assert set(ALLOWED) <= set(SIMULATED)
    assert {"kang2019-4kb", "zhang2018-fig10", "salimi-beni2022"} <= {name for name, _ in SIMULATED}
    assert set(abouts()) == set(REPRODUCTIONS)


APP = '{ collective = "alltoall", algorithm = "linear-shift", message = "1 KB" }'
JOB = f'[[job]]\nname = "a"\nnodes = 8\napp = {APP}\n'


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ('system = "zhang2018-272"\n' + JOB, set()),
        ('system = "zhang2018-272"\nrouting = "adaptive-local"\n' + JOB, set()),
        ('system = "zhang2018-272"\nsensing = "credits"\n' + JOB, {"sensing.kind"}),
        ('system = "zhang2018-272"\n' + JOB + 'overhead = { send = "1 us" }\n', {"job.program.costs.send_ps"}),
        ('system = { preset = "zhang2018-272", fabric = { packet = "2 KiB" } }\n' + JOB, {"fabric.packet_bytes"}),
        ('system = { preset = "piz-daint", fabric = { nic = "aries" } }\n' + JOB, {"fabric.nic.aries.window"}),
    ],
)
def test_what_a_study_sets_is_told(text, keys, tmp_path):
    (tmp_path / "s.toml").write_text(text)
    differs = beyond(od.load(tmp_path / "s.toml"))
    assert keys <= set(differs)
    assert bool(differs) == bool(keys)


def test_a_machine_of_its_own_is_no_preset():
    made = find("latency-load").make(find("latency-load").points(True)[0])
    assert set(beyond(made)) == {NO_PRESET}
    assert "" not in abouts()["latency-load"].settings.values()
