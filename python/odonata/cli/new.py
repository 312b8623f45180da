"""`odonata new`: a file to start from."""

from importlib.resources import files
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from odonata.errors import InputError, RunError
from odonata.schemas import NAMES, line_of

RUN_BY = {"study": "sweep", "schedule": "schedule"}
"""The command that takes the file of a template, where it is not `run`."""


def new(
    file: Path,
    /,
    *,
    template: Annotated[
        Literal["scenario", "application", "incast", "training", "queue", "study", "schedule"],
        Parameter(name=["--template", "-t"]),
    ] = "scenario",
) -> int:
    """Write a commented file that runs in seconds: a scenario, a study or a schedule.

    Parameters
    ----------
    file
        The file to write, usually NAME.toml; it must not exist.
    template
        What to write. `scenario`: a job and what slows it down. `application`: phases of an iteration, such as halos
        and reductions. `incast`: all ranks of a job write to one, beside a neighbour, with what an animation needs.
        `training`: a step of training a language model. `queue`: jobs side by side, each on a list of nodes. `study`: a
        scenario along several axes, for `odonata sweep`. `schedule`: a stream of jobs over days, for `odonata
        schedule`.
    """
    source = files("odonata.scenario") / "templates" / f"{template}.toml"
    text = source.read_text(encoding="utf-8").replace("FILE", str(file)).replace("STEM", file.stem)
    text = f"{line_of(template if template in NAMES else 'scenario')}\n{text}"
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
        # An incomplete file is useless, and it would block the next attempt.
        file.unlink(missing_ok=True)
        if isinstance(problem, OSError):
            raise RunError(f"cannot write `{file}`: {problem.strerror or problem}") from None
        raise
    print(f"{file} written; run it with: odonata {RUN_BY.get(template, 'run')} {file}")
    return 0
