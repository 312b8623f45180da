"""A real Slurm of 64 virtual nodes on this machine, started for the tests and stopped after them.

It needs `slurmctld`, `slurmd` and `munged` (`make system-deps` installs them) and root. Everything is in one temporary
folder. Nothing listens on another address than that of this machine.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.cluster.slurm.server import Host, free_ports, missing, start, stop, tree

if TYPE_CHECKING:
    from collections.abc import Iterator

ISLANDS, LEAVES, PER_LEAF = 4, 4, 4
NODES = ISLANDS * LEAVES * PER_LEAF


@pytest.fixture(scope="session")
def slurm() -> Iterator[Path]:
    """The folder of a Slurm that runs; the environment leads all its commands there."""
    why = missing()
    if why:
        pytest.skip(f"real Slurm: {why}")
    # A short path: sockets have names of 108 characters at most.
    folder = Path(tempfile.mkdtemp(prefix="odslurm"))
    folder.chmod(0o755)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", f"{os.environ['PATH']}:/usr/sbin:/sbin")
        patch.setenv("SLURM_CONF", str(folder / "slurm.conf"))
        port = free_ports(NODES + 2)
        hosts = [Host(f"n{node}", "127.0.0.1", port + 2 + node) for node in range(NODES)]
        try:
            start(folder, hosts, tree(ISLANDS, LEAVES, PER_LEAF), address="127.0.0.1", port=port)
            yield folder
        finally:
            stop(folder)
            shutil.rmtree(folder, ignore_errors=True)
