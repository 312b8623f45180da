"""Communication matrices: every form of file gives the messages that it says, and others are refused."""

import gzip
import json
import lzma

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from odonata.errors import InputError
from odonata.scenario import parse
from odonata.scenario.apps.matrix_files import read_matrix
from odonata.scenario.apps.matrix_pairs import iteration_pairs

DENSE = [[5, 100, 0], [30, 0, 7], [0, 0, 0]]
PAIRS = [(0, 1, 100), (1, 0, 30), (1, 2, 7)]
"""What the ranks of `DENSE` send to others."""


def entries(matrix):
    return list(zip(matrix.sources.tolist(), matrix.targets.tolist(), matrix.bytes.tolist(), strict=True))


def write(folder, name, content):
    path = folder / name
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("m.json", DENSE),
        ("m.json", {"bytes": DENSE}),
        ("m.csv", "5,100,0\n30,0,7\n0,0,0\n"),
        ("m.txt", "# rows are senders\n5 100 0\n30 0 7\n0 0 0\n"),
        ("m.csv", "to;bytes;from;who\n1;60;0;a\n1;40;0;b\n0;30;1;a\n2;7.2;1;a\n"),
        ("m.tsv", "SRC\tDST\tsize\n0\t1\t100\n1\t0\t30\n1\t2\t7\n"),
    ],
)
def test_texts_give_their_pairs(tmp_path, name, content):
    matrix = read_matrix(write(tmp_path, name, content))
    assert (matrix.ranks, entries(matrix), matrix.messages) == (3, PAIRS, None)


def test_arrays_give_their_pairs(tmp_path):
    scipy_sparse = pytest.importorskip("scipy.sparse")
    np.save(tmp_path / "a.npy", np.array(DENSE))
    np.savez(tmp_path / "b.npz", bytes=np.array(DENSE), messages=np.array(DENSE) * 2)
    for number, form in enumerate(("csr", "csc", "coo")):
        scipy_sparse.save_npz(tmp_path / f"s{number}.npz", scipy_sparse.coo_array(np.array(DENSE)).asformat(form))
    for path in sorted(tmp_path.iterdir()):
        matrix = read_matrix(path)
        assert (matrix.ranks, entries(matrix)) == (3, PAIRS), path.name
    assert read_matrix(tmp_path / "b.npz").messages.tolist() == [200, 60, 14]


def profile(edges, sent, received):
    nodes = [
        {"id": 10 + rank, "rank": rank, "send_bytes": sent[rank], "recv_bytes": received[rank]}
        for rank in range(len(sent))
    ]
    listed = [{"source": 10 + a, "target": 10 + b, "weight": size, "count": 4} for a, b, size in edges]
    return {"nodes": nodes, "edges": listed, "total_bytes": sum(size for _, _, size in edges)}


def test_sums_of_nodes_say_whether_an_edge_has_both_directions(tmp_path):
    sent, received = (100, 37, 0), (30, 100, 7)
    directed = read_matrix(write(tmp_path, "a.json", profile(PAIRS, sent, received)))
    assert (entries(directed), directed.messages.tolist()) == (PAIRS, [4, 4, 4])
    both = read_matrix(write(tmp_path, "b.json", profile([(0, 1, 130), (1, 2, 7)], sent, received)))
    assert (entries(both), both.messages.tolist()) == ([*PAIRS, (2, 1, 0)], [2, 2, 2, 2])


def single(value):
    """In single precision."""
    return float(np.float32(value))


def scaled(edges, factor, both, *, ends=float, total=float):
    """A profile whose bytes were multiplied by a number with a fraction; edges of both directions have sums."""
    sums = {}
    for a, b, size in edges:
        key = (min(a, b), max(a, b)) if both else (a, b)
        sums[key] = sums.get(key, 0) + size * factor
    ranks = 1 + max(max(a, b) for a, b, _ in edges)
    sent = [ends(sum(size * factor for a, _, size in edges if a == rank)) for rank in range(ranks)]
    received = [ends(sum(size * factor for _, b, size in edges if b == rank)) for rank in range(ranks)]
    made = profile([(a, b, size) for (a, b), size in sums.items()], sent, received)
    return made | {"total_bytes": total(sum(sums.values()))}


