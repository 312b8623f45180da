"""Remedies on cases whose answer is known."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
from tests.advice.conftest import INTERFERENCE, NOTHING, Inline

import odonata as od
from odonata.advice import Remedy
from odonata.advice.advising import find
from odonata.advice.effects import REMEDY, cost, effect
from odonata.advice.kinds import KINDS
from odonata.advice.remedy import PRESENT
from odonata.advice.space import Space, fewest_seeds
from odonata.errors import InputError
from odonata.study.plan import SEED

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from odonata.scenario import Scenario

    Write = Callable[[str], Scenario]


def groups(scenario: Scenario, job: str) -> set[int]:
    resolved = scenario.resolve()
    nodes = next(entry["nodes"] for entry in resolved.spec["jobs"] if entry["name"] == job)
    return {resolved.system.shape.group_of(node) for node in nodes}


def test_it_isolates_the_target_from_a_background(written: Write, tmp_path: Path) -> None:
    """Kang 2019 in small: the links between groups 0 and 1 are overloaded, and groups 2 and 3 have room."""
    case = written(INTERFERENCE)
    advice = find(case, Inline(), tmp_path / "study")
    assert advice.victim == "target"
    assert advice.best is not None
    assert advice.changed is not None
    assert groups(advice.changed, "target") == {2, 3}
    mine, other = advice.best.effects
    assert mine.ratio is not None
    assert mine.ratio_interval is not None
    assert mine.difference_interval is not None
    assert mine.ratio < mine.ratio_interval[1] < 0.8
    assert mine.difference_interval[1] < 0
    assert mine.pairs == 8
    assert other.job == "background"
    assert not advice.best.slows
    assert advice.best.cost.nodes_moved == 4
    assert advice.best.cost.groups_touched == 4
    assert advice.fixed == ("background",)
    assert advice.as_dict()["findings"][0]["toml"] in str(advice)
    shown = advice._repr_html_()
    assert "<p>`target` takes 1." in shown
    assert shown.count('<td style="text-align: left">helps</td>') >= 1
    assert "<pre># change of the scenario\n# in [[job]] &quot;target&quot;\n" in shown


def test_the_groups_with_the_fewest_nodes_of_others_are_tried(written: Write) -> None:
    case = written(INTERFERENCE)
    space = Space(case, case.resolve(), "target", case.table.advise)
    changes = [dict(change) for change in KINDS["placement"](space)]
    assert {"job.target.place": {"policy": "contiguous", "groups": "2-3"}} in changes
    assert not any("job.background.place" in change for change in changes)


@pytest.mark.parametrize("move", ["", 'move = ["target", "background"]'])
def test_the_nodes_of_two_jobs_are_divided_anew(written: Write, move: str) -> None:
    """What De Sensi 2024 calls linear: of the nodes of both jobs in their order, one has the first and one the rest.

    Two lists of nodes are those of one allocation, so no leave to move is needed: together they keep what they have.
    """
    mixed = INTERFERENCE.replace('move = ["target"]', move).replace(
        'place = { policy = "per-leaf", groups = "0-1", per_leaf = 1 }', 'place = { nodes = "0,2,4,6" }'
    )
    case = written(
        mixed.replace(
            '{ pattern = "group-peers", tgll = 1.30, interval',
            '{ pattern = "uniform-random", message = "4 KB", interval',
        )
    )
    space = Space(case, case.resolve(), "target", case.table.advise)
    mine, others = ({*space.spec[job]["nodes"]} for job in ("target", "background"))
    halved = [Remedy(("placement",), change) for change in KINDS["placement"](space) if "explicit" in str(change)]
    assert len(halved) == 2
    for remedy, first in zip(halved, ("target", "background"), strict=True):
        jobs = {job["name"]: job["nodes"] for job in remedy.applied(case).resolve().spec["jobs"]}
        assert sorted(jobs["target"] + jobs["background"]) == sorted(mine | others)
        assert [len(jobs["target"]), len(jobs["background"])] == [len(mine), len(others)]
        last = "background" if first == "target" else "target"
        assert max(jobs[first]) < min(jobs[last])


def test_without_leave_to_move_a_fixed_list_its_job_stays(written: Write) -> None:
    advice = find(written(INTERFERENCE.replace('move = ["target"]', "")), Inline(), None)
    assert (advice.tried, advice.best, advice.changed) == (0, None, None)
    assert advice.fixed == ("target", "background")
    assert "There is no remedy to try" in str(advice)


def test_the_halo_is_packed_for_the_transform_and_the_advice_says_who_pays(tmp_path: Path) -> None:
    """Random placement spreads the halo's large messages over all groups; packed, they leave the transform alone."""
    few = {"job.halo.iterations": 1, "job.transform.iterations": 1, "fabric.switching": "store-and-forward"}
    chosen = {"advise.allow": ["placement"], "advise.jobs": ["halo"], "advise.finalists": 3}
    case = od.load("examples/halo-neighbours.toml", {**few, **chosen})
    advice = find(case, Inline(), tmp_path / "study")
    assert advice.victim == "transform"
    packed = next(finding for finding in advice.findings if finding.remedy.name == 'job.halo.place = "contiguous"')
    assert packed.helps
    assert packed.effects[0].ratio is not None
    assert packed.effects[0].ratio < 0.7
    assert packed.remedy.toml == '# in [[job]] "halo"\nplace = "contiguous"'
    assert advice.best is not None
    assert advice.best.slows == packed.slows == ("halo",)
    assert "It makes `transform` faster and `halo` slower." in str(advice)


