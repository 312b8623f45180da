"""Run folders: their contents, writing and reading them.

```
scenario.toml     the scenario as given, with overrides
resolved.json     the scenario with every default filled in, and the specification for the core
manifest.json     id, versions, seed, totals; the columns with units; the summary of the jobs; and values that differ
                  between repetitions: the computer, the wall time, the places of inputs (`inputs.py`)
jobs.parquet      messages.parquet      links.parquet      iterations.parquet
ranks.parquet     counters.parquet      nics.parquet      nic_messages.parquet
blame.parquet     roots.parquet         series.parquet     routes.parquet
operations.parquet    flow_times.parquet (if jobs send lists of flows)
```

The same scenario and version give the same bytes in every file but `manifest.json`. A folder is written under another
name in the same parent and renamed when it is complete, so a folder with its final name is finished. An existing run is
replaced file by file, and other files are kept; a folder without its manifest is not finished. The manifest has the
SHA-256 of every file, and a checksum of its own values. A folder of another
format is refused.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from odonata.lazy import lazily
from odonata.store.columns import COLUMNS, TABLES, Column, columns_of

if TYPE_CHECKING:
    from odonata.store.read import open_run
    from odonata.store.result import Run

__all__ = ["COLUMNS", "TABLES", "Column", "Run", "columns_of", "open_run"]

__getattr__ = lazily(__name__, {"read": ("open_run",), "result": ("Run",)})
