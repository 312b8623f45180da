"""Running jobs by their risk of the long tail."""

from __future__ import annotations

from types import SimpleNamespace

from odonata.errors import InputError
from odonata.monitor.risk import by_risk
from odonata.queue.records import Job


class Predictor:
    """Flags runs of more than 4 nodes if half of the machine is busy, and knows no `new`."""

    def predict(self, known):
        if known["job"] == "new":
            raise InputError("not enough data")
        return SimpleNamespace(flagged=known["b"] > 0.5 and known["nodes"] > 4)


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
    assert by_risk(Predictor(), jobs, 0.6, 2) == {"high": 1, "low": 1, "unknown": 1}
    assert by_risk(Predictor(), jobs, 0.4, 2) == {"low": 2, "unknown": 1}
