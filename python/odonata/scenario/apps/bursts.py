"""Bursts of a job: how long its ranks work between two pauses, and how long a pause is.

The rule is in `docs/model.md`, section 7; `docs/applications.md` says how to use it.
"""

from collections.abc import Mapping
from fractions import Fraction
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, PlainSerializer

from odonata import units
from odonata.document import Table, input_error_as_problem, validate
from odonata.errors import InputError, unknown
from odonata.scenario.apps.values import MAX_DURATION_PS, Duration

#: Distribution -> the keys that it needs.
DISTRIBUTIONS: dict[str, tuple[str, ...]] = {
    "exponential": ("mean",),
    "uniform": ("least", "most"),
    "lognormal": ("mean", "sigma"),
    "pareto": ("mean", "shape"),
}
#: Largest sigma and shape, as in the core.
MAX_SIGMA, MAX_SHAPE = 10, 1_000


def _number(value: Any) -> Fraction:
    return units.fraction(value)


_Number = Annotated[
    Fraction,
    BeforeValidator(input_error_as_problem(_number)),
    PlainSerializer(lambda v: None if v is None else float(v), when_used="json"),
]


class LengthTable(Table):
    """The distribution of the lengths of the bursts or the pauses of a job."""

    distribution: Literal["exponential", "uniform", "lognormal", "pareto"] = Field(description="which one")
    mean: Duration | None = Field(None, description="mean length (exponential, lognormal, pareto)")
    least: Duration | None = Field(None, description="shortest length (uniform)")
    most: Duration | None = Field(None, description="longest length (uniform)")
    sigma: _Number | None = Field(
        None, description="standard deviation of the natural logarithm of the length, up to 10 (lognormal)"
    )
    shape: _Number | None = Field(
        None, description="exponent of the tail, more than 1 and up to 1,000 (pareto); below 2 the variance is infinite"
    )

    def spec(self) -> dict[str, Any]:
        """The lengths as the core reads them."""
        name = self.distribution
        if name == "uniform":
            return {"distribution": name, "least_ps": self.least, "most_ps": self.most}
        spec: dict[str, Any] = {"distribution": name, "mean_ps": self.mean}
        for key in ("sigma", "shape"):
            value = getattr(self, key)
            spec |= {} if value is None else {f"{key}_millionths": round(value * 10**6)}
        return spec


def _read(value: Any) -> int | LengthTable:
    if isinstance(value, LengthTable):
        return value
    if isinstance(value, Mapping):
        return _drawn(value)
    ps = units.time_ps(value)
    if not ps:
        raise InputError("expected a time of at least 1 ps")
    if ps > MAX_DURATION_PS:
        raise InputError(f"`{value}` is longer than 2^54 ps (5 hours)")
    return ps


def _drawn(value: Mapping[str, Any]) -> LengthTable:
    if "distribution" not in value:
        raise InputError("missing key `distribution`", hint="one of " + ", ".join(DISTRIBUTIONS))
    name = value["distribution"]
    if not isinstance(name, str) or name not in DISTRIBUTIONS:
        raise unknown("distribution", str(name), DISTRIBUTIONS).but(path=("distribution",))
    table = validate(LengthTable, value)
    for key in ("mean", "least", "most", "sigma", "shape"):
        given, needed = getattr(table, key), key in DISTRIBUTIONS[name]
        if needed and given is None:
            raise InputError(f"missing key `{key}`", hint=f"{name} needs {' and '.join(DISTRIBUTIONS[name])}")
        if given is not None and not needed:
            raise InputError(f"the distribution `{name}` does not use `{key}`", path=(key,))
        if given is not None and key in ("mean", "least", "most") and not given:
            raise InputError("expected a time of at least 1 ps", path=(key,))
    if table.least is not None and table.most is not None and table.least > table.most:
        raise InputError("`most` is shorter than `least`", path=("most",))
    if table.sigma is not None and not Fraction(1, 10**6) <= table.sigma <= MAX_SIGMA:
        raise InputError(
            f"`sigma` is more than 0 and at most {MAX_SIGMA}, found {float(table.sigma):g}", path=("sigma",)
        )
    if table.shape is not None and not 1 + Fraction(1, 10**6) <= table.shape <= MAX_SHAPE:
        hint = "with a shape of 1 or less there is no mean"
        message = f"`shape` is more than 1 and at most {MAX_SHAPE:,}, found {float(table.shape):g}"
        raise InputError(message, hint=hint, path=("shape",))
    return table


def written(length: int | LengthTable) -> Any:
    """A length in the form of a scenario."""
    if isinstance(length, LengthTable):
        return length.model_dump(mode="json", exclude_none=True)
    return units.format_time(length)


#: How long bursts or pauses are: picoseconds, or a distribution.
BurstLength = Annotated[
    Any,
    BeforeValidator(input_error_as_problem(_read)),
    PlainSerializer(lambda v: None if v is None else written(v), when_used="json"),
]


def bursts_spec(on: int | LengthTable, off: int | LengthTable) -> dict[str, Any]:
    """The bursts of a job as the core reads them."""
    return {"on": _length_spec(on), "off": _length_spec(off)}


def _length_spec(length: int | LengthTable) -> dict[str, Any]:
    return length.spec() if isinstance(length, LengthTable) else {"distribution": "fixed", "ps": length}
