"""Who makes whom wait, on cases whose answer is known."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import odonata as od
from odonata import runner
from odonata.blame import Explanation, JobCauses, Without, causes_of
from odonata.blame.coalitions import spec_of
from odonata.blame.sentences import sentences, where_of
from odonata.errors import InputError
from odonata.scenario import parse

if TYPE_CHECKING:
    from pathlib import Path

    from odonata.scenario import Scenario

SHORT = ["job.target.app.messages=8", "measure.blame=true"]


@pytest.fixture(scope="module")
def kang() -> od.Run:
    return od.run(od.load("examples/quick.toml", overrides=SHORT))


@pytest.fixture(scope="module")
def kang_explained(kang: od.Run) -> Explanation:
    return od.explain(kang, counterfactual=True)


def test_a_notebook_shows_its_sentences_and_its_table(kang_explained: Explanation) -> None:
    shown = kang_explained._repr_html_()
    first = sentences(kang_explained)[0]
    assert f"<p>{first}</p>" in shown
    assert "<caption>where they wait most</caption>" in shown
    assert '<td style="text-align: left">background</td>' in shown


def test_on_the_case_of_kang_the_background_waits_in_three_groups_are_named(kang_explained: Explanation) -> None:
    (target,) = kang_explained.jobs
    by_job = {cause.cause: cause for cause in target.causes}
    background = by_job["background"]
    assert background.groups == (0, 1, 2)
    assert next(iter(background.by_class)) == "global"
    assert all({place.from_group, place.to_group} <= {0, 1, 2} for place in background.places)
    assert any("`background`" in line and "groups 0, 1, 2" in line for line in sentences(kang_explained))


def test_without_the_background_the_target_is_faster_and_waits_for_itself_only(
    kang: od.Run, kang_explained: Explanation
) -> None:
    (entry,) = kang_explained.without
    assert (entry.victim, entry.without, entry.quantity) == ("target", "background", "latency_mean_ps")
    assert entry.slowdown is not None
    assert entry.slowdown > 1.02
    alone = spec_of(kang.resolved["spec"], frozenset({0}))
    assert alone is not None
    alone["measure"]["blame"] = True
    from odonata.machine import core

    blame = core.run(alone)["blame"]
    assert set(blame["victim"]) == set(blame["cause"]) == {0}


def test_on_the_case_of_two_programs_each_waits_for_the_other() -> None:
    short = ["job.halo.iterations=2", "job.transform.iterations=3", "measure.blame=true"]
    short += ["measure.operations=true", *(f"job.{job}.record=every-message" for job in ("halo", "transform"))]
    explanation = od.explain(od.run(od.load("examples/halo-neighbours.toml", overrides=short)))
    shares = {(cause.victim, cause.cause): cause.share for job in explanation.jobs for cause in job.causes}
    # The large messages of the halo cost the transposes more than the other way round.
    assert shares["transform", "halo"] > shares["halo", "transform"] > 0.001


def test_waits_and_service_add_up_to_the_latencies_of_messages_of_one_packet(tiny: Scenario) -> None:
    for switching in ("store-and-forward", "cut-through"):
        small = tiny.set("job.target.app.message", "1 KB").set("measure.blame", True)
        done = od.run(small.set("system", {"preset": "tiny", "fabric": {"switching": switching}}))
        rows = done.blame.filter(victim=0)
        assert rows["time_ps"].sum() == done.messages.filter(job=0)["latency_ps"].sum()
        assert rows.filter(pl.col("cause") == 1).height > 0


def test_a_run_without_blame_is_simulated_again(tiny: Scenario) -> None:
    plain, recorded = od.run(tiny), od.run(tiny.set("measure.blame", True).set("measure.roots", True))
    assert plain.blame.is_empty()
    assert plain.messages.equals(recorded.messages)
    assert recorded.roots.height > 0
    assert od.explain(plain).jobs == od.explain(recorded).jobs


def test_only_what_explains_is_recorded_when_a_run_is_simulated_again(
    tiny: Scenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = od.run(tiny.set("measure.links", {"every": "1 us"}))
    simulated: list[Any] = []
    simulate = runner.simulate

    def noted(spec: Any, *given: Any) -> Any:
        simulated.append(spec)
        return simulate(spec, *given)

    monkeypatch.setattr(runner, "simulate", noted)
    found = od.explain(plain, alone=False)
    monkeypatch.undo()
    (spec,) = simulated
    assert {job["record"] for job in spec["jobs"]} == {"nothing"}
    assert spec["measure"]["arrivals_every_ps"] is None
    assert found.jobs == od.explain(od.run(tiny.set("measure.blame", True).set("measure.roots", True))).jobs


def test_the_rows_are_of_links_that_there_are(tiny: Scenario) -> None:
    done = od.run(tiny.set("measure.blame", True))
    joined = done.blame.filter(pl.col("wait") != "service").join(done.links, on="link", how="left", suffix="_of_link")
    assert (joined["class"] == joined["class_of_link"]).all()
    sources = joined.filter(pl.col("wait").str.starts_with("source"))
    assert sources.height > 0
    assert (sources["from_kind"] == "node").all()
    assert (sources["victim"] == sources["cause"]).all()
    assert (joined.filter(wait="buffer")["to_kind"] == "router").all()


def test_the_object_has_the_entries_of_the_contract(tiny: Scenario) -> None:
    document = json.loads(json.dumps(od.explain(od.run(tiny)).as_dict()))
    entries: list[dict[str, Any]] = document["blame"]
    assert entries
    assert all(set(entry) == {"victim", "cause", "class", "ps"} for entry in entries)
    assert [entry["ps"] for entry in entries] == sorted((entry["ps"] for entry in entries), reverse=True)
    assert sum(entry["ps"] for entry in entries) == sum(job["waiting_ps"] for job in document["jobs"])
    assert {entry["victim"] for entry in entries} == {"target"}
    assert {e["victim"] for e in od.explain(od.run(tiny), "noise").as_dict()["blame"]} == {"noise"}


def test_a_job_that_never_waits_is_said_to() -> None:
    explanation = Explanation("id", (JobCauses("calm", False, 0, 10, ()),), ())
    assert sentences(explanation) == ["`calm` never waits."]


def test_blame_and_absence_are_said_to_disagree() -> None:
    jobs = (JobCauses("slow", False, 50, 50, ()),)
    lines = sentences(Explanation("id", jobs, (Without("slow", "other", "latency_mean_ps", 1000.0, 500.0),)))
    assert any("disagree" in line and "0 % of the time" in line and "50 % is saved" in line for line in lines)
    cut_off = sentences(Explanation("id", jobs, (Without("slow", "other", "time_ps", None, 500.0),)))
    assert any("no comparison" in line for line in cut_off)


def test_what_cannot_be_explained_is_refused(tiny: Scenario, monkeypatch: pytest.MonkeyPatch) -> None:
    run = od.run(tiny)
    with pytest.raises(InputError, match="targt") as caught:
        od.explain(run, "targt")
    assert "target" in str(caught.value)
    monkeypatch.setitem(run.manifest, "packet_hops", 1)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="another version"):
        od.explain(run)


def test_the_folder_keeps_the_table(tiny: Scenario, tmp_path: Path) -> None:
    kept = od.run(tiny.set("measure.blame", True), tmp_path / "out")
    assert causes_of(kept, kept.blame) == list(od.explain(od.open(tmp_path / "out"), "target").jobs) + list(
        od.explain(kept, "noise").jobs
    )


@pytest.mark.parametrize(
    ("fabric", "kinds"),
    [
        ({"router": {"kind": "input-queued", "output_buffer": "2 KiB"}}, {"queue", "crossbar-output", "output-buffer"}),
        ({"nic": {"kind": "aries", "window": 32}}, {"window"}),
    ],
)
def test_waits_behind_crossbars_and_for_the_window_are_explained(
    tiny: Scenario, fabric: dict[str, Any], kinds: set[str]
) -> None:
    system = {"preset": "tiny", "fabric": fabric}
    done = od.run(tiny.set("job.target.app.message", "16 KB").set("system", system).set("measure.blame", True))
    assert kinds <= set(done.blame["wait"])
    explained = od.explain(done)
    waits = {wait for job in explained.jobs for cause in job.causes for wait in cause.by_wait}
    assert kinds <= waits
    assert "mostly" in str(explained)


@pytest.mark.parametrize("router", ["ideal", "input-queued"])
def test_waits_for_room_are_followed_to_links_of_routers(tiny: Scenario, router: str) -> None:
    tiny = tiny.set("system", {"preset": "tiny", "fabric": {"router": router}})
    busy = tiny.set("job.noise.app.interval", "2 us").set("measure.blame", True).set("measure.roots", True)
    done = od.run(busy)
    kinds = ["buffer", "source-buffer", "output-buffer"]
    for_room = done.blame.filter(pl.col("wait").is_in(kinds)).group_by("victim")
    sums = done.roots.group_by("victim").agg(pl.col("time_ps").sum()).sort("victim")
    assert sums.equals(for_room.agg(pl.col("time_ps").sum()).sort("victim"))
    joined = done.roots.join(done.links, on="link", how="left", suffix="_of_link")
    assert (joined["class"] == joined["class_of_link"]).all()
    assert (joined["from_kind"] == "router").all()
    explained = od.explain(done)
    (target,) = explained.jobs
    assert target.roots[0].cause == "noise"
    assert sum(root.share for root in target.roots) == pytest.approx(1)
    (line,) = (line for line in sentences(explained) if "chains of full buffers" in line)
    assert "at links that send packets of `noise`" in line
    entries = explained.as_dict()["roots"]
    assert sum(entry["ps"] for entry in entries) == sum(root.ps for root in target.roots) > 0


def test_runs_behind_crossbars_are_simulated_again_with_roots(tiny: Scenario) -> None:
    crossbars = tiny.set("system", {"preset": "tiny", "fabric": {"router": "input-queued"}})
    explained = od.explain(od.run(crossbars))
    assert all(job.causes and job.roots for job in explained.jobs)


def test_what_a_run_lacks_is_said_with_the_keys_that_record_it(tmp_path, monkeypatch, capsys):
    """Catches a run that is simulated again without a word of what was missing, and one that is although it has all."""
    import odonata as od
    from odonata.blame.explanation import missing
    from odonata.cli.main import main

    halo = od.load("examples/halo-neighbours.toml", ["job.halo.iterations=1", "job.transform.iterations=1"])
    blamed = od.run(halo.set("measure.blame", True), tmp_path / "blamed")
    assert missing(blamed) == [
        "the operations and messages of `halo`, `transform` "
        '(`measure.operations = true`, and `record = "every-message"` in the job)'
    ]
    assert main(["explain", str(tmp_path / "blamed")]) == 0
    said = capsys.readouterr().err
    assert "simulated again, because it has not recorded the operations" in said
    for key, value in {
        "measure.blame": True,
        "measure.operations": True,
        "job.halo.record": "every-message",
        "job.transform.record": "every-message",
    }.items():
        halo = halo.set(key, value)
    whole = od.run(halo, tmp_path / "whole")
    assert missing(whole) == []
    assert main(["explain", str(tmp_path / "whole")]) == 0
    assert "simulated again" not in capsys.readouterr().err


def test_on_a_fat_tree_places_are_pods_and_cores() -> None:
    """Two jobs, each in two pods, whose only core has a quarter of the bandwidth of the nodes."""
    links = 'bandwidth = "100 Gbit/s", buffer = "16 KiB" }'
    text = f"""
        [system]
        kind = "fat-tree"
        pods = 2
        leaves = 2
        spines = 1
        cores = 1
        nodes_per_leaf = 4
        [system.fabric.links]
        node = {{ {links}
        leaf = {{ {links}
        core = {{ bandwidth = "25 Gbit/s", buffer = "16 KiB" }}
        [measure]
        blame = true
        [[job]]
        name = "a"
        nodes = 16
        app = {{ collective = "alltoall", message = "16 KiB" }}
        [run]
        seed = 1
    """
    explanation = od.explain(od.run(parse(text)))
    places = [place for job in explanation.jobs for cause in job.causes for place in cause.places]
    assert {place.group_name for place in places} == {"pod"}
    names = {place.name for place in places if place.class_ == "core"}
    assert names
    assert names <= {"pod 0 to cores", "pod 1 to cores", "cores to pod 0", "cores to pod 1"}
    assert "in pod " in str(explanation)
    assert "group" not in str(explanation)
    assert where_of([0], 4, "pod") == ", mostly out of pod 0"
    assert where_of([0, 2], 8, "group") == ", mostly out of groups 0, 2"


HELD_BACK = """
[system]
preset = "tiny"

[system.fabric]
congestion_control = {{ kind = "{law}", mark_above = "4 KiB" }}
links = {{ {slow} = {{ bandwidth = "1 GiB/s" }} }}

[[job]]
name = "victim"
nodes = 4
place = {{ policy = "explicit", nodes = [1, 5, 9, 13] }}
app = {{ {app}, message = "64 KiB" }}
iterations = 10

[[job]]
name = "noisy"
nodes = 12
app = {{ collective = "alltoall", message = "256 KiB" }}
background = true

[run]
seed = 1
until = "victim"

[measure]
blame = true
"""


@pytest.mark.parametrize(("law", "slow", "names"), [("ecn-window", "global", True), ("slingshot", "node", False)])
def test_it_says_for_whom_congestion_control_holds_packets_back(law: str, slow: str, names: bool) -> None:
    # Only a queue before a node marks with Slingshot.
    app = 'collective = "alltoall"' if names else 'motif = "incast"'
    run = od.run(parse(HELD_BACK.format(law=law, slow=slow, app=app)))
    (victim, *_), lines = causes_of(run, run.blame), sentences(od.explain(run))
    (line,) = [line for line in lines if "congestion control" in line]
    assert victim.congestion_control == law
    assert f"(`{law}`) holds packets back" in line
    assert ("because of queues of packets of `noisy`" in line) is names
    held = run.blame.filter((pl.col("wait") == "window") & (pl.col("victim") == 0))
    assert (1 in held["cause"].to_list()) is names
