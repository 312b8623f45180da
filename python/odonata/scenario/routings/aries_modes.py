"""The modes of Aries, each as a routing of its own (short for `{ name = "aries", mode = ... }`)."""

from typing import ClassVar, Literal

from pydantic import Field

from odonata.document import Size
from odonata.scenario.routings.aries import BIAS_HIGH, BIAS_LOW, AriesMode, Mode


class Adaptive0(AriesMode):
    """Aries, adaptive without a bias: the default of such machines.

    Machines: dragonfly, cascade.
    """

    fixed: ClassVar[Mode | None] = "adaptive-0"
    name: Literal["adaptive-0"]


class Adaptive1(AriesMode):
    """Aries, adaptive with a bias towards minimal paths that grows along the path.

    Machines: dragonfly, cascade.
    """

    fixed: ClassVar[Mode | None] = "adaptive-1"
    name: Literal["adaptive-1"]
    bias_high: Size | None = Field(None, description=BIAS_HIGH)


class Adaptive2(AriesMode):
    """Aries, adaptive with a low bias towards minimal paths.

    Machines: dragonfly, cascade.
    """

    fixed: ClassVar[Mode | None] = "adaptive-2"
    name: Literal["adaptive-2"]
    bias_low: Size | None = Field(None, description=BIAS_LOW)


class Adaptive3(AriesMode):
    """Aries, adaptive with a high bias towards minimal paths.

    Machines: dragonfly, cascade.
    """

    fixed: ClassVar[Mode | None] = "adaptive-3"
    name: Literal["adaptive-3"]
    bias_high: Size | None = Field(None, description=BIAS_HIGH)


class MinHash(AriesMode):
    """Aries, a random minimal path, the same for all packets of a message.

    Machines: dragonfly, cascade.
    """

    fixed: ClassVar[Mode | None] = "min-hash"
    name: Literal["min-hash"]


class NminHash(AriesMode):
    """Aries, a random non-minimal path, the same for all packets of a message.

    Machines: dragonfly, cascade.
    """

    fixed: ClassVar[Mode | None] = "nmin-hash"
    name: Literal["nmin-hash"]


class InOrder(AriesMode):
    """Aries, always the same minimal path between two nodes, so packets arrive in order.

    Machines: dragonfly, cascade.
    """

    fixed: ClassVar[Mode | None] = "in-order"
    name: Literal["in-order"]
