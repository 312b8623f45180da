"""Scenarios of thousands of jobs: what is decided before a run must not grow with the square of their number."""

import time

import pytest

from odonata.scenario import parse

HEAD = """\
[system]
preset = "kang2019"
groups = {groups}
global_links_per_spine = 4
"""
JOB = """
[[job]]
name = "job-{number}"
nodes = 3
place = "{place}"
app = {{ pattern = "uniform-random", message = "4 KB", interval = "1 us", messages = 1 }}
"""


def resolved(jobs, place, groups=65):
    jobs_of = (JOB.format(number=number, place=place) for number in range(jobs))
    return parse(HEAD.format(groups=groups) + "".join(jobs_of)).resolve()


@pytest.mark.parametrize("place", ["contiguous", "random"])
def test_jobs_are_resolved_in_linear_time(place, lines_of):
    """Four times the jobs on a machine of four times the size."""
    few, many = (lines_of(lambda n=n: resolved(25 * n, place, n)) for n in (8, 32))
    assert many < 5 * few


@pytest.mark.parametrize("place", ["contiguous", "random"])
def test_5000_jobs_are_resolved_in_seconds(place):
    """About a second of a processor's time. With a list of all free nodes for each job it takes a minute."""
    begin = time.process_time()
    resolution = resolved(5000, place)
    assert len(resolution.id) == 16
    assert len(resolution.document["scenario"]["job"]) == len(resolution.background) == 5000
    assert time.process_time() - begin < 30
    assert len({node for job in resolution.spec["jobs"] for node in job["nodes"]}) == 15_000
