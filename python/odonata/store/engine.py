"""The engine of results: a fingerprint of the core and of the package's sources that decide results.

The id of a run identifies what is simulated; the fingerprint identifies the code that simulated it. Equal ids with
equal fingerprints mean equal results. It has two parts, `CORE-PACKAGE`:

- the core: a hash of its Rust sources and of `Cargo.lock`, computed when it is built (`crates/python/build.rs`);
- the package: a hash of the Python sources under `SOURCES`, from the scenario to the specification and from the
  result of the core to the tables. Plots, statistics, commands, texts and the writing of results do not count. Data
  files (machines, layouts) do not count either: their contents are in the specification, and so in the id.

It is the same for an editable build and for a wheel of the same sources, with any profile and on any machine.
"""

from __future__ import annotations

import hashlib
from functools import lru_cache
from pathlib import Path

SOURCES = (
    "core_options.py",
    "units.py",
    "reading.py",
    "compressed.py",
    "document",
    "machine",
    "packets.py",
    "placement",
    "routing",
    "scenario",
    "runner.py",
    "steady",
    "store/costs.py",
    "store/flows.py",
    "store/frame.py",
    "store/ideal.py",
    "store/latency.py",
    "store/programs.py",
    "store/saturation.py",
    "store/tables.py",
)
"""Files and folders (with all their modules) that decide results, relative to the folder of the package."""


@lru_cache(maxsize=1)
def fingerprint() -> str:
    """The fingerprint of the installed core and package: twice 16 hexadecimal digits.

    It takes a few milliseconds once per process, and is computed when results are written or compared.
    """
    from odonata.machine import core

    return f"{core.fingerprint()}-{of_package(Path(__file__).parents[1])}"


def of_package(root: Path) -> str:
    """The part of the package, whose folder is `root`."""
    digest = hashlib.sha256()
    for source in SOURCES:
        path = root / source
        for file in sorted(path.rglob("*.py")) if path.is_dir() else [path]:
            data = file.read_bytes()
            digest.update(f"{file.relative_to(root).as_posix()}\n{len(data)}\n".encode() + data)
    return digest.hexdigest()[:16]


def difference(other: str) -> str | None:
    """The difference of another engine from this one, as the end of a sentence; `None` if there is none."""
    here = fingerprint()
    if other == here:
        return None
    return f"another engine ({other}, this one is {here})"
