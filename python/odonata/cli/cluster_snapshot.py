"""`odonata cluster snapshot`: a queue becomes a scenario; `odonata cluster holds`: what holds for all assumptions."""

import json as json_module
import os
import sys
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter

from odonata.cli.cluster_options import Flag, Json, NodesSource, Out, QueueSource, listings_of
from odonata.cli.completion import systems
from odonata.errors import InputError


def snapshot(
    *,
    system: Annotated[str | None, Parameter(completer=systems, metavar="SYSTEM")] = None,
    out: Out = None,
    source: QueueSource = QueueSource(),
    machine: NodesSource = NodesSource(),
    names: Path | None = None,
    book: Path | None = None,
    victim: str | None = None,
    vary: Literal["traffic"] | None = None,
    leave_out_unknown: Flag = False,
    print_book: Flag = False,
    force: Flag = False,
    json: Flag = False,
) -> int:
    """Make a scenario of the jobs that run on a cluster: on their own nodes, with traffic from a traffic book.

    Without --queue, Slurm is asked. Slurm does not know what jobs send: a traffic book says it, by partition, account,
    name and size. The scenario lists everything that is assumed, and so does the report of its runs.

    Parameters
    ----------
    system
        The machine: a preset, or the system file that `odonata cluster import` writes.
    out
        The scenario. Default: standard output.
    machine.nodes_file
        A file that lists the nodes with their states: what `sinfo --json`, `sinfo` or `scontrol show node` prints.
    names
        Which host is which node: the CSV that `odonata cluster import --names` writes. Default: such a file beside the
        system file, else by the numbers in the names, from 0 or from 1 as the hosts count.
    book
        The traffic book (TOML). Default: a book in which every value is assumed.
    victim
        Slurm's id of the job that is looked at. Default: the running job with the most nodes.
    vary
        Also write a study over the alternatives of the book, NAME-traffic.toml beside the scenario.
    leave_out_unknown
        Leave out hosts that are no nodes of the machine.
    print_book
        Print the default traffic book, to copy and change it.
    force
        Overwrite files with other contents.
    json
        Print one JSON object; it needs --out.
    """
    from odonata import files
    from odonata.workload.book import default_text
    from odonata.workload.from_queue import from_queue

    if print_book:
        print(default_text(), end="")
        return 0
    if system is None:
        hint = "--system NAME, or the system file that `odonata cluster import` writes"
        raise InputError("which machine is the cluster?", hint=hint)
    if out is None and (vary is not None or json):
        raise InputError("--vary and --json need a file for the scenario", hint="-o NAME.toml")
    if out is not None and system.endswith(".toml"):
        system = Path(os.path.relpath(system, out.parent)).as_posix()  # as the scenario needs it
    queue, nodes_file = listings_of(source, machine)
    workload = from_queue(
        system,
        queue=queue,
        nodes_file=nodes_file,
        names=names,
        book=book,
        victim=victim,
        leave_out_unknown=leave_out_unknown,
        folder="." if out is None else out.parent,
    )
    text = workload.toml()
    if out is None:
        print(text, end="")
        return 0
    study = out.with_name(f"{out.stem}-traffic.toml")
    told: dict[str, Any] = {"scenario": str(out)}
    varied = None if vary is None else workload.study(out.name)
    files.write_new(out, text.encode(errors="replace"), force=force)
    if varied is not None:
        files.write_new(study, varied.encode(errors="replace"), force=force)
        told["study"] = str(study)
    if json:
        jobs = [{"id": job.id, "nodes": list(workload.nodes[job.id])} for job in workload.jobs]
        told |= {"victim": workload.victim, "jobs": jobs, "unavailable": list(workload.unavailable)}
        print(json_module.dumps(told | {"assumptions": workload.assumptions()}))
        return 0
    many = sum(text.startswith("assumed") for text in workload.assumptions().values())
    print(f"{out}: {workload.made_from}; the run waits for `{workload.victim}`; {many} assumptions, all in [sources]")
    if vary is not None:
        print(f"{study}: {len(workload.book.table.alternatives) + 1} assumptions about the traffic")
    for note in workload.notes:
        print(note, file=sys.stderr)
    return 0


def holds(study: Path, /, *, json: Json = False) -> int:
    """Say what holds for all assumptions about the traffic, from the study of `snapshot --vary traffic`.

    Parameters
    ----------
    study
        The folder of the study, after `odonata sweep`.
    """
    from odonata.study.study import open_study
    from odonata.workload.robustness import robustness

    conclusions = robustness(open_study(study))
    print(json_module.dumps(conclusions.as_dict()) if json else conclusions)
    return 0
