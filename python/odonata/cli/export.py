"""`odonata export`: a machine as a graph, or a run as a trace, as files of DragonView or as flow completion times."""

import json as json_module
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from odonata.cli.completion import systems
from odonata.errors import InputError, unknown

#: Formats of a run; one JSON serves both viewers of traces.
OF_RUNS = ("perfetto", "chrome-trace", "dragonview", "flows")


def export(
    system: Annotated[str, Parameter(completer=systems, metavar="SYSTEM")],
    /,
    *,
    out: Annotated[Path, Parameter(name=["--out", "-o"])],
    format_: Annotated[str | None, Parameter(name="--format")] = None,
    force: Annotated[bool, Parameter(negative=())] = False,
    json: Annotated[bool, Parameter(negative=())] = False,
) -> int:
    """Write a machine as a graph or as the files of a real cluster, or a run for a viewer of traces or of machines.

    Parameters
    ----------
    system
        The machine: a name (`odonata show systems`), its TOML file, or the TOML file of a scenario. With
        `--format perfetto`, a run folder: its jobs, iterations, ranks, operations, waits, recorded messages and traffic
        as a trace. With `--format dragonview`, a run folder: its links and jobs. With `--format flows`, a run folder:
        its flow completion times.
    out
        The file; for `dragonview` a folder. Its ending chooses the format: `.graphml` (networkx, Gephi, yEd), `.json`,
        `.ibnetdiscover`, `.conf` (a tree for Slurm) or `.csv` (leaf switch and group of each node).
    format_
        The format, if the ending does not choose it: also `slurm-block`, and `cray` (`rtr --interconnect` of a cascade,
        the point-to-point file of Slingshot of a dragonfly). Of a run: `perfetto` or `chrome-trace`, which are the same
        JSON; ui.perfetto.dev and Chrome's own viewer open it. `dragonview` writes the CSV files of DragonView, and
        `flows` a CSV file with a row for each flow: size, start, completion time, ideal time, slowdown.
    force
        Overwrite a file with different contents.
    json
        Print one JSON object: the path and the format; of a machine its nodes, routers and links, of a run what is
        written and what is left out.
    """
    from odonata import files, scenario
    from odonata.recognition import WRITTEN

    if format_ in OF_RUNS:
        write = {"dragonview": _dragonview, "flows": _flows}.get(format_, _trace)
        told, lines = write(Path(system), out, force=force)
        return _print({"path": str(out), "format": format_, **told}, lines, json=json)
    by_suffix = {form.suffix: name for name, form in WRITTEN.items() if form.suffix is not None}
    if format_ is None and out.suffix not in by_suffix:
        message = f"`{out}`: expected a file name that ends in {', '.join(by_suffix)}, or --format"
        raise InputError(message, hint=f"formats: {', '.join(WRITTEN)}")
    name = format_ or by_suffix[out.suffix]
    if name not in WRITTEN:
        raise unknown("format", name, [*WRITTEN, *OF_RUNS])
    if not out.parent.is_dir():
        raise InputError(f"there is no folder `{out.parent}`")
    try:
        loaded = scenario.system(system)
    except InputError:
        with suppress(OSError):
            if Path(system).is_dir():
                hint = "--format perfetto writes a run as a trace"
                raise InputError(f"`{system}` is a folder, expected a machine", hint=hint) from None
        raise
    wired = loaded.describe()
    text = "".join(f"{line}\n" for line in WRITTEN[name].lines(loaded))
    files.write_new(out, text.encode(), force=force)
    links = ", ".join(f"{count:,} {name}" for name, count in wired["links"].items())
    told = {"path": str(out), "format": name, "system": loaded.name}
    told |= {key: wired[key] for key in ("nodes", "routers", "links")}
    line = f"{out}: {loaded.name}, {wired['nodes']:,} nodes, {wired['routers']:,} routers, links: {links}"
    return _print(told, [line], json=json)


def _print(told: dict[str, Any], lines: list[str], *, json: bool) -> int:
    print(json_module.dumps(told) if json else "\n".join(lines))
    return 0


def _trace(run: Path, out: Path, *, force: bool) -> tuple[dict[str, Any], list[str]]:
    """Writes a run as a trace. Returns what is told about it, for programs and for readers."""
    from odonata import files
    from odonata.report.events import trace_of
    from odonata.store import open_run

    opened = open_run(run)
    if not out.parent.is_dir():
        raise InputError(f"there is no folder `{out.parent}`")
    trace, left_out = trace_of(opened)
    files.write_new(out, trace, force=force)
    return {"bytes": len(trace), "notes": left_out}, [f"{out}: {len(trace):,} bytes", *left_out]


def _flows(run: Path, out: Path, *, force: bool) -> tuple[dict[str, Any], list[str]]:
    """Writes the flow completion times of a run; returns as above."""
    from odonata import files
    from odonata.store import open_run

    opened = open_run(run)
    if not out.parent.is_dir():
        raise InputError(f"there is no folder `{out.parent}`")
    flows = opened.flow_times
    if flows.is_empty():
        message = f"`{run}` has no flow completion times"
        raise InputError(message, hint='a job with app = { flows = "FILE" } and record = "every-message" has them')
    names = opened.jobs.select("job", "name")
    named = flows.join(names, on="job", how="left", maintain_order="left").with_columns(job="name").drop("name")
    files.write_new(out, named.write_csv().encode(), force=force)
    return {"flows": flows.height}, [f"{out}: {flows.height:,} flows"]


def _dragonview(run: Path, out: Path, *, force: bool) -> tuple[dict[str, Any], list[str]]:
    """Writes a run as the files of DragonView; returns as above."""
    from odonata import files
    from odonata.report.dragonview import dragonview_of
    from odonata.store import open_run

    opened = open_run(run)
    if out.is_file():
        raise InputError(f"`{out}` is a file, expected a folder", hint="--format dragonview writes three files")
    if not out.parent.is_dir():
        raise InputError(f"there is no folder `{out.parent}`")
    tables, notes = dragonview_of(opened)
    out.mkdir(exist_ok=True)
    for name, data in tables.items():
        files.write_new(out / name, data, force=force)
    return {"files": list(tables), "notes": notes}, [f"{out}: {', '.join(tables)}", *notes]
