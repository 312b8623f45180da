"""Values that are one of several kinds of table, such as routings."""

from collections.abc import Callable, Mapping
from typing import Any

from odonata.document.quantities import problem
from odonata.errors import unknown


def one_of(kinds: Mapping[str, type], key: str, what: str, default: str | None = None) -> Callable[[Any], Any]:
    """A reader that determines the kind of a value.

    The table's `key` names the kind. If there is a `default` kind, a table without `key` means that one, and a bare
    name is short for a table with nothing else. The result is a table whose `key` is one of `kinds`; anything else is a
    validation problem.
    """

    def read(value: Any) -> Any:
        if default is not None and isinstance(value, str):
            value = {key: value}
        if not isinstance(value, Mapping):
            form = f"a {what} or a table" if default is not None else f"a table with `{key}`"
            raise problem(f"expected {form}, found `{value!r}`")
        name = value.get(key, default)
        if name is None:
            raise problem(f"missing key `{key}`", f"the {what}s are: {', '.join(kinds)}")
        if not isinstance(name, str) or name not in kinds:
            error = unknown(what, str(name), kinds)
            raise problem(error.message, error.hint, (key,))
        return {**value, key: name}

    return read
