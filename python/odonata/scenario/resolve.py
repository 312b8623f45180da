"""Resolves a scenario to its specification: machine, nodes, sizes, and every default."""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from odonata import machine, placement, units
from odonata.document import validate
from odonata.errors import InputError, OdonataError, nearest
from odonata.machine import System, classes, core
from odonata.machine.host import COSTS, HostTable
from odonata.placement import Placement
from odonata.scenario import programs
from odonata.scenario.apps.app import Program, Ranks
from odonata.scenario.apps.bursts import bursts_spec
from odonata.scenario.apps.listed import file_key
from odonata.scenario.apps.patterns import Pattern
from odonata.scenario.apps.volume import Volume, volume_of
from odonata.scenario.job_routings import JobRoutings, job_routings
from odonata.scenario.kang_files import ImportedJob, read_kang
from odonata.scenario.programs import ProgramJob
from odonata.scenario.refusals import keys_of_path
from odonata.scenario.resolved_document import write_document
from odonata.scenario.sensing import sensing_of
from odonata.scenario.tables import JobTable, RunTable, ScenarioTable

#: Version of the core's input document.
SPEC_VERSION = 1
#: Published simulator -> its defaults for the fabric. CODES spends 10 ns on each message at the NIC.
COMPAT_FABRIC: Mapping[str, Mapping[str, Any]] = {"codes-2019": {"nic": {"overhead": "10 ns"}}}
#: Published simulator -> further values of its authors' configuration for the machine of the paper.
COMPAT_PRESETS: Mapping[str, Mapping[str, Mapping[str, Any]]] = {
    "codes-2019": {"kang2019": {"links": {"node": {"buffer": "8 KiB"}}}}
}


@dataclass(frozen=True, repr=False)
class Resolved:
    """A scenario with all its defaults filled in. Do not change its dicts and lists.

    `spec` is what the core reads; `document` is the scenario with every default filled in, its machine with sources,
    and the spec (`write` makes it when it is first used); `targets` are the names of the jobs that are not background;
    `refused` is the core's check of the spec, with a path into the scenario.
    """

    spec: dict[str, Any]
    system: System
    targets: tuple[str, ...]
    steady: float | None
    """The bound of `run.steady`, with which steady iterations are skipped (`odonata.steady`); `None` without it."""
    packets: float | None
    """The bound of `run.packets`, with which larger packets are simulated (`odonata.packets`); `None` without it."""
    notes: tuple[str, ...]
    """Notes about assumptions of the scenario and its machine, and about limits of the machine."""
    write: Callable[[], dict[str, Any]]
    refused: Callable[[], OdonataError | None]
    """The core's error about the spec, or None. The core builds the machine for this check."""
    volumes: Mapping[str, Volume] = field(default_factory=dict)
    """Name of a job with a collective -> what its bandwidths refer to."""
    flow_lists: tuple[str, ...] = ()
    """Names of the jobs that send lists of flows."""

    @cached_property
    def document(self) -> dict[str, Any]:
        """The content of `resolved.json`."""
        return self.write()

    @cached_property
    def id(self) -> str:
        """Identity of the run: 16 hexadecimal digits of SHA-256.

        It covers everything that determines the contents of a run folder: the spec, the core's version, the targets,
        the name of the machine, and the bounds of `run.steady` and `run.packets`.
        """
        return _id_of([self.spec, self.targets, self.system.name, self.system.title, *self._bounds()])

    def _bounds(self) -> list[dict[str, float]]:
        """What `run.steady` and `run.packets` add to an identity: nothing without them."""
        bounds = {"steady": self.steady, "packets": self.packets}
        return [{name: bound} for name, bound in bounds.items() if bound is not None]

    @cached_property
    def background(self) -> list[bool]:
        """Whether each job is background, in the order of the spec."""
        targets = set(self.targets)
        return [job["name"] not in targets for job in self.spec["jobs"]]

    def __repr__(self) -> str:
        return f"Resolved({self.id} on {self.system.name}, targets {', '.join(self.targets)})"

    def simulating(self, spec: dict[str, Any]) -> "Resolved":
        """The same run with another specification of its jobs, which was simulated in the place of this one.

        The identity stays that of the scenario; `document` has the specification that was simulated.
        """
        if spec is self.spec:
            return self
        other = replace(self, spec=spec, write=lambda: {**self.document, "spec": spec})
        other.__dict__["id"] = self.id
        return other

    def alone(self, job: str) -> dict[str, Any]:
        """The spec of one job alone on the empty system: same seed, same nodes.

        Raises InputError if there is no such job, or nothing would end its run.
        """
        names = [j["name"] for j in self.spec["jobs"]]
        if job not in names:
            raise InputError(f"there is no job `{job}`", hint="jobs: " + ", ".join(names))
        only = self.spec["jobs"][names.index(job)]
        ends, at_ps = _ends(only), self.spec["stop"]["at_ps"]
        if not ends and at_ps is None:
            message = f"job `{job}` never ends, so it cannot run alone"
            raise InputError(message, hint=f"give it `{_end_key(only)}`, or `run.horizon`")
        return {**self.spec, "jobs": [only], "stop": {"jobs": [0] if ends else [], "at_ps": at_ps}}

    def id_alone(self, job: str) -> str:
        """Identity of the run of one job alone, which does not depend on the other jobs.

        It is `id` if there is only this job. Raises InputError as `alone` does.
        """
        only = self.alone(job)
        return self.id if only == self.spec else _id_of(["alone", only, *self._bounds()])


