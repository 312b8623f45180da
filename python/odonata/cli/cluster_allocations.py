"""`odonata cluster allocations`: where the running jobs of a cluster are, and with whom they share links."""

import json as json_module
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

_Flag = Parameter(negative=())


def allocations(
    *,
    topology: Path,
    queue: Path | None = None,
    queue_format: str | None = None,
    cluster: str | None = None,
    place: str = "level-spread",
    together: Annotated[bool, _Flag] = False,
    out: Annotated[Path | None, Parameter(name=["--out", "-o"])] = None,
    force: Annotated[bool, _Flag] = False,
    json: Annotated[bool, _Flag] = False,
) -> int:
    """Say where the running jobs are: switches and groups, links that they share, and how far from a policy.

    Nothing is simulated, and what the jobs send does not matter. Without --queue, Slurm is asked.

    Parameters
    ----------
    topology
        The switches: `topology.conf`, or what `scontrol show topology` prints.
    queue
        A file instead of the queue of Slurm: what `squeue --json`, `squeue` or `scontrol show job` prints.
    queue_format
        With --queue: the format of its text, where the header is missing, as in `--queue-format '%i|%T|%N'`.
    cluster
        Which cluster, where a file lists several, as `squeue -M all` and `sacct -L` do.
    place
        The placement policy that the jobs are compared with, each alone on the empty machine.
    together
        Of jobs that have a node in common, keep only the first: for a list of jobs of different times.
    out
        Write the jobs that were kept into this file, as a queue for `odonata cluster snapshot --queue`.
    force
        Overwrite a file with other contents.
    json
        Print one JSON object, with every job.
    """
    from odonata import files
    from odonata.allocation.allocated import allocations as find
    from odonata.allocation.allocated import as_text
    from odonata.queue.listing import listings
    from odonata.text import terminal_width

    given, _ = listings(queue, queue_format, None, None, cluster)
    located = find(topology, queue=given, place=place, together=together)
    if out is not None:
        files.write_new(out, located.queue.encode(), force=force)
    print(json_module.dumps(located.as_dict()) if json else as_text(located, terminal_width()))
    return 0
