"""Quantities: exact reading, exact writing, and what is refused."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from odonata import units
from odonata.errors import InputError

NATURAL = st.integers(0, 2**64 - 1)


@given(NATURAL)
def test_a_time_is_read_back_as_it_was_written(ps):
    assert units.time_ps(units.format_time(ps)) == ps


@given(NATURAL)
def test_a_size_is_read_back_as_it_was_written(size):
    assert units.size_bytes(units.format_bytes(size)) == size


@given(NATURAL)
def test_a_bandwidth_is_read_back_as_it_was_written(micro):
    assert units.bandwidth_micro(units.format_bandwidth(micro)) == micro


@given(st.integers(0, 10**9), st.integers(0, 6), st.sampled_from(sorted(units.BANDWIDTH)))
def test_decimals_are_exact_where_floats_are_not(digits, places, unit):
    text = f"{digits // 10**places}.{digits % 10**places:0{places}d}" if places else str(digits)
    exact = Fraction(digits, 10**places) * units.BANDWIDTH[unit] * 10**6
    assert abs(units.bandwidth_micro(f"{text} {unit}") - exact) <= Fraction(1, 2)


@pytest.mark.parametrize(
    ("text", "ps"),
    [
        ("100 ns", 100_000),
        ("0.5us", 500_000),
        ("1.5 ms", 1_500_000_000),
        ("2 s", 2 * 10**12),
        ("1 min", 60 * 10**12),
        ("7 ps", 7),
        ("1e3 ns", 1_000_000),
        ("3 µs", 3_000_000),
        ("1_000 ns", 1_000_000),
        (" 0 s ", 0),
    ],
)
def test_times(text, ps):
    assert units.time_ps(text) == ps


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("4 KB", 4_000),
        ("4 kB", 4_000),
        ("4 KiB", 4_096),
        ("512 KB", 512_000),
        ("4 MB", 4_000_000),
        ("1 TiB", 2**40),
        ("0.5 KiB", 512),
        ("2340 B", 2_340),
    ],
)
def test_decimal_and_binary_sizes(text, size):
    assert units.size_bytes(text) == size


def test_bandwidths_of_kang_2019_are_exact():
    """K3: GiB/s literally; K10: 4,680 bytes per microsecond."""
    assert units.bandwidth_micro("4.37 GiB/s") == 4_692_251_770_880_000
    assert units.bandwidth_micro("5.25 GiB/s") == 5_637_144_576_000_000
    assert units.bandwidth_micro("16 GiB/s") == 16 * 2**30 * 10**6
    assert units.bandwidth_micro("4.68 GB/s") == 4_680_000_000 * 10**6
    assert units.bandwidth_micro("200 Gbit/s") == 25_000_000_000 * 10**6
    assert units.bandwidth_micro("1 bit/s") == 125_000


@pytest.mark.parametrize(
    ("value", "ratio"),
    [(0.5, "1/2"), (1.30, "13/10"), ("50 %", "1/2"), ("130%", "13/10"), (2, "2"), ("0.1", "1/10"), (0.1, "1/10")],
)
def test_ratios_are_what_is_written_not_the_nearest_float(value, ratio):
    assert units.fraction(value) == Fraction(ratio)


@pytest.mark.parametrize(
    ("read", "value", "message", "hint"),
    [
        (units.time_ps, 5, "has no unit", '"5 ns"'),
        (units.time_ps, 0.5, "has no unit", '"0.5 ns"'),
        (units.time_ps, "5", "has no unit", '"5 ns"'),
        (units.size_bytes, 4096, "has no unit", '"4096 B"'),
        (units.bandwidth_micro, 4, "has no unit", 'write the unit: "4 Gbit/s"'),
        (units.bandwidth_micro, "4", "has no unit", 'write the unit: "4 Gbit/s"'),
        (units.bandwidth_micro, None, 'such as "200 Gbit/s"', None),
        (units.time_ps, "5 usec", "`usec` is not a unit of time", "`us`"),
        (units.time_ps, "5 parsec", "`parsec` is not a unit of time", "ps, ns, us"),
        (units.size_bytes, "4 kb", "`kb` is not a unit of size", "`KB`"),
        (units.size_bytes, "4 KB/s", "is not a unit of size", "`KB`"),
        (units.bandwidth_micro, "4 GiB", "`GiB` is not a unit of bandwidth", "`GiB/s`"),
        (units.bandwidth_micro, "25 Gbps", "`Gbps` is not a unit of bandwidth", "`Gbit/s`"),
        (units.time_ps, "-1 ns", "must not be negative", None),
        (units.time_ps, "0.0001 ns", "not a whole number of picoseconds", None),
        (units.size_bytes, "1.5 B", "not a whole number of bytes", None),
        (units.size_bytes, "4,000 B", "without commas", "4_000"),
        (units.time_ps, "soon", "expected a time", None),
        (units.time_ps, True, "expected a time", None),
        (units.time_ps, None, "expected a time", None),
        (units.time_ps, ["1 ns"], "expected a time", None),
        (units.fraction, "half", "expected a ratio", None),
        (units.fraction, -0.5, "must not be negative", None),
        (units.fraction, float("nan"), "expected a ratio", None),
        (units.fraction, float("inf"), "expected a ratio", None),
        (units.fraction, True, "expected a ratio", None),
    ],
)
def test_what_is_refused_and_what_is_hinted(read, value, message, hint):
    with pytest.raises(InputError) as caught:
        read(value)
    assert message in caught.value.message
    if hint is not None:
        assert hint in caught.value.hint


@given(st.text(max_size=20))
def test_no_text_makes_a_reader_fail_otherwise(text):
    for read in (units.time_ps, units.size_bytes, units.bandwidth_micro, units.fraction):
        try:
            assert read(text) >= 0
        except InputError as e:
            assert str(e)  # noqa: PT017 - either a value or an error for the user


@pytest.mark.parametrize(
    ("ps", "digits", "text"),
    [
        (0, None, "0 s"),
        (1_500_000, None, "1.5 us"),
        (1_234_567, 3, "1.23 us"),
        (999_999_999, 3, "1 ms"),
        (5, 3, "5 ps"),
    ],
)
def test_times_as_text(ps, digits, text):
    assert units.format_time(ps, digits) == text


@pytest.mark.parametrize(
    ("size", "digits", "text"),
    [
        (4_000, None, "4 KB"),
        (4_096, None, "4 KiB"),
        (6_084, None, "6084 B"),
        (0, None, "0 B"),
        (1_234_567, 3, "1.23 MB"),
    ],
)
def test_sizes_as_text(size, digits, text):
    assert units.format_bytes(size, digits) == text


def test_bandwidths_as_text():
    assert units.format_bandwidth(4_692_251_770_880_000) == "4.37 GiB/s"
    assert units.format_bandwidth(4_680_000_000 * 10**6) == "4.68 GB/s"
    assert units.format_bandwidth(4_692_251_770_880_000, 3) == "4.69 GB/s"


def test_ratios_as_text():
    assert units.format_fraction(Fraction(13, 10)) == "1.3"
    assert units.format_fraction(Fraction(1, 3)) == "1/3"


@pytest.mark.parametrize(
    ("read", "text", "unit"), [(units.size_bytes, "1e400 B", "bytes"), (units.time_ps, "18446745 s", "picoseconds")]
)
def test_what_the_simulator_cannot_hold(read, text, unit):
    with pytest.raises(InputError, match=rf"`{text}` is 2\^64 {unit} or more"):
        read(text)
