"""Jobs and nodes in the words of Slurm, independent of its release; files of other managers are put into them."""

import difflib
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from odonata.errors import InputError, shortened

#: Long names of the short job states and flags (`squeue -o %t`). Source: squeue(1) and Slurm's page on job state codes.
_SHORT_STATES = {
    "BF": "BOOT_FAIL",
    "CA": "CANCELLED",
    "CD": "COMPLETED",
    "CF": "CONFIGURING",
    "CG": "COMPLETING",
    "DL": "DEADLINE",
    "EX": "EXPEDITING",
    "F": "FAILED",
    "LF": "LAUNCH_FAILED",
    "NF": "NODE_FAIL",
    "OOM": "OUT_OF_MEMORY",
    "PD": "PENDING",
    "PO": "POWER_UP_NODE",
    "PR": "PREEMPTED",
    "R": "RUNNING",
    "RD": "RESV_DEL_HOLD",
    "RF": "REQUEUE_FED",
    "RH": "REQUEUE_HOLD",
    "RQ": "REQUEUED",
    "RS": "RESIZING",
    "RV": "REVOKED",
    "S": "SUSPENDED",
    "SE": "SPECIAL_EXIT",
    "SI": "SIGNALING",
    "SO": "STAGE_OUT",
    "ST": "STOPPED",
    "TO": "TIMEOUT",
    "UD": "UPDATE_DB",
}
#: The state of a job for which the source gives none.
NO_STATE = "NO STATE"
_STATES = frozenset(_SHORT_STATES.values()) | {"RECONFIG_FAIL"}

#: States in which the processes of a job run. In other states (setting up, cleaning up, suspended, stopped) a job holds
#: nodes without using the network.
_RUNNING = frozenset({"RUNNING", "RESIZING", "SIGNALING"})
#: Flags that a job may have while its processes run. A job that has only such flags does not count as running.
_BESIDE_RUNNING = frozenset({"UPDATE_DB", "EXPEDITING"})
#: The form of an unknown state: new releases of Slurm add states.
_NEW_STATE = re.compile(r"[A-Z][A-Z0-9]*(_[A-Z0-9]+)*")
#: Similarity from which on an unknown state counts as a misspelling. Assumed: one letter.
_MISSPELT = 0.9
#: Most letters of a state. Assumed: twice those of the longest.
_LONGEST_STATE = 32

#: Long names of the short node states (`sinfo -o %t`). Source: sinfo(1), "NODE STATE CODES".
_NODE_STATES = {
    "alloc": "ALLOCATED",
    "blocked": "BLOCKED",
    "comp": "COMPLETING",
    "completing": "COMPLETING",
    "down": "DOWN",
    "drain": "DRAIN",
    "drained": "DRAIN",
    "drng": "DRAINING",
    "draining": "DRAINING",
    "err": "ERROR",
    "fail": "FAIL",
    "failg": "FAILING",
    "failing": "FAILING",
    "futr": "FUTURE",
    "future": "FUTURE",
    "idle": "IDLE",
    "allocated": "ALLOCATED",
    "inval": "INVAL",
    "maint": "MAINT",
    "mix": "MIXED",
    "mixed": "MIXED",
    "npc": "PERFCTRS",
    "perfctrs": "PERFCTRS",
    "plnd": "PLANNED",
    "planned": "PLANNED",
    "pow_dn": "POWERING_DOWN",
    "powering_down": "POWERING_DOWN",
    "pow_up": "POWERING_UP",
    "powering_up": "POWERING_UP",
    "power_down": "POWERING_DOWN",
    "power_up": "POWERING_UP",
    "powered_down": "POWERED_DOWN",
    "reboot": "REBOOT_ISSUED",
    "boot": "REBOOT_ISSUED",
    "resv": "RESERVED",
    "reserved": "RESERVED",
    "unk": "UNKNOWN",
    "unknown": "UNKNOWN",
}
#: Meanings of the suffix of a node state. Source: sinfo(1), "NODE STATE CODES".
_SIGNS = {
    "*": "NOT_RESPONDING",
    "~": "POWERED_DOWN",
    "#": "POWERING_UP",
    "!": "POWER_DOWN",
    "%": "POWERING_DOWN",
    "$": "MAINT",
    "@": "REBOOT_REQUESTED",
    "^": "REBOOT_ISSUED",
    "-": "PLANNED",
    "+": "COMPLETING",
}

