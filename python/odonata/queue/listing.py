"""Output of `squeue` or `sinfo` without a header: the file, and the format option with which it was printed."""

import re
import sys
from dataclasses import dataclass
from itertools import pairwise
from os import PathLike
from pathlib import Path

from odonata.errors import InputError, shortened

#: Letter of a format -> the header that the command prints for it. Source: squeue(1), sinfo(1).
_HEADERS = {
    "squeue": {
        "i": "JOBID",
        "A": "JOBID",
        "t": "ST",
        "T": "STATE",
        "N": "NODELIST",
        "R": "NODELIST(REASON)",
        "D": "NODES",
        "P": "PARTITION",
        "a": "ACCOUNT",
        "u": "USER",
        "j": "NAME",
        "k": "COMMENT",
        "r": "REASON",
        "o": "COMMAND",
        "Z": "WORK_DIR",
    },
    "sinfo": {
        "t": "STATE",
        "T": "STATE",
        "N": "NODELIST",
        "n": "HOSTNAMES",
        "D": "NODES",
        "P": "PARTITION",
        "R": "PARTITION",
        "a": "AVAIL",
        "E": "REASON",
    },
}
_FIELD = re.compile(r"%(?P<right>\.?)(?P<size>\d{0,3})(?P<letter>[A-Za-z])")
#: Column separators. A format uses one of them everywhere, or blanks.
SIGNS = ("|", "\t", ";", ",")


@dataclass(frozen=True)
class Listing(PathLike[str]):
    """A file of a queue or of nodes, with facts that the file does not contain."""

    path: str | Path
    format: str | None = None
    """The format that it was printed with, such as `%i|%T|%N`, as for `squeue -o` and `sinfo -o`."""
    cluster: str | None = None
    """The cluster that is read, in a listing of several clusters."""

    def __fspath__(self) -> str:
        return str(self.path)

    def __str__(self) -> str:
        return str(self.path)


#: A file of a queue or of nodes.
File = str | Path | Listing


def header(form: str, command: str) -> str:
    """The header that a command (`squeue` or `sinfo`) prints for a format.

    Raises InputError for an invalid format, and for two columns without a separator.
    """
    form = form.replace("\\t", "\t")
    fields = list(_FIELD.finditer(form))
    example = {"squeue": "%i|%T|%N", "sinfo": "%P|%T|%N"}[command]
    if not fields:
        message = f"expected a format as of `{command} -o`, such as `{example}`, found `{shortened(form, 60)}`"
        raise InputError(message)
    between = {_sign(form[field.end() : following.start()]) for field, following in pairwise(fields)}
    names = [_name(field, command) for field in fields]
    # Columns with a width need no separator, as in formats of `-O`.
    allowed = {" ", *SIGNS} | ({""} if all(name[-1:] == " " for name in names[:-1]) else set())
    if (form[: fields[0].start()] + form[fields[-1].end() :]).strip() or len(between) > 1 or not between <= allowed:
        signs = "blanks, or one of `|`, `;`, `,` and `\\t`, between all columns"
        hint = f"print the list again with `{command} -o '{example}'`"
        raise InputError(f"expected {signs}, found `{shortened(form, 60)}`", hint=hint)
    return (next(iter(between), " ")).join(names)


def _sign(text: str) -> str:
    """The separator between two columns: a character, one blank for several, or nothing."""
    return text.strip(" ") or text[:1]


def _name(field: re.Match[str], command: str) -> str:
    """The header of a column, padded to its width; a placeholder for a column that is not read."""
    name = _HEADERS[command].get(field["letter"], f"{command.upper()}:{field['letter']}")
    size = int(field["size"] or 0)
    return name.rjust(size) if field["right"] else name.ljust(size)


def listing(path: Path | None, form: str | None, option: str, cluster: str | None = None) -> File | None:
    """A file with its format option and the selected cluster.

    Raises InputError for a format without a file.
    """
    if form is not None and path is None:
        raise InputError(f"{option} says how a file was printed, and no file is given")
    return path if path is None or (form is None and cluster is None) else Listing(path, form, cluster)


def listings(
    queue: Path | None, queue_format: str | None, nodes: Path | None, nodes_format: str | None, cluster: str | None
) -> tuple[File | None, File | None]:
    """The files of the queue and of the nodes, with their options.

    If one of two files names no cluster, all of it is read, with a note on standard error.

    Raises InputError for a format or a cluster without a file.
    """
    if cluster is not None and queue is None and nodes is None:
        raise InputError("--cluster chooses a cluster of a file, and no file is given")
    files = (
        listing(queue, queue_format, "--queue-format", cluster),
        listing(nodes, nodes_format, "--nodes-format", cluster),
    )
    if cluster is None or files[0] is None or files[1] is None:
        return files
    from odonata.queue.snapshot import names_clusters

    named = names_clusters(files[0], "squeue"), names_clusters(files[1], "sinfo")
    if named[0] == named[1]:
        return files
    bare = files[named.index(False)]
    what = f"names no cluster, so all of it is of --cluster {shortened(cluster, 60)}"
    print(f"assumed: {shortened(str(bare), 200)} {what}", file=sys.stderr)
    return files if named[0] else (listing(queue, queue_format, "--queue-format"), files[1])


def cluster_of(file: File) -> str | None:
    """The cluster to read from a file; None if the user chose none."""
    return file.cluster if isinstance(file, Listing) else None
