"""The tables of a scenario, with their keys and defaults."""

import re
from fractions import Fraction
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, PlainSerializer

from odonata import units
from odonata.document import Count, PositiveTime, Seed, Table, Time, input_error_as_problem
from odonata.errors import InputError, shortened
from odonata.scenario.apps.app import OFF, ON
from odonata.scenario.apps.bursts import BurstLength
from odonata.scenario.apps.choice import AnyApp
from odonata.scenario.apps.mapping import Mapped
from odonata.scenario.apps.values import Duration, Iterations, Overhead
from odonata.scenario.routings.choice import AnyRouting
from odonata.scenario.sensing import Sensing
from odonata.scenario.texts import Title

Record = Literal["every-message", "histogram", "nothing"]
Remedies = Literal["placement", "routing", "mapping", "start", "congestion-control"]

#: Default placement: the lowest free nodes.
DEFAULT_POLICY = "contiguous"

#: Names of jobs appear in tables, pictures and names of columns. The length is assumed: it still fits into a line.
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
#: Texts that list nodes and are not names of policies.
_NODES = re.compile(r"\s*[0-9][0-9\s,-]*")


def _name(value: Any) -> str:
    if not isinstance(value, str) or not _NAME.fullmatch(value):
        shown = shortened(value if isinstance(value, str) and value.isprintable() else repr(value))
        hint = "use 1 to 64 letters, digits, `-` and `_`, a letter or digit first"
        raise InputError(f"`{shown}` is not a name of a job", hint=hint)
    return value


def _place(value: Any) -> dict[str, Any]:
    """`"random"` or a table; a table without `policy` names its nodes, or means the default."""
    if isinstance(value, str) and not _NODES.fullmatch(value):
        return {"policy": value}
    if not isinstance(value, dict):
        shown = value if isinstance(value, str) else repr(value)
        hint = None
        if isinstance(value, str | list | tuple | int) and not isinstance(value, bool):
            nodes = [value] if isinstance(value, str | int) else value
            listed = ",".join(str(node) for node in nodes)
            hint = f'name nodes in a table: place = {{ nodes = "{listed}" }}' if listed and len(listed) < 60 else None
            hint = hint or 'name nodes in a table: place = { nodes = "0-15,40" }'
        raise InputError(f"expected a placement policy or a table, found `{shown}`", hint=hint)
    if "policy" not in value:
        return {"policy": "explicit" if "nodes" in value else DEFAULT_POLICY, **value}
    if not isinstance(value["policy"], str):
        raise InputError(f"expected the name of a policy, found `{value['policy']!r}`")
    return dict(value)


def _until(value: Any) -> tuple[str, ...]:
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, list | tuple) or not texts or not all(isinstance(t, str) for t in texts):
        raise InputError(f'expected a job, a list of jobs or a time such as "1 ms", found `{value!r}`')
    return tuple(texts)


def _jobs(value: Any) -> Any:
    if isinstance(value, dict):
        raise InputError("jobs are a list", hint="write [[job]] with two brackets")
    return value


def _system(value: Any) -> str | dict[str, Any]:
    if not isinstance(value, str | dict):
        raise InputError(f"expected the name of a system or a table, found `{value!r}`")
    return value


