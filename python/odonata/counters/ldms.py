"""Counters that LDMS stores as CSV: a header that begins with `#Time`, and columns `COUNTER#DEVICE`.

Read are data and packets of InfiniBand and Omni-Path ports (`port_xmit_data#mlx5_0.1`, also with `ib.` before it; data
in words of four bytes), and bytes and packets of network interfaces (`tx_bytes#hsn0`, `rx_bytes#hsn0`; procnetdev).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from odonata import reading
from odonata.counters.series import VIRTUAL, WORD
from odonata.counters.values import count
from odonata.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from odonata.counters.series import Sample

_COUNTERS = {
    "port_xmit_data": ("sent", WORD),
    "port_rcv_data": ("received", WORD),
    "port_xmit_packets": ("sent_packets", 1),
    "port_xmit_pkts": ("sent_packets", 1),
    "port_rcv_packets": ("received_packets", 1),
    "port_rcv_pkts": ("received_packets", 1),
    "tx_bytes": ("sent", 1),
    "rx_bytes": ("received", 1),
    "tx_packets": ("sent_packets", 1),
    "rx_packets": ("received_packets", 1),
}
_COLUMN = re.compile(r"(?:ib\.)?(\w+)#([\w.:-]+)")


def is_ldms(first: str) -> bool:
    """Whether a first line is a header of LDMS."""
    return first.startswith("#Time")


def samples(text: str) -> Iterator[Sample]:
    """The samples of a text. Raises InputError with the line."""
    lines = reading.lines(text)
    names = [name.strip() for name in lines[0].lstrip("#").split(",")]
    if "ProducerName" not in names:
        raise InputError("there is no column `ProducerName`, the node", line=1)
    host = names.index("ProducerName")
    columns = []
    for at, name in enumerate(names):
        match = _COLUMN.fullmatch(name)
        virtual = match and match[1][:3] in ("tx_", "rx_") and VIRTUAL.fullmatch(match[2])
        if match and match[1] in _COUNTERS and not virtual:
            columns.append((at, match[2], *_COUNTERS[match[1]]))
    if not columns:
        raise InputError(
            "there are no counters of NICs", line=1, hint="columns such as `port_xmit_data#mlx5_0.1` or `tx_bytes#hsn0`"
        )
    for number, line in enumerate(lines[1:], start=2):
        if not line.strip() or line.startswith("#"):
            continue
        row = line.split(",")
        if len(row) != len(names):
            raise InputError(f"expected {len(names)} columns, found {len(row)}", line=number)
        try:
            time = count(row[0])
            for at, nic, kind, unit in columns:
                yield row[host].strip(), nic, time, kind, unit * count(row[at], names[at])
        except InputError as e:
            raise InputError(e.message, line=number) from None
