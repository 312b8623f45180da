"""The library of application-aware routing; the values of Rust's debug profile are those of a release."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def component(built: Callable[[str], Path]) -> Path:
    """`libodonata_decision.so`."""
    return built("odonata-decision-c")
