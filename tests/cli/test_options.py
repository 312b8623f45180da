"""Options are called the same in all commands, and every error with `--json` is an object."""

from __future__ import annotations

import inspect
import json
from dataclasses import is_dataclass
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args, get_type_hints

import pytest
from cyclopts import App, Parameter

from odonata.cli import COMMANDS
from odonata.cli.main import application

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.cli.conftest import Command

#: Argument of the function -> the names under which it is typed.
NAMES = {
    "set_": ["--set", "-s"],
    "workers": ["--workers", "-j"],
    "out": ["--out", "-o"],
    "quiet": ["--quiet", "-q"],
    "nodes": ["--nodes", "-N"],
    "partition": ["--partition", "-p"],
}
#: Commands whose result is a file that the user has named, or JSON in any case, or that go on for weeks.
WITHOUT_JSON = {"new", "schema", "cluster watch"}


def commands() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Every command and subcommand with its function."""
    for name, (path, _) in COMMANDS.items():
        module, _, attribute = path.partition(":")
        target = getattr(import_module(module), attribute)
        if not isinstance(target, App):
            yield name, target
            continue
        for inner in target:
            if not inner.startswith("-"):
                function = target[inner].default_command
                assert function is not None
                yield f"{name} {inner}", function


def names_of(function: Callable[..., Any]) -> dict[str, list[str]]:
    """The arguments that name themselves, with those of the groups that several commands share."""
    hints = get_type_hints(function, include_extras=True, localns={})
    names: dict[str, list[str]] = {}
    for name in inspect.signature(function).parameters:
        if is_dataclass(hints[name]):
            names |= names_of(hints[name])
            continue
        # An option that need not be given has its names inside of `| None`.
        parts = [hints[name], *get_args(hints[name])]
        said = [parameter for part in parts for parameter in getattr(part, "__metadata__", ())]
        given = [parameter.name for parameter in said if isinstance(parameter, Parameter)]
        names[name] = [given] if isinstance(given, str) else [text for listed in given if listed for text in listed]
    return names


@pytest.mark.parametrize(("command", "function"), [pytest.param(*entry, id=entry[0]) for entry in commands()])
def test_options_are_called_the_same_everywhere(command: str, function: Callable[..., Any]) -> None:
    given = names_of(function)
    assert {name: given[name] for name in NAMES if name in given} == {n: NAMES[n] for n in NAMES if n in given}
    assert ("json" in given) == (command not in WITHOUT_JSON)
    shorts = [text for texts in given.values() for text in texts if not text.startswith("--")]
    known = {text: name for name, texts in NAMES.items() for text in texts}
    wrong = {text for name, texts in given.items() for text in texts if known.get(text, name) != name}
    assert len(shorts) == len(set(shorts))
    # `--hostfile` is what `cluster select` writes.
    assert wrong <= ({"--out", "-o"} if command == "cluster select" else set())


def test_options_of_a_group_are_options_of_the_command(odonata: Command) -> None:
    """Catches a group that is one option with parts, and a command that loses what it says about an option."""
    path = Path(__file__).parents[2] / "docs" / "_ext" / "reference.py"
    spec = spec_from_file_location("reference", path)
    assert spec is not None
    assert spec.loader is not None
    reference = module_from_spec(spec)
    spec.loader.exec_module(reference)
    rows = reference.commands()
    for command, shown in (("predict", "'%i|%T|%N'"), ("when", "'%i|%T|%L|%N'")):
        text = " ".join(odonata("cluster", command, "--help")[1].replace("│", " ").split())
        assert "--queue-format STR With --queue: the format of its text, where the header is missing, as in " in text
        for told in (text, rows.partition(f"## odonata cluster {command}\n")[2].partition("\n## ")[0]):
            assert shown.replace("|", r"\|" if told is not text else "|") in told
            assert "--nodes-file" in told
            assert "--source" not in told
            assert "`*`" not in told


@pytest.mark.parametrize(
    ("problem", "status", "message"),
    [
        (OSError(28, "No space left on device", "x.png"), 1, "No space left on device"),
        (KeyboardInterrupt(), 130, "interrupted"),
        (MemoryError(), 1, "not enough memory"),
        (ValueError("odd"), 1, "ValueError: odd"),
        (ModuleNotFoundError("", name="matplotlib"), 1, "this needs matplotlib, which is not installed"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_every_error_is_an_object_too(
    odonata: Command, monkeypatch: pytest.MonkeyPatch, problem: BaseException, status: int, message: str
) -> None:
    def fails(*_: object, **__: object) -> None:
        raise problem

    monkeypatch.setattr("odonata.scenario.load", fails)
    code, out, err = odonata("trace", "tiny.toml", "-o", "x.goal", "--json")
    assert code == status
    assert json.loads(out)["error"]["message"] == message
    assert message in err
    assert odonata("trace", "tiny.toml", "-o", "x.goal")[1] == ""


@pytest.mark.parametrize(
    "arguments",
    [
        ("run", "--jsn", "--json"),
        ("nosuch", "--json"),
        ("run", "--json"),
        ("place", "--json", "--nodes", "x"),
        ("cluster", "select", "-N", "0", "--json"),
    ],
    ids=" ".join,
)
def test_an_error_of_usage_is_an_object_too(odonata: Command, arguments: tuple[str, ...]) -> None:
    status, out, err = odonata(*arguments)
    assert status == 2
    assert json.loads(out)["error"]["message"] in err


def test_what_belongs_to_another_program_is_no_option(odonata: Command) -> None:
    status, out, _ = odonata("cluster", "select", "--queue", "none", "--", "--json")
    assert (status, out) == (2, "")


def test_plot_tells_its_axes_and_what_is_drawn(odonata: Command) -> None:
    assert odonata("run", "tiny.toml", "-q", "--alone", "--out", "out")[0] == 0
    status, out, err = odonata("plot", "out", "--json")
    assert (status, err) == (0, "")
    told = json.loads(out)
    assert (told["path"], told["kind"]) == ("out/overview.png", "overview")
    latencies, between, inside = told["axes"]
    assert latencies["y"]["label"].startswith("message latency (")
    assert [(box["group"], box["series"]) for box in latencies["boxes"][:2]] == [
        ("target", "alone"),
        ("target", "with the other jobs"),
    ]
    assert all(box["min"] <= box["p50"] <= box["max"] for box in latencies["boxes"])
    assert "lines" not in latencies
    assert [len(row) for row in between["images"][0]] == [4] * 4
    assert between["images"][0][0][0] is None
    assert inside["y"]["label"] == "group"
    _, out, _ = odonata("plot", "out", "--json", "--kind", "arrivals")
    steps = json.loads(out)["axes"][0]["steps"]
    assert steps[0]["label"] == "group 0"
    assert len(steps[0]["edges"]) == len(steps[0]["heights"]) + 1


def test_plot_tells_the_lines_of_a_study(odonata: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    from tests.advice.conftest import Inline

    monkeypatch.setattr("odonata.cli.sweep.backend_of", lambda *_: Inline())
    Path("study.toml").write_text(
        'base = "tiny.toml"\n[sweep]\n"job.target.app.messages" = [2, 4]\n"run.seed" = [1, 2]\n'
    )
    assert odonata("sweep", "study.toml", "-q", "--out", "out")[0] == 0
    status, out, _ = odonata("plot", "out", "--json")
    assert status == 0
    (axes,) = json.loads(out)["axes"]
    assert axes["x"]["label"] == "messages of a rank of target"
    assert axes["lines"][0]["x"] == [2.0, 4.0]


def test_trace_and_export_tell_what_they_wrote(odonata: Command) -> None:
    change = 'job.target.app={ collective = "barrier", iterations = 3 }'
    status, out, _ = odonata("trace", "tiny.toml", "-s", change, "-o", "x.goal", "--json")
    size = Path("x.goal").stat().st_size
    assert status == 0
    assert json.loads(out) == {"path": "x.goal", "format": "goal", "job": "target", "ranks": 8, "bytes": size}
    status, out, _ = odonata("export", "tiny", "-o", "x.graphml", "--json")
    told = json.loads(out)
    assert (status, told["path"], told["format"], told["nodes"]) == (0, "x.graphml", "graphml", 16)
    assert odonata("run", "tiny.toml", "-q", "--out", "out")[0] == 0
    status, out, _ = odonata("export", "out", "-o", "x.json", "--format", "perfetto", "--json")
    assert (status, json.loads(out)["bytes"]) == (0, Path("x.json").stat().st_size)


def test_the_application_has_all_commands() -> None:
    assert set(COMMANDS) <= set(application())


#: Command -> what its help calls the arguments without an option.
ARGUMENTS = {
    "new": "FILE",
    "run": "SCENARIO",
    "sweep": "STUDY",
    "compare": "STUDY",
    "plot": "RUN",
    "report": "RUN",
    "explain": "RUN",
    "advise": "SCENARIO",
    "schedule": "SCHEDULE",
    "export": "SYSTEM",
    "trace": "SCENARIO",
    "cluster holds": "STUDY",
    "cluster import": "FILE",
    "cluster analyse": "FILE",
    "calibrate": "FILE",
}
#: Options that take such a thing, by command.
OPTIONS = {
    "place": "--system SYSTEM",
    "calibrate": "--system SYSTEM",
    "cluster snapshot": "--system SYSTEM",
    "cluster import": "--like SYSTEM",
    "advise": "--under STUDY",
}


@pytest.mark.parametrize("command", ARGUMENTS)
def test_help_says_what_an_argument_is(odonata: Command, command: str) -> None:
    status, out, _ = odonata(*command.split(), "--help")
    usage = out.splitlines()[0].removesuffix(" [ARGS]")
    assert (status, usage.split()[-1]) == (0, ARGUMENTS[command])


@pytest.mark.parametrize("command", OPTIONS)
def test_help_says_what_an_option_takes(odonata: Command, command: str) -> None:
    assert OPTIONS[command] in odonata(*command.split(), "--help")[1]
