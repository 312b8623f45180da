"""Committed Markdown has lines of at most 120 columns, except for tables and code."""

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
COLUMNS = 120


def pages():
    """The pages that people write: those in `validation` are made by commands, from templates."""
    listed = subprocess.run(["git", "ls-files", "*.md"], cwd=ROOT, capture_output=True, text=True, check=True)
    listed_pages = [ROOT / name for name in listed.stdout.splitlines()]
    return [page for page in listed_pages if page.parent.name != "validation" or page.name == "README.md"]


def long_lines(text):
    """Number -> line."""
    in_code = False
    for number, line in enumerate(text.splitlines(), start=1):
        if line.lstrip().startswith("```"):
            in_code = not in_code
        elif not in_code and not line.lstrip().startswith("|") and len(line) > COLUMNS:
            yield number, line


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="needs the repository")
def test_lines_of_text_fit_into_120_columns():
    listed_pages = pages()
    assert ROOT / "README.md" in listed_pages
    assert ROOT / "docs" / "model.md" in listed_pages
    long = [f"{page.relative_to(ROOT)}:{number}" for page in listed_pages for number, _ in long_lines(page.read_text())]
    assert long == []


def test_only_tables_and_code_may_be_longer():
    long = "x" * 121
    assert [number for number, _ in long_lines(f"{long}\n- {long}\n")] == [1, 2]
    assert list(long_lines(f"| {long} |\n```\n{long}\n```\n{'x' * 120}\n")) == []
