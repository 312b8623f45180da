"""Numbers of users that are too long, too large or too small: short messages, and nothing that a float cannot hold."""

from fractions import Fraction
from typing import Any

import pytest

from odonata import units
from odonata.document.quantities import Ratio
from odonata.document.table import Table, validate
from odonata.errors import InputError, unknown


class Given(Table):
    """A table with a ratio."""

    ratio: Ratio


@pytest.mark.parametrize("value", ["9" * 5000, "9" * 5000 + " parsecs", 10**380, "-" + "9" * 90 + " " * 5000 + "s"])
@pytest.mark.parametrize("read", [units.time_ps, units.size_bytes, units.bandwidth_micro])
def test_messages_are_short(read: Any, value: object) -> None:
    with pytest.raises(InputError) as caught:
        read(value)
    assert len(str(caught.value)) < 600


def test_names_are_short_in_messages() -> None:
    assert len(str(unknown("key", "x" * 5000, ["name"]))) < 300


@pytest.mark.parametrize("value", ["9" * 400 + " %", "1e300", 1e-300, "1e-17 %", 1e19])
def test_ratios_that_are_no_floats(value: object) -> None:
    with pytest.raises(InputError, match="a ratio must be 0 or from 1e-18 to 1e18"):
        validate(Given, {"ratio": value})


@pytest.mark.parametrize("value", [0, "0 %", 1e18, "1e-16 %"])
def test_the_largest_and_the_smallest_ratio(value: object) -> None:
    given = validate(Given, {"ratio": value})
    assert given.ratio == Fraction(units.fraction(value))
    assert given.model_dump_json()