@pytest.mark.parametrize("both", [True, False])
@pytest.mark.parametrize("ends", [float, round, int, single])
@pytest.mark.parametrize("total", [float, round, int, single])
@pytest.mark.parametrize("factor", [118.5481, 1e6 / 7, 0.37])
def test_sums_of_floats_may_be_off_by_their_precision(tmp_path, both, ends, total, factor):
    """Two parts of eight ranks, scaled. Catches sums that are compared to the byte: a total of 205,461,932,979 that is
    off by 2.3 is the same total."""
    edges = [
        (8 * part + a, 8 * part + b, 1_000_003 + 7 * a) for part in (0, 1) for a in range(8) for b in range(8) if a != b
    ]
    written = scaled(edges, factor, both, ends=ends, total=total)
    matrix = read_matrix(write(tmp_path, "m.json", written))
    assert list(zip(matrix.sources.tolist(), matrix.targets.tolist(), strict=True)) == [
        (a, b) for a, b, _ in sorted(edges)
    ]
    expected = np.array([size * factor for _, _, size in sorted(edges)])
    assert np.abs(matrix.bytes - expected).max() < 7 * 8 * factor + 2
    sums = np.bincount([a for a, _, _ in sorted(edges)], expected)
    # Half a byte an edge is rounded.
    assert np.bincount(matrix.sources, matrix.bytes) == pytest.approx(sums, rel=1e-6, abs=4)


@pytest.mark.parametrize(
    ("edges", "total", "off"),
    [
        ([205_461_932_979.25 / 2] * 2, 205_461_932_979, 2.3),
        ([205_461_932_979.25 / 2] * 2, 205_461_932_979, -2.3),
        ([102_730_966_489, 102_730_966_490], 205_461_932_979, 2.3),
    ],
)
def test_a_total_of_floats_is_compared_by_its_precision(tmp_path, edges, total, off):
    def content(difference):
        listed = [{"source": 0, "target": 1 + at, "weight": size} for at, size in enumerate(edges)]
        return {"nodes": [{"id": at} for at in range(3)], "edges": listed, "total_bytes": total + difference}

    assert read_matrix(write(tmp_path, "m.json", content(off))).ranks == 3
    for wrong in (off * 1e6, total * 1e-6):
        with pytest.raises(InputError, match="`total_bytes` is"):
            read_matrix(write(tmp_path, "m.json", content(wrong)))


def test_sums_of_whole_numbers_are_exact(tmp_path):
    for wrong in (1, -1):
        content = profile(PAIRS, (100, 37, 0), (30, 100, 7))
        content["total_bytes"] += wrong
        with pytest.raises(InputError, match="`total_bytes` is"):
            read_matrix(write(tmp_path, "m.json", content))
        with pytest.raises(InputError, match="but its edges have"):
            read_matrix(write(tmp_path, "n.json", profile(PAIRS, (100, 37 + wrong, 0), (30, 100, 7))))


def test_ranks_that_floats_do_not_explain_are_refused(tmp_path):
    with pytest.raises(InputError, match="by `nodes`, but its edges have"):
        read_matrix(write(tmp_path, "m.json", profile([(0, 1, 1e9 + 0.5)], (6e8, 4e8 + 2_000.0), (4e8, 6e8))))


