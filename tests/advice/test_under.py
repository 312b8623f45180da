"""Remedies under other assumptions, on a case whose answer is known."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from tests.advice.conftest import INTERFERENCE, Inline

from odonata.advice.advising import find
from odonata.advice.alternatives import read_alternatives
from odonata.advice.sentences import as_text, sentences
from odonata.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from odonata.advice import Advice
    from odonata.scenario import Scenario

    Write = Callable[[str], Scenario]

KEYS = {"tgll": "app.tgll", "groups": "place.groups"}
FEW = INTERFERENCE + 'finalists = 1\njobs = ["target"]\n'


def study(folder: Path, values: dict[str, float | str], key: str = "tgll", base: str = "case.toml") -> Path:
    path = folder / "traffic.toml"
    path.write_text(
        f'base = "{base}"\n[sweep]\n"run.seed" = [1, 2]\n[zip]\n"sources.traffic" = {json.dumps(list(values))}\n'
        f'"job.background.{KEYS[key]}" = {json.dumps(list(values.values()))}\n'
    )
    return path


def advised(case: Scenario, folder: Path, values: dict[str, float | str], key: str = "tgll") -> Advice:
    return find(case, Inline(), folder / "study", alternatives=read_alternatives(study(folder, values, key), case))


def test_a_remedy_that_helps_under_all_assumptions_is_advised(written: Write, tmp_path: Path) -> None:
    case = written(FEW)
    alone = find(case, Inline(), tmp_path / "alone")
    advice = advised(case, tmp_path, {"usual": 1.3, "worse": 1.5})
    assert advice.best is not None
    assert [under.name for under in advice.under] == ["worse"]  # the usual traffic is the scenario as it is
    assert advice.findings == alone.findings
    assert [finding.remedy for finding in advice.under[0].findings] == [finding.remedy for finding in advice.findings]
    (usual, worse) = advice.everywhere(0)
    assert usual.helps
    assert worse.helps
    assert worse.effects[0].before_ps != usual.effects[0].before_ps
    assert advice.runs == alone.runs + 16  # the present state and the finalist, with eight seeds
    assert any(line.startswith("It helps under all 2 assumptions; `target`: worse -") for line in sentences(advice))
    entry = advice.as_dict()["findings"][0]
    assert entry["holds"]
    assert [(assumed["assumption"], assumed["helps"]) for assumed in entry["under"]] == [("worse", True)]
    # The same study again simulates nothing.
    again = Inline()
    read = read_alternatives(tmp_path / "traffic.toml", case)
    assert find(case, again, tmp_path / "study", alternatives=read).under == advice.under
    assert again.simulated == 0


def test_a_remedy_that_helps_under_some_assumptions_only_is_not(written: Write, tmp_path: Path) -> None:
    case = written(FEW)
    advice = advised(case, tmp_path, {"usual": "0-1", "there": "2-3"}, "groups")  # where the remedy would go
    assert advice.findings[0].helps
    assert not advice.under[0].findings[0].helps
    assert advice.best is None
    assert advice.changed is None
    text = as_text(advice)
    assert "No remedy makes `target` faster beyond its interval under all 2 assumptions." in text
    assert "Helps only under the scenario's own assumptions: " in text
    assert "helps under some" in text


def test_a_study_of_something_else_is_refused(written: Write, tmp_path: Path) -> None:
    case = written(FEW)
    (tmp_path / "other.toml").write_text(FEW)
    with pytest.raises(InputError, match="the study is of another scenario") as caught:
        read_alternatives(study(tmp_path, {"worse": 1.5}, base="other.toml"), case)
    assert "traffic.toml" in str(caught.value)
    with pytest.raises(InputError, match="no other assumption than the scenario"):
        read_alternatives(study(tmp_path, {"usual": 1.3}), case)
