"""`kang2019-background`: what the slowdowns by a background on random nodes depend on (K36, K44)."""

from __future__ import annotations

from importlib.resources import files
from statistics import mean
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from odonata.reproduce.kang2019.four_kb import INFERRED
from odonata.reproduce.kang2019.published import Expected, expected, row_of
from odonata.reproduce.kang2019.runs import AS_PUBLISHED, CORRECT, by_case, label, make, product
from odonata.reproduce.markdown import latencies, number, reasons, side_by_side, table
from odonata.reproduce.page import Page
from odonata.reproduce.reproduction import Reproduction
from odonata.reproduce.rows import within

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from odonata.reproduce.kang2019.runs import ByCase
    from odonata.reproduce.page import Texts
    from odonata.reproduce.reproduction import Points, Runs
    from odonata.reproduce.rows import Row
    from odonata.store import Run

UNIFORM, TORNADO = "uniform-random/random/512KB@150us", "tornado/random/512KB@150us"
SMALL = "uniform-random/random/1us"
"""Messages of 4 KB, whose slowdown comes out as published, and not in the correct model (`kang2019-4kb`)."""
MODELS_OF = {UNIFORM: (AS_PUBLISHED, CORRECT), TORNADO: (AS_PUBLISHED, CORRECT), SMALL: (CORRECT,)}
"""Job -> the models that are simulated here."""
SCANNED = {UNIFORM: 4, TORNADO: 4, SMALL: INFERRED}
"""Job -> messages per process of the scans."""
LONGEST = {
    (UNIFORM, AS_PUBLISHED): 32,
    (TORNADO, AS_PUBLISHED): 16,
    (UNIFORM, CORRECT): 16,
    (TORNADO, CORRECT): 16,
}
"""Messages per process of the longest run beside the background."""
ALONE = 16
"""Messages per process of the longest run alone, where latencies do not grow."""
FIRST = (1, 2, 4, 8, 16, 32)
"""Numbers of messages that the table of growth shows."""
LOAD, INTERVAL = "130%", "100us"
"""The background of the other pages."""
EVERY_MESSAGE = {"measure.latency": "every-message"}
_SCAN = "a scan: not the setting that is judged"


class Setting(NamedTuple):
    """One thing that is changed, alone and beside the background."""

    words: str
    interval: str = INTERVAL
    """Interval of the background."""
    changed: Mapping[str, Any] = {}
    jobs: tuple[str, ...] = (UNIFORM, TORNADO, SMALL)
    models: tuple[str, ...] = (AS_PUBLISHED, CORRECT)

    def models_of(self, job: str) -> tuple[str, ...]:
        """The models in which it is simulated with a job."""
        return tuple(model for model in MODELS_OF[job] if model in self.models) if job in self.jobs else ()

    @property
    def background_only(self) -> bool:
        """Whether the job alone is that of the base."""
        return all(key.startswith(_BACKGROUND) for key in self.changed)

    def alone(self, job: str) -> str:
        """The case of the job alone."""
        return job if self.background_only else f"{job}/{label(self.changed)}"

    def beside(self, job: str) -> str:
        """The case of the job beside the background."""
        return "/".join(part for part in (job, f"{LOAD}@{self.interval}", label(self.changed)) if part)

    def points(self, job: str, messages: int) -> Points:
        """Beside the background, and alone."""
        made: Points = []
        for background, changed in ((f"{LOAD}@{self.interval}", self.changed), ("", self._changed_alone)):
            pattern, place, every = job.split("/")
            made += product(
                [pattern],
                [place],
                [every],
                [messages],
                models=self.models_of(job),
                backgrounds=[background],
                changes=[changed],
                always=EVERY_MESSAGE,
            )
        return made

    @property
    def _changed_alone(self) -> Mapping[str, Any]:
        return {} if self.background_only else self.changed


_BACKGROUND = "job.background."
AT_ZERO = {f"{_BACKGROUND}app.first": "at-zero"}
BASE = Setting("nothing")


def _loaded(load: int, models: tuple[str, ...] = (AS_PUBLISHED, CORRECT)) -> Setting:
    words = f"background: load of {load} % on the same nodes"
    return Setting(words, changed={f"{_BACKGROUND}app.tgll": f"{load}%"}, models=models)


