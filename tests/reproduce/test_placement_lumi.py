"""`placement-lumi`: what ran, and the verdict where the machine shows nothing."""

from __future__ import annotations

from typing import Any

from odonata.reproduce import find
from odonata.reproduce.placement.lumi import AT_ONCE, ONE_BY_ONE, SIMULATED, aggressor, halvings, made

PAGE = find("placement-lumi")


def test_every_halving_has_nodes_of_its_own_and_shows_nothing() -> None:
    assert len(halvings()) == 60
    for of in halvings():
        assert len(of.victims) == len(of.aggressors) == of.nodes // 2
        assert not set(of.victims) & set(of.aggressors)
        assert of.low <= of.slowdown <= of.high
        assert not of.low > 1.05
    by_kind = [
        {(of.nodes, of.repetition): of.victims for of in halvings() if of.aggressor == kind}
        for kind in ("incast", "alltoall-posted")
    ]
    assert by_kind[0] == by_kind[1], "both aggressors ran on the same halvings"
    assert len(by_kind[0]) == 30


def test_a_root_that_receives_one_by_one_fetches_one_by_one() -> None:
    """Catches an incast of all at once: it would slow the victim down on 32 nodes, and the machine shows nothing."""
    one = aggressor("incast", ONE_BY_ONE, (0, 1))["overhead"]
    assert (one["eager"], one["fetches"]) == ("16 KiB", 1)
    posted = aggressor("alltoall-posted", ONE_BY_ONE, (0, 1))["overhead"]
    assert posted["eager"] == "16 KiB"
    assert "fetches" not in posted, "posted receives match all messages"
    assert "fetches" not in aggressor("incast", AT_ONCE, (0, 1))["overhead"]
    spec = made({"model": ONE_BY_ONE, "nodes": 8, "aggressor": "incast", "beside": True}).resolve().spec
    assert [job["name"] for job in spec["jobs"]] == ["victim", "aggressor"]


def simulated(slowdown: float) -> list[dict[str, Any]]:
    return [
        {
            "model": model,
            "nodes": nodes,
            "aggressor": kind,
            "beside": beside,
            "mean_us": 100 * (slowdown if beside else 1),
        }
        for nodes, kind, model in SIMULATED
        for beside in (False, True)
    ]


def test_nothing_is_correctly_none_and_never_a_match() -> None:
    for slowdown, verdict, word in ((1.0, "direction", "correctly none"), (1.2, "no match", "wrongly some")):
        runs = simulated(slowdown)
        rows = PAGE.rows(runs)
        assert {row.verdict for row in rows} == {verdict}
        assert f"**Nothing to predict: {word}.**" in PAGE.page(rows, runs)
