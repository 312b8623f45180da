"""Values as Python and NumPy have them, in the types of TOML."""

import os
from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any

from odonata import reading
from odonata.errors import InputError, shortened

Path = tuple[str | int, ...]

EXPECTED = "a text, a number, a boolean, a list or a table"


def plain(value: Any) -> Any:
    """A value in the types of TOML, with all that it holds.

    Integers of any kind become `int` (NumPy's among them), other scalars of NumPy the Python value. Arrays, ranges
    and tuples become lists, keys texts. Other values are unchanged.
    """
    if value is None or isinstance(value, bool | int | float | str):
        return _scalar(value)
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Mapping):
        return {str(key): plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple | range):
        return [plain(inner) for inner in value]
    if hasattr(value, "tolist"):  # an array or a scalar of NumPy
        return plain(value.tolist())
    return float(value) if isinstance(value, Real) else value


def checked(value: Any, path: Path = ()) -> Any:
    """A value in the types of TOML, copied, with all that it holds: as `plain`, and nothing else passes.

    A path of a file becomes a text, and a key of a table with the value `None` is left out, as if it were not given.

    Raises InputError for what TOML cannot express; its `path` leads to the value.
    """
    # Most values are one of these, and a scenario has thousands.
    kind = type(value)
    if kind is str:
        return _text(value, path)
    if kind is bool or kind is float:
        return value
    if kind is int:
        return _whole(value, path)
    if len(path) > reading.MOST_NESTED:
        raise InputError(f"tables or lists are nested too deeply; {reading.MOST_NESTED} levels at most can be read")
    if isinstance(value, Mapping):
        for key in value:
            if not isinstance(key, str):
                raise InputError(f"keys are texts, found `{shown(key)}`", path=path)
        given = ((checked(key, path), inner) for key, inner in value.items() if inner is not None)
        return {key: checked(inner, (*path, key)) for key, inner in given}
    if isinstance(value, list | tuple | range):
        return [checked(inner, (*path, index)) for index, inner in enumerate(value)]
    if isinstance(value, os.PathLike):
        return checked(os.fspath(value), path)
    for subclassed in (str, int, float):
        if isinstance(value, subclassed):
            return checked(_exactly(subclassed, value), path)
    read = plain(value)
    if type(read) is kind or isinstance(read, Mapping) or read is None:
        raise InputError(f"expected {EXPECTED}, found `{shown(value)}`", path=path)
    return checked(read, path)


def shown(value: object) -> str:
    """A value of any kind in a message."""
    try:
        return shortened(repr(value))
    except Exception:  # of a class of the user, or a number of too many digits
        return type(value).__name__


def key_of(path: Path) -> str:
    """A path in data, as Python's programmers write it: `job[0].app.interval`."""
    key = ""
    for step in path:
        if isinstance(step, int):
            key += f"[{step}]"
            continue
        bare = step.replace("-", "_").replace("_", "a").isalnum() and step.isascii()
        name = step if bare else f'"{shortened(step, 60)}"'
        key += f".{name}" if key else name
    return key


def _exactly(kind: type, value: Any) -> Any:
    """A value of a subclass without what the subclass adds, as of an enumeration."""
    return str.__str__(value) if kind is str else kind(value)


def _text(text: str, path: Path) -> str:
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            raise InputError("a text has half of a surrogate pair, which is no character", path=path) from None
    return text


def _whole(number: int, path: Path) -> int:
    if number.bit_length() > reading.MOST_BITS:
        raise InputError("a number has too many digits", path=path)
    return number


def _scalar(value: Any) -> Any:
    """Without the subclasses that NumPy has of `float` and `str`."""
    for kind in (float, str):
        if isinstance(value, kind) and type(value) is not kind and type(value).__module__ == "numpy":
            return kind(value)
    return value
