"""The cables of a machine of groups (Dragonfly+, dragonfly, cascade), by their class in the machine."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from odonata.graphs.fabric import count, listed
from odonata.machine.kinds import KINDS
from odonata.recognition.cabling import Cable

if TYPE_CHECKING:
    from odonata.graphs.fabric import Fabric, Link
    from odonata.recognition.layout import Layout


class GroupLinks:
    """Cables inside groups and between them."""

    def __init__(self, fabric: Fabric, layout: Layout) -> None:
        number, group_of = layout.numbers(), layout.group_of()
        self.kind = layout.kind
        self.columns = layout.sizes.get("columns", 1)
        self.leaves = set(layout.with_nodes)
        self.notes: list[str] = []
        self.keys: dict[str, int] = {}
        self.between: list[Cable] = []
        self.inside: list[Cable] = []
        self.bundle = 1
        """Cables between a leaf and a spine that are one link of the machine."""
        self.by_class: dict[str, list[Link]] = defaultdict(list)
        classes = KINDS[layout.kind].classes
        local: dict[str, dict[tuple[int, int], list[Cable]]] = {name: {} for name in classes[1:-1]}
        odd: list[str] = []
        lost = 0
        for link in fabric.links:
            if link.a not in number or link.b not in number:
                lost += 1
                continue
            a, b = number[link.a], number[link.b]
            port_a, port_b = (p - fabric.first_port if p >= 0 else -1 for p in (link.port_a, link.port_b))
            if a > b:
                a, b, port_a, port_b = b, a, port_b, port_a
            cable = Cable(a, port_a, b, port_b, link.failed)
            if group_of[a] != group_of[b] and not (self.kind == "dragonfly-plus" and {a, b} & self.leaves):
                self.between.append(cable)
                self.by_class[classes[-1]].append(link)
                continue
            name = self._local(a, b, layout.groups[group_of[a]].start) if group_of[a] == group_of[b] else None
            if name is None:
                odd.append(f"{fabric.switches[link.a].name} to {fabric.switches[link.b].name}")
                continue
            local[name].setdefault((a, b), []).append(cable)
            self.by_class[name].append(link)
        if lost:
            self.notes.append(f"{count(lost, 'cable')} of switches that are left out")
        if odd:
            self.notes.append(
                f"{count(len(odd), 'cable')} that a {self.kind} has no place for: {listed(odd)}; left out"
            )
        for name, pairs in local.items():
            self._count(name, pairs)

    def _local(self, a: int, b: int, first: int) -> str | None:
        """The class of a link inside a group; None if the machine has no such link."""
        if self.kind == "dragonfly":
            return "local"
        if self.kind == "dragonfly-plus":
            return "local" if (a in self.leaves) != (b in self.leaves) else None
        (row, column), (to_row, to_column) = divmod(a - first, self.columns), divmod(b - first, self.columns)
        if row == to_row:
            return "chassis"
        return "group" if column == to_column else None

    def _count(self, name: str, pairs: dict[tuple[int, int], list[Cable]]) -> None:
        """The number of parallel cables between two routers of a group: that of most pairs."""
        usual = Counter(map(len, pairs.values())).most_common(1)[0][0] if pairs else 1
        if self.kind != "dragonfly-plus":
            self.keys[{"local": "local_links", "chassis": "row_links", "group": "column_links"}[name]] = usual
            self.inside += [cable for cables in pairs.values() for cable in cables]
            return
        self.bundle = usual
        self.inside += [min(cables, key=lambda cable: cable.failed) for cables in pairs.values()]
        if usual > 1:
            self.notes.append(
                f"assumed: the {usual} cables between a leaf and a spine are one link with the bandwidth of all"
            )
        if fewer := sum(len(cables) != usual for cables in pairs.values()):
            difference = f"{count(fewer, 'pair')} of leaf and spine with another number of cables than {usual}"
            self.notes.append(f"assumed: {difference}, taken as the others")
