"""`kang2019-defects`: the published latencies with the authors' simulator, and with its defects repaired one by one."""

from __future__ import annotations

from dataclasses import replace
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from odonata.reproduce.kang2019.published import compare, expected
from odonata.reproduce.kang2019.runs import AS_PUBLISHED, BOTH, CORRECT, INTERVALS, label, make, product
from odonata.reproduce.markdown import number, published, table
from odonata.reproduce.page import Page
from odonata.reproduce.reproduction import Reproduction
from odonata.reproduce.rows import within

if TYPE_CHECKING:
    from collections.abc import Sequence

    from odonata.reproduce.page import Texts
    from odonata.reproduce.reproduction import Points, Runs
    from odonata.reproduce.rows import Row

DEFECTS = ("running-minima", "nic-without-credits", "channel-priority")
"""Those that a scenario can repair (`compat_without`)."""
AS_RUN, TOGETHER = "as run", "all three repaired"
MESSAGES = 300
"""Messages per process: where uniform random traffic, contiguous, every 0.5 us has its published mean latency (K30)."""
BACKGROUND = "130%@1us"
SLOWED = f"uniform-random/random/1us/{BACKGROUND}"
"""The case whose slowdown K36 states."""
_ELSEWHERE = "judged on the page kang2019-4kb"
_EXPERIMENT = "an experiment: the simulator of the paper has the defect"


def _repaired(defects: Sequence[str]) -> dict[str, Any]:
    return {"compat_without": list(defects)}


VARIANTS: dict[str, dict[str, Any]] = {
    AS_RUN: {},
    **{f"without `{defect}`": _repaired([defect]) for defect in DEFECTS},
    TOGETHER: _repaired(DEFECTS),
}
"""Variant -> what is changed in the scenario of the authors' simulator."""
REPAIRED = tuple(VARIANTS)[1:]


def points(reduced: bool) -> Points:
    """Uniform random and tornado traffic alone, and the case of K36, with every defect repaired."""
    published, changes = [AS_PUBLISHED], list(VARIANTS.values())
    if reduced:
        return product(["uniform-random"], BOTH[:1], ["1us"], [10], models=published, changes=changes[:2])
    alone = ["uniform-random", "tornado"]
    pattern, place, interval, background = SLOWED.split("/")
    return [
        *product(alone, BOTH, INTERVALS["4 KB"], [MESSAGES], models=published, changes=changes),
        *product(
            [pattern], [place], [interval], [MESSAGES], models=published, backgrounds=[background], changes=changes
        ),
        # The model of the network that the paper describes, for the distance that the three defects leave.
        *product(alone, BOTH, INTERVALS["4 KB"], [MESSAGES], models=[CORRECT]),
        *product([pattern], [place], [interval], [MESSAGES], models=[CORRECT], backgrounds=[background]),
    ]


def _rows(runs: Runs) -> list[Row]:
    rows = [_not_judged(row, _ELSEWHERE) for row in compare(expected(), runs, inferred=MESSAGES)]
    for name in REPAIRED:
        suffix = f"/{label(VARIANTS[name])}"
        repaired = [
            replace(
                statement,
                what=f"{name}: {statement.what}",
                cases=tuple(case + suffix for case in statement.cases),
                reference=tuple(case + suffix for case in statement.reference),
            )
            for statement in expected()
        ]
        without = compare(repaired, runs, inferred=MESSAGES)
        rows += [_not_judged(row, _EXPERIMENT) for row in without]
    return rows


def _not_judged(row: Row, why: str) -> Row:
    """A row without a verdict; kind R, because those of kind F count as fitted."""
    return replace(row, kind="R", verdict="not comparable", why=why, experiment="")


def _of_rows(rows: Sequence[Row], _: Texts) -> Texts:
    as_run = [row for row in rows if row.model == AS_PUBLISHED and not _variant(row)]
    met = [row for row in as_run if _meets(row)]
    left = {name: [row for row in met if not _meets(_under(rows, name, row))] for name in REPAIRED}
    return {
        "table": _table(rows, as_run),
        "messages": str(MESSAGES),
        "met": f"{len(met)} of {len(as_run)}",
        "left": "\n".join(
            f"- **{name}**, {len(of)} of these {len(met)} leave their tolerance"
            + (f" ({', '.join(dict.fromkeys(row.id for row in of))})." if of else ".")
            for name, of in left.items()
        ),
        "correct": str(sum(_meets(_under(rows, CORRECT, row)) for row in met)),
    }


def _of_runs(_: Sequence[Row], runs: Runs) -> Texts:
    return {"runs": str(len(runs))}


def _variant(row: Row) -> str:
    return next((name for name in REPAIRED if row.what.startswith(f"{name}: ")), "")


def _under(rows: Sequence[Row], name: str, of: Row) -> Row:
    """The row of the same statement with a defect repaired, or of the correct model."""
    model, what = (CORRECT, of.what) if name == CORRECT else (AS_PUBLISHED, f"{name}: {of.what}")
    return next(row for row in rows if (row.model, row.id, row.what) == (model, of.id, what))


def _meets(row: Row) -> bool:
    return within(row.ours, row.theirs, row.tolerance)


def _table(rows: Sequence[Row], as_run: Sequence[Row]) -> str:
    """Published values beside ours; those outside of their tolerance in bold."""
    lines = []
    for row in as_run:
        ours = [row, *(_under(rows, name, row) for name in (*REPAIRED, CORRECT))]
        cells = [
            number(each.ours, each.unit) if _meets(each) else f"**{number(each.ours, each.unit)}**" for each in ours
        ]
        lines.append([row.id, row.what, published(row), row.tolerance, *cells])
    return table(["id", "what", "published", "tolerance", AS_RUN, *REPAIRED, CORRECT], lines, "llrl" + "r" * 6)


REPRODUCTION = Reproduction(
    name="kang2019-defects",
    title="Kang 2019: the authors' simulator with its defects repaired one by one",
    points=points,
    make=make,
    rows=_rows,
    text=Page(lambda: (files("odonata.reproduce.kang2019") / "defects.md").read_text("utf-8"), _of_rows, _of_runs),
)
