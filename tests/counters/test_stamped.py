"""What `perfquery -x` and the telemetry of Slingshot's NICs print, again and again."""

from __future__ import annotations

import gzip

import pytest
from tests.counters.made import BEGIN, PACKET, as_sacct, table

from odonata.counters import measured, read_counters
from odonata.errors import InputError
from odonata.queue.accounting import read_runs

JOBS = [("1", "solver", 2, "n[1-2]", 0, 600)]
RATES = {"n1": (lambda _: 1e8, lambda _: 2e8), "n2": (lambda _: 3e8, lambda _: 2e8)}
SIZES = ("27", "35", "36_to_63", "64", "65_to_127", "128_to_255", "256_to_511", "512_to_1023", "1024_to_2047")
SIZES += ("2048_to_4095", "4096_to_8191", "8192_to_max")


def section(out: float, back: float, lid: int = 274) -> list[str]:
    return [
        f"# Port extended counters: Lid {lid} port 1 (CapMask: 0x5300 CapMask2: 0x0000002)",
        "PortSelect:......................1",
        "CounterSelect:...................0x0000",
        f"PortXmitData:....................{out / 4:.0f}",
        f"PortRcvData:.....................{back / 4:.0f}",
        f"PortXmitPkts:....................{out / PACKET:.0f}",
        f"PortRcvPkts:.....................{back / PACKET:.0f}",
        "PortUnicastXmitPkts:.............7",
    ]


def as_perfquery(rows) -> str:
    lines = []
    for node, at, out, back in rows:
        lines += [f"# node {node} time {at:.0f}", *section(out, back)]
    return "\n".join(lines) + "\n"


def by_pdsh(rows) -> str:
    """As several nodes print at once: their lines are mixed."""
    lines = []
    for time in sorted({row[1] for row in rows}):
        now = [row for row in rows if row[1] == time]
        printed = [
            [f"{node}: {line}" for line in [f"# time {time}", *section(out, back)]] for node, _, out, back in now
        ]
        lines += [line for mixed in zip(*printed, strict=True) for line in mixed]
    return "\n".join(lines) + "\n"


def telemetry(node: str, at: float, out: float, back: float, nic: str = "cxi0") -> list[str]:
    path = f"/sys/class/cxi/{nic}/device/telemetry"
    stamp = f"{int(at)}.{123456789 + int(out) % 1000}"
    packets = [f"{path}/hni_tx_ok_{size}:{out / PACKET / 12:.0f}@{stamp}" for size in SIZES]
    lines = [f"{path}/hni_sts_rx_ok_octets:{back:.0f}@{int(at)}.123999999", *packets]
    return [f"{node}: {line}" for line in [*lines, f"{path}/hni_sts_tx_ok_octets:{out:.0f}@{stamp}"]]


def as_cxi(rows) -> str:
    return "\n".join(line for node, at, out, back in rows for line in telemetry(node, at, out, back)) + "\n"