#: Flags of idle nodes on which Slurm still starts jobs: a node that is powered up for a job, one in the plan of the
#: backfill scheduler, and flags of how a node joined the cluster.
_HARMLESS = frozenset(
    {"IDLE", "PLANNED", "POWERED_DOWN", "POWER_SAVING", "CLOUD", "DYNAMIC", "DYNAMIC_NORM", "DYNAMIC_FUTURE"}
)
#: States of nodes that take no new jobs until an administrator resumes them.
_DRAINED = frozenset({"DRAIN", "DRAINED", "DRAINING", "DOWN", "FAIL", "FAILING", "ERROR", "FUTURE", "INVAL", "UNKNOWN"})


#: Our own flag of a node none of whose partitions starts jobs.
_PARTITION_DOWN = "PARTITION_DOWN"


@dataclass(frozen=True)
class Job:
    """A job in the queue."""

    id: str
    states: frozenset[str]
    """State and flags, in capital letters, such as `RUNNING` and `COMPLETING`."""
    nodes: tuple[str, ...]
    """Its nodes, each once; empty while it is pending."""
    partition: str = ""
    account: str = ""
    user: str = ""
    name: str = ""
    comment: str = ""
    """Empty, like the four fields before it, if the source does not give it."""
    wants: int = 0
    """Number of nodes that it has or requests; 0 if the source does not give it."""
    left_s: float | None = None
    """Seconds to its time limit at the time of the listing; None without a limit, or if the source does not give it."""
    limit_s: float | None = None
    """Its time limit in seconds; None without a limit, or if the source does not give it."""
    cluster: str = field(default="", compare=False)
    """The cluster on which it runs; empty if the source does not say it."""
    listed: str = field(default="", compare=False)
    """When it was listed, such as `2026-11-20 14:31` in the time of the cluster; empty if nothing says it."""

    @property
    def running(self) -> bool:
        """Whether its processes run. An unknown state counts as not running."""
        return bool(self.states & _RUNNING) and self.states <= _RUNNING | _BESIDE_RUNNING


@dataclass(frozen=True)
class Node:
    """A node of the cluster."""

    name: str
    states: frozenset[str]
    """State and flags, in capital letters, such as `IDLE` and `DRAIN`."""
    partitions: frozenset[str] = frozenset()

    @property
    def idle(self) -> bool:
        """Whether a job can start on it now, without sharing it."""
        return bool(self.states) and self.states <= _HARMLESS

    @property
    def drained(self) -> bool:
        """Whether it takes no new jobs: drained, draining, down or failed."""
        return bool(self.states & _DRAINED)


class Listings:
    """Collects nodes from a list that has an entry for each node and partition."""

    def __init__(self) -> None:
        self._states: dict[str, frozenset[str]] = {}
        self._partitions: dict[str, set[str]] = {}
        self._up: set[str] = set()

    def add(self, names: Iterable[str], states: frozenset[str], partitions: Iterable[str], *, up: bool) -> None:
        """Adds some nodes; `up` says whether Slurm starts jobs in these partitions. In one that is not up, the node is
        not a node of the partition, and one that is in no other takes no jobs."""
        partitions = list(partitions)
        for name in names:
            self._states[name] = self._states.get(name, frozenset()) | states
            if up:
                self._up.add(name)
                self._partitions.setdefault(name, set()).update(partitions)

    def nodes(self) -> list[Node]:
        """All nodes, each once, in the order of the list."""
        return [
            Node(
                name,
                states if name in self._up else states | {_PARTITION_DOWN},
                frozenset(self._partitions.get(name, ())),
            )
            for name, states in self._states.items()
        ]


