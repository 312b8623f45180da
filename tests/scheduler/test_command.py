"""`odonata schedule` as typed, and its page."""

import json
import re
from pathlib import Path

import pytest

from odonata.cli.main import main
from odonata.scheduler.tables import ScheduleTable, StreamTable, SyntheticTable, WindowTable

FILE = """system = "tiny"
place = ["contiguous", "random"]
backfill = ["easy", "none"]
window.contention = false

[stream.synthetic]
jobs = 100
load = "150 %"
"""
DOCS = Path(__file__).parents[2] / "docs" / "schedule.md"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "days.toml").write_text(FILE)
    return tmp_path


def test_output(folder, capsys, snapshot):
    assert main(["schedule", "days.toml", "--quiet"]) == 0
    shown = capsys.readouterr()
    assert shown.out == snapshot
    assert shown.err == ""
    assert sorted(path.name for path in (folder / "schedules" / "days").iterdir() if path.is_file()) == [
        "jobs.parquet",
        "schedule.json",
        "schedule.toml",
    ]


def test_json(folder, capsys):
    assert main(["schedule", "days.toml", "--json", "-s", "place=random", "-o", "out"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert [case["case"] for case in printed["cases"]] == ["random, easy", "random, none"]
    assert printed == json.loads((folder / "out" / "schedule.json").read_text())


def test_progress_is_shown_from_the_start_and_an_interruption_says_how_to_go_on(folder, capsys, monkeypatch):
    from odonata.scheduler import scheduling

    def stops(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(scheduling._Run, "_advance", stops)
    assert main(["schedule", "days.toml"]) == 130
    begin, end, *_ = [line for line in capsys.readouterr().err.splitlines() if "jobs ended" in line]
    assert begin == "0 of 400 jobs ended, 0 windows simulated; no estimate yet"
    assert end == f"{begin}; the windows are kept, and the same command continues"


def test_an_error_that_comes_again_does_not_say_that_the_command_continues(folder, capsys, monkeypatch):
    from odonata.errors import RunError
    from odonata.scheduler import scheduling

    def fails(*_):
        raise RunError("a window cannot be simulated: a job ends no iteration")

    monkeypatch.setattr(scheduling._Run, "_advance", fails)
    assert main(["schedule", "days.toml"]) == 1
    err = capsys.readouterr().err
    assert "; the windows are kept\nerror: a window cannot be simulated" in err
    assert "continues" not in err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--tls-cert", "cert.pem"), "`--tls-...` is for `--on dask`"),
        (("--on", "dask", "--scheduler", "tls://127.0.0.1:9", "--tls-cert", "no.pem"), "there is no file `no.pem`"),
        (("--on", "dask", "--scheduler", "tcp://127.0.0.1:9", "-j", "2"), "`-j` does not apply to `--scheduler`"),
        (("--on", "dask", "--scheduler", "tcp://192.0.2.1:9", "--tls-cert", "x"), "warning: tcp://192.0.2.1 is not"),
    ],
)
def test_options_of_dask(folder, capsys, options, message):
    assert main(["schedule", "days.toml", *options]) == 2
    assert message in capsys.readouterr().err


def test_errors_are_one_message_and_status_2(folder, capsys):
    assert main(["schedule", "days.toml", "-s", "place=randon"]) == 2
    assert main(["schedule", "no.toml"]) == 2
    assert main(["schedule", "days.toml", "--on", "dask"]) == 2
    (folder / "taken").mkdir()
    (folder / "taken" / "x").touch()
    assert main(["schedule", "days.toml", "-o", "taken"]) == 2
    shown = capsys.readouterr().err
    assert shown.count("error: ") == 4
    assert "Traceback" not in shown


@pytest.mark.parametrize(
    ("heading", "model", "elsewhere"),
    [
        ("stream", StreamTable, ()),
        ("stream.synthetic", SyntheticTable, ()),
        ("window", WindowTable, ()),
        # Described in the text.
        (None, ScheduleTable, ("title", "system", "routing", "sensing", "fabric", "stream", "book", "window")),
    ],
)
def test_the_page_lists_every_key(heading, model, elsewhere):
    title = "| key | meaning |" if heading is None else f"| key of `[{heading}]` | meaning |"
    table = DOCS.read_text(encoding="utf-8").partition(f"\n{title}\n")[2].partition("\n\n")[0]
    assert re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE) == [
        key for key in model.model_fields if key not in elsewhere
    ]


@pytest.mark.parametrize("command", ["plot", "report", "explain", "compare --by place"])
@pytest.mark.parametrize("part", ["", "/jobs.parquet", "/schedule.json"])
def test_commands_of_runs_and_studies_say_that_it_is_a_schedule(folder, capsys, command, part):
    """Catches "no manifest.json" for a folder that has no manifest and needs none."""
    assert main(["schedule", "days.toml", "--quiet", "-s", "place=random", "-s", "backfill=easy"]) == 0
    capsys.readouterr()
    name, *options = command.split()
    assert main([name, f"schedules/days{part}", *options]) == 2
    error = capsys.readouterr().err
    expected = "a study" if name == "compare" else "a run"
    assert f"`schedules/days` is the folder of a schedule, expected that of {expected}" in error
    assert "`odonata schedule FILE -o schedules/days`, with the file of the schedule, prints its tables again" in error
    assert sorted(path.name for path in Path("schedules/days").iterdir()) == [
        "jobs.parquet", "schedule.json", "schedule.toml"
    ]  # fmt: skip


def test_a_schedule_that_was_interrupted_and_a_probe_are_known_too(folder, capsys):
    (folder / "killed").mkdir()
    (folder / "killed" / "schedule.toml").write_text(FILE)
    (folder / "probe").mkdir()
    (folder / "probe" / "probe-1.parquet").write_bytes(b"PAR1")
    assert main(["plot", "killed"]) == 2
    assert "`killed` is the folder of a schedule" in capsys.readouterr().err
    for command in (["report", "probe"], ["compare", "probe", "--by", "b"]):
        assert main(command) == 2
        assert "hint: `odonata cluster analyse probe` shows it" in capsys.readouterr().err
