"""The tables in `docs/applications.md` are those of the code, and its examples run."""

import tomllib
from pathlib import Path

import pytest
import tomlkit

from odonata.machine.host import HostTable
from odonata.scenario import COLLECTIVES, MOTIFS, PATTERNS, parse
from odonata.scenario.apps.mapping import MAPPINGS
from odonata.scenario.describe import keys_of_table

PAGE = (Path(__file__).parents[2] / "docs" / "applications.md").read_text(encoding="utf-8")
EXAMPLES = [text.split("```")[0] for text in PAGE.split("```toml\n")[1:]]
HOST = [text for text in EXAMPLES if text.startswith("[host]")]


def first_line(model):
    return model.__doc__.splitlines()[0].rstrip(".")


def size(collective):
    field = collective.model_fields.get("message")
    return field.description if field else "none"


TABLES = {
    "| pattern | what it does |": [f"| `{name}` | {first_line(model)} |" for name, model in PATTERNS.items()],
    "| collective | `message` is | algorithms | without `algorithm` |": [
        f"| `{name}` | {size(model)} | {', '.join(f'`{one}`' for one in model.algorithms)} | {model.reason} |"
        for name, model in COLLECTIVES.items()
    ],
    "| motif | what it does |": [f"| `{name}` | {first_line(model)} |" for name, model in MOTIFS.items()],
    "| mapping | what it does |": [f"| `{name}` | {about} |" for name, about in MAPPINGS.items()],
}


@pytest.mark.parametrize("header", TABLES)
def test_a_table_is_that_of_the_code(header):
    rows = PAGE.split(f"{header}\n", 1)[1].split("\n\n")[0].splitlines()[1:]
    assert rows == TABLES[header]


def test_every_key_of_the_host_is_named():
    listed = PAGE.partition("## Costs of the host")[2].partition("### Costs by size")[0]
    assert [key.name for key in keys_of_table(HostTable) if f"`{key.name}`" not in listed] == []


@pytest.mark.parametrize("text", [text for text in EXAMPLES if text not in HOST], ids=["job", "bursts", "phases"])
def test_an_example_resolves(text):
    data = tomllib.loads(text)
    job = data.get("job", [{"name": "a", "nodes": 128, **data}])
    resolved = parse(tomlkit.dumps({"system": "zhang2018-272", "job": job})).resolve()
    assert len(resolved.spec["jobs"][0]["nodes"]) == 128


@pytest.mark.parametrize(
    ("text", "key", "sizes"),
    list(zip(HOST, ("by_size", "combine_by_size"), ([8, 10**6], [2**20, 2**26]), strict=True)),
    ids=["messages", "reductions"],
)
def test_the_examples_of_costs_resolve(text, key, sizes):
    job = {"name": "a", "nodes": 2, "app": {"motif": "ping-pong", "message": "1 KB"}}
    system = {"preset": "tiny", "host": tomllib.loads(text)["host"]}
    resolved = parse(tomlkit.dumps({"system": system, "job": [job]})).resolve()
    assert [row["bytes"] for row in resolved.spec["jobs"][0]["program"][key]] == sizes


def test_the_pages_count_the_algorithms():
    count = sum(len(collective.algorithms) for collective in COLLECTIVES.values())
    for page in ("docs/overview.md", "CHANGELOG.md"):
        assert f"{count} algorithms" in (Path(__file__).parents[2] / page).read_text(encoding="utf-8")
