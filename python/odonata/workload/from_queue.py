"""Makes a scenario from a queue: the running jobs on their own nodes, with traffic from a traffic book."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from odonata import machine
from odonata.document.writing import pair
from odonata.errors import InputError, nearest, shortened, unknown
from odonata.placement import format_ids
from odonata.queue.hosts import fold
from odonata.queue.records import not_known, unknown_states
from odonata.queue.snapshot import read_nodes, read_queue
from odonata.scenario import Scenario
from odonata.scenario.texts import title_of
from odonata.scenario.warnings import messages_per_interval
from odonata.units import format_time
from odonata.workload.book import USUAL, Book, read_book
from odonata.workload.host_numbers import numbered, same_number
from odonata.workload.names import names_beside, read_names

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from fractions import Fraction

    from odonata.queue.listing import File
    from odonata.queue.records import Job
    from odonata.scenario import Resolved
    from odonata.workload.book import Traffic

FEWEST = 2
"""Fewest nodes of a job that uses the network."""
SEEDS = 8
"""Seeds of the study over the alternatives of a book (assumed; intervals need at least six)."""
TRAFFIC = "sources.traffic"
"""Key of a scenario that names the assumptions about traffic: the axis of that study."""
_PLACEHOLDER = "1 ms"


@dataclass(frozen=True)
class Workload:
    """The running jobs of a cluster as a scenario, with its assumptions."""

    system: str
    """The machine: the value of `system` in the scenario."""
    jobs: tuple[Job, ...]
    """The jobs of the scenario, the victim first."""
    nodes: Mapping[str, tuple[int, ...]]
    """Slurm's id of a job -> its nodes in the machine."""
    unavailable: tuple[int, ...]
    """Nodes that are not available to jobs of the scenario."""
    book: Book
    made_from: str
    """The sources of the data."""
    notes: tuple[str, ...]
    """What was left out, and assumptions about the queue."""
    folder: Path
    """The folder of the scenario; its file names are relative to it."""
    title: str = ""
    """The cluster and the time of the listing, if the listing gives them."""

    @property
    def victim(self) -> str:
        """Name of the job for which the run waits."""
        return name_of(self.jobs[0])

    def assumptions(self) -> dict[str, str]:
        """List the sources of the values of the scenario.

        Returns
        -------
        dict of str to str
            The source by key of the scenario.
        """
        assumed = {TRAFFIC.partition(".")[2]: USUAL}
        for job in self.jobs:
            rule = self.book.table.rule[self.book.rule_of(job)]
            source = rule.source if rule.source.startswith("assumed") else f"from the book: {rule.source}"
            assumed[f"job.{name_of(job)}.app"] = f"{source} (rule `{rule.name}` of {self.book.title})"
        length = "assumed: long enough for the mean, short enough to simulate"
        end = "iterations" if self._traffic(self.jobs[0]).is_program else "messages"
        assumed[f"job.{self.victim}.{'' if end == 'iterations' else 'app.'}{end}"] = f"{length} ({self.book.title})"
        for number, note in enumerate(self.notes, 1):
            assumed[f"queue.{number}"] = note
        return assumed

    def toml(self) -> str:
        """The scenario.

        Returns
        -------
        str
            TOML.
        """
        lines = [f"# Made by `odonata cluster snapshot` from {_line(self.made_from)}.", "#"]
        lines += [f"# What is assumed, with {_line(self.book.title)}:"]
        lines += [f"# - {_line(text)}" for text in self._summary()]
        lines += ["", *([pair("title", self.title), ""] if self.title else []), *self._system()]
        lines += [line for job in self.jobs for line in self._job(job, self.keys(job))]
        lines += ["", "[run]", f'until = "{self.victim}"', "seed = 1", "", "[sources]"]
        lines += [pair(key, text) for key, text in self.assumptions().items()]
        return "\n".join(lines) + "\n"

    def _summary(self) -> list[str]:
        """The assumptions, grouped by rule."""
        rules: dict[int, int] = {}
        for job in self.jobs:
            number = self.book.rule_of(job)
            rules[number] = rules.get(number, 0) + 1
        told = [(self.book.table.rule[number], jobs) for number, jobs in rules.items()]
        lines = [f"{_count(jobs, 'job')} by the rule `{rule.name}`: {rule.source}" for rule, jobs in told]
        return [*lines, *self.notes]

    def study(self, base: str) -> str:
        """A study of the scenario in the file `base` over the alternatives of the book.

        Parameters
        ----------
        base
            The file of the scenario.

        Returns
        -------
        str
            TOML.

        Raises
        ------
        InputError
            If the book has no alternatives.
        """
        names = (USUAL, *self.book.table.alternatives)
        if len(names) == 1:
            hint = 'alternatives = ["light", "heavy"], and values under [rule.alternatives.light]'
            raise InputError("the book has no alternatives", file=self.book.document.file, hint=hint)
        columns: dict[str, list[Any]] = {TRAFFIC: list(names)}
        for job in self.jobs:
            told = [self.keys(job, name) for name in names]
            for key in dict.fromkeys(key for keys in told for key in keys):
                values = [keys.get(key) for keys in told]
                if any(value is None for value in values):
                    text = f"the rule of job {job.id} has `{key}` in some of its alternatives only"
                    raise InputError(text, file=self.book.document.file, hint="a rule keeps to patterns or to programs")
                if any(value != values[0] for value in values):
                    columns[f"job.{name_of(job)}.{key}"] = values
        lines = [f"# The alternatives of {_line(self.book.title)}, by `odonata cluster snapshot --vary traffic`."]
        lines += [pair("base", base), "alone = true", "", "[sweep]"]
        lines += [pair("run.seed", list(range(1, SEEDS + 1))), "", "[zip]"]
        lines += [pair(key, values) for key, values in columns.items()]
        lines += ["", "[show]", f'columns = ["slowdown"]\nby = ["{TRAFFIC}"]\njob = "{self.victim}"']
        return "\n".join(lines) + "\n"

    def keys(self, job: Job, alternative: str = USUAL) -> dict[str, Any]:
        """Return the traffic of a job as keys of its `[[job]]`, with the interval for its load.

        Parameters
        ----------
        job
            One of the jobs.
        alternative
            A name of traffic in the book.

        Returns
        -------
        dict
            Values by key.
        """
        traffic = self._traffic(job, alternative)
        keys = {key: dict(value) if isinstance(value, dict) else value for key, value in traffic.keys.items()}
        if traffic.load is not None:
            keys["app"]["interval"] = format_time(self._interval_ps(job, traffic))
        if job is self.jobs[0]:
            if traffic.is_program:
                keys["iterations"] = self.book.table.iterations
            else:
                keys["app"].setdefault("messages", self.book.table.messages)
        return keys

    def _traffic(self, job: Job, alternative: str = USUAL) -> Traffic:
        return self.book.traffic(self.book.rule_of(job), alternative)

    def _interval_ps(self, job: Job, traffic: Traffic) -> int:
        """The interval at which a pattern offers its load to the NICs of a node."""
        assert traffic.load is not None
        rule = self.book.rule_of(job)
        try:
            return interval_of_load(
                {"system": self.machine}, traffic.keys, self.nodes[job.id], traffic.load, self.folder
            )
        except InputError as problem:
            error = InputError(f"job {job.id}: {problem.message}", hint=problem.hint, path=("rule", rule, "app"))
            raise self.book.document.locate(error) from None

    @property
    def machine(self) -> str | dict[str, Any]:
        """The value of `system`: the machine without nodes that are not available."""
        if not self.unavailable:
            return self.system
        return {"preset": self.system, "failed": {"nodes": format_ids(self.unavailable).split(",")}}

    def _system(self) -> list[str]:
        why = ["# nodes that are down, drained, or held by jobs that are left out"] if self.unavailable else []
        return [*why, pair("system", self.machine)]

    def _job(self, job: Job, keys: Mapping[str, Any], *, background: bool = True) -> list[str]:
        about = _about(job)
        lines = ["", f"# {_line(fold(job.nodes))}", "[[job]]", f'name = "{name_of(job)}"']
        lines += [pair("about", about)] if about else []
        lines += [f'place = {{ nodes = "{format_ids(self.nodes[job.id])}" }}']
        lines += [pair(key, value) for key, value in keys.items()]
        return [*lines, "background = true"] if background and job is not self.jobs[0] else lines