def _id_of(content: Any) -> str:
    canonical = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(f"{core.version()}\n{canonical}".encode()).hexdigest()[:16]


def _ends(job: Mapping[str, Any]) -> bool:
    """Whether a job of a specification ends without the help of the run."""
    if "program" in job:
        return job["program"]["iterations"] is not None
    return job["traffic"]["intervals"] is not None


def _end_key(job: Mapping[str, Any]) -> str:
    """The key that would give it an end."""
    return "iterations" if "program" in job else "messages"


@dataclass(frozen=True)
class _Job:
    """A job of the scenario, and where errors about it belong."""

    table: JobTable
    index: int
    imported: ImportedJob | None

    @contextmanager
    def errors(self, *prefix: str) -> Iterator[None]:
        """Adds the position of this job in the scenario (or in the imported file) to an InputError."""
        try:
            yield
        except InputError as e:
            about_count = e.path == placement.COUNT
            inner = e.but(path=("nodes",)) if about_count else e.under(*prefix)
            if self.imported is not None:
                raise self.imported.locate(inner) from None
            raise inner.under("job", self.index) from None


def resolve(table: ScenarioTable, path: Path) -> Resolved:
    """Fills in all defaults. Raises InputError whose path leads into the scenario, except for errors of the core."""
    folder = path.parent
    system = machine_of(table, path)
    failed = system.failures
    jobs = _jobs(table, folder)
    routings = job_routings(table, [job.table for job in jobs], system, folder)
    sensing = sensing_of(table.sensing, system, routings.sensing, table.compat)
    placed = _place(jobs, system, table.run.seed, folder)
    run = {job.index: _program(job, placed[job.index].nodes, table.run.seed, folder, system) for job in jobs}
    spec_jobs = [
        _spec_job(job, table, system, placed[job.index], run[job.index]) | routings.spec_of_job(job.index)
        for job in jobs
    ]
    for job, spec_job in zip(jobs, spec_jobs, strict=True):
        routings.check_turns(job.index, spec_job)
    spec: dict[str, Any] = {
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
    # A key that has the core's default is left out, so that runs without it keep their identity.
    sensor = sensing.spec()
    spec |= {"sensing": sensor} if sensor else {}
    spec |= {"failures": failed} if failed else {}
    kept = routings.kept()
    spec |= {"own_routings": kept} if kept else {}
    spec |= {"compat_without": list(table.compat_without)} if table.compat_without else {}
    targets = tuple(job.table.name for job in jobs if not job.table.background)
    decided = table.model_copy(update={"sensing": sensing})
    notes = (
        *_assumed_host(jobs, system),
        *(str(limit) for limit in system.limits),
        *_of_programs(jobs, spec_jobs, run),
    )
    tables = [job.table for job in jobs]
    steady = None if table.run.steady is None else float(table.run.steady.error)
    packets = None if table.run.packets is None else float(table.run.packets.error)
    write = partial(write_document, decided, path, system, tables, placed, run, routings, spec, notes)
    ranks = {job["name"]: len(job["nodes"]) for job in spec_jobs}
    volumes = {of.name: volume for of in tables if (volume := volume_of(of.app, ranks[of.name])) is not None}
    flow_lists = tuple(of.name for of in tables if file_key(of.app) == "flows")
    refused = partial(_refused, spec, table, jobs, routings, system.table.names())
    return Resolved(spec, system, targets, steady, packets, notes, write, refused, volumes, flow_lists)


def _assumed_host(jobs: list[_Job], system: System) -> Iterator[str]:
    """Notes on costs of programs that neither the machine nor the job states."""
    programs_ = [job.table for job in jobs if isinstance(job.table.app, Program)]
    needed = any(job.overhead is None or not set(COSTS) <= _keys(job.overhead) for job in programs_)
    if needed and system.assumed_host is not None:
        yield system.assumed_host
    on_gpus = [job.name for job in programs_ if job.overhead is not None and job.overhead.gpu is not None]
    if on_gpus and (system.table.host is None or system.table.host.gpu is None):
        names = ", ".join(f"`{name}`" for name in on_gpus)
        yield f"costs of {names} that its `overhead` leaves out are those of NCCL's protocol Simple, for GPUs (assumed)"


def _of_programs(
    jobs: list[_Job], spec_jobs: list[dict[str, Any]], run: Mapping[int, ProgramJob | None]
) -> Iterator[str]:
    """Notes of programs, one sentence for all jobs with the same note."""
    said: dict[str, list[str]] = {}
    for job, spec_job in zip(jobs, spec_jobs, strict=True):
        program = run[job.index]
        if program is not None:
            for note in program.app.notes(len(spec_job["nodes"])):
                said.setdefault(note, []).append(job.table.name)
    for note, names in said.items():
        listed = ", ".join(f"`{name}`" for name in names[:5]) + (" and others" if len(names) > 5 else "")
        yield f"{listed}: {note}"


def _keys(overhead: HostTable) -> set[str]:
    return {key.removesuffix("_") for key in overhead.model_fields_set}


def _refused(
    spec: Mapping[str, Any],
    table: ScenarioTable,
    jobs: list[_Job],
    routings: JobRoutings,
    names: core.Naming | None,
) -> OdonataError | None:
    problem = core.refused(spec)
    if problem is None:
        return None
    return _located(routings.refused(problem, table) or core.as_error(problem, keys_of_path(problem.path), names), jobs)


def machine_of(table: ScenarioTable, path: Path) -> System:
    """The machine of a scenario. Raises InputError whose path leads into the scenario."""
    compat = table.compat or ""
    preset = table.system if isinstance(table.system, str) else table.system.get("preset", "")
    usual = {**COMPAT_FABRIC.get(compat, {}), **COMPAT_PRESETS.get(compat, {}).get(preset, {})}
    system = machine.load(table.system, table.fabric, path.parent, usual or None)
    try:
        _ = system.failures
    except InputError as e:
        raise e.under("system") from None
    return system


def check_names(table: ScenarioTable, path: Path) -> None:
    """Check that the policies, options, files and jobs that a scenario names exist.

    The machine is not built, and imported jobs are not read, so this is quick. Raises InputError whose path leads
    into the scenario.
    """
    folder = path.parent
    for index, given in enumerate(table.job):
        job = _Job(given, index, None)
        with job.errors("place"):
            # An option that is missing may come from another axis of a study.
            for name, value in placement.read_given(*_policy(job, table.run.seed)).items():
                if isinstance(value, Path):
                    _check_file(folder / value, name)
        in_app = given.app.mapping if isinstance(given.app, Program) else None
        for at, mapping in ((("mapping",), given.mapping), (("app", "mapping"), in_app)):
            with job.errors(*at):
                if mapping is not None and mapping.file is not None:
                    _check_file(folder / mapping.file)
        with job.errors("app"):
            key = file_key(given.app)
            if key == "chakra":
                from odonata.scenario.apps.chakra import Chakra

                assert isinstance(given.app, Chakra)
                given.app.files(folder)
            elif key is not None:
                _check_file(folder / getattr(given.app, key), key)
    names = [given.name for given in table.job]
    for text in (table.run.until or ()) if table.import_ is None else ():
        if text not in names:
            _end_time(text, names)


def _check_file(file: Path, *path: str) -> None:
    if not file.exists():
        hint = "the path is relative to the folder of the scenario"
        raise InputError(f"there is no file `{file}`", hint=hint, path=path)


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
    counts = {job.index: _node_count(job, folder) for job in jobs}
    for job in jobs:
        with job.errors("place"):
            policy, options = _policy(job, seed)
            order.append((policy.freedom(placement.read_options(policy, options)), job, policy, options))
    placed: dict[int, Placement] = {}
    placer = placement.Placer(system)
    for _, job, policy, options in sorted(order, key=lambda entry: entry[0]):
        with job.errors("place"):
            count = job.table.nodes if policy.counts_itself else counts[job.index]
            if count is None and not policy.counts_itself:
                raise InputError("missing key `nodes`", hint="the number of nodes of the job", path=placement.COUNT)
            try:
                answer = placer.place(policy.name, count, options, folder=folder, owner=job.table.name)
            except InputError as e:
                too_many = count is not None and count > system.describe()["nodes"]
                if too_many and (error := programs.beyond(job.table, system.describe()["nodes"], folder)) is not None:
                    raise error.but(hint=f"{system.name} has {system.describe()['nodes']:,} nodes") from None
                raise _mentioning(system.unusable_nodes, e) from None
        with job.errors("nodes"):
            if len(answer.nodes) < 2 and isinstance(job.table.app, Pattern):
                raise InputError("a job of one node has no other rank to send to")
        placed[job.index] = answer
    return placed


def _policy(job: _Job, seed: int) -> tuple[placement.Policy, dict[str, Any]]:
    """The placement policy of a job and its options as given."""
    options = {k: v for k, v in job.table.place.items() if k != "policy"}
    policy = placement.get(job.table.place["policy"])
    if policy.seeded:
        options = {"seed": placement.seed_of_job(seed, job.index)} | options
    return policy, options


def _mentioning(lost: Sequence[int], error: InputError) -> InputError:
    """An error about the number of free nodes, with those that are lost to failures."""
    if not lost or error.path != placement.COUNT or error.hint is not None:
        return error
    ids = placement.format_ids(lost)
    ids = ids if len(ids) <= 60 else f"{ids[:57].rpartition(',')[0]}, ..."
    hint = f"{len(lost):,} nodes are not used because they or their routers have failed: {ids}"
    return error.but(hint=hint)


def _node_count(job: _Job, folder: Path) -> int | None:
    with job.errors():
        if isinstance(job.table.app, Program):
            return programs.node_count(job.table, folder)
        programs.refuse_program_keys(job.table)
    return job.table.nodes


def _program(job: _Job, placed: list[int], seed: int, folder: Path, system: System) -> ProgramJob | None:
    """The program of a job with everything decided; None if it has a pattern."""
    if not isinstance(job.table.app, Program):
        return None
    with job.errors():
        return programs.decided(
            job.table,
            placed,
            folder,
            seed=seed,
            number=job.index,
            host=system.table.host,
            shape=system.shape,
            rails=system.rails,
            nic=system.table.fabric.links["node"].bandwidth,
        )


def _spec_job(
    job: _Job, table: ScenarioTable, system: System, placed: Placement, program: ProgramJob | None
) -> dict[str, Any]:
    spec: dict[str, Any] = {"name": job.table.name, "nodes": placed.nodes}
    app = job.table.app
    if program is not None:
        spec |= {"nodes": program.nodes, "program": program.spec()}
    elif isinstance(app, Pattern):
        with job.errors("app"):
            spec["traffic"] = app.traffic(Ranks(system, placed.nodes))
    with job.errors():
        bursts = programs.bursts(job.table)
    spec |= {"bursts": bursts_spec(*bursts)} if bursts else {}
    with job.errors("class"):
        number = classes.number(job.table.class_, system.table.fabric.traffic_classes)
    spec |= {"class": number} if number else {}
    flows = file_key(app) == "flows"  # their completion times are those of their messages
    usual = "histogram" if job.table.background or (program is not None and not flows) else table.measure.latency
    return spec | {"record": job.table.record or usual}


def _stop(run: RunTable, jobs: list[_Job], spec_jobs: list[dict[str, Any]]) -> dict[str, Any]:
    names = [job.table.name for job in jobs]
    at_ps = run.horizon
    if run.until is None:
        waited = [n for n, job in enumerate(jobs) if not job.table.background]
        if run.horizon is not None:
            # A time ends the run, so it may wait for a job without end.
            waited = [n for n in waited if _ends(spec_jobs[n])]
        elif not waited:
            hint = 'set until = "1 ms", or name a job in [run]'
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
        if not _ends(spec_jobs[n]):
            what = {"messages": " (a number of intervals)"}.get(_end_key(spec_jobs[n]), "")
            with jobs[n].errors("app"):
                raise InputError(
                    f"job `{names[n]}` never ends, so the run would not either",
                    hint=f"give it `{_end_key(spec_jobs[n])}`{what}, or give the run a `horizon`",
                )
    return {"jobs": sorted(set(waited)), "at_ps": at_ps}


def _end_time(text: str, names: list[str]) -> int:
    """A time in `until`; any other text is the name of a job."""
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
        **({"blame": True} if measure.blame else {}),
        **({"roots": True} if measure.roots else {}),
        **({"series": True} if measure.series else {}),
        **({"operations": True} if measure.operations else {}),
        **({"reordering": True} if measure.reordering else {}),
    }


def _located(error: OdonataError, jobs: list[_Job]) -> OdonataError:
    """An error of the core about an imported job points into the imported files."""
    if isinstance(error, InputError) and error.path[:1] == ("job",) and isinstance(error.path[1], int):
        imported = jobs[error.path[1]].imported
        if imported is not None:
            return imported.locate(error.but(path=error.path[2:]))
    return error
