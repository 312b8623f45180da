"""The queue and the nodes of a cluster at one moment: from a file of Slurm or another manager, or from Slurm."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from odonata import foreign
from odonata.errors import InputError
from odonata.queue.formats import format_of, read_other
from odonata.queue.listing import Listing, cluster_of, header
from odonata.queue.slurm import commands, json_output, record_output, table_output
from odonata.reading import read_output

if TYPE_CHECKING:
    from odonata.queue.listing import File
    from odonata.queue.records import Job, Node

_NO_JOBS = "No jobs in the system"
"""What `scontrol show job` prints for an empty queue."""


def read_queue(file: File | None = None) -> list[Job]:
    """Read the jobs of a queue.

    Parameters
    ----------
    file
        Output of `squeue --json`, of `squeue` with its header in any format that has state and node list, or of
        `scontrol show job`; or a file of another manager (`formats`). None asks `squeue`. A `Listing` adds the format
        of a file without a header, and the cluster to read from a listing of several.

    Returns
    -------
    list of Job
        All jobs, running or not.

    Raises
    ------
    InputError
        For a file that cannot be read; with line, job and column where they are known.
    RunError
        If `squeue` fails.
    """
    if file is None:
        return table_output.queue(commands.queue())
    text, cluster = _text(file), cluster_of(file)
    if (others := _of_other_managers(file, text, "queue")) is not None:
        return others
    try:
        if text.strip() == _NO_JOBS:
            return []
        if isinstance(file, Listing) and file.format is not None:
            return table_output.queue(text, header(file.format, "squeue"), cluster)
        if text.lstrip()[:1] in ("{", "["):
            return json_output.queue(text, cluster)
        if record_output.is_records(text, "JobId"):
            return record_output.queue(text)
        return table_output.queue(text, None, cluster)
    except InputError as e:
        raise foreign.explained(e.at(str(file), e.line), str(file), "queue") from None


def read_nodes(file: File | None = None) -> list[Node]:
    """Read the nodes of a cluster, each once.

    Parameters
    ----------
    file
        Output of `sinfo --json`, of `sinfo` with its header in any format that has state and node list, or of
        `scontrol show node`; or a file of another manager (`formats`). None asks `sinfo`. A `Listing` adds the format
        of a file without a header, and the cluster to read from a listing of several.

    Returns
    -------
    list of Node
        All nodes, also drained ones and those that are down.

    Raises
    ------
    InputError
        For a file that cannot be read; with line, node and column where they are known.
    RunError
        If `sinfo` fails.
    """
    if file is None:
        return table_output.nodes(commands.nodes())
    text, cluster = _text(file), cluster_of(file)
    if (others := _of_other_managers(file, text, "nodes")) is not None:
        return others
    try:
        if isinstance(file, Listing) and file.format is not None:
            return table_output.nodes(text, header(file.format, "sinfo"), cluster)
        if text.lstrip()[:1] in ("{", "["):
            return json_output.nodes(text, cluster)
        if record_output.is_records(text, "NodeName"):
            return record_output.nodes(text)
        return table_output.nodes(text, None, cluster)
    except InputError as e:
        raise foreign.explained(e.at(str(file), e.line), str(file), "queue") from None


def _text(file: File) -> str:
    """The text of a file, which may be a pipe: it is read once. Raises InputError, which names files of other tools."""
    try:
        return read_output(str(file))
    except InputError as e:
        raise foreign.explained(e.at(str(file), e.line), str(file), "queue") from None


def _of_other_managers(file: File, text: str, what: Literal["queue", "nodes"]) -> list[Any] | None:
    """What a file of a manager other than Slurm says; None for any other file."""
    if isinstance(file, Listing) and file.format is not None:
        return None
    return read_other(str(file), text, what, cluster_of(file))


def names_clusters(file: File, command: str) -> bool:
    """Whether a file of `squeue` or `sinfo` names the cluster of its entries. True for a file that cannot be read."""
    try:
        text = read_output(str(file))
        if isinstance(file, Listing) and file.format is not None:
            return table_output.names_clusters(text, command, header(file.format, command))
        if format_of(text) is not None:
            return False
        if text.lstrip()[:1] in ("{", "["):
            return json_output.names_clusters(text)
        if record_output.is_records(text, "JobId") or record_output.is_records(text, "NodeName"):
            return False
        return text.strip() != _NO_JOBS and table_output.names_clusters(text, command)
    except InputError:
        return True  # the reader of the file reports the error


def nodes_in_queue_file(file: File) -> list[Node] | None:
    """The nodes in a queue file that lists both, such as a JSON object with `jobs` and `nodes`."""
    text = read_output(str(file))
    if not text.lstrip().startswith("{") or format_of(text) is not None:
        return None
    try:
        return json_output.nodes_beside_jobs(text, cluster_of(file))
    except InputError as e:
        raise e.at(str(file), e.line) from None
