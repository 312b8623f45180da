"""What jobs sent, by counters: the rates that were put in come out, whatever the form of the file."""

from __future__ import annotations

import gzip
import json

import pytest
from tests.counters.made import BEGIN, STEP, as_csv, as_ldms, as_prometheus, as_sacct, table

from odonata import units
from odonata.counters import as_book, measured, read_counters
from odonata.errors import InputError
from odonata.queue.accounting import Run, read_runs
from odonata.queue.records import Job
from odonata.workload.book import read_book


def steady(value):
    return lambda _: value


JOBS = [
    ("1", "solver", 2, "n[1-2]", 0, 300),
    ("2", "solver", 2, "n[1-2]", 300, 600),
    ("3", "idle", 2, "n[3-4]", 0, 600),
]


def rates():
    """Nodes 1 and 2 send 100 MB/s, and from the sixth minute on 300 MB/s."""
    later = lambda at: 1e8 if at < 300 else 3e8  # noqa: E731
    return {
        "n1": (later, steady(1e8)),
        "n2": (later, steady(2e8)),
        "n3": (steady(0.0), steady(0.0)),
        "n4": (steady(0.0), steady(0.0)),
    }


def of(tmp_path, text, jobs=JOBS, name="counters"):
    (tmp_path / name).write_text(text) if isinstance(text, str) else (tmp_path / name).write_bytes(text)
    (tmp_path / "sacct").write_text(as_sacct(jobs))
    return measured(read_counters([tmp_path / name]), read_runs(tmp_path / "sacct").runs)


@pytest.mark.parametrize("form", [as_csv, as_ldms, as_prometheus])
def test_rates_come_out(tmp_path, form):
    done, others = of(tmp_path, form(table(rates())))
    assert others == []
    assert [job.run.id for job in done] == ["1", "2", "3"]
    assert done[0].sent == pytest.approx(1e8)
    assert done[1].sent == pytest.approx(3e8)
    assert done[0].received == pytest.approx(1.5e8)
    assert done[2].sent == done[2].active == 0
    assert (done[0].covered, done[0].seconds, done[0].active) == (1, 300, 1)
    assert done[0].packet == (None if form is as_prometheus else pytest.approx(2000))
    assert done[0].top_receiver == pytest.approx(2 / 3)


def test_compressed(tmp_path):
    done, _ = of(tmp_path, gzip.compress(as_csv(table(rates())).encode()))
    assert done[1].sent == pytest.approx(3e8)


def test_a_counter_that_is_reset(tmp_path):
    rows = table(rates())
    reset = next(row[2] for row in rows if row[0] == "n1" and row[1] == BEGIN + 10 * STEP)
    rows = [(n, t, out - reset if n == "n1" and t > BEGIN + 10 * STEP else out, back) for n, t, out, back in rows]
    done, _ = of(tmp_path, as_csv(rows))
    assert done[0].sent == pytest.approx(1e8)
    assert done[0].covered == pytest.approx(1 - 1 / 40)


def test_samples_that_are_missing(tmp_path):
    rows = [row for number, row in enumerate(table(rates())) if number % 3]
    done, _ = of(tmp_path, as_csv(rows))
    assert done[0].sent == pytest.approx(1e8, rel=0.05)


def test_samples_in_any_order(tmp_path):
    rows = sorted(table(rates()), key=lambda row: hash(row) % 97)
    done, _ = of(tmp_path, as_csv(rows))
    assert done[1].sent == pytest.approx(3e8)


def test_bursts(tmp_path):
    """It sends for a quarter of the time: active, peak, and an interval that has the mean in it."""
    wave = lambda at: 4e8 if at % 120 < 30 else 0.0  # noqa: E731
    done, _ = of(
        tmp_path,
        as_csv(table({f"n{n}": (wave, wave) for n in (1, 2)}, 401)),
        [("1", "wave", 2, "n[1-2]", 0, 6000)],
    )
    (job,) = done
    assert (job.sent, job.peak, job.active) == (pytest.approx(1e8), pytest.approx(4e8), pytest.approx(0.25))
    assert job.low <= 1e8 <= job.high


