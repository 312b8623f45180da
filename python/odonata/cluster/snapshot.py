"""The queue and the nodes of a cluster at one moment, from a file in any form that Slurm writes, or from Slurm."""

from __future__ import annotations

from typing import TYPE_CHECKING

from odonata.cluster import live, slurm_json, slurm_records, slurm_table
from odonata.cluster.files import read
from odonata.cluster.listing import Listing, header
from odonata.errors import InputError

if TYPE_CHECKING:
    from odonata.cluster.listing import File
    from odonata.cluster.records import Job, Node

_NO_JOBS = "No jobs in the system"
"""What `scontrol show job` prints for an empty queue."""


def read_queue(file: File | None = None) -> list[Job]:
    """The jobs of a queue.

    Parameters
    ----------
    file
        Output of `squeue --json`, of `squeue` with its header in any format that has state and node list, or of
        `scontrol show job`. None asks `squeue`. A `Listing` has the format of a file without header.

    Returns
    -------
    list of Job
        All jobs, also those that do not run.

    Raises
    ------
    InputError
        For a file that cannot be read; with line, job and column where they are known.
    RunError
        If `squeue` fails.
    """
    if file is None:
        return slurm_table.queue(live.queue())
    text = read(str(file))
    if text.strip() == _NO_JOBS:
        return []
    try:
        if isinstance(file, Listing):
            return slurm_table.queue(text, header(file.format, "squeue"))
        if text.lstrip()[:1] in ("{", "["):
            return slurm_json.queue(text)
        if slurm_records.is_records(text, "JobId"):
            return slurm_records.queue(text)
        return slurm_table.queue(text)
    except InputError as e:
        raise e.at(str(file), e.line) from None


def read_nodes(file: File | None = None) -> list[Node]:
    """The nodes of a cluster, each once.

    Parameters
    ----------
    file
        Output of `sinfo --json`, of `sinfo` with its header in any format that has state and node list, or of
        `scontrol show node`. None asks `sinfo`. A `Listing` has the format of a file without header.

    Returns
    -------
    list of Node
        Also nodes that are drained or down.

    Raises
    ------
    InputError
        For a file that cannot be read; with line, node and column where they are known.
    RunError
        If `sinfo` fails.
    """
    if file is None:
        return slurm_table.nodes(live.nodes())
    text = read(str(file))
    try:
        if isinstance(file, Listing):
            return slurm_table.nodes(text, header(file.format, "sinfo"))
        if text.lstrip()[:1] in ("{", "["):
            return slurm_json.nodes(text)
        if slurm_records.is_records(text, "NodeName"):
            return slurm_records.nodes(text)
        return slurm_table.nodes(text)
    except InputError as e:
        raise e.at(str(file), e.line) from None


def nodes_in_queue_file(file: File) -> list[Node] | None:
    """The nodes that a file of a queue lists beside its jobs, as one JSON object with `jobs` and `nodes` does."""
    text = read(str(file))
    if not text.lstrip().startswith("{"):
        return None
    try:
        return slurm_json.nodes_beside_jobs(text)
    except InputError as e:
        raise e.at(str(file), e.line) from None
