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
    printed = json.loads(out)
    assert printed["out"] == "out"
    assert printed["events"] > 0
    assert printed["peak_rss_bytes"] > 10_000_000
    assert printed["packet_hops_per_s"] == pytest.approx(printed["packet_hops"] / printed["wall_s"])
    assert "already done: out" in err


def test_results_go_to_a_folder_of_name_and_id(odonata: Command, here: Path) -> None:
    odonata("run", "tiny.toml")
    (folder,) = (here / "runs").iterdir()
    assert folder.name == f"tiny-{open_run(folder).id}"


def test_quiet_says_nothing_on_the_way(odonata: Command) -> None:
    status, out, err = odonata("run", "tiny.toml", "-q")
    assert (status, err) == (0, "")
    assert out.startswith("target: mean latency ")


def test_overrides_and_seed_reach_the_run(odonata: Command) -> None:
    def run(*more: str) -> dict[str, object]:
        document: dict[str, object] = json.loads(odonata("run", "tiny.toml", "--json", *more)[1])
        return document

    plain, seeded, minimal = run(), run("--seed", "5"), run("-s", "routing=minimal", "-s", "run.seed=1")
    assert (plain["seed"], seeded["seed"]) == (1, 5)
    assert len({str(printed["id"]) for printed in (plain, seeded, minimal)}) == 3
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


def _others(count: int) -> str:
    job = '[[job]]\nname = "other{0}"\nnodes = {1}\nplace = "random"\nbackground = true\n'
    job += 'app = {{ pattern = "uniform-random", message = "1 KB", interval = "5 us" }}\n'
    return "\n".join(job.format(number, 2 + (number >= count - 10)) for number in range(count))


def test_the_answer_is_first_and_of_the_background_only_the_largest_jobs_are_shown(odonata: Command) -> None:
    text = Path("tiny.toml").read_text().split("[[job]]")
    text[2] = text[2].split("[run]")[1]
    Path("many.toml").write_text(
        f"{text[0]}[[job]]{text[1]}{_others(13)}\n[run]{text[2]}".replace('"tiny"', '"kang2019"')
    )
    status, out, err = odonata("run", "many.toml", "-q", "-s", "job.target.nodes=4", "-s", "job.target.place=random")
    assert status == 0, err
    lines = out.splitlines()
    assert lines[0].startswith("target: mean latency ")
    assert [line.split()[0] for line in lines if line.startswith("other")] == [f"other{n}" for n in range(3, 13)]
    assert lines[-1] == "3 more background jobs (--all prints them)"
    out = odonata("run", "many.toml", "-q", "--all", "-s", "job.target.nodes=4", "-s", "job.target.place=random")[1]
    assert (out.count("\nother"), "more" in out) == (13, False)


def test_seeds_make_a_study_and_give_a_slowdown_with_an_interval(odonata: Command) -> None:
    import numpy as np

    from odonata.analysis.bootstrap import interval
    from odonata.study.study import open_study

    status, out, err = odonata("run", "tiny.toml", "--seeds", "6", "-j", "1")
    assert (status, "a study of 6 seeds" in err) == (0, True)
    (folder,) = Path("studies").iterdir()
    assert f"results in {folder}" in err
    rows = open_study(folder).rows_of("target")
    values = rows["slowdown"].to_numpy()
    low, high = interval(values, seed=1) or (0, 0)
    assert len(values) == 6
    assert out.startswith(f"target: slowdown {np.median(values):.2f} x (95 %: {low:.2f} to {high:.2f}), mean latency ")
    document = json.loads(odonata("run", "tiny.toml", "--seeds", "6", "-j", "1", "--json", "-q")[1])
    assert (document["jobs"][0]["low"], document["jobs"][0]["high"], document["seeds"]) == (
        low,
        high,
        [1, 2, 3, 4, 5, 6],
    )
    assert "no interval: it needs 6 seeds" in odonata("run", "tiny.toml", "--seeds", "2", "-j", "1", "--out", "o")[1]


@pytest.mark.parametrize(("more", "said"), [(("--all",), "`--all` does nothing with `--seeds`"), ((), "")])
def test_options_that_seeds_do_not_know_are_refused(odonata: Command, more: tuple[str, ...], said: str) -> None:
    status, _, err = odonata("run", "tiny.toml", *((*more, "--seeds", "2") if more else ("-j", "2")))
    assert status == 2
    assert (said or "`--workers` is for `--seeds`") in err


_OF_KINDS = {
    "study": ('base = "b.toml"\n[sweep]\n"run.seed" = [1, 2]\n', "this is a study", "odonata sweep"),
    "system": ('kind = "dragonfly"\n', "this is a system", 'system = "'),
    "schedule": ('system = "tiny"\n[stream.synthetic]\njobs = 2\n', "this is a schedule", "odonata schedule"),
    "book": ('title = "x"\n[[rule]]\njobs = "*"\n', "this is a traffic book", 'book = "'),
}


@pytest.mark.parametrize("command", ["run", "advise", "show"])
@pytest.mark.parametrize("kind", _OF_KINDS)
def test_a_file_of_another_kind_is_named(odonata, tmp_path, command, kind):
    if (command, kind) == ("show", "system"):
        return
    text, said, remedy = _OF_KINDS[kind]
    file = tmp_path / "a.toml"
    file.write_text(text)
    status, _, err = odonata(command, str(file))
    assert status == 2
    assert said in err
    assert remedy in err
