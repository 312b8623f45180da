"""Values as Python and NumPy have them, in the types of TOML."""

from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any


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


def _scalar(value: Any) -> Any:
    """Without the subclasses that NumPy has of `float` and `str`."""
    for kind in (float, str):
        if isinstance(value, kind) and type(value) is not kind and type(value).__module__ == "numpy":
            return kind(value)
    return value
