"""Connection files of CODES: which routers the cables of a dragonfly, a cascade or a Dragonfly+ join.

Both kinds of files are records of 32-bit whole numbers, least significant byte first, without a header. `inter` holds
pairs (source, destination) of routers of the whole machine. `intra` describes every group alike, with routers numbered
inside it: (source, destination) for a Dragonfly+, (source, destination, type) for the others, where a cascade's type is
0 in a row and 1 in a column. Every cable is listed in both directions.

Source: the CODES network simulator (`scripts/gen-cray-topo`, `scripts/dragonfly-plus`, models `dragonfly-custom`,
`dragonfly-dally`, `dragonfly-plus`).
"""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from odonata import compressed, reading
from odonata.errors import InputError
from odonata.machine.kinds.listed import Routers, check_cables


def read_inter(file: Path, machine: Routers) -> list[list[int]]:
    """The cables between groups, in the order of the file: pairs of routers, the lower number first.

    Raises InputError (with the file and the number of the record, counted from 1) for a file that does not fit.
    """
    records = _records(file, 2)
    _check_range(file, records, machine.routers_in_all())
    _check_both_ways(file, records)
    once = np.flatnonzero(records[:, 0] < records[:, 1])
    cables = [(int(a), int(b)) for a, b in records[once]]
    check_cables(cables, machine, lambda number: InputError(_record(records, int(once[number])), file=file), first=0)
    return [list(cable) for cable in cables]


def read_intra(file: Path, numbers: int, columns: int | None, wired: Mapping[str, Any]) -> list[str]:
    """The cables inside groups that the machine has and the file lacks, as `router:port`.

    `numbers` is the length of a record, `columns` that of a row of a cascade (None: not a cascade), `wired` the
    described machine. Raises InputError (with file and record) for a cable that the machine does not have, or a file
    that does not fit.
    """
    records = _records(file, numbers)
    group = np.asarray(wired["router_group"])
    size = int(np.count_nonzero(group == 0))
    _check_range(file, records, size)
    _check_both_ways(file, records)
    router, peer, port = (np.asarray(wired[name]) for name in ("slot_router", "slot_peer_router", "slot_port"))
    ports: dict[tuple[int, int], list[int]] = {}
    for slot in np.flatnonzero((router < size) & (peer >= 0) & (peer < size)):
        ports.setdefault((int(router[slot]), int(peer[slot])), []).append(int(port[slot]))
    listed: Counter[tuple[int, int]] = Counter()
    for index, record in enumerate(records):
        pair = (int(record[0]), int(record[1]))
        listed[pair] += 1
        have = len(ports.get(pair, ()))
        if listed[pair] > have:
            cables = "no cable joins" if have == 0 else f"only {have} cable{'s' * (have > 1)} join{'s' * (have == 1)}"
            problem = f"{cables} these routers of a group in this machine"
            raise InputError(f"{_record(records, index)}: {problem}", file=file)
        if columns is not None:
            _check_type(file, records, index, columns)
    missing = [(a, at) for (a, b), have in ports.items() if a < b for at in have[listed[a, b] :]]
    if missing and len(group) % size:
        message = "the file lacks links of a full group, but the last group of this machine is smaller"
        raise InputError(message, file=file, hint="name the failed links in `failed`")
    return [f"{first + own}:{at}" for first in range(0, len(group), size) for own, at in missing]


def _records(file: Path, numbers: int) -> NDArray[np.int64]:
    try:
        data = reading.read_bytes(file)
    except (OSError, ValueError) as e:
        raise InputError(f"cannot read it: {reading.why(e)}", file=file) from None
    if compressed.is_named(file):
        data = compressed.unpacked(file, data, reading.TEXT_BYTES)
    width = 4 * numbers
    if len(data) % width:
        whole, left = divmod(len(data), width)
        other = 5 - numbers
        hint = None
        if len(data) % (4 * other) == 0:
            hint = f"records of {other} numbers would fit: they belong to {_BELONGS[other]}"
        message = f"the file ends inside record {whole + 1}: {left} bytes are left, a record has {width}"
        raise InputError(message, file=file, hint=hint)
    if not data:
        raise InputError("it is empty", file=file)
    return np.frombuffer(data, "<i4").reshape(-1, numbers).astype(np.int64)


_BELONGS = {2: "a Dragonfly+, or between groups", 3: "a dragonfly or cascade, inside groups"}


def _record(records: NDArray[np.int64], index: int) -> str:
    return f"record {index + 1} ({' -> '.join(str(n) for n in records[index][:2])})"


def _check_range(file: Path, records: NDArray[np.int64], routers: int) -> None:
    wrong = np.argwhere((records[:, :2] < 0) | (records[:, :2] >= routers))
    if len(wrong):
        index, column = wrong[0]
        message = f"{_record(records, index)}: there is no router {records[index, column]}"
        raise InputError(message, file=file, hint=f"routers go from 0 to {routers - 1} here")
    same = np.flatnonzero(records[:, 0] == records[:, 1])
    if len(same):
        raise InputError(f"{_record(records, same[0])}: a router cannot be linked to itself", file=file)


def _check_both_ways(file: Path, records: NDArray[np.int64]) -> None:
    count = Counter((int(a), int(b)) for a, b in records[:, :2])
    seen: Counter[tuple[int, int]] = Counter()
    for index, (a, b) in enumerate(records[:, :2]):
        pair = (int(a), int(b))
        seen[pair] += 1
        if seen[pair] > count[pair[1], pair[0]]:
            message = f"{_record(records, index)}: there is no link back from {b} to {a}"
            raise InputError(message, file=file, hint="list every cable in both directions")


def _check_type(file: Path, records: NDArray[np.int64], index: int, columns: int) -> None:
    a, b, given = (int(n) for n in records[index])
    true = 0 if a // columns == b // columns else 1
    if given != true:
        names = {0: "in a row (type 0)", 1: "in a column (type 1)"}
        message = f"{_record(records, index)}: type {given}, but this link is {names[true]}"
        raise InputError(message, file=file)
