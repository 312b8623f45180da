"""`odonata cluster analyse`: tables as users have them, and what is wrong with some."""

from __future__ import annotations

import gzip
import json
import lzma
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import odonata as od
from odonata.cli.main import main


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def analyse(here: Path, capsys: pytest.CaptureFixture[str]):
    def command(*arguments: str) -> tuple[int, str, str]:
        status = main(["cluster", "analyse", *arguments])
        return status, *capsys.readouterr()

    return command


def measured(runs: int = 12, iterations: int = 40) -> pl.DataFrame:
    """Broadcasts and reductions in several runs; times of reductions grow with b."""
    rng = np.random.default_rng(1)
    rows = []
    for run in range(runs):
        b = 0.3 + 0.4 * run / runs
        for collective, slope in (("bcast", 0.0), ("reduce", 300.0)):
            for number, time in enumerate(100 + slope * b + rng.gamma(2, 4, iterations)):
                moment = f"2026-05-{run + 1:02}T{(7 * run) % 24:02}:30:00"
                rows.append((f"r{run}", collective, 1024, number, time, b, moment))
    names = ["run", "collective", "bytes", "iteration", "time_us", "b", "started"]
    return pl.DataFrame(rows, schema=names, orient="row")


def test_series_of_a_csv_file(analyse, here: Path) -> None:
    measured().write_csv("t.csv")
    status, out, err = analyse("t.csv", "--by", "collective", "--no-fit", "--json")
    assert (status, err) == (0, "")
    printed = json.loads(out)
    assert (printed["value"], printed["by"], printed["unit"]) == ("time_us", ["collective"], "ps")
    bcast, reduce = printed["series"]
    assert bcast["key"] == {"collective": "bcast"}
    times = measured().filter(pl.col("collective") == "bcast")["time_us"].to_numpy() * 1e6
    assert bcast["median_ps"] == pytest.approx(np.median(times))
    q1, q3 = np.quantile(times, [0.25, 0.75])
    assert bcast["qcd"] == pytest.approx((q3 - q1) / (q3 + q1))
    assert bcast["peaks"]["count"] == 1
    assert bcast["fits"] is None
    assert reduce["n"] == 480


def test_what_tells_series_apart_without_by(here: Path) -> None:
    """Text, and numbers of a known name that vary: run and collective, not `b`, `iteration`, one size or moments."""
    measured(2).write_csv("t.csv")
    for source in ("t.csv", measured(2)):
        assert od.cluster.analyse(source, fit=False).keys == ("run", "collective")
    sizes = measured().with_columns(bytes=pl.when(pl.col("iteration") < 20).then(1024).otherwise(64))
    analysis = od.cluster.analyse(sizes, where={"run": "r3", "collective": "bcast"}, fit=False)
    assert analysis.keys == ("bytes",)
    assert [series.key["bytes"] for series in analysis.series] == [64, 1024]
    assert [series.dispersion.n for series in analysis.series] == [20, 20]


MOMENTS = [
    "2026-10-01T{:02}:00:00",
    "2026-10-01 {:02}:00",
    "2026-10-01T{:02}:00:00.5Z",
    "2026-10-01T{:02}:00:00+02:00",
    "2026/10/01 {:02}:00:00",
    "20261001T{:02}0000",
    "{:02}:30:00",
    "01.10.2026 {:02}:00",
    "10/01/2026 {}:00 PM",
    "Thu Oct  1 {:02}:00:00 2026",
    "Thu Oct  1 {:02}:00:00 CEST 2026",
    "Thu, 01 Oct 2026 {:02}:00:00 GMT",
    "2026-10-{:02}",
]


@pytest.mark.parametrize("form", MOMENTS)
@pytest.mark.parametrize("name", ["started", "when", "Date"])
def test_moments_tell_no_series_apart(here: Path, form: str, name: str) -> None:
    """Each row has one of its own. Catches "no series has 5 rows"."""
    rows = pl.DataFrame({name: [form.format(at) for at in range(1, 13)], "run": range(12), "b": [0.1, 0.4, 0.2] * 4})
    rows = rows.with_columns(time_us=pl.col("b") * 10 + 5 + pl.col("run") / 100)
    rows.write_csv("t.csv")
    for source in ("t.csv", rows):
        analysis = od.cluster.analyse(source, correlate="b")
        assert (analysis.keys, analysis.related[0].correlation.n) == ((), 12)


