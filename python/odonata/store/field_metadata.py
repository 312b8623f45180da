"""Units and meanings as metadata of the fields of a Parquet file.

polars writes the metadata of an Arrow schema that it is handed (`arrow_schema`) but has no way of its own to put
any into one. The Arrow C data interface has: a schema is a C struct whose `metadata` points to encoded pairs. So
we take the struct that polars exports and let its fields' pointers lead to ours. The layout is fixed by
<https://arrow.apache.org/docs/format/CDataInterface.html>; the exporter's release callback frees only its own.
"""

from __future__ import annotations

import ctypes
import struct
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl


class _ArrowSchema(ctypes.Structure):
    """`struct ArrowSchema` of the C data interface."""


_ArrowSchema._fields_ = [
    ("format", ctypes.c_char_p),
    ("name", ctypes.c_char_p),
    ("metadata", ctypes.c_void_p),
    ("flags", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("children", ctypes.POINTER(ctypes.POINTER(_ArrowSchema))),
    ("dictionary", ctypes.c_void_p),
    ("release", ctypes.c_void_p),
    ("private_data", ctypes.c_void_p),
]

_pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
_pointer_of.restype = ctypes.c_void_p
_pointer_of.argtypes = [ctypes.py_object, ctypes.c_char_p]


def _encoded(pairs: Mapping[str, str]) -> bytes:
    out = struct.pack("=i", len(pairs))
    for text in (text for pair in pairs.items() for text in pair):
        raw = text.encode()
        out += struct.pack("=i", len(raw)) + raw
    return out


class SchemaWithMetadata:
    """A polars schema whose fields carry key-value pairs; pass it as `arrow_schema`.

    It must outlive the call it is passed to: the pairs belong to it.
    """

    def __init__(self, schema: pl.Schema, pairs: Mapping[str, Mapping[str, str]]) -> None:
        self._schema = schema
        self._pairs = {name: ctypes.create_string_buffer(_encoded(of)) for name, of in pairs.items()}

    def __arrow_c_schema__(self) -> object:
        capsule: object = self._schema.__arrow_c_schema__()
        address = _pointer_of(capsule, b"arrow_schema")
        assert address is not None
        root = _ArrowSchema.from_address(address)
        for index in range(root.n_children):
            field = root.children[index].contents
            buffer = self._pairs.get(field.name.decode())
            if buffer is not None:
                field.metadata = ctypes.addressof(buffer)
        return capsule
