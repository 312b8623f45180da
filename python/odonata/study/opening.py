"""`odonata.open`: a run or a study, whichever a folder holds."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from odonata.study.folder import is_study_folder

if TYPE_CHECKING:
    from os import PathLike

    from odonata.store import Run
    from odonata.study.study import Study


def open_folder(path: str | PathLike[str], *, verify: bool = True) -> Run | Study:
    """Open the folder of a finished run or of a study.

    Parameters
    ----------
    path
        The folder, as `odonata run --out` and `odonata sweep --out` write it.
    verify
        Compare each file with its checksum when it is read for the first time.

    Returns
    -------
    Run or Study
        What the folder holds. The tables of a run are read when they are first used.

    Raises
    ------
    InputError
        If there is no such folder, if it holds neither, if it has another format, and if a file of it is missing or
        damaged.

    Examples
    --------
    >>> import odonata as od
    >>> run = od.run("examples/quick.toml", out=folder / "run")
    >>> od.open(folder / "run").id == run.id
    True
    """
    folder = Path(path)
    if is_study_folder(folder):
        from odonata.study.study import open_study

        return open_study(folder, verify=verify)
    from odonata.store.read import open_run

    return open_run(folder, verify=verify)
