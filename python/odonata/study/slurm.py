"""Dask workers as Slurm jobs (dask-jobqueue), from the table `[cluster]` of a study.

```toml
[cluster]
cores = 8              # processors of a job; as many runs at once, each in a process of its own
memory = "16 GB"       # memory of a job
walltime = "01:00:00"
queue = "main"         # partition
jobs = 4               # or -j 4 on the command line
directives = ["--exclusive"]
setup = ["module load python"]
```
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from odonata.errors import InputError, RunError, unknown
from odonata.study.dask_pool import _INSTALL, DaskPool

if TYPE_CHECKING:
    from collections.abc import Mapping

    from odonata.study.ledger import Ledger

OPTIONS: dict[str, tuple[type, str]] = {
    "cores": (int, "processors of a job; as many runs at once"),
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
}
"""Keys of `[cluster]`: type and meaning."""

_NAMES = {
    "directives": "job_extra_directives",
    "skip": "job_directives_skip",
    "setup": "job_script_prologue",
    "scratch": "local_directory",
    "logs": "log_directory",
}


def read_cluster(given: Mapping[str, Any]) -> dict[str, Any]:
    """Checks the table. Raises InputError, its path beginning with `cluster`."""
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
    """Arguments of `dask_jobqueue.SLURMCluster`. Raises InputError if memory is missing: Slurm must be told."""
    if "memory" not in cluster:
        raise InputError("[cluster] has no `memory`", hint='such as memory = "4 GB" for each job')
    cores = cluster.get("cores", 1)
    options = {_NAMES.get(key, key): value for key, value in cluster.items() if key != "jobs"}
    # One thread a process: a run that kills its process kills no other.
    return {"python": sys.executable, **options, "cores": cores, "processes": cores}


@dataclass
class SlurmPool:
    """Workers in so many Slurm jobs, which end with the sweep."""

    cluster: Mapping[str, Any]
    jobs: int
    _pool: DaskPool | None = None

    @property
    def workers(self) -> int:
        """Workers that have started."""
        return 0 if self._pool is None else self._pool.workers

    def run(self, ledger: Ledger) -> None:
        """Settles every point. Raises InputError for a wrong table, RunError if jobs cannot be submitted."""
        options = cluster_options(self.cluster)
        try:
            from dask_jobqueue import SLURMCluster
        except ImportError:
            raise InputError("dask-jobqueue is not installed", hint=_INSTALL) from None
        if shutil.which("sbatch") is None:
            raise RunError("there is no `sbatch` here\n  hint: sweep where jobs can be submitted, or with --on dask")
        try:
            started = SLURMCluster(**options, scheduler_options={"dashboard_address": None})
        except (ValueError, TypeError, OSError, RuntimeError) as problem:
            raise RunError(f"the cluster cannot be started: {problem}") from problem
        with started:
            _check(started.job_script())
            started.scale(jobs=self.jobs)
            self._pool = DaskPool(started)
            self._pool.run(ledger)


def _check(script: str) -> None:
    """Asks Slurm whether it would take a job: dask-jobqueue would try again and again without a word."""
    asked = subprocess.run(["sbatch", "--test-only"], input=script, capture_output=True, text=True, check=False)
    if asked.returncode != 0:
        said = " ".join(asked.stderr.split()) or f"exit status {asked.returncode}"
        raise RunError(
            f"Slurm does not take the job: {said}\n  hint: the table [cluster] of the study says what it asks for"
        )
