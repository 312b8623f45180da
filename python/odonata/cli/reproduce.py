"""`odonata reproduce`: simulates the results of a paper again."""

import json as json_module
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter, validators

from odonata.reproduce.rows import Verdict
from odonata.text import aligned

if TYPE_CHECKING:
    from collections.abc import Sequence

    from odonata.reproduce.reproduction import Reproduction, Runs
    from odonata.reproduce.rows import Row
    from odonata.study.local import LocalPool

_STYLES = {"match": "green", "direction": "cyan", "no match": "bold red", "not comparable": "yellow"}


def reproduce(
    name: str | None = None,
    /,
    *,
    list_: Annotated[bool, Parameter(name="--list", negative=())] = False,
    summary: Annotated[bool, Parameter(negative=())] = False,
    rows_: Annotated[str | None, Parameter(name="--rows")] = None,
    verdict: Verdict | None = None,
    tables: str | None = None,
    from_rows: Annotated[bool, Parameter(negative=())] = False,
    reduced: Annotated[bool, Parameter(negative=())] = False,
    model: str | None = None,
    workers: Annotated[
        int | None, Parameter(name=["--workers", "-j"], validator=validators.Number(gte=1, lte=1024))
    ] = None,
    data: Path | None = None,
    out: Annotated[Path, Parameter(name=["--out", "-o"])] = Path("validation"),
    force: Annotated[bool, Parameter(negative=())] = False,
    json: Annotated[bool, Parameter(negative=())] = False,
    quiet: Annotated[bool, Parameter(name=["--quiet", "-q"], negative=())] = False,
) -> int:
    """Reproduce a paper's results, by simulation or from measured data: ours beside theirs, with a verdict.

    Its runs are a study: after an interruption the same command continues and repeats nothing.

    Parameters
    ----------
    name
        One of `--list`.
    list_
        List the reproductions.
    summary
        Print how many rows of each paper and kind have which verdict, from the rows in `--out`, and write its pages.md
        and, if no study is missing, README.md with the conclusions. Simulates nothing.
    rows_
        Print the rows of this study, page or paper (`kang2019-4kb`, `kang2019-results`, `"Kang 2019"`, `kang2019`) from
        `--out`. Simulates nothing.
    verdict
        With `--rows`: those with this verdict only.
    tables
        Print every table that the runs and rows of this study, page or paper give, also those that no page shows, from
        `--out`. Simulates nothing.
    from_rows
        Write its page again from the rows and texts in `--out`, without a simulation: the verdicts and words of this
        version on the numbers of the run that made them, whose version, engine and date stay. The picture stays.
    reduced
        Fewer runs and messages: a minute instead of half an hour.
    model
        Simulate this model of the study only, and keep the rows and texts in `--out` of the others.
    workers
        Number of simulations at once. Default: one for each processor.
    data
        Folder with other measurements in place of the packaged ones, in the same tables (`interference-...`).
    out
        Folder for the page, the rows and the picture. The study is in its folder `studies`.
    force
        Simulate finished runs again.
    json
        Print one JSON object instead of the table.
    quiet
        No progress on standard error.
    """
    from odonata.errors import InputError

    _check_modes(
        {"--list": list_, "--summary": summary, "--rows": rows_ is not None, "--tables": tables is not None},
        {
            "--model": model is not None, "--reduced": reduced, "--from-rows": from_rows, "--force": force,
            "--data": data is not None, "--workers": workers is not None,
        },
    )  # fmt: skip
    if verdict is not None and rows_ is None:
        raise InputError("`--verdict` chooses among rows", hint="add `--rows PAPER`")
    if list_:
        return _list(json=json)
    if summary:
        return _summary(out, name, json=json)
    if rows_ is not None:
        return _rows(out, rows_, verdict, name, json=json)
    if tables is not None:
        return _tables(out, tables, name, json=json)
    if name is None:
        raise InputError("which reproduction?", hint="`odonata reproduce --list` names them")
    from odonata.reproduce import find

    chosen = find(name)
    if model is not None and (from_rows or reduced or data is not None):
        raise InputError("`--model` makes new rows for a full page", hint="leave out the other option")
    if from_rows:
        if reduced or force or data is not None:
            raise InputError("`--from-rows` simulates nothing", hint="leave out `--reduced`, `--force` and `--data`")
        rows, files = chosen.publish_again(out)
        return _told(chosen, rows, files, {"runs": 0, "reduced": False}, json=json)
    runs = _swept(chosen, out / "studies", workers, data=data, model=model, reduced=reduced, force=force, quiet=quiet)
    rows = chosen.rows(runs)
    if model is not None:
        own: list[Row] = []
        if any(point.get(chosen.model_key) == model for point in chosen.points(True)):
            own = chosen.rows(chosen.run(_pool(workers), None, reduced=True, model=model))
        rows, files = chosen.publish_one(model, rows, runs, out, chosen.made(out / "studies"), own)
        return _told(chosen, rows, files, {"runs": len(runs), "reduced": False}, json=json)
    # A full page keeps the numbers of the reduced form, against which tests hold later engines.
    beside = None if reduced or data is not None else chosen.rows(chosen.run(_pool(workers), None, reduced=True))
    made = chosen.made(out / "studies")
    files = chosen.publish(rows, runs, out, reduced=reduced, made=made, beside=beside)
    # As on the page; of the reduced form all rows, against which tests hold those that are kept.
    told = rows if reduced else chosen.explain(rows)
    return _told(chosen, told, files, {"runs": len(runs), "reduced": reduced}, json=json)


