"""The conclusions of the papers, each with the rows that decide whether it holds: `conclusions.toml` as a table.

| rows of the evidence | verdict |
|---|---|
| all hold (or as many as `holds` asks for) | `confirmed` |
| one fails for the whole of its interval | `contradicted` |
| else: an interval on both sides of a bound, no effect, or a value that cannot be compared | `cannot tell` |

A row without an interval holds as its number does, and fails if its number is outside of a two-sided tolerance; an
ordering that fails once cannot be told. The page marks a conclusion that has only such rows. `open` says why rows
cannot settle a conclusion whatever they give.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Literal, get_args

from odonata.errors import InputError
from odonata.reproduce.markdown import number
from odonata.reproduce.provenance import SHIPPED, abouts
from odonata.reproduce.rows import is_relation, no_effect, within

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from odonata.reproduce.rows import Row

Settled = Literal["confirmed", "contradicted", "cannot tell"]
SETTLED: tuple[Settled, ...] = get_args(Settled)

_FIELD = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True)
class Evidence:
    """The rows of a page that a conclusion rests on."""

    page: str
    model: str
    what: str
    """Of the rows; `*` stands for any text."""
    reads: str = ""
    """The bound that the conclusion asks for, where it asks for less than the value of the row, such as `> 1`."""
    holds: float = 100.0
    """Share of the rows (%) that must hold."""

    def of(self, rows: Sequence[Row]) -> list[Row]:
        """Its rows of the page. Raises InputError if there are none."""
        mine = [row for row in rows if row.model == self.model and fnmatchcase(row.what, _literal(self.what))]
        if not mine:
            raise InputError(
                f"conclusions.toml: `{self.page}` has no row `{self.what}` of `{self.model}`",
                hint=f"`odonata reproduce --rows {self.page}` lists its rows",
            )
        return mine

    def settled(self, rows: Sequence[Row]) -> Settled:
        """What these rows say."""
        said = [_settled(row, self.reads) for row in self.of(rows)]
        if 100 * said.count("confirmed") >= self.holds * len(said):
            return "confirmed"
        possible = len(said) - said.count("contradicted")
        return "cannot tell" if 100 * possible >= self.holds * len(said) else "contradicted"

    def words(self, rows: Sequence[Row]) -> str:
        """The number, with its interval unless that is rounded away; of several rows their range, and how many hold."""
        mine = self.of(rows)
        unit = mine[0].unit
        if len(mine) == 1:
            value, *ends = (number(end, unit) for end in (mine[0].ours, *(mine[0].interval or ())))
            wide = f" ({ends[0]} to {ends[1]})" if {*ends} - {value} else ""
            return f"{value}{_unit(unit)}{wide}"
        held = sum(_settled(row, self.reads) == "confirmed" for row in mine)
        ours = sorted(row.ours for row in mine)
        return f"{number(ours[0], unit)} to {number(ours[-1], unit)}{_unit(unit)} ({held} of {len(mine)} hold)"


@dataclass(frozen=True)
class Conclusion:
    """What a paper concludes, and what this simulator says of it."""

    paper: str
    where: str
    says: str
    ours: str
    """Text with `{name}` for the words of the evidence and of `other`."""
    evidence: Mapping[str, Evidence]
    other: Mapping[str, Evidence] = field(default_factory=dict)
    """Rows that only its text names."""
    cause: str = ""
    """Why it is contradicted, in half a sentence; "" if that is not explained."""
    experiment: str = ""
    """The page whose runs support the cause."""
    open: str = ""
    """Why its rows cannot settle it; "" if they can."""
    assumes: str = ""
    """What the papers leave open, and the rows depend on."""
    turns: str = ""
    """The assumption that turns the verdict, with numbers."""

    def __post_init__(self) -> None:
        known = {**self.evidence, **self.other}
        if missing := [name for name in _FIELD.findall(self.ours + self.turns) if name not in known]:
            raise InputError(f"conclusions.toml: `{self.says}` names no evidence `{missing[0]}`")
        if bool(self.cause) != bool(self.experiment):
            raise InputError(f"conclusions.toml: `{self.says}` has a cause without an experiment, or the reverse")

    def settled(self, rows: Mapping[str, Sequence[Row]]) -> Settled:
        """The verdict from the rows of the pages."""
        if self.open:
            return "cannot tell"
        said = [of.settled(rows[of.page]) for of in self.evidence.values()]
        return next((verdict for verdict in ("contradicted", "cannot tell") if verdict in said), "confirmed")

    def text(self, template: str, rows: Mapping[str, Sequence[Row]]) -> str:
        """The template with the numbers of the rows; those that decide are bold."""
        known = {**self.evidence, **self.other}

        def filled(match: re.Match[str]) -> str:
            words = known[match[1]].words(rows[known[match[1]].page])
            return f"**{words}**" if match[1] in self.evidence else words

        return _FIELD.sub(filled, " ".join(template.split()))

    def pages(self) -> list[str]:
        """The pages that its rows stand on."""
        return list(dict.fromkeys(of.page for of in self.evidence.values()))

    def deviates(self) -> list[str]:
        """In words, the settings of its evidence that are not those that a user gets."""
        said = [abouts()[of.page].of(of.model) for of in self.evidence.values()]
        return list(dict.fromkeys(words for words in said if words != SHIPPED))

    def fitted(self, rows: Mapping[str, Sequence[Row]]) -> bool:
        """Whether a parameter was chosen by one of its values (kind F)."""
        return any(row.kind == "F" for of in self.evidence.values() for row in of.of(rows[of.page]))

    def once(self, rows: Mapping[str, Sequence[Row]]) -> bool:
        """Whether no row of its evidence has an interval."""
        return all(row.interval is None for of in self.evidence.values() for row in of.of(rows[of.page]))


def _literal(what: str) -> str:
    """A pattern in which only `*` is special."""
    return re.sub(r"([\[?])", r"[\1]", what)


def _unit(unit: str) -> str:
    return {"x": " x", "rho": "", "area": "", "p": "", "peaks": "", "packets": "", "families": ""}.get(unit, f" {unit}")


def _settled(row: Row, reads: str) -> Settled:
    """What one row says: its own tolerance, or the bound that the conclusion reads."""
    if not reads if row.kind == "F" else row.verdict == "not comparable":
        return "cannot tell"
    tolerance = reads or row.tolerance
    if no_effect(row.ours, row.unit, tolerance):
        return "cannot tell"
    if row.interval is None and is_relation(tolerance):
        return "confirmed" if within(row.ours, row.theirs, tolerance) else "cannot tell"
    ends = row.interval or (row.ours, row.ours)
    agree = [within(end, row.theirs, tolerance) for end in (row.ours, *ends)]
    if all(agree):
        return "confirmed"
    # A two-sided tolerance may lie between the ends.
    nearest = min(max(row.theirs, ends[0]), ends[1])
    some = any(agree) or (not is_relation(tolerance) and within(nearest, row.theirs, tolerance))
    return "cannot tell" if some else "contradicted"


@dataclass(frozen=True)
class Measured:
    """A machine on which slowdowns were measured: our error beside that of predictions without a simulator."""

    name: str
    what: str
    ours: Evidence
    nothing: Evidence | None = None
    """Our error over that of no interference."""
    mean: Evidence | None = None
    """Our error over that of the mean of the class."""
    theirs: bool = False
    """The published value of our row is the error of no interference."""
    none: bool = False
    """The machine shows no slowdown."""

    @property
    def evidence(self) -> Mapping[str, Evidence]:
        """All rows that it rests on."""
        named = {"ours": self.ours, "nothing": self.nothing, "mean": self.mean}
        return {name: of for name, of in named.items() if of is not None}

    def words(self, name: str, rows: Mapping[str, Sequence[Row]]) -> str:
        """The error (`ours`), or what it is over that of `nothing` or `mean`; "" if no row has it."""
        if name == "nothing" and self.theirs:
            row = self.ours.of(rows[self.ours.page])[0]
            return f"{number(row.ours / row.theirs, row.unit)}{_unit(row.unit)}"
        of = self.evidence.get(name)
        return "" if of is None else of.words(rows[of.page])

    def beats(self, rows: Mapping[str, Sequence[Row]]) -> str:
        """Which of the two predictions it beats, by the whole interval; "" if no row compares.

        Where the machine shows no slowdown, whether the simulation shows none either.
        """
        if self.none:
            return "correctly none" if self.ours.settled(rows[self.ours.page]) == "confirmed" else "wrongly some"
        said = {"no interference": self.nothing, "the mean": self.mean}
        compared = {name: of.settled(rows[of.page]) for name, of in said.items() if of is not None}
        beaten = [name for name, settled in compared.items() if settled == "confirmed"]
        return "" if not compared else " and ".join(beaten) or "neither"


def _read() -> Mapping[str, Any]:
    return tomllib.loads((files("odonata.reproduce") / "conclusions.toml").read_text(encoding="utf-8"))


@lru_cache
def machines() -> tuple[Measured, ...]:
    """The measured machines, in the order of the file."""
    return tuple(_measured(entry) for entry in _read()["machine"])


def _measured(entry: Mapping[str, Any]) -> Measured:
    parts: dict[str, Any] = {key: Evidence(**of) if isinstance(of, dict) else of for key, of in entry.items()}
    return Measured(**parts)


@lru_cache
def conclusions() -> tuple[Conclusion, ...]:
    """All conclusions, in the order of the file."""
    return tuple(_conclusion(entry) for entry in _read()["conclusion"])


def _conclusion(entry: Mapping[str, Any]) -> Conclusion:
    entry = dict(entry)
    shared = {name: entry.pop(name) for name in ("reads", "holds") if name in entry}
    parts: dict[str, Any] = {
        name: {key: Evidence(**{**(shared if name == "evidence" else {}), **of}) for key, of in entry.pop(name).items()}
        for name in ("evidence", "other")
        if name in entry
    }
    return Conclusion(**entry, **parts)
