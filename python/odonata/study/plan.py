"""The plan of a study: a scenario, axes, and the points of their product."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from importlib.machinery import PathFinder
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

from odonata.document import writing
from odonata.errors import InputError
from odonata.scenario import Scenario
from odonata.study.keep import mark

if TYPE_CHECKING:
    from collections.abc import Iterator

    from odonata.study.axis import Axis
    from odonata.study.keep import Keep

Make = Callable[[dict[str, Any]], Scenario]
"""A function from the keys and values of a point to its scenario."""

MOST_POINTS = 10_000_000
"""Most points of a study. More could not be simulated in a lifetime, so a larger number is a mistake."""

SEED = "run.seed"
"""The key of the axis whose runs are repetitions of each other."""

OF_MESSAGES = ("latency_mean_ps", "latency_p50_ps", "latency_p99_ps")
"""Default columns of jobs with a pattern."""
OF_PROGRAMS = ("time_ps", "iteration_p50_ps", "iteration_variation", "latency_mean_ps")
"""Default columns of jobs with a program, whose result is their time."""


@dataclass(frozen=True)
class Show:
    """`[show]`: the contents of the summary of a study, and the defaults of `compare` and `plot`."""

    columns: tuple[str, ...] | None = None
    """Columns of `jobs`; the first one is compared and drawn. `None`: chosen by the kind of the jobs."""
    by: tuple[str, ...] | None = None
    """Axes to group by; `None`: all but `run.seed`."""
    job: str | None = None
    """The job; `None`: all that are not background."""


@dataclass(frozen=True)
class Plan:
    """A study that can be run. Immutable, and small enough to be sent to every worker."""

    name: str
    base: Scenario | Make
    """The scenario that the axes change, or a function that makes one of a point's keys and values."""
    axes: tuple[Axis, ...]
    show: Show = field(default_factory=Show)
    cluster: Mapping[str, Any] = field(default_factory=dict)
    """`[cluster]`: options of the queue, for `--on slurm`."""
    text: str = ""
    """The study as given; empty if it was made in Python (`as_text`)."""
    file: str | None = None
    """Its name in errors; `None` if it was not read from a file."""
    keep: Keep | None = None
    """Further values that are kept of each run."""
    mark: str | None = None
    """Hash of what is kept, made from `keep`."""
    alone: bool = False
    """Whether each job that is not background is also run alone, for slowdowns."""

    def __post_init__(self) -> None:
        if self.mark is None:  # where the plan has been sent, the function's source may be missing
            object.__setattr__(self, "mark", mark(self.keep))

    @property
    def keys(self) -> tuple[str, ...]:
        """Keys of all axes, in order."""
        return tuple(key for axis in self.axes for key in axis.keys)

    def __len__(self) -> int:
        """Number of points: the product of the lengths of the axes."""
        return prod(len(axis) for axis in self.axes)

    def point(self, number: int) -> tuple[tuple[str, Any], ...]:
        """Keys and values of a point; the last axis changes fastest."""
        steps: list[tuple[tuple[str, Any], ...]] = []
        for axis in reversed(self.axes):
            number, step = divmod(number, len(axis))
            steps.append(tuple(zip(axis.keys, axis.rows[step], strict=True)))
        return tuple(pair for step in reversed(steps) for pair in step)

    def points(self) -> Iterator[tuple[tuple[str, Any], ...]]:
        """All points in order."""
        return map(self.point, range(len(self)))

    def scenario(self, number: int) -> Scenario:
        """The scenario of a point. Raises InputError for an unknown key, and the errors of the function."""
        if not isinstance(self.base, Scenario):
            return self.base(dict(self.point(number)))
        changed = self.base
        for key, value in self.point(number):
            changed = changed.set(key, value)
        return changed

    def with_alone(self) -> Plan:
        """The same plan with each job that is not background also alone."""
        return replace(self, alone=True, text=self.text and "alone = true\n" + self.text)

    def as_text(self) -> str:
        """The study as the text of a file.

        If a function makes its scenarios, the text has only the rest of the study.
        """
        if self.text:
            return self.text
        study: dict[str, Any] = {"alone": True} if self.alone else {}
        head = ""
        if isinstance(self.base, Scenario):
            study["base"] = "scenario.toml"
        else:
            head = f"# Scenarios are made by the function {named(self.base)}.\n"
        single = {axis.keys[0]: [row[0] for row in axis.rows] for axis in self.axes if len(axis.keys) == 1}
        zipped = [axis for axis in self.axes if len(axis.keys) > 1]
        study |= {"sweep": single} if single else {}
        columns = [dict(zip(axis.keys, map(list, zip(*axis.rows, strict=True)), strict=True)) for axis in zipped]
        return head + writing.text(study | ({"zip": columns} if columns else {}))

    def sendable(self) -> Plan:
        """The same plan with the absolute path of its scenario, for workers with another current directory."""
        if not isinstance(self.base, Scenario):
            return replace(self, text="")
        # A new scenario has no cached results of the old one, so they are not sent.
        return replace(self, base=Scenario(self.base.document, Path(self.base.path).absolute()), text="")

    def packed(self) -> bytes:
        """That as bytes for `pickle`, with the code of functions that other processes cannot import."""
        import cloudpickle

        functions = [function for function in (self.base, self.keep) if inspect.isfunction(function)]
        apart = {sys.modules[function.__module__] for function in functions if not _importable(function.__module__)}
        for module in apart:
            cloudpickle.register_pickle_by_value(module)
        try:
            packed: bytes = cloudpickle.dumps(self.sendable())
            return packed
        finally:
            for module in apart:
                cloudpickle.unregister_pickle_by_value(module)

    def described(self, number: int) -> str:
        """A point in one line."""
        from odonata.study.axis import text

        return ", ".join(f"{key} = {text(value)}" for key, value in self.point(number)) or "the scenario as it is"


def named(make: Make) -> str:
    """The name of a function that makes scenarios."""
    return str(getattr(make, "__qualname__", type(make).__name__))


def _importable(module: str) -> bool:
    """Whether another process with the same module path can import it."""
    return module != "__main__" and PathFinder.find_spec(module.partition(".")[0]) is not None


def check_axes(axes: tuple[Axis, ...]) -> None:
    """Raises InputError if two axes set the same thing, or there are too many points; its path leads to the key."""
    seen: list[str] = []
    for axis in axes:
        for key in axis.keys:
            parts = tuple(key.replace('"', "").split("."))
            for other in seen:
                before = tuple(other.replace('"', "").split("."))
                if parts == before:
                    raise InputError(f"`{key}` has two axes", path=axis.where.get(key, ()))
                if before[: len(parts)] == parts:
                    hint = f"put the axis `{key}` first"
                    message = f"the axis `{key}` would overwrite what the axis `{other}` has set"
                    raise InputError(message, hint=hint, path=axis.where.get(key, ()))
            seen.append(key)
    many = prod(len(axis) for axis in axes)
    if many > MOST_POINTS:
        lengths = " x ".join(f"{len(axis):,}" for axis in axes)
        raise InputError(f"the study has {lengths} = {many:,} points, at most {MOST_POINTS:,} are possible")
