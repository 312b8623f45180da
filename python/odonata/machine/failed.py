"""What has failed: cables and routers that packets must go round."""

import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import AfterValidator, BeforeValidator, Field

from odonata.document import Ratio, Seed, Table, input_error_as_problem
from odonata.errors import InputError, unknown

_PORT = re.compile(r"([0-9]{1,9}):([0-9]{1,9})")
_PAIR = re.compile(r"([0-9]{1,9})-([0-9]{1,9})")


def _links(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list | tuple):
        raise InputError(f'expected a list such as ["12:40", "3-17"], found `{value!r}`')
    for link in value:
        if not isinstance(link, str) or not (_PORT.fullmatch(link) or _PAIR.fullmatch(link)):
            hint = '"12:40" is the cable at port 40 of router 12, "3-17" are all cables between the routers 3 and 17'
            raise InputError(f"`{link}` names no cable", hint=hint)
    return tuple(value)


def _routers(value: Any) -> tuple[int, ...]:
    whole = isinstance(value, list | tuple) and all(isinstance(r, int) and not isinstance(r, bool) for r in value)
    if not whole or min(value, default=0) < 0:
        raise InputError(f"expected a list of routers such as [3, 17], found `{value!r}`")
    return tuple(value)


def _share(value: Fraction) -> Fraction:
    if value > 1:
        raise InputError(f"no more than all cables can fail, found `{float(value)}`")
    return value


class FailedTable(Table):
    """`failed`: cables and routers that do not work."""

    links: Annotated[tuple[str, ...], BeforeValidator(input_error_as_problem(_links))] = Field(
        (), description='cables: "12:40" at port 40 of router 12, "3-17" all between the routers 3 and 17'
    )
    routers: Annotated[tuple[int, ...], BeforeValidator(input_error_as_problem(_routers))] = Field(
        (), description="routers, with all their cables and nodes"
    )
    fraction: Annotated[Ratio, AfterValidator(input_error_as_problem(_share))] | None = Field(
        None, description="share of the cables that fails besides, drawn by `seed`"
    )
    class_: str | None = Field(
        None, alias="class", description="class of the cables that are drawn (default: all between routers)"
    )
    seed: Seed | None = Field(None, description="seed of the draw (default: 0)")

    def check(self, classes: tuple[str, ...]) -> None:
        """Raises InputError (path in this table) unless a machine with such classes of links can fail like this."""
        for key, given in (("class", self.class_), ("seed", self.seed)):
            if given is not None and self.fraction is None:
                hint = 'fraction = "2 %"'
                raise InputError(f"`{key}` belongs to `fraction`, which is not given", hint=hint, path=(key,))
        between_routers = [name for name in classes if name != "node"]
        if self.class_ is not None and self.class_ not in between_routers:
            error = unknown("class of links between routers", self.class_, between_routers)
            raise InputError(error.message, hint=error.hint, path=("class",))

    def failures(self, wired: Mapping[str, Any]) -> dict[str, Any]:
        """The failed cables and routers as the core reads them; `wired` is the machine without failures.

        For the draw every cable of the class gets the next word of splitmix64 from `seed`, in order of (router, port)
        of the end at the router with the lower number. Those with the smallest words fail; their count is `fraction` of
        all, rounded to the nearest whole number (half upwards). So with the same seed a larger fraction only adds to
        what has failed. Raises InputError (path in this table) for what is not there.
        """
        cables = _Cables(wired)
        found: set[tuple[int, int]] = set()
        for index, link in enumerate(self.links):
            try:
                found |= cables.named(link)
            except InputError as e:
                raise e.under("links", index) from None
        for index, router in enumerate(self.routers):
            try:
                cables.check_router(router)
            except InputError as e:
                raise e.under("routers", index) from None
        if self.fraction is not None:
            found |= cables.drawn(self.fraction, self.class_, self.seed or 0)
        result: dict[str, Any] = {}
        if found:
            result["links"] = [list(end) for end in sorted(found)]
        if self.routers:
            result["routers"] = sorted(set(self.routers))
        return result


class _Cables:
    """The cables between routers of a described machine."""

    def __init__(self, wired: Mapping[str, Any]) -> None:
        self._wired = wired
        self._router = np.asarray(wired["slot_router"])
        self._port = np.asarray(wired["slot_port"])
        self._peer = np.asarray(wired["slot_peer_router"])

    def check_router(self, router: int) -> None:
        routers = int(self._wired["routers"])
        if router >= routers:
            raise InputError(f"there is no router {router}", hint=f"the machine has routers 0 to {routers - 1}")

    def named(self, link: str) -> set[tuple[int, int]]:
        if (at := _PORT.fullmatch(link)) is not None:
            return {self._at(int(at[1]), int(at[2]))}
        a, b = sorted(int(router) for router in link.split("-"))
        self.check_router(b)
        slots = np.flatnonzero((self._router == a) & (self._peer == b))
        if a == b or len(slots) == 0:
            raise InputError(f"`{link}`: no cable joins these routers")
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
        once = self._peer > self._router
        if class_ is not None:
            once &= np.asarray(self._wired["slot_class"]) == list(self._wired["classes"]).index(class_)
        slots = np.flatnonzero(once)
        count = int(fraction * len(slots) + Fraction(1, 2))
        chosen = slots[np.argsort(_words(seed, len(slots)), kind="stable")[:count]]
        return {(int(self._router[s]), int(self._port[s])) for s in chosen}


def _words(seed: int, count: int) -> NDArray[np.uint64]:
    """The first words of splitmix64 (Steele, Lea and Flood, OOPSLA 2014; constants of Vigna's `splitmix64.c`)."""
    with np.errstate(over="ignore"):
        z = np.uint64(seed) + np.arange(1, count + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return z ^ (z >> np.uint64(31))
