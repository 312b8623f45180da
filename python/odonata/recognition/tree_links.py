"""The cables of a fat tree, by their class in the machine."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from odonata.graphs.fabric import count, listed
from odonata.recognition.cabling import Cable

if TYPE_CHECKING:
    from odonata.graphs.fabric import Fabric, Link
    from odonata.recognition.layout import Layout


class TreeLinks:
    """Cables between leaves and spines, and between spines and cores."""

    bundle = 1
    """Each link of the machine is one cable."""

    def __init__(self, fabric: Fabric, layout: Layout) -> None:
        self.notes: list[str] = []
        self.keys: dict[str, int] = {}
        self.inside: list[Cable] = []
        self.between: list[Cable] = []
        self.by_class: dict[str, list[Link]] = defaultdict(list)
        number = layout.numbers()
        places = _Places(layout)
        pairs: dict[str, Counter[tuple[int, int]]] = {"leaf": Counter(), "core": Counter()}
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
            class_ = places.class_of(a, b)
            if class_ is None:
                odd.append(f"{fabric.switches[link.a].name} to {fabric.switches[link.b].name}")
                continue
            pairs[class_][a, b] += 1
            self.inside.append(Cable(a, port_a, b, port_b, link.failed))
            self.by_class[class_].append(link)
        if lost:
            self.notes.append(f"{count(lost, 'cable')} of switches that are left out")
        if odd:
            self.notes.append(f"{count(len(odd), 'cable')} that a fat tree has no place for: {listed(odd)}; left out")
        for class_, cables in pairs.items():
            if cables:
                often = Counter(cables.values())
                self.keys[f"{class_}_links"] = max(often, key=lambda number: (often[number], number))

    def words(self, layout: Layout) -> str:
        """How the pods are joined, in words."""
        if "cores" not in layout.sizes:
            return "two levels, one pod"
        each = layout.sizes["cores"] // layout.sizes["spines"]
        cables = count(self.keys.get("core_links", 1), "cable")
        return f"{count(layout.sizes['cores'], 'core')}; a spine has {cables} to each of {each:,}"


class _Places:
    def __init__(self, layout: Layout) -> None:
        self._leaves, self._spines = layout.sizes["leaves"], layout.sizes["spines"]
        self._each = layout.sizes.get("cores", 0) // self._spines
        self._per_pod = len(layout.groups[0])
        self._planes = self._per_pod // (self._leaves + self._spines)
        self._pods = len(layout.groups)

    def class_of(self, a: int, b: int) -> str | None:
        """The class of a link between routers a < b; None if the machine has no such link."""
        first_core = self._pods * self._per_pod
        (pod, inside), of_leaves = divmod(a, self._per_pod), self._planes * self._leaves
        if a >= first_core:
            return None
        if b >= first_core:
            # A spine and a core of its share. Both are numbered spine by spine over all planes.
            return "core" if inside >= of_leaves and (b - first_core) // self._each == inside - of_leaves else None
        to_pod, to_inside = divmod(b, self._per_pod)
        if pod != to_pod or inside >= of_leaves or to_inside < of_leaves:
            return None
        return "leaf" if inside // self._leaves == (to_inside - of_leaves) // self._spines else None
