"""Workers of Dask: real processes, spoken to over TCP."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
import pytest

import odonata as od
from odonata.errors import InputError, RunError
from odonata.study import remote
from odonata.study.dask_pool import DaskPool
from odonata.study.ledger import Ledger
from odonata.study.local import LocalPool
from odonata.study.results import Results
from odonata.study.slurm import SlurmPool, cluster_options, read_cluster
from odonata.study.sweep import sweep

from .conftest import STUDY, Write, children, command, final, kept, swept

if TYPE_CHECKING:
    from collections.abc import Iterator


pytest.importorskip("distributed", reason="the extra `cluster` is not installed")
# What Dask and its event loop leave open when processes are killed is not ours.
pytestmark = pytest.mark.filterwarnings("ignore")

SLOW = STUDY.replace("to = 4", "to = 12") + '"job.target.app.messages" = [1500, 1501]\n'


@contextmanager
def running(*arguments: str, until: str) -> Iterator[str]:
    """A process of Dask in a session of its own; gives the line in which it says `until`."""
    process = subprocess.Popen(
        [sys.executable, "-m", "distributed.cli." + arguments[0], *arguments[1:]],
        stderr=subprocess.PIPE, text=True, start_new_session=True,
        env={**os.environ, "PYTHONPATH": str(Path(od.__file__).parents[1])},
    )  # fmt: skip
    try:
        assert process.stderr is not None
        yield next(line for line in process.stderr if until in line)
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        process.stderr.close()


@pytest.fixture
def scheduler() -> Iterator[str]:
    """The address of a scheduler with two workers, each a process of its own."""
    local = ("--host", "127.0.0.1", "--no-dashboard")
    with running("dask_scheduler", *local, "--port", "0", until="Scheduler at:") as line:
        address = line.split()[-1]
        more = ("--nthreads", "1", "--no-dashboard", "--local-directory", "scratch", address)
        with (
            running("dask_worker", *more, until="Registered to:"),
            running("dask_worker", *more, until="Registered to:"),
        ):
            yield address


def test_the_same_bytes_over_tcp_also_when_a_worker_is_killed(study: Write, scheduler: str) -> None:
    plan = study(SLOW)
    killed: list[int] = []

    def kill_one(ledger: Ledger) -> None:
        if ledger.settled >= 8 and not killed:
            # The nanny's child, which simulates; the nanny starts another.
            workers = [child for pid in children() for child in children(pid) if _is_worker(child)]
            killed.append(workers[-1])
            os.kill(killed[0], signal.SIGKILL)

    swept = sweep(plan, Path("dask"), DaskPool(scheduler), report=kill_one)
    assert killed
    assert swept.runs["status"].to_list() == ["done"] * 48
    sweep(plan, Path("local"), LocalPool(2))
    assert final("dask") == final("local")
    assert len(kept("dask")) == 48


def _is_worker(pid: int) -> bool:
    with suppress(psutil.NoSuchProcess):
        return any("spawn_main" in word for word in psutil.Process(pid).cmdline())
    return False


def test_the_command_goes_on_where_a_local_sweep_was(study: Write, scheduler: str) -> None:
    study()
    swept("study.toml", "--out", "out", "-j", "1")
    study(STUDY.replace("to = 4", "to = 6"))
    more = swept("study.toml", "--out", "out", "--on", "dask", "--scheduler", scheduler)
    assert (more["kept"], more["simulated"]) == (8, 4)


def test_nobody_answers(study: Write) -> None:
    with pytest.raises(RunError, match=r"no Dask scheduler answers at `tcp://127\.0\.0\.1:9`"):
        sweep(study(), Path("out"), DaskPool("tcp://127.0.0.1:9"))
    with pytest.raises(InputError, match="`nonsense://x` is not the address of a scheduler"):
        sweep(study(), Path("out"), DaskPool("nonsense://x"))


def test_a_worker_with_another_engine_is_refused(study: Write) -> None:
    payload = remote.payload_of(study())
    with pytest.raises(
        RunError, match=r"a worker has the engine .*, expected 0-9: install the same sources everywhere"
    ):
        remote.resolve_batch(payload, "0-9", [0])


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("--scheduler", "tcp://x:1"), "`--scheduler` is for `--on dask`"),
        (("--on", "dask", "--scheduler", "tcp://x:1", "-j", "2"), "`-j` does not apply to `--scheduler`"),
        (("--on", "slurm"), "[cluster] has no `memory`"),
    ],
)
def test_what_does_not_go_together(study: Write, arguments: tuple[str, ...], expected: str) -> None:
    study()
    done = command("sweep", "study.toml", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert expected in done.stderr


def test_the_job_script_says_what_the_table_says(here: Path) -> None:
    from dask_jobqueue.slurm import SLURMJob

    table = read_cluster(
        {
            "cores": 4, "memory": "8 GB", "walltime": "00:30:00", "queue": "main", "account": "physics", "jobs": 3,
            "directives": ["--exclusive"], "setup": ["module load python"], "skip": ["--mem"], "scratch": "/tmp",
        }
    )  # fmt: skip
    script = SLURMJob("tcp://127.0.0.1:1", name="one", **cluster_options(table)).job_script()
    for line in (
        "#SBATCH -p main", "#SBATCH -A physics", "#SBATCH -n 1", "#SBATCH --cpus-per-task=4", "#SBATCH -t 00:30:00",
        "#SBATCH --exclusive", "module load python",
    ):  # fmt: skip
        assert line in script.splitlines(), script
    assert "--mem" not in script.replace("--memory-limit", "")
    assert f"{sys.executable} -m distributed.cli.dask_worker" in script
    # One thread a process: a run that dies takes no other with it.
    assert "--nthreads 1 " in script
    assert "--nworkers 4 " in script


def test_without_a_queue_it_is_said_so(study: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(RunError, match="sbatch"):
        sweep(study(), Path("out"), SlurmPool({"memory": "1 GB"}, 1))


def test_what_a_worker_finished_and_took_with_it_is_done_again(study: Write) -> None:
    """Catches a sweep that ends with a traceback because a result does not come within a minute."""

    class Gone:
        status = "finished"

        def result(self, timeout: float) -> object:
            raise TimeoutError

    ledger = Ledger(study(), Results(None))
    pool, future = DaskPool(None), Gone()
    taken = ledger.take(1, 1.0)
    pool._batches[future] = ("run", [(number, (None,)) for number in taken])
    pool._finished(future, ledger, None)
    assert (ledger.take(1, 1.0), pool._batches) == (taken, {})
