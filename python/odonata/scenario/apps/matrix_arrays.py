"""Communication matrices in files of NumPy: a square array, or an archive with one, or with a sparse matrix.

The head of an array says how large it is. It is held against the bytes that are there, and against a limit, before
anything is unpacked or reserved.
"""

from __future__ import annotations

import io
import math
import warnings
import zipfile
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Any, Literal

import numpy as np

from odonata.errors import InputError, nearest, shortened
from odonata.scenario.apps.matrix_values import COLUMNS, MOST_RANKS, dense, listed, rounded, summed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from odonata.scenario.apps.matrix_values import Array, CommunicationMatrix

#: Most bytes of an array in an archive, where it may be compressed: a square array of 8,192 ranks in 64 bits.
MOST_BYTES = 8 * 8_192**2
#: Bytes that are unpacked at once.
_PART = 1 << 20

_ZIP, _NPY = b"PK", b"\x93NUMPY"
_FORMATS = ("csr", "csc", "coo")


def of_npy(data: bytes) -> CommunicationMatrix:
    """The matrix of the bytes of a file `.npy`. Raises InputError."""
    if data.startswith(_ZIP):
        raise InputError("this is an archive of arrays, not one array", hint='name it .npz, or set format = "npz"')
    with _answers("array of NumPy"):
        file = io.BytesIO(data)
        shape, order, kind = _head(file, "the array")
        here = len(data) - file.tell()
        wanted = _bytes(shape, kind)
        if wanted > here:
            raise InputError(f"the array should have {wanted:,} bytes, and the file has {here:,}: it may be cut")
        array = np.ndarray(shape, kind, data, file.tell(), order=order)
    return dense(array, None)


def of_npz(data: bytes) -> CommunicationMatrix:
    """The matrix of the bytes of a file `.npz`. Raises InputError."""
    if data.startswith(_NPY):
        raise InputError("this is one array, not an archive of arrays", hint='name it .npy, or set format = "npy"')
    with _answers("archive of arrays of NumPy"), zipfile.ZipFile(io.BytesIO(data)) as file:
        return _Archive(file).matrix()


@contextmanager
def _answers(what: str) -> Iterator[None]:
    """Whatever NumPy and zip make of a damaged file is an InputError."""
    try:
        with warnings.catch_warnings():  # of old files, and of numbers that become infinite
            warnings.simplefilter("ignore")
            yield
    except InputError:
        raise
    except MemoryError:
        raise InputError(f"there is not enough memory to read this {what}") from None
    except Exception as e:
        # The readers of heads, of archives and of their compressions raise errors of a dozen types.
        reason = shortened(str(e).strip().split("\n", 1)[0], 100) or type(e).__name__
        raise InputError(f"this is no {what}, or it is damaged: {reason}") from None


def _head(file: IO[bytes], what: str) -> tuple[tuple[int, ...], Literal["C", "F"], np.dtype[Any]]:
    """Shape, order in memory and type of the numbers of an array."""
    version = np.lib.format.read_magic(file)
    readers = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
    if version not in readers:
        raise InputError(f"{what}: an array of version {version[0]}.{version[1]}; those of numbers are 1.0 or 2.0")
    try:
        shape, by_columns, kind = readers[version](file)
    except MemoryError:  # of Python's parser, for what is nested deeply
        raise InputError(f"{what}: its head cannot be read") from None
    if kind.kind not in "iuf":
        raise InputError(f"{what}: expected numbers, found {shortened(str(kind))}")
    if any(size < 0 for size in shape):
        raise InputError(f"{what}: a size is negative: {shortened(str(shape))}")
    return shape, "F" if by_columns else "C", kind


def _bytes(shape: tuple[int, ...], kind: np.dtype[Any]) -> int:
    return math.prod(shape) * int(kind.itemsize)