class JobTable(Table):
    """`[[job]]`: a job, its nodes and its application."""

    name: Annotated[str, BeforeValidator(input_error_as_problem(_name))] = Field(
        description="name, unique in the scenario: 1 to 64 letters, digits, `-` and `_`, a letter or digit first"
    )
    about: Title | None = Field(
        None, description="what it is and whose, in one line for readers of reports (default: nothing)"
    )
    nodes: Count | None = Field(
        None,
        description="number of nodes (a policy that names nodes needs none, and a trace brings its number of ranks)",
    )
    place: Annotated[dict[str, Any], BeforeValidator(input_error_as_problem(_place))] = Field(
        default={"policy": DEFAULT_POLICY}, description="placement policy and its options, or nodes"
    )
    app: AnyApp = Field(description="application of the ranks: a pattern, a collective, a motif or a trace")
    ranks_per_node: Count | None = Field(None, description="ranks on each node, of a program (default: 1)")
    mapping: Mapped | None = Field(
        None, description="the node of each rank of a program: a name, a file or a table (default: linear)"
    )
    iterations: Iterations | None = Field(
        None, description="number of iterations of a program (default: 1; without end in the background)"
    )
    gap: Duration | None = Field(
        None, description="computing before each iteration of a program except the first (default: 0 s)"
    )
    every: Duration | None = Field(
        None, description="no rank of a program begins iteration k before start + k x this (default: 0 s)"
    )
    barrier: bool | None = Field(
        None,
        description="a barrier before each iteration of a program, which its time leaves out, as in benchmarks "
        "(default: false)",
    )
    on: BurstLength | None = Field(None, description=ON)
    off: BurstLength | None = Field(None, description=OFF)
    start: Duration | None = Field(None, description="when the ranks of a program begin (default: 0 s)")
    overhead: Overhead | None = Field(
        None, description='costs of the host for the ranks of a program, other than the system\'s: a table, or "none"'
    )
    routing: AnyRouting | None = Field(
        None,
        description="routing algorithm of its packets (default: that of the scenario; a table without `name` means the "
        "same routing with its own options)",
    )
    class_: str | None = Field(
        None, alias="class", description="traffic class of its packets (default: the first one of the fabric)"
    )
    background: bool = Field(False, description="whether the run does not wait for this job")
    record: Record | None = Field(
        None,
        description="record of its messages (default: `measure.latency`; `histogram` for background and for programs "
        "other than lists of flows)",
    )


def _bound(value: Any) -> Fraction:
    bound = units.fraction(value)
    if not LEAST_ERROR <= bound <= MOST_ERROR:
        shown = value if isinstance(value, str) else repr(value)
        hint = 'such as "1 %"'
        raise InputError(f"expected a bound from 0.01 % to 20 %, found `{shown}`", hint=hint)
    return bound


#: Bounds that `run.steady` takes. Assumed: below, means are not known from part of a run; above, they say little.
LEAST_ERROR, MOST_ERROR = Fraction(1, 10_000), Fraction(1, 5)
#: A bound on an error, from a number or a percentage.
Bound = Annotated[
    Fraction,
    BeforeValidator(input_error_as_problem(_bound)),
    PlainSerializer(lambda bound: units.format_fraction(bound), when_used="json"),
]


def _with_error(value: Any, hint: str) -> Any:
    """A table, as the hint shows it."""
    if not isinstance(value, dict):
        raise InputError(f"expected a table, found `{value!r}`", hint=hint)
    return value


def _steady(value: Any) -> Any:
    return _with_error(value, 'steady = { error = "1 %" }')


class SteadyTable(Table):
    """`run.steady`: iterations that repeat are not simulated again and again (docs/results.md)."""

    error: Bound = Field(
        description="bound on the error of the mean time of an iteration (95 %), for every program and for each set of "
        "programs that run together"
    )


def _packets(value: Any) -> Any:
    return _with_error(value, 'packets = { error = "5 %" }')


class PacketsTable(Table):
    """`run.packets`: larger packets, if the error that they make is measured and small (docs/results.md)."""

    error: Bound = Field(
        description="bound on the change of the time of an iteration of every program, of which a part of the run may "
        "show three quarters"
    )


class RunTable(Table):
    """`[run]`: end and seed of the run."""

    until: Annotated[tuple[str, ...], BeforeValidator(input_error_as_problem(_until))] | None = Field(
        None,
        description="the job or jobs whose end (last message, last rank) ends the run, or a time (default: all jobs "
        "that are not background)",
    )
    seed: Seed = Field(1, description="seed of every random stream of the run")
    horizon: PositiveTime | None = Field(None, description="latest time at which the run ends")
    steady: Annotated[SteadyTable, BeforeValidator(input_error_as_problem(_steady))] | None = Field(
        None,
        description="skip iterations of programs whose mean is known, and extrapolate (default: all are simulated)",
    )
    packets: Annotated[PacketsTable, BeforeValidator(input_error_as_problem(_packets))] | None = Field(
        None,
        description="simulate larger packets, if a part of the run shows that this changes times of iterations by less "
        "than a bound (default: packets of `fabric.packet`)",
    )


class LinksTable(Table):
    """`[measure.links]`: traffic between groups over time (Kang 2019, section 4.4)."""

    every: PositiveTime = Field(description="width of the windows")