def interval_of_load(
    machine: Mapping[str, Any], keys: Mapping[str, Any], nodes: Sequence[int], load: Fraction, folder: Path
) -> int:
    """The interval at which a pattern offers a load to the NICs of a node.

    Parameters
    ----------
    machine
        The system and its routing: keys and values of a scenario.
    keys
        Keys of the `[[job]]`, without an interval.
    nodes
        Nodes of the job.
    load
        Share of the bandwidth of a node's NICs.
    folder
        The folder to which file names in these keys are relative.

    Returns
    -------
    int
        In ps.

    Raises
    ------
    InputError
        For keys that cannot be simulated, and a pattern without a load.
    """
    keys = {**keys, "app": {**keys["app"], "interval": _PLACEHOLDER, "messages": 1}}
    job = {"name": "job", "place": {"nodes": format_ids(nodes)}, **keys}
    resolved = Scenario.of({**machine, "job": [job]}, folder=folder).resolve()
    return interval_at_load(resolved, resolved.spec["jobs"][0], load)


def interval_at_load(resolved: Resolved, job: Mapping[str, Any], load: Fraction) -> int:
    """The same for a job of a specification, in ps. Raises InputError for a pattern without a load."""
    many = messages_per_interval(resolved, job)
    if not many:
        raise InputError("this pattern has no load: give it an interval")
    rails = int(resolved.system.describe()["rails"])
    micro = rails * int(resolved.spec["fabric"]["links"]["node"]["bandwidth"])  # millionths of a byte per second
    size = int(job["traffic"]["message_bytes"])
    return max(1, round(many * size * 10**18 / (load * micro)))


