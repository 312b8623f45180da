"""The examples in docs/results.md for DuckDB and pandas, where these are installed."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import odonata as od

DOCUMENT = Path(__file__).parents[2] / "docs" / "results.md"
SCENARIO = """\
system = "tiny"

[[job]]
name = "a"
nodes = 8
app = { pattern = "uniform-random", message = "1 KB", interval = "1 us", messages = 20 }
"""


def test_examples_read_a_run_folder(tmp_path):
    for library in ("duckdb", "pandas", "pyarrow"):
        pytest.importorskip(library)
    (tmp_path / "a.toml").write_text(SCENARIO)
    run = od.run(tmp_path / "a.toml", tmp_path / "run")
    part = DOCUMENT.read_text(encoding="utf-8").partition("## In other tools")[2]
    values, names = [], {}
    for code in re.findall(r"```python\n(.*?)```", part, re.DOTALL):
        for statement in ast.parse(code.replace("RUN/", f"{tmp_path}/run/")).body:
            if isinstance(statement, ast.Expr):
                values.append(eval(ast.unparse(statement), names))
            else:
                exec(ast.unparse(statement), names)
    links, latencies, jobs, column = values
    assert {(name, count) for name, count, _ in links.fetchall()} == set(run.links.group_by("class").len().iter_rows())
    assert latencies.fetchall()[0][1] * 1e6 == pytest.approx(run.messages["latency_ps"].quantile(0.99, "linear"))
    assert jobs["latency_p99_ps"].tolist() == run.jobs["latency_p99_ps"].to_list()
    assert column["unit"] == "1"
