"""`odonata export`: a machine as a graph, for other tools."""

import os
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from odonata.cli.completion import systems
from odonata.errors import InputError, RunError


def export(
    system: Annotated[str, Parameter(completer=systems)],
    /,
    *,
    output: Annotated[Path, Parameter(name=["--output", "-o"])],
) -> int:
    """Write a machine as a graph: nodes, routers and links with class, bandwidth, latency and group.

    Parameters
    ----------
    system
        The machine: a name (`odonata show systems`), its TOML file, or the TOML file of a scenario.
    output
        The file; its ending says in which form: `.graphml` (networkx, Gephi, yEd) or `.json`.
    """
    from odonata import scenario
    from odonata.machine.export import FORMATS

    if output.suffix not in FORMATS:
        message = f"`{output}`: expected a file name that ends in {' or '.join(FORMATS)}"
        raise InputError(message)
    if not output.parent.is_dir():
        raise InputError(f"there is no folder `{output.parent}`")
    loaded = scenario.system(system)
    wired = loaded.describe()
    part = output.with_name(f".{output.name}.{os.getpid()}")
    try:
        with part.open("w", encoding="utf-8") as file:
            file.writelines(f"{line}\n" for line in FORMATS[output.suffix](loaded))
        part.replace(output)
    except OSError as e:
        raise RunError(f"cannot write `{output}`: {e.strerror or e}") from None
    finally:
        part.unlink(missing_ok=True)
    links = ", ".join(f"{count:,} {name}" for name, count in wired["links"].items())
    print(f"{output}: {loaded.name}, {wired['nodes']:,} nodes, {wired['routers']:,} routers, links: {links}")
    return 0