class _Archive:
    """The arrays of an archive, each read when it is asked for."""

    def __init__(self, file: zipfile.ZipFile) -> None:
        self._file = file
        self._members: dict[str, zipfile.ZipInfo] = {}
        for member in file.infolist():
            if not member.filename.endswith(".npy"):
                continue
            name = member.filename.removesuffix(".npy")
            if name in self._members:
                raise InputError(f"two arrays are called `{shortened(name, 20)}`")
            self._members[name] = member

    def matrix(self) -> CommunicationMatrix:
        if "shape" in self._members and "data" in self._members:
            return self._sparse()
        name = next((name for name in COLUMNS["bytes"] if name in self._members), None)
        if name is None and len(self._members) == 1:
            (name,) = self._members
        if name is None:
            near = next((name for name in self._members if nearest(name.lower(), COLUMNS["bytes"])), None)
            hint = f"is it `{near}`?" if near else None
            raise InputError(f"expected an array `bytes`, found {listed(self._members, 'no array')}", hint=hint)
        counts = next((name for name in COLUMNS["messages"] if name in self._members), None)
        return dense(self._numbers(name), None if counts is None else self._numbers(counts))

    def _numbers(self, name: str) -> Array:
        """An array of numbers. Raises InputError before it is unpacked if it has other bytes than it says, or many."""
        member, what = self._members[name], f"`{shortened(name, 20)}`"
        with self._file.open(member) as file:
            shape, order, kind = _head(file, what)
            wanted, here = _bytes(shape, kind), member.file_size - file.tell()
            if wanted > MOST_BYTES:
                hint = "a sparse matrix has only the pairs that exchange messages: scipy.sparse.save_npz"
                raise InputError(f"{what} expands to {wanted:,} bytes, more than {MOST_BYTES:,}", hint=hint)
            if wanted != here:
                raise InputError(f"{what} should have {wanted:,} bytes, and the archive has {here:,}: it is damaged")
            data, at = bytearray(wanted), 0
            while part := file.read(min(_PART, wanted - at)):
                data[at : at + len(part)] = part
                at += len(part)
            if at < wanted or file.read(1):
                raise InputError(f"{what} should have {wanted:,} bytes, and the archive has others: it is damaged")
        return np.ndarray(shape, kind, data, order=order)

    def _whole(self, name: str, length: int | None = None) -> Array:
        """A list of whole numbers, of this length, as 64 bits."""
        array = self._list(name, length)
        if array.dtype.kind == "f":
            raise InputError(f"`{name}`: expected whole numbers, found {array.dtype}")
        return array.astype(np.int64)

    def _list(self, name: str, length: int | None = None) -> Array:
        if name not in self._members:
            raise InputError(f"this sparse matrix has no array `{name}`, found {listed(self._members, 'no array')}")
        array = self._numbers(name)
        if array.ndim != 1 or length not in (None, array.size):
            size = "a list" if length is None else f"a list of {length:,}"
            raise InputError(f"`{name}`: expected {size} numbers, found the shape {shortened(str(array.shape))}")
        return array

    def _format(self) -> str:
        """What a sparse matrix is called: a text of one to a few letters."""
        if "format" not in self._members:
            raise InputError(f"this sparse matrix has no array `format`, found {listed(self._members, 'no array')}")
        with self._file.open(self._members["format"]) as file:
            text = file.read(2_000)
        value = np.load(io.BytesIO(text), allow_pickle=False).item()
        return value.decode("latin-1") if isinstance(value, bytes) else str(value)

    def _sparse(self) -> CommunicationMatrix:
        """A sparse matrix as `scipy.sparse.save_npz` writes it. Lengths are compared before anything expands."""
        form = self._format()
        if form not in _FORMATS:
            hint = "convert it with .tocsr() and save it again" if form in ("bsr", "dia", "lil", "dok") else None
            message = f"a sparse matrix of the format `{shortened(form, 20)}` is not read, only {', '.join(_FORMATS)}"
            raise InputError(message, hint=hint)
        ranks, columns = (int(size) for size in self._whole("shape", 2))
        if ranks != columns or not 0 <= ranks <= MOST_RANKS:
            raise InputError(f"expected a square matrix of at most {MOST_RANKS:,} ranks, found {ranks:,} x {columns:,}")
        values = self._list("data")
        if form == "coo":
            rows, cols = (self._whole(key, values.size) for key in ("row", "col"))
        else:
            inner, starts = self._whole("indices", values.size), self._whole("indptr", ranks + 1)
            sizes = np.diff(starts)
            if starts[0] != 0 or starts[-1] != values.size or (sizes < 0).any():
                raise InputError(f"`indptr`: expected numbers that rise from 0 to {values.size:,}, that of the values")
            outer = np.repeat(np.arange(ranks), sizes)
            rows, cols = (outer, inner) if form == "csr" else (inner, outer)
        for ends in (rows, cols):
            if ends.size and not (ends.min() >= 0 and ends.max() < ranks):
                raise InputError(f"an index of the sparse matrix is not below {ranks:,}")
        return summed(ranks, rows, cols, rounded(values, lambda at: f"value {at}"), None)
