"""`odonata cluster watch` as typed: its output, its metrics over HTTP and in a file, kills, and wrong options."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import polars as pl
import pytest

from odonata.cli.main import main

QUEUE = "JOBID|STATE|NODELIST|NAME\n1|R|n[1-4]|a\n2|R|n[5-6]|b\n"


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("queue.txt").write_text(QUEUE)
    return tmp_path


BASE = ["cluster", "watch", "--queue", "queue.txt", "--nodes-total", "10"]


def free_port() -> int:
    with socket.socket() as of:
        of.bind(("127.0.0.1", 0))
        return of.getsockname()[1]


def test_samples_and_a_text_file(here, capsys):
    assert main([*BASE, "--every", "0.01", "--count", "3", "--textfile", "odonata.prom"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert [line.split("  ")[1] for line in out.splitlines()] == ["b 0.6000"] * 3
    text = Path("odonata.prom").read_text()
    assert "odonata_background_utilisation_ratio 0.6\n" in text
    assert "odonata_watch_samples_total 3.0\n" in text
    assert pl.read_parquet("watch/records/*.parquet").height == 3


def test_http_and_slowdowns(here):
    examples = Path(__file__).parents[2] / "examples" / "queue"
    for name in ("squeue.txt", "sinfo.txt", "topology.txt", "book.toml"):
        shutil.copy(examples / name, name)
    assert main(["cluster", "import", "topology.txt", "--like", "tiny", "-o", "machine.toml", "--names", "n.csv"]) == 0
    port = free_port()
    command = [sys.executable, "-m", "odonata", "cluster", "watch", "--queue", "squeue.txt", "--every", "0.2"]
    command += ["--nodes-file", "sinfo.txt", "--system", "machine.toml", "--book", "book.toml", "--names", "n.csv"]
    command += ["--vary", "nothing", "--listen", f"127.0.0.1:{port}", "--quiet"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE)
    try:
        text = ""
        deadline = time.monotonic() + 100
        while "odonata_job_slowdown_ratio{" not in text:
            assert time.monotonic() < deadline, text
            assert process.poll() is None, process.stderr.read()
            time.sleep(0.3)
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics") as answer:
                    text = answer.read().decode()
            except OSError:
                continue
    finally:
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 143
    assert b"Traceback" not in err
    assert 'odonata_job_slowdown_ratio{job_id="2"}' in text
    assert pl.read_parquet("watch/records/slowdowns-*.parquet").height == 7


def test_the_machine_says_how_many_nodes_there_are(here, capsys):
    command = ["cluster", "watch", "--queue", "queue.txt", "--system", "tiny", "--count", "1", "--every", "0.01"]
    assert main(command) == 0
    assert "b 0.3750" in capsys.readouterr().out  # six of sixteen nodes


def test_it_survives_kills(here):
    command = [sys.executable, "-m", "odonata", *BASE, "--every", "0.05"]
    announced = 0
    for _ in range(3):
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            announced += sum(process.stdout.readline() != "" for _ in range(4))
            process.kill()
            announced += len(process.stdout.read().splitlines())
    assert main([*BASE, "--every", "0.01", "--count", "1"]) == 0
    table = pl.read_parquet("watch/records/background-*.parquet")
    assert announced + 1 <= table.height <= announced + 4  # a sample that was written and not yet announced
    assert table["process"].n_unique() == 4
    assert table["b"].to_list() == [0.6] * table.height


def test_two_at_once_are_refused(here):
    process = subprocess.Popen(
        [sys.executable, "-m", "odonata", *BASE, "--every", "0.05"], stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout.readline()
        assert main([*BASE, "--count", "1"]) != 0
    finally:
        os.kill(process.pid, signal.SIGINT)
        process.communicate(timeout=60)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--listen", "9797"], "expected an address and a port"),
        (["--listen", "127.0.0.1:99999"], "expected an address and a port"),
        (["--listen", "127.0.0.1:²"], "expected an address and a port"),
        (["--impact-every", "60"], "--impact-every goes with --system"),
        (["--vary", "seeds"], "--vary goes with --system"),
        (["--keep", "1e9"], "keep"),
        (["--textfile", "odonata.txt"], "ends in `.prom`"),
        (["--textfile", "no/odonata.prom"], "no/odonata.prom"),
        (["--book", "book.toml"], "--book goes with --system"),
        (["--system", "tinny"], "tiny"),
        (["--predictor", "none.json"], "none.json"),
        (["--keep", "0"], "keep"),
    ],
)
def test_wrong_options(here, capsys, more, message):
    assert main([*BASE, "--count", "1", *more]) in (1, 2)
    assert message in capsys.readouterr().err


BOOK = Path(__file__).parents[2] / "examples" / "queue" / "book.toml"


@pytest.mark.parametrize(
    ("option", "text", "message"),
    [
        ("--book", None, "file"),
        ("--book", "[[rule]\n", "file:1"),
        ("--book", BOOK.read_text() + '\n[[rule]]\nnaem = "x"\n', f"file:{BOOK.read_text().count(chr(10)) + 3}"),
        ("--names", None, "file"),
        ("--names", "no,names\n", "file:1"),
    ],
)
def test_files_of_the_simulations_are_read_at_the_start(here, capsys, option, text, message):
    if text is not None:
        Path("file").write_text(text)
    command = ["cluster", "watch", "--queue", "queue.txt", "--system", "tiny", "--count", "1", option, "file"]
    assert main(command) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert message in err
    assert not Path("watch").exists()
