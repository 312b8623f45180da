"""A scenario: the text, its data, and the way to a resolved run."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from odonata.document import Document, validate
from odonata.document import parse as parse_document
from odonata.document import read as read_document
from odonata.document.edit import read_value
from odonata.errors import InputError
from odonata.scenario.refusals import refusal_as_error
from odonata.scenario.resolve import Resolved, resolve
from odonata.scenario.tables import ScenarioTable


@dataclass(frozen=True, repr=False)
class Scenario:
    """A scenario; immutable: `set` returns another one.

    Files that it names are relative to its own.
    """

    document: Document
    path: Path

    @property
    def text(self) -> str:
        """The TOML as given, after all changes."""
        return self.document.text

    @property
    def data(self) -> dict[str, Any]:
        """The data of the TOML (not to be changed: use `set`)."""
        return self.document.data

    def set(self, key: str, value: Any) -> "Scenario":
        """The scenario with one value changed: `set("job.target.app.interval", "2 us")`.

        Jobs go by their names. Raises InputError for a key that leads nowhere; whether the value is right
        shows when the scenario is resolved.
        """
        self._refuse_imported(key)
        return Scenario(self.document.set(key, _plain(key, value)), self.path)

    def _refuse_imported(self, key: str) -> None:
        """Jobs from `import` are not in the document, so nothing of them can be set there."""
        table, _, rest = key.partition(".")
        jobs = self.data.get("job", ())
        if table != "job" or "import" not in self.data or not isinstance(jobs, list | tuple):
            return
        name = rest.partition(".")[0].strip('"')
        if not any(isinstance(job, dict) and job.get("name") == name for job in jobs):
            hint = (
                "jobs that come from `import` cannot be changed with -s; change the imported files, or write a [[job]]"
            )
            raise InputError(f"cannot set `{key}`: there is no [[job]] `{name}`", file=self.document.file, hint=hint)

    @cached_property
    def table(self) -> ScenarioTable:
        """What the scenario says, checked. Raises InputError with file and line."""
        try:
            return _checked(self.document, self.path)
        except InputError as e:
            raise self._located(e, _checked) from None

    def resolve(self) -> Resolved:
        """Everything decided: machine, nodes, sizes, defaults. Raises InputError with file and line."""
        return self._resolved

    @cached_property
    def _resolved(self) -> Resolved:
        try:
            return resolve(self.table, self.path)
        except InputError as e:
            raise self._located(e, _decided) from None

    def _located(self, error: InputError, read: Callable[[Document, Path], object]) -> InputError:
        """The error with its position: that of the value, or the change (`-s`) without which there is no error.

        A change can make another value wrong, on a line that is fine by itself; so the last changes are taken back one
        by one until `read` succeeds.
        """
        located = self.document.locate(error)
        if error.file is not None or (located.line is None and located.file != self.document.file):
            return located
        for count in reversed(range(len(self.document.changes))):
            try:
                read(self.document.first(count), self.path)
            except InputError as e:
                if e.message != error.message:
                    break
            else:
                return error.at(self.document.changed_by(self.document.changes[count][0]))
        return located

    def refusal(self, message: str, at: str | None) -> InputError:
        """What the core said against this scenario's spec, with the file and line of the value.

        `at` is the path of the value in the spec, as `_core.SpecError.at` has it.
        """
        return self.document.locate(refusal_as_error(message, at))

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        """One line: which jobs on which machine, or that the scenario is wrong."""
        try:
            resolved = self.resolve()
        except InputError as e:
            return f"Scenario({str(self.path)!r}, wrong: {e.message})"
        jobs = " + ".join(f"{job['name']} ({len(set(job['nodes'])):,} nodes)" for job in resolved.spec["jobs"])
        routing, seed = resolved.spec["routing"]["name"], resolved.spec["seed"]
        return f"Scenario({str(self.path)!r}: {jobs} on {resolved.system.name}, routing {routing}, seed {seed})"


def _checked(document: Document, path: Path) -> ScenarioTable:  # noqa: ARG001 - as `_decided`
    return validate(ScenarioTable, document.data)


def _decided(document: Document, path: Path) -> Resolved:
    return resolve(_checked(document, path), path)


def load(
    path: str | Path,
    overrides: Iterable[str | tuple[str, Any]] = (),
    seed: int | None = None,
) -> Scenario:
    """Reads a scenario file and applies overrides: `"key=value"` texts or (key, value) pairs, in order.

    `seed` is the same as a last override of `run.seed`. Raises InputError with file and line for
    everything that can be told without building the machine.
    """
    return _with(Scenario(read_document(path), Path(path)), overrides, seed)


def parse(text: str, path: str | Path = "scenario.toml") -> Scenario:
    """A scenario from a text; `path` is what errors call it and what its files are relative to."""
    return _with(Scenario(parse_document(text, str(path)), Path(path)), (), None)


def _with(scenario: Scenario, overrides: Iterable[str | tuple[str, Any]], seed: int | None) -> Scenario:
    for override in overrides:
        if isinstance(override, str):
            key, equals, value = override.partition("=")
            if not equals:
                raise InputError(f"`-s {override}` has no value", hint="write -s key=value")
            try:
                read = read_value(value.strip())
            except InputError as e:
                raise e.at(scenario.document.changed_by(key.strip())) from None
            scenario = scenario.set(key.strip(), read)
        else:
            scenario = scenario.set(*override)
    if seed is not None:
        scenario = scenario.set("run.seed", seed)
    _ = scenario.table
    return scenario


def _plain(key: str, value: Any) -> Any:
    """The value in the types of TOML, so that a text can be written of it."""
    if isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, dict):
        return {str(k): _plain(f"{key}.{k}", v) for k, v in value.items()}
    if isinstance(value, list | tuple | range):
        return [_plain(key, v) for v in value]
    if hasattr(value, "item"):  # a NumPy scalar
        return _plain(key, value.item())
    raise InputError(f"cannot set `{key}` to `{value!r}`", hint="texts, numbers, lists and tables are possible")
