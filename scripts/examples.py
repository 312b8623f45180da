#!/usr/bin/env python3
"""Run the examples in Markdown pages, and compare what they print with what the page shows.

    scripts/examples.py PAGE...            fail with a diff where a page is out of date
    scripts/examples.py --accept PAGE...   write what the commands print into the pages

Each page gets a folder of its own, in which `examples` is the project's folder of examples. Fenced blocks run in the
order of the page:

- `toml` whose first line is `# file: NAME` is written to NAME.
- `console`: each line that begins with `$ ` is a shell command. The lines below it are its standard output; a line
  `...` stands for any lines. A command without lines below it may print anything. Its exit status must be 0,
  or the one that a line `(exit status N)` names; with such a line, standard error is shown as well.
- `python` runs in one namespace for the page. In `pycon` the output is compared as by doctest.

`--keep FOLDER` keeps each page's folder as FOLDER/NAME, so that a site can show the pictures that commands draw.
"""

from __future__ import annotations

import argparse
import difflib
import doctest
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from warnings import catch_warnings, simplefilter

ROOT = Path(__file__).resolve().parents[1]
_FENCE = re.compile(r"^```(toml|console|python|pycon)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_EXIT = re.compile(r"^\(exit status (\d+)\)$", re.MULTILINE)
#: A command of odonata that needs no shell.
_PLAIN = re.compile(r"odonata [^|<>&;$`*?~(){}\n]+")
#: A command that needs one may take this long, in seconds.
TIMEOUT_S = 240
COLUMNS = "120"


class ExampleError(Exception):
    """An example that does not run, or prints something else."""


def check(page: Path, folder: Path, *, accept: bool = False) -> int:
    """Run the examples of a page in a folder; return how many there are.

    Raises ExampleError at the first example that fails. With `accept`, new output is written into the page.
    """
    if not (folder / "examples").exists():
        (folder / "examples").symlink_to(ROOT / "examples")
    text = page.read_text(encoding="utf-8")
    names: dict[str, object] = {"__name__": "__main__"}
    parts, at, count = [], 0, 0
    for block in _FENCE.finditer(text):
        line = text.count("\n", 0, block.start()) + 2
        kind, body = block[1], block[2]
        where = f"{page.name}:{line}"
        if kind == "toml":
            written = re.match(r"# file: (\S+)\n", body)
            if written is not None:
                (folder / written[1]).write_text(body, encoding="utf-8")
                count += 1
        elif kind == "console":
            count += 1
            new = _console(body, folder, where, accept=accept)
            parts += [text[at : block.start(2)], new]
            at = block.end(2)
        else:
            count += 1
            _python(kind, body, names, folder, where)
    if accept and (new_text := "".join([*parts, text[at:]])) != text:
        page.write_text(new_text, encoding="utf-8")
    return count


def _console(body: str, folder: Path, where: str, *, accept: bool) -> str:
    new = []
    for example in re.split(r"^(?=\$ )", body, flags=re.MULTILINE):
        if not example.strip():
            continue
        command, shown = _command(example)
        status = _EXIT.search(shown)
        done = _odonata(command, folder) if _PLAIN.fullmatch(command) else _shell(command, folder)
        expected = 0 if status is None else int(status[1])
        if done.returncode != expected:
            raise ExampleError(f"{where}: `{command}` ended with status {done.returncode}\n{done.stderr}")
        printed = done.stdout if status is None else f"{done.stdout}{done.stderr}{status[0]}\n"
        gap = shown[len(shown.rstrip("\n")) + 1 :] if shown.strip() else ""
        if shown.strip() and not _agree(shown.rstrip("\n"), printed.rstrip("\n")):
            if not accept:
                raise ExampleError(f"{where}: `{command}` prints something else\n{_diff(shown, printed)}")
            shown = printed.rstrip("\n") + "\n" + gap
        new.append(example[: len(example) - len(_command(example)[1])] + shown)
    return "".join(new)


def _shell(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "COLUMNS": COLUMNS,
        "PYTHONPATH": "",
    }
    return subprocess.run(
        ["bash", "-c", command], cwd=folder, env=environment, capture_output=True, text=True, timeout=TIMEOUT_S
    )


def _odonata(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """The same in this process, which has imported most of what the command needs: a new one takes half a second."""
    from odonata.cli.main import main

    before, columns = Path.cwd(), os.environ.get("COLUMNS")
    os.chdir(folder)
    os.environ["COLUMNS"] = COLUMNS
    try:
        with redirect_stdout(io.StringIO()) as out, redirect_stderr(io.StringIO()) as err, catch_warnings():
            simplefilter("default")
            status = main(shlex.split(command)[1:])
    finally:
        os.chdir(before)
        if columns is None:
            del os.environ["COLUMNS"]
        else:
            os.environ["COLUMNS"] = columns
    return subprocess.CompletedProcess(command, status, out.getvalue(), err.getvalue())


def _command(example: str) -> tuple[str, str]:
    """The command of an example, continuation lines joined, and the lines below it."""
    lines = example.splitlines(keepends=True)
    end = 1
    while end < len(lines) and lines[end].startswith("> "):
        end += 1
    command = "".join(line[2:] for line in lines[:end]).strip()
    return command, "".join(lines[end:])


def _agree(shown: str, printed: str) -> bool:
    pattern = "\n".join(r".*" if line == "..." else re.escape(line) for line in shown.splitlines())
    return re.fullmatch(pattern, printed, re.DOTALL) is not None


def _diff(shown: str, printed: str) -> str:
    lines = difflib.unified_diff(shown.splitlines(), printed.splitlines(), "page", "printed", lineterm="")
    return "\n".join(lines)


def _python(kind: str, body: str, names: dict[str, object], folder: Path, where: str) -> None:
    before = Path.cwd()
    os.chdir(folder)
    try:
        if kind == "python":
            exec(compile(body, where, "exec"), names)
            return
        test = doctest.DocTestParser().get_doctest(body, names, where, where, 0)
        said: list[str] = []
        flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
        runner = doctest.DocTestRunner(optionflags=flags, verbose=False)
        if runner.run(test, out=said.append, clear_globs=False).failed:
            raise ExampleError(f"{where}:\n{''.join(said)}")
        names.update(test.globs)
    except ExampleError:
        raise
    except Exception as problem:
        raise ExampleError(f"{where}: {type(problem).__name__}: {problem}") from problem
    finally:
        os.chdir(before)


def main() -> int:
    """Check or update the pages that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pages", nargs="+", type=Path)
    parser.add_argument("--accept", action="store_true", help="write new output into the pages")
    parser.add_argument("--keep", type=Path, help="keep the folders of the pages in this one")
    options = parser.parse_args()
    failed = 0
    for page in options.pages:
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(scratch)
            if options.keep is not None:
                folder = options.keep.resolve() / page.stem
                shutil.rmtree(folder, ignore_errors=True)  # of the last time
                folder.mkdir(parents=True)
            try:
                count = check(page, folder, accept=options.accept)
            except ExampleError as problem:
                failed += 1
                print(problem, file=sys.stderr)
            else:
                print(f"{page}: {count} examples")
    return min(failed, 1)


if __name__ == "__main__":
    sys.exit(main())
