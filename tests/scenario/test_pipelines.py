"""The order of the passes of a pipeline: 1F1B, plain and interleaved."""

import pytest

from odonata.scenario.apps.train.schedule import passes


def written(stage, stages, chunks, microbatches):
    names = []
    for one in passes(stage, stages, chunks, microbatches):
        letter = "B" if one.backward else "F"
        names.append(f"{letter}{one.microbatch}" + (f".{one.chunk}" if chunks > 1 else ""))
    return " ".join(names)


def test_the_order_is_that_of_figure_4_of_narayanan_2021():
    assert written(0, 4, 1, 5) == "F0 F1 F2 F3 B0 F4 B1 B2 B3 B4"
    assert written(2, 4, 1, 5) == "F0 F1 B0 F2 B1 F3 B2 F4 B3 B4"
    # The lower half of the figure: two chunks, eight microbatches; the last of four stages.
    last = "F0.0 F1.0 F2.0 F3.0 F0.1 B0.1 F1.1 B1.1 F2.1 B2.1 F3.1 B3.1 F4.0 B0.0"
    assert written(3, 4, 2, 8).startswith(last)


CASES = [(p, v, m) for p in (1, 2, 4, 8) for v in (1, 2, 3) for m in (1, 2, 4, 8, 24) if v == 1 or not m % p]


@pytest.mark.parametrize(("stages", "chunks", "microbatches"), CASES)
def test_every_pass_occurs_once_and_few_microbatches_are_open(stages, chunks, microbatches):
    for stage in range(stages):
        open_now, most = set(), 0
        for one in passes(stage, stages, chunks, microbatches):
            key = one.chunk, one.microbatch
            if one.backward:
                open_now.remove(key)
            else:
                assert key not in open_now
                open_now.add(key)
            most = max(most, len(open_now))
        assert not open_now
        ahead = stages - stage if chunks == 1 else 2 * (stages - stage - 1) + (chunks - 1) * stages + 1
        if chunks == 1 or microbatches > stages:
            assert most == min(ahead, chunks * microbatches)
        assert len(passes(stage, stages, chunks, microbatches)) == 2 * chunks * microbatches


@pytest.mark.parametrize(("stages", "chunks", "microbatches"), CASES)
def test_stages_do_not_wait_for_each_other_in_a_cycle(stages, chunks, microbatches):
    orders = [passes(stage, stages, chunks, microbatches) for stage in range(stages)]
    done, place = set(), [0] * stages
    while any(place[stage] < len(orders[stage]) for stage in range(stages)):
        moved = False
        for stage in range(stages):
            while place[stage] < len(orders[stage]):
                one = orders[stage][place[stage]]
                number = one.chunk * stages + stage
                before = number + (1 if one.backward else -1)
                needs = (one.backward, before, one.microbatch)
                if 0 <= before < stages * chunks and needs not in done:
                    break
                done.add((one.backward, number, one.microbatch))
                place[stage] += 1
                moved = True
        assert moved
