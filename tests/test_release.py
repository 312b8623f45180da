"""`make release` refuses what does not agree; each case is a copy of the project with one thing wrong."""

import importlib.util
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FILES = ["Cargo.toml", "Cargo.lock", "pyproject.toml", "CITATION.cff", "docs/conf.py"]
CHANGELOG = """# Changelog

## Unreleased

### Added

### Changed

### Fixed

### Results may change

### Removed

## 7.8.9 (2026-11-25)
The first version.
"""
WHEEL = "odonata-7.8.9-cp311-abi3-manylinux_2_28_x86_64.whl"
SOURCE = "odonata-7.8.9.tar.gz"

_spec = importlib.util.spec_from_file_location("release", ROOT / "scripts" / "release.py")
release = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(release)


def git(folder, *words):
    identity = ["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *identity, *words], cwd=folder, check=True, capture_output=True)


def change(file, old, new):
    text = file.read_text()
    assert old in text, f"{file.name} lacks {old!r}"
    file.write_text(text.replace(old, new))


@pytest.fixture
def project(tmp_path):
    """The files of this project that have versions, as version 7.8.9, ready for its release."""
    root = tmp_path / "project"
    manifests = [path.relative_to(ROOT) for path in ROOT.glob("crates/*/Cargo.toml")]
    for name in [*FILES, *manifests]:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, root / name)
    present = release.version(ROOT)
    change(root / "Cargo.toml", f'version = "{present}"\nedition', 'version = "7.8.9"\nedition')
    for crate in manifests:
        name = release._toml(root / crate)["package"]["name"]
        change(root / "Cargo.lock", f'name = "{name}"\nversion = "{present}"', f'name = "{name}"\nversion = "7.8.9"')
    change(root / "CITATION.cff", f"version: {present}\n", "version: 7.8.9\n")
    released = release._citation(root, "date-released")
    change(root / "CITATION.cff", f"date-released: {released}\n", "date-released: 2026-11-25\n")
    (root / "CHANGELOG.md").write_text(CHANGELOG)
    dist = tmp_path / "dist"
    dist.mkdir()
    (dist / WHEEL).touch()
    (dist / SOURCE).touch()
    git(root, "init", "--quiet")
    commit(root)
    return root


def commit(root):
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--allow-empty", "-m", "a commit")


def refused(root, capsys, *words):
    """What the command prints to standard error, a line for each mismatch."""
    assert release.main(list(words), root) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    return captured.err.splitlines()


def test_versions_of_this_project_agree():
    """Also between releases: a version that is raised in one file only is found at once."""
    assert release.wrong_versions(ROOT) == []


def test_what_agrees_is_accepted_and_the_next_steps_are_printed(project, capsys):
    assert release.main([], project) == 0
    assert capsys.readouterr().out == "release: versions, changelog and work tree agree on 7.8.9\n"
    assert release.main(["--dist", str(project.parent / "dist")], project) == 0
    printed = capsys.readouterr().out
    assert "Nothing has been published" in printed
    assert 'git tag -a v7.8.9 -m "Odonata 7.8.9"' in printed
    git(project, "tag", "v7.8.9")
    assert release.main([], project) == 0