@pytest.mark.parametrize("text", ["4.1.{}", "2021.{}.0", "node-{}", "Run {}", "a:{}", "May {} b", "x1-2-{}"])
def test_names_with_numbers_are_no_moments(text: str) -> None:
    rows = pl.DataFrame({"name": [text.format(at % 2 + 1) for at in range(12)], "time_us": [1.0, 2, 3] * 4})
    assert od.cluster.analyse(rows, fit=False).keys == ("name",)


def test_a_correlation_fits_no_distributions(analyse, here: Path) -> None:
    """Unless they are asked for. Catches a minute of fits for one number."""
    measured().write_csv("t.csv")
    words = ["--where", "collective=bcast", "--by", "collective", "--correlate", "b"]
    status, out, err = analyse("t.csv", *words)
    assert (status, err) == (0, "")
    assert "no distributions fitted to 1 series; --fit fits them" in out
    assert "1 of 1 families" in analyse("t.csv", *words, "--family", "norm", "-j", "1")[1]
    few = measured().filter(pl.col("collective") == "bcast")
    assert od.cluster.analyse(few, by=["collective"], correlate="b").series[0].fits is None


def test_parquet_and_csv_say_the_same(analyse, here: Path) -> None:
    measured().write_csv("t.csv", separator=";")
    measured().write_parquet("t.parquet")
    words = ["--by", "collective", "--no-fit", "--skip", "10"]
    first, second = analyse("t.csv", *words), analyse("t.parquet", *words)
    assert first == second
    assert first[0] == 0
    assert "470" in first[1]


def test_fits_from_the_command_line(analyse, here: Path) -> None:
    measured().write_csv("t.csv")
    words = ["--where", "collective=bcast", "--by", "collective", "--family", "norm", "--family", "gamma"]
    status, out, err = analyse("t.csv", *words, "--family", "irwinhall", "-j", "1", "--out", "s.csv")
    assert status == 0
    assert "2 of 3 families fit 480 values" in out
    assert "not fitted: irwinhall: SciPy: The generic `fit` implementation is unreliable" in out
    assert out.index("gamma") < out.index("norm  ")
    assert err == "3 of 3 fits done\n"
    assert pl.read_csv("s.csv")["family"].to_list() == ["gamma"]


def test_correlation_with_b(analyse, here: Path) -> None:
    measured().write_csv("t.csv")
    status, out, _ = analyse(
        "t.csv", "--by", "collective", "--no-fit", "--correlate", "b", "--time-of-day", "started", "--json"
    )
    assert status == 0
    printed = json.loads(out)
    bcast, reduce = printed["correlations"]
    assert reduce["pearson"]["value"] > 0.98
    assert reduce["spearman"]["interval"][0] > 0.9
    assert reduce["partial_pearson"]["value"] > 0.95
    low, high = bcast["pearson"]["interval"]
    assert low < 0 < high
    assert (bcast["n"], bcast["points"], bcast["time_of_day"]) == (12, "run", "started")
    assert printed["note"].startswith("Correlation is not causation")
    text = analyse("t.csv", "--by", "collective", "--no-fit", "--correlate", "b")[1]
    assert "Correlation is not causation" in text
    assert "mean of `time_us` against `b`; a point is a value of `run`" in text


@pytest.mark.parametrize(
    ("words", "panels"),
    [
        ("--plot p.png --no-fit", 1),
        ("--plot p.svg --no-fit --kind histogram", 2),
        ("--plot p.pdf --no-fit --correlate b", 2),
        ("--plot p.png --no-fit --kind qcd --by bytes", 1),
    ],
)
def test_pictures(analyse, here: Path, monkeypatch: pytest.MonkeyPatch, words: str, panels: int) -> None:
    saved = []
    from odonata.plot import style

    save = style.save
    monkeypatch.setattr(style, "save", lambda made, path: (saved.append(made), save(made, path)))
    table = pl.concat([measured(6), measured(6).with_columns(pl.lit(64, pl.Int64).alias("bytes"))])
    table.write_csv("t.csv")
    status, out, _ = analyse("t.csv", "--by", "collective", *words.split())
    assert status == 0
    picture = words.split()[1]
    assert out.splitlines()[-1] == picture
    assert Path(picture).stat().st_size > 1000
    assert sum(axes.get_visible() for axes in saved[0].axes) == panels
    Path(picture).write_text("mine")
    assert analyse("t.csv", "--by", "collective", *words.split())[2].startswith(f"error: `{picture}` exists")


