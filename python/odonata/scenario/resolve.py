"""From what a scenario says to what the core is told: machine, nodes, sizes, and every default."""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from odonata import machine, placement, units
from odonata.document import validate
from odonata.errors import InputError, nearest
from odonata.machine import System, core
from odonata.placement import Placement
from odonata.scenario.apps import Ranks
from odonata.scenario.kang_files import ImportedJob, read_kang
from odonata.scenario.refusals import refusal_as_error
from odonata.scenario.routings import Routing
from odonata.scenario.tables import JobTable, RunTable, ScenarioTable
from odonata.scenario.ways import Ways, ways

#: Version of the core's input document.
SPEC_VERSION = 1
#: Published simulator -> what its fabric has where the scenario says nothing. CODES spends 10 ns on each message at
#: the NIC.
COMPAT_FABRIC: Mapping[str, Mapping[str, Any]] = {"codes-2019": {"nic": {"overhead": "10 ns"}}}


@dataclass(frozen=True, repr=False)
class Resolved:
    """A scenario with everything decided (dicts and lists not to be changed).

    `spec` is what the core reads; `document` is the scenario with every default filled in, its machine with
    sources, and the spec (`write` makes it when it is first asked for); `targets` are the names of the jobs that are
    not background.
    """

    spec: dict[str, Any]
    system: System
    targets: tuple[str, ...]
    write: Callable[[], dict[str, Any]]

    @cached_property
    def document(self) -> dict[str, Any]:
        """What `resolved.json` holds."""
        return self.write()

    @cached_property
    def id(self) -> str:
        """Identity of the run: 16 hexadecimal digits of SHA-256.

        Over all that decides what a run folder says: the spec, the core's version, which jobs are targets, and
        what the machine is called.
        """
        told = [self.spec, self.targets, self.system.name, self.system.title]
        canonical = json.dumps(told, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(f"{core.version()}\n{canonical}".encode()).hexdigest()[:16]

    def __repr__(self) -> str:
        return f"Resolved({self.id} on {self.system.name}, targets {', '.join(self.targets)})"

    def alone(self, job: str) -> dict[str, Any]:
        """The spec of one job by itself on the empty system: same seed, same nodes.

        Raises InputError if there is no such job, or nothing would end its run.
        """
        names = [j["name"] for j in self.spec["jobs"]]
        if job not in names:
            raise InputError(f"there is no job `{job}`", hint="jobs: " + ", ".join(names))
        only = self.spec["jobs"][names.index(job)]
        ends = only["traffic"]["intervals"] is not None
        at_ps = self.spec["stop"]["at_ps"]
        if not ends and at_ps is None:
            raise InputError(
                f"job `{job}` never ends, so it cannot be run alone", hint="give it `messages`, or `run.horizon`"
            )
        return {**self.spec, "jobs": [only], "stop": {"jobs": [0] if ends else [], "at_ps": at_ps}}


@dataclass(frozen=True)
class _Job:
    """A job of the scenario, and where errors about it belong."""

    table: JobTable
    index: int
    imported: ImportedJob | None

    @contextmanager
    def errors(self, *prefix: str) -> Iterator[None]:
        """Adds to an InputError where in the scenario (or in the imported file) this job stands."""
        try:
            yield
        except InputError as e:
            about_count = e.path == placement.COUNT
            inner = _moved(e, ("nodes",)) if about_count else e.under(*prefix)
            if self.imported is not None:
                raise self.imported.locate(inner) from None
            raise inner.under("job", self.index) from None


def _moved(error: InputError, path: tuple[str | int, ...]) -> InputError:
    return InputError(error.message, file=error.file, line=error.line, hint=error.hint, path=path)


def resolve(table: ScenarioTable, path: Path) -> Resolved:
    """Decides everything. Raises InputError whose path leads into the scenario."""
    folder = path.parent
    system = machine.load(table.system, table.fabric, folder, COMPAT_FABRIC.get(table.compat or ""))
    try:
        failed = system.failures
    except InputError as e:
        raise e.under("system") from None
    jobs = _jobs(table, folder)
    routings = ways(table, [job.table for job in jobs], system)
    try:
        sensing = table.sensing.decided(system)
    except InputError as e:
        raise e.under("sensing") from None
    placed = _place(jobs, system, table.run.seed, folder)
    spec_jobs = [_spec_job(job, table, system, placed[job.index]) | routings.spec_of_job(job.index) for job in jobs]
    spec = {
        "version": SPEC_VERSION,
        "seed": table.run.seed,
        "compat": table.compat,
        "topology": system.topology,
        "fabric": system.fabric,
        "routing": routings.usual.spec(),
        "jobs": spec_jobs,
        "stop": _stop(table.run, jobs, spec_jobs),
        "measure": _measure(table),
    }
    # What is absent is what the core does anyway; runs without it keep their identity.
    sensor = sensing.spec()
    spec |= {"sensing": sensor} if sensor else {}
    spec |= {"failures": failed} if failed else {}
    refused = core.refusal(json.dumps(spec))
    if refused is not None:
        raise _located(routings.refusal(table, *refused) or refusal_as_error(*refused), jobs)
    targets = tuple(job.table.name for job in jobs if not job.table.background)
    decided = table.model_copy(update={"sensing": sensing})
    return Resolved(spec, system, targets, partial(_document, decided, path, system, jobs, placed, routings, spec))


def _jobs(table: ScenarioTable, folder: Path) -> list[_Job]:
    jobs = [_Job(given, index, None) for index, given in enumerate(table.job)]
    if table.import_ is not None:
        for imported in read_kang(folder / table.import_.workload, folder / table.import_.alloc):
            try:
                read = validate(JobTable, imported.table)
            except InputError as e:
                raise imported.locate(e) from None
            jobs.append(_Job(read, len(jobs), imported))
    if not jobs:
        raise InputError("a scenario needs a job", hint="add a table [[job]] with `name`, `nodes` and `app`")
    seen: set[str] = set()
    for job in jobs:
        with job.errors("name"):
            if job.table.name in seen:
                raise InputError(f"another job is named `{job.table.name}` too")
        seen.add(job.table.name)
    return jobs


def _place(jobs: list[_Job], system: System, seed: int, folder: Path) -> dict[int, Placement]:
    """Nodes for every job, by its number.

    Jobs that leave less choice come first (named nodes, then nodes per leaf, then inside some groups, then
    anywhere), jobs with the same freedom in the order of the file.
    """
    order = []
    for job in jobs:
        options = {k: v for k, v in job.table.place.items() if k != "policy"}
        with job.errors("place"):
            policy = placement.get(job.table.place["policy"])
            if policy.seeded:
                options = {"seed": (seed + job.index) % 2**64} | options
            order.append((policy.freedom(placement.read_options(policy, options)), job, policy, options))
    placed: dict[int, Placement] = {}
    owners: dict[int, str] = {}
    for _, job, policy, options in sorted(order, key=lambda entry: entry[0]):
        with job.errors("place"):
            if job.table.nodes is None and not policy.counts_itself:
                raise InputError("missing key `nodes`", hint="the number of nodes of the job", path=placement.COUNT)
            try:
                found = placement.place(
                    policy.name,
                    system,
                    job.table.nodes,
                    busy=owners.keys(),
                    folder=folder,
                    owners=owners,
                    **options,
                )
            except InputError as e:
                raise _mentioning(system.unusable_nodes, e) from None
        with job.errors("nodes"):
            if len(found.nodes) < 2:
                raise InputError("a job of one node has nobody to send to")
        owners |= dict.fromkeys(found.nodes, job.table.name)
        placed[job.index] = found
    return placed


def _mentioning(lost: Sequence[int], error: InputError) -> InputError:
    """An error about the number of free nodes, with those that are missing because their router has failed."""
    if not lost or error.path != placement.COUNT or error.hint is not None:
        return error
    ids = placement.format_ids(lost)
    ids = ids if len(ids) <= 60 else f"{ids[:57].rpartition(',')[0]}, ..."
    hint = f"{len(lost):,} nodes are left out because their routers have failed: {ids}"
    return InputError(error.message, file=error.file, line=error.line, hint=hint, path=error.path)


def _spec_job(job: _Job, table: ScenarioTable, system: System, placed: Placement) -> dict[str, Any]:
    with job.errors("app"):
        traffic = job.table.app.traffic(Ranks(system, placed.nodes))
    usual = "histogram" if job.table.background else table.measure.latency
    return {
        "name": job.table.name,
        "nodes": placed.nodes,
        "traffic": traffic,
        "record": job.table.record or usual,
    }


def _stop(run: RunTable, jobs: list[_Job], spec_jobs: list[dict[str, Any]]) -> dict[str, Any]:
    names = [job.table.name for job in jobs]
    at_ps = run.horizon
    if run.until is None:
        waited = [n for n, job in enumerate(jobs) if not job.table.background]
        if run.horizon is not None:
            # A time ends the run anyway, so a job without end is nothing to wait for.
            waited = [n for n in waited if spec_jobs[n]["traffic"]["intervals"] is not None]
        elif not waited:
            hint = 'say until = "1 ms" or name a job in [run]'
            raise InputError("all jobs are background, so nothing ends the run", hint=hint, path=("run",))
    else:
        waited = []
        for text in run.until:
            if text in names:
                waited.append(names.index(text))
                continue
            ps = _end_time(text, names)
            at_ps = ps if at_ps is None else min(at_ps, ps)
    for n in waited:
        if spec_jobs[n]["traffic"]["intervals"] is None:
            with jobs[n].errors("app"):
                raise InputError(
                    f"job `{names[n]}` never ends, so the run would not either",
                    hint="give it `messages` (a number of intervals), or give the run a `horizon`",
                )
    return {"jobs": sorted(set(waited)), "at_ps": at_ps}


def _end_time(text: str, names: list[str]) -> int:
    """A time in `until`; what is no time was meant to be a job."""
    try:
        ps = units.time_ps(text)
    except InputError as e:
        if text[:1].isdigit():
            raise e.under("run", "until") from None
        near = nearest(text, names)
        hint = f"did you mean `{near}`?" if near else f'jobs: {", ".join(names)}; or a time such as "1 ms"'
        raise InputError(f"there is no job `{text}`", hint=hint, path=("run", "until")) from None
    if not 1 <= ps <= 2**62:
        raise InputError(f"a run cannot end at `{text}`", path=("run", "until"))
    return ps


def _measure(table: ScenarioTable) -> dict[str, Any]:
    measure = table.measure
    window = measure.window
    return {
        "from_ps": measure.warm_up,
        "until_ps": None if window is None else measure.warm_up + window,
        "arrivals_every_ps": None if measure.links is None else measure.links.every,
    }


def _dumped(routing: Routing) -> dict[str, Any]:
    return routing.model_dump(mode="json", exclude_none=True)


def _located(error: InputError, jobs: list[_Job]) -> InputError:
    """An error of the core about an imported job points into the imported files."""
    if error.path[:1] == ("job",) and isinstance(error.path[1], int):
        imported = jobs[error.path[1]].imported
        if imported is not None:
            return imported.locate(_moved(error, error.path[2:]))
    return error


def _document(
    table: ScenarioTable,
    path: Path,
    system: System,
    jobs: list[_Job],
    placed: dict[int, Placement],
    routings: Ways,
    spec: dict[str, Any],
) -> dict[str, Any]:
    """The scenario with every default filled in, its quantities with units, and the spec."""
    document = table.model_dump(mode="json", by_alias=True, exclude_none=True, exclude={"fabric", "import_", "routing"})
    document["system"] = system.document()
    waited = [jobs[n].table.name for n in spec["stop"]["jobs"]]
    document["run"].pop("until", None)
    document["run"] |= {"until": waited} if waited else {}
    if spec["stop"]["at_ps"] is not None:
        document["run"]["horizon"] = units.format_time(spec["stop"]["at_ps"])
    document["routing"] = _dumped(routings.usual)
    document["job"] = []
    for job, told in zip(jobs, spec["jobs"], strict=True):
        dumped = job.table.model_dump(mode="json", by_alias=True, exclude_none=True)
        traffic = told["traffic"]
        if job.index in routings.own:
            dumped["routing"] = _dumped(routings.own[job.index])
        dumped["nodes"] = len(told["nodes"])
        dumped["record"] = told["record"]
        dumped["app"] |= {k: v for k, v in traffic["pattern"].items() if k != "name"}
        dumped["app"]["message"] = units.format_bytes(traffic["message_bytes"])
        if "jitter_ps" in traffic["arrival"]:
            dumped["app"]["jitter"] = units.format_time(traffic["arrival"]["jitter_ps"])
        dumped["placed"] = placed[job.index].reason
        document["job"].append(dumped)
    return {
        "name": path.stem,
        "scenario": document,
        "sources": [{"key": s.key, "value": s.value, "source": s.source} for s in system.sources],
        "spec": spec,
    }
