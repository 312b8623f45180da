"""What the other jobs cost a job, divided among them."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

import odonata as od
from odonata import scenario
from odonata.blame.coalitions import Coalitions, simulated
from odonata.blame.sentences import sentences
from odonata.blame.shapley import needed, shapley, subsets

if TYPE_CHECKING:
    from odonata.blame.coalitions import Coalition


def test_three_jobs_by_hand() -> None:
    # Alone 0. Job 1 costs 6, job 2 costs 12, both cost 30; job 3 costs nothing but 6 more beside job 2.
    worth = {(): 0, (1,): 6, (2,): 12, (3,): 0, (1, 2): 30, (1, 3): 6, (2, 3): 18, (1, 2, 3): 36}
    shares = shapley(frozenset({1, 2, 3}), lambda members: Fraction(worth[tuple(sorted(members))]))
    # Job 1 joins first (6), or second after 2 (18) or after 3 (6), or last (18); so (2*6 + 18 + 6 + 2*18) / 6 = 12.
    # Job 2: (2*12 + 24 + 18 + 2*30) / 6 = 21. Job 3: (2*0 + 0 + 6 + 2*6) / 6 = 3.
    assert shares == {1: 12, 2: 21, 3: 3}


@given(st.integers(1, 4), st.data())
def test_the_axioms(count: int, data: st.DataObject) -> None:
    players = frozenset(range(count))
    worth = {coalition: Fraction(data.draw(st.integers(-1000, 1000))) for coalition in subsets(players)}
    shares = shapley(players, worth.__getitem__)
    assert sum(shares.values()) == worth[players] - worth[frozenset()]  # efficiency
    orders = [*permutations(players)]
    for player in players:  # the definition: the mean over all orders of joining
        before = [frozenset(order[: order.index(player)]) for order in orders]
        assert shares[player] == sum(worth[coalition | {player}] - worth[coalition] for coalition in before) / len(
            orders
        )


def test_equal_jobs_have_equal_shares_though_nothing_is_saved_without_either() -> None:
    # Each of two jobs alone fills the link.
    shares = shapley(frozenset({0, 1}), lambda members: Fraction(10 if members else 0))
    assert shares == {0: 5, 1: 5}


TEXT = """\
system = "tiny"
routing = "minimal"
[[job]]
name = "victim"
place = { nodes = "0-1,8-9" }
app = { pattern = "uniform-random", message = "4 KB", interval = "1 us", messages = 20 }
[[job]]
name = "one"
place = { nodes = "2,10" }
app = { pattern = "uniform-random", message = "40 KB", interval = "5 us" }
background = true
[[job]]
name = "two"
place = { nodes = "3,11" }
app = { pattern = "uniform-random", message = "40 KB", interval = "5 us" }
background = true
[run]
until = "victim"
"""


@pytest.fixture(scope="module")
def three() -> od.Run:
    return od.run(scenario.parse(TEXT))


def test_the_shares_of_a_run_add_up_to_what_the_others_cost(three: od.Run) -> None:
    explanation = od.explain(three, shapley=True, workers=1)
    (division,) = explanation.shapley
    assert (division.victim, division.quantity, set(division.shares_ps)) == (
        "victim",
        "latency_mean_ps",
        {"one", "two"},
    )
    assert division.with_ps == three.jobs["latency_mean_ps"][0]
    alone = od.run(scenario.parse(TEXT), alone=True).jobs["alone_mean_ps"][0]
    assert division.alone_ps == alone
    assert sum(division.shares_ps.values()) == pytest.approx(division.with_ps - division.alone_ps, rel=1e-12)
    # By hand from the four runs; those without one job are the same as those of the counterfactual.
    without = {entry.without: entry.without_ps for entry in explanation.without}
    assert None not in without.values()
    share = (division.with_ps - without["one"] + without["two"] - division.alone_ps) / 2  # type: ignore[operator]
    assert division.shares_ps["one"] == pytest.approx(share)
    assert explanation.without == od.explain(three, counterfactual=True, workers=1).without
    (line,) = [line for line in sentences(explanation) if "Shapley" in line]
    assert line.startswith("With all jobs, the mean latency of `victim` is ")


def test_workers_change_nothing(three: od.Run) -> None:
    assert od.explain(three, shapley=True, workers=2) == od.explain(three, shapley=True, workers=1)


def test_each_coalition_is_simulated_once(three: od.Run, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Coalition] = []

    def counted(spec: object, background: object, members: Coalition, progress: object = None) -> object:
        seen.append(members)
        return simulated(spec, background, members)  # type: ignore[arg-type]

    monkeypatch.setattr("odonata.blame.coalitions.simulated", counted)
    od.explain(three, shapley=True, workers=1)
    assert sorted(map(sorted, seen)) == [[0], [0, 1], [0, 2]]
    assert len(needed(6, 0)) == 32
    spec = three.resolved["spec"]
    coalitions = Coalitions(spec, [False, True, True], three.jobs.to_dicts())
    assert not coalitions.possible(frozenset({1, 2}))


def test_more_than_six_jobs_are_not_divided() -> None:
    more = "".join(
        f'[[job]]\nname = "more{n}"\nplace = {{ nodes = "{4 + n},{12 + n}" }}\n'
        'app = { pattern = "uniform-random", message = "1 KB", interval = "5 us" }\nbackground = true\n'
        for n in range(4)
    )
    explanation = od.explain(od.run(scenario.parse(TEXT.replace("[run]", f"{more}[run]"))), shapley=True, workers=1)
    assert not explanation.shapley
    assert len(explanation.without) == 6
    assert "is not divided among them: the run has more than 6 jobs." in sentences(explanation)[-1]
