"""`odonata cluster impact`: its output for programs, and inputs that are wrong or hostile."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Annotated, Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field

from odonata.cli.main import main
from odonata.units import time_ps

from .test_impact import BOOK, FILES, QUEUE

if TYPE_CHECKING:
    from pathlib import Path


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


Slowdown = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Share = Annotated[float, Field(ge=0, le=1)]


class Who(Strict):
    id: str
    job: str
    name: str
    user: str
    nodes: Annotated[int, Field(ge=2)]


class NotJudged(Who):
    why: Annotated[str, Field(min_length=10)]


class By(Strict):
    job: str
    share_of_waiting: Share
    share_of_others: Share


class At(Strict):
    class_: Annotated[str, Field(alias="class")]
    from_group: int | None
    to_group: int | None
    links: Annotated[int, Field(ge=1)]
    worst_link: str
    where: str


class Row(Who):
    slowdown: Slowdown
    at_least: bool
    of: Literal["latency", "time"]
    compared: Annotated[int, Field(ge=0)]
    range: Annotated[list[Slowdown], Field(min_length=2, max_length=2)] | None
    range_at_least: bool
    slowdowns: dict[str, Slowdown | None]
    by: By | None
    at: At | None


class Assumed(Strict):
    name: str
    traffic: str
    seed: int
    window_ps: Annotated[int, Field(ge=1)]
    packet_hops: Annotated[int, Field(ge=0)]
    judged: Annotated[int, Field(ge=0)]


class Output(Strict):
    headline: str
    system: str
    made_from: str
    vary: Literal["traffic", "seeds", "nothing"]
    assumptions: Annotated[list[Assumed], Field(min_length=1)]
    jobs: list[Row]
    not_judged: list[NotJudged]
    notes: list[str]


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    assert main(["cluster", "import", "topology.conf", "--like", "tiny", "-o", "our.toml", "--names", "names.csv"]) == 0
    return tmp_path


OPTIONS = ("--system", "our.toml", "--queue", "squeue.txt", "--book", "book.toml", "--vary", "nothing", "--quiet")


def impact(*more: str) -> int:
    options = OPTIONS if "--vary" not in more else [part for part in OPTIONS if part not in ("--vary", "nothing")]
    return main(["cluster", "impact", *options, *more])


@pytest.mark.parametrize("more", [(), ("--vary", "traffic"), ("--window", "5 us")])
def test_the_json_has_the_fields_that_programs_can_rely_on(
    machine: Path, capsys: pytest.CaptureFixture[str], more: tuple[str, ...]
) -> None:
    capsys.readouterr()
    assert impact("--json", *more) == 0
    text = capsys.readouterr().out
    read = Output.model_validate_json(text)
    assert json.loads(text) == json.loads((machine / "impact" / "impact.json").read_text())
    assert len(read.jobs) + len(read.not_judged) == 4
    assert [row.slowdown for row in read.jobs] == sorted((row.slowdown for row in read.jobs), reverse=True)
    names = [entry.name for entry in read.assumptions]
    for row in read.jobs:
        assert list(row.slowdowns) == names
        assert (row.by is None) == (row.at is None)
        known = [value for value in row.slowdowns.values() if value is not None]
        assert row.range == ([min(known), max(known)] if len(known) > 1 else None)
    if "5 us" in more:
        assert read.assumptions[0].window_ps == time_ps("5 us")


def test_the_folder_has_the_run_and_its_report(machine: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert impact("-o", "out", "--report") == 0
    assert {path.name for path in (machine / "out").iterdir()} == {"impact.json", "run", "kept"}
    assert (machine / "out" / "run" / "report.html").is_file()
    capsys.readouterr()
    assert main(["explain", "out/run", "--victim", "job-2"]) == 0
    assert "`job-1`" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--window", "soon"), "--window: "),
        (("--window", "0 s"), "--window: expected a time above 0, found `0 s`"),
        (("--system", "nothing"), "nothing"),
        (("--system", "gone.toml"), "gone.toml"),
        (("--queue", "gone.txt"), "gone.txt"),
        (("--names", "gone.csv"), "gone.csv"),
        (("--names", "topology.conf"), "expected the columns what, number and name"),
        (("--book", "squeue.txt"), "squeue.txt"),
        (("--vary", "weather"), "weather"),
        (("-o", "squeue.txt"), "squeue.txt"),
        (("-o", "."), "is the current directory"),
        (("-o", "other"), "`other` exists and holds something else"),
    ],
)
def test_wrong_options_are_errors_with_what_is_wrong(
    machine: Path, capsys: pytest.CaptureFixture[str], more: tuple[str, ...], said: str
) -> None:
    (machine / "other").mkdir()
    (machine / "other" / "run").write_text("a run of somebody")
    before = sorted(machine.rglob("*"))
    assert main(["cluster", "impact", *_replaced(more)]) == 2
    told = capsys.readouterr().err
    assert said in told
    assert "Traceback" not in told
    assert sorted(machine.rglob("*")) == before


def _replaced(more: tuple[str, ...]) -> list[str]:
    """The options, of which some have other values."""
    options = dict(zip(OPTIONS[:-1:2], OPTIONS[1:-1:2], strict=True)) | dict(zip(more[::2], more[1::2], strict=True))
    return [part for pair in options.items() for part in pair]


def test_a_machine_is_needed(machine: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cluster", "impact", "--queue", "squeue.txt"]) == 2
    assert "a machine is missing" in capsys.readouterr().err


HOSTILE = "\x1b[31mred\u202e`$(rm)`'\"\\<b>{x}%s"


def test_texts_of_users_change_neither_lines_nor_colours(machine: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (machine / "squeue.txt").write_text(QUEUE.replace("solver", HOSTILE).replace("gather", "gather" + "x" * 5000))
    (machine / "book.toml").write_text(BOOK.replace('"gather"\napp', '"gather*"\napp'))
    assert impact() == 0
    told = capsys.readouterr()
    assert "\x1b" not in told.out + told.err
    assert "\u202e" not in told.out + told.err
    capsys.readouterr()
    assert impact("--json") == 0
    read = Output.model_validate_json(capsys.readouterr().out)
    assert read.jobs[0].name == HOSTILE


@pytest.mark.parametrize("number", [1, 2, 4])
@pytest.mark.parametrize("interval", ["2 us", "400 ns"])
def test_a_job_without_neighbours_is_not_slowed_down_at_all(
    machine: Path, capsys: pytest.CaptureFixture[str], number: int, interval: str
) -> None:
    """What counts alone must not end on an idle network: this job goes on beside nobody, too."""
    lines = QUEUE.splitlines()
    (machine / "squeue.txt").write_text("\n".join([lines[0], lines[number]]) + "\n")
    book = BOOK.replace("app = {", "optional = true\napp = {").replace("2 us", interval).replace("40 us", "1 us")
    (machine / "book.toml").write_text(book.replace("5 us", "1 ns"))
    capsys.readouterr()
    assert impact() == 0
    assert capsys.readouterr().out.startswith("The judged job does not take longer than alone by 1 % or more.\n")
    assert impact("--json") == 0
    row = Output.model_validate_json(capsys.readouterr().out).jobs[0]
    assert (row.slowdown, row.at_least, row.by) == (1.0, False, None)


def test_no_job_is_an_error(machine: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (machine / "squeue.txt").write_text(QUEUE.splitlines()[0] + "\n")
    assert impact() == 2
    assert "no job of two nodes or more runs" in capsys.readouterr().err


def test_what_is_damaged_is_simulated_again(machine: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert impact() == 0
    first = (machine / "impact" / "impact.json").read_bytes()
    for path in [*(machine / "impact" / "kept").iterdir(), *(machine / "impact" / "run").iterdir()]:
        if path.is_file():
            path.write_bytes(path.read_bytes()[:40])
    assert impact() == 0
    assert (machine / "impact" / "impact.json").read_bytes() == first


def test_a_kept_number_that_was_changed_does_not_count(machine: Path) -> None:
    assert impact() == 0
    first = (machine / "impact" / "impact.json").read_bytes()
    for path in (machine / "impact" / "kept").iterdir():
        row = json.loads(path.read_text())
        if row["result"].get("latency_ps"):
            row["result"]["latency_ps"] /= 2
        path.write_text(json.dumps(row))
    assert impact() == 0
    assert (machine / "impact" / "impact.json").read_bytes() == first


def test_a_saturated_victim_is_slowed_down_by_at_least_what_the_window_shows(
    machine: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (machine / "book.toml").write_text(BOOK.replace("40 us", "1 us"))
    capsys.readouterr()
    assert impact("--json") == 0
    worst = Output.model_validate_json(capsys.readouterr().out).jobs[0]
    assert (worst.id, worst.at_least) == ("2", True)
    assert worst.slowdown > 5
    assert math.isfinite(worst.slowdown)
    assert impact() == 0
    assert "at least " in capsys.readouterr().out


def test_a_job_that_only_other_assumptions_slow_down_is_said(machine: Path, capsys: pytest.CaptureFixture[str]) -> None:
    book = BOOK.replace('"64 KiB" }\ngap = "40 us"\nalternatives.light = { gap = "1 ms" }', SOLO)
    (machine / "book.toml").write_text(book)
    capsys.readouterr()
    assert impact("--vary", "traffic") == 0
    start = "None of the 4 judged jobs takes longer than alone by 1 % or more. Under other assumptions, "
    assert capsys.readouterr().out.startswith(start)


SOLO = """\
"64 B" }
gap = "5 ms"
alternatives.light = { app = { motif = "incast", message = "64 KiB" }, gap = "1 us" }"""


def test_with_traffic_classes_the_neighbour_is_not_known_and_the_slowdown_is(
    machine: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (machine / "our.toml").read_text()
    classes = "[fabric.traffic_classes]\nbulk = {}\n\n[fabric.nic]"
    (machine / "our.toml").write_text(text.replace("[fabric.nic]", classes))
    capsys.readouterr()
    assert impact("--json") == 0
    read = Output.model_validate_json(capsys.readouterr().out)
    assert read.jobs[0].id == "2"
    assert read.jobs[0].slowdown > 1.5
    assert read.jobs[0].by is None
    assert "who makes whom wait is not known: with traffic classes, waiting is not attributed" in read.notes
