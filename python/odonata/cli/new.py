"""`odonata new`: a scenario to start from."""

from importlib.resources import files
from pathlib import Path

from odonata.errors import InputError, RunError


def new(file: Path, /) -> int:
    """Write a commented scenario that runs in seconds.

    Parameters
    ----------
    file
        The file to write, usually NAME.toml; it must not exist.
    """
    template = files("odonata.scenario") / "new.toml"
    text = template.read_text(encoding="utf-8").replace("FILE", str(file))
    try:
        out = file.open("x", encoding="utf-8")
    except FileExistsError:
        raise InputError("it exists already", file=file, hint="choose another name") from None
    except (FileNotFoundError, NotADirectoryError):
        raise InputError(f"there is no folder `{file.parent}`", file=file) from None
    except OSError as problem:
        raise RunError(f"cannot write `{file}`: {problem.strerror or problem}") from None
    try:
        with out:
            out.write(text)
    except BaseException as problem:
        # An incomplete scenario is useless, and it would block the next attempt.
        file.unlink(missing_ok=True)
        if isinstance(problem, OSError):
            raise RunError(f"cannot write `{file}`: {problem.strerror or problem}") from None
        raise
    print(f"{file} written; run it with: odonata run {file}")
    return 0