def test_tables_of_a_run_folder(here: Path) -> None:
    """The same functions for simulated latencies."""
    main(["new", "first.toml"])
    simulated = od.run("first.toml")
    analysis = od.cluster.analyse(simulated.messages, where={"job": "0"}, fit=False)
    row = simulated.jobs.row(0, named=True)
    assert analysis.series[0].dispersion.n == row["latency_count"]
    assert analysis.series[0].dispersion.mean == pytest.approx(row["latency_mean_ps"])
    assert analysis.value == "latency_ps"


def test_rows_that_never_arrived_are_left_out_and_said(here: Path) -> None:
    table = pl.DataFrame({"job": [0] * 9, "latency_ps": [1, 2, 3, 4, 5, 6, 7, 8, None]})
    analysis = od.cluster.analyse(table, fit=False)
    assert (analysis.unfinished, analysis.series[0].dispersion.n) == (1, 8)
    assert "1 rows without a time" in str(analysis)


def test_a_constant_series(analyse, here: Path) -> None:
    Path("t.csv").write_text("time_us\n" + "5\n" * 50)
    status, out, _ = analyse("t.csv")
    assert status == 0
    assert "no distribution fitted: all values are equal" in out
    assert "peaks not tested" in out


def test_short_series_are_left_out(here: Path) -> None:
    table = pl.DataFrame({"collective": ["a"] * 9 + ["b"] * 2, "time_us": range(11)})
    analysis = od.cluster.analyse(table, fit=False)
    assert [series.label for series in analysis.series] == ["a"]
    assert analysis.left_out == {"b": "2 rows, fewer than 5"}


ROWS = "time_us,b\n1,2\n2,3\n"


