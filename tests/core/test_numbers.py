"""The functions of numbers."""

import pytest

from odonata import _core


def test_version_is_that_of_the_package():
    from importlib.metadata import version

    assert _core.__version__ == version("odonata")


@pytest.mark.parametrize(
    ("bandwidth", "size", "expected"),
    [
        (4_692_251_770_880_000, 2_048, 436_465),  # 4.37 GiB/s: 436,464.2... ps
        (1_000_000, 1, 10**12),
        (3_000_000, 1, 333_333_333_334),
        (10**15, 0, 0),
        (1, 2**63, 2**64 - 1),
    ],
)
def test_serialisation_is_rounded_up_once(bandwidth, size, expected):
    assert _core.serialisation_ps(bandwidth, size) == expected


def test_no_bandwidth_is_a_value_error():
    with pytest.raises(ValueError, match="never delivers"):
        _core.serialisation_ps(0, 1)


def test_sizes_of_kang_2019_section_2_1():
    assert _core.dragonfly_plus_max_nodes(48) == 332_352
    assert _core.dragonfly_max_nodes(48) == 90_300
