"""packaging/: the recipes have the version, the licence and the dependencies of the project."""

import ast
import re
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
WORKSPACE = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]
VERSION = WORKSPACE["version"]
"""That of pyproject.toml, which takes it from Cargo.toml (`dynamic`)."""
RUN = [Requirement(text) for text in PROJECT["project"]["dependencies"]]
ALL = [Requirement(text) for text in PROJECT["project"]["optional-dependencies"]["all"]]
MATURIN = Requirement(PROJECT["build-system"]["requires"][0])


def bounds(requirement):
    """The lower bound, which is included, and the upper one, which is not."""
    assert {one.operator for one in requirement.specifier} <= {">=", "<"}, requirement
    found = {one.operator: one.version for one in requirement.specifier}
    return found[">="], found.get("<")


def instructions(name):
    """The instructions of a Dockerfile: their words, lines that end with a backslash joined."""
    text = re.sub(r"\\\n", " ", (ROOT / "packaging" / name).read_text())
    return [line.split(maxsplit=1) for line in text.splitlines() if line and not line.startswith("#")]


def sections(name):
    """The header of an Apptainer definition as a dictionary, and its sections as lines."""
    text = "\n".join(line for line in (ROOT / "packaging" / name).read_text().splitlines() if line[:1] != "#")
    header, *parts = re.split(r"^%", text, flags=re.MULTILINE)
    fields = dict(line.split(": ") for line in header.split("\n") if line)
    return fields, {part.split("\n")[0]: [line.strip() for line in part.split("\n")[1:] if line] for part in parts}


def calls_of_spack():
    """Each call in the class of the package: its name, its positional arguments and its options."""
    tree = ast.parse((ROOT / "packaging" / "spack" / "package.py").read_text())
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)]
    return [
        (
            call.func.id,
            [ast.literal_eval(of) for of in call.args],
            {k.arg: ast.literal_eval(k.value) for k in call.keywords},
        )
        for call in calls
    ]


def as_spack(requirement):
    """`name@lower:upper`, where the upper bound is included with all that it begins: `<0.16` is `:0.15`."""
    lower, upper = bounds(requirement)
    if upper is None:
        return f"{requirement.name}@{lower}:"
    *rest, last = upper.split(".")
    return f"{requirement.name}@{lower}:{'.'.join([*rest, str(int(last) - 1)])}"


def as_conda(requirement, names):
    lower, upper = bounds(requirement)
    return f"{names.get(requirement.name, requirement.name)} >={lower},<{upper}"


def test_spack_has_the_same_version_and_dependencies():
    calls = calls_of_spack()
    assert [arguments[0] for name, arguments, _ in calls if name == "version"] == [VERSION]
    assert [arguments[0] for name, arguments, _ in calls if name == "license"] == [WORKSPACE["license"]]
    wanted = {arguments[0]: options["type"] for name, arguments, options in calls if name == "depends_on"}
    python = PROJECT["project"]["requires-python"].removeprefix(">=")
    assert wanted.pop("c") == wanted.pop(f"rust@{WORKSPACE['rust-version']}:") == "build"
    assert wanted.pop(f"py-{as_spack(MATURIN)}") == "build"
    assert set(wanted) == {f"python@{python}:", *(f"py-{as_spack(one)}" for one in [*RUN, *ALL])}
    assert set(wanted.values()) == {("build", "run")}


def test_conda_has_the_same_version_and_dependencies():
    recipe = yaml.safe_load((ROOT / "packaging" / "conda" / "recipe.yaml").read_text())
    assert str(recipe["context"]["version"]) == VERSION
    assert recipe["package"] == {"name": PROJECT["project"]["name"], "version": "${{ version }}"}
    assert recipe["about"]["license"] == WORKSPACE["license"]
    assert recipe["about"]["summary"] == PROJECT["project"]["description"]
    needs, python = recipe["requirements"], f"python {PROJECT['project']['requires-python']}"
    assert f"rust >={WORKSPACE['rust-version']}" in needs["build"]
    assert needs["host"] == [python, "pip", as_conda(MATURIN, {})]
    names = {"matplotlib": "matplotlib-base"}  # without a toolkit for windows
    assert sorted(needs["run"]) == sorted([python, *(as_conda(one, names) for one in [*RUN, *ALL])])
    assert (ROOT / "packaging" / "conda" / recipe["source"]["path"]).resolve() == ROOT


def test_the_images_have_the_same_version_and_the_same_steps():
    docker = instructions("Dockerfile")
    arguments = dict(words[1].split("=") for words in docker if words[0] == "ARG")
    header, parts = sections("odonata.def")
    assert arguments == dict(line.split("=") for line in parts["arguments"]) == {"VERSION": VERSION}
    assert [words[1] for words in docker if words[0] == "FROM"] == [header["From"]]
    minor = header["From"].removeprefix("python:").removesuffix("-slim")
    assert PROJECT["project"]["requires-python"] == f">={minor}"

    (run,) = (words[1] for words in docker if words[0] == "RUN")
    steps = [" ".join(step.replace("${VERSION}", "{{ VERSION }}").split()) for step in run.split("&&")]
    assert steps == parts["post"]
    (copied,) = (words[1] for words in docker if words[0] == "COPY")
    *files, folder = copied.replace("${VERSION}", "{{VERSION}}").split()
    assert sorted(f"{file} {folder}" for file in files) == sorted(
        line.replace("{{ VERSION }}", "{{VERSION}}") for line in parts["files"]
    )
    (path,) = (words[1] for words in docker if words[0] == "ENV")
    assert parts["environment"] == [f"export {path}"]


@pytest.mark.parametrize("file", ["scripts/install_wheel.sh", "requirements/run.lock"])
def test_what_the_images_copy_is_there_and_not_ignored(file):
    assert (ROOT / file).is_file()
    assert f"!{file}" in (ROOT / "packaging" / "Dockerfile.dockerignore").read_text().splitlines()
    assert any(words[0] == "COPY" and file in words[1].split() for words in instructions("Dockerfile"))
    assert any(line.split()[0] == file for line in sections("odonata.def")[1]["files"])
