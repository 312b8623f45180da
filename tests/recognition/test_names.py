"""Names of jobs: whatever they hold, they add neither a row nor a key."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from odonata import reading
from odonata.cluster import read_queue
from odonata.errors import InputError
from odonata.queue.accounting import read_runs
from odonata.queue.slurm import commands

if TYPE_CHECKING:
    from pathlib import Path

ENDS = ["\u2028", "\u2029", "\x85", "\f", "\v", "\x1c", "\x1d", "\x1e", "\r"]
FALSE_ROW = "9|RUNNING|4|n[11-14]"
MULTI = """\
JobId=1 JobName={name}
   UserId=ann(1000) GroupId=ann(1000) MCS_label=N/A
   Priority=1 Nice=0 Account=acc QOS=normal
   JobState=RUNNING Reason=None Dependency=(null)
   Partition=main AllocNode:Sid=n0:1
   ReqNodeList=(null) ExcNodeList=(null)
   NodeList=n[01-03]
   NumNodes=3 NumCPUs=3
   Command=/home/{name}
   WorkDir=/home/{name}
   Comment={name}

"""
HIDING = "x JobState=PENDING NodeList=(null)"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "given"


def test_lines_end_at_line_feeds() -> None:
    assert reading.lines("a\r\nb\u2028c\x0cd\n\n") == ["a", "b\u2028c\x0cd", ""]
    assert reading.lines("") == []
    assert reading.lines("a") == reading.lines("a\n") == ["a"]


@pytest.mark.parametrize("name", [HIDING, f"{HIDING} Account=other Partition=other", "JobId=2", "=", " UserId=", ""])
def test_records_of_scontrol(name: str, file: Path) -> None:
    oneline = " ".join(line.strip() for line in MULTI.format(name="NAME").splitlines()).replace("NAME", name, 1)
    for text in (MULTI.format(name=name), oneline.replace("NAME", "c") + "\n"):
        file.write_text(text)
        (job,) = read_queue(file)
        assert (job.running, job.nodes, job.name) == (True, ("n01", "n02", "n03"), name)
        assert (job.account, job.partition, job.user) == ("acc", "main", "ann")


def test_a_record_on_one_line_with_two_owners_is_refused(file: Path) -> None:
    forged = "x UserId=a(1) GroupId=a(1) JobState=PENDING NodeList=(null)"
    file.write_text(" ".join(line.strip() for line in MULTI.format(name=forged).splitlines()))
    with pytest.raises(InputError, match="given:1: a name or a comment holds `UserId=`"):
        read_queue(file)


@pytest.mark.parametrize("end", ENDS)
def test_a_name_adds_no_row(end: str, file: Path) -> None:
    name = f"x{end}{FALSE_ROW}"
    file.write_text(f"JOBID|STATE|NODES|NAME|NODELIST\n1|RUNNING|2|{name}|n[01-02]\n", newline="")
    (job,) = read_queue(file)
    assert (job.nodes, job.name) == (("n01", "n02"), name)
    file.write_text(MULTI.format(name=f"x{end}JobId=2 JobName=y{end}   JobState=PENDING{end}"), newline="")
    (job,) = read_queue(file)
    assert job.running
    times = "2026-01-01T00:00:00|2026-01-01T01:00:00"
    file.write_text(f"JobID|Start|End|NNodes|JobName|NodeList\n1|{times}|1|x{end}2|{times}|1|y|n1\n", newline="")
    assert [run.nodes for run in read_runs(file).runs] == [("n1",)]


@pytest.mark.parametrize("end", ENDS)
def test_a_comment_of_a_trace_adds_no_row(end: str, file: Path) -> None:
    row = "1 0 0 10 4 -1 -1 4 -1 -1 1 1 1 1 1 1 -1 -1"
    file.write_text(f"; MaxNodes: 4\n; MaxProcs: 4\n; Note: x{end}{row}\n{row}\n", newline="")
    assert len(read_runs(file).runs) == 1


def test_a_carriage_return_that_slurm_prints_adds_no_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "squeue"
    program.write_text("#!/bin/sh\nprintf 'JOBID|STATE|NODES|NAME|NODELIST\\n1|RUNNING|1|x\\r9|R|1|y|n1\\n'\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin")
    assert commands.queue().count("\n") == 2
    assert [job.id for job in read_queue()] == ["1"]


def test_a_bracket_in_a_name_does_not_begin_the_reason(file: Path) -> None:
    file.write_text(
        "             JOBID PARTITION     NAME     USER ST       TIME  NODES NODELIST(REASON)\n"
        "                 1      main a b R d e (x  ann PD       0:00      4 (Resources)\n"
        "                 2      main a b R d e (x  ann  R       0:00      2 n[1-2]\n"
    )
    assert [job.running for job in read_queue(file)] == [False, True]
