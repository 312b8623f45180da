"""Steps of training: the published cases, their scenarios, and rows that match, that do not, and that are fitted."""

import pytest

from odonata.reproduce import find
from odonata.reproduce.markdown import number
from odonata.reproduce.training.steps import FITTED, STATED, TOLERANCE, VARIANTS, VARIED, cases, make


@pytest.fixture(scope="module")
def study():
    return find("training")


def test_the_published_rates_are_those_of_the_whole_machine():
    """Narayanan 2021 also prints petaflop/s of all GPUs: 4.4, 8.8, 18.2, 34.6, 70.8, 143.8, 227.1, 297.4 and 410.2."""
    machine = (4.4, 8.8, 18.2, 34.6, 70.8, 143.8, 227.1, 297.4, 410.2)
    rates = [of.value * of.gpus / 1_000 for of in cases().values() if of.paper == "narayanan2021"]
    assert rates == pytest.approx(machine, rel=0.01)


def test_the_published_models_have_their_parameters():
    """By equation 2 of Narayanan 2021, in billions; the name says them."""
    for name, of in cases().items():
        h, depth = of.hidden, of.layers
        count = 12 * depth * h**2 * (1 + 13 / (12 * h) + (51_200 + 2_048) / (12 * depth * h))
        wanted = float(name.removesuffix("B")) if name.endswith("B") else 530
        assert count / 1e9 == pytest.approx(wanted, rel=0.03)


def test_the_published_times_and_rates_of_a_paper_agree():
    """Smith 2022 prints 126, 121 and 113 Tflop/s of a GPU beside the times; equation 3 counts the same operations."""
    for name, rate in (("280 nodes", 126), ("350 nodes", 121), ("420 nodes", 113)):
        of = cases()[name]
        assert of.operations / of.value / of.gpus / 1e12 == pytest.approx(rate, rel=0.01)
        assert of.ours(of.value) == of.value


def test_layouts_fill_the_machine():
    for of in cases().values():
        assert of.replicas * of.tensor * of.pipeline == of.gpus
        assert of.microbatches * of.replicas == of.batch
        assert of.nodes() * 8 == of.simulated() * of.tensor * of.pipeline
    assert [cases()[name].nodes() for name in ("1.7B", "39.1B", "145.6B", "420 nodes")] == [4, 8, 8, 35]
    assert cases()["39.1B"].nodes(8) == 16


def test_the_points_of_both_forms(study):
    full, few = study.points(False), study.points(True)
    assert [point["case"] for point in full if point["model"] == STATED] == [*cases()]
    assert [point["model"] for point in full if point["case"] == VARIED] == [STATED, *VARIANTS]
    assert [point for point in full if point in few] == few


def test_a_step_of_a_case_is_divided_as_published():
    """Eight tensor ranks on a node, two stages; a forward and two backward passes and one again."""
    resolved = make({"case": "39.1B", "model": STATED}).resolve(check=False)
    [job] = resolved.document["scenario"]["job"]
    train = job["app"]["train"]
    assert (train["tensor"], train["pipeline"], train["data"], train["microbatches"]) == (8, 2, 4, 48)
    assert (train["recompute"], train["zero"], train["merge"]) == ("full", 0, 1)
    assert (job["ranks"], job["ranks_per_node"]) == (64, 8)


def test_variants_differ_from_the_case():
    specs = [make({"case": VARIED, "model": model}).resolve(check=False).spec for model in (STATED, *VARIANTS)]
    assert len({str(spec) for spec in specs}) == len(specs)


def run(case, seconds, model=STATED):
    return {"case": case, "model": model, "time_ps": round(seconds * 1e12)}


def test_rows_that_match_and_rows_that_do_not(study):
    of = cases()["76.1B"]
    seconds = of.operations / (of.value * 1e12) / of.gpus
    runs = [
        run("76.1B", seconds * 1.05),
        run(VARIED, 1.0),
        run(VARIED, 2.0, "twice the replicas"),
        run("420 nodes", 60.0),
        run(FITTED["smith2022"], 61.0),
    ]
    rows = study.rows(runs)
    assert [row.verdict for row in rows] == ["match", "no match", "no match", "not comparable"]
    assert [row.kind for row in rows] == ["R", "R", "R", "F"]
    assert {row.tolerance for row in rows} == {TOLERANCE}
    assert [number(row.theirs, row.unit) for row in rows] == ["140.0", "142.0", "44.4", "60.1"]
    assert rows[0].ours == pytest.approx(of.value / 1.05)
    page = study.page(rows, runs)
    assert page.startswith("# Steps of training\n\nMade by `odonata reproduce training`; do not edit.")
    assert "-50.0 %" in page
    assert "fitted" in page
    assert "$" not in page
