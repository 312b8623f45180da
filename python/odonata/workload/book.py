"""Traffic books: rules that assign traffic to the jobs of a queue.

A book is a TOML file. The first rule that matches a job applies. A rule has criteria (`partition`, `account`, `user`,
`job_name`, `comment`, each with patterns such as `*fft*` separated by commas, and `nodes`, a range), an application as
in a scenario, and its intensity: the `load` of a pattern as a share of the bandwidth of a node's NICs, or the `gap` of
a program. `alternatives` names other assumptions, for which rules have other values.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fnmatch import fnmatchcase
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BeforeValidator, Field

from odonata.document import Count, Document, Ratio, Table, input_error_as_problem, parse, read, validate
from odonata.errors import InputError, shortened, unknown
from odonata.scenario.apps.listed import FILES, KINDS, TABLES

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction

    from odonata.queue.records import Job

USUAL = "usual"
"""Name of the assumptions that stand in the rules themselves."""
CRITERIA = ("partition", "account", "user", "job_name", "comment")
_RANGE = re.compile(r"([0-9]{1,9})?\s*-\s*([0-9]{1,9})?|([0-9]{1,9})")


def _patterns(value: Any) -> tuple[str, ...]:
    patterns = tuple(part.strip() for part in value.split(",")) if isinstance(value, str) else ()
    if not patterns or not all(patterns):
        raise InputError(f'expected patterns such as "gpu*, debug", found `{value!r}`')
    return patterns


def _range(value: Any) -> tuple[int, int]:
    match = _RANGE.fullmatch(str(value).strip()) if isinstance(value, int | str) else None
    if match is None or isinstance(value, bool) or value == "-":
        raise InputError(f'expected numbers of nodes such as "2-16", "64-" or 8, found `{value!r}`')
    if match[3]:
        return int(match[3]), int(match[3])
    low, high = int(match[1] or 1), int(match[2] or 2**32)
    if low > high:
        raise InputError(f"the range `{value}` ends before it begins")
    return low, high


def _app(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict) or not {*KINDS, *FILES, *TABLES} & value.keys():
        hint = 'such as app = { pattern = "uniform-random", message = "16 KiB" }'
        raise InputError(f"expected an application as in a scenario, found `{shortened(repr(value), 60)}`", hint=hint)
    return dict(value)


_Patterns = Annotated[tuple[str, ...], BeforeValidator(input_error_as_problem(_patterns))]
_App = Annotated[dict[str, Any], BeforeValidator(input_error_as_problem(_app))]


def _from(folder: Path, app: dict[str, Any]) -> dict[str, Any]:
    """The application, whose file names are relative to the folder of the book."""
    files_of = {key: app[key] for key in FILES if isinstance(app.get(key), str)}
    return app | {key: str((folder / file).resolve()) for key, file in files_of.items()}


class AlternativeTable(Table):
    """The values of a rule in an alternative."""

    app: _App | None = Field(None, description="the application (default: that of the rule)")
    load: Ratio | None = Field(None, description="its load (default: that of the rule)")
    gap: str | None = Field(None, description="the gap between iterations of a program (default: that of the rule)")


class RuleTable(Table):
    """`[[rule]]`: criteria for jobs, and their traffic."""

    name: str = Field(description="its name, for the list of assumptions")
    partition: _Patterns | None = Field(None, description="partitions of the jobs")
    account: _Patterns | None = Field(None, description="accounts of the jobs")
    user: _Patterns | None = Field(None, description="users of the jobs")
    job_name: _Patterns | None = Field(None, description="names of the jobs; capital letters do not matter")
    comment: _Patterns | None = Field(None, description="comments of the jobs")
    nodes: Annotated[tuple[int, int], BeforeValidator(input_error_as_problem(_range))] | None = Field(
        None, description='numbers of nodes, such as "2-16"'
    )
    app: _App = Field(description="the application, as in a scenario")
    load: Ratio | None = Field(
        None, description="load of a pattern, as a share of the bandwidth of a node's NICs; it gives the interval"
    )
    gap: str | None = Field(None, description="computing between iterations of a program")
    ranks_per_node: Count | None = Field(None, description="ranks on each node of a program")
    overhead: dict[str, Any] | None = Field(
        None, description="costs of messages of a program, as in a `[[job]]` (default: those of the system)"
    )
    source: str = Field("assumed", description="where this comes from; `assumed` if it is not known")
    optional: bool = Field(False, description="whether it is fine if no job fits")
    alternatives: dict[str, AlternativeTable] = Field({}, description="other values, by the name of the alternative")

    def fits(self, job: Job) -> bool:
        """Whether the rule matches a job."""
        told = {"partition": job.partition, "account": job.account, "user": job.user}
        told |= {"job_name": job.name, "comment": job.comment}
        for criterion in CRITERIA:
            patterns = getattr(self, criterion)
            text = told[criterion].lower()
            if patterns is not None and not any(fnmatchcase(text, pattern.lower()) for pattern in patterns):
                return False
        return self.nodes is None or self.nodes[0] <= len(job.nodes) <= self.nodes[1]


class BookTable(Table):
    """A traffic book."""

    title: str = Field("", description="what it is called in the list of assumptions (default: its file)")
    alternatives: tuple[str, ...] = Field((), strict=False, description="names of other assumptions")
    messages: Count = Field(50, description="intervals of the victim, if it sends a pattern (assumed)")
    iterations: Count = Field(5, description="iterations of the victim, if it runs a program (assumed)")
    rule: tuple[RuleTable, ...] = Field(strict=False, description="the rules; the first that fits decides")


@dataclass(frozen=True)
class Traffic:
    """The traffic of a job: keys of its `[[job]]`, and the load that determines the interval."""

    keys: dict[str, Any]
    load: Fraction | None

    @property
    def is_program(self) -> bool:
        """Whether it is a program and not a pattern."""
        return "pattern" not in self.keys["app"]


@dataclass(frozen=True)
class Book:
    """A traffic book."""

    document: Document
    table: BookTable

    @property
    def title(self) -> str:
        """Its name in the list of assumptions."""
        return self.table.title or self.document.file

    def rule_of(self, job: Job) -> int:
        """Find the rule for a job.

        Parameters
        ----------
        job
            A job of the queue.

        Returns
        -------
        int
            The number of the rule, from 0.

        Raises
        ------
        InputError
            If no rule matches.
        """
        for number, rule in enumerate(self.table.rule):
            if rule.fits(job):
                return number
        told = f"partition `{job.partition}`, account `{job.account}`, name `{job.name}`, {len(job.nodes)} nodes"
        hint = "add a rule without criteria at the end"
        raise InputError(f"no rule fits the job {job.id} ({shortened(told, 160)})", file=self.document.file, hint=hint)

    def traffic(self, number: int, alternative: str = USUAL) -> Traffic:
        """Return the traffic of a rule in an alternative.

        Parameters
        ----------
        number
            The number of the rule.
        alternative
            A name of traffic in the book.

        Returns
        -------
        Traffic
            The traffic of the job.
        """
        rule = self.table.rule[number]
        other = rule.alternatives.get(alternative, AlternativeTable())
        app = rule.app if other.app is None else other.app
        keys: dict[str, Any] = {"app": _from(Path(self.document.file).parent, app)}
        if "pattern" not in app:
            gap = other.gap or rule.gap
            keys |= {} if gap is None else {"gap": gap}
            keys |= {} if rule.ranks_per_node is None else {"ranks_per_node": rule.ranks_per_node}
            keys |= {} if rule.overhead is None else {"overhead": rule.overhead}
            return Traffic(keys, None)
        load = rule.load if other.load is None else other.load
        if ("interval" in app or "tgll" in app) == (load is not None):
            what = "has an interval and a load" if load is not None else "has neither a load nor an interval"
            error = InputError(f"the rule `{rule.name}` {what}", hint='load = "5 %"', path=("rule", number))
            raise self.document.locate(error)
        if load == 0:
            path: tuple[str | int, ...] = ("rule", number)
            path += ("load",) if other.load is None else ("alternatives", alternative, "load")
            message = f"the rule `{rule.name}`: expected a load above 0 %, found 0 %"
            raise self.document.locate(InputError(message, path=path))
        return Traffic(keys, load)

    def check_used(self, jobs: Sequence[Job]) -> None:
        """Check that each rule that is not optional matches some job.

        Parameters
        ----------
        jobs
            All jobs of the queue.

        Raises
        ------
        InputError
            If a rule matches no job; with the line of the rule.
        """
        used = {self.rule_of(job) for job in jobs}
        for number, rule in enumerate(self.table.rule):
            if number in used or rule.optional:
                continue
            first = next((self.rule_of(job) for job in jobs if rule.fits(job)), None)
            hint = "mark it `optional = true` if that is fine"
            if first is not None:
                hint = (
                    f"the jobs that fit it are those of the rule `{self.table.rule[first].name}`, which stands before"
                )
            else:
                hint = f"{self._nearest(rule, jobs)}{hint}"
            message = f"the rule `{rule.name}` fits no job of the queue"
            raise self.document.locate(InputError(message, hint=hint, path=("rule", number)))

    def _nearest(self, rule: RuleTable, jobs: Sequence[Job]) -> str:
        """The existing values, for the first partition, account or user in a rule that no job has."""
        for criterion in ("partition", "account", "user"):
            for pattern in getattr(rule, criterion) or ():
                there = {getattr(job, criterion) for job in jobs} - {""}
                if there and not any(fnmatchcase(text.lower(), pattern.lower()) for text in there):
                    error = unknown(criterion, pattern, there)
                    return f"no job has the {criterion} `{pattern}` ({error.hint}); "
        return ""


def read_book(file: str | Path | None = None) -> Book:
    """Read a traffic book.

    Parameters
    ----------
    file
        The book (TOML). Default: the book of Odonata, in which every value is assumed.

    Returns
    -------
    Book

    Raises
    ------
    InputError
        With file and line.
    """
    return book_of(parse(default_text(), "the default book") if file is None else read(file))


def book_of(document: Document) -> Book:
    """The traffic book in a document. Raises InputError with file and line."""
    try:
        table = validate(BookTable, document.data)
        for number, rule in enumerate(table.rule):
            for name in rule.alternatives:
                if name not in table.alternatives:
                    raise unknown("alternative", name, table.alternatives).under("rule", number, "alternatives", name)
        if not table.rule:
            raise InputError("the book has no rule", path=("rule",))
        if USUAL in table.alternatives:
            raise InputError(f"`{USUAL}` is what the rules state themselves", path=("alternatives",))
    except InputError as problem:
        raise document.locate(problem) from None
    book = Book(document, table)
    for number in range(len(table.rule)):
        for alternative in (USUAL, *table.alternatives):
            book.traffic(number, alternative)
    return book


def default_text() -> str:
    """The text of Odonata's own book."""
    return (files("odonata.workload") / "books" / "default.toml").read_text(encoding="utf-8")