class MeasureTable(Table):
    """`[measure]`: what is recorded."""

    latency: Literal["every-message", "histogram"] = Field(
        "every-message", description="record of the messages of jobs that are not background"
    )
    links: LinksTable | None = Field(
        None, description="traffic between groups by windows of time (default: not recorded)"
    )
    warm_up: Time = Field(
        0, description="messages issued before this time do not count in latencies, nor iterations begun before it"
    )
    window: PositiveTime | None = Field(
        None, description="length of the measured time after the warm-up; later messages and iterations do not count"
    )
    blame: bool = Field(
        False, description="attribute the waiting of packets to the jobs that cause it (`odonata explain`)"
    )
    roots: bool = Field(
        False,
        description="with `blame`, also follow waits for room to the links at which chains of full buffers end",
    )
    series: bool = Field(
        False, description="record the load of every link by job over time, in at most 256 slices (`odonata report`)"
    )
    operations: bool = Field(
        False, description="record what the CPUs of the ranks of programs do (`odonata export --format perfetto`)"
    )
    reordering: bool = Field(
        False,
        description="count packets that come to their NIC after later ones of the same pair of NICs, how far, and the "
        "buffer that puts them in order (RFC 4737)",
    )


class AdviseTable(Table):
    """`[advise]`: what `odonata advise` may change, and how it decides; a run ignores it."""

    victim: str | None = Field(
        None, description="the job that is to become faster (default: the one that the others slow down most)"
    )
    allow: tuple[Remedies, ...] = Field(
        ("placement", "routing", "mapping", "start", "congestion-control"),
        strict=False,
        description="kinds of remedies (default: all)",
    )
    jobs: tuple[str, ...] | None = Field(
        None, strict=False, description="jobs that may be changed (default: all of the file)"
    )
    move: tuple[str, ...] = Field(
        (), strict=False, description="jobs that may get other nodes although a list fixes theirs (default: none)"
    )
    value: str | None = Field(
        None,
        description="the column of `jobs` by which the victim is judged (default: `time_ps` of a program, else "
        "`latency_mean_ps`)",
    )
    seeds: Annotated[int, Field(ge=8, le=1000)] = Field(
        8, description="seeds of the final comparison, at least 8 (default: the fewest that can show a difference)"
    )
    finalists: Annotated[int, Field(ge=1, le=50)] = Field(
        3, description="remedies that reach the final comparison, besides their combinations (default: 3, assumed)"
    )


class ImportTable(Table):
    """`import`: jobs from the files of the simulator of Kang 2019."""

    workload: str = Field(description="workload file: one job per line")
    alloc: str = Field(description="allocation file: the nodes of one job per line")


class ScenarioTable(Table):
    """A scenario file."""

    title: Title | None = Field(
        None, description="what the scenario is, in one line for readers of reports (default: the name of the file)"
    )
    system: Annotated[str | dict[str, Any], BeforeValidator(input_error_as_problem(_system))] = Field(
        description="the machine: a name, a file, or a table"
    )
    routing: AnyRouting = Field(
        default={},
        validate_default=True,
        description="routing algorithm (default: by the kind of machine, docs/routings.md)",
    )
    sensing: Sensing = Field(
        default={},
        validate_default=True,
        description="congestion metric of adaptive routings (default: occupancy with fpar and with the modes of aries, "
        "else backlog)",
    )
    compat: Literal["codes-2019"] | None = Field(
        None, description="a published simulator to reproduce, defects included"
    )
    compat_without: tuple[Literal["running-minima", "nic-without-credits", "channel-priority"], ...] = Field(
        (),
        strict=False,
        description="defects of that simulator to repair, to see what depends on them (`odonata show codes-2019`)",
    )
    fabric: dict[str, Any] | None = Field(None, description="changes to the system's fabric")
    job: Annotated[tuple[JobTable, ...], BeforeValidator(input_error_as_problem(_jobs))] = Field(
        (), strict=False, description="the jobs"
    )
    import_: ImportTable | None = Field(
        None, alias="import", description="further jobs, from files of the authors of Kang 2019"
    )
    run: RunTable = Field(default={}, validate_default=True, description="end and seed of the run")
    measure: MeasureTable = Field(default={}, validate_default=True, description="what is recorded")
    sources: dict[str, str] = Field(
        {},
        description="where values of the scenario come from, by key; an assumption begins with `assumed`",
    )
    advise: AdviseTable = Field(
        default={}, validate_default=True, description="what `odonata advise` may change; a run ignores it"
    )
