"""`kang2019-variants`: what each option of the routing changes (K4 to K8)."""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING, Any

from odonata.reproduce.kang2019.published import means_alone, row_of
from odonata.reproduce.kang2019.runs import AS_PUBLISHED, BACKLOGS, CORRECT, by_case, keep, make, product
from odonata.reproduce.markdown import number, table
from odonata.reproduce.page import Page
from odonata.reproduce.reproduction import Reproduction

if TYPE_CHECKING:
    from collections.abc import Sequence

    from odonata.reproduce.page import Texts
    from odonata.reproduce.reproduction import Points, Runs
    from odonata.reproduce.rows import Row

BASE = "base"

MEANINGS = {
    BASE: "FPAR as the model has it: `compare = below` (correct) or `at-most` (as published); all other groups' ports "
    "are candidates; channel 1 from the intermediate router on (correct) or the intermediate leaf on (as published)",
    "compare=at-most": "a port exactly at the threshold still counts as free",
    "candidates=one-group": "the source spine considers its links to one random other group, not to all",
    "channel_switch=intermediate": "a diverted packet changes to channel 1 at the intermediate spine as well, as the "
    "paper says (the correct model always does: the other way can deadlock)",
    "routing=prog-adaptive": "progressive adaptive routing by absolute queue lengths (K8)",
    "routing=minimal": "minimal paths only, ports at random",
    "routing=valiant": "always through a random intermediate group",
    "arrangement=parallel": "both links between a spine and another group end at the same spine (K4)",
}
"""Variant -> its description."""

_NO_CLAIM = "the paper used its own settings; this row shows what the option changes"


def points(reduced: bool) -> Points:
    """The base, and what each option of the routing does (catalogue K4 to K8)."""
    patterns, places = ["uniform-random", "tornado"], ["contiguous", "random"]
    if reduced:
        patterns, places, intervals, messages = ["uniform-random"], ["contiguous"], ["3us"], [10]
    else:
        intervals, messages = ["3us", "1us"], [100, 200]
    correct: list[list[dict[str, Any]]] = [
        [{"routing.compare": "at-most"}],
        [{"routing.candidates": "one-group"}],
        [{"routing": "prog-adaptive"}, {"routing": "minimal"}, {"routing": "valiant"}],
        [{"system": {"preset": "kang2019", "arrangement": "parallel"}}],
    ]
    published: list[list[dict[str, Any]]] = [
        [{"routing.channel_switch": "intermediate"}],
        [{"routing": "prog-adaptive"}, {"routing": "minimal"}],
    ]
    experiments = product(patterns, places, intervals, messages, always=BACKLOGS)
    for model, blocks in ((CORRECT, correct), (AS_PUBLISHED, published)):
        for changes in blocks:
            experiments += product(
                patterns, places, intervals, messages, models=[model], changes=changes, always=BACKLOGS
            )
    return experiments


def _rows(runs: Runs) -> list[Row]:
    wanted, rows = means_alone(), []
    for (model, case), by_messages in by_case(runs).items():
        traffic, variant = split(case)
        ours = {n: run["latency_mean_ps"] / 1e6 for n, run in sorted(by_messages.items())}
        no_claim = "" if variant == BASE else _NO_CLAIM
        rows.append(row_of(wanted[traffic], model, ours, label=variant, no_claim=no_claim))
    return rows


def split(name: str) -> tuple[str, str]:
    """A case to its traffic and its variant."""
    pattern, place, interval, *label = name.split("/")
    return f"{pattern}/{place}/{interval}", label[0].removeprefix("preset=kang2019,") if label else BASE


def _of_rows(rows: Sequence[Row], texts: Texts) -> Texts:
    messages = rows[0].messages
    models = dict.fromkeys(row.model for row in rows)
    return {
        "messages": str(messages),
        "half": str(messages // 2),
        "tables": "\n\n".join(f"**{model}:**\n\n{_table(rows, texts['traffics'][model], model)}" for model in models),
        "meanings": "\n".join(f"- `{name}`: {text}." for name, text in MEANINGS.items()),
    }


def _of_runs(rows: Sequence[Row], runs: Runs) -> Texts:
    """Model -> its traffics in the order of the runs."""
    wanted, cases = means_alone(), list(by_case(runs))
    return {
        "traffics": {
            model: list(dict.fromkeys(split(name)[0] for m, name in cases if m == model and split(name)[0] in wanted))
            for model in dict.fromkeys(row.model for row in rows)
        }
    }


def _table(rows: Sequence[Row], traffics: Sequence[str], model: str) -> str:
    wanted = means_alone()
    mine = [row for row in rows if row.model == model]
    cells: dict[str, dict[str, str]] = {}
    for row in mine:
        variant, _, what = row.what.partition(": ")
        text = number(row.ours, row.unit) + (" ↑" if row.growth == "grows" else "")
        cells.setdefault(variant, {})[what] = text
    head = ["variant", *(traffic.replace("/", " ") for traffic in traffics)]
    lines = [["published", *(number(wanted[t].theirs, wanted[t].unit) for t in traffics)]]
    lines += [
        [f"`{variant}`", *(latencies.get(wanted[t].what, "") for t in traffics)] for variant, latencies in cells.items()
    ]
    return table(head, lines, "l" + "r" * len(traffics))


REPRODUCTION = Reproduction(
    name="kang2019-variants",
    title="Kang 2019: effect of every routing option on uniform random and tornado traffic",
    points=points,
    make=make,
    rows=_rows,
    text=Page(lambda: (files("odonata.reproduce.kang2019") / "variants.md").read_text("utf-8"), _of_rows, _of_runs),
    keep=keep,
    study="kang2019",
)
