"""Published mean latencies of the open-loop patterns by themselves, by case: what variants and calibration look at."""

from __future__ import annotations

from importlib.resources import files

from odonata.reproduce.expected import Expected, read_expected


def expected() -> list[Expected]:
    """`expected.csv`."""
    text = (files("odonata.reproduce.kang2019") / "expected.csv").read_text(encoding="utf-8")
    return read_expected(text)


def means_alone() -> dict[str, Expected]:
    """Name of the case -> its row, for mean latencies of uniform random and tornado traffic without a background."""
    return {
        row.cases[0]: row
        for row in expected()
        if row.measure == "mean" and row.cases[0].count("/") == 2 and row.cases[0].startswith(("uniform", "tornado"))
    }
