"""`odonata plot` as typed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from PIL import Image

if TYPE_CHECKING:
    from syrupy.assertion import SnapshotAssertion

Command = Callable[..., tuple[int, str, str]]
Transcript = Callable[..., str]


@pytest.fixture
def out(odonata: Command) -> str:
    assert odonata("run", "tiny.toml", "-q", "--alone", "--out", "out")[0] == 0
    return "out"


@pytest.mark.parametrize("kind", ["overview", "machine", "box", "links", "arrivals"])
def test_every_kind_is_a_picture_in_the_run_folder(odonata: Command, out: str, kind: str) -> None:
    assert odonata("plot", out, "--kind", kind) == (0, f"out/{kind}.png\n", "")
    assert Path(f"out/{kind}.png").read_bytes().startswith(b"\x89PNG")


def test_iterations_of_programs(odonata: Command, out: str) -> None:
    change = 'job.target.app={ collective = "barrier", iterations = 3 }'
    assert odonata("run", "tiny.toml", "-q", "--out", "program", "-s", change)[0] == 0
    assert odonata("plot", "program", "--kind", "iterations", "-o", "out.svg") == (0, "out.svg\n", "")
    assert "time of an iteration (µs)" in Path("out.svg").read_text()
    status, _, err = odonata("plot", out, "--kind", "iterations")
    assert status == 2
    assert "no program of this run ended an iteration" in err


def test_the_picture_goes_where_it_is_wanted(odonata: Command, out: str) -> None:
    Path("figures").mkdir()
    assert odonata("plot", out, "-o", "figures/box.svg", "--kind", "box", "--log") == (0, "figures/box.svg\n", "")
    text = Path("figures/box.svg").read_text()
    assert "message latency (µs)" in text
    assert "with the other jobs" in text


def test_arrivals_can_be_those_of_one_job(odonata: Command, out: str) -> None:
    pictures = set()
    for more in ([], ["--job", "target"], ["--job", "noise"], ["--job", "noise", "--way", "in"]):
        assert odonata("plot", out, "--kind", "arrivals", "-o", "a.svg", *more)[0] == 0
        pictures.add(Path("a.svg").read_text())
    assert len(pictures) == 4


def test_many_jobs_are_named_in_short(odonata: Command) -> None:
    job = '[[job]]\nname = "{}"\nnodes = 2\nplace = "random-nodes"\n'
    job += 'app = {{ pattern = "uniform-random", message = "4 KB", interval = "2 us", messages = 5 }}\n'
    names = [f"a-job-whose-name-is-long-{n}" for n in range(6)]
    Path("many.toml").write_text('system = "tiny"\n[measure]\nlinks.every = "1 us"\n' + "".join(map(job.format, names)))
    assert odonata("run", "many.toml", "--out", "many")[0] == 0
    assert odonata("plot", "many", "--kind", "arrivals", "-o", "many.svg") == (0, "many.svg\n", "")
    assert "a-job-whose-name-is-lon… + a-job-whose-name-is-lon… + a-job-whose-name-is-lon… + 3 other jobs" in (
        Path("many.svg").read_text()
    )


def test_a_plotted_run_is_still_a_run(odonata: Command, out: str) -> None:
    odonata("plot", out)
    assert odonata("plot", out)[0] == 0
    assert odonata("run", "tiny.toml", "--out", out)[2].startswith("already done")


@pytest.mark.parametrize(
    "arguments",
    [
        ("plot",),
        ("plot", "absent"),
        ("plot", "."),
        ("plot", "tiny.toml"),
        ("plot", "out", "-o", "box.gif"),
        ("plot", "out", "-o", "nope/box.png"),
        ("plot", "out", "--job", "target"),
        ("plot", "out", "--kind", "links", "--log"),
        ("plot", "out", "--kind", "box", "--way", "in"),
        ("plot", "out", "--kind", "boxes"),
        ("plot", "out", "--kind", "arrivals", "--job", "targte"),
    ],
    ids=" ".join,
)
def test_bad_input_is_one_message_and_status_2(
    transcript: Transcript, out: str, snapshot: SnapshotAssertion, arguments: tuple[str, ...]
) -> None:
    text = transcript(*arguments)
    assert text == snapshot
    assert "exit status 2\n--- output\n--- error\nerror: " in text


def test_what_was_not_recorded_cannot_be_drawn(
    odonata: Command, transcript: Transcript, snapshot: SnapshotAssertion
) -> None:
    Path("bare.toml").write_text(Path("tiny.toml").read_text().partition("[measure]")[0])
    odonata("run", "bare.toml", "-q", "--out", "bare")
    assert transcript("plot", "bare", "--kind", "arrivals") == snapshot


def test_what_did_not_happen_cannot_be_drawn(
    odonata: Command, transcript: Transcript, snapshot: SnapshotAssertion
) -> None:
    odonata("run", "tiny.toml", "-q", "--out", "short", "-s", "run.until=1 ns")
    assert transcript("plot", "short") == snapshot(name="nothing delivered")
    assert transcript("plot", "short", "--kind", "arrivals") == snapshot(name="no traffic")


def test_a_short_last_window_is_mentioned_if_it_is_not_drawn(odonata: Command) -> None:
    for until, mentioned in (("10.2 us", True), ("12 us", False)):
        odonata("run", "tiny.toml", "-q", "--out", "end", "--force", "-s", f"run.until={until}")
        assert odonata("plot", "end", "--kind", "arrivals", "-o", "end.svg")[0] == 0
        text = Path("end.svg").read_text()
        assert ("the last 200 ns are not drawn" in text) == mentioned
        assert "capacity in and out" in text


def test_a_truncated_table_is_named(odonata: Command, transcript: Transcript, out: str) -> None:
    file = Path(out) / "links.parquet"
    file.write_bytes(file.read_bytes()[:100])
    text = transcript("plot", out)
    assert "exit status 2" in text
    assert "error: out/links.parquet: the file was cut off: it has 100 bytes" in text


def test_an_animation_of_two_runs(odonata: Command) -> None:
    more = ["-s", "measure.series=true"]
    assert odonata("run", "tiny.toml", "-q", "--out", "out", *more)[0] == 0
    assert odonata("plot", "out", "--animate") == (0, "out/machine.gif\n", "")
    assert odonata("run", "tiny.toml", "--out", "out", *more)[2].startswith("already done")
    status, told, _ = odonata(
        "plot", "out", "out", "--animate", "-o", "two.gif", "--json", "--size", "6x4", "--title", "$"
    )
    assert status == 0
    with Image.open("two.gif") as image:
        assert (image.size, getattr(image, "n_frames", 1)) == ((600, 400), json.loads(told)["frames"])
    for arguments, said in (
        (["out", "--animate", "--kind", "box"], "`--kind` does nothing with `--animate`"),
        (["out", "--animate", "--log"], "`--log` does nothing with `--animate`"),
        (["out", "--animate", "-o", "x.png"], ".gif, .mp4"),
        (["out", "--animate", "-o", "x.gif", "--size", "40x3"], "at most 16 inches"),
        (["out", "-o", "x.gif"], "is not a picture format"),
        (["out", "out", "-o", "x.png"], "only with `--animate`"),
    ):
        status, _, err = odonata("plot", *arguments)
        assert status == 2
        assert said in err
    assert not list(Path().glob("x.*"))
