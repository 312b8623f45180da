"""What the README and pages of the documentation show is what a user sees. `make docs` runs the tutorial."""

import importlib.util
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
OVERVIEW = ROOT / "docs" / "overview.md"
EXAMPLES = ROOT / "docs" / "examples.md"
PAGES = [
    "README.md",
    "docs/examples.md",
    "docs/cluster.md",
    "docs/gpus.md",
    "docs/noise.md",
]
#: What they show is not compared here.
NOT_RUN = {"docs/explain.md", "docs/machines.md", "docs/placement.md"}

_spec = importlib.util.spec_from_file_location("examples", ROOT / "scripts" / "examples.py")
examples = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(examples)


@pytest.mark.parametrize("page", PAGES)
def test_the_examples_of_a_page_print_what_it_shows(page, tmp_path):
    assert examples.check(ROOT / page, tmp_path) > 0


def test_every_page_with_commands_is_listed():
    """A test runs it, or `make docs`, which is part of `make test`, or it is one of those that are not run here."""
    pages = [ROOT / "README.md", *(ROOT / "docs").glob("*.md"), *(ROOT / "docs" / "tutorial").glob("*.md")]
    shown = {str(page.relative_to(ROOT)) for page in pages if "\n```console\n$ " in page.read_text()}
    tutorial = {page for page in shown if page.startswith("docs/tutorial/")}
    assert "scripts/examples.py --keep docs/_generated docs/tutorial/*.md\n" in (ROOT / "Makefile").read_text()
    assert len(tutorial) == 6
    assert shown - tutorial - NOT_RUN == set(PAGES)


CHANGES = {
    "another number": ("$ echo 12\n12\n", "$ echo 12\n13\n"),
    "a line more": ("$ echo 12\n12\n", "$ echo 12\n12\n12\n"),
    "another status": ("$ false\n(exit status 1)\n", "$ false\n(exit status 2)\n"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_page_that_shows_something_else_is_found_and_updated(change, tmp_path):
    right, wrong = CHANGES[change]
    page = tmp_path / "page.md"
    page.write_text(f"```console\n{right}```\n")
    assert examples.check(page, tmp_path) == 1
    page.write_text(f"```console\n{wrong}```\n")
    with pytest.raises(examples.ExampleError, match=r"page\.md:2"):
        examples.check(page, tmp_path)
    if change != "another status":
        examples.check(page, tmp_path, accept=True)
        assert page.read_text() == f"```console\n{right}```\n"


def test_a_gap_stands_for_any_lines(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("```console\n$ seq 5\n1\n...\n5\n\n$ seq 2\n1\n2\n```\n")
    assert examples.check(page, tmp_path) == 1
    page.write_text("```console\n$ seq 5\n1\n...\n6\n```\n")
    with pytest.raises(examples.ExampleError):
        examples.check(page, tmp_path)


def test_the_scenario_of_the_page_is_the_example_and_resolves():
    from odonata import scenario

    text = re.search(r"```toml\n(.*?)```", EXAMPLES.read_text(), re.DOTALL)
    assert text is not None
    file = ROOT / "examples" / "theta-neighbour.toml"
    assert file.read_text().endswith(f"\n\n{text[1]}")
    assert list(scenario.load(file).resolve().targets) == ["target"]


def test_presets_and_policies_are_those_that_there_are():
    from odonata import machine
    from odonata.placement import LAYOUTS, POLICIES

    text = " ".join(OVERVIEW.read_text().split())
    presets = re.findall(r"`([\w-]+)`", text.split("There are presets for")[1].split("machines.md")[0])
    assert sorted(presets) == sorted(machine.names())
    own = [name for name, policy in POLICIES.items() if not policy.provider and name not in LAYOUTS]
    assert f"{len(own)} policies" in text


def test_commands_are_those_that_there_are():
    from odonata.cli import COMMANDS

    rows = re.findall(r"^\| `odonata (\w+) ", OVERVIEW.read_text().split("\n## Commands")[1], re.MULTILINE)
    assert set(rows) == set(COMMANDS)


def test_linked_files_exist():
    root = ROOT
    for page in (*root.glob("*.md"), *(root / "docs").glob("*.md"), root / "validation" / "README.md"):
        for link in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
            assert (page.parent / link).exists(), f"{page.name} links to {link}"
