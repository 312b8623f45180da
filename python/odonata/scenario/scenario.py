"""A scenario: its data, from a file or from Python, and its resolution."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from odonata import reading
from odonata.document.data import Data
from odonata.document.data import of as document_of
from odonata.document.document import Document
from odonata.document.document import parse as parse_document
from odonata.document.document import read as read_document
from odonata.document.edit import read_value
from odonata.document.kinds import check_kind, kind_of
from odonata.document.plain import EXPECTED, checked, shown
from odonata.errors import Attributes, InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from odonata.machine import System
    from odonata.scenario.resolve import Resolved
    from odonata.scenario.tables import ScenarioTable

DATA = "scenario.toml"
"""The file in which data would be. File names in the data are relative to its folder."""

# The models of scenarios and machines are imported only to check or resolve a scenario, for they take half of the time
# of a short command. A finished run does not need them.


@dataclass(frozen=True, repr=False)
class Scenario(Attributes):
    """A scenario: which jobs run where on which machine. Immutable: `set` returns another one.

    `load` reads one from a file, `of` makes one of Python's data.

    Attributes
    ----------
    document
        Its data, with the position of every value.
    path
        The file. Files that the scenario names are relative to it. Of data, a file that need not exist.

    Examples
    --------
    >>> import odonata as od
    >>> quick = od.load("examples/quick.toml")
    >>> minimal = quick.set("routing", "minimal")
    >>> od.run(minimal).id == od.run(quick).id
    False
    """

    document: Document
    path: Path

    @staticmethod
    def of(data: Mapping[str, Any], *, folder: str | Path = ".") -> Scenario:
        """Make a scenario of data, without writing TOML.

        Parameters
        ----------
        data
            The tables and keys of a scenario's file: dictionaries, lists, texts, numbers and booleans, also those of
            NumPy, and paths where it names files. A key with the value `None` is not given. The data is copied.
        folder
            Files that the data names are relative to this folder. Default: the current one.

        Returns
        -------
        Scenario

        Raises
        ------
        InputError
            With the path of the key, such as `job[0].app.interval`, for every error that does not need the machine.

        Examples
        --------
        >>> import odonata as od
        >>> app = {"collective": "allreduce", "message": "1 MB"}
        >>> jobs = [{"name": f"job-{number}", "nodes": 4, "app": app} for number in range(3)]
        >>> od.run(od.Scenario.of({"system": "tiny", "job": jobs})).jobs.height
        3
        """
        return _of(data, folder).checked()

    @property
    def text(self) -> str:
        """The TOML as given, after all changes; for data, the same as TOML."""
        return self.document.text

    @property
    def data(self) -> dict[str, Any]:
        """The data (not to be changed: use `set`)."""
        return self.document.data

    def set(self, key: str, value: Any) -> Scenario:
        """Return the scenario with one value changed.

        Parameters
        ----------
        key
            Keys joined by dots; jobs go by their names: `job.target.app.interval`.
        value
            A text, number, boolean, list or table. NumPy numbers are accepted.

        Returns
        -------
        Scenario

        Raises
        ------
        InputError
            For a key that leads nowhere, and for a value that TOML cannot express. The value itself is checked when the
            scenario is resolved.

        Examples
        --------
        >>> import odonata as od
        >>> od.load("examples/quick.toml").set("run.seed", 7).resolve().spec["seed"]
        7
        """
        self._refuse_imported(key)
        return Scenario(self.document.set(key, _settable(key, value)), self.path)

    def _refuse_imported(self, key: str) -> None:
        """Raises InputError for a key of an imported job, which is not in the document."""
        table, _, rest = key.partition(".")
        jobs = self.data.get("job", ())
        if table != "job" or "import" not in self.data or not isinstance(jobs, list | tuple):
            return
        name = rest.partition(".")[0].strip('"')
        if not any(isinstance(job, dict) and job.get("name") == name for job in jobs):
            hint = (
                "jobs that come from `import` cannot be changed with -s; change the imported files, or write a [[job]]"
            )
            error = InputError(f"cannot set `{key}`: there is no [[job]] `{name}`", hint=hint)
            raise self.document.locate(error)

    @cached_property
    def read(self) -> dict[str, str]:
        """The files that it names and that were read so far to check and resolve it (`odonata.reading.recorded`)."""
        return {}

    @cached_property
    def table(self) -> ScenarioTable:
        """The checked tables of the scenario.

        Raises
        ------
        InputError
            With file and line.
        """
        try:
            with self._noting():
                return _checked(self.document, self.path)
        except InputError as e:
            raise self._located(e, _checked) from None

    @cached_property
    def system(self) -> System:
        """The machine that the scenario names or describes.

        Raises
        ------
        InputError
            With file and line, if there is no such machine or it cannot be built.
        """
        from odonata.scenario.resolve import machine_of

        try:
            with self._noting():
                return machine_of(self.table, self.path)
        except InputError as e:
            raise self._located(e, lambda document, path: machine_of(_checked(document, path), path)) from None

    def resolve(self, *, check: bool = True) -> Resolved:
        """Fill in everything that the file leaves open: machine, nodes, sizes, defaults.

        Parameters
        ----------
        check
            Whether the core checks the specification, for which it builds the machine. A specification whose run is
            finished has been checked.

        Returns
        -------
        Resolved
            The specification that the core reads, and the id of the run.

        Raises
        ------
        InputError
            With file and line, for a scenario that cannot be simulated.

        Examples
        --------
        >>> import odonata as od
        >>> [job["name"] for job in od.load("examples/quick.toml").resolve().spec["jobs"]]
        ['target', 'background']
        """
        return self._accepted if check else self._resolved

    @cached_property
    def _resolved(self) -> Resolved:
        from odonata.scenario.resolve import resolve

        try:
            with self._noting():
                return resolve(self.table, self.path)
        except InputError as e:
            raise self._located(e, _decided) from None

    @cached_property
    def _accepted(self) -> Resolved:
        resolved = self._resolved
        problem = resolved.refused()
        if problem is not None:
            raise self._located(problem, _decided) if isinstance(problem, InputError) else problem
        return resolved

    @contextmanager
    def _noting(self) -> Iterator[None]:
        with reading.recorded() as read:
            yield
        self.read.update(read)

    def checked(self) -> Scenario:
        """Check the scenario again, as `load` does.

        Returns
        -------
        Scenario
            This one.

        Raises
        ------
        InputError
            With file and line, for every error that does not need the machine.
        """
        _ = self.table
        return self

    def check_names(self) -> None:
        """Find policies, files and jobs that are named and do not exist, without building the machine.

        Raises
        ------
        InputError
            With file and line.
        """
        from odonata.scenario.resolve import check_names

        try:
            check_names(self.table, self.path)
        except InputError as e:
            raise self._located(e, lambda document, path: check_names(_checked(document, path), path)) from None

    def _located(self, error: InputError, read: Callable[[Document, Path], object]) -> InputError:
        """The error with its position: that of the value, or the change (`-s`) that causes the error.

        A change can make another value wrong, on a line that is correct. So the changes are undone one by one, the last
        one first, until `read` succeeds.
        """
        located = self.document.locate(error)
        if error.located or self.document.change_of(error) is not None:
            return located
        for count in reversed(range(len(self.document.changes))):
            try:
                read(self.document.first(count), self.path)
            except InputError as e:
                if e.message != error.message:
                    break
            else:
                key = self.document.changes[count][0]
                return self.document.blaming(_naming_its_job(error, key, self.document.data), key)
        return located

    def located(self, error: InputError) -> InputError:
        """Return an error about a value of this scenario, with the position of the value.

        Parameters
        ----------
        error
            An error whose `path` leads to the value.

        Returns
        -------
        InputError
        """
        return self.document.locate(error)

    def __str__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        from odonata.scenario.html import as_html

        return as_html(self)

    def __repr__(self) -> str:
        """One line: which jobs on which machine, or that the scenario is wrong."""
        name = "data" if isinstance(self.document, Data) else repr(str(self.path))
        try:
            resolved = self.resolve()
        except InputError as e:
            return f"Scenario({name}, wrong: {e.message})"
        jobs = " + ".join(f"{job['name']} ({len(set(job['nodes'])):,} nodes)" for job in resolved.spec["jobs"])
        seed = resolved.spec["seed"]
        kept = resolved.spec.get("own_routings", {}).get(resolved.spec["routing"].get("program"), {})
        routing = kept.get("file") or resolved.spec["routing"]["name"]
        return f"Scenario({name}: {jobs} on {resolved.system.name}, routing {routing}, seed {seed})"


def _naming_its_job(error: InputError, key: str, data: Mapping[str, Any]) -> InputError:
    """The error about a job that becomes wrong by a change, with the job's name if the key belongs to another table."""
    match error.path:
        case ("job", int(index), *_):
            name = data["job"][index].get("name")
            if not key.startswith(f"job.{name}."):
                return InputError(f"job `{name}`: {error.message}", hint=error.hint, path=error.path, code=error.code)
    return error


