"""Steps of training: the published cases, their scenarios, and rows that match, that do not, and that are fitted."""

import pytest

from odonata.reproduce import find
from odonata.reproduce.markdown import number
from odonata.reproduce.training.cases import ATTENTION, MEMORY, PAPERS, STATED, cases
from odonata.reproduce.training.points import EXPERIMENTS, TOLERANCE, extent, gains, make, nodes, rates, whole


@pytest.fixture(scope="module")
def study():
    return find("training")


def of_table(where):
    return [of for of in cases().values() if of.where == where]


def test_the_published_rates_are_those_of_the_whole_machine():
    """Narayanan 2021 also prints petaflop/s of all GPUs: 4.4, 8.8, 18.2, 34.6, 70.8, 143.8, 227.1, 297.4 and more."""
    machine = (4.4, 8.8, 18.2, 34.6, 70.8, 143.8, 227.1, 297.4, 410.2, 502.0)
    rates = [of.value * of.gpus / 1_000 for of in of_table("table 1")]
    assert rates == pytest.approx(machine, rel=0.01)


def test_the_published_models_have_their_parameters():
    """By equation 2 of Narayanan 2021, in billions; the name says them."""
    for name, of in cases().items():
        if of.paper == "llama2024":
            continue
        h, depth = of.hidden, of.layers
        count = 12 * depth * h**2 * (1 + 13 / (12 * h) + (51_200 + 2_048) / (12 * depth * h))
        wanted = float(name.split("B")[0]) if "B" in name else 530
        assert count / 1e9 == pytest.approx(wanted, rel=0.03)


def test_the_published_times_and_rates_of_a_paper_agree():
    """Smith 2022 prints 126, 121 and 113 Tflop/s of a GPU beside the times; equation 3 counts the same operations."""
    for name, rate in (("280 nodes", 126), ("350 nodes", 121), ("420 nodes", 113)):
        of = cases()[name]
        assert of.operations / of.value / of.gpus / 1e12 == pytest.approx(rate, rel=0.01)
        assert of.ours(of.value) == of.value


def test_the_steps_of_llama_have_their_tokens_and_operations():
    """16 M tokens in each; 6 N + 12 L H Q T operations for a token (Chowdhery 2023, appendix B), of all but the input
    embedding."""
    parameters = 405_853_388_800 - 16_384 * 128_256
    for of in of_table("table 4"):
        assert of.batch * of.sequence == 2**24
        a_token = 6 * parameters + 12 * 126 * 16_384 * of.sequence
        assert of.operations == pytest.approx(2**24 * a_token, rel=1e-4)
        assert of.replicas * of.microbatches == of.batch


def test_layouts_fill_the_machine():
    for of in cases().values():
        assert of.replicas * of.tensor * of.context * of.pipeline == of.gpus
        assert of.microbatches * of.replicas * of.microbatch == of.batch
        assert of.layers % (of.pipeline * of.interleave) == (126 if of.paper == "llama2024" else 0)
    here = {name: nodes({"case": name, "model": STATED}) for name in cases()}
    assert [here[name] for name in ("1.7B", "39.1B", "145.6B", "1008B", "420 nodes")] == [4, 8, 8, 64, 35]
    assert here["16,384 GPUs, sequences of 131,072"] == 2 * 8 * 16 // 8
    assert nodes({"case": "7.5B", "model": "twice the replicas"}) == 8


def test_the_points_of_both_forms(study):
    full, few = study.points(False), study.points(True)
    assert [point["case"] for point in full if point["model"] in (STATED, MEMORY)] == [
        name for name, of in cases().items() for model in of.models if model != ATTENTION
    ]
    assert [point["model"] for point in full if point["case"] == "7.5B"] == [STATED, MEMORY, *EXPERIMENTS["7.5B"]]
    assert [point for point in full if point in few] == few


def resolved(case, model=STATED):
    [job] = make({"case": case, "model": model}).resolve(check=False).document["scenario"]["job"]
    return job, job["app"]["train"]


def test_a_step_of_a_case_is_divided_as_published():
    """Eight tensor ranks on a node, four stages of three chunks of five layers; a forward pass is computed again."""
    job, train = resolved("76.1B")
    assert (train["tensor"], train["pipeline"], train["data"], train["microbatches"]) == (8, 4, 4, 28)
    assert (train["microbatch"], train["interleave"], train["gradient"]) == (2, 3, 2)
    assert (train["recompute"], train["zero"], train["merge"], train["overlap"]) == ("full", 0, 1, False)
    assert train["split"] == [5] * 12
    assert (job["ranks"], job["ranks_per_node"]) == (128, 8)
    assert [resolved(f"175B of 12, {how}")[1]["sequence_parallel"] for how in ("interleaved", "whole tensors")] == [
        True,
        False,
    ]


def test_chunks_of_llama_have_one_layer_and_none_at_the_ends():
    """Also where fewer stages are simulated."""
    _, train = resolved("8,192 GPUs")
    assert train["split"] == [0, *[1] * 126, 0]
    assert (train["interleave"], train["recompute"], train["zero"], train["overlap"]) == (8, "none", 1, True)
    _, train = resolved("16,384 GPUs, sequences of 131,072")
    assert (train["pipeline"], train["context"], train["sequence"]) == (2, 16, 131_072)
    assert train["split"] == [0, *[1] * 14, 0]
    assert resolved("8,192 GPUs", "one chunk of layers a stage")[1]["split"] == [7, *[8] * 14, 7]


