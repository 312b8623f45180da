"""Tables of the pages: times by policy, five numbers of links, points."""

from __future__ import annotations

from typing import TYPE_CHECKING

from odonata.reproduce.markdown import table
from odonata.reproduce.zhang2018.gathered import ACRONYMS, BASELINES, JOKANOVIC, SIMPLE, gather
from odonata.reproduce.zhang2018.link_rows import five
from odonata.reproduce.zhang2018.panels import counts, motif
from odonata.reproduce.zhang2018.points import AVERAGES, headline, points
from odonata.reproduce.zhang2018.prepare import CODED
from odonata.reproduce.zhang2018.random_rows import alone, mixed

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from odonata.reproduce.zhang2018.gathered import CommResults, Runs
    from odonata.reproduce.zhang2018.points import Headline


def times(figure: str, results: CommResults, against: str = SIMPLE) -> str:
    """A line for each setup and class: times over those of a policy, with the standard deviation."""
    runs = gather(figure, results)
    names = list(dict.fromkeys(policy for one in runs for policy in one.by_policy))
    lines = [
        [
            *_setup(one),
            f"{each.nodes}",
            f"{one.time(against, each.name) / 1e6:,.1f}",
            *_relative(one, each.name, names, against),
        ]
        for one in runs
        for each in one.setup.classes
    ]
    head = ["nodes", "ratio", "jobs", "pattern", "messages", "time of jobs of", f"{ACRONYMS[against]}, us"]
    words = (
        f"\n## Times over those of {ACRONYMS[against]}\n\nMean over the repetitions, and in brackets the standard "
        "deviation in percent of that mean.\n\n"
    )
    return words + table(head + [ACRONYMS[name] for name in names], lines, "rrlllrr" + "r" * len(names))


def _setup(runs: Runs) -> list[str]:
    setup = runs.setup
    messages = ", ".join(dict.fromkeys(one.message for one in setup.classes))
    words = f"{messages}; {setup.variant}" if setup.variant else messages
    return [f"{setup.nodes:,}", setup.ratio, counts(setup), motif(setup), words]


def _relative(runs: Runs, job_class: str, names: Sequence[str], against: str) -> list[str]:
    cells = []
    for name in names:
        deviation = 100 * runs.spread(name, job_class) / runs.time(name, job_class)
        cells.append(f"{runs.over(name, job_class, against):.2f} ({deviation:.0f})")
    return cells


def links(figure: str, results: CommResults) -> str:
    """The five numbers of every policy."""
    (runs,) = gather(figure, results)
    parts = []
    for name, unit, scale in (
        ("local packets", "packets", 1), ("global packets", "packets", 1),
        ("local stalled_ps", "stalled time, us", 1e6), ("global stalled_ps", "stalled time, us", 1e6),
    ):  # fmt: skip
        lines = [
            [ACRONYMS[policy], *(f"{value / scale:,.1f}" for value in five(runs, policy, name))]
            for policy in runs.by_policy
        ]
        head = [
            f"{name.partition(' ')[0]} links: {unit}",
            "least",
            "lower quartile",
            "median",
            "upper quartile",
            "largest",
        ]
        parts.append(table(head, lines, "lrrrrr"))
    minimal = ", ".join(
        f"{ACRONYMS[policy]} {100 * runs.mean_of(policy, lambda one: one.minimal):.1f}" for policy in runs.by_policy
    )
    return "\n## Output ports\n\n" + "\n\n".join(parts) + f"\n\nPackets that went the shortest way, percent: {minimal}."


def random(figure: str, results: CommResults) -> str:
    """Headline by policy, in both forms of the time; each pattern alone."""
    order = "large-first" if figure in ("fig11", "fig13") else "small-first"
    baselines = [JOKANOVIC, CODED] if figure in ("fig12", "fig13") else list(BASELINES)
    runs = mixed(figure, results, order)
    found = points(runs, baselines)
    lines = [_headline(ACRONYMS[name], headline([p for p in found if p.policy == name])) for name in baselines]
    coded = points(runs, baselines, coded=True)
    if figure in ("fig10", "fig11"):
        lines = [_headline("all", headline(found)), *lines, _headline(f"all, {_CODED_TIME}", headline(coded))]
    else:
        of_one = [point for point in coded if point.policy == JOKANOVIC]
        lines.append(_headline(f"{ACRONYMS[JOKANOVIC]}, {_CODED_TIME}", headline(of_one)))
    text = f"\n## Points: {len(found):,}\n\n{_by_line(lines)}\n\nMeans, all in percent:\n\n{_averages()}\n"
    single = alone(results) if figure == "fig10" else {}
    if single:
        lines = [_headline(name, headline(points(some, baselines))) for name, some in single.items()]
        text += f"\n## One pattern alone\n\n{_by_line(lines)}\n"
    return text


_CODED_TIME = "time of the highest-numbered rank (L18)"
_HEAD = ["baseline", "LS better in both, %", "worse in both, %", "equal in one, %", "largest reduction, %"]


def _by_line(lines: Iterable[Sequence[str]]) -> str:
    return table([*_HEAD, *(f"mean: {name}" for name in AVERAGES)], lines, "lrrrr" + "r" * len(AVERAGES))


def _headline(name: str, of: Headline) -> list[str]:
    values = (of.better, of.worse, of.equal, of.best, *of.averages.values())
    return [name, *(f"{value:.1f}" for value in values)]


def _averages() -> str:
    return "\n".join(f"- *{name}*: {words};" for name, words in AVERAGES.items()).removesuffix(";") + "."