def _checked(document: Document, path: Path) -> ScenarioTable:  # noqa: ARG001 - as `_decided`
    from odonata.document import validate
    from odonata.scenario.tables import ScenarioTable

    check_kind(document.data, document.file, "scenario")
    return validate(ScenarioTable, document.data)


def _decided(document: Document, path: Path) -> None:
    from odonata.scenario.resolve import resolve

    problem = resolve(_checked(document, path), path).refused()
    if problem is not None:
        raise problem


def load(
    scenario: str | PathLike[str] | Mapping[str, Any],
    overrides: str | Mapping[str, Any] | Iterable[str | tuple[str, Any]] = (),
    seed: int | None = None,
    *,
    folder: str | Path | None = None,
) -> Scenario:
    """Read a scenario, from its file or from data.

    Parameters
    ----------
    scenario
        The file (TOML), or the data, as `Scenario.of` takes it.
    overrides
        Values to change, in this order: a text `"key=value"` as after `-s` on the command line, with the value in TOML;
        a table of values by key; or a list of such texts and of (key, value) pairs.
    seed
        The same as a last override of `run.seed`.
    folder
        Files that data names are relative to this folder. Default: the current one. Those that a file names are
        relative to the file.

    Returns
    -------
    Scenario

    Raises
    ------
    InputError
        With file and line, or with the path of the key in data, for every error that does not need the machine.

    Examples
    --------
    >>> import odonata as od
    >>> quick = od.load("examples/quick.toml", "run.seed=3")
    >>> quick.data["run"]["seed"]
    3
    >>> od.load("examples/quick.toml", {"run.seed": 4, "routing": "minimal"}).data["routing"]
    'minimal'
    """
    if isinstance(scenario, Mapping):
        return _with(_of(scenario, folder or "."), overrides, seed).checked()
    given: object = scenario
    if not isinstance(given, str | PathLike):
        hint = 'odonata.load("scenario.toml"), or odonata.load({"system": "tiny", "job": [...]})'
        raise InputError(f"expected the path or the data of a scenario, found `{shown(given)}`", hint=hint)
    if folder is not None:
        raise InputError("`folder` is for data: files that a file names are relative to the file")
    return read(Path(given), overrides, seed).checked()


