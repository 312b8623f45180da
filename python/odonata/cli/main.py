"""`odonata`: the entry point, and the handling of errors.

Exit status: 0 done, 1 the run failed, 2 the input is wrong, 130 ended by Ctrl-C, 143 ended by SIGTERM.
Every error is one message on standard error; set `ODONATA_TRACEBACK=1` for the traceback as well.
"""

from __future__ import annotations

import atexit
import gc
import io
import json
import os
import signal
import sys
import threading
import traceback
from contextlib import contextmanager, nullcontext, redirect_stdout
from typing import TYPE_CHECKING, Any, TextIO, cast

from odonata.cli import COMMANDS, GROUPS
from odonata.errors import InputError, OdonataError, nearest, shortened, visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cyclopts import App, CycloptsError

OF_EXTRA = ("matplotlib", "scipy")
"""Libraries of `odonata[all]`: for pictures and statistics."""
INTERRUPTED = 130
"""Exit status after Ctrl-C, as shells have it: 128 + SIGINT."""
TERMINATED = 143
"""Exit status after SIGTERM (a queue's time limit, `timeout`, `kill`): 128 + SIGTERM."""


class TerminatedError(KeyboardInterrupt):
    """SIGTERM was received. It ends a command in the same way as Ctrl-C."""


_HELP = "Show which jobs on a shared network slow each other down, why, and which placement or routing prevents it."


def application() -> App:
    """The application with all its commands, none of them imported yet."""
    from cyclopts import App, Group

    app = App("odonata", help=_HELP, version=_version, help_format="plaintext", suppress_keyboard_interrupt=False)
    for position, (title, names) in enumerate(GROUPS.items()):
        group = Group(title, sort_key=position)
        for name in names:
            path, help_line = COMMANDS[name]
            app.command(path, name=name, help=help_line, group=group)
    help_line = "Install shell completion for bash, zsh or fish."
    app.command("odonata.cli.completion:install", name="--install-completion", help=help_line)
    return app


def commands_of(app: App, before: str = "") -> Iterator[tuple[str, App]]:
    """Every command that does something with its name, such as `cluster select`, in the order of the names."""
    for name in sorted(n for n in app if not n.startswith("-")):
        if app[name].default_command is None:
            yield from commands_of(app[name], f"{before}{name} ")
        else:
            yield f"{before}{name}", app[name]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command line (without the program's name; `sys.argv` if absent) and return its exit status."""
    _open_closed_streams()
    _write_every_character()
    # NumPy's library of linear algebra starts its threads when it is imported, which takes half of the import's time.
    # No command has matrices that are large enough for them.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # Imports make many objects and hardly any garbage. Looking for garbage less often saves 3 % of a short command's
    # time, and not looking for it at exit, when the system frees all memory anyway, 15 %.
    gc.set_threshold(100_000, 20, 20)
    atexit.unregister(gc.freeze)  # `main` can be called several times
    atexit.register(gc.freeze)
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    if arguments[:1] == ["help"]:
        arguments = [*arguments[1:], "--help"]  # `odonata help run` is `odonata run --help`
    if arguments == ["--version"]:
        print(_version())  # without the import of the commands' parser
        return 0
    try:
        # Help has colours on a terminal, and completion has marks for the shell. All other output is escaped, because
        # it contains texts of users and files.
        is_help = not arguments or not {"--help", "-h", "--version"}.isdisjoint(arguments)
        is_completion = arguments[:1] == ["__complete"]
        with _heeding_sigterm():
            with nullcontext() if is_help or is_completion else redirect_stdout(cast("TextIO", _Visible(sys.stdout))):
                status = _run(arguments)
            sys.stdout.flush()
    except BrokenPipeError:
        # The reader has closed the pipe (`odonata show | head`). Python flushes standard output once more at the end,
        # which must not fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except BaseException as problem:
        # A panic of the core is not an `Exception`, but it is not a request to exit either.
        known = (Exception, KeyboardInterrupt)
        if not isinstance(problem, known) and type(problem).__name__ != "PanicException":
            raise
        before = arguments[: arguments.index("--")] if "--" in arguments else arguments
        return _failed(*_told(problem), json_too="--json" in before)
    return status


def _told(problem: BaseException) -> tuple[OdonataError, int]:
    """An error in the terms of the user, and its exit status. All that is not known is a bug."""
    if isinstance(problem, OdonataError):
        return problem, problem.exit_status
    if isinstance(problem, TerminatedError):
        return OdonataError("terminated"), TERMINATED
    if isinstance(problem, KeyboardInterrupt):
        return OdonataError("interrupted"), INTERRUPTED
    if isinstance(problem, MemoryError):
        return OdonataError("not enough memory"), 1
    if isinstance(problem, ModuleNotFoundError) and (problem.name or "").partition(".")[0] in OF_EXTRA:
        hint = "pip install 'odonata[all]' adds pictures and statistics"
        return InputError(f"this needs {problem.name}, which is not installed", hint=hint), 1
    if isinstance(problem, OSError):
        return InputError(problem.strerror or str(problem), file=problem.filename), 1
    hint = "this is a bug in odonata; ODONATA_TRACEBACK=1 prints the traceback"
    return InputError(f"{type(problem).__name__}: {problem}", hint=hint), 1


@contextmanager
def _heeding_sigterm() -> Iterator[None]:
    """SIGTERM raises TerminatedError, unless the caller has it ignored or this is not the main thread."""
    if threading.current_thread() is not threading.main_thread() or signal.getsignal(signal.SIGTERM) is signal.SIG_IGN:
        yield
        return

    def terminate(*_: object) -> None:
        raise TerminatedError

    before = signal.signal(signal.SIGTERM, terminate)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before or signal.SIG_DFL)


