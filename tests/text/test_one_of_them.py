"""Sentences that count: one of a thing is not in the plural."""

import pytest

from odonata.cli.schedule_progress import ScheduleProgress
from odonata.messages import message_of
from odonata.scheduler.scheduling import Progress


@pytest.mark.parametrize(("hop", "shown"), [(0, "after 0 links"), (1, "after 1 link"), (2, "after 2 links")])
@pytest.mark.parametrize("code", ["no-such-choice", "memory-out-of-range"])
def test_links_of_a_path(code, hop, shown):
    values = {"picked": 3, "ports": 2, "memory": -2, "time_ps": 1000, "router": 1, "destination": 2, "hop": hop}
    text, _ = message_of(code, (), values, "")
    assert text.endswith(shown)


@pytest.mark.parametrize(("have", "shown"), [(1, "with 1 link a packet"), (2, "with 2 links a packet")])
def test_links_of_an_own_routing(have, shown):
    text, _ = message_of("too-few-hops", (), {"have": have, "need": 5}, "hops")
    assert text.startswith(shown)


@pytest.mark.parametrize(("simulated", "shown"), [(1, "1 window simulated"), (0, "0 windows simulated")])
def test_windows_of_a_schedule(simulated, shown):
    progress = ScheduleProgress(quiet=True)
    progress.report(Progress(ended=3, jobs=60, simulated=simulated))
    assert shown in progress._state()
