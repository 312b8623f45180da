"""From the file of a schedule to its streams and cases, with every error at its line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from odonata.document import Document, parse, read, validate
from odonata.document import of as document_of
from odonata.errors import InputError
from odonata.placement import POLICIES, read_options
from odonata.placement.policy import Freedom
from odonata.queue.accounting import counts_processors
from odonata.queue.records import Job
from odonata.scenario import Scenario
from odonata.scheduler import synthetic
from odonata.scheduler.submission import Submission, Told, read_stream, submission
from odonata.scheduler.tables import ScheduleTable
from odonata.scheduler.timeline import FEWEST, Case
from odonata.scheduler.window import Member, content_of_job, content_of_machine
from odonata.study.axis import text
from odonata.units import format_time
from odonata.workload.book import Book, book_of, read_book
from odonata.workload.from_queue import interval_of_load

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike

    from odonata.machine import System
    from odonata.scenario import Resolved
    from odonata.scheduler.tables import StreamTable

_PROBE = {"name": "probe", "nodes": 2, "app": {"collective": "barrier"}}


@dataclass(frozen=True)
class Stream:
    """The jobs of a stream."""

    name: str
    jobs: tuple[Submission, ...]


@dataclass
class Plan:
    """All that a schedule simulates."""

    name: str
    document: Document
    table: ScheduleTable
    system: System
    machine: Mapping[str, Any]
    """System, routing and so on: keys and values of a scenario."""
    folder: Path
    book: Book
    streams: tuple[Stream, ...]
    cases: tuple[tuple[str, Case], ...]
    """Name and rules of each case; the others are compared with the first."""
    notes: tuple[str, ...]
    """What was left out or assumed."""
    content: str
    """A hash of what the machine resolves to."""
    _traffic: dict[tuple[int, int], tuple[Mapping[str, Any], bool]] = field(default_factory=dict)
    _contents: dict[tuple[int, int], str] = field(default_factory=dict)

    def member(self, job: Submission, nodes: tuple[int, ...]) -> Member:
        """A job in a window."""
        keys, program = self.traffic(job.app, len(nodes))
        return Member(keys, nodes, program, self._content(job.app, len(nodes)))

    def _content(self, rule: int, nodes: int) -> str:
        """A hash of what the application of a rule resolves to on so many nodes."""
        if (rule, nodes) not in self._contents:
            self._contents[rule, nodes] = content_of_job(self.resolved(rule, nodes).spec)
        return self._contents[rule, nodes]

    @property
    def patterns(self) -> frozenset[int]:
        """The rules of the book that are patterns."""
        rules = range(len(self.book.table.rule))
        return frozenset(rule for rule in rules if not self.book.traffic(rule).is_program)

    def resolved(self, rule: int, nodes: int) -> Resolved:
        """The application of a rule alone on so many nodes. Raises InputError at its place in the book."""
        job = {"name": "job", "nodes": nodes, **self.traffic(rule, nodes)[0], "background": True}
        try:
            return Scenario.of({**self.machine, "job": [job], "run": {"until": "1 us"}}, folder=self.folder).resolve()
        except InputError as problem:
            message = f"a job of {nodes:,} nodes by the rule `{self.book.table.rule[rule].name}`: {problem.message}"
            located = InputError(message, hint=problem.hint, path=("rule", rule, "app"))
            raise self.book.document.locate(located) from None

    def traffic(self, rule: int, nodes: int) -> tuple[Mapping[str, Any], bool]:
        """The application of a rule of the book on so many nodes (keys of a job), and whether it is a program."""
        if (rule, nodes) not in self._traffic:
            self._traffic[rule, nodes] = self._traffic_of(rule, nodes)
        return self._traffic[rule, nodes]

    def _traffic_of(self, rule: int, nodes: int) -> tuple[Mapping[str, Any], bool]:
        traffic = self.book.traffic(rule)
        keys = dict(traffic.keys)
        # How long a job sends is not the book's to say: as long as it runs.
        keys["app"] = {key: value for key, value in keys["app"].items() if traffic.is_program or key != "messages"}
        if traffic.load is not None:
            try:
                interval = interval_of_load(self.machine, keys, range(nodes), traffic.load, self.folder)
            except InputError as problem:
                raise self.book.document.locate(problem.under("rule", rule, "app")) from None
            keys["app"] = {**keys["app"], "interval": format_time(interval)}
        return keys, traffic.is_program


def load(schedule: str | PathLike[str] | Mapping[str, Any], overrides: Sequence[str] = ()) -> Plan:
    """Read a schedule.

    Parameters
    ----------
    schedule
        The file (TOML), or its data. Files that a file names are relative to it, those that data names to the current
        folder.
    overrides
        Changes of its values, as `"place=simple"`.

    Returns
    -------
    Plan

    Raises
    ------
    InputError
        With file and line, or the path of the key in data, for anything that cannot be simulated.
    """
    if isinstance(schedule, Mapping):
        return plan_of(_changed(document_of(schedule, "schedule"), overrides), Path("schedule.toml"))
    path = Path(schedule)
    return plan_of(_changed(read(path), overrides), path)


def _changed(document: Document, overrides: Sequence[str]) -> Document:
    from odonata.document.edit import read_value

    for override in overrides:
        key, equals, value = override.partition("=")
        if not equals:
            raise InputError(f"`-s {override}` has no value", hint="write -s key=value")
        document = document.set(key.strip(), read_value(value.strip()))
    return document


def plan_of(document: Document, path: Path) -> Plan:
    """The plan of a document. Raises InputError with file and line."""
    try:
        table = validate(ScheduleTable, document.data)
        return _plan(document, table, path)
    except InputError as problem:
        raise document.locate(problem) from None


def _plan(document: Document, table: ScheduleTable, path: Path) -> Plan:
    keys = ("system", "routing", "sensing", "fabric")
    machine = {key: document.data[key] for key in keys if key in document.data}
    try:
        probe = Scenario.of({**machine, "job": [_PROBE]}, folder=path.parent).resolve()
    except InputError as problem:
        at = problem.path if problem.path[:1] in [(key,) for key in keys] else ()
        raise InputError(problem.message, hint=problem.hint, path=at or ("system",)) from None
    if table.window.change is not None and "drift" in table.window.model_fields_set:
        message = "`change` and `drift` both say when a window is simulated"
        raise InputError(message, hint="leave one of them out", path=("window", "change"))
    system, notes = probe.system, list[str]()
    streams = _streams(table, path, system, notes)
    book = _book(table, path)
    numbered = tuple(Stream(name, _submissions(told, book, system, notes)) for name, told in streams)
    plan = Plan(
        table.title or path.stem, document, table, system, machine, path.parent, book, numbered,
        tuple(_cases(table, system, path)), tuple(dict.fromkeys(notes)),
        content_of_machine(probe.spec),
    )  # fmt: skip
    for stream in plan.streams:
        _check_traffic(plan, stream)
    return plan


def _streams(table: ScheduleTable, path: Path, system: System, notes: list[str]) -> list[tuple[str, list[Told]]]:
    given = table.stream
    _check_used(given)
    if (given.trace is None) == (given.synthetic is None):
        hint = 'trace = "jobs.swf", or [stream.synthetic] with jobs and load'
        raise InputError("the stream needs either a trace or a model", hint=hint, path=("stream",))
    if given.trace is not None:
        if given.speed_up <= 0:
            raise InputError("`speed_up` must be above 0", path=("stream", "speed_up"))
        file = path.parent / given.trace
        if given.cores_per_node is not None and not counts_processors(file):
            message = "`cores_per_node` is for SWF, which counts processors; this trace counts nodes"
            raise InputError(message, path=("stream", "cores_per_node"))
        told = read_stream(
            file,
            cores_per_node=given.cores_per_node,
            cluster=given.cluster,
            columns=given.columns,
            first=given.first,
            speed_up=float(given.speed_up),
            notes=notes,
        )
        return [(file.name, told)]
    model = given.synthetic
    assert model is not None
    for key in ("load", "limit"):
        if getattr(model, key) <= 0:
            raise InputError(f"`{key}` must be above 0", path=("stream", "synthetic", key))
    nodes = system.shape.nodes - len(system.unusable_nodes)
    largest = model.largest or max(1, nodes // 4)
    if largest > nodes:
        message = f"`largest`: the machine has {nodes:,} nodes that jobs can use, found {largest:,}"
        raise InputError(message, path=("stream", "synthetic", "largest"))
    notes.append("sizes and run times of jobs: Lublin and Feitelson 2003; assumed: arrivals without a daily cycle")
    draw = {"jobs": model.jobs, "load": float(model.load), "nodes": nodes, "largest": largest, "names": model.names}
    return [
        (f"seed {seed}", synthetic.stream(**draw, over=float(model.limit), seed=seed))  # type: ignore[arg-type]
        for seed in model.seeds
    ]


def _check_used(given: StreamTable) -> None:
    """Raises InputError for a key of a trace beside a model, which would do nothing."""
    for key in ("cores_per_node", "cluster", "columns", "first", "speed_up"):
        if given.synthetic is not None and given.trace is None and key in given.model_fields_set:
            hint = "a model has `jobs` and `load` in [stream.synthetic]"
            raise InputError(f"`{key}` changes a trace, and this stream has none", hint=hint, path=("stream", key))


def _book(table: ScheduleTable, path: Path) -> Book:
    if table.book is not None:
        return read_book(path.parent / table.book)
    text = (files("odonata.scheduler") / "books" / "programs.toml").read_text(encoding="utf-8")
    return book_of(parse(text, "the default book of programs"))


def _submissions(told: Sequence[Told], book: Book, system: System, notes: list[str]) -> tuple[Submission, ...]:
    nodes = system.shape.nodes - len(system.unusable_nodes)
    fits = [job for job in told if job.nodes <= nodes]
    if len(fits) < len(told):
        notes.append(f"{len(told) - len(fits):,} jobs left out that need more than the {nodes:,} nodes of the machine")
    if not fits:
        raise InputError(f"no job of the stream fits on the {nodes:,} nodes of the machine", path=("stream",))
    jobs = [_as_job(job) for job in fits]
    book.check_used(jobs)
    rules = [book.rule_of(job) for job in jobs]
    for rule, count in sorted(Counter(rules).items()):
        of_book = book.table.rule[rule]
        notes.append(f"{count:,} job{'' if count == 1 else 's'} by the rule `{of_book.name}`: {of_book.source}")
    return tuple(submission(job, number, rules[number]) for number, job in enumerate(fits))


def _as_job(told: Told) -> Job:
    """As the traffic book takes jobs; it only counts the nodes."""
    nodes = tuple(map(str, range(told.nodes)))
    return Job(told.id, frozenset({"RUNNING"}), nodes, told.partition, told.account, told.user, told.name)


def _cases(table: ScheduleTable, system: System, path: Path) -> list[tuple[str, Case]]:
    cases: list[tuple[str, Case]] = []
    for number, place in enumerate(table.place):
        options = {key: value for key, value in place.items() if key != "policy"}
        where: tuple[str | int, ...] = ("place", number) if len(table.place) > 1 else ("place",)
        try:
            policy = POLICIES.find(place["policy"])
            freedom = policy.freedom(read_options(policy, options))
        except InputError as problem:
            raise InputError(problem.message, hint=problem.hint, path=where) from None
        if freedom is Freedom.NONE or policy.counts_itself:
            message = f"`{policy.name}` names its nodes or counts them itself; a stream needs a policy that chooses"
            raise InputError(message, path=where)
        shown = ", ".join(f"{key} = {text([value])[1:-1]}" for key, value in options.items())
        shown = f"{policy.name} {shown}".rstrip()
        for backfill in table.backfill:
            name = shown if len(table.backfill) == 1 else f"{shown}, {backfill}"
            kill = table.over_limit == "kill"
            case = Case(
                system, backfill, policy.name, options, kill, table.window.seed, str(path.parent), table.backfill_jobs
            )
            cases.append((name, case))
    if len({name for name, _ in cases}) < len(cases):
        raise InputError("two cases are the same", path=("place",))
    return cases


def _check_traffic(plan: Plan, stream: Stream) -> None:
    """Checks that every application can be simulated on its smallest and on its largest number of nodes."""
    sizes: dict[int, set[int]] = {}
    for job in stream.jobs:
        if job.nodes >= FEWEST:
            sizes.setdefault(job.app, set()).add(job.nodes)
    for rule, nodes in (
        (rule, nodes) for rule, nodes_of_rule in sizes.items() for nodes in {min(nodes_of_rule), max(nodes_of_rule)}
    ):
        plan.resolved(rule, nodes)
