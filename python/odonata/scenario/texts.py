"""Texts of a scenario that only people read."""

from typing import Annotated

from pydantic import AfterValidator, StringConstraints

from odonata.document import input_error_as_problem
from odonata.errors import InputError, shortened

LONGEST_TITLE = 200
"""Characters of a title at most. Assumed: it is still read as one."""


def _one_line(value: str) -> str:
    if not value.isprintable() or len(value) > LONGEST_TITLE:
        shown = shortened(value if value.isprintable() else repr(value), 60)
        hint = "control characters and line ends are not allowed; longer texts go into comments"
        raise InputError(f"expected one line of at most {LONGEST_TITLE} characters, found `{shown}`", hint=hint)
    return value


def title_of(text: str) -> str:
    """A text as a title can have it: other characters are replaced, and what is too long is cut."""
    line = "".join(char if char.isprintable() else "\ufffd" for char in " ".join(text.split()))
    return line if len(line) <= LONGEST_TITLE else f"{line[: LONGEST_TITLE - 3]}..."


Title = Annotated[str, StringConstraints(strip_whitespace=True), AfterValidator(input_error_as_problem(_one_line))]
"""One line of text; it changes no result and no run id."""
