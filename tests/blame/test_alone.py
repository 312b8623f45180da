"""What neighbours cost a job: the difference to the same job alone, in parts that add up."""

from __future__ import annotations

import random

import pytest

import odonata as od
from odonata import scenario
from odonata.blame.alone import HOST, NEIGHBOUR, OWN, PARTS, _divided
from odonata.blame.causes import Cause, JobCauses
from odonata.blame.critical import TRANSFER
from odonata.blame.programs import ProgramTime, Share
from odonata.blame.sentences import NOTABLE, sentences

MACHINE = """
system = { preset = "zhang2018-272", groups = 4, routers = 4, nodes_per_router = 4, global_links_per_router = 1 }
"""
FREE = 'overhead = { send = "100 ns", receive = "100 ns", copy = "100 GB/s", call = "100 ns" }'
# Slowed 1.36 times although 99 % of the waiting is for its own packets.
DISPLACED = f"""{MACHINE}
routing = "ugal-l"
[[job]]
name = "vic"
nodes = 16
place = "contiguous"
{FREE}
app = {{ collective = "alltoall", message = "64 KiB" }}
iterations = 4
[[job]]
name = "noise"
nodes = 48
place = "contiguous"
background = true
{FREE}
app = {{ motif = "halo3d", message = "64 KiB" }}
[run]
seed = 2
"""
# Slowed 7 times, and 96 % of the waiting is for its own packets.
HELD_UP = f"""{MACHINE}
routing = "minimal"
fabric = {{ congestion_control = "nscc" }}
[[job]]
name = "vic"
nodes = 16
place = "round-robin-routers"
app = {{ pattern = "uniform-random", message = "8 KiB", load = "60 %", messages = 100 }}
[[job]]
name = "noise"
nodes = 48
place = "round-robin-routers"
background = true
{FREE}
app = {{ motif = "halo3d", message = "32 KiB" }}
[run]
seed = 33
"""


@pytest.mark.parametrize("text", [DISPLACED, HELD_UP], ids=["program", "pattern"])
def test_the_difference_to_the_job_alone_is_divided_and_the_neighbour_named(text: str) -> None:
    """Catches parts that do not add up, a time alone of another run, and a headline that names nobody."""
    run = od.run(scenario.parse(text, "s.toml"), alone=True)
    found = od.explain(run)
    (entry,) = found.beside
    row = run.jobs.to_dicts()[0]
    assert entry.slowdown == pytest.approx(row["slowdown"], rel=1e-9), "as two runs say"
    assert entry.with_ps == row[entry.quantity]
    assert sum(part.ps for part in entry.parts) == pytest.approx(entry.with_ps - entry.alone_ps, rel=1e-9)
    assert {part.kind for part in entry.parts} <= PARTS.keys()
    own = sum(part.ps for part in entry.parts if part.kind == OWN)
    assert own > 0.5 * (entry.with_ps - entry.alone_ps), "what waits for its own packets is displaced"
    assert any(part.kind == NEIGHBOUR and part.cause == "noise" and part.ps > 0 for part in entry.parts)
    first, *others = sentences(found)
    assert "beside `noise`" in first
    assert f"{entry.slowdown:.2f} times as long" in first
    assert "`noise` takes paths and room" in first
    assert any("of this waiting is for its own packets (of this," in line for line in others)
    assert not any("is for itself" in line for line in others), "that is said only of what happens alone, too"


def test_the_alone_run_of_the_folder_is_used_where_nothing_is_simulated() -> None:
    """What a report says: the slowdown, and what direct waiting explains of it."""
    run = od.run(scenario.parse(DISPLACED, "s.toml").set("measure.blame", True), alone=True)
    found = od.explain(run, alone=False)
    (entry,) = found.beside
    assert not entry.parts
    assert entry.slowdown == pytest.approx(run.jobs["slowdown"][0])
    first = sentences(found)[0]
    assert "beside `noise`" in first
    assert "Waiting for packets of `noise` is " in first
    quiet = od.run(scenario.parse(DISPLACED, "s.toml").set("measure.blame", True))
    assert not od.explain(quiet, alone=False).beside, "nothing is known of it alone"


