"""Reads the file of a study as a plan. Errors name the line."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from odonata import reading
from odonata.document import Data, Document, positions, writing
from odonata.document import of as document_of
from odonata.document import read as read_document
from odonata.document.edit import read_value
from odonata.errors import InputError, unknown
from odonata.scenario import Scenario
from odonata.store.columns import columns_of
from odonata.study.axis import Axis, Where
from odonata.study.check import check_values
from odonata.study.draws import draw, is_distribution
from odonata.study.keep import read_keep
from odonata.study.plan import Plan, Show, check_axes
from odonata.study.resolution_cache import cached_resolutions, is_finished
from odonata.study.task import POINT, RUN_COLUMNS
from odonata.study.values import LARGEST, is_range, values

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path


TABLES = ("base", "alone", "sweep", "zip", "random", "keep", "show", "cluster")


def load(path: str | Path, overrides: Iterable[str] = (), folder: Path | None = None) -> Plan:
    """Reads the file of a study; `overrides` (`"key=value"`) change its scenario.

    The values of the axes are not checked if a sweep into `folder` has resolved all points.
    Raises InputError with file and line for every error that needs no resolution: keys, empty axes, unequal lengths,
    and invalid values.
    """
    path = Path(path)
    return _plan(read_document(path), path, overrides, folder)


def of(data: Mapping[str, Any]) -> Plan:
    """The plan of a study that is given as data. Paths in it are relative to the current folder.

    Raises InputError with the path of the key for every error that needs no resolution.
    """
    return _plan(document_of(data, "study"), Path("study.toml"))


def _plan(document: Document, path: Path, overrides: Iterable[str] = (), folder: Path | None = None) -> Plan:
    try:
        for key in document.data:
            if key not in TABLES:
                raise _unknown_key(key)
        axes = tuple(_axes(document.data))
        if not axes:
            hint = 'such as [sweep] with "run.seed" = { from = 1, to = 10 }'
            raise InputError("the study has no axis: no [sweep], [zip] or [random]", hint=hint)
        check_axes(axes)
        cluster = _cluster(document.data)
        keys = [key for axis in axes for key in axis.keys]
        keep = read_keep(_table(document.data, "keep"), keys, [POINT, *RUN_COLUMNS])
        alone = document.data.get("alone", False)
        if not isinstance(alone, bool):
            raise InputError(f"`alone`: expected true or false, found `{alone!r}`", path=("alone",))
    except InputError as e:
        raise document.locate(e) from None
    base = _base(document, path)
    for override in overrides:
        base = _overridden(base, override, axes, path)
    try:
        shown = read_show(_table(document.data, "show"), keys)
    except InputError as e:
        raise document.locate(e) from None
    file = None if isinstance(document, Data) else str(path)
    plan = Plan(path.stem, base, axes, shown, cluster, document.text, file, keep, alone=alone)
    if folder is None or not is_finished(plan, folder):
        _check(plan, document, folder)
    return plan


def _check(plan: Plan, document: Document, folder: Path | None) -> None:
    """Raises InputError for invalid values, and for an unknown job in `[show]`."""
    if folder is None or len(cached_resolutions(plan, folder)[0]) < len(plan):
        check_values(plan, document)
    scenario = plan.scenario(0).table
    names = [job.name for job in scenario.job]
    shown = plan.show.job
    # The names of imported jobs come from files.
    if shown is not None and scenario.import_ is None and shown not in names:
        raise document.locate(unknown("job", shown, names).under("show", "job"))


def _cluster(data: Mapping[str, Any]) -> dict[str, Any]:
    given = _table(data, "cluster")
    if not given:
        return {}
    from odonata.study.slurm import read_cluster  # with the modules of remote workers

    return read_cluster(given)


def _unknown_key(key: str) -> InputError:
    error = unknown("table", key, TABLES)
    if error.hint is not None and error.hint.startswith("known"):
        error.hint = 'put axes under [sweep], and everything else in the file that base names: base = "..."'
    return error.under(key)


def _table(data: Mapping[str, Any], name: str) -> dict[str, Any]:
    table = data.get(name, {})
    if not isinstance(table, dict):
        raise InputError(f"`{name}`: expected a table, found `{table!r}`", path=(name,))
    return table


def _base(document: Document, path: Path) -> Scenario:
    given = document.data.get(TABLE)
    if isinstance(given, dict):
        return Scenario(document.table(TABLE) if isinstance(document, Data) else inline(document.text, path), path)
    if not isinstance(given, str):
        hint = 'base = "scenario.toml" (relative to the study), or a table [base] with the scenario in it'
        what = "the study has no `base`" if given is None else f"`base`: expected a path or a table, found `{given!r}`"
        raise document.locate(InputError(what, hint=hint, path=() if given is None else (TABLE,)))
    file = path.parent / given
    if not file.is_file():
        hint = "the path is relative to the study's folder"
        raise document.locate(InputError(f"there is no scenario `{file}`", hint=hint, path=(TABLE,)))
    return Scenario(read_document(file), file)


def _overridden(base: Scenario, override: str, axes: tuple[Axis, ...], path: Path) -> Scenario:
    key = override.partition("=")[0].strip()
    for axis in axes:
        for own in axis.keys:
            if key == own or key.startswith(f"{own}."):
                raise InputError(
                    f"`-s {key}` has no effect: `{own}` is an axis of the study", file=path,
                    hint="change the axis in the file",
                )  # fmt: skip
    _, equals, value = override.partition("=")
    if not equals:
        raise InputError(f"`-s {override}` has no value", hint="write -s key=value")
    try:
        return base.set(key, read_value(value.strip()))
    except InputError as e:
        raise base.document.blaming(e, key) from None


def _axes(data: Mapping[str, Any]) -> Iterator[Axis]:
    for key, given, where in _leaves(_table(data, "sweep"), ("sweep",), is_range):
        yield Axis((key,), tuple((value,) for value in _values(given, where)), {key: where})
    groups = data.get("zip", [])
    if isinstance(groups, dict):
        yield from _zip(groups, ("zip",))
    elif isinstance(groups, list):
        for number, group in enumerate(groups):
            yield from _zip(group, ("zip", number))
    else:
        raise InputError(f"`zip`: expected a table, found `{groups!r}`", path=("zip",))
    yield from _random(_table(data, "random"))


def _zip(group: object, at: Where) -> Iterator[Axis]:
    if not isinstance(group, dict):
        raise InputError(f"`zip`: expected a table, found `{group!r}`", path=at)
    columns = {key: (_values(given, where), where) for key, given, where in _leaves(group, at, is_range)}
    if not columns:
        return
    (first, (values_of_first, _)), *others = columns.items()
    for key, (listed, where) in others:
        if len(listed) != len(values_of_first):
            raise InputError(
                f"`{key}` has {len(listed)} values and `{first}` has {len(values_of_first)}: "
                "keys under [zip] need lists of equal length",
                hint="put a key under [sweep] to combine it with all others",
                path=where,
            )
    rows = tuple(zip(*(values for values, _ in columns.values()), strict=True))
    yield Axis(tuple(columns), rows, {key: where for key, (_, where) in columns.items()})


def _random(table: Mapping[str, Any]) -> Iterator[Axis]:
    table = dict(table)
    if not table:
        return
    samples = _number(table.pop("samples", None), "samples", 1)
    seed = _number(table.pop("seed", None), "seed", 0)
    columns, at = {}, {}
    for key, given, where in _leaves(table, ("random",), is_distribution):
        try:
            columns[key] = draw(key, given, samples=samples, seed=seed)
        except InputError as e:
            raise _about(e, key).under(*where) from None
        at[key] = where
    if not columns:
        raise InputError(
            "[random] draws nothing", hint='add a key, such as routing = { choice = ["a", "b"] }', path=("random",)
        )
    yield Axis(tuple(columns), tuple(zip(*columns.values(), strict=True)), at)


def _number(given: object, key: str, least: int) -> int:
    what = {"samples": "number of values to draw", "seed": "seed of the draw"}[key]
    if given is None:
        raise InputError(f"[random] has no `{key}`: {what}", hint=f"{key} = 20", path=("random",))
    if isinstance(given, bool) or not isinstance(given, int) or not least <= given <= LARGEST:
        message = f"`{key}`: expected a whole number from {least} to {LARGEST:,} ({what}), found `{given!r}`"
        raise InputError(message, path=("random", key))
    return given


def _values(given: object, where: Where) -> tuple[Any, ...]:
    try:
        return values(given)
    except InputError as e:
        raise _about(e, ".".join(map(str, where[1:]))).under(*where) from None


def _about(error: InputError, key: str) -> InputError:
    return InputError(f"`{key}`: {error.message}", hint=error.hint, path=error.path)


def _leaves(table: Mapping[str, Any], at: Where, is_leaf: Any) -> Iterator[tuple[str, Any, Where]]:
    """Keys and their values; `run.seed = ...` means the same as `"run.seed" = ...`."""
    for key, given in table.items():
        here = (*at, key)
        if isinstance(given, dict) and given and not is_leaf(given):
            for deeper, value, where in _leaves(given, here, is_leaf):
                yield f"{key}.{deeper}", value, where
        else:
            yield key, given, here


KEYS = ("columns", "by", "job")


def read_show(given: Mapping[str, Any], axes: Sequence[str]) -> Show:
    """Reads the table. Raises InputError, its path beginning with `show`."""
    for key in given:
        if key not in KEYS:
            raise unknown("key", key, KEYS).under("show", key)
    columns = _texts(given, "columns")
    for index, name in enumerate(columns or ()):
        if name not in numeric_columns():
            raise unknown("column", name, numeric_columns()).under("show", "columns", index)
    by = _texts(given, "by")
    for index, key in enumerate(by or ()):
        if key not in axes:
            raise unknown("axis", key, axes).under("show", "by", index)
    job = given.get("job")
    if job is not None and not isinstance(job, str):
        raise InputError(f"`job`: expected the name of a job, found `{job!r}`", path=("show", "job"))
    return Show(columns, by, job)


def numeric_columns() -> list[str]:
    """Columns of `jobs` that can be compared: all numbers except ids, and what studies derive."""
    from odonata.analysis.derived import DERIVED

    return [
        column.name
        for column in (*columns_of("jobs", collective=True, reordering=True), *DERIVED)
        if column.dtype.startswith(("UInt", "Int", "Float")) and column.name != "job"
    ]


def _texts(given: Mapping[str, Any], key: str) -> tuple[str, ...] | None:
    texts = given.get(key)
    if texts is None:
        return None
    if isinstance(texts, str):
        return (texts,)
    if not isinstance(texts, list) or not texts or not all(isinstance(text, str) for text in texts):
        raise InputError(f"`{key}`: expected a list of texts, found `{texts!r}`", path=("show", key))
    return tuple(texts)


TABLE = "base"


@dataclass(frozen=True)
class Inline(Document):
    """The table `base` of a study as a document of its own: errors name lines of the study file."""

    @cached_property
    def text(self) -> str:
        """The scenario as TOML, without the comments of the study."""
        return writing.text(self.data)

    @cached_property
    def _lines(self) -> dict[positions.Path, int]:
        lines = positions.lines(self.original)
        return {path[1:]: line for path, line in lines.items() if path[:1] == (TABLE,)}

    def _given(self) -> dict[str, Any]:
        table: dict[str, Any] = reading.parse_toml(self.original)[TABLE]
        return table


def inline(study: str, file: str | Path) -> Inline:
    """The table `base` of the text of a study that has one."""
    return Inline(str(file), study, reading.parse_toml(study)[TABLE])
