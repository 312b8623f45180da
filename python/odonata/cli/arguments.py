"""Values of arguments that several commands read or write in the same way."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from odonata.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

    import polars as pl


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


def write_table(table: pl.DataFrame, out: Path) -> None:
    """Write a table as Parquet or CSV, as the name says. Raises RunError if that is not possible."""
    import io

    from odonata import files

    buffer = io.BytesIO()
    table.write_parquet(buffer) if out.suffix == ".parquet" else table.write_csv(buffer)
    files.write(out, buffer.getvalue())
