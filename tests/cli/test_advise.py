"""`odonata advise` as a whole command."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.advice.conftest import INTERFERENCE, Inline

import odonata as od

if TYPE_CHECKING:
    from tests.cli.conftest import Command

    from odonata.study.ledger import Ledger

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


def test_a_budget_ends_the_search_and_the_same_command_continues(
    odonata: Command, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The clock of the sweeps is moved, so that the time is used up after a given number of runs."""
    workers = Late(after=6)
    monkeypatch.setattr("odonata.cli.sweep.backend_of", lambda *_: workers)
    Path("case.toml").write_text(INTERFERENCE)
    wanted = ("advise", "case.toml", "--jobs", "target", "--finalists", "1", "--budget", "1e6 s", "--quiet")
    status, out, err = odonata(*wanted, "--json", "--write", "better.toml")
    assert status == 0, err
    assert err == "the search is not complete, so `better.toml` is not written\n"
    told = json.loads(out)
    assert not told["complete"]
    assert told["untried"] > 0
    assert told["tried"] == len(told["so_far"]) > 0
    assert told["findings"] == []
    workers.after = 1
    status, out, _ = odonata(*wanted)
    words = " ".join(out.split())
    assert f" of {told['tried'] + told['untried']} remedies were not tried. The same command continues." in words
    assert "Best so far: " in words
    rest, whole = Inline(), Inline()
    monkeypatch.setattr("odonata.cli.sweep.backend_of", lambda *_: rest)
    _, resumed, _ = odonata(*wanted, "--json")
    monkeypatch.setattr("odonata.cli.sweep.backend_of", lambda *_: whole)
    _, fresh, _ = odonata(*wanted, "--json", "--out", "other")
    assert resumed == fresh
    assert json.loads(fresh)["complete"]
    assert rest.simulated == whole.simulated - workers.simulated


class Late(Inline):
    """After so many runs of a sweep, its time is used up."""

    def __init__(self, after: int) -> None:
        super().__init__()
        self.after = after

    def run(self, ledger: Ledger) -> None:
        ledger.until, before = None, self.simulated
        take = ledger.take

        def taken(count: int, worth_s: float) -> list[int]:
            if self.simulated - before >= self.after:
                ledger.until = 0.0
                ledger.flush()
            return take(1, worth_s)

        ledger.take = taken  # type: ignore[method-assign]
        super().run(ledger)


def test_a_budget_that_is_too_short_for_one_run_is_an_error(
    odonata: Command, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Catches a budget that does not reach the workers."""
    monkeypatch.setattr("odonata.cli.sweep.backend_of", lambda *_: Inline())
    Path("case.toml").write_text(INTERFERENCE)
    status, out, err = odonata("advise", "case.toml", "--budget", "1 ns", "--quiet")
    assert (status, out) == (1, "")
    assert err == (
        "error: the time is used up before the scenario as it is has been simulated\n  hint: a larger `--budget`\n"
    )


def test_a_wrong_budget_is_refused(odonata: Command, here: Path) -> None:
    for wrong, said in (("5", "has no unit"), ("0 s", "longer than 0"), ("soon", "expected a time")):
        status, _, err = odonata("advise", "tiny.toml", "--budget", wrong)
        assert status == 2
        assert "`--budget`" in err
        assert said in err
        assert not Path("studies").exists()


def test_the_best_of_the_first_few_is_told_at_once(
    odonata: Command, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("odonata.cli.sweep.backend_of", lambda *_: Inline())
    Path("case.toml").write_text(INTERFERENCE)
    status, _, err = odonata("advise", "case.toml", "--jobs", "target", "--finalists", "1")
    assert status == 0, err
    lines = [line for line in err.splitlines() if line.startswith("so far")]
    assert lines[0].startswith("so far, the best of 8 remedies: job.target.place = ")
    assert lines[0].endswith("(1 seed)")
    assert len(lines) > 2


@pytest.mark.parametrize("options", [(), ("--quiet",)])
def test_interrupted_it_says_that_the_same_command_continues_and_it_does(
    odonata: Command, here: Path, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...]
) -> None:
    Path("case.toml").write_text(INTERFERENCE)
    first, rest, whole = Inline(stop_after=12), Inline(), Inline()
    monkeypatch.setattr("odonata.cli.sweep.backend_of", lambda *_: first)
    status, out, err = odonata("advise", "case.toml", *options)
    assert (status, out) == (130, "")
    assert err.endswith(
        "finished runs are kept in studies/case-advice; the same command continues\nerror: interrupted\n"
    )
    monkeypatch.setattr("odonata.cli.sweep.backend_of", lambda *_: rest)
    status, resumed, _ = odonata("advise", "case.toml", *options)
    assert status == 0
    monkeypatch.setattr("odonata.cli.sweep.backend_of", lambda *_: whole)
    _, fresh, _ = odonata("advise", "case.toml", "--out", "other", *options)
    assert resumed == fresh
    assert rest.simulated == whole.simulated - 12


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
