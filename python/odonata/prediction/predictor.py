"""A trained predictor: what it holds, its file, and what it answers.

The file is JSON that a person can read: the weights of every term, the histories of the jobs, and how well the
predictor did on held-out runs. A probability is `sigmoid(a + c (intercept + sum of weight x term))`. A quantile of the
time is the median of the job's history, times `exp(intercept + sum of weight x term + shift)`. A term is a product of
variables. Each variable is standardised: `(x - mean) / sd`, after a logarithm to base 2 for all but b; a pattern is 1
or 0, minus its share of the runs.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from odonata import files, reading
from odonata.errors import InputError, nearest, shortened
from odonata.prediction.runs import LEAST, as_word

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    Vector = NDArray[np.float64]

FORMAT = "odonata tail predictor"
VERSION = 1
PATTERN = "pattern="
_HOW = "`odonata cluster train RECORDS -o MODEL.json` writes a predictor"


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)


class Variable(_Part):
    """A number that is known at submission, and how it is standardised."""

    log2: bool
    """Whether the logarithm is taken first; of bytes and neighbours that of one more."""
    mean: float
    sd: float
    least: float
    """Least and greatest value of the runs that were learnt from, before the logarithm."""
    greatest: float


class Term(_Part):
    """A product of variables, and its weight."""

    of: list[str]
    """Names of variables; `pattern=NAME` is a pattern."""
    weight: float


class Linear(_Part):
    """An intercept and terms."""

    intercept: float
    terms: list[Term]


class Chance(Linear):
    """The probability of the tail."""

    recalibration_intercept: float
    recalibration_slope: float
    penalty: float
    """The ridge penalty, chosen among a few by the log loss on held-out blocks of time."""


class Quantile(Linear):
    """A quantile of the logarithm of time over the median of the history."""

    q: float
    shift: float
    """What makes it right on held-out blocks of time."""


class History(_Part):
    """What a job did before."""

    key: list[str]
    """Values of `history_of`."""
    runs: int
    median_ps: float
    threshold_ps: float
    """Where its tail begins."""


class Predictor(_Part):
    """A trained predictor; `odonata.cluster.train` makes it, `odonata.cluster.read_predictor` reads its file."""

    format: str
    version: int
    odonata: str
    """The version that trained it."""
    source: str
    runs: int
    tail: float
    """The quantile of the history of a job above which its runs are in the tail."""
    flag_from: float
    """Probability from which a run is flagged."""
    history_of: list[str]
    variables: dict[str, Variable]
    patterns: dict[str, float]
    """Pattern -> its share of the runs; empty if patterns are not known or of one kind."""
    chance: Chance
    quantiles: list[Quantile]
    histories: list[History]
    left_out: list[str]
    """Terms for which there were too few runs."""
    report: dict[str, Any]
    """How well it did on held-out runs (`train.py`)."""

    @model_validator(mode="after")
    def _fits(self) -> Predictor:
        """Raises ValueError if its parts do not fit together."""
        terms = set(self.variables) | {PATTERN + name for name in self.patterns}
        for part in (self.chance, *self.quantiles):
            if not all(term.of for term in part.terms):
                raise ValueError("a term of no variable")
            if others := [name for term in part.terms for name in term.of if name not in terms]:
                raise ValueError(f"a term of `{shortened(others[0], 60)}`, which is no variable and no pattern")
        if not self.quantiles or not self.histories:
            raise ValueError("it has no quantiles or no histories")
        for history in self.histories:
            if len(history.key) != len(self.history_of):
                raise ValueError(f"a history with {len(history.key)} parts of its key, expected {len(self.history_of)}")
        if any(of.sd <= 0 for of in self.variables.values()):
            raise ValueError("the standard deviation of a variable must be above 0")
        levels = [of.q for of in self.quantiles]
        if sorted(set(levels)) != levels or not 0 < levels[0] <= levels[-1] < 1:
            raise ValueError("its quantiles must ascend between 0 and 1")
        if any(history.runs < 1 or not history.median_ps > 0 for history in self.histories):
            raise ValueError("a history needs runs and a median above 0")
        against = self.report.get("against", {})
        rows = list(against.values()) if isinstance(against, dict) else [None]
        if not all(isinstance(row, dict) and _is_interval(row.get("interval")) for row in rows):
            raise ValueError("`report.against` needs an interval of two numbers for each comparison")
        return self

    def write(self, path: str | Path, *, force: bool = True) -> None:
        """Write the predictor to a file.

        Parameters
        ----------
        path
            The file; `.json`.
        force
            Whether to overwrite a file that says something else.

        Raises
        ------
        RunError
            If the file cannot be written.
        """
        files.write_new(Path(path), (self.model_dump_json(indent=1) + "\n").encode(), force=force)

    def predict(self, known: Mapping[str, float | str]) -> Prediction:
        """Predict a run.

        Parameters
        ----------
        known
            What is known of the run: `b`, and as far as the predictor uses them `nodes`, `groups`, `leaves`, `bytes`,
            `neighbours`, `pattern` and `job`.

        Returns
        -------
        Prediction

        Raises
        ------
        InputError
            If something is missing or out of range, and "not enough data" for a job or a pattern without history.
        """
        history = self._history(known)
        values = self._values(known)
        with np.errstate(all="ignore"):
            chance = float(self._probabilities(values)[0])
            factors = self._factors(values)
        if not np.isfinite([chance, *(history.median_ps * factor[0] for factor in factors.values())]).all():
            raise InputError("the numbers of the predictor are too large for a prediction", hint=_HOW)
        return Prediction(
            probability=chance,
            flagged=chance >= self.flag_from,
            usual=1 - self.tail,
            threshold_ps=history.threshold_ps,
            median_ps=history.median_ps,
            history_runs=history.runs,
            quantiles_ps={q: history.median_ps * float(factor[0]) for q, factor in factors.items()},
            warnings=[
                f"{name} {float(known[name]):.3g} is outside what was learnt from, {of.least:.3g} to {of.greatest:.3g}"
                for name, of in self.variables.items()
                if name in self.used and not of.least <= float(known[name]) <= of.greatest
            ],
        )

    def missing(self, known: Mapping[str, float | str]) -> list[str]:
        """Say what a prediction needs besides `known` and b.

        Parameters
        ----------
        known
            As for `predict`.

        Returns
        -------
        list of str
            Some of `groups`, `leaves`, `neighbours`, `nodes`, `pattern`, `bytes` and `job`.
        """
        needed = self.used | (set(self.history_of) if len(self.histories) > 1 else set())
        names = ("groups", "leaves", "neighbours", "nodes", "pattern", "bytes", "job")
        return [name for name in names if name in needed and name not in known]

    @property
    def used(self) -> set[str]:
        """Names of what a prediction needs beside the history: variables, and `pattern`."""
        linear: list[Linear] = [self.chance, *self.quantiles]
        factors = {factor for line in linear for term in line.terms for factor in term.of}
        return {"pattern" if factor.startswith(PATTERN) else factor for factor in factors}

    def _probabilities(self, values: Mapping[str, Vector]) -> Vector:
        """Probability of the tail for standardised values (`standardised`)."""
        from odonata.analysis.regression import sigmoid

        of = self.chance
        return sigmoid(of.recalibration_intercept + of.recalibration_slope * linear(of, values))

    def _factors(self, values: Mapping[str, Vector]) -> dict[float, Vector]:
        """Quantile -> time over the median of the history; ascending for each run (Chernozhukov 2010)."""
        factors = np.array([linear(of, values) + of.shift for of in self.quantiles])
        return {of.q: row for of, row in zip(self.quantiles, np.exp(np.sort(factors, axis=0)), strict=True)}

    def _history(self, known: Mapping[str, float | str]) -> History:
        missing = [name for name in self.history_of if name not in known]
        if missing:
            if len(self.histories) == 1:
                return self.histories[0]
            named = ", ".join(f"`{name}`" for name in missing)
            raise InputError(f"the history of a job is that of its {_listed(self.history_of)}; not given: {named}")
        given = [known[name] for name in self.history_of]
        wanted = [history if isinstance(history, str) else as_word(history) for history in given]
        for history in self.histories:
            if history.key == wanted:
                return history
        told = [", ".join(history.key) for history in self.histories]
        near = nearest(", ".join(wanted), told)
        raise InputError(
            f"not enough data: no history of `{', '.join(wanted)}` ({_listed(self.history_of)})",
            hint=f"did you mean `{near}`?" if near else "known: " + "; ".join(told[:20]),
        )

    def _values(self, known: Mapping[str, float | str]) -> dict[str, Vector]:
        numbers = {}
        for name in self.variables:
            if name not in self.used:
                continue
            if name not in known:
                raise InputError(f"the predictor needs `{name}` of the run", path=(name,))
            value = float(known[name])
            if not np.isfinite(value) or value < LEAST[name] or (name == "b" and value > 1):
                between = "from 0 to 1" if name == "b" else f"from {LEAST[name]:g} on"
                raise InputError(f"expected `{name}` {between}, found {value:g}")
            numbers[name] = np.array([value])
        pattern = None
        if "pattern" in self.used:
            if "pattern" not in known:
                raise InputError("the predictor needs `pattern` of the run", path=("pattern",))
            pattern = str(known["pattern"])
            if pattern not in self.patterns:
                near = nearest(pattern, self.patterns)
                hint = f"did you mean `{near}`?" if near else "known: " + ", ".join(self.patterns)
                raise InputError(f"not enough data: no run of the pattern `{pattern}`", hint=hint)
        return standardised(self.variables, self.patterns, numbers, None if pattern is None else [pattern])


class Prediction(_Part):
    """What is predicted of a run at its submission."""

    probability: float
    """Probability that it falls into the tail."""
    flagged: bool
    """Whether that is enough to warn (`Predictor.flag_from`)."""
    usual: float
    """Share of the runs of the history in the tail, by its definition."""
    threshold_ps: float
    """Where the tail begins."""
    median_ps: float
    """Median of the history."""
    history_runs: int
    quantiles_ps: dict[float, float]
    """Quantile -> predicted time of the run."""
    warnings: list[str]

    def as_dict(self) -> dict[str, Any]:
        """Return the prediction as `--json` prints it.

        Returns
        -------
        dict
        """
        return self.model_dump() | {"quantiles_ps": {f"{q:g}": value for q, value in self.quantiles_ps.items()}}


def standardised(
    variables: Mapping[str, Variable],
    patterns: Mapping[str, float],
    numbers: Mapping[str, Vector],
    names: list[str] | None,
) -> dict[str, Vector]:
    """The variables of terms: standardised numbers, and for each pattern its indicator minus its share."""
    made = {
        name: (raw(name, numbers[name], of.log2) - of.mean) / of.sd for name, of in variables.items() if name in numbers
    }
    if names is not None:
        array = np.array(names, dtype=object)
        made |= {f"{PATTERN}{name}": (array == name).astype(np.float64) - share for name, share in patterns.items()}
    return made


def raw(name: str, values: Vector, log2: bool) -> Vector:
    """A number before it is standardised."""
    return np.log2(values + 1 if name in ("bytes", "neighbours") else values) if log2 else values


def columns(terms: list[list[str]], values: Mapping[str, Vector]) -> NDArray[np.float64]:
    """The products that the terms are (shape `(n, terms)`)."""
    n = len(next(iter(values.values())))
    return np.array([np.prod([values[name] for name in of], axis=0) for of in terms]).reshape(len(terms), n).T


def linear(of: Linear, values: Mapping[str, Vector]) -> Vector:
    """Intercept and weighted terms."""
    weights = np.array([term.weight for term in of.terms])
    return np.asarray(of.intercept + columns([term.of for term in of.terms], values) @ weights)


def read_predictor(path: str | Path) -> Predictor:
    """Read the file of a predictor.

    Parameters
    ----------
    path
        The file that `Predictor.write` or `odonata cluster train` wrote.

    Returns
    -------
    Predictor

    Raises
    ------
    InputError
        If it cannot be read, is no predictor, or of a newer version.
    """
    try:
        text = reading.read_text(path)
        data = reading.parse_json(text)
    except (OSError, ValueError) as e:
        raise InputError(f"cannot read it: {reading.why(e)}", file=path) from None
    except InputError as e:
        raise e.but(hint=_HOW).at(path) from None
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise InputError(f'no trained predictor: expected "format": "{FORMAT}"', file=path, hint=_HOW)
    if data.get("version") != VERSION:
        raise InputError(
            f"a predictor of version {data.get('version')}; this Odonata reads version {VERSION}",
            file=path,
            hint="train it again",
        )
    try:
        return Predictor.model_validate_json(text)
    except ValidationError as e:
        first = e.errors()[0]
        where = ".".join(map(str, first["loc"]))
        what = first["msg"].removeprefix("Value error, ")
        message = f"`{where}`: {what.lower()}" if where else what
        raise InputError(f"a damaged predictor: {message}", file=path, hint=_HOW) from None


def _is_interval(value: Any) -> bool:
    numbers = value if isinstance(value, list) else []
    return len(numbers) == 2 and all(isinstance(end, int | float) and not isinstance(end, bool) for end in numbers)


def _listed(names: list[str]) -> str:
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]])) or "no column"