def of(tmp_path, files: dict[str, str]):
    for name, text in files.items():
        data = text.encode()
        (tmp_path / name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    (tmp_path / "sacct").write_text(as_sacct(JOBS))
    return measured(read_counters([tmp_path / name for name in files]), read_runs(tmp_path / "sacct").runs)


@pytest.mark.parametrize("form", [as_perfquery, by_pdsh, as_cxi])
def test_rates_come_out(tmp_path, form):
    (job,), others = of(tmp_path, {"counters": form(table(RATES))})
    assert others == []
    assert job.sent == pytest.approx(2e8, rel=1e-6)
    assert job.received == pytest.approx(2e8, rel=1e-6)
    assert job.packet == pytest.approx(PACKET, rel=1e-3)
    assert job.top_sender == pytest.approx(3 / 4)


def test_several_nics_of_a_node(tmp_path):
    rows = table(RATES)
    lines = [
        line for node, at, out, back in rows for nic in ("cxi0", "cxi1") for line in telemetry(node, at, out, back, nic)
    ]
    (job,), _ = of(tmp_path, {"counters": "\n".join(lines) + "\n"})
    assert job.sent == pytest.approx(4e8, rel=1e-6)
    lines = []
    for node, at, out, back in rows:
        lines += [f"# time {at} node {node}", *section(out, back), *section(out, back, lid=275)]
    (job,), _ = of(tmp_path, {"counters": "\n".join(lines) + "\n"})
    assert job.sent == pytest.approx(4e8, rel=1e-6)


def test_the_node_is_the_name_of_the_file(tmp_path):
    rows = table(RATES)
    files = {}
    for node, name in (("n1", "n1.perfquery"), ("n2", "n2.txt.gz")):
        mine = [row for row in rows if row[0] == node]
        files[name] = as_perfquery(mine).replace(f"# node {node} time", "# timestamp")
    (job,), _ = of(tmp_path, files)
    assert job.sent == pytest.approx(2e8, rel=1e-6)


def test_packets_need_all_sizes(tmp_path):
    text = "\n".join(line for line in as_cxi(table(RATES)).splitlines() if "8192_to_max" not in line)
    (job,), _ = of(tmp_path, {"counters": text + "\n"})
    assert job.packet is None


def test_times_since_the_boot(tmp_path):
    """A line with a time stands before them."""
    lines = []
    for node, at, out, back in table(RATES):
        lines += [f"{node}: # time {at}", *telemetry(node, at - BEGIN + 5000, out, back)]
    (job,), _ = of(tmp_path, {"counters": "\n".join(lines) + "\n"})
    assert job.sent == pytest.approx(2e8, rel=1e-6)


HEAD = "# Port extended counters: Lid 1 port 1"


@pytest.mark.parametrize(
    ("text", "line", "message", "hint"),
    [
        (f"{HEAD}\nPortXmitData:...5\n", 1, "no line says when", "date +%s"),
        ("# time 1795873000\n# Port counters: Lid 1 port 1\nPortXmitData:...5\n", 2, "have 32 bits", "perfquery -x"),
        (f"# time 1795873000\n{HEAD}\nPortXmitData:....foo\n", 3, "`PortXmitData`: expected a number", ""),
        (f"# time noon\n{HEAD}\nPortXmitData:....5\n", 1, "expected seconds since 1970", ""),
        ("cxi0/device/telemetry/hni_sts_tx_ok_octets:5\n", 1, "expected VALUE@SECONDS.NANOSECONDS", ""),
        ("cxi0/device/telemetry/hni_sts_tx_ok_octets:5@77.5\n", 1, "is not since 1970", "# time SECONDS"),
    ],
)
def test_wrong_files(tmp_path, text, line, message, hint):
    (tmp_path / "c").write_text(text)
    with pytest.raises(InputError) as problem:
        read_counters([tmp_path / "c"])
    assert message in str(problem.value)
    assert hint in (problem.value.hint or "")
    assert problem.value.line == line


@pytest.mark.parametrize(
    ("form", "name", "line"),
    [
        (as_perfquery, "PortXmitData", 2),
        (as_perfquery, "PortRcvData", 2),
        (by_pdsh, "PortXmitData", 3),
        (as_cxi, "hni_sts_tx_ok_octets", 1),
    ],
)
def test_a_field_that_is_missing(tmp_path, form, name, line):
    text = "".join(row for row in form(table(RATES)).splitlines(keepends=True) if f"{name}:" not in row)
    (tmp_path / "c").write_text(text)
    with pytest.raises(InputError) as problem:
        read_counters([tmp_path / "c"])
    assert f"has no `{name}`" in str(problem.value)
    assert problem.value.line == line


def test_mangled_texts_are_answered(tmp_path):
    """Any change gives counters or an InputError."""
    import random

    chosen = random.Random(5)
    for form in (as_perfquery, by_pdsh, as_cxi):
        right = form(table(RATES, 4))
        for _ in range(150):
            text = list(right)
            for _ in range(chosen.randrange(1, 6)):
                at = chosen.randrange(len(text))
                text[at : at + chosen.randrange(0, 30)] = chosen.choice(
                    ["", "\n", "@", ":", "# ", "9" * 30, "x", " ", "\0"]
                )
            (tmp_path / "c").write_text("".join(text))
            try:
                assert read_counters([tmp_path / "c"]).nics
            except InputError:
                continue