def test_one_node_receives_all(tmp_path):
    nodes = {"n1": (steady(0.0), steady(3e8))} | {f"n{n}": (steady(1e8), steady(0.0)) for n in (2, 3, 4)}
    done, _ = of(tmp_path, as_csv(table(nodes)), [("1", "root", 4, "n[1-4]", 0, 600)])
    assert done[0].shape == "incast"


def test_several_nics_add_up(tmp_path):
    text = as_csv(table(rates()))
    more = "".join(line.replace(",hsn0,", ",hsn1,") + "\n" for line in text.splitlines()[1:])
    done, _ = of(tmp_path, text + more)
    assert done[0].sent == pytest.approx(2e8)


def test_what_is_not_measured(tmp_path):
    jobs = [
        ("1", "a", 2, "n[1-2]", 0, 300),
        ("2", "b", 2, "n[2-3]", 200, 600),  # shares node 2
        ("3", "c", 2, "m[1-2]", 0, 600),  # no counters
        ("4", "d", 2, "n[4-5]", 0, 30),  # short, one node without counters
        ("5", "e", 1, "n6", 0, 600),  # one node
    ]
    done, others = of(tmp_path, as_csv(table(rates())), jobs)
    assert done == []
    why = {entry.run.id: entry.why for entry in others}
    assert why["1"] == why["2"] == "its nodes are shared with other jobs"
    assert why["3"] == "there are no counters of its nodes"
    assert "less than 5 samples" in why["4"]
    assert "5" not in why


def test_times_that_do_not_meet(tmp_path):
    with pytest.raises(InputError, match="no job of two nodes or more ran while the counters were read"):
        of(tmp_path, as_csv(table(rates())), [("1", "a", 2, "n[1-2]", 7200, 7500)])


def test_the_book(tmp_path):
    done, _ = of(tmp_path, as_csv(table(rates())))
    text = as_book(done, units.bandwidth_micro("10 Gbit/s"), "counters.csv")
    (tmp_path / "book.toml").write_text(text)
    book = read_book(tmp_path / "book.toml")
    job = Job("9", frozenset({"RUNNING"}), ("n1", "n2"), name="solver")
    number = book.rule_of(job)
    assert float(book.traffic(number).load) == pytest.approx(2e8 / 1.25e9)
    assert float(book.traffic(number, "peak").load) == pytest.approx(2e8 / 1.25e9)
    assert book.traffic(number, "neighbours").keys["app"]["pattern"] == "stencil-3d"
    assert book.table.rule[number].source.startswith("measured: 2 jobs, 0.333 node-hours")
    other = book.rule_of(Job("9", frozenset({"RUNNING"}), ("n1", "n2"), name="solver2"))
    assert book.table.rule[other].source.startswith("assumed")


@pytest.mark.parametrize("name", ["a*b", "x[1]", 'quo"te', "a\\b", "tab\tname", "comma, name", "ünïcode"])
def test_names_of_jobs_are_only_names(tmp_path, name):
    done, _ = of(tmp_path, as_csv(table(rates())))
    from dataclasses import replace

    done = [replace(job, run=replace(job.run, name=name)) for job in done]
    (tmp_path / "book.toml").write_text(as_book(done, units.bandwidth_micro("10 Gbit/s"), "c"))
    book = read_book(tmp_path / "book.toml")
    assert book.rule_of(Job("9", frozenset({"RUNNING"}), ("n1", "n2"), name=name)) == 0
    assert book.rule_of(Job("9", frozenset({"RUNNING"}), ("n1", "n2"), name="else")) == 1


