"""The pages of validation: their studies, links, findings and lengths."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from tests.reproduce.test_publish import ROW

from odonata.reproduce import REPRODUCTIONS
from odonata.reproduce.compose import compose
from odonata.reproduce.links import anchor, link, linked, pages
from odonata.reproduce.page import quoted
from odonata.reproduce.provenance import abouts

VALIDATION = Path("validation")
TEMPLATES = Path("python/odonata/reproduce/pages")
LONGEST_TABLE = 30
WORDS = 60_500


def test_every_study_is_part_of_one_page_and_names_are_clear():
    """`--rows NAME` takes a study, a page or a paper: no page is named as a study with others beside it, or a paper."""
    assert sorted(study for of in pages().values() for study in of) == sorted(REPRODUCTIONS)
    assert sorted(pages()) == sorted(file.stem for file in TEMPLATES.glob("*.md"))
    committed = {file.stem for file in VALIDATION.glob("*.md")}
    assert committed == {*pages(), "README", "pages"}
    for page, studies in pages().items():
        assert page not in REPRODUCTIONS or studies == (page,)
        papers = {about.paper.lower().replace(" ", "") for about in abouts().values()}
        assert page.replace("-", "") not in papers or len({abouts()[study].paper for study in studies}) == 1
    assert len(pages()) <= 20


def test_pages_are_short():
    """Rows and tables of runs are printed by commands."""
    texts = {file.name: file.read_text(encoding="utf-8") for file in VALIDATION.glob("*.md")}
    assert sum(len(text.split()) for text in texts.values()) <= WORDS
    for name, text in texts.items():
        tables = re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE)
        if name not in ("README.md", "pages.md"):
            assert max(len(table.splitlines()) - 2 for table in tables) <= LONGEST_TABLE, name


@pytest.mark.parametrize("page", pages())
def test_a_page_begins_with_its_finding_then_pictures_then_a_section_for_each_study(page):
    text = (VALIDATION / f"{page}.md").read_text(encoding="utf-8")
    finding, first = text.split("\n\n")[1:3]
    assert finding.startswith("**")
    assert 20 < len(finding.split()) < 150
    assert re.search(r"\d", finding)
    drawn = [study for study in pages()[page] if (VALIDATION / f"{study}.png").exists()]
    assert not drawn or first.startswith("![")
    assert {*re.findall(r"\]\(([\w-]+)\.png\)", text)} == {*drawn}
    sections = [line.removeprefix("## ") for line in text.splitlines() if line.startswith("## ")]
    headings = [abouts()[study].heading for study in pages()[page]]
    assert [section for section in sections if section in headings] == headings


def anchors(file: Path) -> set[str]:
    """What a link can name in a page."""
    found: dict[str, int] = {}
    made = set()
    for heading in re.findall(r"^#+ (.+)$", re.sub(r"```.*?```", "", file.read_text(encoding="utf-8"), flags=re.DOTALL),
                              re.MULTILINE):  # fmt: skip
        name = anchor(heading)
        made.add(f"{name}-{found[name]}" if name in found else name)
        found[name] = found.get(name, 0) + 1
    return made


def places(file: Path) -> list[str]:
    text = re.sub(r"```.*?```", "", file.read_text(encoding="utf-8"), flags=re.DOTALL)
    return [*re.findall(r"\]\(([^)\s]+)\)", text), *re.findall(r"^\[[\w-]+\]: (\S+)$", text, re.MULTILINE)]


def broken(file: Path, place: str) -> bool:
    """Whether a link leads nowhere: no such file, or no such heading."""
    if re.match(r"\w+:", place):
        return place.startswith("study:")
    path, _, at = place.partition("#")
    target = (file.parent / path).resolve() if path else file
    if not target.exists():
        return True
    return bool(at) and target.suffix == ".md" and at not in anchors(target)


LISTED = subprocess.run(["git", "ls-files", "*.md"], capture_output=True, text=True, check=True).stdout.split()
LINKING = sorted(
    {*(name for name in LISTED if Path(name).exists()), *map(str, VALIDATION.glob("*.md"))}
)  # fmt: skip


@pytest.mark.parametrize("name", LINKING)
def test_links_of_validation_and_to_it_lead_somewhere(name):
    file = Path(name)
    of = [place for place in places(file) if file.parent == VALIDATION or "validation/" in place]
    if "reproduce" in file.parts:
        of = [place for place in of if not place.startswith("study:")]
    assert [place for place in of if broken(file, place)] == []


def test_a_link_that_leads_nowhere_is_told(tmp_path):
    (tmp_path / "b.md").write_text("# Some of it\n", encoding="utf-8")
    page = tmp_path / "a.md"
    page.write_text("x", encoding="utf-8")
    assert [broken(page, place) for place in ("b.md#some-of-it", "b.md", "b.md#other", "c.md", "study:nccl")] == [
        False, False, True, True, True,
    ]  # fmt: skip


@pytest.mark.parametrize("name", [*Path("python").rglob("*.toml"), *Path("python").rglob("*.py")], ids=str)
def test_pages_that_presets_and_comments_cite_are_there(name):
    for page, at in re.findall(r"validation/([\w-]+\.md)(?:#([\w-]+))?", name.read_text(encoding="utf-8")):
        assert not broken(VALIDATION / "README.md", f"{page}#{at}" if at else page), page


def test_a_link_names_a_study_and_finds_its_page():
    assert link("kang2019-metric") == "kang2019-appendix.md#the-congestion-metric-of-fpar"
    text = "[a](study:kang2019-metric) and [b](study:kang2019-4kb)"
    assert linked(text, "kang2019-results") == (
        "[a](kang2019-appendix.md#the-congestion-metric-of-fpar) and [b](#messages-of-4-kb)"
    )
    with pytest.raises(KeyError):
        linked("[a](study:kang2019-4k)", "")
    assert anchor("Figure 12: Jokanovic's policy, 4 KB") == "figure-12-jokanovics-policy-4-kb"


def test_a_finding_quotes_rows_of_the_studies_of_its_page():
    said = quoted("{some-study/100 %: uniform-random}, {some-study/correct: uniform-random | theirs}", [], {
        "some-study": [ROW, *[row for row in [ROW] for row in [type(row)(**{**row.__dict__, "model": "100 %"})]]],
    })  # fmt: skip
    assert said == "2.56 us, 2.79 us"
    with pytest.raises(ValueError, match="0 rows of `other/correct` begin"):
        quoted("{other/correct: uniform-random}", [], {"some-study": [ROW]})


def test_a_page_of_some_of_its_studies_says_which_are_missing(tmp_path):
    for suffix in ("csv", "json"):
        shutil.copy(VALIDATION / f"zhang2018-fig11.{suffix}", tmp_path)
    text = compose("zhang2018-random", tmp_path)
    assert "a finding is left out: zhang2018-fig10, zhang2018-fig12, zhang2018-fig13." in " ".join(text.split())
    assert text.count("\n## ") == 1
