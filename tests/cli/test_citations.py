"""What users read names papers and sections, never a number of the catalogue alone."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from odonata.cli.citations import PLACES, cited
from odonata.cli.main import main

CATALOGUE = Path(__file__).parents[2] / "docs" / "catalogue.md"
NUMBER = re.compile(r"\b[KDLV][1-9][0-9]?\b")


def test_the_places_are_those_of_the_catalogue() -> None:
    rows = [line.strip("| \n").split("|") for line in CATALOGUE.read_text().splitlines() if line.startswith("| ")]
    places = {}
    for first, *_, where in (row for row in rows if len(row) > 2):
        for letter, low, high in re.findall(r"\b([KDLV])(\d+)\b(?: to \1(\d+))?", first):
            places |= {f"{letter}{n}": where.strip() for n in range(int(low), int(high or low) + 1)}
    assert places == PLACES


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("random placement (K18)", f"random placement (Kang 2019, section {PLACES['K18']})"),
        ("two processors (L5), M99", f"two processors (Zhang 2018, section {PLACES['L5']}), M99"),
        ("Kang 2019, section 2.1 (K1)", "Kang 2019, section 2.1"),
        ("K30 to K54", "Kang 2019, figure 5 to section 5"),
        ("no number", "no number"),
    ],
)
def test_numbers_become_papers_and_sections(text: str, told: str) -> None:
    assert cited({"a": [text]}) == {"a": [told]}


def test_no_listing_and_no_description_has_a_number(capsys: pytest.CaptureFixture[str]) -> None:
    main(["show", "--json"])
    listing = capsys.readouterr().out
    assert not NUMBER.findall(listing)
    names = [name for kind, of in json.loads(listing).items() if kind != "columns" for name in of]
    for name in [*dict.fromkeys(names), "columns", "scenario"]:
        main(["show", name])
        assert not NUMBER.findall(capsys.readouterr().out), name
    main(["reproduce", "--list"])
    assert not NUMBER.findall(capsys.readouterr().out)
