"""Errors, in the terms of the user who has to fix them.

`str(error)` is the whole text for the user: `file:line: ` where it is known, the problem, and a
`hint:` line. The command line prints it after `error: ` and exits with `exit_status`.
"""

import difflib
import re
from collections.abc import Iterable
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

#: Characters that could move the cursor of a terminal, hide text or reverse it, and lone surrogates. Line ends and tabs
#: are kept.
_UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]")


def visible(text: str) -> str:
    """The text with control characters written as escapes (`\\x1b`), for a terminal or a picture."""
    return _UNSEEN.sub(lambda match: match[0].encode("unicode_escape").decode(), text)


def shortened(text: str, most: int = 200) -> str:
    """The beginning of a text of a user, for a message."""
    return text if len(text) <= most else f"{text[:most]}..."


class OdonataError(Exception):
    """Base of every error that Odonata raises on purpose.

    `code` is the stable name of what is wrong, for programs that distinguish errors; None for those that have no name
    yet. All errors of the simulator core have one (`crates/error/src/kind.rs`).
    """

    exit_status: ClassVar[int] = 1
    code: str | None = None


class OutOfTimeError(OdonataError):
    """The time for a search was used up. What was finished by then is kept."""


class InputError(OdonataError):
    """The input is wrong: nothing was simulated.

    `file` and `line` give the position in a file (line 1 is the first), `key` the one in data from Python, such as
    `job[0].app.interval`. `hint` says what to try, `code` is as in `OdonataError`. The code that finds the error often
    knows only the keys that lead to the wrong value (`path`). The code that reads the file turns them into a line
    (`odonata.document.Document.locate`).
    """

    exit_status: ClassVar[int] = 2

    def __init__(
        self,
        message: str,
        *,
        file: str | Path | None = None,
        line: int | None = None,
        key: str | None = None,
        hint: str | None = None,
        path: tuple[str | int, ...] = (),
        code: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.file = None if file is None else str(file)
        self.line = line
        self.key = key
        self.hint = hint
        self.path = path
        self.code = code

    def __str__(self) -> str:
        where = ""
        if self.file is not None:
            where = f"{self.file}: " if self.line is None else f"{self.file}:{self.line}: "
        elif self.key is not None:
            where = f"{self.key}: "
        hint = "" if self.hint is None else f"\n  hint: {self.hint}"
        return f"{where}{self.message}{hint}"

    @property
    def located(self) -> bool:
        """Whether it has a position."""
        return self.file is not None or self.key is not None

    def but(self, **changes: Any) -> "InputError":
        """The same error with other attributes: `error.but(path=("job", 0), hint=None)`."""
        names = ("message", "file", "line", "key", "hint", "path", "code")
        kept = {name: getattr(self, name) for name in names} | changes
        return type(self)(kept.pop("message"), **kept)

    def at(self, file: str | Path | None, line: int | None = None) -> "InputError":
        """The same error with a position, unless it has one already."""
        return self if self.located else self.but(file=file, line=line)

    def under(self, *prefix: str | int) -> "InputError":
        """The same error inside a larger table: `prefix` is the path of the inner table."""
        return self.but(path=(*prefix, *self.path))

    def __reduce__(self) -> tuple[object, ...]:
        # The default would rebuild from `args` and lose the position on its way between processes.
        attributes = {name: getattr(self, name) for name in ("file", "line", "key", "hint", "path", "code")}
        return _rebuild_input_error, (type(self), self.message, attributes)


class UnknownNameError(InputError, AttributeError):
    """An object has no attribute of that name. `hint` says the nearest one."""


class StaleWarning(UserWarning):
    """Existing results were made by another engine (`odonata.store.engine`), so they are simulated again."""


class RunError(OdonataError):
    """The input is valid, but the run failed (deadlock, full disk, broken installation)."""

    def __init__(self, message: str, *, code: str | None = None) -> None:
        super().__init__(message)
        self.code = code

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild_run_error, (str(self), self.code)


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that `name` was probably meant to be, or None if none is similar."""
    names = sorted(set(known))
    folded = {_fold(n): n for n in reversed(names)}
    if _fold(name) in folded:
        return folded[_fold(name)]
    typed = _fold(name)
    close = difflib.get_close_matches(typed, list(folded), n=max(1, len(folded)), cutoff=0.6)
    if not close:
        return None
    alike = [difflib.SequenceMatcher(None, other, typed).ratio() for other in close]
    # Of names that are as like, one that begins alike: `ap` is short for `app`, not `gap` cut in front.
    best = max(range(len(close)), key=lambda at: (alike[at], _begin(close[at], typed), -at))
    return folded[close[best]]


def _begin(a: str, b: str) -> int:
    """How many letters two texts have in common at their beginning."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(a, b, strict=False)))


def unknown(kind: str, name: str, known: Iterable[str]) -> InputError:
    """The error for a name that is not in a table, with the nearest name, or with all names."""
    names = sorted(set(known))
    near = nearest(name, names)
    hint = f"did you mean `{near}`?" if near else "known: " + ", ".join(names)
    return InputError(f"unknown {kind} `{shortened(name)}`", hint=hint)


class Attributes:
    """Base of the objects that users hold: a wrong attribute is an `UnknownNameError`."""

    if not TYPE_CHECKING:  # a type checker must go on to know every attribute

        def __getattr__(self, name: str) -> Any:
            raise unknown_attribute(self, type(self).__name__, dir(self), name)


def unknown_attribute(owner: object, what: str, known: Iterable[str], name: str) -> AttributeError:
    """The error for an attribute that is not there; for names with `_`, which libraries try, that of Python."""
    if name.startswith("_"):
        return AttributeError(f"{what!r} object has no attribute {name!r}", name=name, obj=owner)
    public = [attribute for attribute in known if not attribute.startswith("_")]
    near = nearest(name, public)
    hint = f"did you mean `{near}`?" if near else "known: " + ", ".join(public)
    return UnknownNameError(f"`{what}` has no `{name}`", hint=hint)


def _fold(name: str) -> str:
    return name.casefold().replace("-", "_")


def _rebuild_input_error(kind: type[InputError], message: str, attributes: dict[str, Any]) -> InputError:
    return kind(message, **attributes)


def _rebuild_run_error(message: str, code: str | None) -> RunError:
    return RunError(message, code=code)
