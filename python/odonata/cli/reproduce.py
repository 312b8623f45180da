"""`odonata reproduce`: a paper's results, simulated anew."""

import json as json_module
import shutil
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter, validators

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from odonata.reproduce.pool import Done
    from odonata.reproduce.rows import Row
    from odonata.reproduce.simulated import Simulated

WIDTH = 200
"""Columns of a table that does not go to a terminal."""

_STYLES = {"match": "green", "no match": "bold red", "not comparable": "yellow"}


def reproduce(
    study: str | None = None,
    /,
    *,
    list_: Annotated[bool, Parameter(name="--list", negative=())] = False,
    reduced: Annotated[bool, Parameter(negative=())] = False,
    workers: Annotated[int, Parameter(validator=validators.Number(gte=1))] = 2,
    out: Path = Path("validation"),
    json: Annotated[bool, Parameter(negative=())] = False,
    quiet: Annotated[bool, Parameter(name=["--quiet", "-q"], negative=())] = False,
) -> int:
    """Simulate a paper's results anew: ours over theirs, with a verdict.

    Parameters
    ----------
    study
        One of `--list`.
    list_
        List the studies.
    reduced
        Fewer cases and messages: a minute instead of half an hour.
    workers
        Simulations at once.
    out
        Folder for the page, the rows and the picture. Finished runs are kept in its folder `.cache` and not repeated.
    json
        Print one JSON object instead of the table.
    quiet
        No progress on standard error.
    """
    from odonata.errors import InputError

    if list_:
        return _list(json=json)
    if study is None:
        raise InputError("which study?", hint="`odonata reproduce --list` names them")
    from odonata.reproduce import find
    from odonata.reproduce.pool import run_cases
    from odonata.reproduce.publish import publish

    chosen = find(study)
    cases = chosen.cases(reduced=reduced)
    with _progress(len(cases), quiet=quiet) as done:
        outcomes = run_cases(cases, out / ".cache", workers=workers, done=done)
    rows = chosen.rows(outcomes)
    files = publish(chosen, rows, outcomes, out, reduced=reduced)
    if json:
        found = {"study": chosen.name, "reduced": reduced, "runs": len(cases), "files": [str(file) for file in files]}
        print(json_module.dumps({**found, "rows": [row.as_json() for row in rows]}))
    else:
        _print(rows)
        print("\n".join(str(file) for file in files))
    return 0


def _list(*, json: bool) -> int:
    from odonata.reproduce import STUDIES, find

    titles = {name: find(name).title for name in STUDIES}
    if json:
        print(json_module.dumps({"studies": [{"id": name, "title": title} for name, title in titles.items()]}))
    else:
        width = max(len(name) for name in titles)
        print("\n".join(f"{name:{width}}  {title}" for name, title in titles.items()))
    return 0


@contextmanager
def _progress(total: int, *, quiet: bool) -> "Iterator[Done | None]":
    """A bar on a terminal, a line for each simulation elsewhere; always on standard error."""
    if quiet:
        yield None
    elif not sys.stderr.isatty():
        yield lambda case, number, of, kept: print(_line(case, number, of, kept), file=sys.stderr, flush=True)
    else:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

        columns = (
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.description}", markup=False),
        )
        with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
            task = bar.add_task("", total=total)

            def show(case: "Simulated[Any]", number: int, of: int, kept: bool) -> None:
                bar.update(task, completed=number, description=_line(case, number, of, kept).partition(" ")[2])

            yield show


def _line(case: "Simulated[Any]", number: int, of: int, kept: bool) -> str:
    how = "kept" if kept else "done"
    return f"{number}/{of} {how}: {case.model} {case.name}, {case.messages} messages"


def _print(rows: "Sequence[Row]") -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from odonata.reproduce.markdown import number, published

    shown: Any = Table(box=None, pad_edge=False)
    for name in ("id", "what", "model", "ours", "published", "tolerance", "verdict", "N"):
        shown.add_column(name, justify="right" if name in ("ours", "published", "N") else "left")
    for row in rows:
        verdict = Text(row.verdict, style=_STYLES[row.verdict])
        ours = f"{number(row.ours, row.unit)} {row.unit}"
        shown.add_row(row.id, row.what, row.model, ours, published(row), row.tolerance, verdict, str(row.messages))
    Console(width=shutil.get_terminal_size().columns if sys.stdout.isatty() else WIDTH).print(shown)
