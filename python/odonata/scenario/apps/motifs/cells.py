"""Sizes of messages from the data of a rank: cells, fields per cell, bytes of a value."""

from typing import Any

from pydantic import Field

from odonata.document import Count
from odonata.errors import InputError
from odonata.scenario.apps.motifs.motif import ComputingMotif
from odonata.scenario.apps.values import MAX_MESSAGE_BYTES, MessageSize

#: Bytes of a value: double precision.
DOUBLE = 8


class CellsMotif(ComputingMotif):
    """A motif whose messages have a size that is given (`message`), or follows from the cells of a rank (`cells`)."""

    message: MessageSize | None = Field(None, description="size of each message (or give `cells`)")
    cells: tuple[int, ...] | None
    fields: Count | None = Field(None, description="with `cells`: values of a cell that are sent (default: 1; assumed)")
    width: Count | None = Field(None, description="with `cells`: bytes of a value (default: 8, double precision)")

    def cell_bytes(self) -> int | None:
        """Bytes of a cell, fields x width; None if the size of messages is given.

        Raises InputError (path into the app's table) if both are given, or neither.
        """
        if self.message is None and self.cells is None:
            raise InputError("the size of the messages is missing: give `message` or `cells`")
        if self.message is not None:
            for key in ("cells", "fields", "width"):
                if getattr(self, key) is not None:
                    raise InputError(f"`message` and `{key}` exclude each other", path=(key,))
            return None
        return (self.fields or 1) * (self.width or DOUBLE)

    def filled(self) -> dict[str, Any]:
        """`fields` and `width` with their defaults, if they have a meaning."""
        if self.cell_bytes() is None:
            return {}
        return {"fields": self.fields or 1, "width": self.width or DOUBLE}


def checked_bytes(size: int) -> int:
    """The size of a message, if the core can send it; else InputError (path `cells`)."""
    if not 1 <= size <= MAX_MESSAGE_BYTES:
        raise InputError(f"these cells make messages of {size:,} B, not between 1 B and 2^40 B", path=("cells",))
    return size
