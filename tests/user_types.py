"""A user's file: type checkers accept it as it is. `make lint-python` checks it; it is not run.

A line that is wrong is marked, and a mark without an error is an error too.
"""

from pathlib import Path
from typing import Any, TypedDict

import odonata as od


class Job(TypedDict):
    """Nothing says that a job has to be a plain dictionary."""

    name: str
    nodes: int
    app: dict[str, Any]


jobs: list[Job] = [{"name": "a", "nodes": 8, "app": {"collective": "barrier"}}]
data = {"system": "tiny", "job": jobs, "run": {"seed": 1}}
scenario: od.Scenario = od.Scenario.of(data, folder=Path())
loaded: od.Scenario = od.load({"system": "tiny", "job": jobs}, {"run.seed": 3}, folder=".")
run: od.Run = od.run(data)
study: od.Study = od.sweep(data, {"run.seed": range(3)})
both: od.Study = od.sweep({"base": data, "sweep": {"run.seed": [1, 2]}})
found = od.explain(data).jobs
best = od.advise(data).best
outcome = od.schedule({"system": "tiny"})
od.run(3)  # type: ignore[arg-type]
od.load(["system"])  # type: ignore[arg-type]
od.Scenario.of("system")  # type: ignore[arg-type]
