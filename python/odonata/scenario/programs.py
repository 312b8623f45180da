"""Makes the specification of a job with a program: ranks and their nodes, iterations, costs."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from odonata import units
from odonata.document import Table
from odonata.errors import InputError
from odonata.machine.host import HostTable
from odonata.machine.shape import Shape
from odonata.scenario.apps.app import JOB_KEYS, JobNodes, Program
from odonata.scenario.apps.bursts import LengthTable, written
from odonata.scenario.apps.gpu_collectives import check_nodes, gpus_in_order
from odonata.scenario.apps.listed import file_key
from odonata.scenario.apps.mapping import Known, MappingTable
from odonata.scenario.apps.values import decided_overhead
from odonata.scenario.tables import JobTable

#: How long the ranks of a job work before each pause, and how long the pause is.
Bursts = tuple[int | LengthTable, int | LengthTable]
#: Keys of `[[job]]` that only programs have.
PROGRAM_KEYS = (*(key for key in JOB_KEYS if key not in ("on", "off")), "start", "overhead")
#: Most ranks of a node (assumed: more than any node has hardware threads) and of a job.
MAX_RANKS_PER_NODE, MAX_RANKS = 4_096, 2**24


@dataclass(frozen=True)
class ProgramJob:
    """A program with all its defaults filled in."""

    app: Program
    ranks: int
    nodes: list[int]
    """Node of each rank."""
    iterations: int | None
    ranks_per_node: int
    mapping: MappingTable
    gap_ps: int
    every_ps: int
    barrier: bool
    bursts: Bursts | None
    start_ps: int
    overhead: HostTable
    body: dict[str, Any]
    rates: list[list[int]]
    """CPUs of a rank with the largest rate at which they write to other GPUs of their node."""

    def spec(self) -> dict[str, Any]:
        """The program as the core reads it."""
        every = {"every_ps": self.every_ps} if self.every_ps else {}
        paid = self.app.paid(self.overhead)
        return {
            "start_ps": self.start_ps,
            "iterations": self.iterations,
            "gap_ps": self.gap_ps,
            **every,
            **paid.costs(),
            **with_rates(paid.gpus(), self.rates),
            "body": with_calls(with_barrier(self.body) if self.barrier else self.body, paid.call),
        }

    def document(self) -> dict[str, Any]:
        """The program with its defaults, as keys of `[[job]]`."""
        document: dict[str, Any] = {
            "app": _dumped(self.app, set(JOB_KEYS)),
            "ranks": self.ranks,
            "ranks_per_node": self.ranks_per_node,
            "mapping": _dumped(self.mapping),
            "gap": units.format_time(self.gap_ps),
            "every": units.format_time(self.every_ps),
            "start": units.format_time(self.start_ps),
            "overhead": _dumped(self.overhead),
        }
        if self.barrier:
            document["barrier"] = True
        if self.bursts is not None:
            document |= {key: written(length) for key, length in zip(("on", "off"), self.bursts, strict=True)}
        return document if self.iterations is None else {**document, "iterations": self.iterations}


#: Phases that are collective operations, as the core names them.
_COLLECTIVES = frozenset(
    (
        *("broadcast", "reduce", "allreduce", "allgather", "reduce-scatter", "alltoall", "barrier"),
        *("grouped-alltoall", "pxn-alltoall"),
    )
)


def with_rates(gpus: dict[str, Any], rates: list[list[int]]) -> dict[str, Any]:
    """`gpus` of a program with CPUs that write no faster than their rates."""
    return {"gpus": {**gpus["gpus"], "rates": rates}} if gpus and rates else gpus


def with_barrier(body: dict[str, Any]) -> dict[str, Any]:
    """The body with a barrier before it, which the time of an iteration leaves out."""
    barrier = {"what": {"name": "barrier", "algorithm": "dissemination"}}
    return {**body, "phases": [barrier, *body["phases"]], "untimed": 1}


def with_calls(body: dict[str, Any], call_ps: int) -> dict[str, Any]:
    """The body with the time that a rank needs at the start of each collective operation.

    A phase with `"call": False` is a loop of the application's own.
    """
    if body["name"] != "phases":
        return body
    call = {"what": {"name": "compute", "ps": call_ps, "jitter_ps": 0}}
    called = []
    for phase in body["phases"]:
        calls = call_ps and phase["what"]["name"] in _COLLECTIVES and phase.get("call", True)
        plain = {key: value for key, value in phase.items() if key != "call"}
        called.append((call, plain) if calls else (plain,))
    untimed = sum(map(len, called[: body.get("untimed", 0)]))
    return {**body, "phases": [part for parts in called for part in parts], **({"untimed": untimed} if untimed else {})}


def _dumped(table: Table, leave_out: set[str] | None = None) -> dict[str, Any]:
    return table.model_dump(mode="json", by_alias=True, exclude_none=True, exclude=leave_out)


def refuse_program_keys(job: JobTable) -> None:
    """Raises InputError (path into the job) if a job with a pattern has a key that only programs have."""
    for key in PROGRAM_KEYS:
        if getattr(job, key) is not None:
            hint = "programs are collectives, motifs, traces and matrices (`odonata show`)"
            raise InputError(
                f"`{key}` is for programs, and the application of this job is a pattern", hint=hint, path=(key,)
            )


def node_count(job: JobTable, folder: Path) -> int | None:
    """The number of nodes to place: the given one, or the number for the ranks of a file; None if neither is known.

    Raises InputError (path into the job) for ranks that do not fit on the nodes.
    """
    assert isinstance(job.app, Program)
    per_node = _ranks_per_node(job)
    own = _own_ranks(job.app, folder)
    if own is None:
        return job.nodes
    if job.nodes is not None:
        _check_own(job.app, own, job.nodes, per_node, folder)
    return job.nodes or -(-own // per_node)


def beyond(job: JobTable, nodes: int, folder: Path) -> InputError | None:
    """The error with file and line for what the application's file has beyond the ranks of so many nodes; None if there
    is nothing, or if the scenario says how many nodes the job has."""
    if job.nodes is not None or not isinstance(job.app, Program):
        return None
    return job.app.beyond(nodes * _ranks_per_node(job), folder)


def decided(
    job: JobTable,
    placed: list[int],
    folder: Path,
    *,
    seed: int,
    number: int,
    host: HostTable | None,
    shape: Shape,
    rails: int,
    nic: int,
) -> ProgramJob:
    """The program of a job on these nodes. `seed` belongs to the run, `number` to the job, and `host`, `shape`, `rails`
    and `nic` (the bandwidth of a NIC) to the system.

    Raises InputError (path into the job).
    """
    app = job.app
    assert isinstance(app, Program)
    per_node = _ranks_per_node(job)
    own = _own_ranks(app, folder)
    if own is not None:
        _check_own(app, own, len(placed), per_node, folder)
    # All ranks of more nodes than the file fills are idle, also those of its last one.
    more = own is not None and len(placed) > -(-own // per_node)
    ranks = len(placed) * per_node if own is None or more else own
    if ranks < 2:
        hint = "give it more `nodes`, or more `ranks_per_node`"
        raise InputError("a job of one rank has no other rank to send to", hint=hint, path=("nodes",))
    if ranks > MAX_RANKS:
        message = f"{len(placed):,} nodes with {per_node:,} ranks each are {ranks:,} ranks, more than 2^24"
        raise InputError(message, path=("ranks_per_node",))
    mapping = (_option(job, "mapping") or MappingTable(name="linear")).decided(seed, number)
    try:
        overhead = decided_overhead(job.overhead, host).on_rails(rails)
    except InputError as e:
        raise e.under("overhead") from None
    check_nodes(app, per_node, mapping, overhead)
    try:
        known = JobNodes(len(placed), nic, gpus_in_order(per_node, mapping, overhead))
        app = app.on_nodes(known, overhead).decided(ranks)
        body = app.body_with(ranks, folder, overhead)
        rates = body.pop("rates", [])
    except InputError as e:
        raise e.under("app") from None
    try:
        nodes = mapping.nodes(placed, ranks, per_node, folder, Known(body, shape))
    except InputError as e:
        raise e.under(*(() if job.mapping is not None else ("app",))) from None
    barrier = bool(_option(job, "barrier"))
    if barrier and body["name"] != "phases":
        raise InputError(
            "a trace has no barrier before it", hint="write the barrier into the trace", path=_place(job, "barrier")
        )
    iterations = _option(job, "iterations")
    return ProgramJob(
        app=app,
        ranks=ranks,
        nodes=nodes,
        iterations=1 if iterations is None and not job.background else iterations,
        ranks_per_node=per_node,
        mapping=mapping,
        gap_ps=_option(job, "gap") or 0,
        every_ps=_option(job, "every") or 0,
        barrier=barrier,
        bursts=bursts(job),
        start_ps=job.start or 0,
        overhead=overhead,
        body=body,
        rates=rates,
    )


def bursts(job: JobTable) -> Bursts | None:
    """How long the ranks of a job work before each pause, and how long the pause is; None without pauses.

    Raises InputError (path into the job) for one without the other.
    """
    on, off = _option(job, "on"), _option(job, "off")
    if on is not None and off is not None:
        return on, off
    for key, other, length in (("on", "off", on), ("off", "on", off)):
        if length is not None:
            hint = "`on` and `off` belong together"
            raise InputError(f"`{key}` without `{other}`", hint=hint, path=_place(job, key))
    return None


def _own_ranks(app: Program, folder: Path) -> int | None:
    try:
        return app.own_ranks(folder)
    except InputError as e:
        raise e.under("app") from None


def _check_own(app: Program, own: int, nodes: int, per_node: int, folder: Path) -> None:
    """Raises InputError for a number of nodes that the ranks of a file do not fill, exactly if each has something to
    do."""
    needed = -(-own // per_node)
    if app.idle_ranks and nodes < needed and (error := app.beyond(nodes * per_node, folder)) is not None:
        each = "a rank" if per_node == 1 else f"{per_node:,} ranks"
        raise error.but(hint=f"the job has {nodes:,} nodes with {each} each; it needs {needed:,} for all flows")
    if needed != nodes and not (app.idle_ranks and nodes > needed):
        each = "1 rank each" if per_node == 1 else f"{per_node:,} ranks each"
        what = file_key(app) or "application"
        what = {"chakra": "Chakra trace", "flows": "list of flows"}.get(what, what)
        raise InputError(
            f"the {what} has {own:,} ranks, and {nodes:,} nodes with {each} are {nodes * per_node:,}",
            hint=f"it needs {needed:,} nodes; without `nodes` and without a list of nodes, the job gets that number",
            path=("nodes",),
        )


def _ranks_per_node(job: JobTable) -> int:
    per_node: int = _option(job, "ranks_per_node") or 1
    if per_node > MAX_RANKS_PER_NODE:
        message = f"`ranks_per_node`: a node has up to {MAX_RANKS_PER_NODE:,} ranks, found {per_node:,}"
        path = ("ranks_per_node",) if job.ranks_per_node else ("app", "ranks_per_node")
        raise InputError(message, path=path)
    return per_node


def _place(job: JobTable, key: str) -> tuple[str, ...]:
    """The path of a key that stands in the job or in its app."""
    return (key,) if getattr(job, key) is not None else ("app", key)


def _option(job: JobTable, key: str) -> Any:
    """A key that may stand in the job or in its app, but not in both."""
    in_job, in_app = getattr(job, key), getattr(job.app, key)
    if in_job is not None and in_app is not None:
        raise InputError(
            f"`{key}` is given twice, in the job and in its app", hint="leave one of them out", path=("app", key)
        )
    return in_app if in_job is None else in_job