def test_experiments_differ_from_the_case():
    for case, settings in EXPERIMENTS.items():
        specs = [make({"case": case, "model": model}).resolve(check=False).spec for model in (STATED, *settings)]
        assert len({str(spec) for spec in specs}) == len(specs)


def test_the_time_of_all_microbatches_follows_from_that_of_fewer():
    """By hand: 280 microbatches and 34 stages of three chunks more, where 70 are simulated; without chunks more of the
    pause; sixteen times as many microbatches where each has one of sixteen sequences."""
    point = {"case": "529.6B", "model": STATED}
    assert extent(point) == (35, 70, 3)
    assert whole(point, 1.0) == pytest.approx((280 + 34 / 3) / (70 + 34 / 3))
    assert whole({**point, "model": "one chunk of layers a stage"}, 1.0) == pytest.approx(314 / 104)
    assert whole({"case": "7.5B", "model": STATED}, 1.0) == 1
    assert whole({"case": "7.5B", "model": "microbatches of 1 sequence"}, 1.0) == 1
    long = {"case": "16,384 GPUs, sequences of 131,072", "model": STATED}
    assert whole(long, 1.0) == pytest.approx((16 + 15 / 8) / (8 + 1 / 8))


def test_shares_of_the_peak_fall_with_bytes_and_with_attention():
    """By hand for 1.7B: 2304 x 34 + 5 x 24 x 2048 bytes of a token and layer, twice, at 2,039 GB/s. A model without
    activations would have the same share for all."""
    of, share = cases()["1.7B"], PAPERS["narayanan2021"].efficiency[MEMORY]
    bytes_, operations = 2_304 * 34 + 5 * 24 * 2_048, 24 * 2_304**2 + 4 * 2_048 * 2_304
    seconds = operations / 312e12 / share + 2 * bytes_ / 2.039e12
    assert of.efficiency(MEMORY) == pytest.approx(operations / 312e12 / seconds, rel=1e-3)
    shares = [of.efficiency(MEMORY) for of in of_table("table 1")]
    assert shares == sorted(shares)
    assert {of.efficiency(STATED) for of in of_table("table 1")} == {PAPERS["narayanan2021"].efficiency[STATED]}
    short, _, long = (of.efficiency(ATTENTION) for of in of_table("table 4"))
    part = 12 * 126 * 16_384 * 131_072 * 2**24 / cases()["16,384 GPUs, sequences of 131,072"].operations
    assert long == pytest.approx(1 / (part / 0.35 + (1 - part) / 0.5525), rel=1e-3)
    assert long < short < 0.5525


def run(case, seconds, model=STATED):
    return {"case": case, "model": model, "time_ps": round(seconds * 1e12)}


def seconds_of(case, rate):
    """Of a simulated step whose case has this rate."""
    of = cases()[case]
    return of.operations / (rate * 1e12) / of.gpus / whole({"case": case, "model": STATED}, 1.0)


def test_rows_that_match_and_rows_that_do_not(study):
    fitted = PAPERS["smith2022"].fitted
    runs = [
        run("76.1B", seconds_of("76.1B", 140 / 1.05)),
        run("7.5B", 1.0),
        run("7.5B", 2.0, "twice the replicas"),
        run("420 nodes", 60.0),
        run(fitted, 61.0 / whole({"case": fitted, "model": STATED}, 1.0)),
        run("1008B", seconds_of("1008B", 100.0)),
        run("1008B", seconds_of("1008B", 160.0), MEMORY),
    ]
    rows = study.explain(study.rows(runs))
    assert [row.verdict for row in rows] == ["match", "no match", "no match", "not comparable", "no match", "match"]
    assert [row.kind for row in rows] == ["R", "R", "R", "F", "R", "R"]
    assert {row.tolerance for row in rows} == {TOLERANCE}
    assert [number(row.theirs, row.unit) for row in rows] == ["140.0", "142.0", "44.4", "60.1", "163.0", "163.0"]
    assert [row.ours for row in rows[4:]] == pytest.approx([100, 160])
    assert [bool(row.why) for row in rows] == [False, False, False, False, True, False]
    page = study.page(rows, runs)
    assert page.startswith("## Steps by model and machine\n\n`training`: Odonata ")
    assert "-50.0 %" in page
    assert "fitted" in page
    assert "$" not in page


def test_gains_are_of_the_same_batch(study):
    """A gain that is none is no direction."""
    assert len(gains()) == 8
    for what, faster, slower in gains():
        assert cases()[faster].batch == cases()[slower].batch == int(what.split()[-1])
        assert cases()[faster].value > cases()[slower].value
    runs = [
        run("175B of 12, interleaved", 1.0, MEMORY),
        run("175B of 12", 1.5, MEMORY),
        run("175B of 12, whole tensors", 1.0, MEMORY),
    ]
    assert rates(runs)["175B of 12", MEMORY] == pytest.approx(rates(runs)["175B of 12, interleaved", MEMORY] / 1.5)
    gained = [row for row in study.rows(runs) if row.id == "TR4"]
    assert [(row.ours, row.verdict) for row in gained] == [(pytest.approx(1.5), "direction"), (1.0, "no match")]
    assert [row.theirs for row in gained] == pytest.approx([119 / 82, 119 / 107])
