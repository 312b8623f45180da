"""`odonata advise --drawn`: which nodes to ask for, over many drawn queues."""

import json as json_module
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from odonata.advice.drawn import Policy
    from odonata.scenario import Scenario
    from odonata.study.sweep import Backend


def over_drawn(
    scenario: "Scenario",
    asked: tuple[str | None, Sequence[str] | None, int, str | None],
    backend: "Backend",
    folder: Path,
    *,
    json: bool,
    quiet: bool,
) -> int:
    """Simulates and prints; `asked` is the job, the policies, the number of draws, and the column."""
    from odonata.advice.drawn import USUAL, plan, summarise
    from odonata.cli.sweep import run_plan
    from odonata.text import terminal_width

    victim, policies, draws, value = asked
    made, victim = plan(scenario, victim, policies or USUAL, draws)
    study, _ = run_plan(made, folder, backend, quiet=quiet)
    column, compared = summarise(study, victim, value)
    if json:
        said = {"job": victim, "value": column, "draws": compared[0].draws, "asked": draws, "out": str(folder)}
        print(json_module.dumps({**said, "policies": [asdict(policy) for policy in compared]}))
    else:
        print(as_text(victim, column, compared, draws, terminal_width()))
    return 1 if study.failed.height else 0


def as_text(victim: str, column: str, compared: "Sequence[Policy]", asked: int, width: int | None) -> str:
    """The table, the chances of each against each, and the sentences."""
    from odonata.advice.drawn import NULL
    from odonata.analysis.derived import simulated_part
    from odonata.text import Table, columns

    draws = compared[0].draws

    def between(ends: tuple[float, float] | None) -> str:
        return "-" if ends is None else f"{ends[0]:.3f} to {ends[1]:.3f}"

    rows = [
        [
            policy.name + (" (null model)" if policy.name == NULL else ""),
            *([f"{policy.variation:.3f}", between(policy.variation_interval)] if policy.variation is not None else []),
            "-" if policy.slowdown is None else f"{policy.slowdown:.3f}", between(policy.slowdown_interval),
            "-" if policy.ratio is None else f"{policy.ratio:.3f}",
            "-" if policy.name == NULL else between(policy.ratio_interval),
            "-" if policy.name == NULL else f"{policy.beats[NULL]:.0%}", f"{policy.best:.0%}",
        ]
        for policy in compared
    ]  # fmt: skip
    varies = ["p99/p50", "95 % interval"] if compared[0].variation is not None else []
    header = [
        "policy",
        *varies,
        "slowdown",
        "95 % interval",
        "time over random",
        "95 % interval",
        "beats random",
        "best",
    ]
    title = f"{victim} over {draws} drawn queues, by {column}"
    chances = [
        [mine.name, *("-" if mine is other else f"{mine.beats[other.name]:.0%}" for other in compared)]
        for mine in compared
    ]
    against = Table(columns(["chance that it beats", *(other.name for other in compared)]), chances)
    lines = [*Table(columns(header), rows, title).lines(width), "", *against.lines(width), ""]
    lines.extend(_sentences(victim, compared))
    if draws < asked:
        lines.append(
            f"{asked - draws} of {asked} draws are left out: the job is not complete there under every policy."
        )
    if runs := sum(policy.extrapolated for policy in compared):
        lines.append(simulated_part(runs))
    lines.append(
        "The neighbours are drawn: jobs like the others of the scenario, on nodes as after days of use (assumed)."
    )
    return "\n".join(lines)


def _sentences(victim: str, compared: "Sequence[Policy]") -> list[str]:
    from odonata.advice.drawn import NULL, wilson

    best, draws = compared[0], compared[0].draws
    if best.name == NULL:
        return [f"No policy gives `{victim}` better nodes in expectation than a random choice."]

    def chance(other: str) -> str:
        low, high = wilson(best.beats[other], draws)
        return f"with a chance of {best.beats[other]:.0%} (95 %: {low:.0%} to {high:.0%})"

    low, high = best.ratio_interval or (best.ratio or 1.0, best.ratio or 1.0)
    times = f"{best.ratio:.3f} times the time on random nodes (95 %: {low:.3f} to {high:.3f})"
    if high >= 1:
        return [
            f"These {draws} draws do not show that a policy gives `{victim}` better nodes than a random choice. "
            f"The least time in expectation has {best.name}: {times}. It beats random nodes {chance(NULL)}."
        ]
    said = [
        f"{best.name} gives `{victim}` the best nodes in expectation: {times}. In a new queue it beats random nodes "
        f"{chance(NULL)}."
    ]
    second = next((policy for policy in compared[1:] if policy.name != NULL), None)
    return said if second is None else [*said, f"It beats {second.name}, the next, {chance(second.name)}."]