def job_states(text: str) -> frozenset[str]:
    """The states of a job in a text: `RUNNING`, `R`, `CANCELLED by 0`, `COMPLETED+COMPLETING`, or one that is new.

    Raises InputError for a text that is not a state of a job.
    """
    states = set()
    for word in _words(text):
        name = _SHORT_STATES.get(word.upper(), word.upper())
        if name not in _STATES:
            _check_new(word, text)
        states.add(name)
    return frozenset(states)


def is_job_state(text: str) -> bool:
    """Whether all job states in a text are known."""
    return all(_SHORT_STATES.get(word.upper(), word.upper()) in _STATES for word in _words(text))


def unknown_states(jobs: Iterable[Job]) -> dict[str, int]:
    """Unknown state -> number of jobs in it."""
    return dict(Counter(name for job in jobs for name in unknown_of(job.states)))


def unknown_of(states: Iterable[str]) -> list[str]:
    """The unknown ones among the states of a job, sorted."""
    return sorted(set(states) - _STATES)


def past_states(text: str) -> frozenset[str]:
    """The states of a past job, like `job_states`. The column may be empty or cut by `sacct`: `OUT_OF_ME+`."""
    bare = text.strip()
    if not bare:
        return frozenset({NO_STATE})
    if bare.endswith("+"):
        whole = sorted(name for name in _STATES if name.startswith(bare[:-1].upper()))
        return frozenset(whole[:1]) if whole else job_states(bare[:-1])
    return job_states(bare)


def not_known(states: dict[str, int]) -> str:
    """The sentence that says what is assumed about unknown states."""
    jobs = sum(states.values())
    what = "1 job is in a state that is" if jobs == 1 else f"{jobs:,} jobs are in states that are"
    return f"{what} not known here, taken as not running: {', '.join(states)}"


def _words(text: str) -> list[str]:
    return [word.strip() for word in re.split(r" by ", text, flags=re.IGNORECASE)[0].replace(",", "+").split("+")]


def _check_new(word: str, text: str) -> None:
    """Raises InputError for a word that cannot be a job state of a newer release."""
    message = f"expected the state of a job, found `{shortened(text, 60)}`"
    if _NODE_STATES.get(word.lower(), word) in _OF_NODES_ONLY:
        raise InputError(f"{message}, a state of nodes", hint="`squeue` lists jobs, `sinfo` nodes")
    if len(word) > _LONGEST_STATE or not _NEW_STATE.fullmatch(word):
        raise InputError(message)
    if near := difflib.get_close_matches(word, _STATES, n=1, cutoff=_MISSPELT):
        raise InputError(message, hint=f"did you mean `{near[0]}`?")


#: States that only nodes have.
_OF_NODES_ONLY = frozenset(_NODE_STATES.values()) - _STATES - {"UNKNOWN"}
#: States that only jobs have.
_OF_JOBS_ONLY = frozenset({"RUNNING", "PENDING", "COMPLETED", "CANCELLED", "SUSPENDED", "CONFIGURING"})


def node_states(text: str) -> frozenset[str]:
    """The states of a node in a text: `idle*`, `drng`, `IDLE+DRAIN+NOT_RESPONDING`, `mixed-`.

    Raises InputError for a state that only jobs have. (New releases of Slurm have new states of nodes.)
    """
    if text.strip().upper() in _OF_JOBS_ONLY:
        message = f"expected the state of a node, found `{shortened(text, 60)}`, a state of jobs"
        raise InputError(message, hint="`sinfo` lists nodes, `squeue` jobs")
    states = set()
    for word in text.strip().replace(",", "+").split("+"):
        bare = word.rstrip("".join(_SIGNS))
        states |= {_SIGNS[sign] for sign in word[len(bare) :]}
        if bare:
            states.add(_NODE_STATES.get(bare.lower(), bare.upper()))
    if text.strip().endswith("+"):
        states.add("COMPLETING")
    # A node that is planned for a pending job is otherwise idle, and so is a node that is powered down to save energy.
    if states and states <= {"PLANNED", "POWERED_DOWN"}:
        states.add("IDLE")
    return frozenset(states)
