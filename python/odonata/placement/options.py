"""Options that several policies have."""

from collections.abc import Callable, Mapping
from typing import Any

from odonata.errors import InputError, unknown
from odonata.placement.policy import Freedom, Option, groups_option, whole_number

#: The seed of a draw outside a scenario.
DEFAULT_SEED = 1

#: The groups to use.
GROUPS = groups_option("the whole machine")

#: The seed of a policy that draws.
SEED = Option(
    "seed",
    "seed of the draw",
    whole_number("a seed", 0, 2**64 - 1),
    "in a scenario from the run's seed and the job's number, else 1",
)


def one_of(*words: str) -> Callable[[Any], str]:
    """A reader of one of these words."""

    def read(value: Any) -> str:
        if not isinstance(value, str):
            raise InputError(f"expected one of {', '.join(words)}, found `{value!r}`")
        if value not in words:
            raise unknown("value", value, words)
        return value

    return read


def yes_or_no(value: Any) -> bool:
    """Reads true or false."""
    if not isinstance(value, bool):
        raise InputError(f"expected true or false, found `{value!r}`")
    return value


#: The start of a round robin.
START = Option(
    "start",
    "where the round robin begins: `first` (group or router 0), or `after-last` (after the last node of "
    "the job placed before)",
    one_of("first", "after-last"),
    "first",
)


def freedom(options: Mapping[str, Any]) -> Freedom:
    """The freedom of a policy that only `groups` limits."""
    return Freedom.GROUPS if "groups" in options else Freedom.ANYWHERE
