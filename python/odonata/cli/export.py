"""`odonata export`: a machine as a graph, for other tools."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from odonata.cli.completion import systems
from odonata.errors import InputError


def export(
    system: Annotated[str, Parameter(completer=systems)],
    /,
    *,
    output: Annotated[Path, Parameter(name=["--output", "-o"])],
    force: Annotated[bool, Parameter(negative=())] = False,
) -> int:
    """Write a machine as a graph: nodes, routers and links with class, bandwidth, latency and group.

    Parameters
    ----------
    system
        The machine: a name (`odonata show systems`), its TOML file, or the TOML file of a scenario.
    output
        The file; its ending says in which form: `.graphml` (networkx, Gephi, yEd) or `.json`.
    force
        Overwrite a file that says something else.
    """
    from odonata import files, scenario
    from odonata.machine.export import FORMATS

    if output.suffix not in FORMATS:
        message = f"`{output}`: expected a file name that ends in {' or '.join(FORMATS)}"
        raise InputError(message)
    if not output.parent.is_dir():
        raise InputError(f"there is no folder `{output.parent}`")
    loaded = scenario.system(system)
    wired = loaded.describe()
    text = "".join(f"{line}\n" for line in FORMATS[output.suffix](loaded))
    files.write_new(output, text.encode(), force=force)
    links = ", ".join(f"{count:,} {name}" for name, count in wired["links"].items())
    print(f"{output}: {loaded.name}, {wired['nodes']:,} nodes, {wired['routers']:,} routers, links: {links}")
    return 0