def name_of(job: Job) -> str:
    """The name of a job in the scenario: `job-` and Slurm's id."""
    return "job-" + re.sub(r"[^A-Za-z0-9_-]", "-", job.id)[:60]


def from_queue(
    system: str,
    *,
    queue: File | None = None,
    nodes_file: File | None = None,
    names: str | Path | None = None,
    book: str | Path | Book | None = None,
    victim: str | None = None,
    leave_out_unknown: bool = False,
    folder: str | Path = ".",
) -> Workload:
    """Make a scenario of the jobs that run on a cluster.

    Jobs of one node do not use the network; their nodes count as taken. A node that several jobs share goes to the
    largest of them.

    Parameters
    ----------
    system
        The machine: a preset, or the system file that `odonata cluster import` writes.
    queue
        A file with the queue (see `odonata.cluster.read_queue`). None asks `squeue`.
    nodes_file
        A file with the nodes and their states (see `odonata.cluster.read_nodes`). Without it, Slurm is asked if it is
        asked for the queue as well; else no node is down.
    names
        Which host is which node: the CSV that `odonata cluster import --names` writes. Without it, such a
        CSV in the folder of the system file; else numbers in the names say it (`odonata.workload.host_numbers`):
        `node0012` is node 12, or node 11 where hosts count from 1.
    book
        The traffic book (see `odonata.cluster.read_book`). Default: the book of Odonata.
    victim
        Slurm's id of the job that is looked at. Default: the running job with the most nodes.
    leave_out_unknown
        Leave out hosts that are no nodes of the machine, such as login nodes. Without it, they are an error.
    folder
        The folder of the scenario, to which `system` is relative.

    Returns
    -------
    Workload

    Raises
    ------
    InputError
        For files that cannot be read or do not fit together: with file, line and the nearest name.
    RunError
        If a command of Slurm fails.
    """
    loaded = machine.load(system, None, Path(folder), None)
    queued = read_queue(queue)
    running = [job for job in queued if job.running]
    listed = read_nodes(nodes_file) if nodes_file is not None or queue is None else []
    notes: list[str] = []
    hosts = [name for job in running for name in job.nodes]
    if names is None and system.endswith(".toml"):
        names = names_beside(loaded, Path(folder) / system, hosts)
        if names is not None:
            notes.append(f"`{names.name}`, which is beside the system file, says which host is which node")
    if names is None:
        ids, counted = numbered(loaded, [node.name for node in listed], hosts, leave_out=leave_out_unknown)
        notes += counted
    else:
        ids = read_names(loaded, names).nodes
    if unknown_state := unknown_states(queued):
        notes.append(f"assumed: {not_known(unknown_state)}")
    known = _known(running, ids, notes, leave_out_unknown=leave_out_unknown, names=names)
    down = {ids[node.name] for node in listed if node.drained and node.name in ids}
    owners, shared = _owners(known)
    kept = {job.id: tuple(ids[name] for name in job.nodes if owners[name] == job.id) for job in known}
    if shared:
        notes.append(f"assumed: {_count(shared, 'node')} shared by several jobs, each counted for the largest of them")
    jobs = sorted((job for job in known if len(kept[job.id]) >= FEWEST), key=lambda job: -len(kept[job.id]))
    if len(jobs) < len(known):
        small = len(known) - len(jobs)
        notes.append(f"{_count(small, 'job')} on one node left out: they do not use the network; their nodes are taken")
    if not jobs:
        message = "no job of two nodes or more runs"
        raise InputError(message, file=None if queue is None else str(queue), hint="there is nothing to simulate")
    first = _victim(jobs, victim, queued)
    jobs.sort(key=lambda job: job.id != first)
    chosen = book if isinstance(book, Book) else read_book(book)
    chosen.check_used(jobs)
    used = {node for job in jobs for node in kept[job.id]}
    occupied = {ids[name] for job in known for name in job.nodes}
    failed = frozenset(loaded.unusable_nodes)
    if down - used:
        notes.append(f"{_count(len(down - used), 'node')} drained or down: no job can be moved there")
    elif not listed:
        notes.append("assumed: no node is down, because no list of nodes was given")
    if victim is None:
        notes.append(f"assumed: job {first} is looked at, the one with the most nodes")
    source = "squeue" if queue is None else Path(queue).name
    made = f"{source}: {_count(len(running), 'running job')}, {_count(len(jobs), 'job')} of two nodes or more"
    nodes = {job.id: kept[job.id] for job in jobs}
    unavailable = tuple(sorted(((down | occupied) - used) | (failed if (down | occupied) - used else frozenset())))
    title = _title(running, source)
    return Workload(system, tuple(jobs), nodes, unavailable, chosen, made, tuple(notes), Path(folder), title)


