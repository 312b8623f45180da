"""`odonata report`: a run, two runs or a study as one HTML file."""

import json as json_module
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter


def report(
    run: Path,
    other: Path | None = None,
    /,
    *,
    out: Annotated[Path | None, Parameter(name=["--out", "-o"])] = None,
    json: Annotated[bool, Parameter(negative=())] = False,
    verify: bool = True,
    force: Annotated[bool, Parameter(negative=())] = False,
) -> int:
    """Write a report: one HTML file that any current browser opens from the disk, without a network.

    Of a run it shows the jobs, the machine with its groups, routers, nodes and links, traffic and latencies over time,
    distributions of latencies, routes, the busiest links, and what was assumed. Of a study: the runs by the values of
    its axes, paired differences, comparisons with intervals, two axes as a matrix, and each run. Every table can be
    saved as CSV.

    Parameters
    ----------
    run
        A run folder, or the folder of a study.
    other
        Beside a run, a second run folder: the report shows both side by side, with the same scales, and the
        differences of their jobs.
    out
        The file. Default: `report.html` in the folder.
    json
        Print one JSON object with the path of the file and its size in bytes.
    verify
        Compare files with their checksums.
    force
        Overwrite a file that is not a report.
    """
    from odonata.report import check_target, report_of, usual_target, write_report

    page = report_of(run, other, verify=verify)
    target = out if out is not None else usual_target(run, other)
    check_target(target, force=force)
    write_report(target, page)
    print(json_module.dumps({"path": str(target), "bytes": len(page)}) if json else target)
    return 0
