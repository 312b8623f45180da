"""From a study's file to its cases."""

import pytest

from odonata.errors import InputError
from odonata.reproduce.grid import read_cases

STUDY = """
system = "tiny"
ranks = 8
seed = 3
[models.correct]
routing = { name = "fpar" }
[models.other]
routing = "minimal"
[targets]
uniform-random = { pattern = "uniform-random", message = "4 KB" }
[places]
contiguous = { policy = "contiguous" }
[[cases]]
pattern = ["uniform-random"]
place = ["contiguous"]
interval = ["3 us", "1 us"]
background = [0, 130, 520]
background_interval = ["10 us"]
messages = [5, 10]
"""


def test_a_block_is_the_product_of_its_lists():
    cases = read_cases(STUDY, "study.toml", reduced=False)
    assert len(cases) == 2 * 2 * 3 * 2
    assert cases[0].name == "uniform-random/contiguous/3us"
    assert {case.name for case in cases if case.background.percent == 130} == {
        "uniform-random/contiguous/3us/130%@10us",
        "uniform-random/contiguous/1us/130%@10us",
    }
    assert {case.messages for case in cases} == {5, 10}
    assert {case.model for case in cases} == {"correct", "other"}
    assert {case.seed for case in cases} == {3}


def test_more_than_130_percent_comes_from_more_nodes():
    per_leaf = {c.background.percent: c.background.per_leaf for c in read_cases(STUDY, "study.toml", reduced=False)}
    assert per_leaf == {0: 2, 130: 2, 520: 8}


def test_without_reduced_numbers_a_block_is_not_in_the_reduced_form():
    assert read_cases(STUDY, "study.toml", reduced=True) == []
    shorter = read_cases(STUDY + "reduced = [2]", "study.toml", reduced=True)
    assert {case.messages for case in shorter} == {2}


def test_settings_are_varied_on_top_of_the_models():
    text = STUDY + 'models = ["correct"]\nvary = { "routing.threshold" = [0.25, 0.5], "routing" = ["minimal"] }'
    cases = read_cases(text, "study.toml", reduced=False)
    assert cases[0].name == "uniform-random/contiguous/3us/threshold=0.25,routing=minimal"
    assert [key for key, _ in cases[0].settings] == ["routing", "routing.threshold", "routing"]


def test_the_scenario_says_what_the_case_says():
    case = read_cases(STUDY + 'models = ["other"]', "study.toml", reduced=False)[2]
    data = case.scenario().data
    assert data["routing"] == "minimal"
    assert data["run"]["seed"] == 3
    target, background = data["job"]
    assert target["app"] == {"pattern": "uniform-random", "message": "4 KB", "interval": "3 us", "messages": 5}
    assert background["place"] == {"policy": "per-leaf", "groups": "0-2", "per_leaf": 2}
    assert background["app"] == {"pattern": "group-peers", "tgll": "130 %", "interval": "10 us"}
    assert background["background"] is True


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("mesages = [3]", "cases 1: unknown key `mesages`"),
        ('models = ["wrong"]', "cases 1: 'wrong' is missing"),
    ],
)
def test_mistakes_are_named(line, said):
    with pytest.raises(InputError, match=said) as problem:
        read_cases(STUDY + line, "study.toml", reduced=False)
    assert str(problem.value).startswith("study.toml: ")
