"""Files of schedules: each error has its line."""

import pytest

from odonata.errors import InputError
from odonata.scheduler.plan import load

GOOD = """system = "tiny"
place = ["contiguous", "random"]
[stream.synthetic]
jobs = 5
load = "80 %"
"""


def refused(tmp_path, text):
    (tmp_path / "s.toml").write_text(text)
    with pytest.raises(InputError) as caught:
        load(tmp_path / "s.toml")
    return str(caught.value).replace(f"{tmp_path}/", "")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (('"tiny"', '"tinny"'), "s.toml:1: unknown system `tinny`"),
        (("place =", "plac ="), "s.toml:2: unknown key `plac`\n  hint: did you mean `place`?"),
        (('"random"', '"randon"'), "s.toml:2: unknown placement policy `randon`\n  hint: did you mean `random`?"),
        (('"random"', '{ policy = "random", group = "0" }'), "s.toml:2: unknown option of `random` `group`"),
        (('"random"', '"explicit"'), "s.toml:2: `explicit` needs `nodes`"),
        (
            ('"random"]', '"random"]\nwindow = { change = "5 %", drift = "1 %" }'),
            "s.toml:3: `change` and `drift` both say when a window is simulated",
        ),
        (('"random"', '"contiguous"'), "s.toml:2: two cases are the same"),
        (('"random"]', '"random"]\nbackfill = "easi"'), "s.toml:3: `backfill`: unknown backfilling `easi`"),
        (
            ('"random"]', '"random"]\nbackfill_jobs = 0'),
            's.toml:3: `backfill_jobs`: expected a number of jobs from 1 on, or "all", found `0`',
        ),
        (('"random"]', '"random"]\nbackfill_jobs = "al"'), "s.toml:3: `backfill_jobs`: expected a number of jobs"),
        (('"random"]', '"random"]\nbackfill_jobs = true'), "s.toml:3: `backfill_jobs`: expected a number of jobs"),
        (
            ('"random"]', '"random"]\nrouting = "ugal"'),
            "s.toml:3: unknown routing `ugal`\n  hint: did you mean `ugal-l`?",
        ),
        (('"random"]', '"random"]\njob = []'), "s.toml:3: unknown key `job`\n  hint: the jobs come from [stream]"),
        (('"random"]', '"random"]\nbook = "no.toml"'), "no.toml: cannot read it"),
        (('"random"]', '"random"]\nwindow.longest = 3'), "s.toml:3: `longest`: "),
        (("jobs = 5\n", ""), "s.toml:3: `synthetic`: missing key `jobs`"),
        (('"80 %"', "0"), "s.toml:5: `load` must be above 0"),
        (
            ('"80 %"', '"80 %"\nlargest = 17'),
            "s.toml:6: `largest`: the machine has 16 nodes that jobs can use, found 17",
        ),
        (('"80 %"', '"80 %"\nnames = { a = -1 }'), "s.toml:6: `names`: `a`: expected a weight above 0, found `-1`"),
        (("[stream.synthetic]", '[stream]\ntrace = "x"\n[stream.synthetic]'), "s.toml:3: the stream needs either"),
    ],
)
def test_errors_have_their_lines(tmp_path, change, message):
    assert change[0] in GOOD
    refusal = refused(tmp_path, GOOD.replace(*change))
    assert refusal.startswith(message), refusal


def test_keys_of_a_trace_are_refused_where_they_do_nothing(tmp_path):
    for key in ("cores_per_node", "first", "speed_up"):
        refusal = refused(tmp_path, GOOD.replace("[stream.synthetic]", f"[stream]\n{key} = 2\n[stream.synthetic]"))
        assert refusal.startswith(f"s.toml:4: `{key}` changes a trace, and this stream has none"), refusal
    (tmp_path / "jobs.txt").write_text(
        "JobID|Submit|Start|End|Timelimit|NodeList\n"
        "1|2026-01-01T00:00:00|2026-01-01T00:00:00|2026-01-01T01:00:00|02:00:00|n[1-2]\n"
    )
    head = 'system = "tiny"\nplace = "random"\n[stream]\ntrace = "jobs.txt"\n'
    refusal = refused(tmp_path, f"{head}cores_per_node = 4\n")
    assert refusal.startswith("s.toml:5: `cores_per_node` is for SWF"), refusal
    (tmp_path / "s.toml").write_text(head)
    assert load(tmp_path / "s.toml").streams[0].jobs[0].nodes == 2


def test_an_application_that_cannot_be_simulated_names_its_rule(tmp_path):
    (tmp_path / "book.toml").write_text('[[rule]]\nname = "r"\napp = { collective = "alltoal", message = "1 KiB" }\n')
    refusal = refused(tmp_path, f'book = "book.toml"\n{GOOD}')
    assert refusal.startswith("book.toml:3: a job of ")
    assert "did you mean `alltoall`?" in refusal


def test_what_is_assumed_is_said(tmp_path):
    (tmp_path / "s.toml").write_text(GOOD)
    plan = load(tmp_path / "s.toml")
    assert plan.notes[0].startswith("sizes and run times of jobs: Lublin and Feitelson 2003; assumed")
    assert all("assumed" in note for note in plan.notes)


def test_jobs_that_are_too_large_are_left_out_and_counted(tmp_path):
    rows = "; MaxNodes: 64\n; MaxProcs: 64\n"
    rows += "".join(
        f"{n} {n} 0 10 {size} -1 -1 {size} 20 -1 1 1 1 1 -1 -1 -1 -1\n" for n, size in enumerate((4, 17), 1)
    )
    (tmp_path / "jobs.swf").write_text(rows)
    (tmp_path / "s.toml").write_text('system = "tiny"\nplace = "random"\nstream.trace = "jobs.swf"\n')
    plan = load(tmp_path / "s.toml")
    assert len(plan.streams[0].jobs) == 1
    assert "1 jobs left out that need more than the 16 nodes of the machine" in plan.notes


def test_how_far_backfilling_looks(tmp_path):
    (tmp_path / "s.toml").write_text(GOOD)
    for overrides, most in (((), 500), (["backfill_jobs=20"], 20), (["backfill_jobs=all"], None)):
        assert {case.backfill_jobs for _, case in load(tmp_path / "s.toml", overrides).cases} == {most}


def test_overrides(tmp_path):
    (tmp_path / "s.toml").write_text(GOOD)
    plan = load(tmp_path / "s.toml", ["place=random", "stream.synthetic.jobs=7"])
    assert [name for name, _ in plan.cases] == ["random"]
    assert len(plan.streams[0].jobs) == 7
