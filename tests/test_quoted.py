"""Numbers that README, docs and presets quote from pages of validation: each stands in a row of the page that is cited.

Catches a sentence that was true of an earlier page, and one that says more than the rows.
"""

import csv
import re
import tomllib
from pathlib import Path

import pytest

from odonata.reproduce.links import anchor, pages
from odonata.reproduce.provenance import abouts

VALIDATION = Path("validation")
PRESETS = sorted(Path("python/odonata/machine/presets").glob("*.toml"))
CITED = re.compile(r"validation/([\w-]+)\.md(?:#([\w-]+))?")
#: A factor, `x 1.17`, and a percentage.
FACTOR, PERCENT = re.compile(r"\bx (\d+\.\d+)\b"), re.compile(r"\b(\d+(?:\.\d+)?) %")
NODES = re.compile(r"on (\d+) to (\d+) nodes")
ALL = re.compile(r"\b(\d+) measured cells")


def rows_of(places: list[tuple[str, str]]) -> list[dict[str, str]]:
    """The rows of the studies of these pages, or of the one whose section is named."""
    studies = [
        study
        for page, at in places
        for study in pages().get(page, ())
        if not at or at == anchor(abouts()[study].heading)
    ]
    files = [VALIDATION / f"{study}.csv" for study in studies]
    return [row for file in files for row in csv.DictReader(file.read_text(encoding="utf-8").splitlines())]


def quoted() -> list[tuple[str, str]]:
    """Sentences (of presets: parts between semicolons) that cite a page, with where they stand."""
    found = []
    for preset in PRESETS:
        said = tomllib.loads(preset.read_text(encoding="utf-8")).get("measured", "")
        found += [(preset.stem, part) for part in said.split("; ") if CITED.search(part)]
    for page in (Path("README.md"), *sorted(Path("docs").glob("*.md")), *sorted(Path("docs/tutorial").glob("*.md"))):
        for block in re.split(r"\n\s*\n", page.read_text(encoding="utf-8")):
            if "|" not in block:
                sentences = re.split(r"(?<=[.:])\s+(?=[A-Z*\[])", " ".join(block.split()))
                found += [(page.stem, sentence) for sentence in sentences if CITED.search(sentence)]
    return found


def near(number: str, values: list[float]) -> bool:
    digits = len(number.partition(".")[2])
    return any(round(value, digits) == float(number) for value in values)


@pytest.mark.parametrize(("where", "sentence"), quoted())
def test_a_quoted_number_stands_in_a_row(where: str, sentence: str):
    rows = rows_of(CITED.findall(sentence))
    values = {unit: [float(row["ours"]) for row in rows if row["unit"] == unit and row["ours"]] for unit in ("x", "%")}
    for pattern, unit in ((FACTOR, "x"), (PERCENT, "%")):
        for number in pattern.findall(sentence):
            if values[unit]:
                assert near(number, values[unit]), f"{where}: `{number}` of {sentence!r} is in no row"
    sizes = [int(n) for row in rows for n in re.findall(r"^(\d+) nodes beside", row["what"])]
    for low, high in NODES.findall(sentence):
        if sizes:
            assert (int(low), int(high)) == (min(sizes), max(sizes)), f"{where}: {sentence!r}"
    for cells in ALL.findall(sentence):
        assert any(f" {cells} mean slowdowns" in row["what"] for row in rows), f"{where}: {sentence!r}"


def test_there_is_something_to_check():
    assert sum(bool(FACTOR.search(sentence)) for _, sentence in quoted()) >= 5


@pytest.mark.parametrize("preset", ["leonardo", "lumi", "cresco8"])
def test_a_preset_says_on_how_many_nodes_its_slowdowns_were_seen(preset: str):
    """Beyond them nothing is known: Leonardo was off by ten on twice as many."""
    said = tomllib.loads((PRESETS[0].parent / f"{preset}.toml").read_text(encoding="utf-8"))["measured"]
    part = next(part for part in said.split("; ") if "slowdowns" in part)
    assert NODES.search(part), part
