"""`sensing`: the congestion metric of adaptive routings (docs/model.md, section 6)."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, PlainSerializer

from odonata import units
from odonata.document import Table, validate
from odonata.document.quantities import problem
from odonata.errors import InputError, unknown
from odonata.machine import System
from odonata.machine.fabric import Delay

#: Kind of metric -> the load of a port.
METRICS = {
    "backlog": "the bytes that wait for the port in its own router",
    "credits": "the bytes that the port has sent and whose credits have not returned",
    "both": "the sum of backlog and credits",
    "occupancy": "the bytes that wait for the port and are not sent, and those whose credits have not returned",
    "output-buffer": "the bytes in the output buffers of the port; only for routers with a crossbar",
    "output-credits": "the bytes in the output buffer of channel 0 of the port whose sending has not begun, as in "
    "SST's merlin; only for routers with a crossbar",
    "none": "always zero: a baseline",
}

#: Key of a delay that is given for all classes at once.
ALL = ""


def _per_class(value: Any) -> Any:
    """`"30 ns"` for all classes of links, or a table with some of them."""
    return dict(value) if isinstance(value, Mapping) else {ALL: value}


def _read(value: Any) -> Any:
    """`"credits"` or a table."""
    if isinstance(value, str):
        return {"kind": value}
    if not isinstance(value, Mapping):
        raise problem(f"expected {', '.join(f'`{kind}`' for kind in METRICS)} or a table, found `{value!r}`")
    return dict(value)


class SensingTable(Table):
    """`sensing`: the congestion metric of the routings, its delay and its levels."""

    kind: Literal["backlog", "credits", "both", "occupancy", "output-buffer", "output-credits", "none"] | None = Field(
        None,
        description="what routings read of a port: its `backlog`, its bytes sent whose `credits` have not returned, "
        "the sum of `both`, its `occupancy` (bytes that wait to be sent, and `credits`), the bytes in its "
        "`output-buffer` or `output-credits` (routers with a crossbar), or `none` (default: what the machine states, "
        "else `occupancy` with fpar and with the modes of aries, else `backlog`)",
    )
    delay: Annotated[
        dict[str, Delay],
        BeforeValidator(_per_class),
        PlainSerializer(lambda given: {k: units.format_time(v) for k, v in given.items()}, when_used="json"),
    ] = Field(
        default={},
        description="delay until routings see a returned credit (phantom congestion), for all links between routers or "
        'by link class, such as { global = "150 ns" } (default: 0 for every class)',
    )
    levels: Annotated[int, Field(strict=True, ge=1, le=2**32 - 1)] | None = Field(
        None,
        description="number of levels in which routings know loads: equal steps of the buffers behind a link, rounded "
        "down (default: loads are exact)",
    )

    def decided(self, system: System, usual: str = "backlog") -> Self:
        """The same with a kind, `usual` if it has none, and with a delay for every class of links between routers.

        Raises InputError, whose path leads into the table, for a class that the machine does not have, for a delay of
        a metric without credits, and for levels of no metric.
        """
        classes = system.table.own_classes[1:]
        kind = self.kind or usual
        if kind == "none" and self.levels is not None:
            message = "`none` does not use `levels`; the load of every port is zero"
            raise InputError(message, hint='kind = "credits"', path=("levels",))
        if kind not in ("credits", "both", "occupancy"):
            if self.delay:
                message = f"`{kind}` does not use `delay`; only credits can be late"
                raise InputError(message, hint='kind = "credits" or kind = "both"', path=("delay",))
            return self.model_copy(update={"kind": kind})
        for name in self.delay:
            if name not in (ALL, *classes):
                error = unknown("class of links between routers", name, classes)
                raise InputError(error.message, hint=error.hint, path=("delay", name))
        every = self.delay.get(ALL, 0)
        return self.model_copy(update={"kind": kind, "delay": {name: self.delay.get(name, every) for name in classes}})

    def spec(self) -> dict[str, Any] | None:
        """The metric as the core reads it, from the result of `decided`; None if it is the core's default."""
        late = {name: ps for name, ps in self.delay.items() if ps}
        options = {**({"delay_ps": late} if late else {}), **({"levels": self.levels} if self.levels else {})}
        return None if self.kind == "backlog" and not options else {"kind": self.kind, **options}


#: The congestion metric as a scenario gives it: its kind, or a table.
Sensing = Annotated[SensingTable, BeforeValidator(_read)]


class _OfMachine(Table):
    """The metric that a machine states."""

    sensing: Sensing


def sensing_of(given: SensingTable, system: System, usual: str, compat: str | None) -> SensingTable:
    """The metric of a run with everything decided: what the scenario says; where it names no kind, what the machine
    states; else `usual`, that of the routing. A published simulator (`compat`) has its own.

    Raises InputError whose path leads into the scenario.
    """
    where: tuple[str, ...] = ("sensing",)
    if compat is not None:
        usual = "backlog"
    elif given.kind is None and system.table.sensing is not None:
        where = ("sensing",) if given.delay or given.levels else ("system", "sensing")
        try:
            stated = validate(_OfMachine, {"sensing": system.table.sensing}).sensing
        except InputError as e:
            raise e.under("system") from None
        given = stated.model_copy(
            update={"delay": given.delay or stated.delay, "levels": given.levels or stated.levels}
        )
    try:
        return given.decided(system, usual)
    except InputError as e:
        raise e.under(*where) from None