@given(st.integers(2, 12), st.randoms(use_true_random=False))
@settings(max_examples=50)
def test_divided_edges_keep_what_ranks_send_and_receive(tmp_path_factory, ranks, random):
    """Also where the two directions differ by far; nothing is negative, and no edge gains a byte."""
    whole = np.zeros((ranks, ranks), dtype=int)
    for a in range(ranks):
        for b in range(a):
            size = random.randrange(100, 10_000)
            # Near enough to halves that the shares of least squares stay between none and all.
            whole[a, b], whole[b, a] = size, int(size * random.uniform(0.9, 1.1))
    edges = [(a, b, int(whole[a, b] + whole[b, a])) for a in range(ranks) for b in range(a)]
    folder = tmp_path_factory.mktemp("profile")
    sums = (whole.sum(1).tolist(), whole.sum(0).tolist())
    matrix = read_matrix(write(folder, "p.json", profile(edges, *sums)))
    sent = np.bincount(matrix.sources, matrix.bytes, ranks)
    received = np.bincount(matrix.targets, matrix.bytes, ranks)
    assert np.abs(sent - sums[0]).max() <= ranks, "half a byte an edge"
    assert np.abs(received - sums[1]).max() <= ranks
    assert matrix.bytes.sum() == whole.sum()
    assert matrix.bytes.min() >= 0


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("m.jsn", "[]", "did you mean `m.json`"),
        ("m.json", "{}", "expected `edges` or `bytes`, found no key"),
        ("m.json", {"edgs": []}, "did you mean `edges`"),
        ("m.json", [[1, 2], [3]], "a square list of rows"),
        ("m.json", [[1, "x"], [3, 4]], "row 0: expected a number, found `x`"),
        ("m.json", [[0, -1], [3, 4]], "row 0, column 1 (from 0): expected a number from 0"),
        ("m.json", [[1, 0], [0, 1]], "no rank sends anything to another"),
        ("m.json", profile([(0, 1, 130)], (100, 37), (30, 100)), "by `nodes`, but its edges have"),
        ("m.json", profile([(0, 1, 130)], (100, 30), (30, 100)) | {"total_bytes": 1}, "`total_bytes` is 1"),
        ("m.json", {"nodes": [{"id": 0}], "edges": [{"source": 0, "target": 3, "weight": 1}]}, "3 is not the id"),
        ("m.csv", "", "the file has no row"),
        ("m.csv", "1,2\n3,4,5\n", ":2: expected 2 numbers"),
        ("m.csv", "source,target,bites\n0,1,5\n", "there is no column `bytes`"),
        ("m.csv", "source,target,bytes\n0,1,5\n0,1\n", ":3: expected 3 fields, found 2"),
        ("m.csv", "source,target,bytes\n0,1,5\n1.5,1,2\n", ":3: expected a rank, from 0"),
        ("m.csv", "source,target,bytes\n0,1,5\n1,0,-2\n", ":3: expected a number from 0"),
        ("m.csv", "from,source,target,bytes\n0,0,1,5\n", "two columns say `source`"),
        ("m.csv", "source,target,bytes,count\n0,1,5,0\n", "5 bytes to rank 1 in 0 messages"),
        ("m.npz", b"PK\x03\x04", "no archive of arrays"),
        ("m.npy", b"\x93NUMPY\x01\x00", "no array of NumPy"),
    ],
)
def test_other_files_are_refused(tmp_path, name, content, message):
    with pytest.raises(InputError) as caught:
        read_matrix(write(tmp_path, name, content))
    assert message in str(caught.value)


@given(name=st.sampled_from(["m.json", "m.csv", "m.npz", "m.npy"]), data=st.binary(max_size=200))
@settings(max_examples=300)
def test_bytes_are_a_matrix_or_an_error(tmp_path_factory, name, data):
    path = tmp_path_factory.mktemp("fuzz") / name
    path.write_bytes(data)
    try:
        ranks = read_matrix(path).ranks
    except InputError as e:
        named = str(path) in str(e)
    else:
        named = ranks > 1
    assert named


def test_steps_and_sizes_divide_messages(tmp_path):
    counted = read_matrix(write(tmp_path, "m.csv", "source,target,bytes,messages\n0,1,1000,20\n1,0,95,1\n"))
    assert iteration_pairs(counted, 2) == [[0, 1, 1000, 20], [1, 0, 95, 1]]
    assert iteration_pairs(counted, 2, steps=10) == [[0, 1, 100, 2], [1, 0, 10, 1]]
    assert iteration_pairs(counted, 2, message=300) == [[0, 1, 1000, 4], [1, 0, 95, 1]]


