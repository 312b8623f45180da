"""`odonata run`: one scenario, one folder, one answer."""

import json as json_module
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

if TYPE_CHECKING:
    from odonata.store import Run


def run(
    file: Path,
    /,
    *,
    set_: Annotated[list[str] | None, Parameter(name=["--set", "-s"], negative=())] = None,
    seed: int | None = None,
    out: Path | None = None,
    alone: Annotated[bool, Parameter(negative=())] = False,
    json: Annotated[bool, Parameter(negative=())] = False,
    force: Annotated[bool, Parameter(negative=())] = False,
    quiet: Annotated[bool, Parameter(name=["--quiet", "-q"], negative=())] = False,
) -> int:
    """Simulate a scenario; say how long messages took.

    Parameters
    ----------
    file
        The scenario (TOML); `odonata new` writes one.
    set_
        Override a value of the scenario, as in `-s routing=minimal -s job.target.nodes=256`.
    seed
        Seed of all random numbers, instead of the scenario's.
    out
        Folder for the results; `runs/NAME-ID` without it. A finished run is not repeated.
    alone
        Also run each job that is not background by itself on the empty system, and give the slowdown.
    json
        Print one JSON object instead of the table.
    force
        Simulate again, and overwrite the run folder that is there.
    quiet
        No progress on standard error.
    """
    from odonata import scenario as scenarios
    from odonata.cli.progress import ProgressLine
    from odonata.run import finished
    from odonata.run import run as simulate

    scenario = scenarios.load(file, overrides=set_ or (), seed=seed)
    resolved = scenario.resolve()
    folder = out if out is not None else Path("runs") / f"{file.stem}-{resolved.id}"
    with ProgressLine(quiet=quiet) as progress:
        done = None if force else finished(folder, resolved, alone=alone)
        if done is not None:
            progress.say(f"done already: {folder} (--force simulates again)")
        else:
            progress.say(_opening(resolved.spec, resolved.system.name))
            done = simulate(scenario, folder, alone=alone, progress=progress.report, force=force)
            progress.say(_closing(done.summary, folder))
    if json:
        print(json_module.dumps({**done.summary, "out": str(folder)}))
    else:
        _print(done)
    return 0


def _opening(spec: dict[str, Any], system: str) -> str:
    jobs = " + ".join(f"{job['name']} ({len(job['nodes']):,} nodes)" for job in spec["jobs"])
    return f"{jobs} on {system}, routing {spec['routing']['name']}, seed {spec['seed']}"


def _closing(summary: dict[str, Any], folder: Path) -> str:
    speed, memory = summary["packet_hops_per_s"] or 0.0, summary["peak_rss_bytes"] / 1e6
    return (
        f"{summary['packet_hops']:,} packet-hops in {summary['wall_s']:.2f} s "
        f"({speed / 1e6:.1f} M/s, {memory:.0f} MB); results in {folder}"
    )


def _print(run: "Run") -> None:
    """The table, turned on its side where the terminal is too narrow for it, and the answers."""
    from rich import box
    from rich.console import Console
    from rich.table import Table

    from odonata.store.summary import answers, table_of

    shown = table_of(run.summary)
    # What is not a terminal has no width: nothing is cut there.
    console = Console(highlight=False, width=None if sys.stdout.isatty() else 10_000)
    upright = [shown.header, *shown.rows]
    for lines in (upright, [list(row) for row in zip(*upright, strict=True)]):
        table = Table(box=box.SIMPLE_HEAD, title=f"latencies in {shown.unit}", title_justify="left", pad_edge=False)
        for index, name in enumerate(lines[0]):
            table.add_column(name, justify="right" if index else "left", no_wrap=True)
        for row in lines[1:]:
            table.add_row(*row)
        if console.measure(table).maximum <= console.width:
            break
    console.print(table)
    for answer in answers(run.summary):
        console.print(answer, soft_wrap=True, markup=False)
