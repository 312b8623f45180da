"""Costs of the host: part of every preset, changed by a file or a job; no larger message takes less time."""

from __future__ import annotations

from pathlib import Path

import pytest
import tomlkit

from odonata import machine, scenario
from odonata.calibration import fit
from odonata.errors import InputError
from odonata.machine import core
from odonata.machine.host import HostTable
from odonata.scenario.apps.values import decided_overhead

#: The costs of a published simulator: copies cost more than a rendezvous, so that 12 KB takes longer than 13 KB.
AS_PUBLISHED = frozenset(name for name in machine.names() if name.startswith("zhang2018"))


def resolved(system, app: dict, nodes: int = 2, folder: Path = Path(), **more):
    job = {"name": "a", "nodes": nodes, "place": "contiguous", "app": app, **more}
    text = tomlkit.dumps({"system": system, "job": [job], "run": {"seed": 1}})
    return scenario.parse(text, folder / "s.toml").resolve()


def time(system, app: dict, nodes: int = 2) -> int:
    """With Aries on minimal paths: its adaptive modes may take a detour because of the job's own packets."""
    more = {"routing": "minimal"} if machine.load(system).table.kind == "cascade" else {}
    return int(core.run(resolved(system, app, nodes, **more).spec)["ranks"]["finish_ps"].max())


def sizes(system: str) -> list[int]:
    eager = machine.load(system).table.host.eager
    return sorted({4, 1000, 2048, 2052, 8000, eager - 4, eager, eager + 4, 3 * eager, 1 << 20})


@pytest.mark.parametrize("name", machine.names())
def test_a_larger_message_is_not_faster(name):
    pings = [time(name, {"motif": "ping-pong", "message": f"{size} B"}) for size in sizes(name)]
    reductions = [time(name, {"collective": "allreduce", "message": f"{size} B"}, 8) for size in sizes(name)]
    rising = pings == sorted(pings) and reductions == sorted(reductions)
    assert rising == (name not in AS_PUBLISHED)


def test_the_defaults_rise_too():
    table = machine.load("tiny").table.model_dump(mode="json", by_alias=True, exclude_none=True)
    del table["host"]
    assert machine.load(table).table.host is None
    times = [time(table, {"motif": "ping-pong", "message": f"{size} B"}) for size in sizes("tiny")]
    assert times == sorted(times)


@pytest.mark.parametrize("name", sorted(AS_PUBLISHED))
def test_costs_of_zhang_2018(name):
    header = {"header_bytes": 45} if name.endswith("as-published") else {}
    assert resolved(name, {"collective": "allreduce", "message": "1 KB"}, 4).spec["jobs"][0]["program"]["costs"] == {
        **header,
        "send_ps": 190_000,
        "receive_ps": 160_000,
        "copy": 2_906_976_744_186_047,
        "memory_ps": 100_000,
        "eager_bytes": 12_000,
        "control_bytes": 64,
    }


def test_reductions_and_calls_take_time():
    app = {"collective": "allreduce", "algorithm": "recursive-doubling", "message": "9 KB"}
    host = {"send": "0 s", "receive": "0 s", "copy": "none", "call": "0 s", "reduce": "none", "eager": "1 MB"}

    def took(**changes):
        return time({"preset": "tiny", "host": host | changes}, app, 4)

    assert took(reduce="9 GB/s") - took() == 2 * 1_000_000  # two steps
    assert took(call="3 us") - took() == 3_000_000
    ping = {"motif": "ping-pong", "message": "9 KB"}
    assert time({"preset": "tiny", "host": host | {"call": "3 us"}}, ping) == time(
        {"preset": "tiny", "host": host}, ping
    )
    asked = host | {"eager": "0 B"}
    assert (
        time({"preset": "tiny", "host": asked | {"rendezvous": "5 us"}}, ping)
        - time({"preset": "tiny", "host": asked | {"rendezvous": "0 s"}}, ping)
        == 10_000_000
    )


def test_a_job_overrides_single_costs():
    app = {"collective": "allreduce", "message": "1 KB"}
    system = {"preset": "tiny", "host": {"send": "7 ns", "copy": "1 GB/s"}}
    [job] = resolved(system, app, overhead={"send": "9 ns"}).spec["jobs"]
    assert (job["program"]["costs"]["send_ps"], job["program"]["costs"]["copy"]) == (9_000, 10**15)
    [job] = resolved(system, app, overhead="none").spec["jobs"]
    assert job["program"]["costs"]["send_ps"] == 0
    assert [phase["what"]["name"] for phase in job["program"]["body"]["phases"]] == ["allreduce"]


