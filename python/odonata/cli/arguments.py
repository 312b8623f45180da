"""Values of arguments that several commands read or write in the same way."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from odonata.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import polars as pl

    from odonata.prediction.predictor import Predictor


def policy_options(given: list[str], groups: str | None, seed: int | None) -> dict[str, Any]:
    """The options of a placement policy, from `-s option=value`, `--groups` and `--seed`.

    Raises InputError for one that is given twice.
    """
    from odonata.document.edit import read_value

    options: dict[str, Any] = {}
    for text in given:
        key, equals, value = text.partition("=")
        if not equals:
            raise InputError(f"`-s {text}` has no value", hint="write -s option=value")
        if key.strip() in options:
            raise InputError(f"`-s {key.strip()}` is given twice")
        try:
            options[key.strip()] = read_value(value.strip())
        except InputError as e:
            raise e.at(f"-s {key.strip()}") from None
    named = {name: given for name, given in (("groups", groups), ("seed", seed)) if given is not None}
    for name in named:
        if name in options:
            raise InputError(f"`{name}` is given twice: `-s {name}=...` and `--{name}`")
    return options | named


def pairs(where: list[str], example: str = "--where column=value") -> dict[str, str]:
    """Column -> value, of `column=value`. Raises InputError, with the example, for another text."""
    values = {}
    for text in where:
        name, sign, value = text.partition("=")
        if not sign or not name:
            raise InputError(f"expected {example}, found `{text}`")
        values[name] = value
    return values


def size(text: str) -> int:
    """Bytes of a size such as `1 MiB`, or of a plain number. Raises InputError."""
    from odonata import units

    try:
        return int(text)
    except ValueError:
        return units.size_bytes(text)


def known_of_run(of: Mapping[str, Any], message: str | None) -> dict[str, Any]:
    """What was said of a run: quantity -> value, and the size of its messages. Raises InputError for a wrong size."""
    said = {name: value for name, value in of.items() if value is not None}
    return said if message is None else said | {"bytes": size(message)}


def check_place(place: str | None, instead: Mapping[str, Any], needs_place: Mapping[str, Any]) -> None:
    """Raise InputError for options that exclude --place, or that need it and come without it."""
    if place is not None:
        if any(value is not None for value in instead.values()):
            *first, last = (f"--{name}" for name in instead)
            raise InputError(f"--place and {', '.join(first)} or {last} exclude each other")
        return
    for name, value in needs_place.items():
        if value is not None:
            raise InputError(f"--{name} goes with --place")


def check_known(predictor: Predictor, known: Mapping[str, Any], chooses: bool = False) -> None:
    """Raise InputError for what a predictor needs to know of a run besides b, and was not given.

    `chooses` says that a placement policy will tell groups and leaf switches.
    """
    for name in predictor.missing(known):
        if name in ("groups", "leaves", "neighbours"):
            if not chooses:
                raise InputError(
                    f"the predictor needs the {name} {'of' if name == 'neighbours' else 'that'} the run"
                    f"{'' if name == 'neighbours' else ' touches'}",
                    hint=f"give --place POLICY, or --{name} N",
                )
        else:
            raise InputError(f"the predictor needs --{name} of the run")


def write_table(table: pl.DataFrame, out: Path) -> None:
    """Write a table as Parquet or CSV, as the name says. Raises RunError if that is not possible."""
    import io

    from odonata import files

    buffer = io.BytesIO()
    table.write_parquet(buffer) if out.suffix == ".parquet" else table.write_csv(buffer)
    files.write(out, buffer.getvalue())
