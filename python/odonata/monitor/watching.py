"""The loop: a sample at a time, and between them a look at the simulation of all jobs."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from odonata.background.utilisation import background, of_listing
from odonata.background.watch import Recorder, Sample, watch
from odonata.errors import OdonataError
from odonata.monitor.records import Records
from odonata.monitor.risk import Risks
from odonata.monitor.state import State
from odonata.queue.snapshot import read_queue

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from datetime import timedelta
    from pathlib import Path
    from typing import Any

    from odonata.background.utilisation import Background
    from odonata.monitor.advising import Advising
    from odonata.monitor.judging import Judging
    from odonata.monitor.risk import Predicted
    from odonata.prediction.predictor import Predictor
    from odonata.queue.listing import File

LOOK_S = 1.0
"""Seconds between two looks at the simulation of all jobs."""


@dataclass
class Watching:
    """Watches a cluster.

    Attributes
    ----------
    folder
        Of the records.
    keep
        How long records are kept.
    counting
        Arguments of `odonata.cluster.background`.
    """

    folder: Path
    keep: timedelta
    queue: File | None
    nodes: File | None
    counting: dict[str, Any]
    predictor: Predictor | None = None
    judging: Judging | None = None
    advising: Advising | None = None
    publish: Callable[[], None] = lambda: None
    """Called when something new is known."""
    state: State = field(default_factory=State)
    now: Callable[[], float] = time.time
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    _records: Records | None = None
    _risks: Risks | None = None
    _predicted: list[Predicted] = field(default_factory=list)
    _troubles: list[str] = field(default_factory=list)

    def samples(self, every_s: float, count: int | None = None) -> Iterator[tuple[Sample, list[str]]]:
        """Samples, one every `every_s` seconds, each with what went wrong since the last one. A failure of the first
        sample is one of these too: the workload manager may start later.
        """
        try:
            for sample in watch(
                every_s, self._measure, count=count, patient=True, now=self.now, clock=self.clock, sleep=self._sleep
            ):
                yield sample, self._take(sample)
        finally:
            if self.judging is not None:
                self.judging.stop()

    def _measure(self) -> Background:
        if self.predictor is None:
            return background(self.queue, nodes=self.nodes, **self.counting)
        if self._risks is None:
            self._risks = Risks(self.predictor, self.counting["least_nodes"])
        jobs = read_queue(self.queue)
        busy = of_listing(jobs, self.queue, self.nodes, **self.counting)
        self._predicted += self._risks.look(jobs, busy.b)
        self.state.risks = self._risks.counts
        return busy

    def _take(self, sample: Sample) -> list[str]:
        """Keeps a sample and publishes it. What went wrong since the one before."""
        state = self.state
        state.counts["samples"] += 1
        state.background = sample.background
        if sample.background is not None:
            state.sampled = sample.time.timestamp()
        else:
            state.risks = None
            state.counts["sample_failures"] += 1
            self._troubles.append(f"no sample: {sample.error}")
        if sample.clock_back_s:
            state.counts["clock_steps_back"] += 1
            self._troubles.append(f"the clock went back by {sample.clock_back_s:,.1f} s; the sample is kept")
        self._record(sample)
        self._advise(sample)
        self.publish()
        troubles, self._troubles = self._troubles, []
        return troubles

    def _record(self, sample: Sample) -> None:
        if self._records is None:
            self._records = Records(Recorder(self.folder, process=sample.time), self.keep)
        why, lost = self._records.add(sample)
        if why is not None:
            self.state.counts["records_lost"] += lost
            self.state.counts["record_failures"] += 1
            self._troubles.append(f"the sample is written later: {why}")
        predicted, self._predicted = self._predicted, []
        if (why := self._records.add_predictions(sample.time, predicted)) is not None:
            self.state.counts["record_failures"] += 1
            self._troubles.append(f"the predictions are written later: {why}")

    def _advise(self, sample: Sample) -> None:
        """Writes the advice file. An old one stays, and says itself for how long it holds."""
        if self.advising is None or sample.background is None:
            return
        of = sample.background
        try:
            self.advising.write(self.queue, self.nodes, of.b, of.nodes_total, self.predictor, sample.time.timestamp())
        except OdonataError as problem:
            self.state.counts["advice_failures"] += 1
            self._troubles.append(f"no advice for submissions: {problem}")

    def _sleep(self, seconds: float) -> None:
        """Sleeps, and looks meanwhile after the simulation of all jobs."""
        end = self.clock() + seconds
        while self._look() and (left := end - self.clock()) > 0:
            self.sleep(min(left, LOOK_S))
        if (left := end - self.clock()) > 0:
            self.sleep(left)

    def _look(self) -> bool:
        """Whether there is anything to look after."""
        if self.judging is None:
            return False
        judgement = self.judging.poll()
        if judgement is not None:
            if self._records is not None and (why := self._records.add_judgement(judgement)) is not None:
                self.state.counts["record_failures"] += 1
                self._troubles.append(why)
            self.state.judgement = judgement
            self.state.counts["impacts"] += 1
            self.publish()
        if self.judging.error is not None:
            self.state.counts["impact_failures"] += 1
            self._troubles.append(self.judging.error)
        return True
