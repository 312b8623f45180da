"""Names that are imported when they are looked up."""

from __future__ import annotations

from typing import get_args

import pytest

from odonata.lazy import ByName
from odonata.machine.kinds import KINDS as MACHINES
from odonata.scenario.apps.listed import FILES, KINDS, TABLES
from odonata.scenario.routings import ROUTINGS


@pytest.mark.parametrize(("key", "models"), [("name", ROUTINGS), ("kind", MACHINES), *KINDS.items()])
def test_each_name_gives_the_model_that_accepts_it(key: str, models: ByName[type]) -> None:
    accepted = {name: get_args(model.model_fields[key].annotation) for name, model in models.items()}
    assert {name: names for name, names in accepted.items() if name not in names} == {}


@pytest.mark.parametrize("models", [FILES, TABLES])
def test_each_key_gives_the_model_that_has_it(models: ByName[type]) -> None:
    assert [key for key, model in models.items() if key not in model.model_fields] == []


def test_a_name_is_imported_when_it_is_looked_up_and_not_before() -> None:
    table = ByName("odonata", {"there": "units.format_time", "not there": "nowhere.nothing"})
    assert list(table) == ["there", "not there"]
    assert "not there" in table
    assert table["there"](1_000) == "1 ns"
    with pytest.raises(ModuleNotFoundError, match="nowhere"):
        table["not there"]
    with pytest.raises(KeyError):
        table["unknown"]
