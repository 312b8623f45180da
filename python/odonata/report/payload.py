"""The data of a report as bytes: a document of JSON values and tables, compressed column by column.

The bytes are a zlib stream of `length (4 bytes, little-endian) | JSON | body`. A polars frame in the document becomes
`{"$rows": n, "$columns": {name: [type, offset, ...]}}`, with its columns in the body:

- `u8`, `u16`, `u32`: integers, in the smallest type that holds them; `f64`: all other numbers, NaN for null;
- a text column has a fourth entry, the list of its distinct texts; its numbers are places in this list.

The bytes of a column are stored transposed (first bytes of all values, then the second bytes), which compresses much
better. `web/src/payload.ts` reads the format.
"""

from __future__ import annotations

import json
import zlib
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

if TYPE_CHECKING:
    from numpy.typing import NDArray

_TYPES = (("u8", np.uint8), ("u16", np.uint16), ("u32", np.uint32))


def pack(document: dict[str, Any]) -> bytes:
    """The document as bytes; equal documents give equal bytes.

    Raises ValueError for a number that is not finite outside of a table.
    """
    body: list[bytes] = []
    header = json.dumps(_plain(document, body), separators=(",", ":"), allow_nan=False).encode()
    # Level 9 would take eight times as long for 4 % fewer bytes.
    return zlib.compress(b"".join([len(header).to_bytes(4, "little"), header, *body]), 6)


def _plain(value: Any, body: list[bytes]) -> Any:
    if isinstance(value, pl.DataFrame):
        return {"$rows": value.height, "$columns": {name: _column(value[name], body) for name in value.columns}}
    if isinstance(value, dict):
        return {str(key): _plain(inner, body) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner, body) for inner in value]
    if isinstance(value, pl.Series):
        return _plain(value.to_list(), body)
    return value


def _column(series: pl.Series, body: list[bytes]) -> list[Any]:
    if series.dtype == pl.String:
        texts = series.unique(maintain_order=True).to_list()
        codes = {text: code for code, text in enumerate(texts)}
        numbers = np.fromiter((codes[text] for text in series.to_list()), np.uint32, len(series))
        return [*_numbers(numbers, body), texts]
    if series.dtype == pl.Boolean:
        series = series.cast(pl.UInt8)
    if series.null_count():
        series = series.cast(pl.Float64).fill_null(np.nan)
    return _numbers(series.to_numpy(), body)


def _numbers(values: NDArray[Any], body: list[bytes]) -> list[Any]:
    name, stored = "f64", values.astype("<f8") if values.dtype.kind == "f" or not _fits(values, 2**32) else None
    if stored is None:
        name, kind = next((name, kind) for name, kind in _TYPES if _fits(values, 256 ** np.dtype(kind).itemsize))
        stored = values.astype(np.dtype(kind).newbyteorder("<"))
    offset = sum(map(len, body))
    body.append(stored.view(np.uint8).reshape(len(stored), stored.itemsize).T.tobytes())
    return [name, offset]


def _fits(values: NDArray[Any], limit: int) -> bool:
    return not len(values) or (int(values.min()) >= 0 and int(values.max()) < limit)