def _open_closed_streams() -> None:
    """Replace a stream that the caller closed (`>&-`), which is None in Python, by the null device.

    Otherwise a file of results could get the number of the stream, and a library could write into it.
    """
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_WRONLY), "w", encoding="utf-8"))


def _write_every_character() -> None:
    """Characters that a stream cannot write (`µ` in a locale without Unicode) are written as escapes."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


class _Visible:
    """A stream that writes control characters as escapes: file names and values can contain any character."""

    def __init__(self, stream: TextIO) -> None:
        self.unescaped = stream
        """The stream itself, for colours."""

    def write(self, text: str) -> int:
        self.unescaped.write(visible(text))
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.unescaped, name)


def _run(arguments: list[str]) -> int:
    from cyclopts import CycloptsError

    app = application()
    try:
        status = app(arguments, exit_on_error=False, print_error=False, result_action="return_value")
    except CycloptsError as problem:
        raise _bad_arguments(problem, arguments) from None
    return status if isinstance(status, int) else 0


def _bad_arguments(problem: CycloptsError, arguments: list[str]) -> InputError:
    """The error for an unknown command, or the parser's own message."""
    from cyclopts import UnusedCliTokensError

    first = arguments[0] if arguments else ""
    if first and not first.startswith("-") and first not in COMMANDS:
        near = nearest(first, COMMANDS)
        hint = f"did you mean `odonata {near}`?" if near else "`odonata --help` lists the commands"
        return InputError(f"unknown command `{first}`", hint=hint)
    command = " ".join(problem.command_chain or ()) or first  # with a subcommand, as in `cluster import`
    hint = f"`odonata {command} --help` shows its arguments" if first in COMMANDS else "see `odonata --help`"
    if isinstance(problem, UnusedCliTokensError) and problem.unused_tokens:
        return InputError(f"unexpected argument `{problem.unused_tokens[0]}`", hint=hint)
    return InputError(" ".join(str(problem).split()), hint=hint)


def _as_object(problem: OdonataError) -> dict[str, Any]:
    """An error for programs: what is wrong, and where, as far as it is known."""
    if not isinstance(problem, InputError):
        return {"message": str(problem), "file": None, "line": None, "hint": None}
    file = None if problem.file is None else str(problem.file)
    return {"message": problem.message, "file": file, "line": problem.line, "hint": problem.hint}


def _failed(problem: OdonataError, status: int, *, json_too: bool) -> int:
    """Tells an error: one message on standard error, with `--json` also an object on standard output."""
    if json_too:
        print(json.dumps({"error": _as_object(problem)}))
    if os.environ.get("ODONATA_TRACEBACK"):
        traceback.print_exc()
    # A value from a file can contain any character, and can be very long.
    lines = [shortened(line, 4000) for line in str(problem).split("\n")]
    print(visible("error: " + "\n".join(lines)), file=sys.stderr)
    return status


def _version() -> str:
    from odonata import _core

    return _core.__version__


if __name__ == "__main__":
    sys.exit(main())
