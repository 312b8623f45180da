"""The reduced forms, each simulated once in a session, whichever tests ask for it."""

from __future__ import annotations

import fcntl
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest
from tests.study.conftest import Here

from odonata.reproduce import find

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path

    from odonata.reproduce.reproduction import Runs

__all__ = ["Here"]


@pytest.fixture(scope="session")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that all processes of a session share, so that they simulate each run once."""
    base = tmp_path_factory.getbasetemp()
    shared = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "reproductions"
    shared.mkdir(exist_ok=True)
    return shared


@pytest.fixture(scope="session")
def turn(out: Path) -> Callable[[str], AbstractContextManager[None]]:
    """Name -> waits for the other processes: a sweep refuses the folder of a study in which another one is at work."""

    @contextmanager
    def alone(name: str) -> Iterator[None]:
        with (out / f"{find(name).of_study}.lock").open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield

    return alone


@pytest.fixture(scope="session")
def reduced(out: Path, turn: Callable[[str], AbstractContextManager[None]]) -> Callable[[str], Runs]:
    """Name -> the runs of its reduced form. Do not change them."""
    known: dict[str, Runs] = {}

    def simulated(name: str) -> Runs:
        if name not in known:
            with turn(name):
                known[name] = find(name).run(Here(), out / "studies", reduced=True)
        return known[name]

    return simulated
