"""`odonata report`: a run, two runs or a study as one HTML file."""

import hashlib
import json as json_module
import os
import sys
import webbrowser
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

SCREENS = ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")
"""Variables that say that a browser has a screen to open on, or which browser is meant."""


def report(
    run: Path,
    other: Path | None = None,
    /,
    *,
    out: Annotated[Path | None, Parameter(name=["--out", "-o"])] = None,
    open_: Annotated[bool, Parameter(name="--open", negative=())] = False,
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
    open_
        Open the report in the browser. Without `--out` it is then kept in the user's own folder, once for each run.
    json
        Print one JSON object with the path of the file and its size in bytes.
    verify
        Compare files with their checksums.
    force
        Overwrite a file that is not a report.
    """
    from odonata.report import check_target, report_of, usual_target, write_report

    page = report_of(run, other, verify=verify)
    usual = _kept if open_ else usual_target
    target = out if out is not None else usual(run, other)
    check_target(target, force=force)
    write_report(target, page)
    print(json_module.dumps({"path": str(target), "bytes": len(page)}) if json else target)
    if open_ and not (_has_screen() and webbrowser.open(target.resolve().as_uri())):
        print("no browser was found: open the file in one", file=sys.stderr)
    return 0


def _kept(run: Path, other: Path | None) -> Path:
    """Where the report of a run is kept that is opened at once."""
    from odonata import private

    which = "\0".join(str(path.resolve()) for path in (run, other) if path)
    return private.folder() / f"report-{hashlib.sha256(which.encode()).hexdigest()[:12]}.html"


def _has_screen() -> bool:
    return sys.platform == "darwin" or any(os.environ.get(name) for name in SCREENS)
