"""The schemas of files: up to date, valid for every file here, and refusing what is wrong."""

from __future__ import annotations

import json
import tomllib
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest
import tomlkit

from odonata.cli.main import main
from odonata.machine import names
from odonata.schemas import NAMES, line_of, path_of, text_of

jsonschema = pytest.importorskip("jsonschema", reason="jsonschema is not installed")

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "python/odonata"
TEMPLATES = ("scenario", "application", "incast", "training", "queue", "study", "schedule")


@lru_cache
def validator(name: str) -> Any:
    return jsonschema.Draft202012Validator(json.loads(text_of(name)))


def kind_of(data: dict[str, Any]) -> str | None:
    """What a file of the repository is, by the keys that only this kind has."""
    marks = (("study", "base"), ("book", "rule"), ("schedule", "stream"), ("system", "kind"), ("system", "preset"))
    kind = next((name for name, key in marks if key in data), None)
    return kind or ("scenario" if "job" in data or "import" in data else None)


def files() -> list[tuple[str, Path]]:
    folders = [ROOT / "examples", ROOT / "integrations", PACKAGE]
    found = [(kind_of(tomllib.loads(file.read_text())), file) for at in folders for file in sorted(at.rglob("*.toml"))]
    return [(kind, file) for kind, file in found if kind is not None]


@pytest.mark.parametrize("name", NAMES)
def test_a_schema_is_what_the_models_give(name: str) -> None:
    from odonata.schemas import generate

    jsonschema.Draft202012Validator.check_schema(json.loads(text_of(name)))
    assert generate.text_of(name) == text_of(name), "scripts/schemas.py writes them again"


@pytest.mark.parametrize("name", NAMES)
def test_every_key_has_a_meaning(name: str) -> None:
    schema = json.loads(text_of(name))
    without = [
        f"{table}.{key}"
        for table, form in [(name, schema), *schema["$defs"].items()]
        for key, value in form.get("properties", {}).items()
        if value.keys().isdisjoint(("description", "const", "enum", "$ref")) and key != "along"
    ]
    # The short forms of tables that a schedule or a machine shares with a scenario have theirs there.
    assert [key for key in without if not key.endswith((".preset", ".kind", ".from", ".to", ".step", ".count"))] == []


@pytest.mark.parametrize(("kind", "file"), files(), ids=lambda value: getattr(value, "name", value))
def test_every_file_is_valid(kind: str, file: Path) -> None:
    problems = [f"{e.json_path}: {e.message}" for e in validator(kind).iter_errors(tomllib.loads(file.read_text()))]
    assert problems == []


def test_files_of_every_kind_are_checked() -> None:
    kinds = [kind for kind, _ in files()]
    assert set(kinds) == set(NAMES)
    assert kinds.count("system") >= len(names())


SCENARIO = """\
system = "tiny"
routing = "fpar"

[[job]]
name = "a"
nodes = 8
app = { collective = "allreduce", message = "1 MB" }
"""
STUDY = """\
base = "a.toml"

[sweep]
"run.seed" = { from = 1, to = 3 }
"""
SCHEDULE = """\
system = "tiny"
place = ["random"]

[stream.synthetic]
jobs = 5
load = "90 %"
"""
BOOK = """\
[[rule]]
name = "all"
app = { pattern = "uniform-random", message = "1 KB" }
load = 0.1
"""
SYSTEM = (PACKAGE / "machine/presets/tiny.toml").read_text()
RIGHT = {"scenario": SCENARIO, "study": STUDY, "schedule": SCHEDULE, "book": BOOK, "system": SYSTEM}

