"""`kang2019-variants`: what each option of the routing changes (K4 to K8)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from odonata.reproduce.kang2019.published import means_alone
from odonata.reproduce.markdown import number, table
from odonata.reproduce.rows import Row
from odonata.reproduce.study import Study
from odonata.reproduce.verdict import growth, judge, meets_at

if TYPE_CHECKING:
    from collections.abc import Sequence

    from odonata.reproduce.rows import Results

BASE = "base"

MEANINGS = {
    BASE: "FPAR as the model has it: `compare = below` (correct) or `at-most` (as published); all other groups' ports "
    "are candidates; channel 1 from the intermediate router on (correct) or the intermediate leaf on (as published)",
    "compare=at-most": "a port exactly at the threshold still counts as free",
    "candidates=one-group": "the source spine considers its links to one random other group, not to all",
    "channel_switch=intermediate": "a diverted packet changes to channel 1 at the intermediate spine as well, as the "
    "paper says (the correct model always does: the other way can deadlock)",
    "routing=prog-adaptive": "progressive adaptive routing by absolute queue lengths (K8)",
    "routing=minimal": "shortest paths only, ports at random",
    "routing=valiant": "always by way of a random intermediate group",
    "arrangement=parallel": "both links between a spine and another group end at the same spine (K4)",
}
"""Variant -> what it is."""

_NO_CLAIM = "the paper used its own settings; this row shows what the option changes"


def _compare(results: Results, models: Sequence[str]) -> list[Row]:
    wanted, rows = means_alone(), []
    for (model, name), found in results.items():
        traffic, variant = split(name)
        if traffic not in wanted or model not in models:
            continue
        row = wanted[traffic]
        ours = {n: outcome.mean_ps / 1e6 for n, outcome in sorted(found.items())}
        most, growing = max(ours), growth(ours)
        base = variant == BASE
        verdict = judge(row.kind, ours[most], row.theirs, row.tolerance, growing) if base else "not comparable"
        rows.append(
            Row(
                id=row.id,
                what=f"{variant}: {row.what}",
                model=model,
                kind=row.kind,
                unit=row.unit,
                ours=ours[most],
                theirs=row.theirs,
                tolerance=row.tolerance,
                verdict=verdict,
                why="" if base else _NO_CLAIM,
                messages=most,
                by_messages=ours,
                growth=growing,
                meets_at=meets_at(ours, row.theirs),
                where=row.where,
            )
        )
    return rows


def split(name: str) -> tuple[str, str]:
    """Name of a case to its traffic and its variant."""
    pattern, place, interval, *label = name.split("/")
    return f"{pattern}/{place}/{interval}", label[0].removeprefix("preset=kang2019,") if label else BASE


def _page(rows: Sequence[Row], results: Results) -> str:
    messages = rows[0].messages
    models = dict.fromkeys(row.model for row in rows)
    tables = [f"## {model}\n\n{_table(rows, results, model)}\n" for model in models]
    meanings = "\n".join(f"- `{name}`: {text}." for name, text in MEANINGS.items())
    head = _HEAD.format(messages=messages, half=messages // 2)
    return "\n".join([head, *tables, f"## What the variants are\n\n{meanings}\n"])


def _table(rows: Sequence[Row], results: Results, model: str) -> str:
    wanted = means_alone()
    mine = [row for row in rows if row.model == model]
    traffics = list(dict.fromkeys(split(name)[0] for m, name in results if m == model and split(name)[0] in wanted))
    cells: dict[str, dict[str, str]] = {}
    for row in mine:
        variant, _, what = row.what.partition(": ")
        text = number(row.ours, row.unit) + (" ↑" if row.growth == "grows" else "")
        cells.setdefault(variant, {})[what] = text
    head = ["variant", *(traffic.replace("/", " ") for traffic in traffics)]
    lines = [["published", *(number(wanted[t].theirs, wanted[t].unit) for t in traffics)]]
    lines += [[f"`{variant}`", *(found.get(wanted[t].what, "") for t in traffics)] for variant, found in cells.items()]
    return table(head, lines, "l" + "r" * len(traffics))


_HEAD = """\
# Kang 2019: what each routing option changes

Made by `odonata reproduce kang2019-variants`; do not edit. Mean latency in µs of 2,304 processes that send 4 KB
messages by themselves, {messages} messages per process. `↑`: grows with the number of messages (from {half} to
{messages} by more than 11 %), so the value says how fast the queues fill, not how long a message takes.

What is seen. Without going round (`minimal`) a contiguous tornado collapses; always going round (`valiant`) loads
every link twice and is slower in nearly all other cases. Whether a port exactly at the threshold is free, and where a
spine's two links to a group end, make no difference here. Considering only one other group costs most where most goes
round. Comparing absolute queues (`prog-adaptive`) diverts earlier than FPAR: in the correct model that is better where
minimal links are unequally loaded (contiguous) and worse where they are not (random).
"""

STUDY = Study(
    name="kang2019-variants",
    title="Kang 2019: effect of every routing option on uniform random and tornado traffic (K4 to K8)",
    package="odonata.reproduce.kang2019",
    file="variants.toml",
    compare=_compare,
    page=_page,
)
