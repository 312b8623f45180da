"""Submits a job onto nodes that were selected, and selects again if they are taken meanwhile."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from odonata import reading
from odonata.errors import InputError, RunError
from odonata.queue.hosts import fold
from odonata.queue.slurm import commands, sbatch
from odonata.queue.snapshot import read_nodes

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from odonata.allocation.selection import Selection

#: How often other nodes are selected if the first ones were taken. Assumed.
RETRIES = 3
#: How long a job may wait with its nodes idle before nothing more is said about it, in seconds. Assumed: Slurm's
#: scheduler looks at new jobs within a few seconds.
PATIENCE_S = 10.0

#: Why a job waits although its nodes are there: nothing that other nodes would change. Source: squeue(1).
_TAKEN = frozenset({"Resources", "ReqNodeNotAvail", "NodeDown", "Nodes_required_for_job_are_DOWN", "Reserved"})


@dataclass(frozen=True)
class Submission:
    """A job that was submitted."""

    job: str
    selection: Selection
    """The nodes that it requests in the end."""
    state: str
    """Its state when it was last looked at: `RUNNING`, `PENDING`, ..."""
    why: str
    """Why it waits; empty if it does not."""
    races: list[str]
    """For each time that selected nodes were taken meanwhile: what was found."""


def submit(
    select: Callable[[], Selection],
    arguments: Sequence[str],
    *,
    partition: str | None = None,
    hostfile: Path | None = None,
    write_hostfile: Callable[[Selection], None] = lambda _: None,
    retries: int = RETRIES,
    sleep: Callable[[float], None] = time.sleep,
    clock: Callable[[], float] = time.monotonic,
) -> Submission:
    """Submits a job with `sbatch` onto nodes that `select` gives.

    Another job may get a node between the selection and the submission. Then Slurm keeps the job waiting for that node.
    So the job is watched until it starts: if it waits and one of its nodes is no longer idle, nodes are selected again
    and the waiting job is moved to them (`scontrol update ReqNodeList=`), at most `retries` times.

    Raises
    ------
    InputError
        If the arguments name nodes themselves, and if `select` cannot find nodes before anything was submitted.
    RunError
        If a command fails, and if the job still waits for nodes that others hold; it then stays in the queue.
    """
    if not arguments:
        raise InputError("nothing to submit", hint="give what `sbatch` gets behind `--`, such as `-- job.sh`")
    options, script = sbatch.split(arguments)
    chosen = select()
    write_hostfile(chosen)
    # Behind the options of the user: of an option that is given twice, sbatch takes the last.
    ours = ["--parsable", f"--nodes={len(chosen.nodes)}", f"--nodelist={chosen.nodelist}"]
    ours += [f"--partition={partition}"] if partition else []
    variables = {} if hostfile is None else {"SLURM_HOSTFILE": str(hostfile.resolve())}
    printed = commands.run(["sbatch", *options, *ours, *script], variables)
    job = reading.lines(printed.strip())[-1].partition(";")[0] if printed.strip() else ""
    if not re.fullmatch(r"\d+", job):
        raise RunError(f"expected a job id from `sbatch --parsable`, found `{printed.strip()}`")
    races: list[str] = []
    waited = clock()
    while True:
        state, why = _look(job)
        if state != "PENDING":
            return Submission(job, chosen, state, "", races)
        lost = sorted(set(chosen.nodes) - _idle(chosen.nodes))
        if lost and why in _TAKEN:
            races.append(f"{_some(lost)} taken by another job")
            if len(races) > retries:
                raise RunError(
                    f"job {job} waits: {races[-1]}, and so it was {len(races)} times\n"
                    f"  hint: the job stays in the queue; `scancel {job}` removes it"
                )
            try:
                other = select()
            except InputError as e:
                raise RunError(
                    f"job {job} waits: {races[-1]}, and there are no others: {e.message}\n"
                    f"  hint: the job stays in the queue; `scancel {job}` removes it"
                ) from e
            write_hostfile(other)
            if _move(job, other.nodelist):
                chosen = other
            waited = clock()
        elif clock() - waited > PATIENCE_S:
            return Submission(job, chosen, state, why, races)
        sleep(0.5)


def _look(job: str) -> tuple[str, str]:
    """State of a job, and why it waits. A job that Slurm has forgotten has ended."""
    try:
        text = commands.run(["squeue", "--noheader", "--states=all", f"--jobs={job}", "--format=%T|%r"])
    except RunError as e:
        if "Invalid job id" in str(e):
            return "COMPLETED", ""
        raise
    line = next((line for line in reading.lines(text) if line.strip()), "")
    if not line:
        return "COMPLETED", ""
    state, _, why = line.partition("|")
    return state, why.partition(",")[0].strip()


def _idle(nodes: Sequence[str]) -> set[str]:
    return {node.name for node in read_nodes() if node.idle} & set(nodes)


def _move(job: str, nodelist: str) -> bool:
    """Moves a waiting job to other nodes; False if it started meanwhile."""
    try:
        commands.run(["scontrol", "update", f"JobId={job}", f"ReqNodeList={nodelist}"])
    except RunError:
        if _look(job)[0] == "PENDING":
            raise
        return False
    return True


def _some(nodes: Sequence[str]) -> str:
    return f"{fold(nodes)} {'was' if len(nodes) == 1 else 'were'}"
