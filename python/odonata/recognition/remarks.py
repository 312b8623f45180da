"""Comments `# odonata: key = value` in files of Odonata, for facts that the format cannot express.

They are lines of TOML with keys of a machine's table. A format that lists every cable needs them only for the
properties of links, routers and hosts. A format that lists groups of nodes also needs them for the kind of machine and
its cables.
"""

from __future__ import annotations

import re
import tomllib
from typing import TYPE_CHECKING, Any

from odonata import reading
from odonata.document.writing import inline
from odonata.errors import InputError
from odonata.machine.sources import flat

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from odonata.machine import System

#: The beginning of such a comment.
MARK = re.compile(r"#\s*odonata: ?(.*)")

#: The key for the rule of the cables between groups, which is used only if the cables follow it.
RULE = ("arrangement", "spread", "arrangement_seed")
#: Keys of numbers that do not follow from cables, and of the rule, because two arrangements may have the same cables.
NUMBERS = (
    *("name", "title", "kind", "tgll_bandwidth", "radix", "global_links_per_spine", "global_links_per_router"),
    *RULE,
)

#: Tables of numbers that do not follow from cables: properties of links and routers, and costs of hosts.
TABLES = ("fabric", "host")

#: Keys of a machine's table that are neither sizes nor cabling.
NOT_OF_THE_NETWORK = (*TABLES, "name", "title", "tgll_bandwidth", "failed", "wiring")


def lines(system: System, *, cabled: bool) -> list[str]:
    """The lines without the mark, for a file that lists every cable (`cabled`) or only groups of nodes.

    In a file that lists every cable, the sizes and the cabling follow from the cables, unless something has failed
    (`stated`).
    """
    document = system.document()
    if cabled:
        whole = system.table.failed is not None
        kept = {key: value for key, value in document.items() if whole or key in (*NUMBERS, *TABLES)}
        for key in ("failed", "wiring"):
            kept.pop(key, None)
    else:
        kept = dict(document)
        kept.pop("failed", None)
        failures = {key: value for key, value in _failures(system).items() if value}
        kept |= {"failed": failures} if failures else {}
    return [f"{key} = {inline(value)}" for key, value in flat(kept).items() if value is not None]


def comments(system: System, *, cabled: bool) -> list[str]:
    """The same as comments."""
    return [f"# odonata: {line}" for line in lines(system, cabled=cabled)]


def _failures(system: System) -> dict[str, list[Any]]:
    failed = system.failures
    return {
        "links": [f"{router}:{port}" for router, port in failed.get("links", ())],
        "routers": list(failed.get("routers", ())),
        "nodes": [] if system.table.failed is None else list(system.table.failed.nodes),
    }


def read(rows: Iterable[tuple[int, str]]) -> dict[str, Any]:
    """The table in the comments, each key with its line. Raises InputError with the line for what is not TOML."""
    remarks: dict[str, Any] = {}
    for line, text in rows:
        try:
            data = reading.parse_toml(text)
        except tomllib.TOMLDecodeError:
            message = "a comment of Odonata is not TOML"
            raise InputError(message, line=line, hint='# odonata: fabric.packet = "2 KiB"') from None
        except InputError as e:
            raise e.but(line=line) from None
        for path, value in _leaves(data):
            here = remarks
            for step in path[:-1]:
                here = here.setdefault(step, {})
                if not isinstance(here, dict):
                    raise InputError(f"`{'.'.join(path)}` is given twice", line=line)
            if path[-1] in here:
                raise InputError(f"`{'.'.join(path)}` is given twice", line=line)
            here[path[-1]] = value
    return remarks


def _leaves(data: dict[str, Any], prefix: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    for key, value in data.items():
        if isinstance(value, dict):
            yield from _leaves(value, (*prefix, key))
        else:
            yield (*prefix, key), value