def test_a_job_that_runs_alone_is_not_compared() -> None:
    text = DISPLACED.split('[[job]]\nname = "noise"')[0] + "[run]\nseed = 2\n"
    assert not od.explain(od.run(scenario.parse(text, "s.toml"))).beside


def test_the_host_has_its_part() -> None:
    """A rank that computes for longer while a message is late: the path outside the network is the host's."""
    run = od.run(scenario.parse(DISPLACED, "s.toml"))
    (entry,) = od.explain(run).beside
    host = sum(part.ps for part in entry.parts if part.kind == HOST)
    assert abs(host) < 0.05 * entry.with_ps


def test_what_a_path_spends_outside_the_network_is_the_hosts() -> None:
    """Of 50 ps that a program takes longer, 20 are outside the network; the rest is that of its packets' waiting."""
    waits = [Cause("vic", "noise", 60, 0.67, {}, {}, (), 0, ()), Cause("vic", "vic", 30, 0.33, {}, {}, (), 0, ())]
    causes = JobCauses("vic", False, 90, 10, tuple(waits))

    def path(transfer: int, outside: int) -> ProgramTime:
        return ProgramTime(
            "vic", transfer + outside, (Share(TRANSFER, transfer, 0, {}), Share("host", outside, 0, {})), 0, ()
        )

    parts = _divided(causes, 30, 10, 50, path(80, 45), path(50, 25))
    assert {(part.kind, part.cause): part.ps for part in parts} == {(HOST, None): 20, (NEIGHBOUR, "noise"): 30}


APPS = ("alltoall", "allreduce", "incast", "halo3d", "uniform-random", "group-shift")


def drawn(seed: int) -> str:
    """A random pair of jobs on a small machine."""
    draw = random.Random(seed)

    def app(background: bool) -> str:
        kind, size = draw.choice(APPS), draw.choice(["1 KiB", "8 KiB", "32 KiB"])
        if kind in ("uniform-random", "group-shift"):
            ends = "" if background else ", messages = 40"
            return f'app = {{ pattern = "{kind}", message = "{size}", load = "{draw.choice([60, 90])} %"{ends} }}'
        group = "collective" if kind in ("alltoall", "allreduce") else "motif"
        return f'{FREE}\napp = {{ {group} = "{kind}", message = "{size}" }}' + (
            "" if background else "\niterations = 6"
        )

    place = draw.choice(["random", "contiguous", "round-robin-routers"])
    routing = draw.choice(["minimal", "ugal-l", "par"])
    return f"""{MACHINE}
routing = "{routing}"
fabric = {{ channels = 4 }}
[[job]]
name = "vic"
nodes = 16
place = "{place}"
{app(False)}
[[job]]
name = "noise"
nodes = 48
place = "{place}"
background = true
{app(True)}
[run]
until = "vic"
seed = {seed}
"""


@pytest.mark.parametrize("seed", range(12))
def test_whoever_is_slowed_down_reads_by_whom(seed: int) -> None:
    """Catches slowdowns that no sentence explains: before, a third of them were said to be for the job itself."""
    run = od.run(scenario.parse(drawn(seed), "s.toml"), alone=True)
    slowdown = run.jobs["slowdown"][0]
    found = od.explain(run)
    if slowdown is None:
        assert not found.beside
        return
    (entry,) = found.beside
    assert entry.slowdown == pytest.approx(slowdown, rel=1e-9)
    assert sum(part.ps for part in entry.parts) == pytest.approx(entry.with_ps - entry.alone_ps, abs=2)
    first = sentences(found)[0]
    assert f"{slowdown:.2f} times as long" in first
    assert "`noise`" in first
    if slowdown > NOTABLE:
        assert "Of the difference of" in first
