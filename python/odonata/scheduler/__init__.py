"""Streams of jobs over days: a scheduler, placement policies, and contention that makes jobs slower.

`schedule(file)` simulates a stream. `backfill.py` has the rules of the scheduler, `timeline.py` the schedule of one
stream, `window.py` the packet-level windows that give jobs their rates, and `scheduling.py` runs windows on workers.
"""

from odonata.scheduler.outcome import Outcome
from odonata.scheduler.python import schedule

__all__ = ["Outcome", "schedule"]
