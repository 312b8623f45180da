"""`odonata schema`: the JSON schema of a kind of file, for editors."""

from typing import Annotated, Literal

from cyclopts import Parameter


def schema(
    name: Literal["scenario", "system", "study", "schedule", "book"],
    /,
    *,
    path: Annotated[bool, Parameter(negative=())] = False,
) -> int:
    """Print the JSON schema of a kind of file, with which editors complete and check it.

    The first line of a TOML file names its schema for taplo and the extensions of editors that use it:
    `#:schema FILE`. `odonata new` writes this line.

    Parameters
    ----------
    name
        `scenario`, `system` (a machine), `study`, `schedule` or `book` (a traffic book).
    path
        Print where the schema is installed, in place of its text.
    """
    from odonata.schemas import path_of, text_of

    print(path_of(name) if path else text_of(name), end="\n" if path else "")
    return 0
