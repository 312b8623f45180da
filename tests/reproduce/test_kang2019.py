"""The reduced reproduction: 50 messages on the whole machine of Kang 2019, both models.

Steady latencies need few messages, so these are the paper's own numbers; what grows is only compared with itself.
"""

import pytest

from odonata.errors import InputError
from odonata.reproduce import find
from odonata.reproduce.kang2019.published import compare, expected, means_alone
from odonata.reproduce.kang2019.runs import by_case, largest_slowdown, make, product, shown

# The seventh of kind F, every 0.5 us, grows with the number of messages, and gave that number.
STEADY = [name for name, row in means_alone().items() if row.kind == "F" and not name.endswith("/0.5us")]


@pytest.fixture(scope="module")
def runs(reduced):
    return reduced("kang2019-4kb")


def test_there_are_six_steady_latencies(runs):
    assert len(STEADY) == 6
    assert set(STEADY) <= {run["case"] for run in runs}


@pytest.mark.parametrize("model", ["correct", "as-published"])
def test_steady_latencies(runs, model):
    """K30, K31, K42, K43: packet size and router delay were chosen by these, so they count as fitted if they agree.
    Every 1 us only the model as published has the published latencies."""
    wanted = [row for row in expected() if row.measure == "mean" and row.cases[0] in STEADY and row.kind == "F"]
    rows = [row for row in compare(wanted, runs) if row.model == model]
    assert len(rows) == 6
    assert {row.verdict for row in rows} <= {"no match", "not comparable"}
    near = ["no match" if model == "correct" else "not comparable"] * 2
    assert [row.verdict for row in rows if "every 1 us" in row.what] == near


@pytest.mark.parametrize("model", ["correct", "as-published"])
def test_two_thirds_of_the_contiguous_tornado_go_round(runs, model):
    """Its own links carry 1 / 2.27 of it (section 1.6 of the catalogue)."""
    cases = by_case(runs)[model, "tornado/contiguous/3us"][50]
    assert cases["minimal_fraction"] == pytest.approx(0.43, abs=0.03)


def test_the_published_selection_loads_low_ports_more(runs):
    """Running minima favour the ports that are looked at first; true minima favour none."""
    first_over_last = {}
    for model in ("correct", "as-published"):
        cases = by_case(runs)[model, "uniform-random/contiguous/1us"][50]
        assert (len(cases["up_ports"]), len(cases["global_ports"])) == (24, 16)
        first_over_last[model] = cases["up_ports"][0] / cases["up_ports"][-1]
    assert first_over_last["correct"] == pytest.approx(1, abs=0.05)
    assert first_over_last["as-published"] > 1.2


def test_a_case_is_a_scenario():
    (point,) = product(
        ["tornado"],
        ["contiguous"],
        ["3us"],
        [5],
        models=["correct"],
        backgrounds=["520%@10us"],
        changes=[{"routing.threshold": 0.25, "fabric.packet": "1 KiB"}],
    )
    assert point["case"] == "tornado/contiguous/3us/520%@10us/threshold=0.25,packet=1KiB"
    data = make(point).data
    assert data["routing"] == {"name": "fpar", "threshold": 0.25}
    target, background = data["job"]
    assert target["app"] == {"pattern": "tornado", "message": "4 KB", "offset": 384, "interval": "3us", "messages": 5}
    # More than 130 % comes from more nodes.
    assert background["place"] == {"policy": "per-leaf", "groups": "0-2", "per_leaf": 8}
    assert background["app"] == {"pattern": "group-peers", "tgll": "520%", "interval": "10us"}
    assert make(point).resolve().spec["fabric"]["packet_bytes"] == 1024
    wrong = {**point, "changed": {"routing.treshold": 0.25}}
    with pytest.raises(InputError, match="treshold"):
        make(wrong).resolve()


def test_an_interval_may_name_the_size_of_the_messages():
    (point,) = product(["uniform-random"], ["random"], ["512KB@450us"], [2], models=["correct"])
    (traffic,) = (job["traffic"] for job in make(point).resolve().spec["jobs"])
    assert (traffic["message_bytes"], traffic["interval_ps"], traffic["intervals"]) == (512_000, 450_000_000, 2)


def test_a_message_of_512_kb_takes_longer_than_its_bytes_on_the_link_of_its_node(reduced):
    (run,) = reduced("kang2019-512kb-4mb")
    assert 512_000 / (16 * 2**30) * 1e12 < run["latency_mean_ps"] < 150e6
    (row,) = find("kang2019-512kb-4mb").rows([run])
    assert (row.id, row.theirs, row.unit) == ("K36", 0.13, "ms")
    assert row.ours == pytest.approx(run["latency_mean_ps"] / 1e9)


