"""The probe: with a real MPI of 4 ranks where there is one, and with a launcher that prints what a program would."""

from __future__ import annotations

import json
import re
import shutil
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace

import polars as pl
import pytest

import odonata as od
from odonata.cli.main import main
from odonata.errors import InputError, RunError
from odonata.probe import configurations
from odonata.probe.build import build

# As root, with fewer cores than ranks, and on this machine only.
MPIRUN = "mpirun --allow-run-as-root --oversubscribe --mca mpi_yield_when_idle 1 --mca btl self,vader -n 4"

real_mpi = pytest.mark.skipif(
    shutil.which("mpicc") is None or shutil.which("mpirun") is None,
    reason="no Open MPI here; `make system-deps` installs it (as root)",
)

QUEUE = "JOBID|STATE|NODELIST\n1|R|n[1-3]\n2|R|n[3-4]\n3|R|n5\n"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("SLURM_JOB_ID", "SLURM_ARRAY_JOB_ID", "SLURM_ARRAY_TASK_ID", "MPICC"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    Path("queue").write_text(QUEUE)
    return tmp_path


def script(path: str, text: str) -> str:
    Path(path).write_text(f"#!/bin/sh\n{text}\n")
    Path(path).chmod(0o755)
    return str(Path(path).resolve())


@pytest.fixture
def no_mpi(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A compiler that makes an empty program: the launcher of each test prints what the program would."""
    monkeypatch.setenv("MPICC", script("cc.sh", 'while [ "$1" != -o ]; do shift || exit 0; done; : > "$2"'))


def printed(times: list[list[int]], end: bool = True, more: str = "") -> str:
    """A launcher that prints so many iterations of one configuration."""
    lines = [f"@probe {len(times[0])} 1", *(f"@host {r} n{r + 1}.site" for r in range(len(times[0])))]
    lines += [f"@t {i} 0 {1000 + i} {' '.join(map(str, row))}" for i, row in enumerate(times)]
    return script("launch.sh", "cat <<'E'\n" + "\n".join([*lines, *(["@end"] if end else [])]) + f"\nE\n{more}")


@real_mpi
def test_four_ranks_of_a_real_mpi(here: Path, capsys) -> None:
    words = ["cluster", "probe", "--launcher", MPIRUN, "--iterations", "12", "--warmup", "2", "--gap", "200 us"]
    words += ["--queue", "queue", "--nodes-total", "10", "--json"]
    assert main(words) == 0
    captured = capsys.readouterr()
    told = json.loads(captured.out)
    assert "12 of 12 iterations done" in captured.err
    assert (told["outcome"], told["ranks"], told["nodes"]) == ("kept", 4, 1)
    assert told["b_before"] == told["b_after"] == pytest.approx(1 / 3)
    table = pl.read_parquet(told["file"])
    columns = json.loads(pl.read_parquet_metadata(told["file"])["odonata.columns"])
    assert list(columns) == table.columns
    assert columns["time_ns"]["unit"] == "ns"
    assert table.schema["started"] == pl.Datetime("us", "UTC")
    # Every configuration in every iteration on every rank; a ping-pong is timed at the rank where it begins.
    counted = table.group_by("collective", "bytes").agg(pl.len(), pl.col("rank").n_unique())
    expected = {
        (name, size): ((12, 1) if name == "ping-pong" else (48, 4))
        for name in ("bcast", "reduce", "alltoall", "allreduce", "ping-pong")
        for size in (4, 1024, 32768, 1048576)
    } | {("barrier", 0): (48, 4)}
    assert {(name, size): (n, ranks) for name, size, n, ranks in counted.iter_rows()} == expected
    assert table["time_ns"].min() > 0
    # Configurations alternate, in another order in each iteration.
    orders = table.filter(rank=0).group_by("iteration").agg(pl.col("collective") + pl.col("bytes").cast(pl.String))
    assert len({tuple(row) for row in orders["collective"]}) == 12
    assert table["started"].is_sorted()
    # 1 MiB takes longer than 4 B, or the operations were not run. Medians of four ranks on busy processors are those of
    # the scheduler, so the shortest times are compared.
    assert {(row["collective"], row["bytes"]) for row in told["times"]} == set(expected)
    shortest = {
        (name, size): time
        for name, size, time in table.group_by("collective", "bytes").agg(pl.col("time_ns").min()).iter_rows()
    }
    assert all(shortest[name, 1 << 20] > 2 * shortest[name, 4] for name, size in shortest if size == 4)
    assert main(["cluster", "analyse", "probe", "--no-fit", "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["slowest_rank"]
    assert [series["n"] for series in printed["series"]] == [12] * 21


@real_mpi
def test_one_rank_is_refused(here: Path, capsys) -> None:
    words = ["cluster", "probe", "--launcher", MPIRUN.replace("-n 4", "-n 1"), "--no-background", "-q"]
    assert main(words) == 1
    assert "one rank has nobody to talk to" in capsys.readouterr().err
    assert not list(here.glob("probe/*"))


def test_a_changed_background_discards_the_run(no_mpi: None, capsys) -> None:
    after = QUEUE.replace("n[3-4]", "n[3-9]")
    launcher = printed([[10, 20], [30, 25]], more=f"printf '{after}' > queue".replace("\n", "\\n"))
    words = ["cluster", "probe", "--op", "barrier", "--launcher", launcher, "--queue", "queue", "--nodes-total", "10"]
    assert main([*words, "-q"]) == 1
    captured = capsys.readouterr()
    assert "error: the run is discarded: b went from 0.3333 to 0.8182, by 0.05 or more" in captured.err
    [file] = Path("probe").iterdir()
    assert file.name.endswith("-discarded.parquet")
    assert pl.read_parquet(file)["time_ns"].to_list() == [10, 20, 30, 25]
    assert main(["cluster", "analyse", "probe", "--json"]) == 2
    assert "folder without kept runs" in capsys.readouterr().err
    # The same difference, as a share of b before the run.
    Path("queue").write_text(QUEUE)
    probed = od.cluster.probe(
        operations=["barrier"], launcher=launcher, queue="queue", nodes_total=10, most_change=1, relative=True
    )
    assert (probed.outcome, probed.before.b, probed.after.b) == (
        "discarded",
        pytest.approx(1 / 3),
        pytest.approx(9 / 11),
    )
    Path("queue").write_text(QUEUE)
    probed = od.cluster.probe(operations=["barrier"], launcher=launcher, queue="queue", nodes_total=10, most_change=0.5)
    assert probed.outcome == "kept"


def test_the_job_of_the_probe_is_no_background(no_mpi: None, monkeypatch: pytest.MonkeyPatch) -> None:
    arguments = {"operations": ["barrier"], "launcher": printed([[1, 1]]), "queue": "queue", "nodes_total": 10}
    monkeypatch.setenv("SLURM_JOB_ID", "1")
    assert od.cluster.probe(**arguments).before.nodes_communicating == 2
    # A task of an array has another id in the queue.
    Path("queue").write_text(QUEUE.replace("1|R", "7_3|R"))
    monkeypatch.setenv("SLURM_ARRAY_JOB_ID", "7")
    monkeypatch.setenv("SLURM_ARRAY_TASK_ID", "3")
    assert od.cluster.probe(**arguments).before.nodes_communicating == 2


def test_spread_over_switches(no_mpi: None) -> None:
    Path("topology.conf").write_text(
        "SwitchName=a Nodes=n[1-2]\nSwitchName=b Nodes=n[3-4]\nSwitchName=i Switches=a,b\n"
        "SwitchName=c Nodes=n[5-6]\nSwitchName=j Switches=c\nSwitchName=top Switches=i,j\n"
    )
    for ranks, spread in ((2, (1, 1)), (3, (2, 1)), (5, (3, 2)), (7, (None, None))):
        probed = od.cluster.probe(
            operations=["barrier"],
            launcher=printed([[5] * ranks]),
            measure_background=False,
            topology="topology.conf",
        )
        row = probed.table.row(0, named=True)
        assert (row["leaves"], row["groups"]) == spread
        assert row["b"] is None


def test_a_launcher_that_fails_keeps_what_was_measured(no_mpi: None, capsys) -> None:
    launcher = printed([[10, 20], [30, 25]], end=False, more="echo node n2 died >&2; exit 7")
    words = ["cluster", "probe", "--op", "barrier", "--no-background", "-q", "--launcher", launcher]
    assert main(words) == 1
    error = capsys.readouterr().err
    assert "error: the run is incomplete: " in error
    assert "failed with exit status 7:\n  node n2 died" in error
    [file] = Path("probe").glob("*-incomplete.parquet")
    assert pl.read_parquet(file)["time_ns"].to_list() == [10, 20, 30, 25]


def test_a_full_disk_loses_nothing(no_mpi: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from odonata import files

    arguments = {"operations": ["barrier"], "launcher": printed([[10, 20]]), "measure_background": False}
    before = od.cluster.probe(**arguments).file.read_bytes()
    write = files.write

    def full(path: Path, data: bytes) -> None:
        if path.parent == Path("probe"):
            raise RunError(f"cannot write `{path}`: No space left on device")
        write(path, data)

    monkeypatch.setattr(files, "write", full)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with pytest.raises(RunError, match=r"No space left on device\n  hint: the times are in `(.*)` instead") as raised:
        od.cluster.probe(**arguments)
    other = Path(str(raised.value).split("`")[-2])
    assert pl.read_parquet(other)["time_ns"].to_list() == [10, 20]
    assert [path.read_bytes() for path in Path("probe").iterdir()] == [before]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--op", "brodcast"], "unknown operation of the probe `brodcast`"),
        (["--size", "6 B"], "multiples of 4 bytes, from 4 to 2,147,483,647, found 6"),
        (["--size", "4"], "unit"),
        (["--launcher", "no-such-launcher -n 4"], "cannot start the launcher `no-such-launcher`: No such file"),
        (["--launcher", ""], "the launcher is empty"),
        (["--queue", "queue"], "--no-background measures no b"),
        (["--gap", "2000 hours"], "unit"),
    ],
)
def test_wrong_arguments(no_mpi: None, capsys, words: list[str], message: str) -> None:
    assert main(["cluster", "probe", "--no-background", "-q", *words]) == 2
    assert message in capsys.readouterr().err
    assert not Path("probe").exists()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("exit 0", "ended before the probe was done, before the ranks started"),
        ("echo '@probe 2 9'", "cannot be read: another number of configurations"),
        ("echo '@probe 2 1'; echo '@t 0 0 5 1'", "cannot be read: another number of ranks"),
        ("echo '@probe 1 1'; echo '@probe 1 1'", "cannot be read: several programs write"),
        ("echo '@probe 2 1'; echo '@t 0 x'", "cannot be read: invalid literal"),
        ("kill -9 $$", "was ended by signal 9"),
    ],
)
def test_a_launcher_that_measures_nothing(no_mpi: None, capsys, text: str, message: str) -> None:
    launcher = script("launch.sh", text)
    assert main(["cluster", "probe", "--no-background", "-q", "--op", "barrier", "--launcher", launcher]) == 1
    assert message in capsys.readouterr().err
    assert not list(Path("probe").glob("*"))


def test_without_slurm_and_without_compiler(here: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    assert main(["cluster", "probe", "--mpicc", "no-such-mpicc"]) == 1
    assert "there is no MPI compiler `no-such-mpicc` here\n  hint: load the MPI module" in capsys.readouterr().err
    failing = script("cc.sh", "echo mpi.h is missing >&2; exit 1")
    assert main(["cluster", "probe", "--mpicc", failing]) == 1
    assert "cannot build the probe:\nmpi.h is missing" in capsys.readouterr().err
    assert not list(Path("cache").rglob("probe-*"))
    monkeypatch.setenv("MPICC", script("cc.sh", 'while [ "$1" != -o ]; do shift || exit 0; done; : > "$2"'))
    monkeypatch.setattr("odonata.queue.slurm.commands.queue", lambda: od.cluster.read_queue and _no_squeue())
    assert main(["cluster", "probe"]) == 1
    error = capsys.readouterr().err
    assert "b cannot be measured before the run: there is no `squeue` here" in error
    assert "--no-background" in error


def _no_squeue() -> str:
    raise RunError("there is no `squeue` here")


def test_the_program_is_built_once(no_mpi: None) -> None:
    arguments = {"operations": ["barrier"], "launcher": printed([[1, 1]]), "measure_background": False}
    first = od.cluster.probe(**arguments)
    program, _ = sorted(Path("cache/odonata").iterdir())
    made = program.stat().st_mtime_ns
    second = od.cluster.probe(**arguments)
    assert program.stat().st_mtime_ns == made
    assert first.file != second.file
    assert first.table["run"][0] != second.table["run"][0]


def test_only_a_program_of_ones_own_is_run(no_mpi: None, capsys) -> None:
    program = build()
    kept, theirs = Path("cache/odonata"), b"#!/bin/sh\ntouch ran\n"
    assert (kept.stat().st_mode & 0o777, program.stat().st_mode & 0o777) == (0o700, 0o700)
    made = program.read_bytes()
    program.write_bytes(theirs)  # another content
    assert build().read_bytes() == made
    program.chmod(0o777)  # others could have written it
    inode = program.stat().st_ino
    assert build().stat().st_ino != inode
    program.unlink()
    Path("theirs").write_bytes(theirs)
    program.symlink_to(Path("theirs").resolve())
    assert build().read_bytes() == made
    assert not program.is_symlink()
    assert sorted(path.name for path in kept.iterdir()) == [program.name, f"{program.name}.sha256"]

    kept.chmod(0o770)
    assert main(["cluster", "probe", "--no-background", "-q", "--launcher", script("l.sh", "touch ran")]) == 1
    said = capsys.readouterr().err
    assert "cache/odonata` can be written by others (mode 0770)" in said
    assert "hint: `chmod go-w`" in said
    kept.chmod(0o700)
    Path("cache").chmod(0o777)
    with pytest.raises(RunError, match="others can put another folder in its place"):
        build()
    Path("cache").chmod(0o1777)
    build()
    kept.rename("elsewhere")
    kept.symlink_to(Path("elsewhere").resolve())
    with pytest.raises(RunError, match="is a link"):
        build()
    assert not Path("ran").exists()


def test_a_folder_of_another_user_is_not_used(no_mpi: None, monkeypatch: pytest.MonkeyPatch) -> None:
    build()
    monkeypatch.setattr("os.geteuid", lambda: Path().stat().st_uid + 1)
    with pytest.raises(RunError, match=r"cache/odonata` belongs to the user \d+"):
        build()


def test_a_user_without_a_home(no_mpi: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.delenv("HOME")
    monkeypatch.setattr("pwd.getpwuid", lambda number: {}[number])
    with pytest.raises(RunError, match=r"you have no home folder\n  hint: set HOME"):
        build()


@pytest.mark.parametrize(
    "line", ["@t 2 0 5 1 9223372036854775808", "@t 2 0 999999999999999999 1 1", "@t 2147483648 0 5 1 1", "@host 1"]
)
def test_a_line_that_says_nonsense_loses_nothing_that_was_measured(no_mpi: None, capsys, line: str) -> None:
    launcher = printed([[1, 2], [3, 4]], end=False, more=f"echo '{line}'")
    main(["cluster", "probe", "--no-background", "-q", "--op", "barrier", "--launcher", launcher])
    assert not re.search("defect|bug", capsys.readouterr().err)
    [path] = Path("probe").iterdir()
    assert pl.read_parquet(path)["time_ns"].to_list() == [1, 2, 3, 4]


def test_a_launcher_with_too_many_ranks(no_mpi: None, capsys) -> None:
    launcher = script("launch.sh", "echo '@probe 99999999999999 1'")
    assert main(["cluster", "probe", "--no-background", "-q", "--op", "barrier", "--launcher", launcher]) == 1
    assert "cannot be read: 99999999999999 ranks" in capsys.readouterr().err


def test_a_clock_that_goes_back_loses_nothing(no_mpi: None, monkeypatch: pytest.MonkeyPatch) -> None:
    moments = iter([datetime(2026, 5, 1, 12, tzinfo=UTC), datetime(2026, 5, 1, 11, tzinfo=UTC)] * 2)
    monkeypatch.setattr("odonata.probe.measure.datetime", SimpleNamespace(now=lambda _: next(moments)))
    arguments = {"operations": ["barrier"], "measure_background": False}
    for time in range(1, 5):
        od.cluster.probe(**arguments, launcher=printed([[time, time]]))
    tables = [pl.read_parquet(path) for path in sorted(Path("probe").iterdir())]
    assert sorted(table["time_ns"][0] for table in tables) == [1, 2, 3, 4]
    assert len({table["run"][0] for table in tables}) == 4


def test_a_barrier_has_no_size() -> None:
    assert configurations.configurations(["barrier", "bcast"], [4, 8]) == [("barrier", 0), ("bcast", 4), ("bcast", 8)]
    with pytest.raises(InputError, match="no size"):
        configurations.configurations(["bcast"], [])


def test_the_slowest_rank_counts(no_mpi: None) -> None:
    times = [[10 + i, 100 - 12 * i] for i in range(8)]
    for _ in range(2):
        od.cluster.probe(operations=["barrier"], launcher=printed(times), measure_background=False)
    slowest = [max(row) * 1000 for row in times]
    [first, second] = od.cluster.analyse("probe", fit=False).series  # two runs
    assert list(first.times_ps) == list(second.times_ps) == slowest
    analysis = od.cluster.analyse("probe", by=["rank"], fit=False)
    assert [list(series.times_ps) for series in analysis.series] == [
        [row[rank] * 1000 for row in times] * 2 for rank in range(2)
    ]
    assert not analysis.slowest_rank
