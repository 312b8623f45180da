"""Checks that everything is ready to release this version, and publishes nothing.

`release.py` compares the versions, the changelog and the work tree. `release.py --dist FOLDER` also compares what
`make dist` has built, and prints what to do next. `make release` runs both.
"""

from __future__ import annotations

import argparse
import datetime
import re
import runpy
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
HEADINGS = ("Added", "Changed", "Fixed", "Results may change", "Removed")
_SECTION = re.compile(r"^## (.+)$", re.MULTILINE)
_DATED = re.compile(r"(\S+) \((\d{4}-\d{2}-\d{2})\)")


def version(root: Path) -> str:
    """The version of the workspace in Cargo.toml, which all others must equal."""
    return str(_toml(root / "Cargo.toml")["workspace"]["package"]["version"])


def wrong_versions(root: Path) -> list[str]:
    """A sentence for each file whose version is not that of Cargo.toml."""
    wanted = version(root)
    wrong = [
        f"{manifest.relative_to(root)}: the version must be `version.workspace = true`"
        for manifest in sorted(root.glob("crates/*/Cargo.toml"))
        if _toml(manifest)["package"]["version"] != {"workspace": True}
    ]
    wrong += [
        f"Cargo.lock: {package['name']} is {package['version']}, Cargo.toml says {wanted}"
        for package in _toml(root / "Cargo.lock")["package"]
        if "source" not in package and package["version"] != wanted
    ]
    project = _toml(root / "pyproject.toml")["project"]
    if "version" in project or "version" not in project.get("dynamic", []):
        wrong.append('pyproject.toml: the version must come from Cargo.toml (`dynamic = ["version"]`)')
    cited = _citation(root, "version")
    if cited != wanted:
        wrong.append(f"CITATION.cff: version is {cited}, Cargo.toml says {wanted}")
    shown = runpy.run_path(str(root / "docs" / "conf.py")).get("release")
    if shown != wanted:
        wrong.append(f"docs/conf.py: release is {shown}, Cargo.toml says {wanted}")
    return wrong


def wrong_changelog(root: Path) -> list[str]:
    """A sentence for each reason why CHANGELOG.md is not that of a release of this version."""
    text = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    names = _SECTION.findall(text)
    bodies = _SECTION.split(text)[2::2]
    if names[:1] != ["Unreleased"]:
        return ["CHANGELOG.md: the first section must be `## Unreleased`"]
    wrong = []
    headings = tuple(re.findall(r"^### (.+)$", bodies[0], re.MULTILINE))
    if headings != HEADINGS:
        wrong.append(f"CHANGELOG.md: the headings under Unreleased must be {', '.join(HEADINGS)}")
    entries = [line for line in bodies[0].splitlines() if line.strip() and not line.startswith("###")]
    if entries:
        wrong.append(f"CHANGELOG.md: this is under Unreleased and belongs to the version: {entries[0]}")
    wanted = version(root)
    dated = _DATED.fullmatch(names[1]) if len(names) > 1 else None
    if dated is None or dated[1] != wanted:
        wrong.append(f"CHANGELOG.md: the section after Unreleased must be `## {wanted} (YYYY-MM-DD)`")
        return wrong
    if not bodies[1].strip():
        wrong.append(f"CHANGELOG.md: the section of {wanted} is empty")
    try:
        datetime.date.fromisoformat(dated[2])
    except ValueError:
        wrong.append(f"CHANGELOG.md: {dated[2]} is not a date")
    cited = _citation(root, "date-released")
    if cited != dated[2]:
        wrong.append(f"CITATION.cff: date-released is {cited}, CHANGELOG.md says {dated[2]}")
    return wrong


def wrong_tree(root: Path) -> list[str]:
    """A sentence for each uncommitted file, and for a tag that names another version or another commit."""
    changed = _git(root, "status", "--porcelain").splitlines()
    wrong = [f"not committed: {line[3:]}" for line in changed]
    wanted = f"v{version(root)}"
    here = _git(root, "tag", "--points-at", "HEAD", "--list", "v*").split()
    wrong += [f"the tag {tag} is at this commit, Cargo.toml says {wanted[1:]}" for tag in here if tag != wanted]
    if wanted not in here and _git(root, "tag", "--list", wanted).strip():
        wrong.append(f"the tag {wanted} is at another commit: raise the version")
    return wrong


def wrong_dist(root: Path, folder: Path) -> list[str]:
    """A sentence for each file that `make dist` should have built and has not, or has built of another version."""
    wanted = version(root)
    wrong = []
    for kind, pattern in {"wheel": "*.whl", "source distribution": "*.tar.gz"}.items():
        built = sorted(path.name for path in folder.glob(pattern))
        if not built:
            wrong.append(f"{folder}: there is no {kind}")
        for name in built:
            if name.removesuffix(".tar.gz").split("-")[1] != wanted:
                wrong.append(f"{folder}: {name} is not of version {wanted}")
            if kind == "wheel" and "-cp311-abi3-" not in name:
                wrong.append(f"{folder}: {name} does not serve every Python from 3.11 on (cp311-abi3)")
    return wrong


def next_steps(root: Path) -> str:
    """What a maintainer does by hand once everything agrees."""
    tag = f"v{version(root)}"
    return f"""Everything is ready to release {tag[1:]}. Nothing has been published. Next:
  1. git tag -a {tag} -m "Odonata {tag[1:]}" && git push origin {tag}
     The workflows build the wheels of all platforms and the documentation of this tag.
  2. Download the wheels and the source distribution that the workflow `Distribution` has built for the tag, and upload
     them to the package index.
  3. Make a release of the tag with the section of {tag[1:]} in CHANGELOG.md as its text."""


def main(arguments: list[str] | None = None, root: Path = ROOT) -> int:
    """Print every mismatch; the exit status is 1 if there is one."""
    parser = argparse.ArgumentParser(description="Check that everything is ready to release this version.")
    parser.add_argument("--dist", type=Path, help="also check the files in this folder, which `make dist` has built")
    folder = parser.parse_args(arguments).dist
    wrong = wrong_versions(root) + wrong_changelog(root) + wrong_tree(root)
    if folder is not None:
        wrong += wrong_dist(root, folder)
    for sentence in wrong:
        print(f"release: {sentence}", file=sys.stderr)
    if wrong:
        return 1
    if folder is None:
        print(f"release: versions, changelog and work tree agree on {version(root)}")
    else:
        print(next_steps(root))
    return 0


def _citation(root: Path, key: str) -> str | None:
    """The value of a key on a line of its own."""
    match = re.search(
        rf"^{key}: *\"?([^\"\n]+?)\"? *$", (root / "CITATION.cff").read_text(encoding="utf-8"), re.MULTILINE
    )
    return None if match is None else match[1]


def _toml(file: Path) -> dict:
    return tomllib.loads(file.read_text(encoding="utf-8"))


def _git(root: Path, *words: str) -> str:
    return subprocess.run(["git", *words], cwd=root, capture_output=True, text=True, check=True).stdout


if __name__ == "__main__":
    sys.exit(main())
