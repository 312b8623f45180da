"""Modes of Aries: the reduced study on 128 nodes, and the parts it is made of."""

import csv
import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from odonata.errors import InputError
from odonata.machine import load
from odonata.reproduce import find
from odonata.reproduce.aries_modes import measures
from odonata.reproduce.aries_modes.delay_outcome import NOT_DELIVERED, DelayOutcome, delay_outcome
from odonata.reproduce.aries_modes.estimate import estimate_ps
from odonata.reproduce.aries_modes.found import found
from odonata.reproduce.aries_modes.median import Median, median_of
from odonata.reproduce.aries_modes.modes_grid import read_modes
from odonata.reproduce.aries_modes.pair_outcome import PairOutcome, pair_outcome
from odonata.reproduce.aries_modes.pairs import draw_pairs
from odonata.reproduce.aries_modes.relations import EQUAL, GREATER, SMALLER, Relation, compare
from odonata.reproduce.pool import run_cases
from odonata.reproduce.rows import by_name

VALIDATION = Path(__file__).parents[2] / "validation"
MODES = ["adaptive-0", "adaptive-1", "adaptive-2", "adaptive-3", "min-hash", "nmin-hash", "in-order"]


@pytest.fixture(scope="module")
def study():
    return find("aries-modes")


@pytest.fixture(scope="module")
def reduced(study, tmp_path_factory):
    return run_cases(study.cases(reduced=True), tmp_path_factory.mktemp("cache"))


def test_the_cases_of_both_forms(study):
    full = study.cases()
    assert len({(case.model, case.name) for case in full}) == len(full)
    main = [case for case in full if not case.variant]
    delays = [case for case in main if case.name.startswith("delay/")]
    assert len(delays) == 3 * 4 * 10
    assert len(main) - len(delays) == 2 * (2 * 3 * 5 + 5)
    assert {case.model for case in main} == set(MODES)
    assert {case.around.sensing for case in main} == {"both"}
    assert {case.around.delay for case in main if case not in delays} == {1}
    assert {case.around.machine.shape.nodes for case in main} == {2304}
    for case in study.cases(reduced=True):
        assert case.around.machine.shape.nodes == 128


def test_variants_change_one_thing(study):
    full = study.cases()
    base = next(case for case in full if (case.model, case.name) == ("adaptive-3", "intra/20%/seed1"))
    one = {case.variant: case for case in full if case.model == "adaptive-3" and case.name.startswith("intra/")}
    cases = {name: replace(case, variant="") for name, case in one.items() if name}
    assert cases["no delay of what credits tell"] == replace(base, around=replace(base.around, delay=0))
    assert cases["backlogs alone sensed"] == replace(base, around=replace(base.around, sensing="backlog"))
    assert cases["high bias of 32 KiB"] == replace(base, routing='{"bias_high": "32 KiB"}')
    assert cases["only the nearest cables are a shortest way"] == replace(base, gateways="nearest")
    assert all(case != base for case in cases.values())


def test_the_background_loads_the_cables_between_groups(study):
    """6 x 5 directions of 48 cables with 4.7 GB/s at 20 %, of which 5/6 of what 1,024 nodes send makes use."""
    case = next(case for case in study.cases() if case.name == "delay/20%/x1/seed1")
    expected = 16_384 * 1_024 * (5 / 6) / (6 * 5 * 48 * 4.7e9 * 0.2) * 1e12
    assert case.around.interval_ps == pytest.approx(expected, abs=1)
    shifted = replace(case.around, pattern="group-shift", load=10)
    assert shifted.interval_ps == pytest.approx(expected * 6 / 5 * 2, abs=1)


def test_only_the_delay_differs_between_paired_runs(study):
    cases = {case.name: case for case in study.cases()}
    specs = {k: cases[f"delay/40%/x{k}/seed3"].scenario().resolve().spec for k in (0, 1, 16)}
    assert [specs[k].pop("sensing") for k in specs] == [
        {"kind": "both"},
        {"kind": "both", "delay_ps": {"chassis": 60_000, "group": 60_000, "optical": 300_000}},
        {"kind": "both", "delay_ps": {"chassis": 960_000, "group": 960_000, "optical": 4_800_000}},
    ]
    assert specs[0] == specs[1] == specs[16]
    assert specs[0]["routing"]["mode"] == "adaptive-0"
    other = cases["delay/40%/x0/seed4"].scenario().resolve().spec
    assert other["jobs"][0]["nodes"] != specs[0]["jobs"][0]["nodes"]
    # The seeds of the validation page, whatever seeds a scenario gives its jobs.
    assert [job["nodes"][:4] for job in specs[0]["jobs"]] == [[1773, 1236, 1171, 959], [1130, 1493, 1830, 1711]]