def _check_modes(modes: dict[str, bool], options: dict[str, bool]) -> None:
    """Raises InputError for two modes at once, or for an option of simulations with one of them."""
    from odonata.errors import InputError

    asked, given = ([option for option, on in of.items() if on] for of in (modes, options))
    if asked and (others := [*asked[1:], *given]):
        raise InputError(f"`{asked[0]}` simulates nothing", hint=f"leave out `{others[0]}`")


def _told(
    chosen: "Reproduction", rows: "Sequence[Row]", files: "Sequence[Path]", facts: "dict[str, int]", *, json: bool
) -> int:
    if json:
        facts_of_page = {"study": chosen.name, **facts, "files": [str(file) for file in files]}
        print(json_module.dumps({**facts_of_page, "rows": [row.as_json() for row in rows]}))
    else:
        _print(rows)
        print("\n".join(str(file) for file in files))
    return 0


def _summary(out: Path, name: str | None, *, json: bool) -> int:
    from odonata import files
    from odonata.errors import InputError
    from odonata.reproduce.front import front
    from odonata.reproduce.summary import index, printed, summarise
    from odonata.store.engine import fingerprint
    from odonata.text import Column, Table

    if name is not None:
        raise InputError("`--summary` is of all reproductions", hint=f"leave out `{name}`, or `--summary`")
    summary = summarise(out)
    files.write(out / "pages.md", index(summary, fingerprint()).encode())
    if summary.missing:
        print(f"README.md is not written: {', '.join(summary.missing)} missing in {out}", file=sys.stderr)
    else:
        files.write(out / "README.md", front(out).encode())
    if json:
        print(json_module.dumps({"summary": summary.as_json(), "missing": list(summary.missing)}))
        return 0
    head, lines = printed(summary)
    Table([Column(name, number > 2) for number, name in enumerate(head)], lines).show()
    return 0


def _rows(out: Path, of: str, verdict: Verdict | None, name: str | None, *, json: bool) -> int:
    from odonata.errors import InputError
    from odonata.reproduce.compose import rows_of

    if name is not None:
        raise InputError("`--rows` simulates nothing", hint=f"leave out `{name}`, or `--rows`")
    chosen = [(study, row) for study, row in rows_of(out, of) if verdict in (None, row.verdict)]
    if json:
        print(json_module.dumps({"rows": [{"study": study, **row.as_json()} for study, row in chosen]}))
    else:
        _print([row for _, row in chosen])
        print(f"{len(chosen)} rows")
    return 0


def _tables(out: Path, of: str, name: str | None, *, json: bool) -> int:
    from odonata.errors import InputError
    from odonata.reproduce.compose import tables_of

    if name is not None:
        raise InputError("`--tables` simulates nothing", hint=f"leave out `{name}`, or `--tables`")
    made = [{"study": study, "table": what, "text": text} for study, what, text in tables_of(out, of)]
    if json:
        print(json_module.dumps({"tables": made}))
    else:
        print("\n\n".join(f"# {each['study']}: {each['table']}\n\n{each['text']}" for each in made))
    return 0


def _swept(
    chosen: "Reproduction",
    folder: Path,
    workers: int | None,
    *,
    data: Path | None,
    model: str | None,
    reduced: bool,
    force: bool,
    quiet: bool,
) -> "Runs":
    """The runs of its study, with progress on standard error."""
    from odonata.cli.sweep_progress import SweepProgress
    from odonata.errors import InputError

    plan = chosen.plan(reduced=reduced, model=model)
    pool = _pool(workers)
    if plan is None:
        return chosen.run(pool, None, reduced=reduced, data=data)
    if data is not None:
        raise InputError(f"`{chosen.name}` reads no measurements", hint="--data is for those that do")
    progress = SweepProgress(plan, pool, quiet=quiet)
    with progress:
        runs = chosen.run(pool, folder, reduced=reduced, force=force, report=progress.report, model=model)
    progress.close(folder / plan.name)
    return runs


def _pool(workers: int | None) -> "LocalPool":
    from odonata.processors import processors
    from odonata.study.local import LocalPool

    return LocalPool(workers if workers is not None else processors())


def _list(*, json: bool) -> int:
    from odonata.reproduce import REPRODUCTIONS, find

    titles = {name: find(name).title for name in REPRODUCTIONS}
    if json:
        print(json_module.dumps({"studies": [{"id": name, "title": title} for name, title in titles.items()]}))
    else:
        print("\n".join(aligned(list(titles.items()))))
    return 0


def _print(rows: "Sequence[Row]") -> None:
    from odonata.reproduce.markdown import number, published
    from odonata.text import Column, Table

    names = ("id", "what", "model", "ours", "published", "tolerance", "verdict", "N")
    columns = [
        Column(name, name in ("ours", "published", "N"), styles=_STYLES if name == "verdict" else {}) for name in names
    ]
    cells = []
    for row in rows:
        ours = f"{number(row.ours, row.unit)} {row.unit}"
        cells.append([row.id, row.what, row.model, ours, published(row), row.tolerance, row.verdict, str(row.messages)])
    Table(columns, cells).show()
