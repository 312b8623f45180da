"""The reduced forms, each simulated once in a session, whichever tests ask for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from odonata.reproduce import find
from odonata.study import task

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from odonata.reproduce.reproduction import Runs
    from odonata.study.ledger import Ledger


class Here:
    """Simulates in this process: one of its own costs more than most of these runs."""

    workers = 1

    def __init__(self, workers: int = 1) -> None:
        pass

    def run(self, ledger: Ledger) -> None:
        while not ledger.complete:
            for number in ledger.take(64, 1e9):
                resolution, resolved = task.resolve(ledger.plan, number)
                for granted in ledger.grant([resolution]):
                    assert resolved is not None
                    ledger.hand_in(*task.handed_in(task.run(ledger.plan, granted, resolved)))
            ledger.flush()


@pytest.fixture(scope="session")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of this process: a sweep refuses a folder in which another one is at work."""
    return tmp_path_factory.getbasetemp() / "reproductions"


@pytest.fixture(scope="session")
def reduced(out: Path) -> Callable[[str], Runs]:
    """Name -> the runs of its reduced form."""

    def simulated(name: str) -> Runs:
        out.mkdir(exist_ok=True)
        return find(name).run(Here(), out / "studies", reduced=True)

    return simulated