def test_pairs_and_their_probes(study):
    cases = {(case.model, case.name): case for case in study.cases()}
    for where, distinct in (("intra", 1), ("inter", 2)):
        resolved = cases["adaptive-3", f"{where}/20%/seed2"].scenario().resolve()
        jobs, shape = resolved.spec["jobs"], resolved.system.shape
        assert [job["name"][:4] for job in jobs] == ["pair"] * 6 + ["prob"] * 6 + ["back"]
        for pair, probe in zip(jobs[:6], jobs[6:12], strict=True):
            assert pair["traffic"]["pattern"]["name"] == "broadcast"
            assert pair["traffic"]["message_bytes"] == 4 * 2**20
            assert pair["routing"] == probe["routing"]
            assert (pair["routing"]["mode"], pair["routing"]["bias_high_bytes"]) == ("adaptive-3", 8_192)
            assert probe["traffic"]["message_bytes"] == 1_024, "one packet"
            assert [shape.router_of(node) for node in pair["nodes"]] == [shape.router_of(n) for n in probe["nodes"]]
            assert len({shape.group_of(node) for node in pair["nodes"]}) == distinct
            assert not set(pair["nodes"]) & set(probe["nodes"])
        assert jobs[12].get("routing", resolved.spec["routing"])["mode"] == "adaptive-0"
        low = cases["adaptive-0", f"{where}/20%/seed2"].scenario().resolve().spec
        assert [job["nodes"] for job in low["jobs"]] == [job["nodes"] for job in jobs]


def test_pairs_are_drawn_from_every_group_on_different_routers():
    shape = load("theta").shape
    for where in ("intra", "inter"):
        pairs = draw_pairs(shape, where, 7)
        groups = [[shape.group_of(router * shape.nodes_per_router) for router in pair] for pair in pairs]
        assert [sender for sender, _ in groups] == list(range(9))
        assert all((a == b) == (where == "intra") for a, b in groups)
        assert len({router for pair in pairs for router in pair}) == 18
        assert pairs != draw_pairs(shape, where, 8)


def test_intervals_of_medians():
    """Ranks as in the usual tables of the sign test: n = 6, 10, 20, 30."""
    for count, rank in ((1, 1), (5, 1), (6, 1), (9, 2), (10, 2), (20, 6), (30, 10)):
        values = list(range(1, count + 1))
        assert median_of(values[::-1]) == Median((count + 1) / 2, rank, count + 1 - rank, count)
    with pytest.raises(ValueError, match="no values"):
        median_of([])


def test_equation_2():
    """D11: 4 KiB has the factor 0.5625, 4 MiB 64.5."""
    assert estimate_ps(4_096, 1_000, 10_000, 0) == 5_625 + 1_000
    assert estimate_ps(4 * 2**20, 1_000, 100, 2) == 6_450 + 3_000
    assert estimate_ps(65, 0, 1_024, 0) == 2 + 512


def test_a_delay_outcome_by_hand():
    rows = {
        "job": np.array([0, 0, 0, 0, 0, 0], np.uint16),
        "issue_ps": np.array([10, 100, 110, 120, 199, 200], np.uint64),
        "latency_ps": np.array([9, 1, 2, 3, 6, NOT_DELIVERED], np.uint64),
    }
    jobs = [{"minimal": 1, "packets": 4}, {"minimal": 3, "packets": 4}]
    resolved = SimpleNamespace(spec={"measure": {"from_ps": 100, "until_ps": 200}})
    outcome = delay_outcome({"jobs": jobs, "messages": rows}, resolved)
    assert outcome == DelayOutcome(4, 3.0, 14 / 3, 1.75, 2.5, 3.75, 0.25, 0.75)
    assert outcome.qcd == 2 / 5.5
    rows["latency_ps"][4] = NOT_DELIVERED
    with pytest.raises(ValueError, match="1 of 4 messages that count did not arrive: saturated"):
        delay_outcome({"jobs": jobs, "messages": rows}, resolved)


