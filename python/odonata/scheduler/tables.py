"""The file of a schedule."""

from __future__ import annotations

from collections.abc import Mapping  # noqa: TC003 - the model needs it
from fractions import Fraction
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field

from odonata.document import Count, PositiveTime, Ratio, Seed, Table, input_error_as_problem
from odonata.document.plain import plain
from odonata.errors import InputError, unknown
from odonata.queue.table_columns import FIELDS, LIMIT_S, RUN
from odonata.scheduler.backfill import BACKFILL, LOOKS_AT

NAMES = {"halo": 1.0, "transform": 1.0, "training": 1.0}
"""Names of synthetic jobs, which rules of the default book know (assumed)."""


def _several(value: Any) -> tuple[Any, ...]:
    values = tuple(value) if isinstance(value, list | tuple) else (value,)
    if not values:
        raise InputError("the list is empty")
    return values


def _seeds(value: Any) -> tuple[Any, ...]:
    seeds = _several(value)
    for position, seed in enumerate(seeds):
        if seed in seeds[:position]:
            raise InputError(f"the seed {seed!r} is given twice", path=(position,))
    return seeds


def _placement(value: Any) -> tuple[dict[str, Any], ...]:
    policies = []
    for given in _several(value):
        table = {"policy": given} if isinstance(given, str) else given
        if not isinstance(table, dict) or not isinstance(table.get("policy"), str):
            hint = 'place = ["level-spread", { policy = "random", groups = "0-3" }]'
            raise InputError(f"expected the name of a policy, or a table with `policy`, found `{given!r}`", hint=hint)
        policies.append(plain(table))
    return tuple(policies)


def _backfill(value: Any) -> tuple[str, ...]:
    for given in _several(value):
        if given not in BACKFILL:
            raise unknown("backfilling", str(given), BACKFILL)
    return _several(value)


def _backfill_jobs(value: Any) -> int | None:
    if value == "all":
        return None
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise InputError(f'expected a number of jobs from 1 on, or "all", found `{value!r}`')
    return int(value)


def _names(value: Any) -> dict[str, float]:
    shares = dict.fromkeys(value, 1.0) if isinstance(value, list) else value
    if not isinstance(shares, dict) or not shares:
        raise InputError(f"expected names with weights such as {{ halo = 2, training = 1 }}, found `{value!r}`")
    for name, weight in shares.items():
        if isinstance(weight, bool) or not isinstance(weight, int | float) or not 0 < weight < float("inf"):
            raise InputError(f"`{name}`: expected a weight above 0, found `{weight!r}`")
    return {str(name): float(weight) for name, weight in shares.items()}


class SyntheticTable(Table):
    """`[stream.synthetic]`: a stream from the model of Lublin and Feitelson 2003."""

    jobs: Count = Field(description="number of jobs")
    load: Ratio = Field(description="offered load, as a share of the machine's nodes and time")
    largest: Count | None = Field(
        None, description="nodes of the largest job (default: a quarter of the machine, assumed)"
    )
    names: Annotated[dict[str, float], BeforeValidator(input_error_as_problem(_names))] = Field(
        NAMES, description="names of jobs with their weights; the book knows applications by names (assumed: equal)"
    )
    limit: Ratio = Field(Fraction(2), description="requested time as a multiple of the run time (assumed: 2)")
    seeds: Annotated[tuple[Seed, ...], BeforeValidator(input_error_as_problem(_seeds))] = Field(
        (1,), description="a stream for each seed"
    )


def _columns(value: Any) -> dict[str, str]:
    if not isinstance(value, dict) or not value or not all(isinstance(name, str) for name in value.values()):
        raise InputError(f'expected what columns are, such as {{ start = "begin" }}, found `{value!r}`')
    for field in value:
        if field not in (known := (*FIELDS, RUN, LIMIT_S)):
            raise unknown("what a column of jobs is", str(field), known)
    return {str(field): str(name) for field, name in value.items()}


class StreamTable(Table):
    """`[stream]`: the jobs."""

    trace: str | None = Field(
        None,
        description="file with jobs of the past: SWF, sacct (--parsable2 or --json), a table as PM100 (CSV, Parquet)",
    )
    cores_per_node: Count | None = Field(
        None, description="processors of a node, for SWF without MaxNodes and MaxProcs"
    )
    columns: Annotated[dict[str, str] | None, BeforeValidator(input_error_as_problem(_columns))] = Field(
        None,
        description='for any table (CSV, Parquet): what its columns are, such as { start = "begin", run = "seconds" }',
    )
    cluster: str | None = Field(None, description="the cluster whose jobs count, in a trace of several")
    first: Count | None = Field(None, description="only so many jobs of the trace (default: all)")
    speed_up: Ratio = Field(Fraction(1), description="the times between submissions are divided by this")
    synthetic: SyntheticTable | None = Field(None, description="a stream from a model, instead of a trace")


class WindowTable(Table):
    """`[window]`: packet-level windows, which give each job its rate of progress."""

    contention: bool = Field(True, description="false: jobs do not slow each other down, and nothing is simulated")
    error: Ratio = Field(
        Fraction(1, 10),
        description="a window is long enough when the half width of the 95 % interval of each job's iteration time is "
        "within this part of its mean (10 %, assumed)",
    )
    drift: Ratio = Field(
        Fraction(1, 50),
        description="jobs keep their rates until these are expected to have changed by more than this part (2 %, "
        "assumed); then another window is simulated",
    )
    change: Ratio | None = Field(
        None,
        description="in place of `drift`: jobs that have started or ended since the last window call for another one "
        "if they have more than this part of the machine's nodes",
    )
    exact: bool = Field(
        False,
        description="true: a window after every start and end, and ten iterations of every job in it; `drift` and "
        "`change` do not count",
    )
    longest: PositiveTime = Field(
        100 * 10**9, description="longest window (100 ms, assumed); its results count even if intervals are longer"
    )
    seed: Seed = Field(1, description="seed of the windows, and of placement policies that draw")


class ScheduleTable(Table):
    """A schedule: a stream of jobs on a machine, under several rules."""

    elsewhere: ClassVar[Mapping[str, str]] = {"job": "the jobs come from [stream]; what they send is in the book"}

    title: str = Field("", description="its name in outputs (default: that of the file)")
    system: Any = Field(description="the machine, as in a scenario")
    routing: Any = Field(None, description="the routing, as in a scenario")
    sensing: Any = Field(None, description="the congestion metric, as in a scenario")
    fabric: Any = Field(None, description="changes to the system's fabric, as in a scenario")
    stream: StreamTable = Field(description="the jobs")
    book: str | None = Field(
        None, description="the traffic book: what jobs send (default: a book of programs, in which all is assumed)"
    )
    backfill: Annotated[tuple[str, ...], BeforeValidator(input_error_as_problem(_backfill))] = Field(
        ("easy",), description="rules of backfilling: easy, conservative, none; each is simulated"
    )
    backfill_jobs: Annotated[int | None, BeforeValidator(input_error_as_problem(_backfill_jobs))] = Field(
        LOOKS_AT,
        description='waiting jobs that backfilling looks at in one pass, or "all" (default: 500, as bf_max_job_test in '
        "Slurm)",
    )
    place: Annotated[tuple[dict[str, Any], ...], BeforeValidator(input_error_as_problem(_placement))] = Field(
        description="placement policies; each is simulated, and the others are compared with the first"
    )
    over_limit: Literal["extend", "kill"] = Field(
        "extend", description="what happens to a job that runs for longer than it requested"
    )
    window: WindowTable = Field(default={}, validate_default=True, description="packet-level windows")
