"""Scenarios of thousands of jobs: what is decided before a run must not grow with the square of their number."""

import time

import pytest

from odonata.scenario import parse

HEAD = """\
[system]
preset = "kang2019"
groups = 65
global_links_per_spine = 4
"""
JOB = """
[[job]]
name = "job-{number}"
nodes = 3
place = "{place}"
app = {{ pattern = "uniform-random", message = "4 KB", interval = "1 us", messages = 1 }}
"""


@pytest.mark.parametrize("place", ["contiguous", "random"])
def test_5000_jobs_are_resolved_in_linear_time(place):
    """About a second of a processor's time. With a list of all free nodes for each job it takes a minute."""
    text = HEAD + "".join(JOB.format(number=number, place=place) for number in range(5000))
    begin = time.process_time()
    resolved = parse(text).resolve()
    assert len(resolved.id) == 16
    assert len(resolved.document["scenario"]["job"]) == len(resolved.background) == 5000
    assert time.process_time() - begin < 30
    assert len({node for job in resolved.spec["jobs"] for node in job["nodes"]}) == 15_000