DOUBLED = _loaded(260)
SETTINGS = (
    BASE,
    Setting("order of the NIC: packets of waiting messages in turn", changed={"fabric.nic.order": "round-robin"}),
    Setting("background: a hundredth of the size, every 1 us", "1us"),
    Setting("background: a tenth of the size, every 10 us", "10us", models=(CORRECT,)),
    Setting("background: first messages at 0", changed=AT_ZERO, jobs=(UNIFORM, SMALL)),
    Setting("background: three times the size, every 300 us, first messages at 0", "300us", AT_ZERO, (UNIFORM,)),
    Setting("background: ends after three intervals", changed={f"{_BACKGROUND}app.messages": 3}, jobs=(UNIFORM,)),
    DOUBLED,
    _loaded(390, (CORRECT,)),
    Setting("background: minimal paths only", changed={f"{_BACKGROUND}routing": "minimal"}, models=(CORRECT,)),
    Setting("metric: `backlog`", changed={"sensing": "backlog"}, models=(CORRECT,)),
    Setting("metric: `both`", changed={"sensing": "both"}, models=(CORRECT,)),
    Setting(
        "buffers of links between routers: four times as large",
        changed={"fabric.links.local.buffer": "32 KiB", "fabric.links.global.buffer": "64 KiB"},
        jobs=(UNIFORM,),
    ),
    Setting("packets: 4 KiB", changed={"fabric.packet": "4 KiB"}, jobs=(UNIFORM,)),
)
"""The base, and each change by itself."""


def points(reduced: bool) -> Points:
    """The scans, and the long runs."""
    if reduced:
        return [point for point in BASE.points(UNIFORM, 1) if point["model"] == CORRECT]
    scans = [point for setting in SETTINGS for job in setting.jobs for point in setting.points(job, SCANNED[job])]
    long = []
    for (job, model), most in LONGEST.items():
        beside, alone = BASE.points(job, most), BASE.points(job, ALONE)
        long += [point for point in beside if point["model"] == model and LOAD in point["case"]]
        long += [point for point in alone if point["model"] == model and LOAD not in point["case"]]
    different = {(point["model"], point["case"], point["messages"]): point for point in [*scans, *long]}
    return list(different.values())


def keep(run: Run) -> dict[str, Any]:
    """Of the target's messages beside `jobs`:

    - `by_message`: mean latency of the first, second, ... message of the ranks, ps;
    - `overlapped`: share of messages that were issued before the message before them had arrived. Only these can wait
      at their NIC, so the others have the same latency from their issue and from their first packet.
    """
    messages = run.messages.filter(pl.col("job") == 0).sort("source", "interval")
    arrived = (pl.col("issue_ps") + pl.col("latency_ps")).shift(1).over("source")
    by_message = messages.group_by("interval").agg(pl.col("latency_ps").mean()).sort("interval")
    return {
        "by_message": by_message["latency_ps"].to_list(),
        "overlapped": messages.select((arrived > pl.col("issue_ps")).fill_null(value=False).mean()).item(),
    }


def _wanted() -> dict[str, Expected]:
    """Job -> its published slowdown."""
    rows = [*expected(), *expected("expected_large.csv")]
    by_job = {
        job: [row for row in rows if row.cases == (BASE.beside(job),) and row.reference == (job,)] for job in SCANNED
    }
    return {job: row for job, (row,) in by_job.items()}


def _first(run: Mapping[str, Any], messages: int) -> float:
    """Mean latency of so many first messages of each process."""
    value: float = mean(run["by_message"][:messages])
    return value


def _rows(runs: Runs) -> list[Row]:
    wanted, cases = _wanted(), by_case(runs)
    rows = []
    for job, models in MODELS_OF.items():
        for model in models:
            beside, alone = (cases.get((model, case), {}) for case in (BASE.beside(job), BASE.alone(job)))
            if beside and alone:
                most = max(beside)
                longest, quiet = beside[most], alone[max(alone)]
                shown = [n for n in FIRST if n < most] + [most]
                ratios = {n: _first(longest, n) / _first(quiet, n) for n in shown}
                rows.append(row_of(wanted[job], model, ratios, inferred=INFERRED))
            rows += _scans(wanted[job], cases, job, model)
    return rows


