"""A small encoder of Chakra execution traces: messages of protobuf with their lengths before them."""

from collections.abc import Sequence
from typing import Any

METADATA, LOAD, STORE, COMPUTE, SEND, RECEIVE, COLLECTIVE = range(1, 8)
ALL_REDUCE, REDUCE, ALL_GATHER, GATHER, SCATTER, BROADCAST, ALL_TO_ALL, REDUCE_SCATTER, BLOCK, BARRIER = range(10)
#: Field of the value of an attribute by its type in the schema.
FIELDS = {"double": 3, "int32": 7, "int64": 9, "uint32": 11, "uint64": 13, "bool": 27, "bools": 28, "string": 29}


def varint(number: int) -> bytes:
    number &= 2**64 - 1
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes([*out, number])


def field(number: int, value: int | str | bytes) -> bytes:
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def attribute(name: str, value: Any, kind: str = "int64") -> bytes:
    if isinstance(value, str):
        kind = "string"
    elif isinstance(value, list):
        kind, value = "bools", field(1, b"".join(varint(int(item)) for item in value))
    elif isinstance(value, bool):
        kind = "bool"
    return field(1, name) + field(FIELDS[kind], int(value) if isinstance(value, int) else value)


def node(
    number: int,
    kind: int,
    *,
    name: str = "",
    data: Sequence[int] = (),
    control: Sequence[int] = (),
    micros: int = 0,
    values: str = "",
    types: str = "int64",
    **attributes: Any,
) -> bytes:
    """A node of version 0.0.4; whole numbers among the attributes have the type `types`."""
    out = field(1, number) if number else b""
    out += field(2, name or f"node{number}") + field(3, kind)
    out += field(4, b"".join(map(varint, control))) if control else b""
    out += field(5, b"".join(map(varint, data))) if data else b""
    out += field(7, micros) if micros else b""
    out += field(8, field(1, values)) if values else b""
    return out + b"".join(field(10, attribute(key, value, types)) for key, value in attributes.items())


def old_node(number: int, kind: int, *, parents: Sequence[int] = (), signed: bool = True, **attributes: Any) -> bytes:
    """A node of version 0.0.3, whose attributes have a type and a field for each kind of value."""
    out = field(1, number) + field(2, f"node{number}") + field(3, kind)
    out += b"".join(field(4, parent) for parent in parents)
    integer = (2, 6) if signed else (3, 7)
    for key, value in attributes.items():
        kind_of_value, place = (0, 4) if isinstance(value, bool) else integer
        out += field(11, field(1, key) + field(2, kind_of_value) + field(place, value))
    return out


def trace(*nodes: bytes, version: str | None = "0.0.4") -> bytes:
    """A file; without a version it begins with its nodes."""
    messages = nodes if version is None else (field(1, version), *nodes)
    return b"".join(varint(len(message)) + message for message in messages)
