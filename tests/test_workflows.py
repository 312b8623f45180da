"""What a workflow runs can be run here: a target of the Makefile. Its actions have a version."""

import re
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[1]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
FORMS = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))
TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
PREPARATION = re.compile(r"rustup toolchain install (stable|nightly)( --[a-z]+ [a-z,-]+)*( && rustup default stable)?")


def steps(file):
    jobs = yaml.safe_load(file.read_text())["jobs"]
    return [step for job in jobs.values() for step in job["steps"]]


def targets(command):
    """The targets that a command makes; none if it is something else."""
    words = command.split()
    return {word for word in words[1:] if "=" not in word} if words[0] == "make" else set()


def test_there_is_a_workflow_for_each_purpose():
    made = {
        file.stem: {target for step in steps(file) for target in targets(step.get("run", "-"))} for file in WORKFLOWS
    }
    assert made["dist"] == {"dist", "release"}
    assert made["docs"] == {"docs"}
    assert made["validate"] == {"validate"}
    assert made["miri"] == {"miri"}
    assert made["fuzz"] == {"fuzz"}
    assert [step["run"] for step in steps(ROOT / ".github/workflows/ci.yml") if "run" in step][-1] == ".ci/run"
    assert (ROOT / ".ci" / "run").read_text().splitlines()[-1].startswith("exec make system-deps test ")


@pytest.mark.parametrize("file", WORKFLOWS, ids=lambda file: file.stem)
def test_everything_that_is_run_is_a_target(file):
    for step in steps(file):
        command = step.get("run")
        if command is not None and command != ".ci/run" and not PREPARATION.fullmatch(command):
            assert targets(command), f"{command} is no target of make"
            assert targets(command) <= TARGETS, command


@pytest.mark.parametrize("file", WORKFLOWS, ids=lambda file: file.stem)
def test_actions_are_pinned_and_rights_are_few(file):
    text = file.read_text()
    for action in re.findall(r"uses: (.*)", text):
        assert re.fullmatch(r"[\w-]+/[\w-]+@v\d+", action), action
    assert yaml.safe_load(text)["permissions"] == {"contents": "read"}


@pytest.mark.parametrize(("name", "command"), [("validate", "make validate REDUCED=1"), ("fuzz", "make fuzz")])
def test_what_takes_long_is_weekly(name, command):
    file = ROOT / ".github" / "workflows" / f"{name}.yml"
    triggers = yaml.safe_load(file.read_text())[True]  # YAML 1.1 reads the key `on` as a truth value
    [schedule] = triggers["schedule"]
    minute, hour, day, month, weekday = schedule["cron"].split()
    assert minute.isdigit()
    assert hour.isdigit()
    assert (day, month) == ("*", "*")
    assert weekday.isdigit()
    assert command in [step.get("run") for step in steps(file)]


@pytest.mark.parametrize("file", FORMS, ids=lambda file: file.stem)
def test_forms_of_issues_have_what_the_code_host_asks_for(file):
    """It hides a form that lacks a name, a description, or an identifier of its own for each field."""
    form = yaml.safe_load(file.read_text())
    if file.stem == "config":
        assert form == {"blank_issues_enabled": False}
        return
    assert form["name"]
    assert form["description"]
    fields = [field for field in form["body"] if field["type"] != "markdown"]
    assert len({field["id"] for field in fields}) == len(fields)
    assert all(field["attributes"]["label"] for field in fields)
    assert any(field["validations"]["required"] for field in fields if "validations" in field)
