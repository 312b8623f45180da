"""Starts and ends a Slurm on this machine: its own munged, the controller, and a daemon for each virtual node.

Everything is in one folder: configuration, state, logs, the key and the socket of munged. Each daemon is ended by its
own process id.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

COMMANDS = ("slurmctld", "slurmd", "munged", "squeue", "sinfo", "sbatch", "scontrol", "scancel")


@dataclass(frozen=True)
class Host:
    """A virtual node."""

    name: str
    address: str
    port: int
    enter: tuple[str, ...] = ()
    """The beginning of a command that runs on it."""


def missing(*more: str) -> str | None:
    """Why there can be no Slurm here, or no other command that is needed; None if there can."""
    path = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"
    absent = [command for command in (*COMMANDS, *more) if shutil.which(command, path=path) is None]
    if absent:
        return f"no {absent[0]} here; `make system-deps` installs it (as root)"
    return None if os.geteuid() == 0 else "the daemons of Slurm must be started by root"


def start(folder: Path, hosts: Sequence[Host], topology: str, *, address: str, port: int) -> None:
    """Starts it, with the controller at an address and a port, and returns when all nodes are idle.

    `PATH` and `SLURM_CONF` must lead to its commands and to `folder / "slurm.conf"`.
    """
    (folder / "slurm.conf").write_text(_configuration(folder, hosts, address, port))
    (folder / "topology.conf").write_text(topology)
    for name in ("state", "log", "spool", "run", "munge"):
        (folder / name).mkdir()
    for host in hosts:
        (folder / "tmp" / host.name).mkdir(parents=True)
    _start_munge(folder)
    run("slurmctld", "-c")
    _until(lambda: "UP" in run("scontrol", "ping", check=False), 30, folder, "slurmctld is up")
    for host in hosts:
        run(*host.enter, "slurmd", "-N", host.name)
    ready = ("sinfo", "--noheader", "--Node", "--partition=main", "--states=idle", "--format=%N")
    _until(lambda: len(run(*ready, check=False).split()) == len(hosts), 60, folder, "all nodes are idle")


def stop(folder: Path) -> None:
    """Cancels all jobs and ends all daemons."""
    files = [*folder.glob("run/slurmd.*.pid"), folder / "run/slurmctld.pid", folder / "munge/pid"]
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        run("scancel", "--user=root", check=False)
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


def run(*command: str, check: bool = True) -> str:
    """Standard output of a command. Raises RuntimeError if it fails."""
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    if check and done.returncode:
        raise RuntimeError(f"{' '.join(command)}: {done.stderr.strip()}")
    return done.stdout


def free_ports(count: int) -> int:
    """The first of a number of consecutive free ports; simultaneous processes start their search elsewhere."""
    blocks = range(21000, 31000, 100)
    for first in [*blocks[os.getpid() % 100 :], *blocks]:
        with contextlib.suppress(OSError), contextlib.ExitStack() as opened:
            for port in range(first, first + count):
                opened.enter_context(socket.socket()).bind(("127.0.0.1", port))
            return first
    raise RuntimeError("no free ports")


def tree(islands: int, leaves: int, per_leaf: int) -> str:
    """A topology.conf: nodes n0, n1, ... below leaf switches, these below the switches of islands, these below one."""
    lines = []
    for island in range(islands):
        for leaf in range(leaves):
            first = (island * leaves + leaf) * per_leaf
            lines.append(f"SwitchName=i{island}l{leaf} Nodes=n[{first}-{first + per_leaf - 1}]")
        lines.append(f"SwitchName=isl{island} Switches=i{island}l[0-{leaves - 1}]")
    return "\n".join([*lines, f"SwitchName=top Switches=isl[0-{islands - 1}]", ""])


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
    run("setpriv", "--reuid", "munge", "--regid", "munge", "--clear-groups", "munged", "--force", *files)


def _until(done: Callable[[], bool], seconds: float, folder: Path, what: str) -> None:
    end = time.monotonic() + seconds
    while not done():
        if time.monotonic() > end:
            log = folder / "log" / "slurmctld.log"
            told = log.read_text()[-2000:] if log.exists() else "no log"
            raise RuntimeError(f"after {seconds:g} s it is not so that {what}:\n{told}")
        time.sleep(0.2)


def _configuration(folder: Path, hosts: Sequence[Host], address: str, port: int) -> str:
    machine = socket.gethostname().partition(".")[0]
    nodes = "\n".join(
        f"NodeName={host.name} NodeHostname={machine} NodeAddr={host.address} Port={host.port}" for host in hosts
    )
    # `%n` in every path of a node: they share one machine.
    return f"""\
ClusterName=test
SlurmctldHost={machine}({address})
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
{nodes}
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverSubscribe=NO
PartitionName=excl Nodes=ALL MaxTime=INFINITE State=UP OverSubscribe=EXCLUSIVE
PartitionName=shared Nodes=ALL MaxTime=INFINITE State=UP OverSubscribe=FORCE:4
"""