def by_hand(pieces):
    """One pair of nodes 0 and 1 on a NIC of 1 B/ps, four messages of 100 B, and its probe."""
    pair = [(0, k, 0, 200 * k, 200 + k) for k in range(4)]
    probe = [(1, 0, 0, 100, 900), (1, 1, 0, 450, 10), (1, 2, 0, 500, 20), (1, 1, 1, 600, 5), (1, 2, 1, 610, 9)]
    late = [(1, 3, 0, 803, 900), (1, 4, 0, 460, NOT_DELIVERED)]
    columns = zip(*pair, *probe, *late, strict=True)
    names = ("job", "interval", "source", "issue_ps", "latency_ps")
    rows = {name: np.array(column, np.uint64) for name, column in zip(names, columns, strict=True)}
    stalled, sent = np.zeros(10, np.uint64), np.zeros(10, np.uint64)
    stalled[2 * 3 + 1], sent[2 * 3 + 1] = 600, 400
    nodes = [1, 2]
    job = {"minimal": 1, "packets": 4, "hops": 10}
    spec = {
        "jobs": [{"nodes": nodes, "traffic": {"message_bytes": 100}}, {"nodes": [0, 3]}],
        "fabric": {"channels": 3, "links": {"node": {"bandwidth": 10**18}}},
    }
    system = SimpleNamespace(describe=lambda: {"slot_class": [0, 0]})
    result = {"messages": rows, "jobs": [job, job], "links": {"stalled_ps": stalled, "bytes": sent}}
    return pair_outcome(result, SimpleNamespace(spec=spec, system=system), 1, pieces)


def test_a_pair_outcome_by_hand():
    """The first message and what the probe sent before the second or after the end do not count."""
    assert by_hand(1) == PairOutcome(
        times_ps=[[201, 202, 203]],
        stalls=[0.5],
        latency_ps=[15.0 + 7.0],
        variance_ps2=[50.0 + 8.0],
        minimal=[0.25],
        hops=[2.5],
        sent_ps=100.0,
    )
    halves = by_hand(2)
    assert halves.times_ps == [[202 + 203]]
    assert halves.sent_ps == 200.0
    with pytest.raises(ValueError, match="two messages"):
        by_hand(4)


def test_the_reduced_study_finds_what_the_paper_says(study, reduced):
    rows = study.rows(reduced)
    assert [row.id for row in rows] == ["D8"] * 2 + ["D22"] * 18
    similar = "latency L is similar"
    assert {row.what for row in rows if row.verdict != "match" and similar not in row.what} == set()
    known = found(by_name(reduced))
    assert measures.off_over_on(known, "", 20, 16, lambda one: one.variance_ps2)[0] < 0.6, "phantom congestion"


def test_modes_go_the_ways_they_say(reduced):
    known = found(by_name(reduced))
    for where in ("intra", "inter"):
        minimal = {mode: np.mean(known.pairs["", 20, where, mode]["seed1"].minimal) for mode in MODES}
        assert minimal["min-hash"] == minimal["in-order"] == 1
        assert minimal["nmin-hash"] == 0
        assert minimal["adaptive-0"] < minimal["adaptive-2"] < minimal["adaptive-3"] < 1
        assert minimal["adaptive-0"] <= minimal["adaptive-1"] < minimal["adaptive-3"]
    one = known.pairs["", 20, "inter", "in-order"]["seed1"]
    assert min(measures.times(one)) > 4 * 2**20 / 4.7e9 * 1e12, "a single way is no faster than its cable"
    assert max(measures.times(known.pairs["", 0, "inter", "adaptive-3"]["seed1"])) < 1.1 * one.sent_ps


def delay(variance, spread=1.0):
    return DelayOutcome(10, 5e6, variance, 5e6 - spread, 5e6, 5e6 + spread, 0.5, 0.5)


def pair(time, stalls, latency, variance):
    return PairOutcome([[time, time + 1]] * 3, [stalls] * 3, [latency] * 3, [variance] * 3, [0.5] * 3, [2.0] * 3, 1e8)


def made_up(**changed):
    """Results that satisfy every statement, by (mode, case)."""
    results = {}
    for seed in (1, 2):
        results["adaptive-0", f"delay/20%/x0/seed{seed}"] = {9: delay(1.0, 1.0)}
        results["adaptive-0", f"delay/20%/x1/seed{seed}"] = {9: delay(2.0, 2.0)}
        results["adaptive-0", f"intra/20%/seed{seed}"] = {3: pair(100, 0.0, 1e6, 1.0)}
        results["adaptive-3", f"intra/20%/seed{seed}"] = {3: pair(150, 0.5, 1e6, 1.0)}
        results["adaptive-0", f"inter/20%/seed{seed}"] = {3: pair(120, 0.0, 2e6, 2.0)}
        results["adaptive-3", f"inter/20%/seed{seed}"] = {3: pair(110, 0.0, 1e6, 1.0)}
    return results | changed.get("results", {})


