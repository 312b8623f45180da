"""What the jobs on a dragonfly machine do to each other, and which placement or routing would mend it.

The whole interface fits on a screen:

| name | what it does |
|---|---|
| `load(path)` | reads a scenario |
| `run(scenario)` | simulates it, also by its path |
| `sweep(scenario, axes)` | simulates it along many axes, every run once |
| `open(path)` | opens a finished run folder |
| `open_study(path)` | opens the folder of a sweep |
| `place(policy, system=, nodes=, busy=)` | asks a placement policy for nodes |
| `placements()` | names of the placement policies |
| `OdonataError` | every error that is meant for the user: `InputError` or `RunError` |

Each name is imported when it is first used, so that `import odonata` costs next to nothing.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from odonata._core import __version__
    from odonata.errors import InputError, OdonataError, RunError
    from odonata.machine import System
    from odonata.placement import Placement
    from odonata.placement import names as placements
    from odonata.runner import run
    from odonata.scenario import load
    from odonata.store import open_run as open  # noqa: A004 - odonata.open, as gzip.open
    from odonata.study.python import sweep
    from odonata.study.study import open_study

#: Public name -> module and name there.
_LAZY = {
    "__version__": ("odonata._core", "__version__"),
    "InputError": ("odonata.errors", "InputError"),
    "OdonataError": ("odonata.errors", "OdonataError"),
    "RunError": ("odonata.errors", "RunError"),
    "load": ("odonata.scenario", "load"),
    "open": ("odonata.store", "open_run"),
    "open_study": ("odonata.study.study", "open_study"),
    "placements": ("odonata.placement", "names"),
    "run": ("odonata.runner", "run"),
    "sweep": ("odonata.study.python", "sweep"),
}

__all__ = [
    "InputError",
    "OdonataError",
    "RunError",
    "__version__",
    "load",
    "open",
    "open_study",
    "place",
    "placements",
    "run",
    "sweep",
]


def place(
    policy: str,
    *,
    system: str | dict[str, Any] | System,
    nodes: int,
    busy: Iterable[int] = (),
    **options: Any,
) -> Placement:
    """Ask a placement policy for `nodes` free nodes of a system, given by name, as a table or loaded.

    Raises `InputError` for an unknown policy, system or option, and when there are not enough free nodes.
    """
    from odonata import machine, placement

    loaded = system if isinstance(system, machine.System) else machine.load(system)
    return placement.place(policy, loaded, nodes, busy=busy, **options)


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name, obj=sys.modules[__name__])
    module, attribute = _LAZY[name]
    value = getattr(import_module(module), attribute)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
