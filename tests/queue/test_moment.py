"""When a queue was listed, and on which cluster, from each form of a listing."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from odonata.cluster import read_queue

if TYPE_CHECKING:
    from pathlib import Path

TABLE = """\
JOBID|STATE|NODELIST|START_TIME|TIME|CLUSTER
1|RUNNING|n[0-1]|2026-11-20T23:50:00|1-00:20:30|alps
2|PENDING||2027-11-20T14:30:47|0:00|alps
"""
RECORDS = """\
JobId=1 JobName=a
   UserId=ann(1) JobState=RUNNING RunTime=00:20:30 TimeLimit=01:00:00
   StartTime=2026-11-20T23:50:00 NodeList=n[0-1]
"""
JSON = {
    "last_update": {"set": True, "infinite": False, "number": 1_795_000_000},
    "jobs": [{"job_id": 1, "job_state": ["RUNNING"], "nodes": "n[0-1]", "cluster": "alps"}],
}


@pytest.mark.parametrize(
    ("text", "listed", "cluster"),
    [
        (TABLE, "2026-11-22 00:10", "alps"),
        (RECORDS, "2026-11-21 00:10", ""),
        (json.dumps(JSON), "2026-11-18 11:06 UTC", "alps"),
        (TABLE.replace("2026-11-20T23:50:00", "N/A"), "", "alps"),
        (TABLE.replace("1-00:20:30", "UNLIMITED"), "", "alps"),
        (TABLE.replace("1-00:20:30", "soon"), "", "alps"),
        (TABLE.replace("2026-11-20T23:50:00", "9999-12-31T23:50:00"), "", "alps"),
        (json.dumps({**JSON, "last_update": 10**20}), "", "alps"),
        (json.dumps({"jobs": JSON["jobs"]}), "", "alps"),
    ],
)
def test_a_listing_says_when_and_where_it_was_made(tmp_path: Path, text: str, listed: str, cluster: str) -> None:
    file = tmp_path / "queue.txt"
    file.write_text(text)
    job = read_queue(file)[0]
    assert (job.listed, job.cluster) == (listed, cluster)


def test_a_job_that_waits_says_nothing_about_the_time(tmp_path: Path) -> None:
    file = tmp_path / "queue.txt"
    file.write_text(TABLE)
    assert read_queue(file)[1].listed == ""
