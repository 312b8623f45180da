"""The commands of an archive: how to repeat it, and how each figure is drawn.

An archive may come from anyone, so its commands are not executed as they are written. Only options of figures are taken
from it, and only those in `VALUED` and `FLAGS`. The rest of a command is built here.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from typing import TYPE_CHECKING

from odonata.errors import InputError, RunError, nearest, shortened
from odonata.routing.program import REFUSE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

RESULTS, FIGURES, INPUTS, AGAIN = "results", "figures", "inputs", "again"
VALUED = (
    "--kind", "--way", "--job", "--by", "--value", "--series", "--title", "--x-label", "--y-label", "--size",
)  # fmt: skip
"""Options of `odonata plot` with a value that say what a figure shows."""
FLAGS = ("--animate", "--log", "--no-log", "--include-incomplete")
"""Those without a value. Options that choose files or skip checks are in neither."""
MOST_LETTERS = 1000
"""Most letters of a value (assumed)."""


def repeat_command(kind: str, main: str, *, alone: bool) -> list[str]:
    """The command that simulates the inputs again, in the folder of an archive."""
    command = ["odonata", "sweep" if kind == "study" else "run", f"{INPUTS}/{main}", "-o", AGAIN]
    return [*command, *(["--alone"] if alone else [])]


def figure_command(number: int, options: str) -> list[str]:
    """The command that draws a figure into its file. Raises InputError for options that an archive cannot have."""
    given = list(_checked(_words(options), options))
    return ["odonata", "plot", RESULTS, *given, "-o", figure_name(number, given)]


def figure_name(number: int, options: Sequence[str]) -> str:
    return f"{FIGURES}/figure-{number}.{'gif' if '--animate' in options else 'png'}"


def figure_again(number: int, command: str) -> list[str]:
    """The command of a figure of an archive, built from its options. Raises InputError if it is anything else."""
    words = _words(command)
    if words[:3] != ["odonata", "plot", RESULTS] or words[-2:-1] != ["-o"] or len(words) < 5:
        wanted = f"odonata plot {RESULTS} OPTIONS -o {FIGURES}/figure-{number}.png"
        raise InputError(f"it has the command `{shortened(command)}`, expected `{wanted}`")
    built = figure_command(number, shlex.join(words[3:-2]))
    if words[-1] != built[-1]:
        raise InputError(f"it names files outside of it: `{shortened(words[-1])}`, expected `{built[-1]}`")
    return built


def run_command(command: Sequence[str], at: Path, *, trust: bool = False) -> None:
    """Runs a command that was built here. Raises RunError if it fails.

    Without `trust`, no routing is run that is a program of the archive.
    """
    refuse = {} if trust else {REFUSE: "1"}
    quiet = [] if command[1] == "plot" else ["--quiet"]
    # -P: files in the folder are no modules of Python.
    line = [sys.executable, "-P", "-m", "odonata", *command[1:], *quiet]
    try:
        done = subprocess.run(
            line, cwd=at, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", check=False,
            env={**os.environ, **refuse},
        )  # fmt: skip
    except OSError as problem:
        raise RunError(f"cannot start `{shlex.join(command)}`: {problem.strerror or problem}") from None
    if done.returncode:
        raise RunError(f"`{shlex.join(command)}` failed: {done.stderr.strip().removeprefix('error: ')}")


def _words(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError as problem:
        raise InputError(f"`{shortened(text)}` is no command: {str(problem).lower()}") from None


def _checked(words: Sequence[str], options: str) -> Iterator[str]:
    """The options in one form: a name, and a value as the next word."""
    left = iter(words)
    for word in left:
        name, equals, value = word.partition("=")
        if name in FLAGS and not equals:
            yield name
        elif name in VALUED:
            value = value if equals else next(left, "")
            if not value or value.startswith("-"):
                raise InputError(f"`{name}` in the figure `{shortened(options)}` has no value")
            if len(value) > MOST_LETTERS or "\0" in value or not _is_text(value):
                raise InputError(f"`{name}` in a figure is a text of at most {MOST_LETTERS} letters")
            yield from (name, value)
        elif word.startswith(("-o", "--out", "--force", "--json")):
            hint = "the archive names figures itself"
            raise InputError(f"the figure `{shortened(options)}` names its own file: `{shortened(word)}`", hint=hint)
        else:
            near = nearest(name, [*VALUED, *FLAGS])
            hint = f"did you mean `{near}`?" if near else "known: " + ", ".join([*VALUED, *FLAGS])
            raise InputError(f"a figure of an archive has no `{shortened(word)}`", hint=hint)


def _is_text(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True
