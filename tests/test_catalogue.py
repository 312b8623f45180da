"""Every cited number of a paper is in the catalogue."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
CATALOGUE = (ROOT / "docs" / "catalogue.md").read_text(encoding="utf-8")
#: `K5`, `K37 to K39`, `L6-L8`. Other letters and `LL1` are no numbers of papers.
CITED = re.compile(r"\b([KDLV])([1-9][0-9]?)\b(?:(?: to |-)\1([1-9][0-9]?)\b)?")


def numbers(text):
    """What is cited; of a range its two ends."""
    return {letter + n for letter, *ends in CITED.findall(text) for n in ends if n}


def explained(row):
    """What a row is about; of a range all."""
    for letter, first, last in CITED.findall(row):
        yield from (f"{letter}{n}" for n in range(int(first), int(last or first) + 1))


def pages():
    """New files too, but none that is generated: the documentation may be built beside this test."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    folders = ["crates", "docs", "examples", "python", "tests", "validation"]
    listed = subprocess.run([*command, *folders], cwd=ROOT, capture_output=True, text=True, check=True)
    for path in map(ROOT.joinpath, listed.stdout.splitlines()):
        if path.suffix in (".rs", ".py", ".md", ".toml") and path.name != "catalogue.md" and path.exists():
            yield path


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="needs the repository")
def test_every_number_that_is_cited_is_explained():
    rows = [line.split("|")[1] for line in CATALOGUE.splitlines() if line.startswith("| ")]
    known = {number for row in rows for number in explained(row)}
    assert len(known) > 60
    unknown = {
        (number, str(path.relative_to(ROOT)))
        for path in pages()
        for number in numbers(path.read_text(encoding="utf-8"))
        if number not in known and path != Path(__file__)
    }
    assert unknown == set()