def test_a_file_of_costs(tmp_path: Path):
    (tmp_path / "h.toml").write_text('[host]\nsend = "7 ns"\n[sources]\n"host.send" = "measured (confidence: high)"\n')
    app = {"collective": "allreduce", "message": "1 KB"}
    resolution = resolved({"preset": "tiny", "host": "h.toml"}, app, folder=tmp_path)
    assert resolution.spec["jobs"][0]["program"]["costs"]["send_ps"] == 7_000
    sources = {row.key: row.source for row in resolution.system.sources}
    assert sources["host.send"] == "measured (confidence: high)"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[host]\nsent = "7 ns"\n', "h.toml:2: unknown key `sent`"),
        ('[host]\nsend = "7 m"\n', "h.toml:2: "),
        ('[sources]\n"host.send" = "x"\n', "the table `[host]` is missing"),
        ('[host]\nsend = "1 ns"\n[hots]\n', "h.toml:3: unknown key `hots`"),
        ("[host\n", "h.toml:1: "),
    ],
)
def test_a_wrong_file_of_costs(tmp_path: Path, text: str, message: str):
    (tmp_path / "h.toml").write_text(text)
    with pytest.raises(InputError) as error:
        resolved({"preset": "tiny", "host": "h.toml"}, {"collective": "barrier"}, folder=tmp_path)
    assert message in str(error.value)
    with pytest.raises(InputError, match=r"a preset or a file that ends in \.toml"):
        resolved({"preset": "tiny", "host": "h.json"}, {"collective": "barrier"}, folder=tmp_path)


@pytest.mark.parametrize("key", ["send", "receive", "copy", "rendezvous"])
def test_a_cost_that_is_stated_drops_the_costs_by_size(key):
    """Catches a changed cost without effect, because those by size of the preset stand in its place."""
    value = "5 GB/s" if key == "copy" else "5 us"
    assert machine.load("leonardo").table.host.by_size
    assert not machine.load({"preset": "leonardo", "host": {key: value}}).table.host.by_size
    host = machine.load("leonardo").table.host
    assert not decided_overhead(HostTable.model_validate({key: value}), host).by_size
    assert decided_overhead(HostTable.model_validate({"call": "1 us"}), host).by_size == host.by_size


def test_costs_by_size_that_are_stated_stand_beside_the_others():
    sized = [{"size": "8 B", "send": "1 us", "receive": "2 us", "delay": "0 s"}]
    host = machine.load({"preset": "leonardo", "host": {"send": "5 us", "by_size": sized}}).table.host
    assert [of.send for of in host.by_size] == [1_000_000]
    assert host.send == 5_000_000


RATES = [{"size": "1 MiB", "rate": "8 GB/s"}, {"size": "64 MiB", "rate": "3 GB/s"}]


def test_rates_of_reductions_by_size():
    host = machine.load({"preset": "tiny", "host": {"reduce_by_size": RATES}}).table.host
    assert host.costs()["combine_by_size"] == [
        {"bytes": 2**20, "combine": 8 * 10**15},
        {"bytes": 2**26, "combine": 3 * 10**15},
    ]
    assert decided_overhead(HostTable.model_validate({"call": "1 us"}), host).reduce_by_size == host.reduce_by_size
    # A rate that is stated drops them, and one that is stated beside them does not.
    assert not decided_overhead(HostTable.model_validate({"reduce": "5 GB/s"}), host).reduce_by_size
    assert decided_overhead(HostTable.model_validate({"send": "5 us"}), host).reduce_by_size == host.reduce_by_size
    assert "combine_by_size" not in decided_overhead(HostTable.model_validate({"reduce": "none"}), host).costs()


@pytest.mark.parametrize(
    ("rates", "message"),
    [
        (RATES[::-1], "sizes ascend, found 1 MiB after 64 MiB"),
        ([{"size": "1 MiB", "rate": "none"}], "left out of the list"),
        ([{"size": "1 MiB"}], "rate"),
        ("8 GB/s", "expected a list of tables with `size` and `rate`"),
    ],
)
def test_rates_by_size_that_mean_nothing(rates, message):
    with pytest.raises(InputError, match=message):
        machine.load({"preset": "tiny", "host": {"reduce_by_size": rates}})


def test_a_calibration_has_no_costs_by_size():
    """Catches a fit whose costs have no effect."""
    usual = machine.load("leonardo").table.host
    fitted = fit.host_of(fit.START, 1_024, usual)
    assert not fitted.by_size
    assert not fit.host_of(fit.START, 1_024, usual.model_copy(update={"reduce_by_size": (1,)})).reduce_by_size
    assert fitted.call == round(fit.START[-1])
