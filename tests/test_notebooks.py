"""The notebooks run from the first cell to the last, and what they show of objects is escaped."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

import odonata as od
from odonata.errors import InputError

if TYPE_CHECKING:
    from odonata.store import Run
    from odonata.study.study import Study

ROOT = Path(__file__).parents[1]
NOTEBOOKS = sorted((ROOT / "docs/notebooks").glob("*.ipynb"))
HOSTILE = "<script>alert(1)</script>"
APP = {"pattern": "uniform-random", "message": "4 KB", "interval": "2 us", "messages": 4}
JOBS = [
    {"name": "a", "nodes": 8, "app": APP},
    {"name": "b", "nodes": 8, "app": {"collective": "barrier"}, "background": True},
]
DATA = {"system": "tiny", "job": JOBS}


@pytest.fixture(scope="module")
def study() -> Study:
    axes = {"job.a.place": ["contiguous", "random"], "run.seed": [1, 2, 3]}
    return od.sweep(DATA, axes, workers=1)


@pytest.fixture(scope="module")
def run() -> Run:
    return od.run(DATA)


def test_there_are_three_notebooks() -> None:
    assert [file.stem for file in NOTEBOOKS] == ["a-study", "first-run", "incast-in-motion"]


# Jupyter's libraries warn of their own futures.
@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("file", NOTEBOOKS, ids=lambda file: file.stem)
def test_a_notebook_runs(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed")
    nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed")
    pytest.importorskip("ipykernel", reason="ipykernel is not installed")
    for name in ("pandas", "xarray"):
        pytest.importorskip(name, reason=f"{name} is not installed")
    monkeypatch.setenv("MPLBACKEND", "module://matplotlib_inline.backend_inline")
    monkeypatch.setenv("PYTHONPATH", ":".join(path for path in sys.path if path))
    for variable in ("IPYTHONDIR", "JUPYTER_RUNTIME_DIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR"):
        monkeypatch.setenv(variable, str(tmp_path / variable.lower()))
    book = nbformat.read(file, as_version=4)
    nbformat.validate(book)
    nbclient.NotebookClient(book, timeout=120, resources={"metadata": {"path": str(tmp_path)}}).execute()
    shown = [output for cell in book.cells for output in cell.get("outputs", ())]
    assert not [output for output in shown if output.output_type in ("error", "stream")]
    assert sum("text/html" in output.get("data", {}) for output in shown) >= 1
    assert any("image/png" in output.get("data", {}) for output in shown)


def test_a_scenario_is_a_table_of_its_jobs() -> None:
    shown = od.Scenario.of({**DATA, "title": HOSTILE})._repr_html_()
    assert HOSTILE not in shown
    assert "&lt;script&gt;" in shown
    assert "2 jobs on tiny" in shown
    assert shown.count("<tr>") == 3
    assert "uniform-random of 4 KB" in shown
    assert shown.count("background") == 1


def test_a_scenario_of_many_jobs_is_cut() -> None:
    jobs = [{"name": f"j{number}", "nodes": 2, "app": {"collective": "barrier"}} for number in range(1, 16)]
    jobs += [{"name": f"k{number}", "nodes": 2, "app": {"collective": "barrier"}} for number in range(10)]
    shown = od.Scenario.of({"system": "kang2019", "job": jobs})._repr_html_()
    assert "... and 5 jobs more" in shown
    assert shown.count("<tr>") == 21


def test_a_scenario_that_is_wrong_says_why() -> None:
    shown = od.Scenario.of(DATA).set("job.a.nodes", 800)._repr_html_()
    assert "cannot be simulated" in shown
    assert "<table>" not in shown


def test_a_study_is_a_table_of_medians(study: Study) -> None:
    shown = study._repr_html_()
    assert "6 of 6 points done" in shown
    assert "<td" in shown
    assert "contiguous" in shown


def test_an_outcome_is_a_table_of_its_cases() -> None:
    from odonata.scheduler.outcome import Case, Outcome

    values = dict.fromkeys(Case.__dataclass_fields__, 1)
    case = Case(**{**values, "case": HOSTILE, "stream": "s", "drift": None})
    import polars as pl

    shown = Outcome("x", (HOSTILE,), (case,), (), pl.DataFrame())._repr_html_()
    assert "<table>" in shown
    assert HOSTILE not in shown


def test_tables_of_pandas_need_no_pyarrow(run: Run, study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pandas", reason="pandas is not installed")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    for table, frame in (
        (run.jobs, run.to_pandas()),
        (run.links, run.to_pandas("links")),
        (study.jobs, study.to_pandas()),
    ):
        assert list(frame.columns) == table.columns
        assert len(frame) == table.height
    jobs = run.to_pandas()
    assert jobs["latency_mean_ps"].iloc[0] == run.jobs["latency_mean_ps"][0]
    assert jobs["name"].tolist() == ["a", "b"]
    assert np.isnan(jobs["slowdown"].iloc[0])


def test_arrays_of_xarray_have_the_axes(study: Study) -> None:
    pytest.importorskip("xarray", reason="xarray is not installed")
    arrays = study.to_xarray(["latency_mean_ps", "slowdown"])
    assert dict(arrays.sizes) == {"job": 2, "job.a.place": 2, "run.seed": 3}
    for row in study.jobs.filter(name="a").iter_rows(named=True):
        chosen = {"job": "a", "job.a.place": row["job.a.place"], "run.seed": row["run.seed"]}
        assert float(arrays["latency_mean_ps"].sel(chosen)) == row["latency_mean_ps"]
    assert np.isnan(arrays["slowdown"]).all()
    with pytest.raises(InputError, match="latency_mean"):
        study.to_xarray(["latency_men_ps"])


@pytest.mark.parametrize("library", ["pandas", "xarray"])
def test_what_is_missing_is_named(study: Study, library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(InputError, match=library) as missing:
        study.to_pandas() if library == "pandas" else study.to_xarray()
    assert "odonata[notebook]" in (missing.value.hint or "")


def test_keys_that_vary_together_are_one_dimension() -> None:
    """Of two keys in [zip], the first names the dimension if its values differ; else its values are numbered."""
    pytest.importorskip("xarray", reason="xarray is not installed")
    messages = [1, 2, 3]
    for seeds, dimension in (([4, 5, 6], "run.seed"), ([4, 4, 5], "run.seed (number)")):
        study = od.sweep({"base": DATA, "zip": {"run.seed": seeds, "job.a.app.messages": messages}}, workers=1)
        arrays = study.to_xarray(["messages_delivered"])
        assert dict(arrays.sizes) == {"job": 2, dimension: 3}
        assert arrays["job.a.app.messages"].values.tolist() == messages
        assert arrays["messages_delivered"].sel(job="a").values.tolist() == [8.0, 16.0, 24.0]
