"""`odonata plot`: a run as a picture."""

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter


def plot(
    run: Path,
    /,
    *,
    out: Annotated[Path | None, Parameter(name=["--out", "-o"])] = None,
    kind: Literal["overview", "box", "iterations", "links", "arrivals"] = "overview",
    log: bool | None = None,
    way: Literal["in", "out", "both"] | None = None,
    job: str | None = None,
) -> int:
    """Draw a run: latencies as boxes, load of links, traffic over time.

    Parameters
    ----------
    run
        A run folder.
    out
        The picture: .png, .pdf or .svg. Without it KIND.png in the run folder.
    kind
        `overview`: latencies and links. `box`: latencies, as Kang 2019, figures 5 to 7. `iterations`: how long the
        iterations of programs took. `links`: busy share of the links between groups and of each router's local links.
        `arrivals`: traffic over time, as figure 10.
    log
        Logarithmic axis of times; without it, when they spread over more than a factor of 30.
    way
        Traffic in `arrivals`: into a group, out of it, or the sum (`both`, the default).
    job
        Only the traffic of this job, in `arrivals`.
    """
    from odonata.errors import InputError
    from odonata.plot.run import plot_run
    from odonata.plot.style import check_target, save
    from odonata.store import open_run

    for option, value, kinds in (
        ("--log", log, ("overview", "box", "iterations")),
        ("--way", way, ("arrivals",)),
        ("--job", job, ("arrivals",)),
    ):
        if value is not None and kind not in kinds:
            hint = f"it is for --kind {', '.join(kinds[:-1])}{' and ' * (len(kinds) > 1)}{kinds[-1]}"
            raise InputError(f"`{option}` does nothing for --kind {kind}", hint=hint)
    target = out if out is not None else run / f"{kind}.png"
    opened = open_run(run)
    check_target(target)
    save(plot_run(opened, kind, log=log, way=way or "both", job=job), target)
    print(target)
    return 0
