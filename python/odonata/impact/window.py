"""How long the machine is simulated."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from odonata.impact.alone import Alone

PACKET_HOPS = 10_000_000
"""Most packet-hops that the machine is expected to have in a window, unless a window is given (assumed: with the four
assumptions of the default book, two minutes on two processors)."""


def window_ps(alone: Sequence[Alone], packet_hops: int = PACKET_HOPS) -> int:
    """The shortest window in which every job can be judged that this number of packet-hops allows.

    What the machine has to do in a time is what its jobs have to do alone. A job that needs longer than all packet-hops
    last does not make the window longer.
    """
    each_ps = sum(each.packet_hops / each.end_ps for each in alone if each.end_ps)
    longest = packet_hops / each_ps if each_ps else float("inf")
    fitting = [each.needed_ps for each in alone if each.needed_ps is not None and each.needed_ps <= longest]
    if fitting:
        return _rounded(max(fitting))
    needed = [each.needed_ps for each in alone if each.needed_ps is not None]
    return max(1, _rounded(min([longest, *needed], default=1)))


def _rounded(ps: float) -> int:
    """Up to three digits, so that the text of a scenario is short."""
    whole = max(1, int(ps)) + 1
    step = int(10 ** max(0, len(str(whole)) - 3))
    return -(-whole // step) * step
