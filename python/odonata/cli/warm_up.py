"""`odonata run --warm-up auto`: a trial run decides where the warm-up ends."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from odonata.analysis.warm_up import WarmUp
    from odonata.scenario import Scenario

KEY = "measure.warm_up"


def with_warm_up(loaded: "Scenario", tell: Callable[[str], Any], threads: int | None) -> "Scenario":
    """The scenario with the warm-up of a trial run, which has none, skips no iterations, and records every
    message in memory.

    The source of the value is kept with the scenario, so `resolved.json` and the report state it. The latest of the
    jobs counts. If a job never becomes steady, the warm-up stays as it is given, and the source says so.
    """
    from odonata.analysis.warm_up import warm_ups
    from odonata.runner import run as simulate
    from odonata.units import format_time

    trial = loaded.set(KEY, "0 ns").set("measure.latency", "every-message")
    # A trial that skips iterations would show the warm-up of a part of the run, at times of that part.
    if "steady" in (kept := trial.data.get("run", {})):
        trial = trial.set("run", {key: value for key, value in kept.items() if key != "steady"})
    ends = warm_ups(simulate(trial, threads=threads))
    unsteady = [of for of in ends if of.until_ps is None]
    if unsteady or not ends:
        text = "; ".join(f"{of.job}: {of.why}" for of in unsteady) or "no job is measured"
        tell(f"warm-up: none was found; {text}")
        chosen, source = loaded, f"as given, because no steady state was found by MSER-5 in a trial run; {text}"
    else:
        latest = max(ends, key=lambda of: of.until_ps or 0)
        chosen = loaded.set(KEY, f"{latest.until_ps} ps")
        source = f"MSER-5 in a trial run without a warm-up: {', '.join(map(_told, ends))}"
        tell(f"warm-up: {format_time(latest.until_ps or 0, 4)}, by {source}")
    return chosen.set("sources", {**loaded.table.sources, KEY: source})


def _told(of: "WarmUp") -> str:
    from odonata.units import format_time

    return f"{of.job} is steady from {format_time(of.until_ps or 0, 4)} on ({of.observations:,} {of.what})"
