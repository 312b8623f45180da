"""`odonata advise` as a whole command."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from tests.advice.conftest import INTERFERENCE, Inline

import odonata as od

if TYPE_CHECKING:
    import pytest
    from tests.cli.conftest import Command

#: Routings only, which are few, and one finalist.
FEW = ("--allow", "routing", "--jobs", "target", "--finalists", "1", "-j", "1")


def test_the_best_remedy_is_told_and_written(odonata: Command, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The search of the command is that of `odonata.advice`, in its folder; here without processes, which take long."""
    monkeypatch.setattr("odonata.cli.sweep.backend_of", lambda *_: Inline())
    Path("case.toml").write_text(INTERFERENCE)
    status, out, err = odonata("advise", "case.toml", *FEW, "--write", "better.toml", "--json")
    assert status == 0, err
    told = json.loads(out)
    assert told["victim"] == "target"
    assert told["helps"]
    first = told["findings"][0]
    assert first["helps"]
    assert first["effects"][0]["ratio_interval"][1] < 1
    assert "case-advice: " in err
    better = od.load("better.toml")
    for change in first["changes"]:
        key = change["key"].removeprefix("job.target.")
        owner = better.data if key == change["key"] else better.data["job"][0]
        assert owner[key] == change["value"]
    text = Path("better.toml").read_text()
    assert 'nodes = 8\nplace = { nodes = "1,3,5,7,9,11,13,15" }' in text  # the rest is as written
    status, out, err = odonata("advise", "case.toml", *FEW, "--quiet")
    assert (status, err) == (0, "")
    assert first["remedy"] in out
    assert f"# change of the scenario\n{first['toml']}" in out


def test_a_file_that_exists_is_kept(odonata: Command, here: Path) -> None:
    Path("better.toml").write_text("mine")
    status, _, err = odonata("advise", "tiny.toml", "--write", "better.toml")
    assert status == 2
    assert "`better.toml` already exists" in err
    assert not Path("studies").exists()


def test_wrong_options_name_what_there_is(odonata: Command, here: Path) -> None:
    status, _, err = odonata("advise", "tiny.toml", "--seeds", "3")
    assert (status, err) == (
        2,
        "error: tiny.toml with -s advise.seeds: `seeds`: expected a number from 8 on, found `3`\n",
    )
    status, _, err = odonata("advise", "tiny.toml", "--victim", "targt")
    assert status == 2
    assert "did you mean `target`" in err
    status, _, err = odonata("advise", "tiny.toml", "--allow", "placment")
    assert status == 2
    assert "did you mean `placement`" in err