def _scans(wanted: Expected, cases: ByCase, job: str, model: str) -> list[Row]:
    """The slowdown of a job with each setting."""
    rows = []
    for setting in SETTINGS:
        beside, alone = (cases.get((model, case), {}) for case in (setting.beside(job), setting.alone(job)))
        for messages in sorted({SCANNED[job]} & set(beside) & set(alone)):
            ratio = beside[messages]["latency_mean_ps"] / alone[messages]["latency_mean_ps"]
            rows.append(row_of(wanted, model, {messages: ratio}, label=setting.words, no_claim=_SCAN))
    return rows


def _of_rows(rows: Sequence[Row], _: Texts) -> Texts:
    judged, scans = ([row for row in rows if (row.why == _SCAN) == is_scan] for is_scan in (False, True))
    near = [row for row in scans if within(row.ours, row.theirs, row.tolerance)]
    named = "; ".join(f"{row.model}, {row.what}: {number(row.ours, row.unit)} x" for row in near)
    return {
        "judged": side_by_side(judged, (AS_PUBLISHED, CORRECT)),
        "scans": _table_of_scans(scans),
        "within": f"Within the tolerance are: {named}." if near else "None is within the tolerance.",
        "meets": " and ".join(f"{row.meets_at:.0f}" for row in judged if row.meets_at),
        "reasons": reasons(judged),
        "inferred": str(INFERRED),
        **{f"messages_{name}": str(SCANNED[job]) for name, job in (("large", UNIFORM), ("small", SMALL))},
    }


def _table_of_scans(rows: Sequence[Row]) -> str:
    """A line for each setting, a column for each job and model."""
    wanted = _wanted()
    columns = [(job, model) for job, models in MODELS_OF.items() for model in models]
    ours = {(row.what, row.model): row for row in rows}
    published = ["published", *(number(wanted[job].theirs, "x") for job, _ in columns)]
    lines = [published]
    for setting in SETTINGS:
        rows_of = [ours.get((f"{setting.words}: {wanted[job].what}", model)) for job, model in columns]
        lines.append([setting.words, *("" if row is None else number(row.ours, row.unit) for row in rows_of)])
    heads = [f"{wanted[job].what.partition(':')[0].replace(', random', '')}, {model}" for job, model in columns]
    return table(["changed", *heads], lines, "l" + "r" * len(columns))


def _of_runs(rows: Sequence[Row], runs: Runs) -> Texts:
    """The slowdown of the first messages, mean latency of the n-th messages beside the background, and which messages
    overlap."""
    cases = by_case(runs)
    lines, overlaps = [], []
    for setting in (BASE, DOUBLED):
        for job, model in LONGEST:
            by_number = cases[model, setting.beside(job)]
            run = by_number[max(by_number)]
            by_message = [run["by_message"][n - 1] if n <= run["messages"] else None for n in FIRST]
            cells = ["" if value is None else number(value / 1e9, "ms") for value in by_message]
            lines.append([job.partition("/")[0], model, setting.words, *cells])
    for job, model in LONGEST:
        scanned = [cases[model, case][SCANNED[job]] for case in (BASE.alone(job), BASE.beside(job))]
        overlaps.append([job.partition("/")[0], model, *(f"{100 * run['overlapped']:.1f} %" for run in scanned)])
    head = ["pattern", "model", "changed", *(f"n = {n}" for n in FIRST)]
    judged = [row for row in rows if row.why != _SCAN]
    return {
        "growth": latencies(judged, AS_PUBLISHED),
        "growth_correct": latencies(judged, CORRECT),
        "by_message": table(head, lines, "lll" + "r" * len(FIRST)),
        "overlaps": table(["pattern", "model", "alone", "beside the background"], overlaps, "llrr"),
    }


REPRODUCTION = Reproduction(
    name="kang2019-background",
    title="Kang 2019: what the slowdown by a background depends on, messages of 512 KB and 4 KB on random nodes",
    points=points,
    make=make,
    rows=_rows,
    text=Page(lambda: (files("odonata.reproduce.kang2019") / "background.md").read_text("utf-8"), _of_rows, _of_runs),
    keep=keep,
)