WRONG = [
    ("scenario", "nodes = 8", "node = 8", "a key that there is not"),
    ("scenario", "nodes = 8", "nodes = 0", "no node"),
    ("scenario", "nodes = 8", 'nodes = "8"', "a number as a text"),
    ("scenario", 'name = "a"', 'name = "a b"', "a name with a blank"),
    ("scenario", 'name = "a"', "", "a job without a name"),
    ("scenario", '"1 MB"', '"1 megabyte"', "a unit that there is not"),
    ("scenario", '"1 MB"', "1000000", "a size without a unit"),
    ("scenario", "allreduce", "allreduc", "a collective that there is not"),
    ("scenario", 'message = "1 MB"', 'mesage = "1 MB"', "a key of an application that there is not"),
    ("scenario", '"fpar"', '"fpra"', "a routing that there is not"),
    ("scenario", '"fpar"', '{ name = "fpar", treshold = 0.5 }', "an option that there is not"),
    ("scenario", '"tiny"', '{ preset = "tiny", fabric = { packet = 5 } }', "a packet without a unit"),
    ("scenario", '"tiny"', '{ preset = "tiny", fabric = { links = { global = { latency = "5 MB" } } } }', "no time"),
    ("scenario", '"tiny"', "{ groups = 3 }", "a machine without its kind"),
    ("scenario", "[[job]]", "[job]", "a job that is no list"),
    ("scenario", "nodes = 8", "nodes = 8\nbackground = 1", "a number for true or false"),
    ("scenario", "nodes = 8", 'nodes = 8\ngap = "1 GB"', "a size for a time"),
    ("study", "base =", "bse =", "a table that there is not"),
    ("study", "to = 3", "too = 3", "a range without an end"),
    ("study", "[sweep]", "[swep]", "no axis"),
    ("study", "base =", "alone = 1\nbase =", "a number for true or false"),
    ("study", "[sweep]", '[show]\ncolumn = ["slowdown"]\n\n[sweep]', "a key of [show] that there is not"),
    ("schedule", "jobs = 5", "jobs = -5", "a negative number of jobs"),
    ("schedule", '["random"]', "[{ groups = 3 }]", "a placement without a policy"),
    ("schedule", '["random"]', '["random"]\nbackfill = "eazy"', "backfilling that there is not"),
    ("book", "load = 0.1", 'load = "a tenth"', "a load that is no number"),
    ("book", "app = { pattern =", "app = { patern =", "no application"),
    ("book", 'name = "all"', "", "a rule without a name"),
    ("system", "\ngroups", "\ngrups", "a key of a machine that there is not"),
    ("system", 'kind = "dragonfly-plus"', 'kind = "dragonflyplus"', "a kind that there is not"),
    ("system", 'kind = "dragonfly-plus"', "", "no kind"),
]


@pytest.mark.parametrize("name", NAMES)
def test_what_is_right_is_valid(name: str) -> None:
    validator(name).validate(tomllib.loads(RIGHT[name]))


@pytest.mark.parametrize(
    "routing", ['"aries"', '{ name = "aries", mode = "adaptive-3", bias_high = "1 KB" }', '{ mode = "in-order" }']
)
def test_other_names_are_valid(routing: str) -> None:
    """Those that a scenario takes and its resolved form does not have."""
    app = '{ pattern = "worst-case", message = "1 KB", interval = "1 us", shift = 2 }'
    text = SCENARIO.replace('"fpar"', routing).replace('{ collective = "allreduce", message = "1 MB" }', app)
    validator("scenario").validate(tomllib.loads(text))
    assert not validator("scenario").is_valid(tomllib.loads(text.replace("worst-case", "worst-cas")))
    wrong = SCENARIO.replace('"fpar"', '{ name = "aries", mode = "adaptive-9" }')
    assert not validator("scenario").is_valid(tomllib.loads(wrong))


def test_motifs_that_are_collectives_are_refused() -> None:
    wrong = SCENARIO.replace("collective", "motif")
    assert not validator("scenario").is_valid(tomllib.loads(wrong))


@pytest.mark.parametrize(("name", "old", "new", "why"), WRONG, ids=[why for *_, why in WRONG])
def test_what_is_wrong_is_refused(name: str, old: str, new: str, why: str) -> None:
    assert old in RIGHT[name], why
    assert not validator(name).is_valid(tomllib.loads(RIGHT[name].replace(old, new, 1)))


def test_every_reader_of_values_has_a_form() -> None:
    """Schemas are made without a reader that is unknown; one that no model has any more is not listed."""
    from odonata.schemas import generate, readers

    used: set[str] = set()
    for name in NAMES:
        watched = {
            key: (lambda inner, key=key, form=form: _used(used, key, form, inner))
            for key, form in readers.FORMS.items()
        }
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(generate, "FORMS", watched)
            generate.schema_of(name)
    assert used == set(readers.FORMS)


def _used(used: set[str], key: str, form: Any, inner: Any) -> Any:
    used.add(key)
    return form(inner) if callable(form) else form


@pytest.mark.parametrize("template", TEMPLATES)
def test_new_files_name_their_schema(tmp_path: Path, template: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["new", str(tmp_path / "new.toml"), "--template", template]) == 0
    first, *rest = (tmp_path / "new.toml").read_text().splitlines()
    name = template if template in NAMES else "scenario"
    assert first == line_of(name)
    assert Path(first.removeprefix("#:schema file://")).is_file()
    assert validator(name).is_valid(tomlkit.parse("\n".join(rest)).unwrap())


@pytest.mark.parametrize("name", NAMES)
def test_the_command_prints_a_schema_and_its_path(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema", name]) == 0
    assert capsys.readouterr().out == text_of(name)
    assert main(["schema", name, "--path"]) == 0
    assert capsys.readouterr().out == f"{path_of(name)}\n"
