"""What has failed: cables and routers that packets must go round."""

import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field

from odonata.document import Ratio, Seed, Table, input_error_as_problem
from odonata.errors import InputError, unknown

#: A cable as `router:port` of one of its ends.
PORT = re.compile(r"([0-9]{1,9}):([0-9]{1,9})")
#: All cables between two routers.
PAIR = re.compile(r"([0-9]{1,9})-([0-9]{1,9})")


def _links(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list | tuple):
        raise InputError(f'expected a list such as ["12:40", "3-17"], found `{value!r}`')
    for link in value:
        if not isinstance(link, str) or not (PORT.fullmatch(link) or PAIR.fullmatch(link)):
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
        # NumPy takes longer to load than most machines to describe, and few have failures.
        from odonata.machine.cables import Cables

        cables = Cables(wired)
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
