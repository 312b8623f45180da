"""Tables of the pages: times by policy, five numbers of links, points, variants."""

from __future__ import annotations

from typing import TYPE_CHECKING

from odonata.reproduce.markdown import table as as_table
from odonata.reproduce.zhang2018.gathered import (
    ACRONYMS,
    AVERAGES,
    alone,
    counts,
    gather,
    headline,
    mixed,
    motif,
    points,
    uncertainty,
)
from odonata.reproduce.zhang2018.link_rows import five
from odonata.reproduce.zhang2018.random_rows import by_variant
from odonata.reproduce.zhang2018.runs import BASELINES, CODED, JOKANOVIC, SIMPLE

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from odonata.reproduce.reproduction import Runs as Table
    from odonata.reproduce.zhang2018.gathered import Headline, Point, Runs


def times(_: str, table: Table, against: str = SIMPLE) -> str:
    """A line for each setup and class: times over those of a policy, with the standard deviation."""
    runs = gather(table)
    names = list(dict.fromkeys(policy for of_setup in runs for policy in of_setup.by_policy))
    lines = [
        [
            *_setup(of_setup),
            f"{each.nodes}",
            f"{of_setup.time(against, each.name) / 1e6:,.1f}",
            *_relative(of_setup, each.name, names, against),
        ]
        for of_setup in runs
        for each in of_setup.setup.classes
    ]
    head = ["nodes", "ratio", "jobs", "pattern", "messages", "time of jobs of", f"{ACRONYMS[against]}, us"]
    words = (
        f"\n### Times over those of {ACRONYMS[against]}\n\nMean over the repetitions, and in brackets the standard "
        "deviation in percent of that mean.\n\n"
    )
    return words + as_table(head + [ACRONYMS[name] for name in names], lines, "rrlllrr" + "r" * len(names))


def _setup(runs: Runs) -> list[str]:
    setup = runs.setup
    messages = ", ".join(dict.fromkeys(job_class.message for job_class in setup.classes))
    words = f"{messages}; {setup.variant}" if setup.variant else messages
    return [f"{setup.nodes:,}", setup.ratio, counts(setup), motif(setup), words]


def _relative(runs: Runs, job_class: str, names: Sequence[str], against: str) -> list[str]:
    cells = []
    for name in names:
        deviation = 100 * runs.spread(name, job_class) / runs.time(name, job_class)
        cells.append(f"{runs.over(name, job_class, against):.2f} ({deviation:.0f})")
    return cells


def links(_: str, table: Table) -> str:
    """The five numbers of every policy."""
    (runs,) = gather(table)
    parts = []
    for name, unit, scale in (
        ("local_packets", "packets", 1), ("global_packets", "packets", 1),
        ("local_stalled_ps", "stalled time, us", 1e6), ("global_stalled_ps", "stalled time, us", 1e6),
    ):  # fmt: skip
        lines = [
            [ACRONYMS[policy], *(f"{value / scale:,.1f}" for value in five(runs, policy, name))]
            for policy in runs.by_policy
        ]
        head = [
            f"{name.partition('_')[0]} links: {unit}",
            "least",
            "lower quartile",
            "median",
            "upper quartile",
            "largest",
        ]
        parts.append(as_table(head, lines, "lrrrrr"))
    minimal = ", ".join(
        f"{ACRONYMS[policy]} {100 * runs.mean_of(policy, lambda run: run['minimal']):.1f}" for policy in runs.by_policy
    )
    return "\n### Output ports\n\n" + "\n\n".join(parts) + f"\n\nPackets on minimal paths, percent: {minimal}."