MISMATCHES = {
    "a crate with a version of its own": (
        "crates/sim/Cargo.toml",
        "version.workspace = true",
        'version = "7.8.9"',
        "crates/sim/Cargo.toml: the version must be `version.workspace = true`",
    ),
    "an old lock file": (
        "Cargo.lock",
        'name = "odonata-sim"\nversion = "7.8.9"',
        'name = "odonata-sim"\nversion = "7.8.8"',
        "Cargo.lock: odonata-sim is 7.8.8, Cargo.toml says 7.8.9",
    ),
    "a second version of the package": (
        "pyproject.toml",
        'dynamic = ["version"]',
        'version = "7.8.9"',
        'pyproject.toml: the version must come from Cargo.toml (`dynamic = ["version"]`)',
    ),
    "an old citation": (
        "CITATION.cff",
        "version: 7.8.9",
        "version: 7.8.8",
        "CITATION.cff: version is 7.8.8, Cargo.toml says 7.8.9",
    ),
    "an old date of the citation": (
        "CITATION.cff",
        "date-released: 2026-11-25",
        "date-released: 2026-11-24",
        "CITATION.cff: date-released is 2026-11-24, CHANGELOG.md says 2026-11-25",
    ),
    "a citation without a date": (
        "CITATION.cff",
        "date-released: 2026-11-25\n",
        "",
        "CITATION.cff: date-released is None, CHANGELOG.md says 2026-11-25",
    ),
    "a version written into the documentation": (
        "docs/conf.py",
        "release = version = ",
        'release = "7.8.8"\nversion = ',
        "docs/conf.py: release is 7.8.8, Cargo.toml says 7.8.9",
    ),
    "a changelog without Unreleased": (
        "CHANGELOG.md",
        "## Unreleased",
        "## Next",
        "CHANGELOG.md: the first section must be `## Unreleased`",
    ),
    "a changelog that lacks a heading": (
        "CHANGELOG.md",
        "### Fixed\n",
        "",
        "CHANGELOG.md: the headings under Unreleased must be Added, Changed, Fixed, Results may change, Removed",
    ),
    "a change that is in no version": (
        "CHANGELOG.md",
        "### Fixed\n",
        "### Fixed\n- A defect.\n",
        "CHANGELOG.md: this is under Unreleased and belongs to the version: - A defect.",
    ),
    "a version without a section": (
        "CHANGELOG.md",
        "## 7.8.9 (",
        "## 7.8.8 (",
        "CHANGELOG.md: the section after Unreleased must be `## 7.8.9 (YYYY-MM-DD)`",
    ),
    "a section without a date": (
        "CHANGELOG.md",
        " (2026-11-25)",
        "",
        "CHANGELOG.md: the section after Unreleased must be `## 7.8.9 (YYYY-MM-DD)`",
    ),
    "a section without text": (
        "CHANGELOG.md",
        "The first version.\n",
        "",
        "CHANGELOG.md: the section of 7.8.9 is empty",
    ),
}


@pytest.mark.parametrize("case", MISMATCHES)
def test_one_mismatch_is_refused(case, project, capsys):
    name, old, new, said = MISMATCHES[case]
    change(project / name, old, new)
    commit(project)
    assert refused(project, capsys) == [f"release: {said}"]


def test_a_day_that_does_not_exist_is_refused(project, capsys):
    change(project / "CHANGELOG.md", "2026-11-25", "2026-11-31")
    change(project / "CITATION.cff", "2026-11-25", "2026-11-31")
    commit(project)
    assert refused(project, capsys) == ["release: CHANGELOG.md: 2026-11-31 is not a date"]


def test_a_work_tree_that_is_not_clean_is_refused(project, capsys):
    (project / "new file").touch()
    change(project / "Cargo.toml", "[workspace]", "# A comment.\n[workspace]")
    assert refused(project, capsys) == ["release: not committed: Cargo.toml", 'release: not committed: "new file"']


def test_tags_of_something_else_are_refused(project, capsys):
    git(project, "tag", "v7.8.8")
    assert refused(project, capsys) == ["release: the tag v7.8.8 is at this commit, Cargo.toml says 7.8.9"]
    git(project, "tag", "--delete", "v7.8.8")
    git(project, "tag", "v7.8.9")
    commit(project)
    assert refused(project, capsys) == ["release: the tag v7.8.9 is at another commit: raise the version"]


@pytest.mark.parametrize(
    ("built", "said"),
    [
        ([SOURCE], "there is no wheel"),
        ([WHEEL], "there is no source distribution"),
        ([WHEEL, "odonata-7.8.8.tar.gz"], "odonata-7.8.8.tar.gz is not of version 7.8.9"),
        (
            [WHEEL.replace("7.8.9", "7.8.8"), SOURCE],
            "odonata-7.8.8-cp311-abi3-manylinux_2_28_x86_64.whl is not of version 7.8.9",
        ),
        (
            ["odonata-7.8.9-cp312-cp312-linux_x86_64.whl", SOURCE],
            "odonata-7.8.9-cp312-cp312-linux_x86_64.whl does not serve every Python from 3.11 on (cp311-abi3)",
        ),
    ],
)
def test_built_files_that_are_not_those_of_the_version_are_refused(built, said, project, capsys):
    dist = project.parent / "other"
    dist.mkdir()
    for name in built:
        (dist / name).touch()
    assert refused(project, capsys, "--dist", str(dist)) == [f"release: {dist}: {said}"]
