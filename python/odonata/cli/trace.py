"""`odonata trace`: one iteration of a job's program, as a trace."""

import json as json_module
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from odonata.errors import InputError, unknown


def trace(
    scenario: Path,
    /,
    *,
    out: Annotated[Path, Parameter(name=["--out", "-o"])],
    job: str | None = None,
    format_: Annotated[str | None, Parameter(name=["--format"])] = None,
    set_: Annotated[list[str] | None, Parameter(name=["--set", "-s"], negative=())] = None,
    force: Annotated[bool, Parameter(negative=())] = False,
    json: Annotated[bool, Parameter(negative=())] = False,
) -> int:
    """Write one iteration of a job's program as a trace, for other tools or for editing by hand.

    Parameters
    ----------
    scenario
        The scenario (TOML).
    out
        The file. Its ending chooses the format: `.goal` (LogGOPSim), `.bin` (the same, binary), `.csv` or `.et`
        (Chakra). Chakra has a file for each rank: `-o x.et` writes `x.0.et`, `x.1.et`, ...
    job
        Which job, if several have a program.
    format_
        The format, an ending without its point, regardless of the ending of the file.
    set_
        Override a value of the scenario, as in `-s job.target.nodes=256`.
    force
        Overwrite a file with different contents, such as a trace that was edited by hand.
    json
        Print one JSON object: the path, the format, the job, its ranks and the size of the file.
    """
    from odonata import files
    from odonata import scenario as scenarios
    from odonata.machine import core
    from odonata.scenario.apps.chakra_files import ENDING, rank_file
    from odonata.scenario.apps.trace import FORMS

    forms = FORMS | {ENDING: "et"}
    if format_ is not None and format_ not in forms.values():
        raise unknown("format", format_, forms.values())
    form = format_ or forms.get(out.suffix)
    if form is None:
        hint = "or add --format goal"
        raise InputError(f"`{out}`: expected a file name that ends in {' or '.join([*FORMS, ENDING])}", hint=hint)
    if not out.parent.is_dir():
        raise InputError(f"there is no folder `{out.parent}`")
    spec = _chosen(scenarios.load(scenario, set_ or []).resolve().spec["jobs"], job)
    program = spec["program"]
    ranks = len(spec["nodes"])
    if form == "et":
        written = core.write_chakra(program["body"], ranks, program)
        bytes_written = sum(map(len, written))
        for rank, data in enumerate(written):
            files.write_new(rank_file(out, rank), data, force=force)
        out = rank_file(out, "*")
    else:
        data = core.write_trace(program["body"], ranks, form, program)
        bytes_written = len(data)
        files.write_new(out, data, force=force)
    if json:
        told = {"path": str(out), "format": form, "job": spec["name"], "ranks": ranks, "bytes": bytes_written}
        print(json_module.dumps(told))
        return 0
    print(f"{out}: one iteration of {spec['name']}, {ranks:,} ranks")
    return 0


def _chosen(jobs: list[dict[str, Any]], name: str | None) -> dict[str, Any]:
    """The job of that name, or the only one with a program."""
    programs = {job["name"]: job for job in jobs if "program" in job}
    if name is not None:
        if name in programs:
            return programs[name]
        if name in {job["name"] for job in jobs}:
            raise InputError(f"job `{name}` sends at intervals and has no program, so it has no trace")
        raise unknown("job", name, programs)
    if len(programs) != 1:
        what = "no job of this scenario has a program" if not programs else "several jobs have a program"
        raise InputError(what, hint=f"choose one: --job {' or '.join(programs)}" if programs else None)
    return next(iter(programs.values()))
