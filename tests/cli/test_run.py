"""`odonata run` as typed: tables, answers, one JSON object, and every way to get it wrong."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from odonata import _core
from odonata.store import open_run, write

if TYPE_CHECKING:
    from syrupy.assertion import SnapshotAssertion

Command = Callable[..., tuple[int, str, str]]
Transcript = Callable[..., str]


def test_a_run_answers(transcript: Transcript, snapshot: SnapshotAssertion) -> None:
    assert transcript("run", "tiny.toml") == snapshot


def test_alone_answers_with_the_slowdown(transcript: Transcript, snapshot: SnapshotAssertion) -> None:
    assert transcript("run", "tiny.toml", "--alone", "--out", "there") == snapshot


def test_json_is_one_object_and_nothing_else(
    odonata: Command, transcript: Transcript, snapshot: SnapshotAssertion
) -> None:
    assert transcript("run", "tiny.toml", "--json", "--alone", "--quiet", "--out", "out") == snapshot
    status, out, err = odonata("run", "tiny.toml", "--json", "--out", "out")
    assert (status, out.count("\n")) == (0, 1)
    found = json.loads(out)
    assert found["out"] == "out"
    assert found["events"] > 0
    assert found["peak_rss_bytes"] > 10_000_000
    assert found["packet_hops_per_s"] == pytest.approx(found["packet_hops"] / found["wall_s"])
    assert "already done: out" in err


def test_results_go_to_a_folder_of_name_and_id(odonata: Command, here: Path) -> None:
    odonata("run", "tiny.toml")
    (folder,) = (here / "runs").iterdir()
    assert folder.name == f"tiny-{open_run(folder).id}"


def test_quiet_says_nothing_on_the_way(odonata: Command) -> None:
    status, out, err = odonata("run", "tiny.toml", "-q")
    assert (status, err) == (0, "")
    assert out.rstrip().splitlines()[-1].startswith("target: mean latency ")


def test_overrides_and_seed_reach_the_run(odonata: Command) -> None:
    def run(*more: str) -> dict[str, object]:
        found: dict[str, object] = json.loads(odonata("run", "tiny.toml", "--json", *more)[1])
        return found

    plain, seeded, minimal = run(), run("--seed", "5"), run("-s", "routing=minimal", "-s", "run.seed=1")
    assert (plain["seed"], seeded["seed"]) == (1, 5)
    assert len({str(found["id"]) for found in (plain, seeded, minimal)}) == 3
    assert minimal["jobs"][0]["minimal_fraction"] == 1.0  # type: ignore[index]
    assert open_run(str(seeded["out"])).resolved["spec"]["seed"] == 5


def test_work_is_done_once(transcript: Transcript, snapshot: SnapshotAssertion) -> None:
    transcript("run", "tiny.toml", "--out", "out")
    assert transcript("run", "tiny.toml", "--out", "out") == snapshot(name="again")
    assert transcript("run", "tiny.toml", "--out", "out", "--seed", "2") == snapshot(name="another")
    assert transcript("run", "tiny.toml", "--out", "out", "--seed", "2", "--force") == snapshot(name="force")


def test_a_folder_that_lost_its_manifest_is_run_again_with_force(odonata: Command) -> None:
    odonata("run", "tiny.toml", "-q", "--out", "out")
    for spoil in (lambda file: file.unlink(), lambda file: file.write_text(""), lambda file: file.write_text("{}")):
        spoil(Path("out/manifest.json"))
        status, _, err = odonata("run", "tiny.toml", "--out", "out")
        assert (status, "--force" in err) == (2, True)
        assert "on tiny" not in err  # nothing was simulated
        assert "--force" in odonata("plot", "out")[2]
        assert odonata("run", "tiny.toml", "-q", "--out", "out", "--force")[0] == 0
        assert open_run("out").jobs.height == 2


@pytest.mark.parametrize(
    "arguments",
    [
        ("run",),
        ("run", "absent.toml"),
        ("run", "tiny.toml", "tiny.toml"),
        ("run", "tiny.toml", "--sed", "1"),
        ("run", "tiny.toml", "--seed", "many"),
        ("run", "tiny.toml", "--seed", "-1"),
        ("run", "tiny.toml", "-s", "routing"),
        ("run", "tiny.toml", "-s", "routing=fparr"),
        ("run", "tiny.toml", "-s", "job.target.nodez=4"),
        ("run", "tiny.toml", "-s", "job.target.app.interval=0 us"),
        ("run", "tiny.toml", "-s", "job.noise.nodes=9"),
        ("run", "tiny.toml", "--out", "."),
        ("run", "tiny.toml", "--out", "tiny.toml"),
        ("rum", "tiny.toml"),
        ("--jsn",),
    ],
    ids=" ".join,
)
def test_bad_input_is_one_message_and_status_2(
    transcript: Transcript, here: Path, snapshot: SnapshotAssertion, arguments: tuple[str, ...]
) -> None:
    text = transcript(*arguments)
    assert text == snapshot
    assert "exit status 2\n--- output\n--- error\nerror: " in text
    assert "Traceback" not in text
    assert [path.name for path in here.iterdir()] == ["tiny.toml"]


def test_a_full_disk_is_status_1_and_leaves_nothing(
    transcript: Transcript, here: Path, monkeypatch: pytest.MonkeyPatch, snapshot: SnapshotAssertion
) -> None:
    real = write._write_json
    # /dev/full takes no byte: the system itself says what a full disk says.
    monkeypatch.setattr(write, "_write_json", lambda _path, data: real(Path("/dev/full"), data))
    assert transcript("run", "tiny.toml", "--out", "out") == snapshot
    assert [path.name for path in here.iterdir()] == ["tiny.toml"]


def test_a_deadlock_is_status_1(odonata: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    def core(*_: object) -> None:
        problem = _core.CoreError()
        problem.code, problem.path, problem.parameters = "deadlock", (), {"at_ps": 5, "waiting": 7}
        problem.place = {}
        raise problem

    monkeypatch.setattr("odonata.machine.core.run", core)
    status, out, err = odonata("run", "tiny.toml")
    assert (status, out) == (1, "")
    assert "error: deadlock at 5 ps: 7 packets" in err


def test_a_defect_is_one_message_with_a_way_to_see_more(odonata: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    def core(*_: object) -> None:
        raise ZeroDivisionError("division by zero")

    monkeypatch.setattr("odonata.machine.core.run", core)
    status, _, err = odonata("run", "tiny.toml", "-q")
    assert (status, err.splitlines()[0]) == (1, "error: ZeroDivisionError: division by zero")
    assert "Traceback" not in err
    monkeypatch.setenv("ODONATA_TRACEBACK", "1")
    assert "Traceback" in odonata("run", "tiny.toml", "-q")[2]


def test_ctrl_c_is_status_130(odonata: Command, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def core(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("odonata.machine.core.run", core)
    status, out, err = odonata("run", "tiny.toml", "-q")
    assert (status, out, err) == (130, "", "error: interrupted\n")
    assert [path.name for path in here.iterdir()] == ["tiny.toml"]
