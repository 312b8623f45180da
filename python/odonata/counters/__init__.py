"""Counters of NICs over time, and the traffic of jobs that follows from them: measured, where a book assumes it.

`series.py` is what all forms become; `csv_form.py`, `ldms.py`, `prometheus.py` and `stamped.py` read them, `reading.py`
tells them apart. `traffic.py` puts counters and past jobs together, `book.py` writes a traffic book.
"""

from odonata.counters.book import as_book
from odonata.counters.prometheus import ask
from odonata.counters.reading import read_counters
from odonata.counters.series import Counters, Nic
from odonata.counters.traffic import JobTraffic, measured

__all__ = ["Counters", "JobTraffic", "Nic", "as_book", "ask", "measured", "read_counters"]
