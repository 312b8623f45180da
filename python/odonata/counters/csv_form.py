"""Counters as CSV: `time`, `node`, perhaps `nic`, and the counters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from odonata import reading
from odonata.counters.values import count, second
from odonata.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from odonata.counters.series import Sample

COLUMNS = {
    "time": ("time", "timestamp", "when"),
    "node": ("node", "host", "hostname", "nodename", "instance"),
    "nic": ("nic", "device", "port", "interface"),
    "sent": ("sent", "sent_bytes", "tx_bytes", "transmitted", "transmitted_bytes"),
    "received": ("received", "received_bytes", "rx_bytes"),
    "sent_packets": ("sent_packets", "tx_packets", "transmitted_packets"),
    "received_packets": ("received_packets", "rx_packets"),
}
"""What a column may be called."""


def is_csv(first: str) -> bool:
    """Whether a first line names the columns that are needed."""
    names = [name.strip().lower() for name in reading.csv_row(first)]
    return len(names) > 2 and any(name in COLUMNS["time"] for name in names)


def samples(text: str) -> Iterator[Sample]:
    """The samples of a text. Raises InputError with the line."""
    lines = reading.lines(text)
    names = [name.strip().lower() for name in reading.csv_row(lines[0])]
    at = {kind: next((names.index(name) for name in known if name in names), None) for kind, known in COLUMNS.items()}
    for needed in ("node", "sent", "received"):
        if at[needed] is None:
            message = f"there is no column {' or '.join(f'`{name}`' for name in COLUMNS[needed])}"
            raise InputError(message, line=1, hint=f"it has {', '.join(f'`{name}`' for name in names)}")
    for number, line in enumerate(lines[1:], start=2):
        if not line.strip():
            continue
        row = reading.csv_row(line)
        if len(row) != len(names):
            raise InputError(f"expected {len(names)} columns, found {len(row)}", line=number)
        cell = {kind: row[where].strip() for kind, where in at.items() if where is not None}
        if not cell["node"]:
            raise InputError("the node is empty", line=number)
        try:
            time = second(cell["time"])
            for kind in ("sent", "received", "sent_packets", "received_packets"):
                if cell.get(kind):
                    yield cell["node"], cell.get("nic", ""), time, kind, count(cell[kind], kind)
        except InputError as e:
            raise InputError(e.message, line=number, hint=e.hint) from None
