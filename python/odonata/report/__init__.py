"""Reports: one HTML file that shows a run, two runs or a study, without a server and without a network.

`run.py` and its neighbours collect the data, `payload.py` packs them, and `page.py` puts them into a file together with
the script and the style sheet in `static/`. These two are built from `web/` by `make web`. `events.py` writes a run as
a trace for other viewers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from odonata import files
from odonata.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from odonata.store import Run
    from odonata.study.study import Study


def report_of_runs(runs: Sequence[Run]) -> bytes:
    """The report of a run, or of two runs side by side, as an HTML file.

    Raises InputError if a file of a run is damaged.
    """
    from odonata.report.differences import title_of
    from odonata.report.page import page
    from odonata.report.run import run_document

    documents = [run_document(run) for run in runs]
    names = list(dict.fromkeys(document["title"] or document["name"] for document in documents))
    title = " and ".join(names)
    if len(runs) > 1:
        title += f": {title_of(runs[0], runs[1])}"
    return page(f"{title} - Odonata", {"kind": "runs", "title": title, "runs": documents})


def report_of_study(study: Study) -> bytes:
    """The report of a study as an HTML file.

    Raises InputError if no run of it is done.
    """
    from odonata.report.page import page
    from odonata.report.study import study_document

    return page(f"{study.name} - Odonata", {"kind": "study", **study_document(study)})


def report_of(folder: Path, other: Path | None = None, *, verify: bool = True) -> bytes:
    """The report of the run or study in a folder, or of the runs in two folders.

    Raises InputError if a folder is missing or damaged, and for two folders that are not both of runs.
    """
    from odonata.store.read import open_run
    from odonata.study.folder import is_study_folder

    for path in (folder, other):
        if path is not None and other is not None and is_study_folder(path):
            message = f"`{path}` is the folder of a study; only two runs can be shown side by side"
            raise InputError(message, hint="`odonata report STUDY` compares the runs of a study")
    if is_study_folder(folder):
        from odonata.study.study import open_study  # with the statistics of studies

        return report_of_study(open_study(folder, verify=verify))
    runs = [open_run(path, verify=verify) for path in (folder, other) if path is not None]
    return report_of_runs(runs)


def usual_target(folder: Path, other: Path | None = None) -> Path:
    """The default path of a report: in the folder, or in the first of two."""
    return folder / ("report.html" if other is None else f"report-beside-{other.resolve().name}.html")


def check_target(target: Path, *, force: bool) -> None:
    """Raises InputError if no report can go there: no folder, or a file that is not a report, unless `force`."""
    from odonata.report.page import MARK

    if target.is_dir():
        raise InputError(f"`{target}` is a folder, expected a file name", hint=f"write -o {target / 'report.html'}")
    if not target.parent.is_dir():
        raise InputError(f"there is no folder `{target.parent}`", hint="create it, or choose another with -o")
    if target.is_file() and not force and MARK.encode() not in target.read_bytes()[:4096]:
        raise InputError(f"`{target}` exists and is not a report", hint="choose another name, or add --force")


def write_report(target: Path, page: bytes) -> None:
    """Write a report, complete or not at all. Raises RunError if it cannot be written."""
    files.write(target, page)


def report_in(folder: Path) -> Path:
    """Write the report of a run or study into its folder, and return its path.

    Raises InputError if a file of another kind has its name, and RunError if it cannot be written.
    """
    target = usual_target(folder)
    check_target(target, force=False)
    write_report(target, report_of(folder))
    return target
