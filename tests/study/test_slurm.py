"""Slurm jobs as workers, on a real Slurm where there is one (`SLURM_CONF` names it)."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from odonata.errors import RunError
from odonata.study.local import LocalPool
from odonata.study.slurm import SlurmPool
from odonata.study.sweep import sweep

from .conftest import STUDY, Write, final

if TYPE_CHECKING:
    from odonata.study.ledger import Ledger

pytest.importorskip("dask_jobqueue", reason="the extra `cluster` is not installed")
pytestmark = [
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.skipif(
        not os.environ.get("SLURM_CONF") or shutil.which("sbatch") is None, reason="no Slurm (SLURM_CONF is not set)"
    ),
]

SLOW = STUDY.replace("to = 4", "to = 10") + '"job.target.app.messages" = [1500, 1501]\n'


def test_the_same_bytes_from_slurm_also_when_a_job_is_cancelled(study: Write, here: Path) -> None:
    plan = study(SLOW)
    cluster = {"memory": "400 MB", "walltime": "00:10:00", "interface": "lo", "scratch": str(here), "logs": "logs"}
    cancelled: list[str] = []

    def cancel_one(ledger: Ledger) -> None:
        if ledger.settled >= 4 and not cancelled:
            running = subprocess.run(
                ["squeue", "-h", "-t", "R", "-o", "%i %j"], capture_output=True, text=True, check=True
            )
            cancelled.extend(line.split()[0] for line in running.stdout.splitlines() if "dask-wor" in line)
            subprocess.run(["scancel", cancelled[0]], check=True)

    swept = sweep(plan, Path("slurm"), SlurmPool(cluster, 2), report=cancel_one)
    assert cancelled
    assert swept.runs["status"].to_list() == ["done"] * 40
    sweep(plan, Path("local"), LocalPool(2))
    assert final("slurm") == final("local")


def test_what_slurm_refuses_is_said(study: Write) -> None:
    with pytest.raises(RunError, match=r"Slurm refuses the job: .*invalid partition"):
        sweep(study(), Path("out"), SlurmPool({"memory": "400 MB", "queue": "nope", "interface": "lo"}, 1))
