"""ARCHITECTURE and CONTRIBUTING: every file and every symbol that they name exists."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = ["ARCHITECTURE.md", "CONTRIBUTING.md"]
#: Folders that a page leaves out before a path, as `routing/loads.rs` for `crates/sim/src/routing/loads.rs`.
WITHIN = ["", "python/odonata", "crates/sim/src"]
#: A path, perhaps with a symbol: `python/odonata/units.py`, `crates/sim/src/routing.rs:RoutingAlgorithm`.
NAMED = re.compile(r"`([\w.*-]+(?:/[\w.*-]+)*/?)(?::([A-Za-z_]\w*))?`")
ENDINGS = (".rs", ".py", ".pyi", ".md", ".toml", ".csv", ".ts", ".sh", ".h", ".json", ".in", ".lock", ".cff", ".txt")
#: A file that the reader makes: FAMILY.rs, NAME.py.
MADE = re.compile(r"(?<![A-Z])(?:NAME|FAMILY|PAGE|STUDY|MANAGER)(?![A-Z])")
#: A word of the code: `ROUTINGS`, `with_parts!`, `Trace::parse_goal`.
WORD = re.compile(r"`(?:\w+::)*(\w+)(?:!|\(\w*\))?`")
#: Files of a run, and of a system that the project does not have.
ELSEWHERE = {"scenario.toml", "resolved.json", "manifest.json", "study.toml", "NAME.json"}


@cache
def files() -> tuple[str, ...]:
    """All files of the project."""
    left_out = {".git", ".venv", "target", "node_modules", "_build", "__pycache__"}
    return tuple(
        path.relative_to(ROOT).as_posix()
        for top in ROOT.iterdir()
        if top.name not in left_out
        for path in (top, *top.rglob("*"))
        if not left_out & set(path.relative_to(ROOT).parts)
    )


def found(path: str) -> list[str]:
    """The files and folders that a page may mean by a path: from the root, in a usual folder, or the end of a path."""
    path = path.rstrip("/")
    whole = [f"{folder}/{path}".lstrip("/") for folder in WITHIN]
    return [file for file in files() if file in whole] or [file for file in files() if file.endswith(f"/{path}")]


def named(text: str) -> set[tuple[str, str]]:
    """Paths with their symbols. A name without a folder and without an ending of files is a word of the code."""
    return {
        (path, symbol)
        for path, symbol in NAMED.findall(text)
        if (path.endswith(ENDINGS) or "/" in path) and path not in ELSEWHERE and not MADE.search(path)
        if not path.startswith((".venv", "target", "1", "2"))
    }


@pytest.mark.parametrize("page", PAGES)
def test_every_file_exists(page: str) -> None:
    paths = {path for path, _ in named((ROOT / page).read_text(encoding="utf-8"))}
    assert len(paths) > 50
    assert [path for path in sorted(paths) if not found(path)] == []


@pytest.mark.parametrize("page", PAGES)
def test_every_file_to_be_made_has_its_folder(page: str) -> None:
    """`python/odonata/cli/NAME.py`: the folder is there."""
    made = {path for path, _ in NAMED.findall((ROOT / page).read_text(encoding="utf-8")) if MADE.search(path)}
    folders = {MADE.split(path)[0].rpartition("/")[0] for path in made}
    assert [folder for folder in sorted(folders) if folder and not found(folder)] == []


def test_every_symbol_stands_in_its_file() -> None:
    symbols = [one for page in PAGES for one in named((ROOT / page).read_text(encoding="utf-8")) if one[1]]
    assert len(symbols) > 20
    missing = []
    for path, symbol in symbols:
        texts = [(ROOT / file).read_text(encoding="utf-8") for file in found(path) if (ROOT / file).is_file()]
        if not any(re.search(rf"\b{re.escape(symbol)}\b", text) for text in texts):
            missing.append(f"{path}:{symbol}")
    assert missing == []


def recipes() -> dict[str, str]:
    """Title of a recipe -> its text."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").partition("\n# Recipes\n")[2]
    return dict(part.split("\n", 1) for part in text.split("\n## ")[1:])


@pytest.mark.parametrize("title", recipes())
def test_every_word_of_the_code_stands_in_a_file_of_its_recipe(title: str) -> None:
    """Catches a table or a function that has another name by now."""
    text = recipes()[title]
    of_code = [file for path, _ in named(text) for file in found(path)]
    folders = [MADE.split(path)[0].rpartition("/")[0] for path, _ in NAMED.findall(text) if MADE.search(path)]
    of_code += [file for file in files() if file.rpartition("/")[0] in folders]
    texts = [
        (ROOT / file).read_text(encoding="utf-8", errors="ignore")
        for file in {inner for one in of_code for inner in files() if inner == one or inner.startswith(f"{one}/")}
        if (ROOT / file).is_file()
    ]
    assert texts
    words = {word for word in WORD.findall(text) if not MADE.search(word)}
    assert [word for word in sorted(words) if not any(re.search(rf"\b{word}\b", one) for one in texts)] == []


def test_what_does_not_exist_is_noticed() -> None:
    text = "`crates/sim/src/endpoint.rs:Endpoint`, `no/such.rs`, `python/odonata/cli/NAME.py`, `units.py`, `route`"
    assert named(text) == {("crates/sim/src/endpoint.rs", "Endpoint"), ("no/such.rs", ""), ("units.py", "")}
    assert found("routing/loads.rs") == ["crates/sim/src/routing/loads.rs"]
    assert found("no/such.rs") == []
