"""Studies do not mix results of several engines, take damaged ones, or overwrite what is not theirs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import odonata as od
from odonata import _core
from odonata.cli.main import main
from odonata.errors import InputError, StaleWarning
from odonata.store import engine
from odonata.study import task
from odonata.study.dataset import NO_RESULT
from odonata.study.results import Results
from odonata.study.sweep import check_place

from .conftest import Here
from .test_results import done, failed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from odonata.study.plan import Plan

    from .conftest import Write

TWO = 'base = "base.toml"\n[sweep]\n"run.seed" = [1, 2]\n'


def swept(plan: Plan, **how: bool) -> od.study.study.Study:  # type: ignore[name-defined]
    from odonata.study.sweep import sweep

    return sweep(plan, Path("out"), Here(), **how)


@pytest.fixture(autouse=True)
def forgotten() -> Iterator[None]:
    yield
    engine.fingerprint.cache_clear()


def other_core(monkeypatch: pytest.MonkeyPatch, digits: str = "0123456789abcdef") -> str:
    monkeypatch.setattr(_core, "__fingerprint__", digits)
    engine.fingerprint.cache_clear()
    return engine.fingerprint()


def test_runs_by_another_engine_are_simulated_again(study: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = study(TWO)
    old = swept(plan)
    assert old.engines == (engine.fingerprint(),)
    new = other_core(monkeypatch)
    with pytest.warns(StaleWarning, match=r"2 runs were kept in `out` by another engine .*\n  hint: --keep-stale"):
        again = swept(plan)
    assert again.engines == (new,)
    assert again.runs["id"].to_list() == old.runs["id"].to_list()
    assert swept(plan).engines == (new,)  # and nothing is stale any more


def test_results_of_a_simulator_that_changed_meanwhile_say_so(study: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches points that failed with no error: `advise` then said that a scenario cannot be simulated: None."""
    before, run = _core.__fingerprint__, task.run

    def by_another_engine(*given: Any) -> Any:
        other_core(monkeypatch)
        try:
            return run(*given)
        finally:
            other_core(monkeypatch, before)

    monkeypatch.setattr(task, "run", by_another_engine)
    made = swept(study(TWO))
    assert made.runs["status"].to_list() == ["failed"] * 2
    assert made.runs["error"].to_list() == [NO_RESULT] * 2


def test_stale_runs_can_be_kept_and_the_study_says_so(
    study: Write, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Catches a study of two engines that looks like one of a single engine."""
    old = swept(study(TWO))
    new = other_core(monkeypatch)
    more = study(TWO.replace("2]", "2, 3]"))
    mixed = swept(more, keep_stale=True)
    assert mixed.runs["engine"].to_list() == [*old.runs["engine"], new]
    assert mixed.engines == tuple(sorted((*old.engines, new)))
    assert main(["compare", "out", "--by", "run.seed", "--job", "target"]) == 0
    assert f"note: 2 engines made the runs of this study: {', '.join(mixed.engines)}" in capsys.readouterr().err
    with pytest.warns(StaleWarning, match="2 runs were kept"):  # it is no finished study of this engine
        assert swept(more).engines == (new,)


def test_a_run_that_fails_now_does_not_stand_beside_its_old_success(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    results = Results(tmp_path)
    results.add(done("x", 5))
    results.flush()
    other_core(monkeypatch)
    results = Results(tmp_path)
    assert (results.statuses(), results.stale()) == ({}, {"x"})
    results.add(failed("x"))
    results.flush()
    for keep_stale in (False, True):
        reread = Results(tmp_path, keep_stale=keep_stale)
        assert (reread.statuses(), reread.stale()) == ({"x": "failed"}, set())
        assert reread.rows(["x"])["run.status"].to_list() == ["failed"]


def test_a_damaged_part_is_an_error_that_names_it_and_no_part_of_a_table(study: Write) -> None:
    """Catches a resumed sweep that makes wrong tables of a damaged part."""
    plan = study(TWO)
    swept(plan)
    (part,) = Path("out/results").iterdir()
    data = part.read_bytes()
    for position in [*range(0, len(data), len(data) // 25), len(data) - 1, len(data) - 6]:
        flipped = bytearray(data)
        flipped[position] ^= 16
        part.write_bytes(flipped)
        with pytest.raises(InputError, match=r"part-000001-\w+.parquet: the file is damaged") as caught:
            swept(plan)
        assert caught.value.hint == "remove the file: its runs are simulated again"
    part.unlink()
    assert swept(plan).runs["status"].to_list() == ["done", "done"]


@pytest.mark.parametrize(
    "name", ["study.toml", "scenario.toml", "runs.parquet", "jobs.parquet", "manifest.json", "walls.parquet"]
)
def test_a_flipped_bit_of_a_study_is_found_or_changes_nothing(study: Write, name: str) -> None:
    swept(study(TWO))

    def everything() -> tuple[object, ...]:
        opened = od.open("out")
        told = {key: value for key, value in opened.manifest.items() if key != "checksum"}
        return opened.runs.to_dicts(), opened.jobs.to_dicts(), told

    whole, file = everything(), Path("out") / name
    data = file.read_bytes()
    noticed = tried = 0
    for position in range(0, len(data), max(1, len(data) // 20)):
        flipped = bytearray(data)
        flipped[position] ^= 1
        file.write_bytes(flipped)
        tried += 1
        try:
            told = everything()
        except InputError as problem:
            noticed += name in str(problem) or "is not the folder of a study" in str(problem)
        else:
            assert told == whole, position
            noticed += name in ("manifest.json", "walls.parquet")  # blanks, and what no table is made of
    assert noticed == tried


def test_another_study_does_not_take_the_folder(study: Write) -> None:
    """Catches the tables of one study that are replaced by those of another."""
    swept(study(TWO))
    before = {path: path.read_bytes() for path in Path("out").glob("*.*")}
    others = [study(TWO, "other.toml"), study('base = "base.toml"\n[sweep]\nrouting = ["fpar"]\n')]
    for other in others:
        with pytest.raises(
            InputError, match=r"`out` is the folder of another study: `study`, axes run\.seed"
        ) as caught:
            swept(other)
        assert "--out" in str(caught.value.hint)
        assert "--force" in str(caught.value.hint)
    assert {path: path.read_bytes() for path in Path("out").glob("*.*")} == before
    check_place(Path("out"), study(TWO.replace("2]", "2, 3]")))  # the same study, changed
    assert swept(others[0], force=True).name == "other"


def test_a_sweep_that_was_killed_says_whose_folder_it_is(study: Write) -> None:
    from odonata.study import dataset

    plan = study(TWO)
    Path("out").mkdir()
    dataset.begin(plan, Path("out"))
    with pytest.raises(InputError, match="another study"):
        swept(study(TWO, "other.toml"))
    with pytest.raises(InputError, match="was interrupted before its tables were written"):
        od.open("out")
    assert swept(plan).finished


def test_files_of_the_user_are_kept(study: Write) -> None:
    plan = study(TWO)
    swept(plan)
    (Path("out") / "notes.txt").write_text("mine")
    (Path("out") / "results" / ".part-000009.parquet.partial-01").write_text("left by a killed sweep")
    swept(plan, force=True)
    assert (Path("out") / "notes.txt").read_text() == "mine"
    assert not list((Path("out") / "results").glob(".*"))
    assert pl.read_parquet("out/runs.parquet").height == 2
