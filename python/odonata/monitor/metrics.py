"""The metrics, in the terms of OpenMetrics. No text of a user is in one: labels are ids of jobs and words of this file.

The label is `job_id`, because Prometheus calls what it scrapes a `job`.
"""

from __future__ import annotations

import re
from hashlib import sha256
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, GCCollector, PlatformCollector, ProcessCollector
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prometheus_client.metrics_core import Metric

    from odonata.monitor.state import State

RISKS = ("low", "high", "unknown")
"""Risks of the long tail: below and from the threshold of the predictor on, and jobs that it does not know."""

EVENTS = {
    "samples": "samples of the queue",
    "sample_failures": "samples that failed",
    "record_failures": "times that records could not be written; samples wait for room",
    "records_lost": "samples that were never written, because too many could not be",
    "clock_steps_back": "times that the wall clock was set back",
    "impacts": "simulations of all jobs that ended",
    "impact_failures": "simulations of all jobs that failed, or took too long",
    "advice_failures": "times that the advice file could not be written",
}
"""Events that are counted -> what they are. A counter is `odonata_watch_NAME_total`."""

_NOT_IN_IDS = re.compile(r"[^A-Za-z0-9_.+\[\]-]")
_LONGEST_ID = 64


def label(job: str) -> str:
    """The id of a job as a label: letters, digits and `_.+[]-`, at most 64. An id that has others, or more, ends in a
    hash of it, so that no two ids have the same label.
    """
    safe = _NOT_IN_IDS.sub("_", job)
    if safe == job and 0 < len(job) <= _LONGEST_ID:
        return job
    return f"{safe[: _LONGEST_ID - 9]}-{sha256(job.encode(errors='surrogatepass')).hexdigest()[:8]}"


class Metrics(Collector):
    """The metrics of what is known."""

    def __init__(self, state: State) -> None:
        self._state = state

    def collect(self) -> Iterator[Metric]:
        """Each metric; those that are not known are left out."""
        yield from self._background()
        yield from self._risks()
        yield from self._judgement()
        for name, about in EVENTS.items():
            yield CounterMetricFamily(f"odonata_watch_{name}", f"Number of {about}.", self._state.counts[name])

    def _background(self) -> Iterator[Metric]:
        state = self._state
        if state.sampled is not None:
            about = "When the queue was sampled with success for the last time."
            yield GaugeMetricFamily("odonata_watch_last_sample_timestamp_seconds", about, state.sampled)
        if (of := state.background) is None:
            return
        for name, about, value in (
            ("utilisation_ratio", "Background utilisation b (Salimi Beni 2022, equation 2).", of.b),
            ("nodes_ratio", "Share of nodes with a job that communicates, b1 (equation 1).", of.b1),
            ("nodes_communicating", "Nodes with a job that communicates.", of.nodes_communicating),
            ("nodes", "Nodes of the machine.", of.nodes_total),
            ("jobs", "Running jobs that communicate.", of.jobs_counted),
            ("jobs_of_unknown_state", "Jobs whose state is not known.", sum(of.unknown_states.values())),
        ):
            yield GaugeMetricFamily(f"odonata_background_{name}", about, value)

    def _risks(self) -> Iterator[Metric]:
        if (risks := self._state.risks) is not None:
            jobs = GaugeMetricFamily(
                "odonata_jobs_by_tail_risk", "Running jobs by their risk of the long tail.", labels=["risk"]
            )
            for risk in RISKS:
                jobs.add_metric([risk], risks.get(risk, 0))
            yield jobs

    def _judgement(self) -> Iterator[Metric]:
        if (of := self._state.judgement) is None:
            return
        yield GaugeMetricFamily("odonata_impact_timestamp_seconds", "When all jobs were simulated last.", of.time)
        yield GaugeMetricFamily("odonata_impact_duration_seconds", "How long that took.", of.seconds)
        yield GaugeMetricFamily("odonata_impact_jobs_judged", "Jobs whose slowdown is known.", len(of.jobs))
        yield GaugeMetricFamily("odonata_impact_jobs_not_judged", "Jobs of which too little ended.", of.not_judged)
        slowdown = GaugeMetricFamily(
            "odonata_job_slowdown_ratio",
            "Communication time of a job over that alone.",
            labels=["job_id"],
        )
        low = GaugeMetricFamily(
            "odonata_job_slowdown_low_ratio", "Least slowdown over the assumptions.", labels=["job_id"]
        )
        high = GaugeMetricFamily(
            "odonata_job_slowdown_high_ratio", "Greatest slowdown over the assumptions.", labels=["job_id"]
        )
        by = GaugeMetricFamily(
            "odonata_job_waiting_for_ratio",
            "Share of one job in the time that another waits for others: the greatest of each.",
            labels=["job_id", "by_job_id"],
        )
        for job in {job.job: job for job in of.jobs}.values():
            slowdown.add_metric([label(job.job)], job.slowdown)
            if job.low is not None and job.high is not None:
                low.add_metric([label(job.job)], job.low)
                high.add_metric([label(job.job)], job.high)
            if job.by is not None and job.share is not None:
                by.add_metric([label(job.job), label(job.by)], job.share)
        yield from (slowdown, low, high, by)


def registry(state: State) -> CollectorRegistry:
    """The metrics of what is known, and of this process: its processor time and memory."""
    result = CollectorRegistry()
    result.register(Metrics(state))
    ProcessCollector(registry=result)
    PlatformCollector(registry=result)
    GCCollector(registry=result)
    return result
