"""The files of a Chakra trace: one for each rank, by a folder or a template, or one for all ranks."""

import re
from pathlib import Path

from odonata import foreign, reading
from odonata.errors import InputError, nearest

#: The ending of the files (MLCommons Chakra, ASTRA-sim).
ENDING = ".et"
#: Most ranks that an error lists.
_LISTED = 8


def rank_files(given: Path) -> tuple[list[Path], bool]:
    """The files in the order of their ranks, and whether there is one for each rank (else one for all).

    `given` is a folder, a file, or a template whose `*` stands for the number of a rank. Raises InputError (path
    `chakra`).
    """
    if "*" in given.name:
        return _numbered(given), True
    if not given.is_dir():
        if not given.exists():
            hint = f"for one file for each rank write a template such as `{given.stem}.*{ENDING}`"
            raise InputError(f"there is no file or folder `{given}`", hint=hint, path=("chakra",))
        if (error := foreign.recognised(given, "chakra")) is not None:
            raise error
        return [given], False
    all_names = reading.names_in(given)
    names = [name for name in all_names if name.endswith(ENDING)]
    if not names:
        error = InputError(f"the folder `{given}` has no file that ends in {ENDING}", path=("chakra",))
        raise foreign.explained(error, given / all_names[0], "chakra") if all_names else error
    templates = sorted({re.sub(rf"\.\d+\{ENDING}$", f".*{ENDING}", name) for name in names})
    if len(templates) > 1:
        message = f"the folder `{given}` has files of several traces: {', '.join(templates[:_LISTED])}"
        raise InputError(message, hint="name one of them, as a template", path=("chakra",))
    if "*" not in templates[0]:
        return [given / templates[0]], False
    return _numbered(given / templates[0]), True


def rank_file(file: Path, rank: int | str) -> Path:
    """The file of a rank: `x.3.et` for `x.et`; with `*`, the template of all."""
    stem = file.name.removesuffix(ENDING)
    return file.with_name(f"{stem}.{rank}{ENDING}")


def _numbered(template: Path) -> list[Path]:
    """The files of ranks 0, 1, ... of a template."""
    before, _, after = template.name.partition("*")
    if "*" in after or "*" in str(template.parent):
        message = (
            f"`{template.name}`: expected a template with one `*`, in the name of the file, for the number of a rank"
        )
        raise InputError(message, path=("chakra",))
    folder = template.parent
    if not folder.is_dir():
        raise InputError(f"there is no folder `{folder}`", path=("chakra",))
    pattern = re.compile(re.escape(before) + r"(\d+)" + re.escape(after))
    names = reading.names_in(folder)
    files = {int(match[1]): folder / name for name in names if (match := pattern.fullmatch(name))}
    if not files:
        templates = {re.sub(r"\d+(?=\.\w+$)", "*", name) for name in names}
        near = nearest(template.name, templates)
        hint = f"did you mean `{near}`?" if near else None
        raise InputError(f"no file of the folder `{folder}` is named as `{template.name}`", hint=hint, path=("chakra",))
    missing = [rank for rank in range(max(files) + 1) if rank not in files]
    if missing:
        listed = ", ".join(map(str, missing[:_LISTED])) + (", ..." if len(missing) > _LISTED else "")
        message = f"`{template}`: files are there up to rank {max(files)}, but none for rank {listed}"
        raise InputError(message, hint="ranks are numbered from 0", path=("chakra",))
    return [files[rank] for rank in range(len(files))]
