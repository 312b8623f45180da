"""Rows that do not fit into memory are refused before anything is simulated."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

import odonata as od
from odonata import memory, runner, scenario
from odonata.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

SCENARIO = """\
system = "tiny"
[[job]]
name = "target"
nodes = {nodes}
place = "contiguous"
app = {{ {app}, message = "64 B", messages = 7 }}
[[job]]
name = "noise"
nodes = 2
app = {{ pattern = "uniform-random", message = "64 B", interval = "1 us" }}
background = true
record = "every-message"
{more}
"""


def scenario_of(app: str, nodes: int = 8, more: str = "") -> od.Scenario:
    return scenario.parse(SCENARIO.format(app=app, nodes=nodes, more=more))


@pytest.mark.parametrize(
    ("app", "nodes"),
    [
        ('pattern = "uniform-random", interval = "1 us"', 8),
        ('pattern = "stencil-3d", interval = "1 us"', 8),
        ('pattern = "broadcast", interval = "1 us"', 8),
        ('pattern = "group-peers", interval = "1 us"', 8),
    ],
)
def test_the_rows_expected_are_those_recorded(app: str, nodes: int) -> None:
    """Those of the target: how much the background sends until the target is done is not known."""
    scenario = scenario_of(app, nodes)
    run = od.run(scenario)
    assert memory.expected_rows(scenario.resolve()) == run.messages.filter(run.messages["job"] == 0).height


def test_a_run_that_ends_at_a_time_records_what_is_sent_by_then() -> None:
    scenario = scenario_of('pattern = "uniform-random", interval = "1 us"', more='[run]\nuntil = "5 us"')
    expected, rows = memory.expected_rows(scenario.resolve()), od.run(scenario).messages.height
    assert expected == 10 * 5
    assert rows <= expected <= rows + 10  # the jitter moves one message of each rank behind the end


def test_what_is_not_recorded_needs_no_memory() -> None:
    scenario = scenario_of('pattern = "uniform-random", interval = "1 us"', more='[measure]\nlatency = "histogram"')
    assert memory.expected_rows(scenario.resolve()) == 0


@pytest.mark.parametrize("swept", [False, True])
def test_rows_that_do_not_fit_are_refused_before_simulating(
    swept: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    many = scenario_of('pattern = "uniform-random", interval = "1 us"').set("job.target.app.messages", 2 * 10**9)
    monkeypatch.setattr("odonata.runner.simulate", lambda *_, **__: pytest.fail("it was simulated"))
    resolved = many.resolve()
    simulate: partial[Any] = partial(runner.measure, resolved) if swept else partial(od.run, many, tmp_path / "out")
    with pytest.raises(InputError) as raised:
        simulate()
    said = str(raised.value)
    assert not (tmp_path / "out").exists()
    assert "scenario.toml" in said or swept
    assert "would record 16,000,000,000 messages and need 894.1 GiB of memory" in said
    assert "GiB are available" in said
    assert 'hint: with latency = "histogram" under [measure]' in said


def kernel(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return root


MACHINE = {"proc/meminfo": "MemTotal:  4000 kB\nMemAvailable:  3000 kB\n"}
SECOND = MACHINE | {
    "proc/self/cgroup": "0::/slurm/job_7/step_0\n",
    "sys/fs/cgroup/slurm/job_7/memory.max": "1000000\n",
    "sys/fs/cgroup/slurm/job_7/memory.current": "700000\n",
    "sys/fs/cgroup/slurm/job_7/memory.stat": "anon 1\ninactive_file 200000\n",
    "sys/fs/cgroup/slurm/job_7/step_0/memory.max": "max\n",
    "sys/fs/cgroup/slurm/job_7/step_0/memory.current": "700000\n",
}
FIRST = MACHINE | {
    "proc/self/cgroup": "5:cpu,cpuacct:/x\n4:memory:/docker/abc\n",
    "sys/fs/cgroup/memory/memory.limit_in_bytes": "600000\n",
    "sys/fs/cgroup/memory/memory.usage_in_bytes": "700000\n",
}


@pytest.mark.parametrize(
    ("files", "available"), [(MACHINE, 3000 * 1024), (SECOND, 500_000), (FIRST, 0)], ids=["machine", "v2", "v1"]
)
def test_memory_is_what_the_machine_and_every_control_group_leave(
    files: dict[str, str], available: int, tmp_path: Path
) -> None:
    """Of nested groups of version 2 (a Slurm job), and of one of version 1 mounted at the top (a container)."""
    assert memory.available_bytes(kernel(tmp_path, files)) == available


def test_without_such_files_the_whole_memory_counts(tmp_path: Path) -> None:
    available = memory.available_bytes(tmp_path)
    assert available is not None
    assert available > 2**28


def test_windows_that_do_not_fit_are_refused_before_simulating() -> None:
    """Catches a run that takes 2 GB before it is refused."""
    quick = od.load("examples/quick.toml")
    with pytest.raises(InputError, match=r"windows this short give [\d,]+ of them, with"):
        od.run(quick.set("measure.links", {"every": "1 ps"}))
    od.run(quick.set("measure.links", {"every": "10 us"}))