@pytest.mark.parametrize(
    ("text", "words", "message"),
    [
        ("", "", "t.csv: the file is empty"),
        ("time_us\n", "", "t.csv: the table has no rows"),
        (ROWS, "", "t.csv: no series has 5 rows; the longest has 2"),
        ("collective,n\na,1\n", "", "no column of times such as `time_us`; found `collective`, `n`"),
        ("time_us,total_ms\n1,2\n", "--value tim_us", "unknown column `tim_us`\n  hint: did you mean `time_us`?"),
        ("a_us,b_ms\n1,2\n", "", "several columns may be the times: `a_us`, `b_ms`\n  hint: choose one with --value"),
        ("t\n1\n", "--value t", "the unit of `t` is not known\n  hint: say it with --unit us"),
        ("time_us\n1\n", "--unit ms --value time_us", "`time_us` says that its unit is us, --unit says ms"),
        ("time_us\n1\n", "--unit uss", "unknown unit of time `uss`\n  hint: did you mean `us`?"),
        ("time_us\n1\n4 ms\n", "", "t.csv:3: expected a number in `time_us`, found `4 ms`\n  hint: give all times in"),
        ("time_us\n1\nfast\n", "", "t.csv:3: expected a number in `time_us`, found `fast`"),
        ("time_us,b\n1,2\n,3\n", "", "t.csv:3: a time is missing in `time_us`"),
        ("time_us\n1\nNaN\n", "", "t.csv:3: expected a finite time in `time_us`, found nan"),
        ("time_us\n1\n2\n-3\n", "", "t.csv:4: a time cannot be negative in `time_us`, found -3"),
        ("run,time_us\na,1\n", "--by rnu", "unknown column `rnu`\n  hint: did you mean `run`?"),
        ("run,time_us\na,1\n", "--where run=b", "unknown value of `run` `b`\n  hint: known: a"),
        (ROWS, "--where run", "expected --where column=value, found `run`"),
        (ROWS, "--out x.txt", "expected a file that ends in .parquet or .csv, found `x.txt`"),
        (ROWS, "--points run", "points are for a correlation"),
        (ROWS, "--time-of-day b", "the time of day is for a correlation"),
        (ROWS, "--kind qcd", "--kind goes with --plot"),
        (ROWS, "--plot p.png --kind scatter", "a scatter plot needs --correlate COLUMN"),
        (ROWS, "--plot p.gif", "`.gif` is not a picture format"),
        ("time_us\n" + "1\n2\n" * 9, "--no-fit --plot p.png --kind qcd", "no column of --by holds numbers"),
        (
            "run,time_us\n" + "".join(f"{r},{n}\n" for r in range(20) for n in range(6)),
            "--plot p.png --kind histogram",
            "has 12 panels at most; here are 20\n  hint: choose some with --where",
        ),
        (ROWS, "--skip 7", "no series has more than 7 rows"),
        (
            "run,time_us,b\n" + "a,1,2\n" * 6,
            "--correlate b",
            "cannot correlate `b` with `time_us`: 1 points are too few",
        ),
        (
            "run,time_us,b\n" + "".join(f"{r},{r}{n},7\n" for r in range(1, 7) for n in range(6)),
            "--correlate b --no-fit",
            "`b` has the same value, 7, at all 6 points",
        ),
        (
            "run,time_us,b\n" + "".join(f"{r},{r}{n},high\n" for r in range(1, 7) for n in range(6)),
            "--correlate b --no-fit",
            "t.csv:2: expected a number in `b`, found `high`",
        ),
        (
            "run,time_us,b,at\n" + "".join(f"{r},{r}{n},{r},noon\n" for r in range(1, 7) for n in range(6)),
            "--correlate b --no-fit --time-of-day at",
            "expected moments such as 2026-05-01T12:30:00 in `at`, found `noon`",
        ),
    ],
)
def test_what_is_wrong(analyse, text: str, words: str, message: str) -> None:
    Path("t.csv").write_text(text)
    status, out, err = analyse("t.csv", *words.split())
    assert (status, out) == (2, "")
    assert message in err


def test_files_that_are_no_table(analyse, here: Path) -> None:
    measured().write_parquet("whole.parquet")
    Path("cut.parquet").write_bytes(Path("whole.parquet").read_bytes()[:-50])
    Path("cut.csv").write_text("time_us,collective\n" + "1,bcast\n" * 9 + "1")
    Path("long.csv").write_text("time_us,collective\n" + "1,bcast\n" * 9 + "1,bcast,2\n1,bcast\n")
    Path("open.csv").write_text('time_us,collective\n1,bcast\n1,"bcast\n1,bcast\n')
    Path("noise.csv").write_bytes(b"time_us\n\xff\xfe\n")
    for name, said in (
        ("cut.parquet", "cut.parquet: not a whole Parquet file"),
        ("cut.csv", "cut.csv:11: the last row has not as many columns as the header: the file may be cut"),
        ("long.csv", "long.csv:11: not a table in CSV: expected 2 fields as in the header, found 3"),
        ("open.csv", "open.csv:3: not a table in CSV: a quotation mark is not closed"),
        ("noise.csv", "UTF-8"),
        ("none.csv", "none.csv: cannot read it: no such file"),
        (".", "it is a folder without kept runs of the probe\n  hint: give the table `messages.parquet`"),
    ):
        status, out, err = analyse(name)
        assert (status, out) == (2, "")
        assert said in err


def test_compressed_tables(analyse, here: Path) -> None:
    measured().write_csv("t.csv")
    Path("t.csv.gz").write_bytes(gzip.compress(Path("t.csv").read_bytes()))
    whole = analyse("t.csv", "--correlate", "b", "--json")
    assert whole[0] == 0
    assert analyse("t.csv.gz", "--correlate", "b", "--json")[1] == whole[1].replace("t.csv", "t.csv.gz")
    Path("t.csv.xz").write_bytes(lzma.compress(Path("t.csv").read_bytes()))
    status, out, err = analyse("t.csv.xz")
    assert (status, out) == (2, "")
    assert "t.csv.xz: compressed by xz; expected text\n  hint: unpack it: unxz -c t.csv.xz" in err
