"""An advice as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from odonata.advice.effects import MATTERS
from odonata.text import Column, Table, html
from odonata.text import time as time_text
from odonata.units import format_time

if TYPE_CHECKING:
    from collections.abc import Sequence

    from odonata.advice.advice import Advice, Finding
    from odonata.advice.effects import Cost, Effect
    from odonata.advice.search import Search, Standing


def sentences(advice: Advice) -> list[str]:
    """What the advice says, in the order of importance."""
    if not advice.complete:
        return [_now(advice), *_unfinished(advice)]
    parts = [_now(advice), _search(advice)]
    best, harmless = advice.best, advice.harmless
    if best is None:
        parts.append(_none(advice))
    else:
        parts += ["", f"Best: {best.remedy.label}", *_told(advice, best)]
        if best.slows and harmless is not None:
            parts += ["", f"Without slowing down another job: {harmless.remedy.label}", *_told(advice, harmless)]
    parts += _partly(advice)
    if advice.fixed:
        parts += [""] * (best is not None)
        freed = "those of two jobs are divided anew at most; `--move JOB` frees a list"
        parts.append(f"A list of nodes or the pattern fixes the nodes of {_names(advice.fixed)}: {freed}.")
    return parts


def as_text(advice: Advice, width: int | None = None) -> str:
    """The sentences, a table of the finalists, and the change of the scenario."""
    lines = sentences(advice)
    for table in _tables(advice):
        lines += ["", *table.lines(width)]
    lines += _changes(advice)
    return "\n".join(lines)


def as_html(advice: Advice) -> str:
    """The same for a notebook."""
    return html(sentences(advice), _tables(advice), "\n".join(_changes(advice)).strip())


def _tables(advice: Advice) -> list[Table]:
    """The ranking of a search that did not end, or the finalists."""
    return ([_race(advice)] if advice.so_far else []) + ([_table(advice)] if advice.findings else [])


def _changes(advice: Advice) -> list[str]:
    """The lines of the scenario that the best remedies change."""
    lines: list[str] = []
    shown = [] if advice.best is None else [advice.best]
    if advice.harmless is not None and advice.harmless is not advice.best:
        shown.append(advice.harmless)
    for finding in shown:
        what = f", which slows down {_names(finding.slows)}" if finding.slows else ""
        lines += ["", f"# change of the scenario{what}", finding.remedy.toml]
    return lines


def so_far(search: Search) -> str:
    """How the best remedy does in a search that goes on, in one line."""
    standings = search.standings()
    many = f"{search.tried:,} remed{'y' if search.tried == 1 else 'ies'}"
    if not standings or standings[0].victim > 1 - MATTERS:
        return f"so far: none of {many} helps"
    return f"so far, the best of {many}: {_standing(search.space.victim, standings[0])}"


def _standing(victim: str, standing: Standing) -> str:
    seeds = f"{standing.seeds} seed{'' if standing.seeds == 1 else 's'}"
    others = f", worst other job {_change(standing.others)}" if standing.others else ""
    return f"{standing.remedy}: `{victim}` {_change(standing.victim)}{others} ({seeds})"


def _unfinished(advice: Advice) -> list[str]:
    """What is said when the time was used up."""
    of = advice.tried + advice.untried
    not_tried = f"{advice.untried:,} of {of:,} remedies {'was' if advice.untried == 1 else 'were'} not tried"
    missing = not_tried if advice.untried else f"all {of:,} remedies were tried, and the final comparison is missing"
    lines = [f"The time is used up: {missing}. The same command continues."]
    if not advice.so_far:
        return lines
    lines.append(f"Best so far: {_standing(advice.victim, advice.so_far[0])}.")
    return [*lines, "The final comparison with further seeds decides whether it helps."]


SHOWN = 5
"""Remedies of a search that did not end that are shown."""


def _race(advice: Advice) -> Table:
    """The best remedies of a search whose time was used up."""
    headings = [Column("remedy", right=False), Column(advice.victim), Column("worst other job"), Column("seeds")]
    rows = [
        [effect.remedy, _change(effect.victim), _change(effect.others) if effect.others else "-", str(effect.seeds)]
        for effect in advice.so_far[:SHOWN]
    ]
    return Table(headings, rows, "the best so far: change of the median")


def _none(advice: Advice) -> str:
    if not advice.tried:
        return "There is no remedy to try: nothing of the scenario may be changed."
    if advice.under:
        many = len(advice.under) + 1
        return f"No remedy makes `{advice.victim}` faster beyond its interval under all {many} assumptions."
    return f"No remedy helps: none makes `{advice.victim}` faster beyond its interval."


def _partly(advice: Advice) -> list[str]:
    """Remedies that help under some of the assumptions only."""
    parts = []
    for number, finding in enumerate(advice.findings):
        names = [
            name for name, effect in zip(_assumptions(advice), advice.everywhere(number), strict=True) if effect.helps
        ]
        if names and len(names) <= len(advice.under):
            parts.append(f"Helps only under {', '.join(names)}: {finding.remedy.label}")
    return parts


def _assumptions(advice: Advice) -> list[str]:
    """The names of the assumptions, the scenario as it is first."""
    return ["the scenario's own assumptions", *(under.name for under in advice.under)]


def _everywhere(advice: Advice, finding: Finding) -> list[str]:
    """What a remedy that holds does under the other assumptions."""
    if not advice.under:
        return []
    number = advice.findings.index(finding)
    told = [f"{under.name} {_cell(under.findings[number].effects[0])}" for under in advice.under]
    lines = [f"It helps under all {len(advice.under) + 1} assumptions; `{advice.victim}`: {', '.join(told)}."]
    for under in advice.under:
        slows = [job for job in under.findings[number].slows if job not in finding.slows]
        if slows:
            lines.append(f"Under {under.name}, it also makes {_names(slows)} slower.")
    return lines


def _told(advice: Advice, finding: Finding) -> list[str]:
    """What is said of a remedy that helps."""
    victim, *others = finding.effects
    told = [effect for effect in others if effect.ratio is None or effect.slower() or effect.faster(1)]
    same = [effect.job for effect in others if effect not in told]
    texts = [_effect(effect) for effect in (victim, *told)]
    if same:
        texts.append(f"No difference beyond the interval, or of less than {100 * MATTERS:.0f} %: {_names(same)}.")
    texts.append(_cost(finding.cost))
    if finding.slows:
        texts.append(f"It makes `{advice.victim}` faster and {_names(finding.slows)} slower.")
        if advice.harmless is None:
            texts.append("No remedy that was compared helps without slowing down another job.")
    texts += _everywhere(advice, finding)
    if finding.unknown:
        texts.append(f"What it does to {_names(finding.unknown)} is not known, because not all runs are complete.")
    return texts


def _names(jobs: Sequence[str]) -> str:
    return ", ".join(f"`{job}`" for job in jobs)


def _now(advice: Advice) -> str:
    if advice.slowdown is None:
        return f"`{advice.victim}` is to become faster."
    return f"`{advice.victim}` takes {advice.slowdown:.2f} times as long as alone."


def _search(advice: Advice) -> str:
    tried = f"{advice.tried:,} remed{'y was' if advice.tried == 1 else 'ies were'} tried"
    text = f"{tried} in {advice.runs:,} runs"
    if advice.findings:
        text += f"; the best {len(advice.findings)} are compared over {advice.seeds} further seeds"
    if advice.impossible:
        text += f"; {len(advice.impossible):,} cannot be simulated"
    return f"{text}."


def _effect(effect: Effect) -> str:
    if effect.ratio is None or effect.ratio_interval is None:
        return f"`{effect.job}`: no comparison, because not all runs are complete."
    what = {"time_ps": "time", "latency_mean_ps": "mean latency", "iteration_mean_ps": "mean time of an iteration"}
    name = what.get(effect.quantity, effect.quantity)
    low, high = effect.ratio_interval
    beyond = "" if not low <= 1 <= high else ", no difference beyond the interval"
    return (
        f"`{effect.job}`: {name} {_value(effect, effect.after_ps)} instead of {_value(effect, effect.before_ps)}, "
        f"{_change(effect.ratio)} ({_change(low)} to {_change(high)}){beyond}."
    )


def _value(effect: Effect, value: float | None) -> str:
    if value is None:
        return "-"
    return time_text(value) if effect.quantity.endswith("_ps") else f"{value:.4g}"


def _change(ratio: float) -> str:
    """A ratio as a change: -12.3 %."""
    return f"{100 * (ratio - 1):+.1f} %"


def _cost(cost: Cost) -> str:
    parts = [f"{cost.nodes_moved:,} nodes moved, {cost.groups_touched:,} groups touched"]
    if cost.ranks_moved and not cost.nodes_moved:
        parts.append(f"{cost.ranks_moved:,} ranks on other nodes")
    parts += [f"`{job}` starts {format_time(ps)} later" for job, ps in cost.later_ps.items()]
    return f"Cost: {'; '.join(parts)}."


def _table(advice: Advice) -> Table:
    victim, *others = advice.findings[0].effects
    headings = [Column("remedy", right=False), Column(victim.job), *([Column("worst other job")] if others else [])]
    headings += [Column(f"{victim.job}, {under.name}") for under in advice.under]
    headings += [Column("nodes moved"), Column("groups"), Column("verdict", right=False, styles=_STYLES)]
    rows = [
        [
            finding.remedy.label,
            _cell(finding.effects[0]),
            *([_worst(finding)] if others else []),
            *(_cell(under.findings[number].effects[0]) for under in advice.under),
            f"{finding.cost.nodes_moved:,}",
            f"{finding.cost.groups_touched:,}",
            _verdict(finding) if advice.holds(number) or not finding.helps else "helps under some",
        ]
        for number, finding in enumerate(advice.findings)
    ]
    return Table(headings, rows, "compared with the scenario as it is: change of the median, 95 % interval")


_STYLES = {"helps": "green", "does not help": "dim"}


def _cell(effect: Effect) -> str:
    if effect.ratio is None or effect.ratio_interval is None:
        return "-"
    low, high = effect.ratio_interval
    return f"{_change(effect.ratio)} ({_change(low)} to {_change(high)})"


def _worst(finding: Finding) -> str:
    """The job that loses most, or gains least."""
    known = [effect for effect in finding.effects[1:] if effect.ratio is not None]
    if not known:
        return "-"
    worst = max(known, key=lambda effect: effect.ratio or 0.0)
    return f"{worst.job} {_cell(worst)}"


def _verdict(finding: Finding) -> str:
    if not finding.helps:
        return "does not help"
    return f"helps, slows {', '.join(finding.slows)}" if finding.slows else "helps"