def test_the_interval_makes_no_difference_to_the_first_messages():
    """So one message per process is simulated for the longest interval only, and holds for all."""
    import odonata as od

    points = product(["uniform-random"], ["random"], ["3us", "1us"], [1])
    means = [od.run(make(point)).jobs["latency_mean_ps"][0] for point in points]
    assert means[0] == means[1]
    assert means[2] == means[3]
    large = find("kang2019-512kb-4mb")
    run = {"model": "correct", "messages": 1, "latency_mean_ps": 1.3e9}
    more = {**run, "case": "uniform-random/random/4MB@1ms", "messages": 2}
    rows = large.rows([{**run, "case": "uniform-random/random/4MB@4ms"}, more])
    assert {row.what.partition(":")[0]: sorted(row.by_messages) for row in rows} == {
        "uniform-random, random, 4 MB every 4 ms": [1],
        "uniform-random, random, 4 MB every 1 ms": [1, 2],
    }
    # Beside a background it does make one.
    beside = large.rows([{**run, "case": "uniform-random/random/4MB@4ms/130%@100us"}])
    assert [row.what for row in beside] == ["uniform-random, random, 4 MB every 4 ms, 130 % background: mean latency"]


def made_by_hand(case, messages, mean):
    return {"model": "correct", "case": case, "messages": messages, "latency_mean_ps": mean}


def test_a_slowdown_compares_equal_numbers_of_messages():
    cases = by_case(
        [
            *(made_by_hand("a/b/c", messages, mean) for messages, mean in ((1, 10.0), (2, 20.0), (4, 40.0))),
            made_by_hand("a/b/c/50%@100us", 2, 24.0),
            *(made_by_hand("a/b/c/130%@100us", messages, mean) for messages, mean in ((1, 50.0), (2, 30.0), (4, 99.0))),
        ]
    )
    assert {load: run["latency_mean_ps"] for load, run in shown(cases, "correct", "a/b/c").items()} == {
        "": 20.0,
        "/50%@100us": 24.0,
        "/130%@100us": 30.0,
    }
    assert largest_slowdown(cases, "correct", "a/b/c") == 1.5
    assert largest_slowdown(cases, "as-published", "a/b/c") is None


def test_the_mean_of_the_largest_slowdowns():
    """K44: over 4 KB, 512 KB and 4 MB at three intervals each, whatever the number of messages."""
    intervals = ["3us", "1us", "0.5us", *(f"512KB@{us}us" for us in (450, 150, 100)), "4MB@4ms", "4MB@1ms", "4MB@0.7ms"]
    runs = [
        made_by_hand(f"tornado/random/{interval}{load}", messages, mean * messages)
        for messages, interval in enumerate(intervals, start=1)
        for load, mean in (("", 1.0), ("/90%@100us", 1.01), ("/130%@100us", 1.0 + messages / 10))
    ]

    def mean_row(runs):
        (row,) = [row for row in find("kang2019-512kb-4mb").rows(runs) if "mean of the largest slowdowns" in row.what]
        return row.what, row.ours, row.theirs, row.verdict

    what = "tornado, random: mean of the largest slowdowns at {} of nine sizes and intervals, each at its largest N"
    assert mean_row(runs) == (what.format(9), pytest.approx(1.5), 2.4, "no match")
    assert mean_row(runs[3:]) == (what.format(8), pytest.approx(1.55), 2.4, "no match")


def test_random_is_slowed_more_than_contiguous_at_every_interval():
    """K44: the least of the ratios of pairs, not the ratio of the largest."""
    intervals = ["512KB@450us", "512KB@150us", "512KB@100us"]
    slowed = {"random": (1.5, 1.2, 4.0), "contiguous": (1.0, 1.6, 2.0)}
    runs = [
        made_by_hand(f"tornado/{place}/{interval}{load}", 2, mean)
        for place, values in slowed.items()
        for interval, value in zip(intervals, values, strict=True)
        for load, mean in (("", 1.0), ("/130%@100us", value))
    ]
    (row,) = [row for row in find("kang2019-512kb-4mb").rows(runs) if "slows the random placement more" in row.what]
    assert (row.ours, row.verdict) == (pytest.approx(0.75), "no match")