def test_more_than_the_nics_can(tmp_path):
    done, _ = of(tmp_path, as_csv(table(rates())))
    with pytest.raises(InputError, match="more than its NICs can"):
        as_book(done, units.bandwidth_micro("1 Gbit/s"), "c")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nonsense\n", "not a file of counters"),
        ("", "empty"),
        ("time,node,sent,received\n", "no counters"),
        ("time,node,sent\n1,n1,2\n", "no column `received`"),
        ("time,sent,received\n1,1,2\n", "no column `node`"),
        ("time,node,sent,received\n2026-05-01T12:00:00,n1,1,2\n", "has no zone"),
        ("time,node,sent,received\nnoon,n1,1,2\n", "expected seconds since 1970"),
        ("time,node,sent,received\n5,n1,many,2\n", "`sent`: expected a number"),
        ("time,node,sent,received\n5,n1,nan,2\n", "`sent`: expected a number"),
        ("time,node,sent,received\n5,n1,1\n", "expected 4 columns, found 3"),
        ("time,node,sent,received\n5,n1,1,2\n", "no NIC has two samples"),
        ("#Time,Time_usec,component_id\n", "no column `ProducerName`"),
        ("#Time,Time_usec,ProducerName,load1\n1,0,n1,2\n", "no counters of NICs"),
        ("#Time,Time_usec,ProducerName,tx_bytes#eth0\n1,0,n1,x\n", "expected a number"),
        ('{"status": "error", "error": "bad query"}', "Prometheus says: bad query"),
        ('{"status": "success", "data": {"resultType": "vector", "result": []}}', "expected a matrix"),
        ('{"status": "success", "data": {"resultType": "matrix", "result": []}}', "no counters of NICs"),
        (
            '{"status": "success", "data": {"resultType": "matrix", "result": [{"metric": {"__name__": "up"}, '
            '"values": []}]}}',
            "unknown metric `up`",
        ),
        ('{"status": ', "JSON"),
        ("[1, 2]", "not an answer of Prometheus"),
    ],
)
def test_other_files_are_refused(tmp_path, text, message):
    (tmp_path / "counters").write_text(text)
    with pytest.raises(InputError) as problem:
        read_counters([tmp_path / "counters"])
    assert message in str(problem.value)
    assert "counters" in str(problem.value)


def test_nics_that_cannot_be_told_apart(tmp_path):
    text = "time,node,hca,sent,received\n0,n1,a,0,0\n0,n1,b,5,5\n15,n1,a,9,9\n"
    (tmp_path / "counters").write_text(text)
    with pytest.raises(InputError, match="two values of `sent` at 0 for `n1`: 0 and 5"):
        read_counters([tmp_path / "counters"])


@pytest.mark.parametrize("device", ["lo", "bond0", "br0", "docker0", "eth0.100", "veth12ab", "virbr0"])
def test_bytes_of_virtual_interfaces_count_once(tmp_path, device):
    text = as_prometheus(table(rates()))
    doubled = json.dumps(json.loads(text) + json.loads(text.replace('"eth0"', f'"{device}"')))
    done, _ = of(tmp_path, doubled)
    assert done[1].sent == pytest.approx(3e8)


def test_a_job_of_one_node_on_a_shared_node(tmp_path):
    done, others = of(
        tmp_path, as_csv(table(rates())), [("1", "a", 2, "n[1-2]", 0, 600), ("2", "b", 1, "n2", 100, 200)]
    )
    assert done == []
    assert [entry.run.id for entry in others] == ["1"]


def test_received_bytes_that_are_not_known(tmp_path):
    rows = [(node, at, sent, 1e9 - (at - BEGIN)) for node, at, sent, _ in table(rates())]
    done, others = of(tmp_path, as_csv(rows))
    assert done == []
    assert "counters are known for 0%" in others[0].why


def test_many_jobs_on_shared_nodes(tmp_path):
    """Their number must not count twice: 20,000 jobs one after the other on two nodes."""
    (tmp_path / "counters").write_text(as_csv(table(rates())))
    runs = [Run(BEGIN + 0.02 * n, BEGIN + 0.02 * n + 100, ("n1", "n2"), 2, str(n)) for n in range(20_000)]
    done, others = measured(read_counters([tmp_path / "counters"]), runs)
    assert (len(done), len(others)) == (0, 20_000)
