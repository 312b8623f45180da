"""A real Slurm of 64 virtual nodes on this machine, started for the tests and stopped behind them.

It needs `slurmctld`, `slurmd` and `munged` (`make system-deps` installs them) and root. Everything is in one temporary
folder: configuration, state, logs, its own munged with its own key and socket. Nothing listens on another address than
that of this machine. Each daemon is ended by its own process id.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

ISLANDS, LEAVES, PER_LEAF = 4, 4, 4
NODES = ISLANDS * LEAVES * PER_LEAF
_COMMANDS = ("slurmctld", "slurmd", "munged", "squeue", "sinfo", "sbatch", "scontrol", "scancel")


def missing() -> str | None:
    """Why there can be no Slurm here; None if there can."""
    path = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"
    absent = [command for command in _COMMANDS if shutil.which(command, path=path) is None]
    if absent:
        return f"real Slurm left out: no {absent[0]} here; `make system-deps` installs it (as root)"
    return None if os.geteuid() == 0 else "real Slurm left out: its daemons must be started by root"


@pytest.fixture(scope="session")
def slurm() -> Iterator[Path]:
    """The folder of a Slurm that runs; the environment leads all its commands there."""
    why = missing()
    if why:
        pytest.skip(why)
    # A short path: sockets have names of 108 characters at most.
    folder = Path(tempfile.mkdtemp(prefix="odslurm"))
    folder.chmod(0o755)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", f"{os.environ['PATH']}:/usr/sbin:/sbin")
        patch.setenv("SLURM_CONF", str(folder / "slurm.conf"))
        try:
            _start(folder)
            yield folder
        finally:
            _stop(folder)
            shutil.rmtree(folder, ignore_errors=True)


def _start(folder: Path) -> None:
    (folder / "slurm.conf").write_text(_configuration(folder))
    (folder / "topology.conf").write_text(_topology())
    for name in ("state", "log", "spool", "run", "munge"):
        (folder / name).mkdir()
    for node in range(NODES):
        (folder / "tmp" / f"n{node}").mkdir(parents=True)
    _start_munge(folder)
    _run("slurmctld", "-c")
    _until(lambda: "UP" in _run("scontrol", "ping", check=False), 30, folder, "slurmctld is up")
    for node in range(NODES):
        _run("slurmd", "-N", f"n{node}")
    ready = ("sinfo", "--noheader", "--Node", "--partition=main", "--states=idle", "--format=%N")
    _until(lambda: len(_run(*ready, check=False).split()) == NODES, 60, folder, "all nodes are idle")


def _start_munge(folder: Path) -> None:
    munge = folder / "munge"
    key = munge / "key"
    key.write_bytes(os.urandom(1024))
    key.chmod(0o400)
    munge.chmod(0o700)
    for path in (key, munge, folder / "run"):
        shutil.chown(path, "munge", "munge")
    (folder / "run").chmod(0o755)
    files = [f"--socket={folder}/run/munge.sock", f"--pid-file={munge}/pid", f"--log-file={munge}/log"]
    files += [f"--seed-file={munge}/seed", f"--key-file={key}"]
    _run("setpriv", "--reuid", "munge", "--regid", "munge", "--clear-groups", "munged", "--force", *files)


def _stop(folder: Path) -> None:
    files = [*folder.glob("run/slurmd.*.pid"), folder / "run/slurmctld.pid", folder / "munge/pid"]
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        _run("scancel", "--user=root", check=False)
    ids = []
    for file in files:
        with contextlib.suppress(OSError, ValueError):
            ids.append(int(file.read_text()))
            os.kill(ids[-1], signal.SIGTERM)
    end = time.monotonic() + 15
    while (alive := [pid for pid in ids if Path(f"/proc/{pid}").exists()]) and time.monotonic() < end:
        time.sleep(0.1)
    for pid in alive:
        with contextlib.suppress(OSError):
            os.kill(pid, signal.SIGKILL)


def _run(*command: str, check: bool = True) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    if check and done.returncode:
        raise RuntimeError(f"{' '.join(command)}: {done.stderr.strip()}")
    return done.stdout


def _until(done, seconds: float, folder: Path, what: str) -> None:
    end = time.monotonic() + seconds
    while not done():
        if time.monotonic() > end:
            log = folder / "log" / "slurmctld.log"
            told = log.read_text()[-2000:] if log.exists() else "no log"
            raise RuntimeError(f"after {seconds:g} s it is not so that {what}:\n{told}")
        time.sleep(0.2)


def _topology() -> str:
    lines = []
    for island in range(ISLANDS):
        for leaf in range(LEAVES):
            first = (island * LEAVES + leaf) * PER_LEAF
            lines.append(f"SwitchName=i{island}l{leaf} Nodes=n[{first}-{first + PER_LEAF - 1}]")
        lines.append(f"SwitchName=isl{island} Switches=i{island}l[0-{LEAVES - 1}]")
    return "\n".join([*lines, f"SwitchName=top Switches=isl[0-{ISLANDS - 1}]", ""])


def _free_ports(count: int) -> int:
    """The first of a number of consecutive free ports; simultaneous processes start their search elsewhere."""
    blocks = range(21000, 31000, 100)
    for first in [*blocks[os.getpid() % 100 :], *blocks]:
        with contextlib.suppress(OSError), contextlib.ExitStack() as opened:
            for port in range(first, first + count):
                opened.enter_context(socket.socket()).bind(("127.0.0.1", port))
            return first
    raise RuntimeError("no free ports")


def _configuration(folder: Path) -> str:
    host, port = socket.gethostname().partition(".")[0], _free_ports(NODES + 2)
    # `%n` in every path of a node: they share one machine.
    return f"""\
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
SlurmdPort={port + 1}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/run/munge.sock
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmctldPidFile={folder}/run/slurmctld.pid
SlurmctldLogFile={folder}/log/slurmctld.log
SlurmdPidFile={folder}/run/slurmd.%n.pid
SlurmdLogFile={folder}/log/slurmd.%n.log
SlurmdSpoolDir={folder}/spool/%n
TmpFS={folder}/tmp/%n
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SchedulerType=sched/backfill
SchedulerParameters=bf_interval=2,sched_interval=2,batch_sched_delay=0,sched_min_interval=0
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
TopologyPlugin=topology/tree
SlurmdParameters=config_overrides
ReturnToService=2
SlurmctldTimeout=300
SlurmdTimeout=300
InactiveLimit=0
KillWait=2
MinJobAge=300
Waittime=0
TreeWidth=64
MailProg=/bin/true
DefMemPerCPU=64
NodeName=DEFAULT CPUs=4 Boards=1 SocketsPerBoard=1 CoresPerSocket=4 ThreadsPerCore=1 RealMemory=4096 State=UNKNOWN
NodeName=n[0-{NODES - 1}] NodeHostname={host} NodeAddr=127.0.0.1 Port=[{port + 2}-{port + NODES + 1}]
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverSubscribe=NO
PartitionName=excl Nodes=ALL MaxTime=INFINITE State=UP OverSubscribe=EXCLUSIVE
PartitionName=shared Nodes=ALL MaxTime=INFINITE State=UP OverSubscribe=FORCE:4
"""
