"""`odonata view`: a report in the browser."""

import hashlib
import os
import sys
import webbrowser
from pathlib import Path

#: Variables that say that a browser has a screen to open on, or which browser is meant.
_SCREENS = ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")


def view(run: Path, other: Path | None = None, /, *, verify: bool = True) -> int:
    """Open the report of a run or a study in the browser; print its path if there is none.

    The file goes into the user's folder for kept files and replaces that of the same run. `odonata report` writes one
    to keep.

    Parameters
    ----------
    run
        A run folder, or the folder of a study.
    other
        A second run folder, to be shown beside the first run.
    verify
        Compare files with their checksums.
    """
    from odonata import private
    from odonata.report import report_of, write_report

    page = report_of(run, other, verify=verify)
    which = hashlib.sha256("\0".join(str(path.resolve()) for path in (run, other) if path).encode()).hexdigest()[:12]
    target = private.folder() / f"report-{which}.html"
    write_report(target, page)
    print(target)
    if not _has_screen() or not webbrowser.open(target.as_uri()):
        print("no browser was found: open the file in one", file=sys.stderr)
    return 0


def _has_screen() -> bool:
    return sys.platform == "darwin" or any(os.environ.get(name) for name in _SCREENS)