def random(figure: str, table: Table) -> str:
    """Headline by policy, in both forms of the time; each pattern alone."""
    order = "large-first" if figure in ("fig11", "fig13") else "small-first"
    baselines = [JOKANOVIC, CODED] if figure in ("fig12", "fig13") else list(BASELINES)
    runs = mixed(table, order)
    drawn = points(runs, baselines)
    lines = [_headline(ACRONYMS[name], headline([p for p in drawn if p.policy == name])) for name in baselines]
    coded = points(runs, baselines, coded=True)
    if figure in ("fig10", "fig11"):
        lines = [_headline("all", headline(drawn)), *lines, _headline(f"all, {_CODED_TIME}", headline(coded))]
    else:
        of_one = [point for point in coded if point.policy == JOKANOVIC]
        lines.append(_headline(f"{ACRONYMS[JOKANOVIC]}, {_CODED_TIME}", headline(of_one)))
    text = (
        f"\n### {len(runs):,} workloads, {len(drawn):,} points\n\n{_by_line(lines)}\n\n{_uncertain(drawn)}\n\n"
        f"Means, all in percent:\n\n{_averages()}\n"
    )
    single = alone(table) if figure == "fig10" else {}
    if single:
        lines = [_headline(name, headline(points(some, baselines))) for name, some in single.items()]
        many = max(map(len, single.values()))
        text += f"\n### One pattern alone, {many} workloads each\n\n{_by_line(lines)}\n"
    return text


def _uncertain(drawn: Sequence[Point]) -> str:
    """The uncertainty of shares and means that comes from the choice of the workloads."""
    better = uncertainty(drawn, lambda point: 100 * (point.small > 1 and point.large > 1))
    worse = uncertainty(drawn, lambda point: 100 * (point.small < 1 and point.large < 1))
    cut = uncertainty(drawn, lambda point: 50 * (2 - 1 / point.small - 1 / point.large))
    return (
        f"The choice of the workloads makes the shares of all points uncertain by ± {better:.1f} (better) and "
        f"± {worse:.1f} (worse), and the mean of\nall points by ± {cut:.1f} (95 % intervals)."
    )


_CODED_TIME = "time of the rank that the authors' code asks (L18)"
_HEAD = ["baseline", "LS better in both, %", "worse in both, %", "equal in one, %", "largest reduction, %"]


def _by_line(lines: Iterable[Sequence[str]]) -> str:
    return as_table([*_HEAD, *(f"mean: {name}" for name in AVERAGES)], lines, "lrrrr" + "r" * len(AVERAGES))


def _headline(name: str, of: Headline) -> list[str]:
    values = (of.better, of.worse, of.equal, of.best, *of.averages.values())
    return [name, *(f"{value:.1f}" for value in values)]


def _averages() -> str:
    return "\n".join(f"- *{name}*: {words};" for name, words in AVERAGES.items()).removesuffix(";") + "."


def variant_tables(_: str, table: Table) -> str:
    """A line for each variant."""
    lines = []
    for variant, runs in by_variant(table).items():
        said = headline(points(runs, BASELINES))
        jokanovic, coded = (headline(points(runs, [policy])) for policy in (JOKANOVIC, CODED))
        values = (*_all(said), jokanovic.better, jokanovic.worse, coded.better, coded.worse)
        lines.append([variant, *(f"{value:.1f}" for value in values), _diverted(runs)])
    head = ["variant", "LS better in both", "worse in both", "largest reduction", "mean reduction"]
    head += ["mean, small", "mean, large", "better than Jokanovic", "worse", "better than Jokanovic as coded", "worse"]
    head.append("packets diverted")
    return f"\n### By variant, all in percent\n\n{as_table(head, lines, 'l' + 'r' * (len(head) - 1))}"


def _all(said: Headline) -> tuple[float, ...]:
    return said.better, said.worse, said.best, *(said.averages[name] for name in ("points", "small", "large"))


def _diverted(runs: Sequence[Runs]) -> str:
    """Packets on non-minimal paths, mean over workloads and policies."""
    shares = [
        100 * (1 - of_setup.mean_of(policy, lambda run: run["minimal"]))
        for of_setup in runs
        for policy in of_setup.by_policy
    ]
    return f"{sum(shares) / len(shares):.1f}"
