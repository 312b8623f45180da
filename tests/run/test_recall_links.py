"""A finished run is recalled only if the files that its scenario names are unchanged, where symbolic links lead.

`link` leads to `real/sub`, so `link/../FILE` is `real/FILE`. An equal file is at the textual place, where a path whose
`..` is taken away as text leads.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from odonata import reading
from odonata.cli.main import main
from odonata.store import inputs

if TYPE_CHECKING:
    from collections.abc import Callable

JOB = '[[job]]\nname = "m"\nnodes = 4\n'
MATRIX = "0,{0},0,0\n0,0,{0},0\n0,0,0,{0}\n{0},0,0,0\n"
SYSTEM = """\
kind = "fat-tree"
pods = 1
leaves = 2
spines = 2
nodes_per_leaf = {0}

[fabric.links.node]
bandwidth = "100 Gbit/s"
latency = "10 ns"

[fabric.links.leaf]
bandwidth = "100 Gbit/s"
latency = "10 ns"
"""

TRACE = "num_ranks 4\n" + "".join(
    f"rank {rank} {{{{\na: send {{0}}b to {rank ^ 1}\nb: recv {{0}}b from {rank ^ 1}\n}}}}\n" for rank in range(4)
)

#: What a scenario names -> its text, the name of the file, and two texts of it.
NAMES = {
    "matrix": (f'system = "tiny"\n{JOB}app = {{ matrix = "../m.csv" }}\n', "m.csv", MATRIX, (1_000, 900_000)),
    "mapping": (
        f'system = "tiny"\n{JOB}app = {{ collective = "alltoall", message = "1 KB", mapping = "../ranks.txt" }}\n',
        "ranks.txt",
        "0\n{0}\n",
        ("1\n2\n3", "2\n1\n3"),
    ),
    "trace": (
        f'system = "tiny"\n{JOB}app = {{ trace = "../t.goal" }}\n',
        "t.goal",
        TRACE,
        (1_000, 900_000),
    ),
    "system": (
        f'system = "../machine.toml"\n{JOB}app = {{ collective = "alltoall", message = "1 KB" }}\n',
        "machine.toml",
        SYSTEM,
        (2, 4),
    ),
}


@pytest.fixture(params=NAMES)
def changed(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Writes `link/s.toml` and what it names; the call changes the file that it really names."""
    monkeypatch.chdir(tmp_path)
    text, name, content, (before, after) = NAMES[request.param]
    Path("real/sub").mkdir(parents=True)
    Path("link").symlink_to("real/sub")
    Path("real/sub/s.toml").write_text(text)
    for place in (Path("real") / name, Path(name)):
        place.write_text(content.format(before))

    def change() -> None:
        (Path("real") / name).write_text(content.format(after))

    return change


def run(scenario: str = "link/s.toml") -> str:
    """Returns the id of the run that a scenario gives."""
    before = {folder.name for folder in Path("runs").glob("*")}
    assert main(["run", scenario, "-q"]) == 0
    new = {folder.name for folder in Path("runs").glob("*")} - before
    return min(new, default="")


def test_a_run_is_simulated_again_when_the_real_file_changes(changed: Callable[[], None]) -> None:
    assert run()
    assert not run()
    changed()
    assert run()
    assert not run()


def test_a_sweep_too(changed: Callable[[], None], capsys: pytest.CaptureFixture[str]) -> None:
    Path("study.toml").write_text('base = "link/s.toml"\n[sweep]\n"run.seed" = [1, 2]\n')

    def sweep() -> bool:
        """Whether it simulates."""
        assert main(["sweep", "study.toml", "--out", "out", "-q", "--workers", "1"]) == 0
        capsys.readouterr()
        return runs() != before

    def runs() -> list[str]:
        return sorted(file.name for file in Path("out/results").glob("part-*.parquet"))

    before: list[str] = []
    assert sweep()
    before = runs()
    assert not sweep()
    changed()
    assert sweep()


def test_a_link_that_leads_elsewhere_is_followed_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches paths that are kept as they really were, which do not change when a link does."""
    monkeypatch.chdir(tmp_path)
    for version, size in (("v1", 1_000), ("v2", 900_000)):
        Path(version).mkdir()
        (Path(version) / "m.csv").write_text(MATRIX.format(size))
        (Path(version) / "s.toml").write_text(f'system = "tiny"\n{JOB}app = {{ matrix = "m.csv" }}\n')
    Path("s.toml").write_text(f'system = "tiny"\n{JOB}app = {{ matrix = "now/m.csv" }}\n')
    Path("now").symlink_to("v1")
    assert run("s.toml")
    assert run("now/s.toml") == ""  # the same run, of another scenario
    Path("now").unlink()
    Path("now").symlink_to("v2")
    assert run("s.toml")


def test_results_behind_a_link_are_recalled(changed: Callable[[], None]) -> None:
    Path("elsewhere/deep").mkdir(parents=True)
    Path("runs").symlink_to("elsewhere/deep")
    assert run()
    assert not run()
    Path("runs").unlink()
    Path("runs").symlink_to("elsewhere/deep")
    assert not run()
    changed()
    assert run()


@pytest.mark.parametrize(
    ("folder", "name", "kept"),
    [
        ("/a/b", "/a/b/c", "c"),
        ("/a/b", "/a/c", "../c"),
        ("/a/b", "/a", ".."),
        ("/a/b", "/a/b", "."),
        ("/a/b", "/a/link/../c", "../link/../c"),
        ("/a/b", "/x/../c", "../../x/../c"),
    ],
)
def test_paths_from_a_folder_keep_what_is_named(folder: str, name: str, kept: str) -> None:
    assert inputs.from_folder({name: "1"}, Path(folder)) == {kept: "1"}
    assert inputs.in_folder({kept: "1"}, Path(folder)) == {name: "1"}


def test_what_is_read_is_noted_as_it_is_named(tmp_path: Path) -> None:
    (tmp_path / "real/sub").mkdir(parents=True)
    (tmp_path / "link").symlink_to("real/sub")
    for place in ("f", "real/f"):
        (tmp_path / place).write_text("1")
    with reading.recorded() as read:
        reading.read_text(tmp_path / "link/../f")
    assert reading.unchanged(read)
    (tmp_path / "real/f").write_text("2")
    assert not reading.unchanged(read)
