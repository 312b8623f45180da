"""Failures: cables and routers that packets avoid, and nodes on which no job can run."""

import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field

from odonata.document import Ratio, Seed, Table, input_error_as_problem
from odonata.errors import InputError, shortened, unknown

#: A cable as `router:port` of one of its ends.
PORT = re.compile(r"([0-9]{1,9}):([0-9]{1,9})")
#: All cables between two routers.
PAIR = re.compile(r"([0-9]{1,9})-([0-9]{1,9})")
#: A node, or the nodes from one to another.
RANGE = re.compile(r"([0-9]{1,9})(?:-([0-9]{1,9}))?")
#: Most nodes of the list: those of the largest machine.
_MOST_NODES = 2**24


def _links(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list | tuple):
        raise InputError(f'expected a list such as ["12:40", "3-17"], found `{value!r}`')
    for link in value:
        if not isinstance(link, str) or not (PORT.fullmatch(link) or PAIR.fullmatch(link)):
            hint = '"12:40" is the cable at port 40 of router 12, "3-17" are all cables between the routers 3 and 17'
            raise InputError(f"`{link}` does not name a cable", hint=hint)
    return tuple(value)


def _routers(value: Any) -> tuple[int, ...]:
    whole = isinstance(value, list | tuple) and all(isinstance(r, int) and not isinstance(r, bool) for r in value)
    if not whole or min(value, default=0) < 0:
        raise InputError(f"expected a list of routers such as [3, 17], found `{value!r}`")
    return tuple(value)


def _nodes(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list | tuple):
        raise InputError(f'expected a list of nodes such as [3, "17-20"], found `{value!r}`')
    result, total = [], 0
    for entry in value:
        text = str(entry) if isinstance(entry, int | str) and not isinstance(entry, bool) else ""
        if (match := RANGE.fullmatch(text)) is None:
            raise InputError(f"`{shortened(str(entry))}` is no node", hint='3 is node 3, "17-20" are four nodes')
        first, last = int(match[1]), int(match[2] or match[1])
        if last < first:
            raise InputError(f"the range `{text}` ends before it begins")
        total += last - first + 1
        if total > _MOST_NODES:
            raise InputError(f"it names more than {_MOST_NODES:,} nodes")
        result.append(text)
    return tuple(result)


def _share(value: Fraction) -> Fraction:
    if value > 1:
        raise InputError(f"the share of failed cables is at most 1, found `{float(value)}`")
    return value


class FailedTable(Table):
    """`failed`: cables, routers and nodes that do not work."""

    links: Annotated[tuple[str, ...], BeforeValidator(input_error_as_problem(_links))] = Field(
        (), description='cables: "12:40" at port 40 of router 12, "3-17" all between the routers 3 and 17'
    )
    routers: Annotated[tuple[int, ...], BeforeValidator(input_error_as_problem(_routers))] = Field(
        (), description="routers, with all their cables and nodes"
    )
    nodes: Annotated[tuple[str, ...], BeforeValidator(input_error_as_problem(_nodes))] = Field(
        (), description='nodes that are down or not there: [3, "17-20"]; no job is placed on them'
    )
    fraction: Annotated[Ratio, AfterValidator(input_error_as_problem(_share))] | None = Field(
        None, description="share of the cables that fail in addition, drawn with `seed`"
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
                raise InputError(f"`{key}` is used only with `fraction`, which is not given", hint=hint, path=(key,))
        between_routers = [name for name in classes if name != "node"]
        if self.class_ is not None and self.class_ not in between_routers:
            error = unknown("class of links between routers", self.class_, between_routers)
            raise InputError(error.message, hint=error.hint, path=("class",))

    def failed_nodes(self, nodes: int) -> set[int]:
        """The nodes of the list, on a machine of so many. Raises InputError (path in this table) for another one."""
        numbers: set[int] = set()
        for index, entry in enumerate(self.nodes):
            first, _, last = entry.partition("-")
            if int(last or first) >= nodes:
                hint = f"the machine has nodes 0 to {nodes - 1}"
                raise InputError(f"there is no node {last or first}", hint=hint, path=("nodes", index))
            numbers.update(range(int(first), int(last or first) + 1))
        return numbers

    def failures(self, wired: Mapping[str, Any]) -> dict[str, Any]:
        """The failed cables and routers as the core reads them; `wired` is the machine without failures.

        For the draw every cable of the class gets the next number of splitmix64 from `seed`, in order of (router, port)
        of the end at the router with the lower number. Those with the smallest numbers fail; their count is `fraction`
        of all, rounded to the nearest whole number (half upwards). So with the same seed, a larger fraction only adds
        failures. Raises InputError (path in this table) for a cable or router that does not exist.
        """
        # NumPy takes longer to load than most machines to describe, and few have failures.
        from odonata.machine.cables import Cables

        cables = Cables(wired)
        ends: set[tuple[int, int]] = set()
        for index, link in enumerate(self.links):
            try:
                ends |= cables.named(link)
            except InputError as e:
                raise e.under("links", index) from None
        for index, router in enumerate(self.routers):
            try:
                cables.check_router(router)
            except InputError as e:
                raise e.under("routers", index) from None
        if self.fraction is not None:
            ends |= cables.drawn(self.fraction, self.class_, self.seed or 0)
        result: dict[str, Any] = {}
        if ends:
            result["links"] = [list(end) for end in sorted(ends)]
        if self.routers:
            result["routers"] = sorted(set(self.routers))
        return result
