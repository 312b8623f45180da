"""Checks of links between groups that are listed one by one."""

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Protocol

from odonata.errors import InputError


class Routers(Protocol):
    """The facts about the routers of a machine that the checks need."""

    def routers_in_all(self) -> int:
        """How many there are."""

    def group_of_router(self, router: int) -> int | None:
        """Group of a router; None if it belongs to none."""

    def global_ports_of(self, router: int) -> int:
        """Global ports of a router, used or not."""


def check_cables(
    cables: Iterable[tuple[int, int]], machine: Routers, blame: Callable[[int], InputError], first: int = 1
) -> None:
    """Raises InputError unless every cable joins two groups by global ports that are free.

    `blame(number)` is an error with the position of a cable; cables are counted from `first`.
    """
    used: Counter[int] = Counter()
    routers = machine.routers_in_all()
    for number, (a, b) in enumerate(cables, start=first):
        for router in (a, b):
            if not 0 <= router < routers:
                hint = f"the machine has routers 0 to {routers - 1}"
                raise _because(blame(number), f"there is no router {router}", hint)
            used[router] += 1
            have = machine.global_ports_of(router)
            if used[router] > have:
                text = "no global ports" if have == 0 else f"only {have} global ports"
                raise _because(blame(number), f"router {router} has {text}")
        if machine.group_of_router(a) == machine.group_of_router(b):
            group = machine.group_of_router(a)
            raise _because(blame(number), f"the routers {a} and {b} are both in group {group}")


def _because(error: InputError, problem: str, hint: str | None = None) -> InputError:
    return InputError(f"{error.message}: {problem}", file=error.file, line=error.line, hint=hint, path=error.path)