def as_scenario(given: object) -> Scenario:
    """The scenario from an argument: a `Scenario`, the path of a file, or data.

    Raises InputError as `load`, and for anything else.
    """
    if isinstance(given, Scenario):
        return given
    if isinstance(given, str | PathLike | Mapping):
        return load(given)
    hint = 'the path of its file, its data {"system": "tiny", "job": [...]}, or odonata.load(...)'
    raise InputError(f"expected a scenario, found `{shown(given)}`", hint=hint)


def _of(data: Mapping[str, Any], folder: str | Path) -> Scenario:
    return Scenario(document_of(data, "scenario"), Path(folder) / DATA)


def read(
    path: str | Path,
    overrides: str | Mapping[str, Any] | Iterable[str | tuple[str, Any]] = (),
    seed: int | None = None,
) -> Scenario:
    """A scenario file as `load` reads it, without a check of its content."""
    return _with(Scenario(read_document(path), Path(path)), overrides, seed)


def parse(text: str, path: str | Path = "scenario.toml") -> Scenario:
    """Read a scenario from a text.

    Parameters
    ----------
    text
        The TOML.
    path
        Its name in error messages. Files that it names are relative to it.

    Returns
    -------
    Scenario

    Raises
    ------
    InputError
        As `load`.
    """
    return Scenario(parse_document(text, str(path)), Path(path)).checked()


def system(name: str | Path) -> System:
    """The machine of that name, of that TOML file, or of a scenario's TOML file.

    Raises
    ------
    InputError
        If there is no such machine or file, and if it is wrong.
    """
    if str(name).endswith(".toml"):
        document = read_document(name)
        if kind_of(document.data) in ("study", "schedule", "book"):
            check_kind(document.data, document.file, "system")
        if "system" in document.data:
            return Scenario(document, Path(name)).system
    from odonata.machine import load as load_system

    return load_system(str(name))


def _with(
    scenario: Scenario, overrides: str | Mapping[str, Any] | Iterable[str | tuple[str, Any]], seed: int | None
) -> Scenario:
    if isinstance(overrides, str):
        overrides = [overrides]
    elif isinstance(overrides, Mapping):
        overrides = list(overrides.items())
    for override in overrides:
        if isinstance(override, str):
            key, equals, value = override.partition("=")
            if not equals:
                raise InputError(f"`-s {override}` has no value", hint="write -s key=value")
            try:
                read = read_value(value.strip())
            except InputError as e:
                raise scenario.document.blaming(e, key.strip()) from None
            scenario = scenario.set(key.strip(), read)
        elif _is_pair(override):
            scenario = scenario.set(*override)
        else:
            hint = '"run.seed=3", {"run.seed": 3}, or a list of texts and (key, value) pairs'
            raise InputError(f"expected overrides of a scenario, found `{override!r}`", hint=hint)
    if seed is not None:
        scenario = scenario.set("run.seed", seed)
    return scenario


def _settable(key: str, value: Any) -> Any:
    """The value in the types of TOML, so that the scenario can be written as text. Raises InputError for others."""
    try:
        return checked(value)
    except InputError as e:
        hint = "texts, numbers, lists and tables are possible" if EXPECTED in e.message else e.message
        raise InputError(f"cannot set `{key}` to `{shown(value)}`", hint=hint) from None


def _is_pair(override: object) -> bool:
    return isinstance(override, tuple | list) and len(override) == 2
