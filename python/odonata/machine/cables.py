"""The cables of a machine, and the draw of failed ones."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from odonata.errors import InputError
from odonata.machine.failed import PORT


class Cables:
    """The cables between routers of a described machine; each is named by the (router, port) of one end."""

    def __init__(self, wired: Mapping[str, Any]) -> None:
        self._wired = wired
        self._router = np.asarray(wired["slot_router"])
        self._port = np.asarray(wired["slot_port"])
        self._peer = np.asarray(wired["slot_peer_router"])

    def check_router(self, router: int) -> None:
        """Raises InputError if there is no such router."""
        routers = int(self._wired["routers"])
        if router >= routers:
            raise InputError(f"there is no router {router}", hint=f"the machine has routers 0 to {routers - 1}")

    def named(self, link: str) -> set[tuple[int, int]]:
        """The cables that a text means: `12:40` or `3-17`. Raises InputError if there is none."""
        if (at := PORT.fullmatch(link)) is not None:
            return {self._at(int(at[1]), int(at[2]))}
        a, b = sorted(int(router) for router in link.split("-"))
        self.check_router(b)
        slots = np.flatnonzero((self._router == a) & (self._peer == b))
        if a == b or len(slots) == 0:
            raise InputError(f"`{link}`: there is no cable between these routers")
        return {(a, int(self._port[s])) for s in slots}

    def _at(self, router: int, port: int) -> tuple[int, int]:
        self.check_router(router)
        first, end = np.searchsorted(self._router, [router, router + 1])
        if port >= end - first:
            raise InputError(f"router {router} has no port {port}", hint=f"it has ports 0 to {end - first - 1}")
        if self._peer[first + port] < 0:
            hint = "links of nodes cannot fail; with `routers` all nodes of a router fail"
            raise InputError(f"port {port} of router {router} leads to a node, not to a router", hint=hint)
        return router, port

    def drawn(self, fraction: Fraction, class_: str | None, seed: int) -> set[tuple[int, int]]:
        """That fraction of the cables of a class (None: of all), as `FailedTable.failures` describes the draw."""
        once = self._peer > self._router
        if class_ is not None:
            once &= np.asarray(self._wired["slot_class"]) == list(self._wired["classes"]).index(class_)
        slots = np.flatnonzero(once)
        count = int(fraction * len(slots) + Fraction(1, 2))
        chosen = slots[np.argsort(_words(seed, len(slots)), kind="stable")[:count]]
        return {(int(self._router[s]), int(self._port[s])) for s in chosen}


def _words(seed: int, count: int) -> NDArray[np.uint64]:
    """The first numbers of splitmix64 (Steele, Lea and Flood, OOPSLA 2014; constants of Vigna's `splitmix64.c`)."""
    with np.errstate(over="ignore"):
        z = np.uint64(seed) + np.arange(1, count + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return z ^ (z >> np.uint64(31))
