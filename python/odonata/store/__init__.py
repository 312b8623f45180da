"""Run folders: what is in them, writing and reading them.

```
scenario.toml     as it was given, overrides included
resolved.json     every default filled in, and the specification that the core got
manifest.json     id, versions, seed, totals; the columns with units; and all that differs from run to run:
                  the machine, the wall time
jobs.parquet      messages.parquet      links.parquet      counters.parquet
```

The same scenario and version give the same bytes in every file but `manifest.json`. A folder is written under
another name beside its place and renamed when it is complete, so one that has its name is finished. If a run is there
already, its files are replaced one by one and other files are kept; without its manifest the folder is not finished.

Every file has its SHA-256 in the manifest, and the manifest one of its own values. A folder of an older format opens:
columns that came later (`Column.since`) are null.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from odonata.store.columns import COLUMNS, TABLES, Column, columns_of

if TYPE_CHECKING:
    from odonata.store.read import open_run
    from odonata.store.result import Run

__all__ = ["COLUMNS", "TABLES", "Column", "Run", "columns_of", "open_run"]

_LAZY = {"Run": "odonata.store.result", "open_run": "odonata.store.read"}


def __getattr__(name: str) -> Any:
    # The registry is all that `odonata show columns` needs; what reads and writes brings polars with it.
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name)
    from importlib import import_module

    return getattr(import_module(_LAZY[name]), name)
