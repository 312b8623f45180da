"""Why the experiments are left out, if they are."""

from __future__ import annotations

import pytest
from tests.cluster.fabric.network import refusal
from tests.cluster.slurm.server import missing


@pytest.fixture(scope="session")
def possible() -> None:
    """Skips where a command is missing or namespaces cannot be made."""
    why = missing("iperf3", "mpirun", "mpicc", "ip", "tc", "nsenter", "unshare", "setpriv", "chrt")
    if why is None and (reason := refusal()):
        why = f"no network namespaces here ({reason})"
    if why:
        pytest.skip(f"the experiment on a contended network: {why}")
