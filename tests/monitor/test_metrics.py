"""The metrics: what Prometheus reads, and that no text of a job or a user can change their form."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client.exposition import generate_latest
from prometheus_client.parser import text_string_to_metric_families

from odonata.background.utilisation import Background
from odonata.monitor.metrics import EVENTS, Metrics, label, registry
from odonata.monitor.state import Judgement, Slowdown, State

PACKAGING = Path(__file__).parents[2] / "packaging" / "monitoring"


def full() -> State:
    """A state in which everything is known."""
    state = State(Background(4, 10, 5, 6, 2, 3, {"NEW": 2}), 1.5e9, {"low": 2, "high": 1})
    state.judgement = Judgement(1.5e9, 12.0, (Slowdown("7", 4, 1.5, 1.1, 2.0, "8", 0.9),), 1)
    state.counts["samples"] = 3
    return state


def samples(state: State) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    text = generate_latest(registry(state)).decode()
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        if sample.name.startswith("odonata_")
    }


def test_values():
    of = samples(full())
    assert of["odonata_background_utilisation_ratio", ()] == pytest.approx(0.4 * 5 / 6)
    assert of["odonata_background_jobs_of_unknown_state", ()] == 2
    assert of["odonata_jobs_by_tail_risk", (("risk", "high"),)] == 1
    assert of["odonata_jobs_by_tail_risk", (("risk", "unknown"),)] == 0
    assert of["odonata_job_slowdown_ratio", (("job_id", "7"),)] == 1.5
    assert of["odonata_job_waiting_for_ratio", (("by_job_id", "8"), ("job_id", "7"))] == 0.9
    assert of["odonata_watch_samples_total", ()] == 3
    assert {name for name, _ in samples(State())} == {f"odonata_watch_{name}_total" for name in EVENTS}


ids = st.text(min_size=1, max_size=80)


@given(ids, ids)
def test_ids_of_jobs_add_nothing(job, by):
    state = full()
    state.judgement = Judgement(1.0, 1.0, (Slowdown(job, 4, 1.5, 1.1, 2.0, by, 0.9),), 0)
    assert re.fullmatch(r"[A-Za-z0-9_.+\[\]-]{1,64}", label(job))
    assert len(samples(state)) == len(samples(full()))
    expected = (("by_job_id", label(by)), ("job_id", label(job)))
    assert samples(state)["odonata_job_waiting_for_ratio", expected] == 0.9


def test_no_two_ids_have_one_label():
    ids = ["12:3", "12/3", "12_3", "x" * 80, "x" * 81, "", "_"]
    assert len({label(job) for job in ids}) == len(ids)
    state = full()
    state.judgement = Judgement(1.0, 1.0, tuple(Slowdown(job, 4, 1.5, 1.1, 2.0, None, None) for job in ids), 0)
    assert sum(name == "odonata_job_slowdown_ratio" for name, _ in samples(state)) == len(ids)


def names() -> set[str]:
    result = {"process_resident_memory_bytes"}
    for family in Metrics(full()).collect():
        result |= {sample.name for sample in family.samples}
    return result


def test_alerts_and_panels_name_metrics_that_exist():
    texts = [(PACKAGING / "alerts.yml").read_text()]
    dashboard = json.loads((PACKAGING / "grafana.json").read_text())
    texts += [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
    used = {name for text in texts for name in re.findall(r"\b(?:odonata|process)_[a-z0-9_]+", text)}
    assert used <= names()
    assert len(used) > 10


@pytest.mark.skipif(shutil.which("promtool") is None, reason="promtool is missing (make system-deps)")
def test_what_prometheus_says_of_them():
    said = subprocess.run(
        ["promtool", "check", "metrics"], input=generate_latest(registry(full())), capture_output=True, check=False
    )
    assert (said.returncode, said.stdout + said.stderr) == (0, b"")
    said = subprocess.run(["promtool", "check", "rules", PACKAGING / "alerts.yml"], capture_output=True, check=False)
    assert said.returncode == 0, said.stderr