def test_the_picture_shows_what_was_simulated():
    """Figures 5 to 7: a box of the correct model at each background, a cross as published, a line of the paper."""
    quantiles = {"latency_min_ps": 1e6, "latency_p25_ps": 2e6, "latency_p50_ps": 3e6, "latency_p75_ps": 4e6}
    jobs = ["uniform-random/contiguous/4MB@4ms", "tornado/random/3us"]
    runs = [
        {**made_by_hand(f"{job}{load}", 2, 3.5e6 * slowed), **quantiles, "latency_max_ps": 5e6, "model": model}
        for model in ("correct", "as-published")
        for job in jobs
        for load, slowed in (("", 1), ("/130%@100us", 2))
    ]
    made = find("kang2019-512kb-4mb").picture([], runs)
    panels = {axes.get_title(): axes for axes in made.axes}
    assert len(made.axes) == 24
    of_uniform, of_tornado, slowdowns = (
        panels["5(c): contiguous, 4 MB"],
        panels["7(d): random, 4 KB"],
        panels["8: random, 4 KB"],
    )
    assert [len(axes.patches) for axes in (of_uniform, of_tornado, slowdowns)] == [2, 2, 2]
    crosses = [line.get_ydata()[0] for line in of_tornado.lines if line.get_marker() == "x"]
    assert crosses == [3.5, 7.0]
    assert [bar.get_height() for bar in slowdowns.patches] == [1.0, 1.0]
    assert 1.47 in [line.get_ydata()[0] for line in of_uniform.lines]
    assert not panels["8: contiguous, 4 KB"].patches


def test_rates_of_a_broadcast():
    """K52: what leaves the root's group while the broadcast is under way, on the smallest of its cases."""
    import odonata as od
    from odonata.reproduce.kang2019.runs import keep

    (point,) = product(["broadcast"], ["contiguous"], ["100us"], [1], models=["correct"], backgrounds=["130%@100us"])
    run = od.run(make(point))
    kept = keep(run)
    root = run.counters.filter((run.counters["group"] == 3) & (run.counters["job"] == 0))
    busy = root.filter(root["bytes_out"] > 0)
    # The root begins inside its group. Of 2,303 messages 1,920 leave it (K52: 13.32 GiB/s).
    issued = run.jobs["first_issue_ps"][0] // 2_000_000
    assert busy["window"].min() > issued + 40
    windows = busy.height + busy["window"].min() - issued
    assert kept["root_rate"] == pytest.approx(busy["bytes_out"].sum() / (windows * 2e-6))
    assert kept["root_rate"] == pytest.approx(16 * 2**30 * 1920 / 2303, rel=0.01)
    other = run.counters.filter((run.counters["group"] == 3) & (run.counters["job"] == 1))
    assert kept["background_rate"] == pytest.approx(other["bytes_both"].sum() / run.manifest["sim_time_ps"] * 1e12)


def test_every_row_of_the_page_is_there_in_the_full_form():
    assert {point["model"] for point in find("kang2019-variants").points(False)} == {"correct", "as-published"}
    assert len(find("kang2019-calibration").points(False)) == 2 * 20 * (4 + 2)


def test_seeds_give_the_mean_and_its_interval():
    """Rows of jobs alone rest on all seeds that were simulated at the compared number of messages."""
    case, means = "uniform-random/contiguous/3us", (2.0, 2.1, 2.2)
    runs = [{**made_by_hand(case, 300, mean * 1e6), "repetition": seed} for seed, mean in enumerate(means, start=1)] + [
        made_by_hand(case, 100, 2.0e6)
    ]
    wanted = [row for row in expected() if row.cases == (case,)]
    (row,) = compare(wanted, runs, inferred=300)
    assert (row.ours, row.repetitions, row.messages) == (pytest.approx(2.1), 3, 300)
    # Student's t of 2 degrees of freedom is 4.303; the standard error is 0.1 / sqrt(3).
    assert row.interval == pytest.approx((2.1 - 0.2484, 2.1 + 0.2484), abs=1e-3)
    (single,) = compare(wanted, [run for run in runs if run.get("repetition", 1) == 1], inferred=300)
    assert (single.ours, single.repetitions, single.interval) == (2.0, 0, None)


def test_judged_rows_have_the_shipped_metric_and_backlog_is_a_variant():
    sensed = {}
    for point in find("kang2019-4kb").points(False):
        assert "sensing" not in point["changed"]
        sensed.setdefault(point["model"], make(point).data.get("sensing"))
    assert sensed == {"correct": None, "as-published": None, "backlog": "backlog"}


def test_the_study_of_the_metric_counts_what_meets_both():
    study = find("kang2019-metric")
    values = {"tornado/contiguous/3us": 4.34e6, "uniform-random/contiguous/1us": 16.1e6}
    runs = []
    for point in study.points(False):
        traffic, _, name = point["case"].rpartition("/")
        wrong = "sensing=backlog" not in name
        runs.append({**point, "latency_mean_ps": values[traffic] * (1.5 if wrong else 1.0)})
    rows = study.rows(runs)
    assert {row.verdict for row in rows} == {"not comparable"}
    page = study.page(rows, runs)
    assert "3 of 16 candidates meet K42, 3 meet K30. Both are met by: `backlog`" in " ".join(page.split())
