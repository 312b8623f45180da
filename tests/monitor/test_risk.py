"""Running jobs by their risk of the long tail, and predictions of those that begin."""

from __future__ import annotations

from types import SimpleNamespace

from odonata.errors import InputError
from odonata.monitor.risk import Predicted, Risks
from odonata.queue.records import Job


class Predictor:
    """Flags runs of more than 4 nodes if half of the machine is busy, and knows no `new`."""

    def predict(self, known):
        if known["job"] == "new":
            raise InputError("not enough data")
        flagged = known["b"] > 0.5 and known["nodes"] > 4
        return SimpleNamespace(flagged=flagged, probability=known["b"], threshold_ps=2e12, median_ps=1e12)


def job(identity, state, nodes, name):
    return Job(id=identity, states=frozenset({state}), nodes=tuple(f"n{n}" for n in range(nodes)), name=name)


def test_by_risk():
    jobs = [
        job("1", "RUNNING", 8, "a"),
        job("2", "RUNNING", 4, "a"),
        job("3", "RUNNING", 8, "new"),
        job("4", "RUNNING", 1, "a"),
        job("5", "PENDING", 8, "a"),
    ]
    risks = Risks(Predictor(), 2)
    risks.look(jobs, 0.6)
    assert risks.counts == {"high": 1, "low": 1, "unknown": 1}
    risks.look(jobs, 0.4)
    assert risks.counts == {"low": 2, "unknown": 1}


def test_each_job_is_predicted_once():
    risks = Risks(Predictor(), 2)
    one, two = job("1", "RUNNING", 8, "a"), job("2", "RUNNING", 4, "a")
    assert risks.look([one], 0.6) == [Predicted("1", 8, 0.6, 0.6, True, 2.0, 1.0, began=False)]
    assert risks.look([one, two], 0.7) == [Predicted("2", 4, 0.7, 0.7, False, 2.0, 1.0, began=True)]
    assert risks.look([one, two], 0.8) == []