def _title(running: Sequence[Job], source: str) -> str:
    """The cluster and the time of a listing; the file where it says neither."""
    clusters = {job.cluster for job in running}
    cluster = clusters.pop() if len(clusters) == 1 else ""
    when = max((job.listed for job in running), default="")
    told = [f"queue of {cluster}" if cluster else f"queue in {source}", *([when] if when else [])]
    return title_of(", ".join(told))


def _about(job: Job) -> str:
    """Who runs a job, as far as the listing says it."""
    told = [("", job.name), ("user ", job.user), ("partition ", job.partition), ("account ", job.account)]
    return title_of(", ".join(f"{what}{text}" for what, text in told if text))


def _known(
    jobs: Sequence[Job],
    ids: Mapping[str, int],
    notes: list[str],
    *,
    leave_out_unknown: bool,
    names: str | Path | None,
) -> list[Job]:
    """The jobs, with only those hosts that are nodes of the machine.

    Raises InputError for other hosts unless they are left out.
    """
    strange = [(job, name) for job in jobs for name in job.nodes if name not in ids]
    if strange and not leave_out_unknown:
        job, name = strange[0]
        near = nearest(name, ids)
        what = "the machine has no such node" if names is None else f"`{names}` has no such host"
        more = f" ({len({host for _, host in strange}):,} such hosts)" if len(strange) > 1 else ""
        if same := same_number(name, ids):
            guess = f"`{same}` differs in leading zeros only; "
        else:
            guess = f"the nearest is `{near}`; " if near else f"it has nodes such as `{next(iter(ids))}`; "
        hint = f"{guess}--names FILE.csv says which host is which node, --leave-out-unknown leaves them out"
        raise InputError(f"job {job.id} runs on `{shortened(name, 60)}`, and {what}{more}", hint=hint)
    if strange:
        hosts = {name for _, name in strange}
        notes.append(f"assumed: {_count(len(hosts), 'host')} that the machine lacks do not matter: {_some(hosts)}")
    known = (replace(job, nodes=tuple(name for name in job.nodes if name in ids)) for job in jobs)
    return [job for job in known if job.nodes]


def _owners(jobs: Sequence[Job]) -> tuple[dict[str, str], int]:
    """Host -> the largest job on it; and the number of hosts that several jobs share."""
    owners: dict[str, str] = {}
    shared = set()
    for job in sorted(jobs, key=lambda job: -len(job.nodes)):
        for name in job.nodes:
            if owners.setdefault(name, job.id) != job.id:
                shared.add(name)
    return owners, len(shared)


def _victim(jobs: Sequence[Job], victim: str | None, queued: Sequence[Job]) -> str:
    if victim is None:
        return jobs[0].id
    plain = victim.removeprefix("job-")
    if plain not in {job.id for job in jobs}:
        states = {job.id: job for job in queued}
        if plain in states and not states[plain].running:
            state = " and ".join(sorted(states[plain].states)).lower()
            raise InputError(f"job {plain} is {state}, expected a running job")
        if plain in states:
            raise InputError(f"job {plain} has fewer than two nodes of its own, so it does not use the network")
        raise unknown("running job", plain, [job.id for job in jobs])
    return plain


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _some(names: set[str]) -> str:
    return shortened(fold(sorted(names)), 80)


def _line(text: str) -> str:
    """A text on one line, without what a comment of TOML cannot hold."""
    return re.sub("[\x00-\x1f\x7f\ud800-\udfff]", "\ufffd", str(text))
