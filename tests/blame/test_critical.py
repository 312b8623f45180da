"""Critical paths and states of waiting, on programs whose answer is known and on random ones."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

from hypothesis import given, settings
from hypothesis import strategies as st

import odonata as od
from odonata import scenario
from odonata.blame.critical import (
    COMPUTING,
    GAP,
    HOST,
    LATE_RECEIVER,
    LATE_SENDER,
    OTHER,
    START,
    TRANSFER,
    critical_path,
    states,
)
from odonata.blame.programs import program_times
from odonata.blame.sentences import sentences
from odonata.blame.timeline import Message, Task, Timeline, timeline_of
from odonata.machine import core

if TYPE_CHECKING:
    from pathlib import Path

    from odonata.blame.critical import Segment

US = 10**6


def simulated(app: str, folder: Path | None = None, nodes: int = 2, nic: str = "") -> tuple[od.Run, Timeline]:
    text = (
        f'system = "tiny"\n{nic}[[job]]\nname = "job"\nnodes = {nodes}\napp = {app}\nrecord = "every-message"\n'
        "[measure]\noperations = true\n[run]\nseed = 1\n"
    )
    run = od.run(scenario.parse(text) if folder is None else scenario.parse(text, folder / "x.toml"))
    finish = run.ranks["finish_ps"].to_list()
    return run, timeline_of(run.resolved["spec"], 0, run.operations, run.messages, finish)


def by_kind(segments: list[Segment]) -> dict[str, int]:
    total: dict[str, int] = {}
    for segment in segments:
        total[segment.kind] = total.get(segment.kind, 0) + segment.end - segment.begin
    return total


def traced(folder: Path, text: str, nic: str = "") -> tuple[od.Run, Timeline]:
    (folder / "x.goal").write_text(text)
    return simulated('{ trace = "x.goal" }', folder, nic=nic)


def check(timeline: Timeline) -> None:
    """What holds for every program."""
    path = critical_path(timeline)
    assert path[0].begin == timeline.start
    assert path[-1].end == max(timeline.finish)
    assert all(segment.end == other.begin and segment.begin < segment.end for segment, other in pairwise(path))
    assert {LATE_SENDER, LATE_RECEIVER, OTHER}.isdisjoint(by_kind(path))
    for rank, finish in enumerate(timeline.finish):
        segments = states(timeline, rank)
        assert sum(segment.end - segment.begin for segment in segments) == finish - timeline.start
        assert all(segment.end == other.begin for segment, other in pairwise(segments))
        assert OTHER not in by_kind(segments)
    for message in timeline.messages:
        assert message.receive is not None
        assert message.arrival is not None
        assert message.receive.begin >= message.arrival > message.handed_over - 1
        assert (message.posted is not None) == message.rendezvous
        assert message.ready <= message.arrival


def test_a_late_sender_is_on_the_path_while_its_receiver_waits(tmp_path: Path) -> None:
    text = (
        "num_ranks 2\nrank 0 {\nl1: calc 50us\nl2: send 1000b to 1\nl2 requires l1\n}\n"
        "rank 1 {\nl1: recv 1000b from 0\n}\n"
    )
    _, timeline = traced(tmp_path, text)
    check(timeline)
    (message,) = timeline.messages
    assert message.arrival is not None
    flight = message.arrival - message.handed_over
    send, receive = (of[-1].end - of[-1].begin for of in timeline.tasks)
    assert by_kind(critical_path(timeline)) == {COMPUTING: 50 * US, HOST: send + receive, TRANSFER: flight}
    assert by_kind(states(timeline, 1)) == {LATE_SENDER: 50 * US + send, TRANSFER: flight, HOST: receive}
    assert by_kind(states(timeline, 0)) == {COMPUTING: 50 * US, HOST: send}
    assert [segment.peer for segment in states(timeline, 1)] == [0, 0, None]


def test_a_late_receiver_is_on_the_path_while_its_sender_waits(tmp_path: Path) -> None:
    text = (
        "num_ranks 2\nrank 0 {\nl1: send 1000000b to 1\nl2: calc 1us\nl2 requires l1\n}\n"
        "rank 1 {\nl1: calc 900us\nl2: recv 1000000b from 0\nl2 requires l1\n}\n"
    )
    _, timeline = traced(tmp_path, text)
    check(timeline)
    (message,) = timeline.messages
    assert message.posted == 900 * US
    assert message.arrival is not None
    receive = timeline.tasks[1][-1]
    path = by_kind(critical_path(timeline))
    assert path == {COMPUTING: 900 * US, TRANSFER: message.arrival - 900 * US, HOST: receive.end - receive.begin}
    sender = by_kind(states(timeline, 0))
    assert sender[LATE_RECEIVER] == 900 * US - message.handed_over
    assert 0 < sender[TRANSFER] < message.arrival - 900 * US
    assert TRANSFER in by_kind(states(timeline, 1))
    assert LATE_SENDER not in by_kind(states(timeline, 1))


def test_a_sender_whose_data_are_fetched_waits_for_them_and_for_no_later_message(tmp_path: Path) -> None:
    # The second message is still under way when the first send ends.
    text = (
        "num_ranks 2\nrank 0 {\nl1: send 1000000b to 1 tag 1\nl2: send 4000000b to 1 tag 2\nl3: calc 1us\n"
        "l2 irequires l1\nl3 requires l1\n}\n"
        "rank 1 {\nl1: recv 1000000b from 0 tag 1\nl2: recv 4000000b from 0 tag 2\n}\n"
    )
    nic = '[fabric]\npacket = "1 KiB"\nnic = { kind = "aries", operation = "get" }\n'
    _, timeline = traced(tmp_path, text, nic)
    check(timeline)
    first, second = timeline.messages
    computing = next(task for task in timeline.tasks[0] if task.kind == "compute")
    assert first.arrival is not None
    assert second.arrival is not None
    assert first.arrival < computing.begin < second.arrival
    released = timeline.release(0, computing.begin)
    assert (released.why, released.message) == ("sent", first)
    sender = by_kind(states(timeline, 0))
    assert sender == {HOST: 2 * 16_500_000, COMPUTING: US, TRANSFER: timeline.finish[0] - 34 * US}


def test_a_receive_that_is_posted_before_computing_is_not_late(tmp_path: Path) -> None:
    text = (
        "num_ranks 2\nrank 0 {\nl1: send 1000000b to 1\nl2: calc 1us\nl2 requires l1\n}\n"
        "rank 1 {\nl1: recv 1000000b from 0\nl2: calc 900us\nl2 irequires l1\n}\n"
    )
    _, timeline = traced(tmp_path, text)
    check(timeline)
    assert timeline.messages[0].posted == 0
    assert LATE_RECEIVER not in by_kind(states(timeline, 0))


def test_by_hand_the_path_of_three_ranks_jumps_twice() -> None:
    # Rank 0 computes for 10 and sends to 1, which computes for 4, waits, and sends to 2; times in units of 1.
    tasks = [
        [Task(0, 0, 0, "compute", None, 0, 0, 10), Task(0, 0, 0, "send", 1, 8, 10, 11)],
        [
            Task(1, 0, 0, "compute", None, 0, 0, 4),
            Task(1, 0, 0, "receive", 0, 8, 16, 18),
            Task(1, 0, 0, "send", 2, 8, 18, 19),
        ],
        [Task(2, 0, 0, "receive", 1, 8, 22, 23)],
    ]
    first = Message(tasks[0][1], 1, 16, rendezvous=False, receive=tasks[1][1])
    second = Message(tasks[1][2], 2, 22, rendezvous=False, receive=tasks[2][0])
    timeline = Timeline(0, 0, [11, 19, 23], tasks, [first, second])
    check(timeline)
    path = [(segment.kind, segment.rank, segment.begin, segment.end) for segment in critical_path(timeline)]
    assert path == [
        (COMPUTING, 0, 0, 10), (HOST, 0, 10, 11), (TRANSFER, 1, 11, 16), (HOST, 1, 16, 18), (HOST, 1, 18, 19),
        (TRANSFER, 2, 19, 22), (HOST, 2, 22, 23),
    ]  # fmt: skip
    assert by_kind(states(timeline, 1)) == {COMPUTING: 4, LATE_SENDER: 7, TRANSFER: 5, HOST: 3}
    assert by_kind(states(timeline, 2)) == {LATE_SENDER: 19, TRANSFER: 3, HOST: 1}


def test_gaps_and_set_times_have_kinds_of_their_own() -> None:
    _, timeline = simulated('{ collective = "barrier", iterations = 3, gap = "5 us", every = "100 us" }', nodes=4)
    check(timeline)
    times_by_kind = by_kind(critical_path(timeline))
    assert times_by_kind[GAP] == 2 * 5 * US
    assert times_by_kind[START] > 100 * US


def test_pauses_are_set_times() -> None:
    """Also after a transfer by rendezvous, and where the gap is longer than a pause."""
    bursts = 'iterations = 5, on = "1 us", off = "9 us", gap = "10 us"'
    for size in ("1 KB", "200 KB"):
        _, timeline = simulated(f'{{ motif = "all-to-all-linear", message = "{size}", {bursts} }}', nodes=4)
        check(timeline)
        for rank in range(4):
            times_by_kind = by_kind(states(timeline, rank))
            assert (times_by_kind[START], times_by_kind[GAP]) == (4 * 9 * US, 4 * 10 * US)
    # Lengths that are drawn: the pauses are those that the core draws.
    drawn = 'off = { distribution = "uniform", least = "1 us", most = "9 us" }'
    app = f'{{ collective = "barrier", iterations = 5, gap = "10 us", on = "1 us", {drawn} }}'
    run, timeline = simulated(app, nodes=4)
    check(timeline)
    pauses = [off for _, off in core.burst_lengths(run.resolved["spec"]["jobs"][0], run.resolved["spec"]["seed"], 4)]
    assert len(set(pauses)) == 4
    assert by_kind(states(timeline, 0))[START] == sum(pauses)
    _, timeline = simulated('{ collective = "barrier", iterations = 5, gap = "10 us" }', nodes=4)
    assert START not in by_kind(critical_path(timeline))


def test_the_step_of_a_training_job_has_a_path() -> None:
    """Streams of a rank work beside each other; the large messages of its collectives have a rendezvous."""
    model = "{ layers = 4, hidden = 256, heads = 4, vocabulary = 512, sequence = 128 }"
    app = f'{{ train = {{ model = {model}, tensor = 2, pipeline = 2, microbatches = 2, peak = "10 Tflop/s" }} }}'
    _, timeline = simulated(app, nodes=8)
    check(timeline)
    assert any(message.rendezvous for message in timeline.messages)
    path = by_kind(critical_path(timeline))
    assert min(path[COMPUTING], path[TRANSFER], path[HOST]) > 0


def test_a_delay_by_size_is_transfer() -> None:
    """The delay at a size between two: 20 us less 100/300 of 7 us and 1 ps, rounded towards 20 us."""
    rows = [(8, 30 * US), (400, 20 * US), (700, 13 * US - 1), (900, 13 * US - 1)]
    table = ", ".join(
        f'{{ size = "{size} B", send = "1 us", receive = "2 us", delay = "{ps} ps" }}' for size, ps in rows
    )
    for size, delay in (
        (1, 30 * US),
        (400, 20 * US),
        (500, 20 * US - 2_333_333),
        (900, 13 * US - 1),
        (5_000, 13 * US - 1),
    ):
        app = f'{{ motif = "ping-pong", message = "{size} B" }}\noverhead = {{ by_size = [{table}] }}'
        run, timeline = simulated(app)
        check(timeline)
        times_by_kind = by_kind(critical_path(timeline))
        assert times_by_kind == {HOST: 2 * 3 * US, TRANSFER: run.messages["latency_ps"].sum() + 2 * delay}


APPS = st.one_of(
    st.builds(
        '{{ collective = "{}", message = "{} KiB", iterations = {}, ranks_per_node = {} }}'.format,
        st.sampled_from(["allreduce", "alltoall", "broadcast", "allgather", "reduce"]),
        st.sampled_from([1, 20, 200]),
        st.integers(1, 3),
        st.sampled_from([1, 2]),
    ),
    st.builds(
        '{{ motif = "{}", message = "{} KiB", compute = "{} us" }}'.format,
        st.sampled_from(["halo2d", "halo3d", "sweep3d", "fft3d", "ping-pong"]),
        st.sampled_from([1, 200]),
        st.sampled_from([1, 100]),
    ),
)


@settings(max_examples=25)
@given(app=APPS, nodes=st.sampled_from([2, 6, 8]), jitter=st.booleans())
def test_the_times_of_every_program_add_up(app: str, nodes: int, jitter: bool) -> None:
    if jitter and "compute" in app:
        app = app.replace("}", ', jitter = "30 us" }')
    run, timeline = simulated(app, nodes=nodes)
    check(timeline)
    ((times,), left_out) = program_times(run, [0], run.operations, run.messages)
    assert not left_out
    assert times.time_ps == run.jobs["time_ps"][0] == sum(part.ps for part in times.path)
    assert times.ranks_ps == sum(run.ranks["finish_ps"]) == sum(part.ps for part in times.states)
    computing = {part.kind: part.ps for part in times.states}.get(COMPUTING, 0) + {
        part.kind: part.ps for part in times.states
    }.get(HOST, 0)
    assert computing <= run.ranks["work_ps"].sum()


def test_explain_simulates_again_what_is_not_recorded() -> None:
    text = (
        'system = "tiny"\n[[job]]\nname = "a"\nnodes = 4\napp = { collective = "allreduce", message = "100 KiB" }\n'
        '[[job]]\nname = "b"\nnodes = 4\napp = { pattern = "uniform-random", message = "4 KB", interval = "1 us" }\n'
        'background = true\n[run]\nuntil = "a"\n'
    )
    plain = od.explain(od.run(scenario.parse(text)))
    recorded = scenario.parse(text).set("measure.blame", True).set("measure.operations", True)
    whole = od.run(recorded.set("job.a.record", "every-message"))
    assert od.explain(whole).programs == plain.programs
    assert plain.programs[0].job == "a"
    assert any(line.startswith("Its critical path of ") for line in sentences(plain))
    later = od.explain(od.run(scenario.parse(text).set("measure.warm_up", "10 us")))
    assert later.programs == plain.programs
    object_: dict[str, Any] = plain.as_dict()
    assert sum(part["ps"] for part in object_["programs"][0]["path"]) == object_["programs"][0]["time_ps"]


def test_a_program_that_does_not_finish_is_said_to_be_unknown() -> None:
    text = (
        'system = "tiny"\n[[job]]\nname = "a"\nnodes = 4\n'
        'app = { collective = "allreduce", message = "100 KiB", iterations = 1000 }\n[run]\nuntil = "300 us"\n'
    )
    explanation = od.explain(od.run(scenario.parse(text)))
    assert [left.job for left in explanation.left_out] == ["a"]
    assert "What the ranks of `a` wait for is not known: not all of its ranks have finished." in sentences(explanation)


def test_of_tasks_on_several_cpus_at_once_computing_counts(tmp_path: Path) -> None:
    text = (
        "num_ranks 2\nrank 0 {\nl1: send 100b to 1 tag 5\nl2: calc 30us cpu 1\nl3: send 100b to 1\nl3 requires l1\n"
        "l3 requires l2\n}\nrank 1 {\nl1: recv 100b from 0 tag 5\nl2: recv 100b from 0\nl2 requires l1\n}\n"
    )
    _, timeline = traced(tmp_path, text)
    check(timeline)
    last = timeline.tasks[0][-1]
    assert by_kind(states(timeline, 0)) == {COMPUTING: 30 * US, HOST: last.end - last.begin}
    assert by_kind(critical_path(timeline))[COMPUTING] == 30 * US


def test_a_receive_is_posted_when_what_it_waits_for_has_begun(tmp_path: Path) -> None:
    text = (
        "num_ranks 2\nrank 0 {\nl1: send 1000000b to 1\n}\nrank 1 {\nl1: calc 100us\nl2: calc 800us\nl2 requires l1\n"
        "l3: recv 1000000b from 0\nl3 irequires l2\n}\n"
    )
    _, timeline = traced(tmp_path, text)
    check(timeline)
    assert timeline.messages[0].posted == 100 * US
