"""Files of workload managers other than Slurm: one file for each manager, with its formats in `FORMATS`."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal

from odonata.errors import InputError, shortened

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from odonata.queue.records import Job

#: Modules beside this one, each with a tuple `FORMATS`. A new manager is a module and its name here.
MANAGERS = ("pbs", "flux", "lsf")


@dataclass(frozen=True)
class Format:
    """A format that is recognised by the content of a file."""

    name: str
    """What the file is, such as ``the output of `qstat -f -F json` of PBS``."""
    what: Literal["queue", "nodes", "history"]
    recognises: Callable[[str], bool]
    """Whether a text is of this format."""
    read: Callable[[str], list[Any]]
    """The jobs, nodes or past jobs of a text. Raises InputError with the job or the line at fault."""


def format_of(text: str) -> Format | None:
    """The format of a text, if it is of a manager other than Slurm."""
    for manager in MANAGERS:
        for form in import_module(f"odonata.queue.{manager}").FORMATS:
            if form.recognises(text):
                recognised: Format = form
                return recognised
    return None


def read_other(
    file: str, text: str, what: Literal["queue", "nodes", "history"], cluster: str | None
) -> list[Any] | None:
    """What the text of a file of another manager says; None for any other text.

    Raises InputError for a text that lists something else, such as nodes in place of jobs, for one that cannot be read,
    and if a cluster is chosen.
    """
    form = format_of(text)
    if form is None:
        return None
    if form.what != what:
        wanted = {"queue": "a list of jobs", "nodes": "a list of nodes", "history": "jobs of the past"}[what]
        raise InputError(f"expected {wanted}, found {form.name}").at(file)
    if cluster is not None:
        raise InputError(f"{form.name} is of one cluster", hint="leave out --cluster").at(file)
    try:
        return form.read(text)
    except InputError as e:
        raise e.at(file, e.line) from None


def jobs_once(jobs: list[Job]) -> list[Job]:
    """The same jobs. Raises InputError for one that runs and is listed twice, or that runs without nodes."""
    seen = set()
    for job in jobs:
        if not job.running:
            continue
        if job.id in seen:
            raise InputError(f"the running job {job.id} is listed twice")
        if not job.nodes:
            raise InputError(f"job {job.id} runs, and the file does not say on which nodes")
        seen.add(job.id)
    return jobs


def state_of(text: Any, states: Mapping[str, frozenset[str]], job: str) -> frozenset[str]:
    """The states of a job. One that is not known is kept as it is, and counts as not running.

    Raises InputError if it is missing or no word.
    """
    if not isinstance(text, str) or not text or not text.isascii() or not text.replace("_", "").isalnum():
        raise InputError(f"job {job}: expected its state, found `{shortened(repr(text), 40)}`")
    return states.get(text, frozenset({text.upper()}))


def texts(record: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, str]:
    """Texts of a record by what they are of a job; numbers as texts, and nothing where there is none."""
    told = {key: record.get(name) for key, name in names.items()}
    return {key: str(value) for key, value in told.items() if isinstance(value, str | int | float)}


def objects(value: Any, where: str) -> Iterator[Mapping[str, Any]]:
    """The objects of a list. Raises InputError for anything else."""
    if not isinstance(value, list):
        raise InputError(f"expected a list of objects under `{where}`, found `{shortened(repr(value), 60)}`")
    for at, record in enumerate(value):
        if not isinstance(record, dict):
            raise InputError(f"{where}[{at}]: expected an object, found `{shortened(repr(record), 60)}`")
        yield record
