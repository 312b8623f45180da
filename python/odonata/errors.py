"""What can go wrong, in the words of the person who has to mend it.

`str(error)` is the whole text for the user: `file:line: ` where it is known, the problem, and a
`hint:` line. The command line prints it after `error: ` and exits with `exit_status`.
"""

import difflib
import re
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

#: What could move the cursor of a terminal, hide text or turn it round, and halves of characters. Ends of lines and
#: tabs stay.
_UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]")


def visible(text: str) -> str:
    """The text with control characters written as escapes (`\\x1b`), for a terminal or a picture."""
    return _UNSEEN.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def shortened(text: str, most: int = 200) -> str:
    """The beginning of a text that somebody wrote, for a message."""
    return text if len(text) <= most else f"{text[:most]}..."


class OdonataError(Exception):
    """Base of every error that Odonata raises on purpose."""

    exit_status: ClassVar[int] = 1


class InputError(OdonataError):
    """The input is wrong: nothing was simulated.

    `file` and `line` say where (line 1 is the first), `hint` says what to try. Who finds the error
    often knows only the keys that lead to the wrong value (`path`); who read the file turns them
    into a line (`odonata.document.Document.locate`).
    """

    exit_status: ClassVar[int] = 2

    def __init__(
        self,
        message: str,
        *,
        file: str | Path | None = None,
        line: int | None = None,
        hint: str | None = None,
        path: tuple[str | int, ...] = (),
    ) -> None:
        super().__init__(message)
        self.message = message
        self.file = None if file is None else str(file)
        self.line = line
        self.hint = hint
        self.path = path

    def __str__(self) -> str:
        where = ""
        if self.file is not None:
            where = f"{self.file}: " if self.line is None else f"{self.file}:{self.line}: "
        hint = "" if self.hint is None else f"\n  hint: {self.hint}"
        return f"{where}{self.message}{hint}"

    def at(self, file: str | Path | None, line: int | None = None) -> "InputError":
        """The same error with a position, unless it has one already."""
        if self.file is not None:
            return self
        return InputError(self.message, file=file, line=line, hint=self.hint, path=self.path)

    def under(self, *prefix: str | int) -> "InputError":
        """The same error inside a larger table: `prefix` leads to the part that was at fault."""
        path = (*prefix, *self.path)
        return InputError(self.message, file=self.file, line=self.line, hint=self.hint, path=path)

    def __reduce__(self) -> tuple[object, ...]:
        # The default would rebuild from `args` and lose the position on its way between processes.
        return _rebuild_input_error, (
            self.message,
            self.file,
            self.line,
            self.hint,
            self.path,
        )


class UnknownNameError(InputError, AttributeError):
    """An object has no attribute of that name. `hint` says the nearest one."""


class StaleWarning(UserWarning):
    """Results that are there were made by another engine (`odonata.store.engine`), so they are made again."""


class RunError(OdonataError):
    """The input was fine and the run failed all the same (deadlock, full disk, broken installation)."""


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that `name` was probably meant to be, or None if nothing is near."""
    names = sorted(set(known))
    folded = {_fold(n): n for n in reversed(names)}
    if _fold(name) in folded:
        return folded[_fold(name)]
    close = difflib.get_close_matches(_fold(name), list(folded), n=1, cutoff=0.6)
    return folded[close[0]] if close else None


def unknown(kind: str, name: str, known: Iterable[str]) -> InputError:
    """The error for a name that is not in a table: names the nearest one, or all of them."""
    names = sorted(set(known))
    near = nearest(name, names)
    hint = f"did you mean `{near}`?" if near else "known: " + ", ".join(names)
    return InputError(f"unknown {kind} `{name}`", hint=hint)


class Attributes:
    """Base of the objects that users hold: a wrong attribute is an `UnknownNameError`."""

    if not TYPE_CHECKING:  # a type checker must go on to know every attribute

        def __getattr__(self, name: str) -> Any:
            raise unknown_attribute(self, type(self).__name__, dir(self), name)


def unknown_attribute(owner: object, what: str, known: Iterable[str], name: str) -> AttributeError:
    """The error for an attribute that is not there; for names with `_`, which libraries try, that of Python."""
    if name.startswith("_"):
        return AttributeError(f"{what!r} object has no attribute {name!r}", name=name, obj=owner)
    public = [one for one in known if not one.startswith("_")]
    near = nearest(name, public)
    hint = f"did you mean `{near}`?" if near else "known: " + ", ".join(public)
    return UnknownNameError(f"`{what}` has no `{name}`", hint=hint)


def _fold(name: str) -> str:
    return name.casefold().replace("-", "_")


def _rebuild_input_error(
    message: str,
    file: str | None,
    line: int | None,
    hint: str | None,
    path: tuple[str | int, ...],
) -> InputError:
    return InputError(message, file=file, line=line, hint=hint, path=path)
