"""`odonata cluster impact`: what all running jobs cost each other now."""

import json as json_module
import sys
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from odonata.cli.cluster_options import Flag, Json, NodesSource, Out, QueueSource, Quiet, listings_of
from odonata.cli.completion import systems
from odonata.errors import InputError

_DEFAULT = Path("impact")


def impact(
    *,
    system: Annotated[str | None, Parameter(completer=systems, metavar="SYSTEM")] = None,
    out: Out = None,
    source: QueueSource = QueueSource(),
    machine: NodesSource = NodesSource(),
    names: Path | None = None,
    book: Path | None = None,
    vary: Literal["traffic", "seeds", "nothing"] = "traffic",
    window: str | None = None,
    leave_out_unknown: Flag = False,
    report: Flag = False,
    json: Json = False,
    quiet: Quiet = False,
) -> int:
    """Say of all running jobs how much longer they take than alone, because of whom, and at which links.

    The machine is simulated with all jobs, on their own nodes, with traffic from a traffic book; and each job alone.
    Jobs alone are kept by content, so the next call simulates only jobs that are new. A job that ends too little in the
    simulated time is named as not judged.

    Parameters
    ----------
    system
        The machine: a preset, or the system file that `odonata cluster import` writes.
    out
        Folder for the results: `impact.json`, the run of the machine (`run`), and what is kept. Default: `impact`.
    machine.nodes_file
        A file that lists the nodes with their states: what `sinfo --json`, `sinfo` or `scontrol show node` prints.
    names
        Which host is which node, and which switch which router: the CSV that `odonata cluster import --names` writes.
        Default: such a file beside the system file.
    book
        The traffic book (TOML). Default: a book in which every value is assumed.
    vary
        Over what slowdowns range: the alternatives of the book, six seeds, or nothing (fastest).
    window
        How long the machine is simulated, such as `500 us`. Default: until every job can be judged, as far as 10
        million packet-hops allow.
    leave_out_unknown
        Leave out hosts that are no nodes of the machine.
    report
        Also write a report of the run of the machine, `run/report.html`.
    json
        Print one JSON object instead of the table.
    quiet
        No progress on standard error.
    """
    from odonata import files, units
    from odonata import machine as machines
    from odonata.cli.progress import ProgressLine
    from odonata.impact import impact as judge
    from odonata.impact.text import as_text
    from odonata.text import terminal_width
    from odonata.workload.from_queue import from_queue
    from odonata.workload.names import names_beside, read_names

    if system is None:
        raise InputError("a machine is missing", hint="--system FILE.toml or --system PRESET")
    window_ps = None
    if window is not None:
        try:
            window_ps = units.time_ps(window)
        except InputError as problem:
            raise InputError(f"--window: {problem.message}", hint=problem.hint) from None
        if window_ps < 1:
            raise InputError(f"--window: expected a time above 0, found `{window}`")
    folder = _DEFAULT if out is None else out
    _check(folder)
    queue, nodes_file = listings_of(source, machine)
    workload = from_queue(
        system,
        queue=queue,
        nodes_file=nodes_file,
        names=names,
        book=book,
        leave_out_unknown=leave_out_unknown,
    )
    loaded = machines.load(system, None, Path(), None)
    hosts = [name for job in workload.jobs for name in job.nodes]
    if names is None and system.endswith(".toml"):
        names = names_beside(loaded, Path(system), hosts)
    named = None if names is None else read_names(loaded, names)
    progress = ProgressLine(quiet=quiet)
    with files.alone_in(folder, "impact"), progress:
        result = judge(workload, folder, names=named, vary=vary, window=window_ps, progress=progress.report)
        text = json_module.dumps(result.as_dict(), indent=1) + "\n"
        files.write(folder / "impact.json", text)
        written = _report(folder) if report else None
    print(json_module.dumps(result.as_dict()) if json else as_text(result, terminal_width()))
    if not json:
        for note in result.notes:
            print(note, file=sys.stderr)
        if written is not None:
            print(f"report in {written}", file=sys.stderr)
    return 0


def _check(folder: Path) -> None:
    """Refuses a folder with other contents, of which something would be overwritten."""
    from odonata import files
    from odonata.impact.impact import RUN
    from odonata.impact.kept import FOLDER

    files.check_folder(folder)
    if not folder.exists():
        return
    own = {"impact.json", RUN, FOLDER}
    strange = sorted(path.name for path in folder.iterdir() if not path.name.startswith(".") and path.name not in own)
    there = (folder / "impact.json").exists() or (folder / FOLDER).exists()
    if (strange or (folder / RUN).exists()) and not there:
        raise InputError(f"`{folder}` exists and holds something else", hint="choose another folder with --out")


def _report(folder: Path) -> Path:
    from odonata.impact.impact import RUN
    from odonata.report import report_in

    return report_in(folder / RUN)
