"""Communication matrices in files of NumPy: damaged ones, and those that would expand to much, end in an error."""

import io
import tracemalloc
import zipfile

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from odonata.errors import InputError
from odonata.scenario.apps import matrix_values
from odonata.scenario.apps.matrix_arrays import MOST_BYTES
from odonata.scenario.apps.matrix_files import read_matrix
from odonata.scenario.apps.matrix_pairs import iteration_pairs

DENSE = np.array([[5, 100, 0], [30, 0, 7], [0, 0, 0]])
PAIRS = [(0, 1, 100), (1, 0, 30), (1, 2, 7)]


def saved(write, *arrays, **more):
    file = io.BytesIO()
    write(file, *arrays, **more)
    return file.getvalue()


def archive(members, how=zipfile.ZIP_DEFLATED):
    """An archive of these names and bytes."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", how) as made:
        for name, data in members:
            made.writestr(name, data)
    return file.getvalue()


def npy(array):
    return saved(np.save, array)


def head(shape, kind="<i8"):
    """An array that says this shape and has no numbers."""
    text = f"{{'descr': {kind!r}, 'fortran_order': False, 'shape': {shape}, }}".encode()
    text += b" " * (-(len(text) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text


def sparse(**changes):
    arrays = {
        "format": np.array(b"csr"),
        "shape": np.array([3, 3]),
        "data": np.array([100, 30, 7]),
        "indices": np.array([1, 0, 2]),
        "indptr": np.array([0, 1, 3, 3]),
    }
    return saved(np.savez_compressed, **{key: value for key, value in (arrays | changes).items() if value is not None})


def read(folder, name, data):
    path = folder / name
    path.write_bytes(data)
    return read_matrix(path)


@pytest.mark.parametrize("kind", ["<i8", ">i4", "<u2", "<f2", "<f4", ">f8", np.longdouble])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("how", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_all_kinds_of_numbers_are_read(tmp_path, kind, order, how):
    array = npy(np.array(DENSE, dtype=kind, order=order))
    found = [read(tmp_path, "m.npy", array), read(tmp_path, "m.npz", archive([("bytes.npy", array)], how))]
    for matrix in found:
        assert list(zip(matrix.sources.tolist(), matrix.targets.tolist(), matrix.bytes.tolist(), strict=True)) == PAIRS


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("m.npy", head((200_000, 200_000)), "the array should have 320,000,000,000 bytes, and the file has 0"),
        ("m.npy", npy(DENSE)[:-1], "should have 72 bytes, and the file has 71: it may be cut"),
        ("m.npy", head((-1, -8)), "a size is negative"),
        ("m.npy", head("(2, 2"), "this is no array of NumPy, or it is damaged"),
        ("m.npy", head("(2, '''"), "this is no array of NumPy, or it is damaged"),
        ("m.npy", head("(" * 2_000), "this is no array of NumPy, or it is damaged"),
        ("m.npy", head((2, 2), "<c16"), "expected numbers, found complex128"),
        ("m.npy", npy(np.array([["a", "b"]])), "expected numbers, found <U1"),
        ("m.npy", npy(np.array(5)), "expected a square matrix, found the shape ()"),
        ("m.npy", npy(np.ones((2, 3))), "expected a square matrix, found the shape (2, 3)"),
        ("m.npy", npy(np.array([[0, np.nan], [1, 0]])), "row 0, column 1 (from 0): expected a number from 0 to 2^62"),
        ("m.npy", npy(np.zeros((0, 0))), "no rank sends anything"),
        ("m.npy", sparse(), 'name it .npz, or set format = "npz"'),
        ("m.npz", npy(DENSE), 'name it .npy, or set format = "npy"'),
        ("m.npz", archive([]), "expected an array `bytes`, found no array"),
        ("m.npz", archive([("a.npy", b""), ("byte.npy", b"")]), "is it `byte`?"),
        ("m.npz", archive([("bytes.npy", head((10**5, 10**5)))]), "`bytes` expands to 80,000,000,000 bytes, more than"),
        (
            "m.npz",
            archive([("bytes.npy", head((20, 20)) + bytes(72))]),
            "should have 3,200 bytes, and the archive has 72",
        ),
        ("m.npz", archive([("bytes.npy", npy(DENSE) + b"1")]), "should have 72 bytes, and the archive has 73"),
        ("m.npz", sparse(indptr=np.array([0, 10**9])), "`indptr`: expected a list of 4 numbers, found the shape (2,)"),
        ("m.npz", sparse(indptr=np.array([0, 10**9, 3, 3])), "`indptr`: expected numbers that rise from 0 to 3"),
        ("m.npz", sparse(indptr=np.array([0, 1, 3, 10**12])), "`indptr`: expected numbers that rise from 0 to 3"),
        ("m.npz", sparse(indptr=np.array([0.0, 1, 3, 3])), "`indptr`: expected whole numbers, found float64"),
        ("m.npz", sparse(indices=np.array([1, 0])), "`indices`: expected a list of 3 numbers, found the shape (2,)"),
        ("m.npz", sparse(indices=np.array([1, 0, 3])), "an index of the sparse matrix is not below 3"),
        ("m.npz", sparse(indices=None), "has no array `indices`, found `format`, `shape`, `data`, `indptr`"),
        ("m.npz", sparse(shape=np.array([10**9, 10**9])), "expected a square matrix of at most 16,777,216 ranks"),
        ("m.npz", sparse(shape=np.array([np.inf, 3])), "`shape`: expected whole numbers"),
        ("m.npz", sparse(shape=np.array(3)), "`shape`: expected a list of 2 numbers"),
        ("m.npz", sparse(format=np.array(b"bsr")), "convert it with .tocsr()"),
        ("m.npz", sparse(format=np.array([b"csr", b"csc"])), "no archive of arrays of NumPy, or it is damaged"),
        ("m.npz", sparse(format=np.array({"a": 1}, dtype=object)), "no archive of arrays of NumPy, or it is damaged"),
    ],
)
def test_what_is_refused(tmp_path, name, data, message):
    with pytest.raises(InputError) as caught:
        read(tmp_path, name, data)
    assert message in str(caught.value) + (caught.value.hint or "")
    assert str(caught.value).startswith(str(tmp_path / name))


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_two_arrays_of_a_name_are_refused(tmp_path):
    with pytest.raises(InputError, match="two arrays are called `bytes`"):
        read(tmp_path, "m.npz", archive([("bytes.npy", npy(DENSE)), ("bytes.npy", npy(2 * DENSE))]))


@pytest.mark.parametrize(
    "data",
    [
        archive([("bytes.npy", npy(np.zeros((9_000, 9_000), dtype=np.int64)))]),
        sparse(indptr=np.array([0, 10**9])),
        sparse(indptr=np.array([0, 10**9, 3, 3])),
        head((200_000, 200_000)),
    ],
    ids=["zeros", "lengths", "counts", "head"],
)
def test_nothing_is_expanded_before_it_is_refused(tmp_path, data):
    """Catches readers that take gigabytes for a file of a thousand bytes."""
    tracemalloc.start()
    try:
        with pytest.raises(InputError):
            read(tmp_path, "m.npy" if data[:1] == b"\x93" else "m.npz", data)
        assert tracemalloc.get_traced_memory()[1] < 4 * len(data) + (32 << 20)
    finally:
        tracemalloc.stop()


def test_an_archive_takes_little_more_than_its_arrays(tmp_path):
    """Zeros are left out before they are counted, compared and made larger."""
    array = np.zeros((3_000, 3_000), dtype=np.int64)
    array[0, 1] = 5
    data = saved(np.savez_compressed, bytes=array)
    tracemalloc.start()
    try:
        matrix = read(tmp_path, "m.npz", data)
        assert matrix.bytes.tolist() == [5]
        assert tracemalloc.get_traced_memory()[1] < 1.5 * array.nbytes
    finally:
        tracemalloc.stop()
    assert array.nbytes < MOST_BYTES


def test_pairs_have_a_limit_however_they_are_written(tmp_path, monkeypatch):
    monkeypatch.setattr(matrix_values, "MOST_PAIRS", 5)
    assert read(tmp_path, "a.npy", npy(np.ones((2, 2)))).ranks == 2
    coo = {"indices": None, "indptr": None, "row": np.array([0, 0, 1, 1, 2, 2]), "col": np.array([1, 2, 0, 2, 0, 1])}
    everything = sparse(format=np.array(b"coo"), data=np.ones(6), **coo)
    for name, data in (("b.npy", npy(np.ones((3, 3)))), ("b.npz", everything), ("b.csv", b"1 1 1\n1 1 1\n1 1 1\n")):
        with pytest.raises(InputError, match="6 pairs of ranks exchange messages, more than 5"):
            read(tmp_path, name, data)


@pytest.mark.parametrize("column", ["bytes", "messages"])
@pytest.mark.parametrize("same", [True, False])
def test_sums_that_do_not_fit_are_refused(tmp_path, column, same):
    """Catches sums of 64 bits that become negative: of one pair, and of all."""
    rows = [f"0,{1 if same else at},{'4e18,1' if column == 'bytes' else '1,4e18'}\n" for at in (1, 2, 3)]
    with pytest.raises(InputError, match=rf"the matrix has more than 2\^62 {column} in all"):
        read(tmp_path, "m.csv", ("source,target,bytes,messages\n" + "".join(rows)).encode())


BASES = [
    ("m.npy", npy(DENSE)),
    ("m.npy", npy(DENSE.astype(">f4"))),
    ("m.npz", archive([("bytes.npy", npy(DENSE)), ("messages.npy", npy(DENSE))])),
    ("m.npz", archive([("bytes.npy", npy(DENSE))], zipfile.ZIP_STORED)),
    ("m.npz", archive([("bytes.npy", npy(DENSE))], zipfile.ZIP_LZMA)),
    ("m.npz", archive([("bytes.npy", npy(DENSE))], zipfile.ZIP_BZIP2)),
    ("m.npz", sparse()),
    ("m.csv", b"source,target,bytes,messages\n0,1,1000,5\n1,2,1e18,5\n2,3,10,5\n"),
]


@given(
    base=st.sampled_from(BASES),
    changes=st.lists(st.tuples(st.integers(0, 1 << 12), st.binary(max_size=4)), max_size=4),
    cut=st.integers(0, 400),
)
@example(base=BASES[3], changes=[(6, b"\x01")], cut=0)
@settings(max_examples=400)
def test_damaged_files_are_a_matrix_or_an_error(tmp_path_factory, base, changes, cut):
    """Catches errors of NumPy, zip and its compressions that go through: zlib.error, TokenError, NotImplementedError,
    RuntimeError, OverflowError, and messages that no job can have."""
    name, data = base
    for at, new in changes:
        at %= len(data)
        data = data[:at] + new + data[at + len(new) :]
    path = tmp_path_factory.mktemp("damaged") / name
    path.write_bytes(data[: len(data) - cut] if cut < len(data) // 2 else data)
    try:
        matrix = read_matrix(path)
        fine = matrix.ranks > 1 and matrix.bytes.min() >= 0
        if matrix.ranks < 1_000:
            fine &= all(count >= 1 and 0 <= size <= 2**40 for *_, size, count in iteration_pairs(matrix, matrix.ranks))
    except InputError as e:
        fine = str(path) in str(e) or bool(e.path)
    assert fine