def test_where_nothing_helps_it_says_so(written: Write) -> None:
    advice = find(written(NOTHING), Inline(), None)
    assert advice.tried > 10
    assert advice.best is None
    assert not any(finding.helps for finding in advice.findings)
    assert "No remedy helps: none makes `pair` faster beyond its interval." in advice.as_dict()["sentences"]


def test_luck_with_the_seeds_of_the_search_is_no_help(written: Write) -> None:
    """A job that fills the machine with random messages: placements only deal out the draws anew."""
    text = """\
system = "tiny"
[[job]]
name = "all"
nodes = 16
place = "random"
app = { pattern = "uniform-random", message = "4 KB", interval = "2 us", messages = 5 }
[advise]
allow = ["placement"]
"""
    advice = find(written(text), Inline(), None)
    assert advice.tried > 5
    assert advice.best is None


def test_the_same_seed_gives_the_same_advice_and_nothing_is_simulated_twice(written: Write, tmp_path: Path) -> None:
    case = written(INTERFERENCE)
    with pytest.raises(KeyboardInterrupt):
        find(case, Inline(stop_after=20), tmp_path / "study")
    rest = Inline()
    resumed = find(case, rest, tmp_path / "study")
    whole = Inline()
    fresh = find(case, whole, tmp_path / "other")
    assert rest.simulated < whole.simulated
    again = Inline()
    kept = find(case, again, tmp_path / "study")
    assert again.simulated == 0
    assert json.dumps(resumed.as_dict()) == json.dumps(fresh.as_dict()) == json.dumps(kept.as_dict())


def space_of(scenario: Scenario, **times: int) -> Space:
    return Space(scenario, scenario.resolve(), "pair", scenario.table.advise, times)


def test_every_kind_gives_changes_that_resolve(written: Write) -> None:
    case = written(NOTHING)
    space = space_of(case, pair=1_234_567, other=2_000_000)
    for kind, changes in KINDS.items():
        remedies = [Remedy((kind,), change) for change in changes(space)]
        if kind == "congestion-control":
            assert not remedies, "the machine states none"
            continue
        assert remedies, kind
        resolved = 0
        for remedy in remedies:
            try:
                remedy.applied(case).resolve()
            except InputError:
                continue
            resolved += 1
        assert resolved, kind


def test_a_routing_is_varied_in_each_of_its_parameters(written: Write) -> None:
    space = space_of(written(NOTHING.replace('"minimal"', '"fpar"')))
    changes = [dict(change) for change in KINDS["routing"](space)]
    assert {"routing": {"name": "fpar", "threshold": 0.25}} in changes
    assert {"routing": {"name": "fpar", "threshold": 1.0}} in changes
    assert {"job.pair.routing": {"name": "fpar", "candidates": "one-group"}} in changes
    assert {"job.other.routing": "minimal"} in changes


