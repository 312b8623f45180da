"""`odonata reproduce` as a user types it."""

import dataclasses
import json
from pathlib import Path

import polars as pl
import pytest

from odonata.cli.main import main
from odonata.errors import RunError
from odonata.reproduce import REPRODUCTIONS, find
from odonata.reproduce.page_files import OUTDATED, SAME, SAME_FITS, outdated, read, same
from odonata.reproduce.reproduction import Reproduction
from odonata.reproduce.rows import VERDICTS
from odonata.study.study import open_study

from .conftest import Here

VALIDATION = Path(__file__).parents[2] / "validation"
KANG = (
    *("4kb", "512kb-4mb", "matrix", "matrix-512kb", "broadcast", "background"),
    *("variants", "defects", "calibration", "metric"),
)


def test_list_names_every_study(capsys):
    assert main(["reproduce", "--list", "--json"]) == 0
    listed = {study["id"]: study["title"] for study in json.loads(capsys.readouterr().out)["studies"]}
    others = {f"zhang2018-fig{number}" for number in (2, *range(4, 14))}
    kang = {f"kang2019-{page}" for page in KANG}
    assert set(listed) == {
        *kang,
        "latency-load",
        "league",
        "q-adaptive",
        "booksim-uniform",
        "congestion-control",
        "nccl",
        "training",
        *(f"interference-{of}" for of in ("leonardo", "lumi", "cresco8")),
        *(
            f"desensi2019-{page}"
            for page in ("model", "hosts", "fig3", "fig4", "fig5", "fig7", "buffers", "fig8", "fig9", "fig10")
        ),
        "zhang2018-variants",
        "zhang2018-routers",
        "salimi-beni2022",
        "salimi-beni2022-tail",
        "salimi-beni2022-tapering",
        "salimi-beni2022-mix",
        "salimi-beni2022-on-leonardo",
        "placement-measured",
        "placement-lumi",
        "calibration",
        "steady",
        "steady-rings",
        *others,
    }
    assert main(["reproduce", "--list"]) == 0
    text = capsys.readouterr().out
    assert [line.split()[0] for line in text.splitlines()] == list(listed)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["kang2019-4k"], "unknown reproduction `kang2019-4k`\n  hint: did you mean `kang2019-4kb`?"),
        ([], "which reproduction?"),
        (["kang2019-4kb", "--workers", "0"], "workers"),
        (["kang2019-4kb", "--model", "corect"], "unknown model `corect`\n  hint: did you mean `correct`?"),
        (["kang2019-4kb", "--model", "correct", "--reduced"], "`--model` makes new rows for a full page"),
        (["latency-load", "--model", "correct"], "unknown model `correct`"),
    ],
)
def test_wrong_input_ends_with_status_2(words, said, capsys):
    assert main(["reproduce", *words]) == 2
    captured = capsys.readouterr()
    assert said in captured.err
    assert captured.out == ""


CONTRACT = {"id", "ours", "theirs", "tolerance", "verdict", "why"}


@pytest.mark.parametrize("name", REPRODUCTIONS)
def test_every_reduced_form_prints_rows(name, out, turn, capsys, monkeypatch):
    """What is simulated here is not simulated again by other tests of this session."""
    results = []

    def recorded(*args, run=Reproduction.run, **options):
        results.append(run(*args, **options))
        return results[-1]

    monkeypatch.setattr(Reproduction, "run", recorded)
    monkeypatch.setattr("odonata.study.local.LocalPool", Here)
    with turn(name):
        assert main(["reproduce", name, "--reduced", "--json", "--out", str(out)]) == 0
    printed = json.loads(capsys.readouterr().out)
    (runs,) = results
    assert printed["rows"]
    assert (printed["study"], printed["reduced"], printed["runs"]) == (name, True, len(runs))
    for row in printed["rows"]:
        assert set(row) >= CONTRACT
        assert row["verdict"] in VERDICTS
        assert isinstance(row["why"], str)
    (file,) = map(Path, printed["files"])
    assert file.name == f"{name}-reduced.csv"
    kept = read(VALIDATION, name).reduced
    if kept is not None:
        now = [(row["model"], row["id"], row["what"], row["ours"]) for row in printed["rows"]]
        listed = name in outdated(VALIDATION)
        said = next((line for line in (VALIDATION / OUTDATED).read_text().splitlines() if line.split()[0] == name), "")
        if "not in its reduced form" in said:
            return
        within = SAME if find(name).gather is None else SAME_FITS
        assert same(kept, now, within) != listed, (
            f"the reduced form of {name} gives other numbers than when its page was made: make the page again, or list "
            f"it in validation/{OUTDATED}"
            if not listed
            else f"{name} is listed in validation/{OUTDATED}, and its reduced form gives the numbers of its page"
        )
    if name == "interference-leonardo":  # the measured slowdowns are met, not only printed
        rows = pl.read_csv(file)
        beside = rows.filter(pl.col("what").str.starts_with("all cells"))
        assert "geometric mean error" in beside["what"][0]
        assert beside["ours"][0] < 1.5


def test_a_reproduction_is_a_study_that_is_never_repeated(tmp_path, capsys):
    words = ["reproduce", "zhang2018-fig5", "--reduced", "--out", str(tmp_path), "-j", "1"]
    assert main(words) == 0
    captured = capsys.readouterr()
    assert "24 of 24 points done" in captured.err
    assert "jobs of 16, local links: packets of the busiest port" in captured.out
    rows = (tmp_path / "zhang2018-fig5-reduced.csv").read_bytes()
    study = open_study(tmp_path / "studies" / "zhang2018")
    assert study.runs.height == 24
    assert set(study.axes) >= {"policy", "seed", "jobs"}
    assert study.runs["global_packets"].list.len().to_list() == [5] * 24
    assert main([*words, "-q"]) == 0
    assert open_study(study.path).runs.equals(study.runs)
    capsys.readouterr()
    assert main(words) == 0
    assert "(24 kept); 0 runs simulated" in capsys.readouterr().err
    assert (tmp_path / "zhang2018-fig5-reduced.csv").read_bytes() == rows


def test_a_point_that_fails_is_named(tmp_path, monkeypatch):
    def wrong(run):
        raise ValueError("nothing was delivered")

    failing = dataclasses.replace(find("zhang2018-fig5"), keep=wrong)
    with pytest.raises(RunError, match=r"24 of 24 points failed; policy = level-spread, seed = 10000.*nothing was del"):
        failing.run(Here(), tmp_path, reduced=True)
