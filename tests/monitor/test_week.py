"""`odonata cluster week`: records with known answers."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median

import polars as pl
import pytest

from odonata.background.watch import Recorder, Sample
from odonata.cli.main import main
from odonata.monitor.lost import part_lost, spans
from odonata.monitor.records import Records
from odonata.monitor.right import _usual as usual_times
from odonata.monitor.risk import Predicted
from odonata.monitor.state import Judgement, Slowdown
from odonata.monitor.week import week
from odonata.monitor.week_text import amount
from odonata.queue.accounting import Run

MONDAY = datetime(2026, 5, 4, tzinfo=UTC)
HOUR = 3600.0


def recorded(folder: Path) -> Records:
    return Records(Recorder(folder / "records", MONDAY), timedelta(days=400))


def judgement(hours: float, *jobs: Slowdown) -> Judgement:
    return Judgement((MONDAY + timedelta(hours=hours)).timestamp(), 5.0, jobs, 0)


@pytest.fixture
def watch(tmp_path, monkeypatch):
    """Job A (10 nodes) takes twice as long for three hours, B (4 nodes) 1.25 times for one, beside A."""
    monkeypatch.chdir(tmp_path)
    records = recorded(Path("watch"))
    for hour in range(3):
        jobs = [Slowdown("A", 10, 2.0, 1.0, 4.0, "B", 0.9)]
        if hour == 1:
            jobs.append(Slowdown("B", 4, 1.25, 1.25, 1.25, "A", 1.0))
        assert records.add_judgement(judgement(hour + 0.5, *jobs)) is None
    return records


def told(capsys, *words: str) -> dict:
    assert main(["cluster", "week", "watch", "--json", *words]) == 0
    return json.loads(capsys.readouterr().out)


def test_what_jobs_lost(watch, capsys):
    of = told(capsys)
    a, b = of["jobs"]
    # A: 10 nodes, three hours, of which half is lost; over the assumptions nothing to three quarters.
    assert (a["job"], a["node_hours"], a["lost"], a["low"], a["high"]) == pytest.approx(("A", 30, 15, 0, 22.5))
    assert (a["by"], a["by_lost"], a["slowdown"]) == ("B", 15.0, 2.0)
    assert (b["job"], b["node_hours"], b["lost"], b["by"]) == pytest.approx(("B", 4, 0.8, "A"))
    assert of["lost"] == pytest.approx(15.8)
    assert of["lost_range"] == pytest.approx([0.8, 23.3])
    assert (of["covered_s"], of["simulations"]) == (3 * HOUR, 3)
    assert of["background_utilisation"] is None
    assert "--jobs" in of["risk"]["cannot_be_told"]
    assert "--jobs" in of["slowdowns"]["cannot_be_told"]
    assert "odonata advise" in of["placements"]["cannot_be_told"]


def test_a_part_that_communicates(watch, capsys):
    # A quarter communicates and takes twice as long: a run takes 1.25 times as long, so a fifth is lost.
    assert told(capsys, "--communicates", "0.25")["jobs"][0]["lost"] == pytest.approx(6)
    assert part_lost(0.9, 1.0) == 0  # faster beside others is no loss


def test_days_and_bounds(watch, capsys):
    of = told(capsys, "--from", "2026-05-04T01:00:00Z", "--to", "2026-05-04T02:00:00Z")
    assert of["jobs"][0]["lost"] == pytest.approx(5)
    assert of["days"] == [{"day": "2026-05-04", "lost": pytest.approx(5.8)}]
    whole = told(capsys)
    assert len(whole["days"]) == 8  # from 3 o'clock to 3 o'clock
    assert sum(day["lost"] for day in whole["days"]) == pytest.approx(15.8)


def test_start_and_end_of_jobs(watch, capsys):
    Path("jobs.txt").write_text(
        "JobID|JobName|Start|End|NNodes|NodeList\nA|x|2026-05-04T00:30:00|2026-05-04T01:30:00|10|n[0-9]\n"
    )
    a, b = told(capsys, "--jobs", "jobs.txt")["jobs"]
    assert (a["node_hours"], a["lost"]) == pytest.approx((10, 5))
    assert b["node_hours"] == pytest.approx(4)


def test_simulations_stand_for_no_interruption():
    of = spans([0.0, 10.0, 20.0, 120.0, 130.0])
    assert [(span.begin, span.end) for span in of.values()] == [(-5, 5), (5, 15), (15, 25), (115, 125), (125, 135)]


def test_without_a_range(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    recorded(Path("watch")).add_judgement(judgement(1, Slowdown("A", 2, 2.0, None, None, None, None)))
    of = told(capsys)
    assert (of["lost"], of["lost_range"], of["jobs"][0]["by"]) == (pytest.approx(1.0), None, None)


def history(count: int, took: float, name: str = "x") -> list[str]:
    """Past jobs of an ordinary length on eight nodes."""
    begin = MONDAY - timedelta(days=3)
    end = begin + timedelta(seconds=took)
    return [f"h{n}{name}|{name}|{begin:%Y-%m-%dT%H:%M:%S}|{end:%Y-%m-%dT%H:%M:%S}|8|n[0-7]" for n in range(count)]


def test_risks_against_what_happened(watch, capsys):
    """Of 20 jobs with a risk of 60 % twelve fall into the tail, of 20 with 2 % none; one ran before, one goes on."""
    predicted, lines = [], ["JobID|JobName|Start|End|NNodes|NodeList"]
    for n in range(40):
        high = n < 20
        predicted.append(Predicted(f"{n}", 8, 0.5, 0.6 if high else 0.02, high, 150.0, 100.0, began=True))
        end = MONDAY + timedelta(hours=1, seconds=200 if n < 12 else 100)
        lines.append(f"{n}|y|2026-05-04T01:00:00|{end:%Y-%m-%dT%H:%M:%S}|8|n[0-7]")
    predicted.append(Predicted("40", 8, 0.5, 0.9, True, 150.0, 100.0, began=False))
    predicted.append(Predicted("41", 8, 0.5, 0.9, True, 150.0, 100.0, began=True))
    lines.append("40|y|2026-05-04T01:00:00|2026-05-04T02:00:00|8|n[0-7]")
    lines.append("41|y|2026-05-04T01:00:00|Unknown|8|n[0-7]")
    Path("jobs.txt").write_text("\n".join(lines) + "\n")
    assert watch.add_predictions(MONDAY, predicted) is None
    assert watch.add_predictions(MONDAY + timedelta(minutes=1), [predicted[0]]) is None  # a restart sees it again
    risk = told(capsys, "--jobs", "jobs.txt")["risk"]
    assert (risk["jobs"], risk["in_tail"], risk["flagged"], risk["flagged_in_tail"]) == (40, 12, 20, 12)
    low, high = risk["bins"]
    assert (low["runs"], low["forecast"], low["observed"]) == pytest.approx((20, 0.02, 0.0))
    assert (high["runs"], high["forecast"], high["observed"]) == pytest.approx((20, 0.6, 0.6))
    assert high["interval"] == pytest.approx([0.3866, 0.7812], abs=1e-4)  # Wilson, by hand


def test_records_of_a_probe_do_not_say_it(watch, capsys):
    watch.add_predictions(MONDAY, [Predicted("A", 10, 0.5, 0.6, True, 2e-3, 1e-3, began=True)])
    Path("jobs.txt").write_text(
        "JobID|JobName|Start|End|NNodes|NodeList\nA|x|2026-05-04T00:30:00|2026-05-04T01:30:00|10|n[0-9]\n"
    )
    assert "not times of whole runs" in told(capsys, "--jobs", "jobs.txt")["risk"]["cannot_be_told"]


def test_slowdowns_against_run_times(tmp_path, monkeypatch, capsys):
    """Twelve jobs of an hour that are slowed down as predicted."""
    monkeypatch.chdir(tmp_path)
    records = recorded(Path("watch"))
    slowdowns = [1.06 + 0.1 * n for n in range(12)]
    lines = ["JobID|JobName|Start|End|NNodes|NodeList"]
    jobs = []
    for n, slowdown in enumerate(slowdowns):
        lines += history(11, 3600.0, f"name{n}")
        end = MONDAY + timedelta(hours=slowdown)
        lines.append(f"{n}|name{n}|{MONDAY:%Y-%m-%dT%H:%M:%S}|{end:%Y-%m-%dT%H:%M:%S}|8|n[0-7]")
        jobs.append(Slowdown(f"{n}", 8, slowdown, None, None, None, None))
    records.add_judgement(judgement(0.5, *jobs))
    records.add_judgement(judgement(4.5, *jobs[:1]))  # the records end after the jobs
    Path("jobs.txt").write_text("\n".join(lines) + "\n")
    of = told(capsys, "--jobs", "jobs.txt")["slowdowns"]
    assert of["jobs"] == 12
    assert of["correlation"] == pytest.approx(1)
    assert [bin_["jobs"] for bin_ in of["bins"]] == [1, 1, 3, 5, 2]
    for bin_ in of["bins"]:
        assert bin_["measured"] == pytest.approx(bin_["predicted"], rel=1e-3)


def test_the_usual_time_is_that_of_the_others():
    times = [5.0, 1.0, 9.0, 9.0, 2.0, 7.0, 3.0]
    for count in (6, 7):
        runs = [Run(0.0, took, None, 4, f"{n}", name="x") for n, took in enumerate(times[:count])]
        others = {f"{n}": median(times[:n] + times[n + 1 : count]) for n in range(count)}
        assert usual_times(runs) == others
    assert usual_times(runs[:5]) == {}


def test_the_page(watch, capsys):
    watch.add(Sample(MONDAY, 0.0, 0.0, None, "no"))
    assert main(["cluster", "week", "watch", "--html", "week.html"]) == 0
    out, err = capsys.readouterr()
    assert "2 jobs lost 15.8 node-hours to neighbours (0.8 to 23.3 over the assumptions), 46.5 % of 34.0." in out
    assert err == "week.html written\n"
    page = Path("week.html").read_text()
    assert page.startswith("<!doctype html>")
    assert "<script" not in page
    assert page.count("This cannot be told: ") == 3
    assert "<td>A</td><td>10</td><td>30.0</td><td>2.00</td><td>15.00</td><td>0.00 to 22.50</td>" in page
    assert main(["cluster", "week", "watch", "--html", "week.html"]) == 0  # the same page again


def test_text_of_users_is_no_markup(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    evil = "<script>alert(1)</script>\x1b[31m\n"
    recorded(Path("watch")).add_judgement(judgement(1, Slowdown(evil, 2, 2.0, None, None, evil, 1.0)))
    assert main(["cluster", "week", "watch", "--html", "week.html", "--json"]) == 0
    assert "<script" not in Path("week.html").read_text()
    capsys.readouterr()
    assert main(["cluster", "week", "watch"]) == 0
    assert "\x1b" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["none"], "none"),
        (["watch", "--to", "2026-05-01T00:00:00"], "has no zone"),
        (["watch", "--from", "2027-05-01T00:00:00Z"], "is empty"),
        (["watch", "--to", "0001-01-02T00:00:00Z"], "the records go from 2026-05-04T00:00:00Z to 2026-05-04T03:00:00Z"),
        (["watch", "--to", "2026-05-04"], "is empty"),
        (["watch", "--from", "999999999999"], "from the year 1 to 9999"),
        (["watch", "--from", "0001-01-01T00:00:00+14:00"], "from the year 1 to 9999"),
        (["watch", "--from", "2026-05-04T01:00:00"], "`2026-05-04T01:00:00Z`"),
        (["watch", "--zone", "Europe/Rome"], "--zone goes with --jobs"),
        (["watch", "--html", "week.pdf"], "ends in `.html`"),
        (["watch", "--communicates", "2"], "communicates"),
        (["watch", "--jobs", "none.txt"], "none.txt"),
    ],
)
def test_wrong_options(watch, capsys, words, message):
    assert main(["cluster", "week", *words]) == 2
    assert message in capsys.readouterr().err


def test_a_time_that_is_longer_than_the_records(watch, capsys):
    whole = told(capsys, "--from", "1970-01-01T00:00:00Z", "--to", "9999-12-31T00:00:00Z")
    assert (whole["from"], whole["to"]) == ("2026-05-04T00:00:00+00:00", "2026-05-04T03:00:00+00:00")
    assert whole["days"] == [{"day": "2026-05-04", "lost": pytest.approx(15.8)}]
    day = told(capsys, "--from", "2026-05-04", "--to", "2026-05-05")  # a day is its first moment
    assert (day["from"], day["to"], day["lost"]) == (whole["from"], whole["to"], whole["lost"])


def test_losses_of_days_meet_at_midnight(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    records = recorded(Path("watch"))
    for hours in (22, 23, 24.25, 25.25):
        records.add_judgement(judgement(hours, Slowdown("A", 2, 2.0, None, None, None, None)))
    of = told(capsys, "--from", "2026-05-04")
    # From 21:30 to 23:30, and, since the usual gap is an hour, from 23:45 to 1:45.
    assert [(day["day"], day["lost"]) for day in of["days"]] == [
        ("2026-05-04", pytest.approx(2.25)),
        ("2026-05-05", pytest.approx(1.75)),
    ]
    assert of["lost"] == pytest.approx(4)


def test_no_time_that_watch_did_not_see(tmp_path, monkeypatch, capsys):
    """Two samples in 20 seconds and one simulation stand for at most a minute, not for an hour around it."""
    monkeypatch.chdir(tmp_path)
    records = recorded(Path("watch"))
    for seconds in (0, 20):
        records.add(Sample(MONDAY + timedelta(seconds=seconds), seconds, 0.0, None, "no"))
    records.add_judgement(judgement(10 / HOUR, Slowdown("A", 36, 2.0, None, None, None, None)))
    of = told(capsys)
    assert of["to"] == "2026-05-04T00:00:40+00:00"
    assert of["covered_s"] == pytest.approx(60)
    assert of["node_hours"] == pytest.approx(0.6)
    assert main(["cluster", "week", "watch"]) == 0
    out = capsys.readouterr().out
    assert "1 jobs lost 0.3 node-hours to neighbours, 50.0 % of 0.6." in out
    assert "1 simulation stands for 0.017 of 168.0 hours." in out
    now = (MONDAY + timedelta(seconds=25)).timestamp()
    assert week(Path("watch"), now=now).end == MONDAY + timedelta(seconds=25)


def test_never_after_now(watch):
    now = MONDAY + timedelta(hours=2.6)
    of = week(Path("watch"), now=now.timestamp())
    assert (of.end, of.covered_s) == (now, pytest.approx(2.6 * HOUR))


def test_small_amounts_have_two_digits():
    values = [0.0, 1e-5, 0.0123, 0.1, 0.96, 1.0, 1234.5]
    assert [amount(value, 1) for value in values] == ["0.0", "1e-05", "0.012", "0.1", "0.96", "1.0", "1,234.5"]
    assert [amount(value, 2) for value in values] == ["0.00", "1e-05", "0.012", "0.10", "0.96", "1.00", "1,234.50"]


@pytest.mark.parametrize(
    ("kind", "change", "message"),
    [
        ("slowdowns", pl.col("time").cast(pl.Int32, strict=False), "`time` has the type Int32"),
        ("slowdowns", pl.col("nodes").cast(pl.Int32), "`nodes` has the type Int32"),
        ("slowdowns", pl.col("time").dt.cast_time_unit("ns"), "`time` has the type Datetime"),
        ("slowdowns", pl.lit(None, pl.Datetime("us", "UTC")).alias("time"), "row 1, column `time`: expected a time"),
        ("slowdowns", pl.lit(float("nan")).alias("slowdown"), "row 1, column `slowdown`: expected a slowdown"),
        ("slowdowns", pl.lit(float("inf")).alias("high"), "row 1, column `high`: expected a slowdown"),
        ("slowdowns", pl.lit(-4, pl.Int64).alias("nodes"), "`nodes`: expected a number of nodes from 1 on, found `-4`"),
        ("slowdowns", pl.lit(None, pl.String).alias("job"), "row 1, column `job`: expected a value, found none"),
        ("background", pl.col("b").cast(pl.String), "`b` has the type String"),
        ("background", pl.lit(None, pl.Datetime("us", "UTC")).alias("time"), "row 1, column `time`: expected a time"),
        ("predictions", pl.lit(1.5).alias("probability"), "`probability`: expected a probability from 0 to 1"),
        ("predictions", pl.col("began").cast(pl.Int8), "`began` has the type Int8"),
    ],
)
def test_a_file_with_other_types_or_values(watch, capsys, kind, change, message):
    watch.add(Sample(MONDAY, 0.0, 0.0, None, "no"))
    watch.add_predictions(MONDAY, [Predicted("A", 10, 0.5, 0.6, True, 150.0, 100.0, began=True)])
    file = sorted(Path("watch/records").glob(f"{kind}-*"))[-1]
    Path("jobs.txt").write_text("JobID|JobName|Start|End|NNodes|NodeList\n")
    pl.read_parquet(file).with_columns(change).write_parquet(file)
    assert main(["cluster", "week", "watch", "--jobs", "jobs.txt"]) == 2
    err = capsys.readouterr().err
    assert message in err
    assert file.name in err


def test_records_that_are_damaged_or_lack_slowdowns(watch, capsys):
    files = sorted(Path("watch/records").glob("slowdowns-*"))
    files[0].write_bytes(b"PAR1 and then nothing")
    assert main(["cluster", "week", "watch"]) == 2
    assert files[0].name in capsys.readouterr().err
    for file in files:
        file.unlink()
    assert main(["cluster", "week", "watch"]) == 2
    assert "no records of slowdowns" in capsys.readouterr().err


def test_predictions_survive_a_full_disk(watch, monkeypatch):
    from odonata import files
    from odonata.errors import RunError

    of = [Predicted(f"{n}", 8, 0.5, 0.6, True, 150.0, 100.0, began=True) for n in range(3)]
    with monkeypatch.context() as patch:

        def full(path, data):
            raise RunError("full")

        patch.setattr(files, "write", full)
        assert watch.add_predictions(MONDAY, of[:2]) == "full"
    assert watch.add_predictions(MONDAY + timedelta(days=1), [of[2]]) is None
    assert watch.add_predictions(MONDAY + timedelta(days=1), []) is None
    assert pl.read_parquet("watch/records/predictions-*.parquet")["job"].to_list() == ["0", "1", "2"]