def test_every_statement_can_fail():
    models = ["adaptive-0", "adaptive-3"]
    assert {row.verdict for row in compare(made_up(), models)} == {"match"}
    wrong = {
        "variance of latency": ("adaptive-0", "delay/20%/x0/seed1", delay(3.0, 1.0)),
        "QCD of latency": ("adaptive-0", "delay/20%/x0/seed2", delay(1.0, 3.0)),
        "time is longer": ("adaptive-3", "intra/20%/seed1", pair(90, 0.5, 1e6, 1.0)),
        "latency L is similar": ("adaptive-3", "intra/20%/seed1", pair(150, 0.5, 2e6, 1.0)),
        "time is shorter": ("adaptive-3", "inter/20%/seed1", pair(130, 0.0, 1e6, 1.0)),
        "variance of L is lower": ("adaptive-3", "inter/20%/seed1", pair(110, 0.0, 1e6, 3.0)),
    }
    for what, (mode, case, outcome) in wrong.items():
        rows = compare(made_up(results={(mode, case): {9 if case.startswith("delay") else 3: outcome}}), models)
        assert [what in row.what for row in rows if row.verdict == "no match"] == [True], what
    together = {
        "stalls (1 + s) are more": ("intra", pair(150, 0.0, 1e6, 1.0)),
        "stalls (1 + s) are comparable": ("inter", pair(110, 0.5, 1e6, 1.0)),
        "latency L is lower": ("inter", pair(110, 0.0, 2e6, 1.0)),
        "time by equation (2) is longer": ("intra", pair(150, 0.0, 1e6, 1.0)),
        "time by equation (2) is shorter": ("inter", pair(110, 0.0, 2e6, 1.0)),
    }
    for what, (where, outcome) in together.items():
        both = {("adaptive-3", f"{where}/20%/seed{seed}"): {3: outcome} for seed in (1, 2)}
        rows = compare(made_up(results=both), models)
        assert [row.verdict for row in rows if what in row.what] == ["no match"], what


def test_a_relation_holds_only_for_the_whole_interval():
    def verdict(tolerance, value, low, high):
        made = Relation("D8", "", "adaptive-0", tolerance, Median(value, low, high, 9), "", "as it is")
        return made.verdict, made.why

    assert verdict(SMALLER, 0.9, 0.8, 0.99) == ("match", "")
    assert verdict(SMALLER, 0.9, 0.8, 1.01) == (
        "no match",
        "no clear difference, from 0.800 to 1.010, too few runs to tell",
    )
    assert verdict(SMALLER, 1.05, 0.8, 1.2) == ("no match", "no clear difference, from 0.800 to 1.200; as it is")
    assert verdict(GREATER, 0.9, 0.8, 0.95) == ("no match", "the opposite, from 0.800 to 0.950; as it is")
    assert verdict(GREATER, 1.2, 1.1, 1.3) == ("match", "")
    assert verdict(EQUAL, 1.09, 0.5, 3) == ("match", "")
    assert verdict(EQUAL, 1.11, 1.05, 1.2) == ("no match", "from 1.050 to 1.200; as it is")


def test_page_and_picture_are_the_same_for_the_same_numbers(study, reduced, tmp_path):
    results, rows = by_name(reduced), study.rows(reduced)
    page = study.page(rows, results)
    assert page == study.page(rows, results)
    assert (page.count("| D8 |"), page.count("| D22 |")) == (2, 18)
    assert "2 of 2 statements hold" in page
    assert "| inter | `nmin-hash` |" in page
    assert "| 64 KiB at a time (1,024 packets of 64 B) | intra |" in page
    from odonata.plot.style import save

    files = [tmp_path / "a.svg", tmp_path / "b.svg"]
    for file in files:
        save(study.picture(rows, results), file)
    assert files[0].read_bytes() == files[1].read_bytes()
    assert b"nmin-hash" in files[0].read_bytes()


def test_a_study_file_that_is_wrong_says_what():
    with pytest.raises(InputError, match=r"^study\.toml: 'reduced' is missing"):
        read_modes("seed = 1\n[full]\n", "study.toml", True)
    text = (Path(read_modes.__code__.co_filename).parent / "study.toml").read_text(encoding="utf-8")
    wrong = text.replace('bias_high = "2 KiB"', 'bias_hihg = "2 KiB"')
    with pytest.raises(InputError, match=r"unknown key of a variant `bias_hihg`(.|\n)*did you mean `bias_high`"):
        read_modes(wrong, "study.toml", False)


def test_cases_that_were_kept_are_read_again(study):
    for case in study.cases(reduced=True)[:1]:
        assert case.kept(json.loads(json.dumps(delay(1.0).as_json()))) == delay(1.0)
    case = next(case for case in study.cases(reduced=True) if case.name.startswith("intra/"))
    assert case.kept(json.loads(json.dumps(pair(1, 0.0, 1.0, 1.0).as_json()))) == pair(1, 0.0, 1.0, 1.0)


def test_committed_rows_are_those_of_the_study():
    with (VALIDATION / "aries-modes.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["id"] for row in rows] == ["D8"] * 18 + ["D22"] * 27
    assert all(row["verdict"] == "match" or row["why"] for row in rows)
