"""Listings of several clusters, as `squeue -M all` and `sacct -L` print them.

Clusters may use the same name for different nodes, so only one cluster is read. `--cluster` (in a stream, `cluster`)
names it. A file of one cluster needs no name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from odonata.errors import InputError, shortened, unknown

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Entry = TypeVar("Entry")
#: Clusters in a message.
_SHOWN = 6


def of_one(entries: Sequence[Entry], name: Callable[[Entry], str], wanted: str | None, what: str) -> list[Entry]:
    """Select the entries of one cluster: the requested one, or the only one.

    Parameters
    ----------
    entries
        Rows or records.
    name
        Returns the cluster of an entry, or an empty text if the entry names none.
    wanted
        The cluster that the user names.
    what
        What the entries are, such as `jobs`.

    Raises
    ------
    InputError
        For entries of several clusters without a name, and for a name that none of them has.
    """
    names = dict.fromkeys(own for entry in entries if (own := name(entry)))
    if wanted is None:
        if len(names) < 2:
            return list(entries)
        shown = ", ".join(shortened(own, 60) for own in list(names)[:_SHOWN]) + (", ..." if len(names) > _SHOWN else "")
        first = next(iter(names))
        raise InputError(
            f"{what} of {len(names):,} clusters: {shown}",
            hint=f"nodes of one name are other nodes there; choose one with --cluster {shortened(first, 60)}",
        )
    if not names and entries:
        raise InputError(f"the file does not say of which cluster its {what} are", hint="leave out --cluster")
    if names and wanted not in names:
        raise unknown("cluster", wanted, names)
    return [entry for entry in entries if name(entry) == wanted]
