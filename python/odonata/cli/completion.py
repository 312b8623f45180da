"""Shell completion: the command that installs it, and names that are looked up when TAB is pressed.

Commands, options and files are in the script that cyclopts writes. For a name, the script calls `odonata`, so that it
offers what is installed.
"""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - cyclopts reads the annotations
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from odonata.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping


def install(
    *,
    shell: Literal["bash", "zsh", "fish"] | None = None,
    out: Annotated[Path | None, Parameter(name=["--out", "-o"])] = None,
) -> int:
    """Install shell completion for bash, zsh or fish.

    Parameters
    ----------
    shell
        The shell. Default: the shell that runs this command.
    out
        File for the script. Default: the file that the shell reads, and a line in the start-up file of bash or zsh that
        loads it.
    """
    from cyclopts.completion.detect import ShellDetectionError, detect_shell

    from odonata.cli.main import application

    try:
        chosen = shell or detect_shell()
    except ShellDetectionError:
        raise InputError("the shell could not be detected", hint="name it: --shell bash, zsh or fish") from None
    written = application().install_completion(shell=chosen, output=out, add_to_startup=out is None)
    print(f"completion for {chosen} is in {written}; a new shell uses it")
    return 0


def systems(_: object) -> Mapping[str, str]:
    """Presets, with a line about each."""
    from odonata.cli.show import listing

    return listing()["systems"]


def policies(_: object) -> Mapping[str, str]:
    """Placement policies, with a line about each."""
    from odonata.cli.show import listing

    return listing()["placements"]


def routings(_: object) -> Mapping[str, str]:
    """Routings, with a line about each."""
    from odonata.cli.show import listing

    return listing()["routings"]


def shown(_: object) -> Mapping[str, str]:
    """Whatever `odonata show` can print, with a line about each."""
    from odonata.cli.show import listing

    listed = listing()
    names = {name: about for kind, each in listed.items() if kind != "columns" for name, about in each.items()}
    return {**dict.fromkeys(listed, "all of them"), **names}
