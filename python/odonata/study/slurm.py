"""Dask workers as Slurm jobs (dask-jobqueue), from the table `[cluster]` of a study.

```toml
[cluster]
cores = 8              # processors of a job; it simulates this number of runs at once, each in a process of its own
memory = "16 GB"       # memory of a job
walltime = "01:00:00"
queue = "main"         # partition
jobs = 4               # or -j 4 on the command line
interface = "ib0"      # where scheduler and workers listen
directives = ["--exclusive"]
setup = ["module load python"]
```

Scheduler and workers speak TLS with a key that is made for the sweep. The jobs read it from a file in `certificates`,
which only the user can read and which is removed at the end.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from odonata.errors import InputError, RunError, unknown
from odonata.study import certificates
from odonata.study.certificates import INSTALL, Certificates
from odonata.study.dask_pool import WORKER, DaskPool, require_dask

if TYPE_CHECKING:
    from collections.abc import Mapping

    from odonata.study.ledger import Ledger

OPTIONS: dict[str, tuple[type, str]] = {
    "cores": (int, "processors of a job; it simulates this number of runs at once"),
    "memory": (str, "memory of a job"),
    "walltime": (str, "longest time of a job"),
    "queue": (str, "partition"),
    "account": (str, "account that is charged"),
    "jobs": (int, "number of jobs"),
    "interface": (str, "network interface between workers and scheduler, such as ib0"),
    "python": (str, "interpreter on the nodes (default: this one)"),
    "directives": (list, "further lines after #SBATCH"),
    "skip": (list, "directives to leave out, such as --mem"),
    "setup": (list, "shell lines before the worker starts"),
    "scratch": (str, "folder for the workers' own files"),
    "logs": (str, "folder for the jobs' output"),
    "certificates": (str, "folder for the temporary key; the jobs must see it too (default: the current directory)"),
}
"""Keys of `[cluster]`: type and meaning."""

_NAMES = {
    "directives": "job_extra_directives",
    "skip": "job_directives_skip",
    "setup": "job_script_prologue",
    "scratch": "local_directory",
    "logs": "log_directory",
}

_OURS = ("jobs", "certificates")
"""Keys that are not about a single job."""


def read_cluster(given: Mapping[str, Any]) -> dict[str, Any]:
    """Checks the table. Raises InputError with a path that begins with `cluster`."""
    for key, value in given.items():
        if key not in OPTIONS:
            raise unknown("key", key, OPTIONS).under("cluster", key)
        kind, meaning = OPTIONS[key]
        right = isinstance(value, kind) and not isinstance(value, bool)
        if kind is list:
            right = right and all(isinstance(line, str) for line in value)
        if not right or (kind is int and value < 1):
            wanted = {int: "a whole number from 1 on", str: "a text", list: "a list of texts"}[kind]
            raise InputError(f"`{key}`: expected {wanted} ({meaning}), found `{value!r}`", path=("cluster", key))
    return dict(given)


def cluster_options(cluster: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments of `dask_jobqueue.SLURMCluster`. Raises InputError if memory is missing, which Slurm needs."""
    if "memory" not in cluster:
        raise InputError("[cluster] has no `memory`", hint='such as memory = "4 GB" for each job')
    cores = cluster.get("cores", 1)
    options = {_NAMES.get(key, key): value for key, value in cluster.items() if key not in _OURS}
    # One thread for each process, so that a run that crashes ends no other run.
    return {
        "python": sys.executable,
        **options,
        "cores": cores,
        "processes": cores,
        "protocol": "tls://",
        "worker_extra_args": ["--worker-class", WORKER, "--no-dashboard"],
    }


@dataclass
class SlurmPool:
    """Workers in Slurm jobs, which end with the sweep."""

    cluster: Mapping[str, Any]
    jobs: int
    listen: str | None = None
    """Where the scheduler listens: an address with or without a port, or an interface. Default: every interface."""
    files: Certificates = field(default_factory=Certificates)
    """Certificates in place of temporary ones."""
    _pool: DaskPool | None = None

    @property
    def workers(self) -> int:
        """Workers that have started."""
        return 0 if self._pool is None else self._pool.workers

    def run(self, ledger: Ledger) -> None:
        """Settles every point. Raises InputError for a wrong table, RunError if jobs cannot be submitted."""
        options = cluster_options(self.cluster)
        require_dask()
        try:
            from dask_jobqueue import SLURMCluster
        except ImportError:
            raise InputError("dask-jobqueue is not installed", hint=INSTALL) from None
        from odonata.study.dask_servers import Scheduler

        if shutil.which("sbatch") is None:
            raise RunError(
                "there is no `sbatch` here\n  hint: run the sweep on a host that can submit jobs, or use --on dask"
            )
        security = self.files.security("the scheduler") if self.files.given else certificates.temporary()
        listening = certificates.listening(self.listen, None)
        if self.listen is None and "interface" in self.cluster:
            listening["interface"] = self.cluster["interface"]
        scheduler_options = {**listening, "dashboard": False, "dashboard_address": None}
        with certificates.written(security, Path(self.cluster.get("certificates", "."))) as held:
            security.tls_ca_file = held["tls-ca-file"]
            security.tls_worker_cert, security.tls_worker_key = held["tls-cert"], held["tls-key"]
            try:
                started = SLURMCluster(
                    **options, security=security, scheduler_cls=Scheduler, scheduler_options=scheduler_options
                )
            except (ValueError, TypeError, OSError, RuntimeError) as problem:
                raise RunError(f"the cluster cannot be started: {problem}") from problem
            with started:
                _check(started.job_script())
                started.scale(jobs=self.jobs)
                self._pool = DaskPool(started)
                self._pool.run(ledger)


def _check(script: str) -> None:
    """Checks that Slurm accepts a job, because dask-jobqueue repeats a refused submission forever without a message."""
    answer = subprocess.run(["sbatch", "--test-only"], input=script, capture_output=True, text=True, check=False)
    if answer.returncode != 0:
        said = " ".join(answer.stderr.split()) or f"exit status {answer.returncode}"
        raise RunError(f"Slurm refuses the job: {said}\n  hint: its requests are in the table [cluster] of the study")
