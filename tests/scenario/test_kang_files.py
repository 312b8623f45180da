"""Workload and allocation files of the authors' simulator (K9)."""

import pytest

from odonata.errors import InputError
from odonata.scenario import load, parse, read_kang

WORKLOAD = "6 synthetic1 6 1000.5 4000 50\n\n6 synthetic2 15 1000 6084 200\n"
ALLOC = "12 13 14 15 3 7 \n0 4 8 1 5 9 \n"


@pytest.fixture
def files(tmp_path):
    def write(workload=WORKLOAD, alloc=ALLOC):
        (tmp_path / "w.conf").write_text(workload)
        (tmp_path / "a.alloc").write_text(alloc)
        return tmp_path / "w.conf", tmp_path / "a.alloc"

    return write


def scenario(files, *args, more=""):
    workload, alloc = files(*args)
    text = f'system = "tiny"\nimport = {{ workload = "{workload.name}", alloc = "{alloc.name}" }}\n{more}'
    return parse(text, workload.parent / "s.toml")


def test_jobs_of_the_files(files):
    resolved = scenario(files).resolve()
    target, background = resolved.spec["jobs"]
    assert target["name"] == "synthetic1"
    assert target["nodes"] == [12, 13, 14, 15, 3, 7], "rank order is that of the file"
    assert target["traffic"] == {
        "pattern": {"name": "uniform-random"},
        "message_bytes": 4000,
        "interval_ps": 1_000_500,
        "intervals": 50,
        "arrival": {"name": "constant", "jitter_ps": 1_000},
        "first": "after-interval",
    }
    assert background["traffic"]["pattern"] == {"name": "group-peers"}
    assert background["record"] == "histogram"
    assert resolved.targets == ("synthetic1",)
    assert resolved.spec["stop"]["jobs"] == [0]


@pytest.mark.parametrize(
    ("number", "pattern", "first", "background"),
    [
        (6, "uniform-random", "after-interval", False),
        (7, "broadcast", "after-interval", False),
        (9, "tornado", "after-interval", False),
        (11, "stencil-3d", "after-interval", False),
        (12, "broadcast", "at-zero", False),
        (15, "group-peers", "after-interval", True),
        (18, "group-peers", "at-zero", True),
    ],
)
def test_pattern_ids(files, number, pattern, first, background):
    (job,) = read_kang(*files(f"4 a {number} 1000 4000 5\n", "0 4 8 12\n"))
    assert job.table["app"]["pattern"] == pattern
    assert job.table["app"].get("first", "after-interval") == first
    assert job.table["background"] is background


def test_two_jobs_of_one_name_are_distinguished(files):
    names = [job.table["name"] for job in read_kang(*files("2 a 6 1 1 1\n2 a 6 1 1 1\n", "0 1\n2 3\n"))]
    assert names == ["a", "a-2"]


def test_imported_jobs_can_be_combined_with_others(files):
    more = '[[job]]\nname = "mine"\nnodes = 2\napp = { pattern = "tornado", offset = 1, message = "1 B", '
    more += 'interval = "1 us", messages = 1 }\n'
    jobs = scenario(files, more=more).resolve().spec["jobs"]
    assert [job["name"] for job in jobs] == ["mine", "synthetic1", "synthetic2"]
    assert jobs[0]["nodes"] == [2, 6], "the nodes that the files leave free"


@pytest.mark.parametrize(
    ("workload", "alloc", "where"),
    [
        ("6 a 6 1000 4000\n", "0\n", "w.conf:1: expected six columns"),
        ("2 a 6 1 1 1\n2 b x 1 1 1\n", "0 1\n2 3\n", "w.conf:2: expected pattern-id, a whole number, found `x`"),
        ("2 a 8 1 1 1\n", "0 1\n", "w.conf:1: unknown pattern-id 8"),
        ("2 a 1 1 1 1\n", "0 1\n", "w.conf:1: pattern 1 sends to all nodes of the machine"),
        ("2 a 6 0 1 1\n", "0 1\n", "w.conf:1: interval_ns must be a positive"),
        ("2 a 6 1.00001 1 1\n", "0 1\n", "w.conf:1: interval_ns must be a positive whole number of picoseconds"),
        ("2 a 6 fast 1 1\n", "0 1\n", "w.conf:1: expected interval_ns"),
        ("2 a 6 1/0 1 1\n", "0 1\n", "w.conf:1: expected interval_ns"),
        ("2 a 6 1 0 1\n", "0 1\n", "w.conf:1: bytes must be at least 1"),
        ("2 a 6 1 1 0\n", "0 1\n", "w.conf:1: num_msgs must be at least 1"),
        ("2 a 6 1 2000000000000 1\n", "0 1\n", "w.conf:1: `message`: a message has between"),
        ("2 a.b 6 1 1 1\n", "0 1\n", "w.conf:1: `name`: `a.b` is not a name of a job"),
        ("1 a 6 1 1 1\n", "0\n", "a.alloc:1: a job of one node"),
        ("2 a 6 1 1 1\n", "0 1 2\n", "a.alloc:1: the job has 2 ranks, but 3 nodes are listed"),
        ("2 a 6 1 1 1\n", "0 b\n", "a.alloc:1: expected a node, a whole number, found `b`"),
        ("2 a 6 1 1 1\n", "0 99\n", "a.alloc:1: there is no node 99"),
        ("2 a 6 1 1 1\n2 b 6 1 1 1\n", "0 1\n\n1 2\n", "a.alloc:3: node 1 is already taken by job `a`"),
        ("2 a 6 1 1 1\n", "0 1\n2 3\n", "a.alloc: 2 jobs are placed here, but `"),
        ("\n", "\n", "w.conf: the workload file has no jobs"),
        ("4 a 15 1 1 1\n", "0 1 2 4\n", "w.conf:1: group-peers needs equally many ranks"),
    ],
)
def test_files_that_are_wrong(files, workload, alloc, where):
    with pytest.raises(InputError) as caught:
        scenario(files, workload, alloc).set("run.until", "1 ms").resolve()
    assert f"/{where}" in str(caught.value)


def test_files_that_cannot_be_read(tmp_path):
    (tmp_path / "s.toml").write_text('system = "tiny"\nimport = { workload = "w", alloc = "a" }\n')
    with pytest.raises(InputError, match="/w: cannot read it"):
        load(tmp_path / "s.toml").resolve()
    (tmp_path / "w").write_bytes(b"\xff")
    with pytest.raises(InputError, match="/w: not a text file"):
        load(tmp_path / "s.toml").resolve()


@pytest.mark.parametrize("end", range(len(WORKLOAD)))
def test_a_truncated_workload_file_is_read_or_refused_cleanly(files, end):
    workload, alloc = files(WORKLOAD[:end])
    try:
        assert read_kang(workload, alloc)
    except InputError as e:
        assert e.file is not None  # noqa: PT017


@pytest.mark.parametrize("workload", ["٢ a 9 1000 1024 5\n", "2 a 9 ١ 1024 5\n", "2_0 a 9 1000 1024 5\n"])
def test_numbers_are_written_with_plain_digits(files, workload):
    with pytest.raises(InputError, match=r"w\.conf:1: .*number"):
        read_kang(*files(workload, "0 1\n"))


def test_a_byte_order_mark_is_no_part_of_the_files(files):
    (job,) = read_kang(*files("\ufeff2 a 9 1000 1024 5\n", "\ufeff0 1\n"))
    assert (job.table["nodes"], job.table["place"]["nodes"]) == (2, [0, 1])
