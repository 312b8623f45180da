"""A process beside a real cluster, for weeks: it samples the queue, keeps records, and exports metrics for Prometheus.

`watching.py` is its loop, `state.py` what is known now, `metrics.py` the metrics, `judging.py` the simulation of all
jobs in a process of its own, `risk.py` which running jobs may fall into the long tail, `advising.py` the file that
scripts of Slurm read at submission, `records.py` the files. `week.py` says what the records of a week say: `lost.py`
what jobs lost, `right.py` how right predictions were, `week_text.py` both as text and as a page.
"""

from odonata.monitor.watching import Watching

__all__ = ["Watching"]
