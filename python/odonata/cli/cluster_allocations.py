"""`odonata cluster allocations`: where the running jobs of a cluster are, and with whom they share links."""

import json as json_module
from pathlib import Path

from odonata.cli.cluster_options import Flag, Out, QueueSource, listings_of


def allocations(
    *,
    topology: Path,
    source: QueueSource = QueueSource(),
    place: str = "level-spread",
    together: Flag = False,
    out: Out = None,
    force: Flag = False,
    json: Flag = False,
) -> int:
    """Say where the running jobs are: switches and groups, links that they share, and how far from a policy.

    Nothing is simulated, and what the jobs send does not matter. Without --queue, Slurm is asked.

    Parameters
    ----------
    topology
        The switches: `topology.conf`, `topology.yaml`, or what `scontrol show topology` prints.
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
    from odonata.text import terminal_width

    queue, _ = listings_of(source)
    located = find(topology, queue=queue, place=place, together=together)
    if out is not None:
        files.write_new(out, located.queue.encode(), force=force)
    print(json_module.dumps(located.as_dict()) if json else as_text(located, terminal_width()))
    return 0