def test_scaling_keeps_the_bytes_of_a_rank_or_of_all(tmp_path):
    ring = read_matrix(write(tmp_path, "m.csv", "source,target,bytes\n0,1,40\n1,2,40\n2,3,40\n3,0,40\n"))
    weak = iteration_pairs(ring, 8)
    assert [(a, b, size) for a, b, size, _ in weak][:3] == [(0, 2, 40), (1, 3, 40), (2, 4, 40)]
    assert sum(row[2] for row in weak) == 320
    assert sum(row[2] for row in iteration_pairs(ring, 8, strong=True)) == 160
    assert iteration_pairs(ring, 2, strong=True) == [[0, 1, 40, 1], [1, 0, 40, 1]]
    assert iteration_pairs(ring, 2) == [[0, 1, 20, 1], [1, 0, 20, 1]]
    with pytest.raises(InputError, match="neither a multiple nor a divisor"):
        iteration_pairs(ring, 6)
    with pytest.raises(InputError, match="no two of 1 ranks"):
        iteration_pairs(ring, 1)


TEXT = """\
system = "tiny"
[[job]]
name = "a"
%s
app = { matrix = "m.csv"%s }
"""


def resolved(folder, job="", options=""):
    return parse(TEXT % (job, options), folder / "s.toml").resolve()


def test_a_job_sends_the_matrix(tmp_path):
    write(tmp_path, "m.csv", "0 10 0\n0 0 20\n30 0 0\n")
    (job,) = resolved(tmp_path, "barrier = true", ', compute = "1 us"').spec["jobs"]
    assert job["nodes"] == [0, 1, 2]
    *before, compute, exchange = (phase["what"] for phase in job["program"]["body"]["phases"])
    assert (before[-1]["name"], compute["ps"]) == ("barrier", 1_000_000)
    assert exchange == {"name": "matrix", "pairs": [[0, 1, 10, 1], [1, 2, 20, 1], [2, 0, 30, 1]]}
    with pytest.raises(InputError, match="the matrix has 3 ranks, and 4 nodes"):
        resolved(tmp_path, "nodes = 4")
    (scaled,) = resolved(tmp_path, "nodes = 6", ', scale = "weak"').spec["jobs"]
    assert len(scaled["program"]["body"]["phases"][0]["what"]["pairs"]) == 6


def test_errors_lead_to_the_line_of_the_scenario_or_of_the_file(tmp_path):
    write(tmp_path, "m.csv", "source,target,bytes\n0,1,x\n")
    with pytest.raises(InputError) as caught:
        resolved(tmp_path)
    assert str(caught.value).startswith(f"{tmp_path / 'm.csv'}:2: expected a number, found `x`")
    write(tmp_path, "m.csv", f"source,target,bytes\n0,1,{2**50}\n")
    with pytest.raises(InputError) as caught:
        resolved(tmp_path)
    assert "s.toml:5: a pair of ranks exchanges 1,125,899,906,842,624 bytes" in str(caught.value)


def test_matrices_that_gzip_has_compressed_are_read(tmp_path):
    text = "source,target,bytes\n0,1,8\n"
    (tmp_path / "m.csv").write_text(text)
    for name in ("m.csv.gz", "n.csv"):
        (tmp_path / name).write_bytes(gzip.compress(text.encode()))
        assert iteration_pairs(read_matrix(tmp_path / name), 2) == iteration_pairs(read_matrix(tmp_path / "m.csv"), 2)
    np.savez_compressed(tmp_path / "m.npz", bytes=np.array([[0, 8], [0, 0]]))
    assert iteration_pairs(read_matrix(tmp_path / "m.npz"), 2) == [[0, 1, 8, 1]]


def test_what_else_has_compressed_a_matrix_is_named(tmp_path):
    for name, form in (("m.csv.xz", None), ("m.json", None), ("m.txt", "csv")):
        (tmp_path / name).write_bytes(lzma.compress(b"source,target,bytes"))
        with pytest.raises(InputError, match="compressed by xz; expected text") as refused:
            read_matrix(tmp_path / name, form)
        assert refused.value.hint == f"unpack it: unxz -c {tmp_path / name}"
