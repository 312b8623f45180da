"""The distribution families that are fitted: all continuous ones of SciPy except a few."""

from __future__ import annotations

LEFT_OUT = {
    "erlang": "gamma with a whole number as its shape",
    "reciprocal": "another name of loguniform",
    "vonmises": "repeats itself on the whole line; vonmises_line is fitted",
    "wrapcauchy": "a distribution on the circle",
}
"""Family that is not fitted -> why."""


def names() -> list[str]:
    """The families of the installed SciPy in alphabetical order; 106 in SciPy 1.17."""
    from scipy import stats

    found = (name for name in dir(stats) if isinstance(getattr(stats, name), stats.rv_continuous))
    return sorted(name for name in found if name not in LEFT_OUT)
