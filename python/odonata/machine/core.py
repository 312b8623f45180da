"""The one door to the Rust core for everything that describes machines and checks specifications."""

import json
from collections.abc import Mapping
from typing import Any

from odonata.errors import RunError


def _core() -> Any:
    try:
        from odonata import _core
    except ImportError as e:
        raise RunError(f"the simulator core is not installed ({e}); build it with `make`") from None
    return _core


def version() -> str:
    """Version of the core, part of the identity of every run."""
    return str(_core().__version__)


def describe(topology: Mapping[str, Any]) -> dict[str, Any]:
    """Wires a machine and describes it (see `_core.pyi`)."""
    return dict(_core().describe(json.dumps(dict(topology))))


def refusal(spec_json: str) -> tuple[str, str | None] | None:
    """Why the core would not simulate a specification, and the path of the value; None if it would."""
    core = _core()
    try:
        core.check(spec_json)
    except core.SpecError as e:
        return str(e), e.at
    return None
