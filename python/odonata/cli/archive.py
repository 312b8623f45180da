"""`odonata archive`: a run or a study with all that is needed to repeat it, as one file."""

import json as json_module
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter, validators


def archive(
    folder: Path,
    /,
    *,
    out: Annotated[Path | None, Parameter(name=["--out", "-o"])] = None,
    check: Annotated[bool, Parameter(negative=())] = False,
    trust: Annotated[bool, Parameter(negative=())] = False,
    figure: Annotated[list[str] | None, Parameter(negative=(), allow_leading_hyphen=True)] = None,
    title: str | None = None,
    author: Annotated[list[str] | None, Parameter(negative=())] = None,
    year: Annotated[int | None, Parameter(validator=validators.Number(gte=1900, lte=9999))] = None,
    inputs: Path | None = None,
    force: Annotated[bool, Parameter(negative=())] = False,
    json: Annotated[bool, Parameter(negative=())] = False,
) -> int:
    """Pack a run or a study with all that is needed to repeat it, or repeat such an archive.

    Parameters
    ----------
    folder
        The folder of a run or of a study; with `--check` an archive.
    out
        What to write: NAME.tar.gz, NAME.zip, or a new folder. Default: `NAME.tar.gz` here, after the folder.
    check
        Repeat the archive in a temporary folder, and say whether ids, tables and figures are the same, byte by byte.
        Exit status 1 if one is not.
    trust
        With `--check`: run routings that are programs of the archive (Python files or libraries). Read them before.
    figure
        A picture, by the options of `odonata plot`, as in `--figure "--by routing --size 6x4"`. Several are allowed.
        Default: the picture that `odonata plot` draws.
    title
        The title in the citation. Default: the name of the folder.
    author
        An author, as `Family, Given`. Several are allowed.
    year
        The year of publication. Default: this year.
    inputs
        The folder in which the scenario or study was, to which paths in it are relative. Default: it is searched for
        around the results.
    force
        Overwrite an archive that exists.
    json
        Print one JSON object instead of the text.
    """
    from odonata.errors import InputError

    if check:
        given = {"--out": out, "--figure": figure, "--title": title, "--author": author, "--year": year}
        useless = [option for option, value in {**given, "--inputs": inputs}.items() if value is not None]
        if useless:
            raise InputError(f"`{useless[0]}` does nothing with `--check`")
        return _check(folder, trust=trust, json=json)
    if trust:
        raise InputError("`--trust` does nothing without `--check`")
    from odonata.archive.pack import KINDS, make

    if not (folder / "manifest.json").is_file():
        raise InputError(f"`{folder}` is not the folder of a run or a study", hint="--check repeats an archive")
    name = folder.resolve().name
    target = out if out is not None else Path(f"{name}.tar.gz")
    if not target.name.endswith(KINDS) and target.suffix in (".gz", ".tar", ".tgz", ".7z", ".xz", ".bz2"):
        raise InputError(f"cannot write `{target}`: an archive ends in .tar.gz or .zip, or is a folder")
    if not target.parent.is_dir():
        raise InputError(f"cannot write `{target}`: there is no folder `{target.parent}`")
    if target.exists() and not (force and target.is_file()):
        hint = "choose another name" + (", or add --force" if target.is_file() else "")
        raise InputError(f"`{target}` exists", hint=hint)
    names = make(
        folder, target, near=inputs, plots=figure or [""], title=title or name, authors=author or (),
        year=year or _this_year(),
    )  # fmt: skip
    if json:
        print(json_module.dumps({"path": str(target), "files": names}))
    else:
        print(f"{target}: {len(names)} files; odonata archive --check {target} repeats it")
    return 0


def _this_year() -> int:
    import datetime

    return datetime.datetime.now(tz=datetime.UTC).year


def _check(archive: Path, *, trust: bool, json: bool) -> int:
    from odonata.archive.check import check
    from odonata.errors import InputError, visible

    if not (archive.is_file() or archive.is_dir()):
        raise InputError(f"there is no archive `{archive}`")
    told = check(archive, trust=trust)
    if json:
        print(
            json_module.dumps(
                {"title": told.title, "same": told.same, "different": told.different, "notes": told.notes}
            )
        )
    else:
        for note in told.notes:
            print(visible(f"note: {note}"))
        for name in told.different:
            print(visible(f"different: {name}"))
        of = len(told.same) + len(told.different)
        print(visible(f"{told.title}: {len(told.same)} of {of} files are the same, byte by byte"))
    return 1 if told.different else 0