def test_a_later_start_is_half_an_iteration_or_the_whole_program(written: Write) -> None:
    changes = [dict(change) for change in KINDS["start"](space_of(written(NOTHING), pair=6_000_000, other=3_000_000))]
    assert changes == [
        {"job.pair.start": "3 us"},
        {"job.pair.start": "500 ns"},
        {"job.other.start": "6 us"},
        {"job.other.start": "1 us"},
    ]


def test_waiting_before_the_start_is_no_gain(written: Write) -> None:
    """The time of a program counts from its start; a remedy that only starts it later must not look faster."""
    case = written(NOTHING)
    later = Remedy(("start",), (("job.pair.start", "1 us"),))
    costs = {later.name: cost(case.resolve(), later.applied(case).resolve())}
    assert costs[later.name].later_ps == {"pair": 1_000_000}
    rows = [
        {REMEDY: name, SEED: seed, "name": "pair", "background": False, "complete": True, "time_ps": ps}
        for name, ps in ((PRESENT, 5_000_000), (later.name, 4_500_000))
        for seed in range(8)
    ]
    change = effect(pl.DataFrame(rows), later.name, "pair", "time_ps", costs)
    assert change.after_ps == 5_500_000
    assert change.ratio == pytest.approx(1.1)
    assert change.slower()


def rows_of(before: list[float], after: list[float], **changes: Any) -> pl.DataFrame:
    usual = {"name": "a", "background": False, "complete": True, **changes}
    return pl.DataFrame(
        [
            {REMEDY: name, SEED: seed, "latency_mean_ps": value, **usual}
            for name, values in ((PRESENT, before), ("r", after))
            for seed, value in enumerate(values)
        ]
    )


def test_an_effect_needs_its_interval_and_the_test() -> None:
    before = [100.0, 110, 120, 130, 140, 150, 160, 170]
    clear = effect(rows_of(before, [value * 0.9 for value in before]), "r", "a", "latency_mean_ps", {})
    assert clear.faster(6)
    assert not clear.slower()
    mixed = effect(rows_of(before, before[::-1]), "r", "a", "latency_mean_ps", {})
    assert not mixed.faster(1)
    small = effect(rows_of(before, [value * 0.995 for value in before]), "r", "a", "latency_mean_ps", {})
    assert not small.faster(1)
    cut = effect(rows_of(before, before, complete=False), "r", "a", "latency_mean_ps", {})
    assert cut.ratio is None


def test_the_fewest_seeds_can_pass_the_test() -> None:
    assert fewest_seeds(3) == 8
    before = [100.0 + number for number in range(8)]
    change = effect(rows_of(before, [value - 10 - value / 50 for value in before]), "r", "a", "latency_mean_ps", {})
    assert change.p is not None
    assert change.faster(6)


def test_remedies_are_joined_only_if_they_change_different_things() -> None:
    single = Remedy(("placement",), (("job.a.place", "random"),))
    other = Remedy(("routing",), (("routing", "minimal"),))
    joined = single.joined(other)
    assert joined is not None
    assert joined.name == 'job.a.place = "random"; routing = "minimal"'
    assert joined.toml == '# in [[job]] "a"\nplace = "random"\n# at the top\nrouting = "minimal"'
    assert single.joined(Remedy(("placement",), (("job.a.place.policy", "simple"),))) is None


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ('victim = "targt"', "did you mean `target`"),
        ('jobs = ["nobody"]', "unknown job `nobody`"),
        ('allow = ["placment"]', "placement"),
        ("seeds = 3", "8"),
        ("finalists = 40", "use at least"),
        ('value = "latency_mean"', "did you mean"),
        ('value = "messages_sent"', "less is better"),
    ],
)
def test_wrong_rules_are_errors_with_their_line(written: Write, rules: str, message: str) -> None:
    text = INTERFERENCE[: INTERFERENCE.index("[advise]")] + f"[advise]\n{rules}\n"
    with pytest.raises(InputError, match=r"case\.toml:17: ") as raised:
        find(written(text), Inline(), None)
    assert message in str(raised.value)


def test_the_rules_are_no_part_of_a_run(written: Write) -> None:
    case = written(INTERFERENCE)
    plain = written(INTERFERENCE[: INTERFERENCE.index("[advise]")])
    assert case.resolve().id == plain.resolve().id
    assert "advise" not in case.resolve().document["scenario"]
